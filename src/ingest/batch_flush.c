/*-------------------------------------------------------------------------
 *
 * batch_flush.c
 *	  Writes the rows of a batch in key order, and looks for their keys in other tables.
 *
 * Locks: if a session has locked writers out of a partition, or has dropped it or added a
 * column to it alone, its rows go to the parent.  An INSERT neither waits for that nor
 * fails.  It does wait for a session that has locked readers out, because keys could not
 * be looked up (lookup.c).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "executor/tuptable.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "utils/rel.h"

#include "ingest/batch_private.h"
#include "ingest/key_match.h"
#include "tables/item_range.h"
#include "tables/row_type.h"
#include "tables/stray.h"

/* ---- the table ---- */

/*
 * ZbxhistCloseBatchTarget closes the table that is still open, under the
 * resource owner that it was opened under.
 */
void
ZbxhistCloseBatchTarget(InsertBatch *batch)
{
	ResourceOwner old = CurrentResourceOwner;

	if (batch->target == NULL)
		return;
	CurrentResourceOwner = batch->target_owner;
	ZbxhistCloseTarget(batch->target);
	CurrentResourceOwner = old;
	batch->target = NULL;
}

/*
 * OpenRowsPartition locks and opens the partition of a slice.  Returns NULL if a session
 * has locked writers out, if it is no longer the partition of these rows, or if they do
 * not fit it.
 */
static Relation
OpenRowsPartition(const InsertBatch *batch, Relation parent,
				  const BufferedRow *rows, int nrows)
{
	const PartitionSet *set;
	Relation	rel;
	bool		belong = true;

	if (!ZbxhistLockForInsert(rows->partition))
		return NULL;

	/* locking processed invalidations: do the rows still belong there? */
	set = ZbxhistGetPartitionSet(parent);
	if (set->generation != batch->generation)
	{
		belong = set->policy.is_routing;
		for (int i = 0; belong && i < nrows; i++)
		{
			ClockPlace	place;

			belong = ZbxhistFindClockPlace(set, position_clock(rows[i].position),
										   &place) &&
				place.relid == rows[i].partition;
		}
	}
	if (!belong)
	{
		UnlockRelationOid(rows->partition, RowExclusiveLock);
		return NULL;
	}
	rel = try_table_open(rows->partition, NoLock);
	if (rel != NULL &&
		(!ZbxhistRowsFit(RelationGetDescr(parent), RelationGetDescr(rel)) ||
		 !ZbxhistTakesKeys(ZbxhistGetPartitionSet(parent), parent, rel)))
	{
		table_close(rel, RowExclusiveLock);
		return NULL;
	}
	return rel;
}

/*
 * GetTarget returns the opened table for a slice: their partition, or
 * the parent.
 */
static InsertTarget *
GetTarget(InsertBatch *batch, Relation parent, const BufferedRow *rows,
		  int nrows)
{
	Relation	rel;
	TargetKind	kind = TARGET_PARTITION;

	if (batch->target != NULL &&
		RelationGetRelid(batch->target->rel) == rows->partition &&
		batch->target_owner == CurrentResourceOwner)
		return batch->target;

	ZbxhistCloseBatchTarget(batch);
	rel = rows->partition == batch->parent ? NULL :
		OpenRowsPartition(batch, parent, rows, nrows);
	if (rel == NULL)
	{
		rel = table_open(batch->parent, NoLock);
		kind = TARGET_PARENT;
	}
	batch->target_owner = CurrentResourceOwner;
	batch->target = ZbxhistOpenTarget(rel, RelationGetDescr(parent), kind,
									  kind == TARGET_PARTITION ? parent : NULL,
									  batch->context);
	return batch->target;
}

/*
 * ZbxhistCheckBatchKeptRows looks for the keys of the rows that the executor
 * has stored in the parent by now, and forgets them.
 */
void
ZbxhistCheckBatchKeptRows(InsertBatch *batch)
{
	KeyRows		rows = {batch->desc, batch->kept, batch->nkept};
	Relation	parent;

	if (batch->nkept == 0)
		return;
	parent = table_open(batch->parent, NoLock);
	ZbxhistCheckKeys(parent, &rows, &batch->has_strays);
	table_close(parent, NoLock);
	ZbxhistClearKeptRows(batch);
}

/* ---- writing ---- */

/*
 * WriteSlice inserts rows of one partition, or rows without a partition, and looks for
 * their keys in all other places, see key_look.c.
 */
static void
WriteSlice(InsertBatch *batch, Relation parent, const BufferedRow *rows,
		   int nrows)
{
	KeyRows		stored = {.desc = batch->desc,.ntuples = nrows};
	InsertTarget *target;
	bool		is_kept;

	for (int i = 0; i < nrows; i++)
		batch->slice[i] = rows[i].slot;
	target = GetTarget(batch, parent, rows, nrows);
	is_kept = RelationGetRelid(target->rel) == batch->parent;

	if (is_kept && rows->partition != batch->parent)
		ZbxhistNoteStrayOnce(parent, &batch->has_strays);
	ZbxhistInsertRows(target, batch->slice, nrows, batch->cid);

	/*
	 * keys of the partition may be in the parent, unless that has no rows of
	 * it
	 */
	if (is_kept || batch->set->nothers > 0 ||
		(RelationGetNumberOfBlocks(parent) > 0 &&
		 (batch->has_strays || !ZbxhistHasNoStrays(parent, rows->partition))))
	{
		stored.tuples = palloc(sizeof(HeapTuple) * nrows);
		for (int i = 0; i < nrows; i++)
			stored.tuples[i] = ExecFetchSlotHeapTuple(rows[i].slot, false, NULL);
		ZbxhistCheckKeys(parent, &stored, is_kept ? &batch->has_strays : NULL);
		pfree(stored.tuples);
	}

	if (is_kept)
		batch->stats.kept += nrows;
	else
		batch->stats.routed += nrows;
}

/*
 * ZbxhistFlushBatch writes what is buffered, partition by partition.  The statement
 * holds a lock on the parent.
 */
void
ZbxhistFlushBatch(InsertBatch *batch)
{
	Relation	parent;
	int			first = 0;

	if (batch->nrows == 0 || batch->is_flushing)
		return;

	batch->is_flushing = true;
	batch->stats.flushes++;
	parent = table_open(batch->parent, NoLock);
	ZbxhistSortRows(batch);
	while (first < batch->nrows)
	{
		int			next = first + 1;

		while (next < batch->nrows &&
			   batch->rows[next].partition == batch->rows[first].partition)
			next++;
		WriteSlice(batch, parent, &batch->rows[first], next - first);
		first = next;
	}
	table_close(parent, NoLock);
	ZbxhistClearRows(batch);
	if (batch->action == ROW_BUFFER)
		ZbxhistCloseBatchTarget(batch);
	batch->is_flushing = false;
}
