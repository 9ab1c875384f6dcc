/*-------------------------------------------------------------------------
 *
 * run_insert.c
 *	  Stores rows of a statement as runs.
 *
 * A run is a row of its table as a group of segments is one of a packed day's,
 * but its rows are those of one statement, of many items, and its clocks are the
 * least and the greatest of all of them.  What does not fit a page becomes
 * several runs; a row that is larger than a page is one by itself, out of line.
 *
 * Then the keys are looked for in the other runs (run_keys.c).  That they are
 * not in the parent either is the caller's business.
 *
 * Locks: ROW EXCLUSIVE on the table of runs until the transaction ends, taken
 * only if it can be had at once.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/index.h"
#include "nodes/execnodes.h"
#include "storage/lmgr.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "ingest/lookup_day.h"
#include "ingest/run_insert.h"
#include "ingest/run_keys.h"
#include "packed/day/day.h"
#include "packed/day/row_buffer.h"
#include "packed/format/run.h"

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
	OwnRuns		own;
	int		   *firsts;			/* of each run, the first of its rows */
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
 * OpenRuns locks and opens the table; returns NULL if that is not possible at
 * once, or there is no such table any more.
 */
static Relation
OpenRuns(Oid runs)
{
	if (!ConditionalLockRelationOid(runs, RowExclusiveLock))
		return NULL;
	return try_table_open(runs, NoLock);
}

/* ---- rows and their keys ---- */

/*
 * compare_rows orders rows by key.
 */
static int
compare_rows(const void *a, const void *b)
{
	const KeyedRow *left = a;
	const KeyedRow *right = b;

	if (left->itemid != right->itemid)
		return left->itemid < right->itemid ? -1 : 1;
	if (left->position != right->position)
		return left->position < right->position ? -1 : 1;
	return 0;
}

/*
 * ReadRow reads the key of the row in a slot; returns false if a column that
 * must not be null is, for which the parent raises the error.
 */
static bool
ReadRow(const RunInsert *insert, TupleTableSlot *slot, KeyedRow *row)
{
	const DayLayout *layout = insert->table->layout;
	const AttrNumber *attnums = insert->table->attnums;
	TupleDesc	desc = slot->tts_tupleDescriptor;
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
 * ReadRows reads the keys of all rows, and sorts them.
 */
static bool
ReadRows(RunInsert *insert, TupleTableSlot **slots, int nslots)
{
	RunKeys    *keys = &insert->keys;
	bool		is_sorted = true;

	insert->rows = palloc(sizeof(KeyedRow) * nslots);
	for (int i = 0; i < nslots; i++)
	{
		if (!ReadRow(insert, slots[i], &insert->rows[i]))
			return false;
		is_sorted = is_sorted &&
			(i == 0 || compare_rows(&insert->rows[i - 1], &insert->rows[i]) <= 0);
	}
	if (!is_sorted)
		qsort(insert->rows, nslots, sizeof(KeyedRow), compare_rows);

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
		if (compare_rows(&insert->rows[i - 1], &insert->rows[i]) == 0)
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
	const DayLayout *layout = insert->table->layout;

	ZbxhistBeginRows(buffer, 0);
	for (int i = 0; i < insert->keys.nrows; i++)
	{
		const TupleTableSlot *slot = insert->rows[i].slot;
		int			row = ZbxhistAddAnyRow(buffer, position_clock(insert->rows[i].position));

		for (int j = 0; j < layout->ncolumns; j++)
		{
			AttrNumber	attnum = insert->table->attnums[j];

			if (layout->columns[j].packed > 0)
				ZbxhistSetDatum(buffer, row, layout->columns[j].packed,
								slot->tts_values[attnum - 1],
								slot->tts_isnull[attnum - 1]);
		}
	}
}

/* ---- storing ---- */

/*
 * MakeRun returns the row of the table with these bytes.
 */
static HeapTuple
MakeRun(const RunInsert *insert, int first, int count, const uint8 *data,
		size_t length)
{
	TupleDesc	desc = RelationGetDescr(insert->rel);
	Datum	   *values = palloc0(sizeof(Datum) * desc->natts);
	bool	   *nulls = palloc(sizeof(bool) * desc->natts);
	struct varlena *payload = palloc(VARHDRSZ + length);
	int32		first_clock = PG_INT32_MAX;
	int32		last_clock = PG_INT32_MIN;

	SET_VARSIZE(payload, VARHDRSZ + length);
	memcpy(VARDATA(payload), data, length);
	for (int i = first; i < first + count; i++)
	{
		int32		clock = position_clock(insert->keys.positions[i]);

		first_clock = Min(first_clock, clock);
		last_clock = Max(last_clock, clock);
	}
	memset(nulls, true, sizeof(bool) * desc->natts);
	memset(nulls, false, sizeof(bool) * DAY_NUM_ATTRIBUTES);
	values[DAY_ATTNUM_FIRST_ITEMID - 1] = Int64GetDatum(insert->keys.itemids[first]);
	values[DAY_ATTNUM_FIRST_CLOCK - 1] = Int32GetDatum(first_clock);
	values[DAY_ATTNUM_LAST_ITEMID - 1] =
		Int64GetDatum(insert->keys.itemids[first + count - 1]);
	values[DAY_ATTNUM_LAST_CLOCK - 1] = Int32GetDatum(last_clock);
	values[DAY_ATTNUM_ROWS - 1] = Int32GetDatum(count);
	values[DAY_ATTNUM_PAYLOAD - 1] = PointerGetDatum(payload);
	return heap_form_tuple(desc, values, nulls);
}

/*
 * FillIndex adds the runs to the index.
 */
static void
FillIndex(const RunInsert *insert, TupleTableSlot **slots, int nslots)
{
	Relation	index = index_open(insert->table->index, RowExclusiveLock);
	IndexInfo  *info = BuildIndexInfo(index);

	for (int i = 0; i < nslots; i++)
	{
		bool		isnull = false;
		Datum		clock = slot_getattr(slots[i], DAY_ATTNUM_LAST_CLOCK,
										 &isnull);

		index_insert(index, &clock, &isnull, &slots[i]->tts_tid, insert->rel,
					 UNIQUE_CHECK_NO, false, info);
	}
	index_close(index, NoLock);
}

/*
 * EncodeRuns makes runs of the rows in buffer; returns their number.
 */
static int
EncodeRuns(RunInsert *insert, const RowBuffer *buffer, TupleTableSlot **slots)
{
	int			nrows = insert->keys.nrows;
	RunRows		rows = {nrows, insert->keys.itemids,
	buffer->rows.ncolumns, buffer->rows.columns};
	int			nruns = 0;

	for (int first = 0; first < nrows;)
	{
		/* about alike, so that none is tried in vain */
		int			npages = (int) (insert->table->row_bytes * (nrows - first) /
									insert->table->limit) + 1;
		uint8	   *data;
		size_t		length;
		int			count;

		rows.nrows = Min(nrows, first + (nrows - first + npages - 1) / npages);
		count = ZbxhistEncodeRun(&rows, first, insert->table->limit, &data,
								 &length);
		insert->table->row_bytes = Max((double) length / count, 1.0);
		slots[nruns] = MakeSingleTupleTableSlot(RelationGetDescr(insert->rel),
												&TTSOpsHeapTuple);
		ExecStoreHeapTuple(MakeRun(insert, first, count, data, length),
						   slots[nruns], false);
		insert->firsts[nruns++] = first;
		first += count;
	}
	return nruns;
}

/*
 * StoreRuns stores all rows, as runs.
 */
static void
StoreRuns(RunInsert *insert)
{
	int			nrows = insert->keys.nrows;
	RowBuffer  *buffer = ZbxhistCreateRowBuffer(insert->table->layout);
	TupleTableSlot **slots = palloc(sizeof(TupleTableSlot *) * nrows);
	int			nruns;

	FillBuffer(insert, buffer);
	insert->firsts = palloc(sizeof(int) * (nrows + 1));
	nruns = EncodeRuns(insert, buffer, slots);
	insert->firsts[nruns] = nrows;
	if (nruns == 1)
		table_tuple_insert(insert->rel, slots[0], insert->cid, 0, NULL);
	else
		table_multi_insert(insert->rel, slots, nruns, insert->cid, 0, NULL);
	FillIndex(insert, slots, nruns);

	insert->own.nruns = nruns;
	insert->own.tids = palloc(sizeof(ItemPointerData) * nruns);
	for (int i = 0; i < nruns; i++)
	{
		insert->own.tids[i] = slots[i]->tts_tid;
		ExecDropSingleTupleTableSlot(slots[i]);
	}
}

/*
 * CheckKeys raises 23505 if a key is in another run.
 */
static void
CheckKeys(RunInsert *insert)
{
	int			row = ZbxhistFindInRuns(insert->rel, insert->table,
										&insert->keys, &insert->own);

	if (row >= 0)
		ZbxhistRaiseKeyTaken(insert->parent, ZbxhistFindKeyIndex(insert->parent),
							 insert->rows[row].slot);
	for (int i = 0; i < insert->own.nruns; i++)
		ZbxhistRememberKeys(insert->table, &insert->keys, insert->firsts[i],
							insert->firsts[i + 1] - insert->firsts[i],
							&insert->own.tids[i],
							GetCurrentTransactionId());
}

/*
 * InsertRows stores the rows, in order of their keys, and looks for these;
 * returns false if they have to be stored in the parent.  Allocates in the
 * current context.
 */
static bool
InsertRows(RunInsert *insert, TupleTableSlot **slots, int nslots)
{
	int			twin;

	insert->table = ZbxhistGetRunTable(insert->parent, insert->rel);
	if (!insert->table->takes_rows ||
		!ReadRows(insert, slots, nslots) ||
		!TakesClock(insert->parent, RelationGetRelid(insert->rel),
					insert->keys.first_clock) ||
		!TakesClock(insert->parent, RelationGetRelid(insert->rel),
					insert->keys.last_clock))
		return false;
	twin = FindTwin(insert);
	if (twin >= 0)
		ZbxhistRaiseKeyTaken(insert->parent, ZbxhistFindKeyIndex(insert->parent),
							 insert->rows[twin].slot);
	ZbxhistFlushDayChanges(RelationGetRelid(insert->rel));
	StoreRuns(insert);
	CheckKeys(insert);
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
	RunInsert	insert = {.parent = parent, .cid = cid};
	bool		result = false;

	insert.rel = OpenRuns(runs);
	if (insert.rel != NULL)
	{
		result = InsertRows(&insert, slots, nslots);
		table_close(insert.rel, NoLock);
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
	return result;
}
