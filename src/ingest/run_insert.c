/*-------------------------------------------------------------------------
 *
 * run_insert.c
 *	  Stores rows of a statement as runs.
 *
 * They become as few runs as they fill pages, see packed/runs/run_write.c.  Then
 * their keys are looked for in the other runs (run_keys.c).  That they are not in
 * the parent either is the caller's business.
 *
 * Locks: ROW EXCLUSIVE on the table of runs until the transaction ends, unless
 * somebody keeps writers out (lookup.c).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "access/xact.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "catalog/partition_set.h"
#include "ingest/day_keys.h"
#include "ingest/lookup.h"
#include "ingest/run_insert.h"
#include "ingest/run_keys.h"
#include "ingest/run_merger.h"
#include "ingest/stored_keys.h"
#include "packed/changes/modify.h"
#include "packed/values/row_buffer.h"

/* a row, and where the statement has it */
typedef struct KeyedRow
{
	int64		itemid;
	int64		position;
	TupleTableSlot *slot;
} KeyedRow;

typedef struct RunInsert
{
	Relation	parent;
	Relation	rel;
	RunTable   *table;
	CommandId	cid;
	KeyedRow   *rows;			/* sorted by key */
	RunKeys		keys;
	WrittenRun *runs;
	int			nruns;
} RunInsert;

/* ---- the table ---- */

/*
 * TakesClock says whether rows of that clock belong to the table of runs.
 */
static bool
TakesClock(Relation parent, Oid runs, int32 clock)
{
	const PartitionSet *set = ZbxhistGetPartitionSet(parent);
	const PackedDay *day = ZbxhistFindPackedDay(set, clock);

	return day != NULL && day->relid == runs && day->has_runs &&
		!OidIsValid(day->partition) && set->is_routing &&
		ZbxhistFindPartition(set, clock) == NULL;
}

/*
 * OpenRuns locks and opens the table; returns NULL if somebody keeps writers out,
 * or there is no such table any more.
 */
static Relation
OpenRuns(Oid runs)
{
	if (!ZbxhistLockForInsert(runs))
		return NULL;
	return try_table_open(runs, NoLock);
}

/* ---- rows and their keys ---- */

/*
 * compare_keyed_rows orders rows by key.
 */
static int
compare_keyed_rows(const void *a, const void *b)
{
	const KeyedRow *left = a;
	const KeyedRow *right = b;

	return compare_places(left->itemid, left->position, right->itemid,
						  right->position);
}

/*
 * ReadKeyedRow reads the key of the row in a slot; returns false if a column that
 * must not be null is, for which the parent raises the error.
 */
static bool
ReadKeyedRow(const RunInsert *insert, TupleTableSlot *slot, KeyedRow *row)
{
	const DayLayout *layout = insert->table->layout;
	const AttrNumber *attnums = insert->table->attnums;
	TupleDesc	desc = RelationGetDescr(insert->parent);
	Datum	   *values = slot->tts_values;
	int32		ns = 0;

	slot_getallattrs(slot);
	for (int i = 0; i < desc->natts; i++)
	{
		if (slot->tts_isnull[i] && TupleDescAttr(desc, i)->attnotnull)
			return false;
	}
	if (layout->ns >= 0)
		ns = DatumGetInt32(values[attnums[layout->ns] - 1]);
	row->itemid = DatumGetInt64(values[attnums[layout->itemid] - 1]);
	row->position = make_position(DatumGetInt32(values[attnums[layout->clock] - 1]),
								  ns);
	row->slot = slot;
	return true;
}

/*
 * ReadKeyedRows reads the keys of all rows, and sorts them.
 */
static bool
ReadKeyedRows(RunInsert *insert, TupleTableSlot **slots, int nslots)
{
	RunKeys    *keys = &insert->keys;
	bool		is_sorted = true;

	insert->rows = palloc(sizeof(KeyedRow) * nslots);
	for (int i = 0; i < nslots; i++)
	{
		if (!ReadKeyedRow(insert, slots[i], &insert->rows[i]))
			return false;
		is_sorted = is_sorted &&
			(i == 0 || compare_keyed_rows(&insert->rows[i - 1], &insert->rows[i]) <= 0);
	}
	if (!is_sorted)
		qsort(insert->rows, nslots, sizeof(KeyedRow), compare_keyed_rows);

	keys->nrows = nslots;
	keys->itemids = palloc(sizeof(int64) * nslots);
	keys->positions = palloc(sizeof(int64) * nslots);
	keys->first_clock = PG_INT32_MAX;
	keys->last_clock = PG_INT32_MIN;
	for (int i = 0; i < nslots; i++)
	{
		int32		clock = position_clock(insert->rows[i].position);

		keys->itemids[i] = insert->rows[i].itemid;
		keys->positions[i] = insert->rows[i].position;
		keys->first_clock = Min(keys->first_clock, clock);
		keys->last_clock = Max(keys->last_clock, clock);
	}
	return true;
}

/*
 * FindTwin returns the number of a row whose key the next one has, too, or -1.
 */
static int
FindTwin(const RunInsert *insert)
{
	for (int i = 1; i < insert->keys.nrows; i++)
	{
		if (compare_keyed_rows(&insert->rows[i - 1], &insert->rows[i]) == 0)
			return i;
	}
	return -1;
}

/*
 * FillBuffer puts the rows' values into columns.
 */
static void
FillBuffer(const RunInsert *insert, RowBuffer *buffer)
{
	ZbxhistBeginRows(buffer, 0);
	for (int i = 0; i < insert->keys.nrows; i++)
	{
		const TupleTableSlot *slot = insert->rows[i].slot;
		int			row = ZbxhistAddRow(buffer, position_clock(insert->rows[i].position));

		ZbxhistSetRow(buffer, row, insert->table->attnums, slot->tts_values,
					  slot->tts_isnull);
	}
}

/* ---- storing ---- */

/*
 * StoreAsRuns stores all rows, as runs.
 */
static void
StoreAsRuns(RunInsert *insert)
{
	RowBuffer  *buffer = ZbxhistCreateRowBuffer(insert->table->layout);
	RunRows		rows;

	FillBuffer(insert, buffer);
	rows.nrows = insert->keys.nrows;
	rows.itemids = insert->keys.itemids;
	rows.ncolumns = buffer->rows.ncolumns;
	rows.columns = buffer->rows.columns;
	insert->nruns = ZbxhistWriteRuns(insert->rel, NO_BATCH, &rows,
									 &insert->table->row_bytes, insert->cid,
									 &insert->runs);
}

/*
 * RaiseRowTaken raises 23505 for a row's key.
 */
static void
RaiseRowTaken(const RunInsert *insert, int row)
{
	Oid			key = ZbxhistFindKeyIndex(insert->parent);
	FoundKey	found = {.key = key,.index = key};

	ZbxhistRaiseKeyTaken(&found, insert->rows[row].slot);
}

/*
 * PickKeys returns the keys of some of the rows, which are in their order.
 */
static RunKeys
PickKeys(const RunKeys *keys, const int *rows, int nrows)
{
	RunKeys		result = {.nrows = nrows,.first_clock = PG_INT32_MAX,
	.last_clock = PG_INT32_MIN};

	result.itemids = palloc(sizeof(int64) * nrows);
	result.positions = palloc(sizeof(int64) * nrows);
	for (int i = 0; i < nrows; i++)
	{
		int32		clock = position_clock(keys->positions[rows[i]]);

		result.itemids[i] = keys->itemids[rows[i]];
		result.positions[i] = keys->positions[rows[i]];
		result.first_clock = Min(result.first_clock, clock);
		result.last_clock = Max(result.last_clock, clock);
	}
	return result;
}

/*
 * CheckRunKeys raises 23505 if a key is in another run.
 */
static void
CheckRunKeys(RunInsert *insert)
{
	int		   *rows = palloc(sizeof(int) * insert->keys.nrows);
	int			nrows = ZbxhistNoteStoredKeys(insert->rel, insert->table,
											  insert->runs, insert->nruns,
											  &insert->keys, rows);

	if (nrows > 0)
	{
		RunKeys		keys = PickKeys(&insert->keys, rows, nrows);
		int			row = ZbxhistFindInRuns(insert->rel, insert->table, &keys,
											insert->runs, insert->nruns);

		if (row >= 0)
			RaiseRowTaken(insert, rows[row]);
	}
	ZbxhistNoteRuns(insert->rel, insert->nruns);
}

/*
 * InsertAsRuns stores the rows, in order of their keys, and looks for these;
 * returns false if they have to be stored in the parent.  Allocates in the
 * current context.
 */
static bool
InsertAsRuns(RunInsert *insert, TupleTableSlot **slots, int nslots)
{
	int			twin;

	insert->table = ZbxhistGetRunTable(insert->parent, insert->rel);
	if (!insert->table->takes_rows ||
		!ReadKeyedRows(insert, slots, nslots) ||
		!TakesClock(insert->parent, RelationGetRelid(insert->rel),
					insert->keys.first_clock) ||
		!TakesClock(insert->parent, RelationGetRelid(insert->rel),
					insert->keys.last_clock))
		return false;
	twin = FindTwin(insert);
	if (twin >= 0)
		RaiseRowTaken(insert, twin);
	ZbxhistFlushDayChanges(RelationGetRelid(insert->rel), NULL);
	StoreAsRuns(insert);
	CheckRunKeys(insert);
	return true;
}

/*
 * ZbxhistInsertRuns stores rows of the parent as runs, in the table that their
 * clocks belong to, and raises 23505 if a key is there; returns false if they
 * have to be stored in the parent, and has done nothing then.
 */
bool
ZbxhistInsertRuns(Relation parent, Oid runs, TupleTableSlot **slots,
				  int nslots, CommandId cid)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "zbxhist runs",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	RunInsert	insert = {.parent = parent,.cid = cid};
	bool		result = false;

	insert.rel = OpenRuns(runs);
	if (insert.rel != NULL)
	{
		result = InsertAsRuns(&insert, slots, nslots);
		table_close(insert.rel, NoLock);
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
	return result;
}
