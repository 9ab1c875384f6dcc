/*-------------------------------------------------------------------------
 *
 * run_table.c
 *	  What a session knows of a table that takes runs.
 *
 * Rows are stored as runs only where that does all that storing them in an
 * ordinary partition would: no triggers but ours are to be fired, no constraint
 * is to be checked but NOT NULL and what the hour's clocks imply, and each
 * unique key is the one that runs are looked up by: itemid, clock and, if there
 * is such a column, ns.  Whatever somebody does to the parent or the table of
 * runs, rows that cannot be stored there stay in the parent.
 *
 * Locks: the caller's, on both tables.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "catalog/pg_am.h"
#include "catalog/pg_index.h"
#include "nodes/pg_list.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "ingest/insert_triggers.h"
#include "catalog/clock_checks.h"
#include "catalog/partition_set.h"
#include "ingest/key_number.h"
#include "ingest/run_table.h"
#include "rows/attempt.h"

/* of each of some parents the hour that is, the one before and the next */
#define MAX_RUN_TABLES 16

static RunTable *run_tables[MAX_RUN_TABLES];
static int	next_run_table = 0;

/* ---- the parent ---- */

/*
 * IsKeyOfRuns says whether a unique index of the parent is on the columns that
 * runs are looked up by, and no others.
 */
static bool
IsKeyOfRuns(Relation parent, Relation index, const PartitionSet *set,
			int nkeys)
{
	Form_pg_index form = index->rd_index;

	if (form->indisexclusion || !form->indimmediate ||
		form->indnkeyatts != nkeys ||
		RelationGetIndexPredicate(index) != NIL)
		return false;
	for (int i = 0; i < nkeys; i++)
	{
		AttrNumber	attnum = form->indkey.values[i];

		/* of an expression, or a table without ns, the number is 0 */
		if (attnum == InvalidAttrNumber ||
			(attnum != set->itemid_attnum && attnum != set->clock_attnum &&
			 attnum != set->ns_attnum))
			return false;
		for (int j = 0; j < i; j++)
		{
			if (form->indkey.values[j] == attnum)
				return false;
		}
	}
	return true;
}

/*
 * HasKeyOfRuns says whether the parent has such a key and no other.
 */
static bool
HasKeyOfRuns(Relation parent, const PartitionSet *set, int nkeys)
{
	List	   *indexes = RelationGetIndexList(parent);
	int			nfound = 0;
	bool		result = true;
	ListCell   *lc;

	foreach(lc, indexes)
	{
		Relation	index = index_open(lfirst_oid(lc), AccessShareLock);

		if (index->rd_index->indisunique || index->rd_index->indisexclusion)
		{
			result &= IsKeyOfRuns(parent, index, set, nkeys);
			nfound += index->rd_index->indisvalid;
		}
		index_close(index, NoLock);
	}
	list_free(indexes);
	return result && nfound > 0;
}

/*
 * FindRunColumn returns the number of the layout's column that has the
 * values of the parent's, or -1.
 */
static int
FindRunColumn(const DayLayout *layout, const PartitionSet *set,
			  Form_pg_attribute att)
{
	const char *name = ZbxhistNameInDays(set, NameStr(att->attname));

	for (int i = 0; i < layout->ncolumns; i++)
	{
		const LayoutColumn *column = &layout->columns[i];

		if (strcmp(NameStr(column->name), name) == 0 &&
			column->type == att->atttypid && column->typmod == att->atttypmod)
			return is_new_column(set->new_columns, NameStr(att->attname)) ? -1 : i;
	}
	return -1;
}

/*
 * MapColumns finds the parent's column for each of the layout; returns false
 * if the two do not have the same columns.
 */
static bool
MapColumns(RunTable *table, Relation parent, const PartitionSet *set)
{
	TupleDesc	desc = RelationGetDescr(parent);
	int			nfound = 0;

	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);
		int			column;

		if (att->attisdropped)
			continue;
		column = FindRunColumn(table->layout, set, att);
		if (column < 0)
			return false;
		table->attnums[column] = att->attnum;
		nfound++;
	}
	return nfound == table->layout->ncolumns;
}

/*
 * KeysAreNotNull says whether no column of the key can be null, which is no
 * duplicate of anything.
 */
static bool
KeysAreNotNull(Relation parent, const PartitionSet *set, bool has_ns)
{
	TupleDesc	desc = RelationGetDescr(parent);

	return set->itemid_attnum != InvalidAttrNumber &&
		set->clock_attnum != InvalidAttrNumber &&
		(set->ns_attnum != InvalidAttrNumber) == has_ns &&
		TupleDescAttr(desc, set->itemid_attnum - 1)->attnotnull &&
		TupleDescAttr(desc, set->clock_attnum - 1)->attnotnull &&
		(!has_ns || TupleDescAttr(desc, set->ns_attnum - 1)->attnotnull);
}

/* ---- the table of runs ---- */

/*
 * TakesPlainRows says whether rows can be stored in the table of runs as they are: its
 * range is the only constraint.
 */
static bool
TakesPlainRows(Relation runs)
{
	const TupleConstr *constr = RelationGetDescr(runs)->constr;

	return runs->trigdesc == NULL && !runs->rd_rel->relrowsecurity &&
		runs->rd_rel->relam == HEAP_TABLE_AM_OID &&
		(constr == NULL || constr->num_check <= 1);
}

/*
 * ChecksHold says whether no row of the time of a table of runs can violate a
 * CHECK of the parent.
 */
static bool
ChecksHold(Relation parent, const PartitionSet *set, Oid runs)
{
	for (int i = 0; i < set->npacked_days; i++)
	{
		const PackedDay *day = &set->packed_days[i];
		ClockRange	range = {day->from_clock, day->to_clock};

		if (day->relid == runs)
			return ZbxhistOpenCheck(parent, &range) == NULL;
	}
	return false;
}

/*
 * TakesRows says whether rows of the parent may be stored as runs.
 */
static bool
TakesRows(RunTable *table, Relation parent, Relation runs)
{
	const PartitionSet *set = ZbxhistGetPartitionSet(parent);
	const TupleConstr *constr = RelationGetDescr(parent)->constr;
	bool		has_ns = table->layout->ns >= 0;

	return table->has_indexes && TakesPlainRows(runs) &&
		(constr == NULL || !constr->has_generated_stored) &&
		ChecksHold(parent, set, table->relid) &&
		!ZbxhistHasOtherTriggers(parent) &&
		KeysAreNotNull(parent, set, has_ns) &&
		HasKeyOfRuns(parent, set, has_ns ? 3 : 2) &&
		MapColumns(table, parent, set);
}

/* ---- what is remembered ---- */

typedef struct LayoutReading
{
	Relation	runs;
	DayLayout  *layout;
} LayoutReading;

/*
 * ReadLayout reads the columns of a table of runs, which somebody may have altered.
 */
static void
ReadLayout(void *arg)
{
	LayoutReading *reading = arg;

	reading->layout = ZbxhistDayLayout(reading->runs);
}

/*
 * TryLayout returns the layout of a table of runs, or NULL if it is none any
 * more, which must not fail an INSERT.
 */
static DayLayout *
TryLayout(Relation runs)
{
	LayoutReading reading = {.runs = runs};
	ErrorData  *error = ZbxhistAttemptIf(ReadLayout, &reading,
										 ZbxhistIsBearable);

	if (error == NULL)
		return reading.layout;
	ereport(LOG,
			errcode(error->sqlerrcode),
			errmsg("could not store rows in \"%s\": %s",
				   RelationGetRelationName(runs), error->message),
			errdetail("New rows of that time are stored all the same."));
	FreeErrorData(error);
	return NULL;
}

/*
 * ReadRunTable makes the description of a table.  It lives as long as the
 * session, or until it is replaced.
 */
static RunTable *
ReadRunTable(Relation parent, Relation runs)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "zbxhist table of runs",
												  ALLOCSET_SMALL_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	RunTable   *table = palloc0(sizeof(RunTable));

	table->context = context;
	table->relid = RelationGetRelid(runs);
	table->layout = TryLayout(runs);
	table->has_indexes = ZbxhistRunIndexes(runs, &table->indexes);
	if (table->layout != NULL)
	{
		table->attnums = palloc0(sizeof(AttrNumber) * table->layout->ncolumns);
		table->takes_rows = TakesRows(table, parent, runs);
	}
	table->row_bytes = 12.0;
	/* that may have read the set anew */
	table->generation = ZbxhistGetPartitionSet(parent)->generation;
	MemoryContextSwitchTo(old);
	MemoryContextSetParent(context, TopMemoryContext);
	return table;
}

/*
 * ZbxhistGetRunTable returns what is known of a table of runs, which the caller
 * has opened as well as the parent.  Good until the next call.
 */
RunTable *
ZbxhistGetRunTable(Relation parent, Relation runs)
{
	uint32		generation = ZbxhistGetPartitionSet(parent)->generation;
	int			place = -1;
	RunTable   *table;

	for (int i = 0; i < MAX_RUN_TABLES; i++)
	{
		if (run_tables[i] == NULL ||
			run_tables[i]->relid != RelationGetRelid(runs))
			continue;
		if (run_tables[i]->generation == generation)
			return run_tables[i];
		place = i;
	}
	table = ReadRunTable(parent, runs);
	if (place < 0)
	{
		place = next_run_table;
		next_run_table = (next_run_table + 1) % MAX_RUN_TABLES;
	}
	if (run_tables[place] != NULL)
		MemoryContextDelete(run_tables[place]->context);
	run_tables[place] = table;
	return table;
}
