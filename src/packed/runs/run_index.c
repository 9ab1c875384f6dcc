/*-------------------------------------------------------------------------
 *
 * run_index.c
 *	  The indexes of a table of runs, and its batches.
 *
 * What a statement stores has one index entry, in a small index by the clock at
 * which it ends.  What a merge writes is in another one: within a batch runs do
 * not overlap, so an item's are found by one descent for each batch.  Of runs that
 * end with one item the first may have others before it, so it comes first.
 * Batches are found by descents as well, from the newest on.
 *
 * Both are partial indexes, of which we know without evaluating anything what
 * belongs to them.  REINDEX CONCURRENTLY makes another one of the same columns, and
 * leaves it if it is cancelled.  Where somebody has made others, or dropped them,
 * nothing is stored in the table, and readers look through its heap.
 *
 * Locks: the caller has locked the table; an index is locked while it is scanned.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/itup.h"
#include "access/stratnum.h"
#include "access/tableam.h"
#include "catalog/index.h"
#include "catalog/pg_am.h"
#include "nodes/execnodes.h"
#include "nodes/primnodes.h"
#include "utils/fmgroids.h"
#include "utils/rel.h"

#include "compat.h"
#include "packed/runs/run_index.h"
#include "rows/index_next.h"

/* columns of the index of merged runs, comparisons of a scan, and of batches */
#define NUM_MERGED_KEYS 3
#define NUM_COMPARED 3
#define NUM_BETWEEN 2

struct RunIndexScan
{
	Relation	runs;
	Relation	index;
	bool		is_merged;		/* it is that of merged runs */
	IndexScanDesc scan;
	IndexScanDesc batches;		/* of entries, for batches; or NULL */
	ScanDirection direction;
	TupleTableSlot *slot;
};

/* ---- which they are ---- */

/*
 * HasPredicate says whether an index has those rows only whose batch is null, or
 * is not.
 */
static bool
HasPredicate(Relation index, NullTestType type)
{
	List	   *predicate = RelationGetIndexPredicate(index);
	const NullTest *test;

	if (list_length(predicate) != 1 || !IsA(linitial(predicate), NullTest))
		return false;
	test = linitial_node(NullTest, predicate);
	return test->nulltesttype == type && !test->argisrow &&
		IsA(test->arg, Var) &&
		((const Var *) test->arg)->varattno == RUN_ATTNUM_BATCH;
}

/*
 * HasIndexColumns says whether an index has the columns of that of merged
 * runs, or of the other one, ascending.
 */
static bool
HasIndexColumns(Relation index, bool is_merged)
{
	static const AttrNumber stored[] = {DAY_ATTNUM_LAST_CLOCK};
	static const AttrNumber merged[NUM_MERGED_KEYS] = {RUN_ATTNUM_BATCH,
	DAY_ATTNUM_LAST_ITEMID, DAY_ATTNUM_FIRST_ITEMID};
	const AttrNumber *columns = is_merged ? merged : stored;
	int			ncolumns = is_merged ? lengthof(merged) : lengthof(stored);
	Form_pg_index form = index->rd_index;

	if (index->rd_rel->relam != BTREE_AM_OID || form->indnatts != ncolumns ||
		form->indisunique)
		return false;
	for (int i = 0; i < ncolumns; i++)
	{
		if (form->indkey.values[i] != columns[i] ||
			index->rd_indoption[i] != 0)
			return false;
	}
	return true;
}

/*
 * NoteIndex notes an index of a table of runs; returns false if the code that
 * writes runs does not know it.  One that is not valid is being built, or was
 * not built to its end: before it is ready nobody adds to it, then we do if it
 * is made as one of ours.
 */
static bool
NoteIndex(Relation index, RunIndexes *indexes)
{
	Form_pg_index form = index->rd_index;
	Oid		   *place = NULL;

	if (HasIndexColumns(index, false) && HasPredicate(index, IS_NULL))
		place = &indexes->stored;
	else if (HasIndexColumns(index, true) && HasPredicate(index, IS_NOT_NULL))
		place = &indexes->merged;
	if (!form->indisvalid)
		return place != NULL || !form->indisready;
	if (place == NULL || OidIsValid(*place))
		return false;
	*place = RelationGetRelid(index);
	return true;
}

/*
 * ZbxhistRunIndexes finds the indexes of a table of runs; returns false if they
 * are not both there, or there are others.
 */
bool
ZbxhistRunIndexes(Relation runs, RunIndexes *indexes)
{
	List	   *relids = RelationGetIndexList(runs);
	bool		are_known = true;
	ListCell   *lc;

	indexes->stored = indexes->merged = InvalidOid;
	foreach(lc, relids)
	{
		Relation	index = index_open(lfirst_oid(lc), AccessShareLock);

		are_known &= NoteIndex(index, indexes);
		index_close(index, NoLock);
	}
	list_free(relids);
	return are_known && OidIsValid(indexes->stored) &&
		OidIsValid(indexes->merged);
}

/*
 * AddToIndex adds runs that have been stored to an index.
 */
static void
AddToIndex(Relation runs, Relation index, TupleTableSlot **slots, int nslots)
{
	IndexInfo  *info = BuildIndexInfo(index);
	bool		isnull[NUM_MERGED_KEYS];
	Datum		values[NUM_MERGED_KEYS];

	for (int i = 0; i < nslots; i++)
	{
		for (int j = 0; j < info->ii_NumIndexAttrs; j++)
			values[j] = slot_getattr(slots[i], info->ii_IndexAttrNumbers[j],
									 &isnull[j]);
		index_insert(index, values, isnull, &slots[i]->tts_tid, runs,
					 UNIQUE_CHECK_NO, false, info);
	}
}

/*
 * ZbxhistAddToRunIndex adds runs of a batch, or of a statement, that have been
 * stored to the index that is theirs, and to those that are to replace it.  The
 * table has no others that are ready, see ZbxhistRunIndexes.
 */
void
ZbxhistAddToRunIndex(Relation runs, int64 batch, TupleTableSlot **slots,
					 int nslots)
{
	List	   *relids = RelationGetIndexList(runs);
	ListCell   *lc;

	foreach(lc, relids)
	{
		Relation	index = index_open(lfirst_oid(lc), RowExclusiveLock);

		if (index->rd_index->indisready &&
			HasIndexColumns(index, batch != NO_BATCH))
			AddToIndex(runs, index, slots, nslots);
		index_close(index, NoLock);
	}
	list_free(relids);
}

/*
 * ZbxhistRunBatch returns the batch of a run, whose payload is known to be
 * within its row, or NO_BATCH.
 */
int64
ZbxhistRunBatch(TupleTableSlot *slot)
{
	bool		isnull;
	Datum		batch = slot_getattr(slot, RUN_ATTNUM_BATCH, &isnull);

	return isnull ? NO_BATCH : DatumGetInt64(batch);
}

/*
 * ZbxhistReadBatch reads the place of the run in a slot and its batch, or
 * NO_BATCH; returns false if it is damaged and does not tell.
 */
bool
ZbxhistReadBatch(Relation runs, TupleTableSlot *slot, DayGroup *place,
				 int64 *batch)
{
	if (!ZbxhistReadPlace(slot, place) || !ZbxhistHasPayload(runs, slot))
		return false;
	*batch = ZbxhistRunBatch(slot);
	return true;
}

/* ---- scans ---- */

/*
 * ZbxhistBeginRunIndexScan prepares a scan of one of the indexes, in the current
 * context.
 */
RunIndexScan *
ZbxhistBeginRunIndexScan(Relation runs, Oid relid, Snapshot snapshot)
{
	RunIndexScan *scan = palloc(sizeof(RunIndexScan));

	scan->runs = runs;
	scan->index = index_open(relid, AccessShareLock);
	scan->is_merged =
		IndexRelationGetNumberOfAttributes(scan->index) == NUM_MERGED_KEYS;
	scan->scan = index_beginscan_compat(runs, scan->index, snapshot,
										scan->is_merged ? NUM_COMPARED : 1);
	scan->batches = NULL;
	scan->direction = ForwardScanDirection;
	scan->slot = table_slot_create(runs, NULL);
	return scan;
}

/*
 * ZbxhistEndRunIndexScan ends a scan.
 */
void
ZbxhistEndRunIndexScan(RunIndexScan *scan)
{
	index_endscan(scan->scan);
	if (scan->batches != NULL)
		index_endscan(scan->batches);
	index_close(scan->index, AccessShareLock);
	ExecDropSingleTupleTableSlot(scan->slot);
	pfree(scan);
}

/*
 * StartBatches starts a scan of merged runs by a comparison of their batch, and
 * from a last item to another one.
 */
static void
StartBatches(IndexScanDesc scan, StrategyNumber strategy, RegProcedure compare,
			 int64 batch, int64 first, int64 last)
{
	ScanKeyData keys[NUM_COMPARED];

	ScanKeyInit(&keys[0], 1, strategy, compare, Int64GetDatum(batch));
	ScanKeyInit(&keys[1], 2, BTGreaterEqualStrategyNumber, F_INT8GE,
				Int64GetDatum(first));
	ScanKeyInit(&keys[2], 2, BTLessEqualStrategyNumber, F_INT8LE,
				Int64GetDatum(last));
	index_rescan(scan, keys, NUM_COMPARED, NULL, 0);
}

/*
 * StartBetween starts a scan of entries whose batch is between two.
 */
static void
StartBetween(IndexScanDesc scan, int64 after, int64 before)
{
	ScanKeyData keys[NUM_BETWEEN];
	MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(scan));

	ScanKeyInit(&keys[0], 1, BTLessStrategyNumber, F_INT8LT,
				Int64GetDatum(before));
	ScanKeyInit(&keys[1], 1, BTGreaterStrategyNumber, F_INT8GT,
				Int64GetDatum(after));
	/* room for entries is allocated here, and lives as long as the scan */
	index_rescan(scan, keys, NUM_BETWEEN, NULL, 0);
	MemoryContextSwitchTo(old);
}

/*
 * ZbxhistRunsFromBatch starts a scan with the runs of a batch and all after it.
 */
void
ZbxhistRunsFromBatch(RunIndexScan *scan, int64 batch)
{
	scan->direction = ForwardScanDirection;
	StartBatches(scan->scan, BTGreaterEqualStrategyNumber, F_INT8GE, batch,
				 PG_INT64_MIN, PG_INT64_MAX);
}

/*
 * ZbxhistRunsSince starts a scan with runs that may have rows of a clock or later;
 * of merged ones these are all of a batch.
 */
void
ZbxhistRunsSince(RunIndexScan *scan, int32 clock)
{
	ScanKeyData key;

	if (scan->is_merged)
		ZbxhistRunsFromBatch(scan, make_batch(clock, 0, 0));
	else
	{
		scan->direction = ForwardScanDirection;
		ScanKeyInit(&key, 1, BTGreaterEqualStrategyNumber, F_INT4GE,
					Int32GetDatum(clock));
		index_rescan(scan->scan, &key, 1, NULL, 0);
	}
}

/*
 * ZbxhistNewestStored starts a scan with all runs of statements, the one that ends
 * last first.
 */
void
ZbxhistNewestStored(RunIndexScan *scan)
{
	ZbxhistRunsSince(scan, PG_INT32_MIN);
	scan->direction = BackwardScanDirection;
}

/*
 * ZbxhistRunsOfBatch starts a scan with the runs of a batch that do not end before
 * an item, nor after another one, sorted by items.  An index scan looks at all
 * that a page has, so that it is worth to say where it ends.
 */
void
ZbxhistRunsOfBatch(RunIndexScan *scan, int64 batch, int64 itemid,
				   int64 last_itemid)
{
	scan->direction = ForwardScanDirection;
	StartBatches(scan->scan, BTEqualStrategyNumber, F_INT8EQ, batch, itemid,
				 last_itemid);
}

/*
 * ZbxhistNextInRunIndex returns the next run, or NULL at the end.
 */
TupleTableSlot *
ZbxhistNextInRunIndex(RunIndexScan *scan)
{
	return index_next(scan->scan, scan->direction, scan->slot) ?
		scan->slot : NULL;
}

/*
 * BeginBatches prepares a scan that has entries of the index.  Only this one has
 * them, for they are copied.
 */
static void
BeginBatches(RunIndexScan *scan)
{
	MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(scan));

	scan->batches = index_beginscan_compat(scan->runs, scan->index,
										   scan->scan->xs_snapshot,
										   NUM_BETWEEN);
	scan->batches->xs_want_itup = true;
	MemoryContextSwitchTo(old);
}

/*
 * ZbxhistNextBatch sets batch, which is one or PG_INT64_MAX, to the next older
 * one that comes after another one, and last_itemid to its last item; returns
 * false if there is none.  It is the index that tells: a run may be damaged and have
 * lost its batch.
 */
bool
ZbxhistNextBatch(RunIndexScan *scan, int64 after, int64 *batch,
				 int64 *last_itemid)
{
	IndexScanDesc entries;
	bool		isnull;

	if (scan->batches == NULL)
		BeginBatches(scan);
	entries = scan->batches;
	StartBetween(entries, after, *batch);
	if (!index_next(entries, BackwardScanDirection, scan->slot))
		return false;
	*batch = DatumGetInt64(index_getattr(entries->xs_itup, 1,
										 entries->xs_itupdesc, &isnull));
	*last_itemid = DatumGetInt64(index_getattr(entries->xs_itup, 2,
											   entries->xs_itupdesc, &isnull));
	/* a scan of entries keeps its page, for which VACUUM would wait */
	index_rescan(entries, NULL, NUM_BETWEEN, NULL, 0);
	return true;
}
