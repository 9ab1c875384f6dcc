/*-------------------------------------------------------------------------
 *
 * spilled_groups.c
 *	  Groups that memory does not hold.
 *
 * When memory is full, all groups are written to temporary files as a
 * participant of a parallel query gives them out: their keys and a state
 * (aggregate_parallel.c).  Bits of their hashes say to which of several files,
 * so that all states of a group are in one.  When all rows have been added, the
 * groups of one file after the other are made of their states.  If they are
 * too many again, they are divided by the next bits.  So nothing below is read
 * twice.
 *
 * Memory: all is in a context of its own in the query's.  Files are closed with
 * the scan, or by the resource owner.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/tuplestore.h"

#include "compat.h"
#include "read/aggregate_scan.h"

/* bits of the hash that say which file */
#define FILE_BITS 4
#define NFILES (1 << FILE_BITS)

/* files cannot be divided any more */
#define MAX_LEVEL (32 / FILE_BITS)

/* kB of a file that memory holds, at least */
#define MIN_FILE_MEMORY 16

/* states that are to become groups */
typedef struct SpilledFile
{
	Tuplestorestate *store;
	int			level;			/* how often it has been divided */
} SpilledFile;

struct SpilledGroups
{
	MemoryContext context;
	TupleTableSlot *slot;		/* keys and a state */
	int			level;			/* of what is read now */
	Tuplestorestate *files[NFILES]; /* to which it is written; NULL: none yet */
	bool		has_files;
	List	   *waiting;		/* SpilledFiles */
};

/*
 * MakeDesc describes keys and a state.
 */
static TupleDesc
MakeDesc(const GroupTable *table)
{
	TupleDesc	desc = CreateTemplateTupleDesc(table->nkeys + 1);

	for (int i = 0; i < table->nkeys; i++)
		TupleDescInitEntry(desc, i + 1, NULL, table->keys[i].type, -1, 0);
	TupleDescInitEntry(desc, table->nkeys + 1, NULL, BYTEAOID, -1, 0);
	TupleDescFinalize(desc);
	return desc;
}

/*
 * GetSpilled returns what has been spilled.
 */
static SpilledGroups *
GetSpilled(AggregateScanState *state)
{
	EState	   *estate = state->css.ss.ps.state;

	if (state->spilled == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(estate->es_query_cxt);

		state->spilled = palloc0(sizeof(SpilledGroups));
		state->spilled->context = AllocSetContextCreate(estate->es_query_cxt,
														"zbxhist spilled groups",
														ALLOCSET_DEFAULT_SIZES);
		state->spilled->slot = ExecInitExtraTupleSlot(estate,
													  MakeDesc(&state->table),
													  &TTSOpsMinimalTuple);
		MemoryContextSwitchTo(old);
	}
	return state->spilled;
}

/*
 * GetFile returns the file for groups of a hash.
 */
static Tuplestorestate *
GetFile(SpilledGroups *spilled, uint32 hash)
{
	Tuplestorestate **file =
		&spilled->files[(hash << (spilled->level * FILE_BITS)) >> (32 - FILE_BITS)];

	if (*file == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(spilled->context);

		*file = tuplestore_begin_heap(false, false,
									  Max(work_mem / NFILES, MIN_FILE_MEMORY));
		spilled->has_files = true;
		MemoryContextSwitchTo(old);
	}
	return *file;
}

/*
 * ZbxhistSpillGroups writes all groups to files and forgets them.
 */
void
ZbxhistSpillGroups(AggregateScanState *state)
{
	GroupTable *table = &state->table;
	SpilledGroups *spilled = GetSpilled(state);
	TupleDesc	desc = spilled->slot->tts_tupleDescriptor;
	Datum	   *values = palloc(sizeof(Datum) * desc->natts);
	bool	   *nulls = palloc(sizeof(bool) * desc->natts);

	for (int i = 0; i < table->nbuckets; i++)
	{
		CHECK_FOR_INTERRUPTS();
		for (const ValueGroup *group = table->buckets[i]; group != NULL;
			 group = group->next)
		{
			MemoryContext old;

			ResetExprContext(state->econtext);
			old = MemoryContextSwitchTo(state->econtext->ecxt_per_tuple_memory);
			memcpy(values, group->keys, sizeof(Datum) * table->nkeys);
			memcpy(nulls, group->nulls, sizeof(bool) * table->nkeys);
			values[table->nkeys] = ZbxhistGroupState(table, group);
			nulls[table->nkeys] = false;
			MemoryContextSwitchTo(old);
			tuplestore_putvalues(GetFile(spilled, group->hash), desc, values,
								 nulls);
		}
	}
	state->counters->groups_spilled += table->ngroups;
	pfree(values);
	pfree(nulls);
	ZbxhistEmptyGroups(table);
}

/*
 * ZbxhistEndSpilling says that all rows have been added.  If there are files,
 * the groups that memory has are written as well.
 */
void
ZbxhistEndSpilling(AggregateScanState *state)
{
	SpilledGroups *spilled = state->spilled;
	MemoryContext old;

	if (spilled == NULL || !spilled->has_files)
		return;
	ZbxhistSpillGroups(state);
	old = MemoryContextSwitchTo(spilled->context);
	for (int i = 0; i < NFILES; i++)
	{
		SpilledFile *file;

		if (spilled->files[i] == NULL)
			continue;
		file = palloc(sizeof(SpilledFile));
		file->store = spilled->files[i];
		file->level = spilled->level + 1;
		spilled->waiting = lappend(spilled->waiting, file);
		spilled->files[i] = NULL;
	}
	spilled->has_files = false;
	MemoryContextSwitchTo(old);
}

/*
 * ZbxhistNextSpilled makes the groups of a file, or writes them to others;
 * returns false if there are no more files.
 */
bool
ZbxhistNextSpilled(AggregateScanState *state)
{
	SpilledGroups *spilled = state->spilled;
	SpilledFile *file;

	if (spilled == NULL || spilled->waiting == NIL)
		return false;
	file = llast(spilled->waiting);
	spilled->waiting = list_delete_last(spilled->waiting);
	spilled->level = file->level;
	ZbxhistEmptyGroups(&state->table);
	while (tuplestore_gettupleslot(file->store, true, false, spilled->slot))
	{
		CHECK_FOR_INTERRUPTS();
		ResetExprContext(state->econtext);
		ZbxhistAggregateState(state, spilled->slot);
		if (groups_are_full(&state->table) && spilled->level < MAX_LEVEL)
			ZbxhistSpillGroups(state);
	}
	ExecClearTuple(spilled->slot);
	tuplestore_end(file->store);
	pfree(file);
	ZbxhistEndSpilling(state);
	return true;
}

/*
 * ZbxhistForgetSpilled closes all files.
 */
void
ZbxhistForgetSpilled(AggregateScanState *state)
{
	SpilledGroups *spilled = state->spilled;
	ListCell   *lc;

	if (spilled == NULL)
		return;
	for (int i = 0; i < NFILES; i++)
	{
		if (spilled->files[i] != NULL)
			tuplestore_end(spilled->files[i]);
		spilled->files[i] = NULL;
	}
	foreach(lc, spilled->waiting)
		tuplestore_end(((SpilledFile *) lfirst(lc))->store);
	spilled->has_files = false;
	spilled->waiting = NIL;
	spilled->level = 0;
	MemoryContextReset(spilled->context);
}
