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

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/tableam.h"
#include "catalog/index.h"
#include "catalog/pg_am.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "nodes/execnodes.h"
#include "nodes/pg_list.h"
#include "utils/rel.h"

#include "packed/day/day_write.h"
#include "packed/day/layout.h"
#include "packed/day/run_write.h"

/* runs that are stored at once */
#define MAX_STORED 64

/* ---- the index ---- */

/*
 * IsRunIndex says whether an index is the one that tables of runs have.
 */
static bool
IsRunIndex(Relation index)
{
	Form_pg_index form = index->rd_index;

	return index->rd_rel->relam == BTREE_AM_OID && form->indnatts == 1 &&
		form->indkey.values[0] == DAY_ATTNUM_LAST_CLOCK && form->indisvalid &&
		form->indisready && !form->indisunique &&
		(index->rd_indoption[0] & INDOPTION_DESC) == 0 &&
		RelationGetIndexPredicate(index) == NIL;
}

/*
 * ZbxhistRunIndex returns the index of a table of runs, on last_clock, or
 * InvalidOid if it is not there, or others are.
 */
Oid
ZbxhistRunIndex(Relation runs)
{
	List	   *indexes = RelationGetIndexList(runs);
	Oid			result = InvalidOid;

	if (list_length(indexes) == 1)
	{
		Relation	index = index_open(linitial_oid(indexes), AccessShareLock);

		if (IsRunIndex(index))
			result = RelationGetRelid(index);
		index_close(index, NoLock);
	}
	list_free(indexes);
	return result;
}

/*
 * FillIndex adds runs that have been stored.
 */
static void
FillIndex(Relation runs, Oid relid, TupleTableSlot **slots, int nslots)
{
	Relation	index = index_open(relid, RowExclusiveLock);
	IndexInfo  *info = BuildIndexInfo(index);

	for (int i = 0; i < nslots; i++)
	{
		bool		isnull = false;
		Datum		clock = slot_getattr(slots[i], DAY_ATTNUM_LAST_CLOCK,
										 &isnull);

		index_insert(index, &clock, &isnull, &slots[i]->tts_tid, runs,
					 UNIQUE_CHECK_NO, false, info);
	}
	index_close(index, NoLock);
}

/* ---- runs ---- */

/*
 * MakeRun returns the row of the table for some rows, of which data are the
 * bytes.
 */
static HeapTuple
MakeRun(Relation runs, const RunRows *rows, int first, int count,
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
	return heap_form_tuple(desc, values, nulls);
}

/*
 * EncodeRun makes a run of as many rows from first on as fill a page, of all
 * that are left, and returns their number.
 */
static int
EncodeRun(Relation runs, const RunRows *rows, int first, double *row_bytes,
		  TupleTableSlot *slot)
{
	size_t		limit = ZbxhistPageLimit(runs);
	RunRows		some = *rows;
	int			left = rows->nrows - first;
	int			npages = (int) (*row_bytes * left / limit) + 1;
	uint8	   *data;
	size_t		length;
	int			count;

	/* about alike, so that hardly any is tried in vain */
	some.nrows = first + (left + npages - 1) / npages;
	count = ZbxhistEncodeRun(&some, first, limit, &data, &length);
	*row_bytes = Max((double) length / count, 0.5);
	ExecStoreHeapTuple(MakeRun(runs, rows, first, count, data, length), slot,
					   false);
	return count;
}

/*
 * StoreRuns stores runs.  They are no rows that logical replication could publish.
 */
static void
StoreRuns(Relation runs, Oid index, TupleTableSlot **slots, int nslots,
		  CommandId cid, WrittenRun *written)
{
	CHECK_FOR_INTERRUPTS();
	if (nslots == 1)
		table_tuple_insert(runs, slots[0], cid, TABLE_INSERT_NO_LOGICAL, NULL);
	else
		table_multi_insert(runs, slots, nslots, cid,
						   TABLE_INSERT_NO_LOGICAL, NULL);
	FillIndex(runs, index, slots, nslots);
	for (int i = 0; i < nslots; i++)
	{
		written[i].tid = slots[i]->tts_tid;
		ExecDropSingleTupleTableSlot(slots[i]);
	}
}

/*
 * ZbxhistWriteRuns stores sorted rows as runs; sets written to these and
 * returns their number.  row_bytes is what a row takes about.
 */
int
ZbxhistWriteRuns(Relation runs, Oid index, const RunRows *rows,
				 double *row_bytes, CommandId cid, WrittenRun **written)
{
	TupleTableSlot *slots[MAX_STORED];
	int			capacity = MAX_STORED;
	int			nstored = 0;
	int			nruns = 0;

	*written = palloc(sizeof(WrittenRun) * capacity);
	for (int first = 0; first < rows->nrows; first += (*written)[nruns++].nrows)
	{
		TupleTableSlot *slot = MakeSingleTupleTableSlot(RelationGetDescr(runs),
														&TTSOpsHeapTuple);

		if (nruns - nstored == MAX_STORED)
		{
			StoreRuns(runs, index, slots, MAX_STORED, cid, *written + nstored);
			nstored = nruns;
		}
		if (nruns == capacity)
		{
			capacity *= 2;
			*written = repalloc_huge(*written, sizeof(WrittenRun) * capacity);
		}
		(*written)[nruns].first = first;
		(*written)[nruns].nrows = EncodeRun(runs, rows, first, row_bytes, slot);
		slots[nruns - nstored] = slot;
	}
	StoreRuns(runs, index, slots, nruns - nstored, cid, *written + nstored);
	return nruns;
}
