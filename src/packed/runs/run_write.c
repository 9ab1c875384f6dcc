/*-------------------------------------------------------------------------
 *
 * run_write.c
 *	  Writes runs into the table of an hour.
 *
 * A run is a row of its table as a group of segments is one of a packed day's,
 * but its rows are of many items, and its clocks are the least and the greatest
 * of all of them.  What does not fit a page becomes several runs; a row that is
 * larger than a page is one by itself, out of line.
 *
 * Locks: the caller's.  Allocates in the current context.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/tableam.h"
#include "catalog/catalog.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "utils/rel.h"

#include "make_room.h"
#include "packed/runs/run_index.h"
#include "packed/runs/run_write.h"
#include "packed/values/layout.h"

/* runs that are stored at once */
#define MAX_STORED 64

/* how much of a page is tried to be filled, so that hardly any is in vain */
#define FILLED_PART 0.98

/* ---- runs ---- */

/*
 * MakeRun returns the row of the table for some rows, of which data are the
 * bytes.
 */
static HeapTuple
MakeRun(Relation runs, int64 batch, const RunRows *rows, int first, int count,
		const uint8 *data, size_t length)
{
	TupleDesc	desc = RelationGetDescr(runs);
	Datum	   *values = palloc0(sizeof(Datum) * desc->natts);
	bool	   *nulls = palloc(sizeof(bool) * desc->natts);
	struct varlena *payload = palloc(VARHDRSZ + length);
	int64		first_clock = PG_INT32_MAX;
	int64		last_clock = PG_INT32_MIN;

	SET_VARSIZE(payload, VARHDRSZ + length);
	memcpy(VARDATA(payload), data, length);
	for (int i = first; i < first + count; i++)
	{
		first_clock = Min(first_clock, rows->columns[0].ints[i]);
		last_clock = Max(last_clock, rows->columns[0].ints[i]);
	}
	memset(nulls, true, sizeof(bool) * desc->natts);
	memset(nulls, false, sizeof(bool) * DAY_NUM_ATTRIBUTES);
	values[DAY_ATTNUM_FIRST_ITEMID - 1] = Int64GetDatum(rows->itemids[first]);
	values[DAY_ATTNUM_FIRST_CLOCK - 1] = Int32GetDatum((int32) first_clock);
	values[DAY_ATTNUM_LAST_ITEMID - 1] =
		Int64GetDatum(rows->itemids[first + count - 1]);
	values[DAY_ATTNUM_LAST_CLOCK - 1] = Int32GetDatum((int32) last_clock);
	values[DAY_ATTNUM_ROWS - 1] = Int32GetDatum(count);
	values[DAY_ATTNUM_PAYLOAD - 1] = PointerGetDatum(payload);
	values[RUN_ATTNUM_BATCH - 1] = Int64GetDatum(batch);
	nulls[RUN_ATTNUM_BATCH - 1] = batch == NO_BATCH;
	return heap_form_tuple(desc, values, nulls);
}

/*
 * EncodeRun makes a run of as many rows from first on as fill a page, of all
 * that are left, and returns their number.
 */
static int
EncodeRun(Relation runs, int64 batch, const RunRows *rows, int first,
		  double *row_bytes, TupleTableSlot *slot)
{
	size_t		limit = ZbxhistPageLimit(runs);
	RunRows		some = *rows;
	int			left = rows->nrows - first;
	double		fitting = limit / *row_bytes;
	uint8	   *data;
	size_t		length;
	int			count;

	/* two halves of a statement would leave two pages half empty */
	if (left > fitting)
		some.nrows = first + Max((int) (FILLED_PART * fitting), 1);
	count = ZbxhistEncodeRun(&some, first, limit, &data, &length);
	/* of a few rows, much is not theirs; a row out of line says nothing */
	if (length <= limit && (left > fitting || length > limit / 4))
		*row_bytes = (double) length / count;
	ExecStoreHeapTuple(MakeRun(runs, batch, rows, first, count, data, length),
					   slot, false);
	return count;
}

/*
 * StoreRuns stores runs.  They are no rows that logical replication could publish.
 */
static void
StoreRuns(Relation runs, int64 batch, TupleTableSlot **slots, int nslots,
		  CommandId cid, WrittenRun *written)
{
	CHECK_FOR_INTERRUPTS();
	/* several at once cannot be kept from publications of all tables */
	if (nslots > 1 && !RelationIsLogicallyLogged(runs))
		table_multi_insert(runs, slots, nslots, cid, 0, NULL);
	else
	{
		for (int i = 0; i < nslots; i++)
			table_tuple_insert(runs, slots[i], cid, TABLE_INSERT_NO_LOGICAL,
							   NULL);
	}
	ZbxhistAddToRunIndex(runs, batch, slots, nslots);
	for (int i = 0; i < nslots; i++)
	{
		written[i].tid = slots[i]->tts_tid;
		ExecDropSingleTupleTableSlot(slots[i]);
	}
}

/*
 * ZbxhistWriteRuns stores sorted rows as runs of a batch, or of a statement, with
 * entries in the index that is theirs; sets written to these runs and returns
 * their number.  row_bytes is what a row takes about.
 */
int
ZbxhistWriteRuns(Relation runs, int64 batch, const RunRows *rows,
				 double *row_bytes, CommandId cid, WrittenRun **written)
{
	TupleTableSlot *slots[MAX_STORED];
	int			capacity = 0;
	int			nstored = 0;
	int			nruns = 0;

	*written = NULL;
	for (int first = 0; first < rows->nrows; first += (*written)[nruns++].nrows)
	{
		TupleTableSlot *slot = MakeSingleTupleTableSlot(RelationGetDescr(runs),
														&TTSOpsHeapTuple);

		if (nruns - nstored == MAX_STORED)
		{
			StoreRuns(runs, batch, slots, MAX_STORED, cid, *written + nstored);
			nstored = nruns;
		}
		make_room(*written, nruns, capacity);
		(*written)[nruns].first = first;
		(*written)[nruns].nrows = EncodeRun(runs, batch, rows, first,
											row_bytes, slot);
		slots[nruns - nstored] = slot;
	}
	StoreRuns(runs, batch, slots, nruns - nstored, cid, *written + nstored);
	return nruns;
}
