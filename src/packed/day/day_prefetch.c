/*-------------------------------------------------------------------------
 *
 * day_prefetch.c
 *	  Asks for pages of packed days before they are read.
 *
 * Whoever reads an item from day to day needs a page or two of each.  If they
 * are not in shared buffers the kernel is asked for those of the next days, so
 * that it reads many at once.  How many days open_days.c decides.
 *
 * A hint is all that this is.  What it finds need not be what the reader will
 * see, and a day that is not to be had at once is passed over.
 *
 * Locks: a day's table and its index, if they are free, and only while their
 * pages are asked for, so that nobody waits for a reader who has not come to
 * the day.  Nothing stays allocated.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/relscan.h"
#include "access/table.h"
#include "catalog/pg_am.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/spccache.h"
#include "utils/syscache.h"

#include "compat.h"
#include "packed/day/day_index.h"
#include "packed/day/open_days.h"

/*
 * TryOpenIndex opens the index on (first_itemid, first_clock) if it is free;
 * returns NULL otherwise.
 */
static Relation
TryOpenIndex(Relation day)
{
	List	   *indexes = RelationGetIndexList(day);
	Relation	found = NULL;
	ListCell   *lc;

	foreach(lc, indexes)
	{
		Oid			relid = lfirst_oid(lc);

		if (!ConditionalLockRelationOid(relid, AccessShareLock))
			continue;
		/* it may have been dropped CONCURRENTLY before the lock */
		if (SearchSysCacheExists1(RELOID, ObjectIdGetDatum(relid)))
		{
			found = index_open(relid, NoLock);
			if (ZbxhistIsGroupIndex(found))
				break;
			index_close(found, NoLock);
			found = NULL;
		}
		UnlockRelationOid(relid, AccessShareLock);
	}
	list_free(indexes);
	return found;
}

/*
 * BeginsBefore says whether the group that the index scan has found begins
 * before the range, so that those before it have nothing of that.
 */
static bool
BeginsBefore(IndexScanDesc scan, const ItemRange *range)
{
	bool		isnull;
	int64		itemid = DatumGetInt64(index_getattr(scan->xs_itup, 1,
													 scan->xs_itupdesc,
													 &isnull));
	int32		clock = DatumGetInt32(index_getattr(scan->xs_itup, 2,
													scan->xs_itupdesc,
													&isnull));

	return itemid < range->itemid ||
		(itemid == range->itemid && clock <= position_clock(range->first));
}

/*
 * PrefetchGroups asks for the pages of an item's groups that overlap the
 * range, newest first, at most as many as may be asked for at once.  Dead
 * groups are as good as others: an MVCC snapshot would have a serializable
 * transaction lock what it may never read.
 */
static void
PrefetchGroups(Relation day, Relation index, const ItemRange *range)
{
	IndexScanDesc scan = index_beginscan_compat(day, index, SnapshotAny, 1);
	BlockNumber nblocks = RelationGetNumberOfBlocks(day);
	BlockNumber last = InvalidBlockNumber;
	int			limit = get_tablespace_io_concurrency(day->rd_rel->reltablespace);
	ScanKeyData key;
	ScanKeyData members[2];
	ItemPointer tid;

	ZbxhistInitGroupKey(&key, members, BTLessEqualStrategyNumber,
						range->itemid, position_clock(range->last));
	scan->xs_want_itup = true;
	index_rescan(scan, &key, 1, NULL, 0);
	while (limit > 0 &&
		   (tid = index_getnext_tid(scan, BackwardScanDirection)) != NULL)
	{
		BlockNumber block = ItemPointerGetBlockNumber(tid);

		if (block != last && block < nblocks)
		{
			PrefetchBuffer(day, MAIN_FORKNUM, block);
			last = block;
			limit--;
		}
		if (BeginsBefore(scan, range))
			break;
	}
	index_endscan(scan);
}

/*
 * ZbxhistPrefetchDay asks for the pages that a reader of the range will need
 * of a day's table, which the reader is going to lock in lockmode.  Rights are
 * the reader's business: nothing is given out here.
 */
void
ZbxhistPrefetchDay(Oid relid, LOCKMODE lockmode, const ItemRange *range)
{
	Relation	day;

	if (!ConditionalLockRelationOid(relid, lockmode))
		return;
	day = try_table_open(relid, NoLock);
	if (day == NULL)
	{
		UnlockRelationOid(relid, lockmode);
		return;
	}
	/* its index is not read, see day_groups.c */
	if (RelationGetNumberOfBlocks(day) == 1)
		PrefetchBuffer(day, MAIN_FORKNUM, 0);
	else if (day->rd_rel->relam == HEAP_TABLE_AM_OID)
	{
		Relation	index = TryOpenIndex(day);

		if (index != NULL)
		{
			PrefetchGroups(day, index, range);
			index_close(index, AccessShareLock);
		}
	}
	table_close(day, lockmode);
}
