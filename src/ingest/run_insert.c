/*-------------------------------------------------------------------------
 *
 * run_insert.c
 *	  Stores rows of a statement as runs.
 *
 * They become as few runs as they fill pages, see packed/runs/run_write.c.  Then
 * their keys are looked for in the other runs (run_keys.c).  That they are not in
 * the parent either is the caller's business.
 *
 * Locks: the caller's, ROW EXCLUSIVE, on the table of runs until the transaction
 * ends.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "ingest/day_keys.h"
#include "ingest/run_insert.h"
#include "ingest/run_keys.h"
#include "ingest/run_merger.h"
#include "ingest/stored_keys.h"
#include "packed/changes/modify.h"
#include "packed/values/row_buffer.h"

typedef struct RunInsert
{
	Relation	parent;
	Relation	rel;
	RunTable   *table;
	CommandId	cid;
	TupleTableSlot **slots;		/* rows, sorted by key */
	RunKeys		keys;
	WrittenRun *runs;
	int			nruns;
} RunInsert;

/* ---- rows and their keys ---- */

/*
 * BeginRowKeys makes room for the keys of some rows.
 */
static void
BeginRowKeys(RunKeys *keys, int nrows)
{
	keys->nrows = 0;
	keys->itemids = palloc(sizeof(int64) * nrows);
	keys->positions = palloc(sizeof(int64) * nrows);
	keys->first_clock = PG_INT32_MAX;
	keys->last_clock = PG_INT32_MIN;
}

/*
 * AddRowKey adds the next one.
 */
static void
AddRowKey(RunKeys *keys, int64 itemid, int64 position)
{
	int32		clock = position_clock(position);

	keys->itemids[keys->nrows] = itemid;
	keys->positions[keys->nrows++] = position;
	keys->first_clock = Min(keys->first_clock, clock);
	keys->last_clock = Max(keys->last_clock, clock);
}

/*
 * ReadRowKey reads the key of the row in a slot; returns false if a column that must
 * not be null is, for which the parent raises the error.
 */
static bool
ReadRowKey(RunInsert *insert, TupleTableSlot *slot)
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
	AddRowKey(&insert->keys, DatumGetInt64(values[attnums[layout->itemid] - 1]),
			  make_position(DatumGetInt32(values[attnums[layout->clock] - 1]), ns));
	return true;
}

/*
 * ReadRowKeys reads the keys of all rows.
 */
static bool
ReadRowKeys(RunInsert *insert, int nrows)
{
	BeginRowKeys(&insert->keys, nrows);
	for (int i = 0; i < nrows; i++)
	{
		if (!ReadRowKey(insert, insert->slots[i]))
			return false;
	}
	return true;
}

/*
 * FindTwin returns the number of a row whose key the one before has, too, or -1.
 */
static int
FindTwin(const RunKeys *keys)
{
	for (int i = 1; i < keys->nrows; i++)
	{
		if (keys->itemids[i] == keys->itemids[i - 1] &&
			keys->positions[i] == keys->positions[i - 1])
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
		const TupleTableSlot *slot = insert->slots[i];
		int			row = ZbxhistAddRow(buffer, position_clock(insert->keys.positions[i]));

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
	Oid			key = ZbxhistFindKeyIndex(insert->parent, NULL);
	FoundKey	found = {.key = key,.index = key};

	ZbxhistRaiseKeyTaken(&found, insert->slots[row]);
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
		RunKeys		keys;
		int			row;

		BeginRowKeys(&keys, nrows);
		for (int i = 0; i < nrows; i++)
			AddRowKey(&keys, insert->keys.itemids[rows[i]],
					  insert->keys.positions[rows[i]]);
		row = ZbxhistFindInRuns(insert->rel, insert->table, &keys,
								insert->runs, insert->nruns);
		if (row >= 0)
			RaiseRowTaken(insert, rows[row]);
	}
	ZbxhistNoteRuns(insert->rel, insert->nruns);
}

/*
 * InsertAsRuns stores the rows, and looks for their keys; returns false if they have
 * to be stored in the parent.  Allocates in the current context.
 */
static bool
InsertAsRuns(RunInsert *insert, int nrows)
{
	int			twin;

	insert->table = ZbxhistGetRunTable(insert->parent, insert->rel);
	if (!insert->table->takes_rows || !ReadRowKeys(insert, nrows))
		return false;
	twin = FindTwin(&insert->keys);
	if (twin >= 0)
		RaiseRowTaken(insert, twin);
	ZbxhistFlushDayChanges(RelationGetRelid(insert->rel), NULL);
	StoreAsRuns(insert);
	CheckRunKeys(insert);
	return true;
}

/*
 * ZbxhistInsertRuns stores rows of the parent, sorted by key, as runs, in the table that
 * their clocks belong to, and raises 23505 if a key is there; returns false if
 * they have to be stored in the parent, and has done nothing then.
 */
bool
ZbxhistInsertRuns(Relation parent, Relation runs, TupleTableSlot **slots,
				  int nslots, CommandId cid)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "zbxhist runs",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	RunInsert	insert = {.parent = parent,.rel = runs,.slots = slots,.cid = cid};
	bool		result = InsertAsRuns(&insert, nslots);

	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
	return result;
}
