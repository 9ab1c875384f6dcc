/*-------------------------------------------------------------------------
 *
 * open_days.c
 *	  The packed days that somebody reads, one after the other.
 *
 * All readers of many days (scan.c, source.c) open, leave and close them here.
 * Which comes next a walk says (partition_walk.c).  A day that has been left is
 * kept open if it will be read again, for another item; else its reader is
 * moved to the next day, which mostly has the same columns.
 *
 * While days come from disk, pages of those after the one in hand are asked for
 * beforehand.  As in a bitmap heap scan, their number grows only as long as
 * pages really are read, so that reads of shared buffers pay nothing and a
 * reader that stops early has asked for few.
 *
 * Locks: the caller has locked the parent.  Each day is locked when it is entered,
 * in READ COMMITTED until it is left: to the end of the transaction, hundreds would
 * fill the server's table of locks.  What is repacked or compacted meanwhile has the same
 * rows for all snapshots.  At REPEATABLE READ and above the locks stay, so that
 * retention drops nothing that the transaction may read once more.
 *
 * Rights: a reader needs them on the parent or the foreign table only.  The
 * days that a parent has are a part of it, whoever owns their tables: a user
 * who writes into zbxhist.packed_day must have the rights of both owners
 * (sql/tables/require_owners.sql).
 *
 * A hint is all that they are.  What it finds need not be what the reader will
 * see, and a day that is not to be had at once is passed over.  Its table and
 * its index are locked, if they are free, only while their pages are asked for,
 * so that nobody waits for a reader that has not come to the day.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/relscan.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/pg_am.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/spccache.h"

#include "compat.h"
#include "packed/archived_group.h"
#include "packed/day_index.h"
#include "packed/open_days.h"

/*
 * TryOpenFreeDay opens a day's table in lockmode if it is free; returns NULL
 * otherwise, or if it has been dropped.
 */
static Relation
TryOpenFreeDay(Oid relid, LOCKMODE lockmode)
{
	Relation	day;

	if (!ConditionalLockRelationOid(relid, lockmode))
		return NULL;
	day = try_table_open(relid, NoLock);
	if (day == NULL)
		UnlockRelationOid(relid, lockmode);
	return day;
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
 * PrefetchDay asks for the pages that a reader of the range will need
 * of a day's table, which the reader is going to lock in lockmode.  Rights are
 * the reader's business: nothing is given out here.
 */
static void
PrefetchDay(Oid relid, LOCKMODE lockmode, const ItemRange *range)
{
	Relation	day = TryOpenFreeDay(relid, lockmode);

	if (day == NULL)
		return;
	if (day->rd_rel->relam == HEAP_TABLE_AM_OID)
	{
		Relation	index = ZbxhistTryGroupIndex(day);

		if (index != NULL)
		{
			PrefetchGroups(day, index, range);
			index_close(index, AccessShareLock);
		}
	}
	table_close(day, lockmode);
}

/* beyond any effective_io_concurrency */
#define MAX_DISTANCE 1024

/* ---- a day's table ---- */

/*
 * ZbxhistOpenDay opens and locks a day's table; returns NULL if it has been
 * dropped.  try_table_open looks into pg_class whether there is such a relation,
 * and again what it is like: of the pages that a query touches for a day to
 * which its session comes for the first time, it is a tenth.
 */
Relation
ZbxhistOpenDay(Oid relid, LOCKMODE lockmode)
{
	Relation	rel;

	LockRelationOid(relid, lockmode);
	rel = RelationIdGetRelation(relid);
	if (RelationIsValid(rel) && rel->rd_rel->relkind == RELKIND_RELATION)
	{
		pgstat_init_relation(rel);
		return rel;
	}
	if (RelationIsValid(rel))
		RelationClose(rel);
	UnlockRelationOid(relid, lockmode);
	return try_table_open(relid, lockmode);
}

/* ---- archived groups that will be next ---- */

/*
 * WantItem wants the archived groups of an item in the scan's day; returns false if
 * there are some that are not archived, or no more are fetched.
 */
static bool
WantItem(OpenDays *days, DayScan *scan, Relation day, int64 itemid)
{
	ItemRange	range = *days->range;
	DayGroup	group;
	Datum		payload;

	range.itemid = itemid;
	ZbxhistDayScanItem(scan, &range);
	while (ZbxhistDayScanNextPlace(scan, &group, &payload))
	{
		struct varlena *archived = PG_DETOAST_DATUM_PACKED(payload);

		if (!ZbxhistIsArchived(archived) ||
			!ZbxhistWantArchived(days->spec.archive, day, archived,
								 range.is_descending))
			return false;
	}
	return true;
}

/*
 * WantDay does so for a day, from the item in hand on if it is the day in hand; a day
 * that is not free is left out.  As for other hints, dead groups are as good.
 */
static bool
WantDay(OpenDays *days, Oid relid)
{
	bool		is_in_hand = relid == RelationGetRelid(days->reader->rel);
	Relation	day = TryOpenFreeDay(relid, days->lockmode);
	DayScan    *scan;
	bool		result = true;

	if (day == NULL)
		return true;
	scan = ZbxhistBeginDayScan(day, days->reader->layout, SnapshotAny);
	if (days->nitems == 0)
		result = WantItem(days, scan, day, days->range->itemid);
	for (int i = 0; result && i < days->nitems; i++)
	{
		if (!is_in_hand || days->items[i] >= days->range->itemid)
			result = WantItem(days, scan, day, days->items[i]);
	}
	ZbxhistEndDayScan(scan);
	table_close(day, days->lockmode);
	return result;
}

/*
 * WantAhead says which archived groups will be read after the one that is asked
 * for: those of the same items in this day and those that come next.
 */
static bool
WantAhead(void *arg)
{
	OpenDays   *days = arg;
	PartitionWalk walk;
	WalkStep	step;
	Oid			relid;

	if (days->walk == NULL || days->reader == NULL)
		return false;
	walk = *days->walk;
	relid = RelationGetRelid(days->reader->rel);
	while (WantDay(days, relid))
	{
		CHECK_FOR_INTERRUPTS();
		do
		{
			if (!ZbxhistWalkNext(&walk, &step))
				return true;
			ZbxhistWalkArrived(&walk, &step);
		} while (!step.is_day);
		relid = step.relid;
	}
	return true;
}

/* ---- entering and leaving ---- */

/*
 * ZbxhistInitOpenDays prepares to read days of a table's, whose row type is
 * given out.  The snapshot must stay registered.  Days are locked in lockmode
 * (NoLock: the caller has locked them).  Readers
 * are allocated in the current context, and belong to the current resource owner
 * or those of later calls.
 */
void
ZbxhistInitOpenDays(OpenDays *days, Relation table, Snapshot snapshot,
					LOCKMODE lockmode)
{
	memset(days, 0, sizeof(OpenDays));
	days->spec.table = table;
	days->spec.snapshot = days->snapshot = snapshot;
	days->spec.release = IsolationUsesXactSnapshot() ? NoLock : lockmode;
	days->spec.counters = &days->counters;
	days->spec.archive = ZbxhistBeginArchiveReader(WantAhead, days);
	days->lockmode = lockmode;
	days->context = CurrentMemoryContext;
}

/*
 * ZbxhistLookAgainInDays has days be locked against changes by others, until the
 * transaction ends, as they are entered, and read as they are by then: a statement
 * is going to change rows that it finds there.
 */
void
ZbxhistLookAgainInDays(OpenDays *days)
{
	days->looks_again = true;
	days->lockmode = ShareUpdateExclusiveLock;
	days->spec.release = NoLock;
}

/*
 * TakeFreshSnapshot takes the snapshot by which a day that has just been locked is
 * read: the caller's if it has other columns than the table has now, since rows of it that
 * others have updated are in the parent.
 */
static void
TakeFreshSnapshot(OpenDays *days, Relation rel)
{
	MemoryContext old = MemoryContextSwitchTo(days->context);
	Snapshot	fresh;

	/* it has the snapshot of another day */
	if (days->idle != NULL)
		ZbxhistCloseDayReader(days->idle);
	days->idle = NULL;
	days->spec.snapshot = days->snapshot;
	if (ZbxhistHasColumnsOf(rel, days->spec.table))
	{
		fresh = RegisterSnapshot(GetLatestSnapshot());
		days->fresh = lappend(days->fresh, fresh);
		days->spec.snapshot = fresh;
	}
	MemoryContextSwitchTo(old);
}

/*
 * ZbxhistRestartDays leaves the day in hand, before days are read from the
 * first one on, for another range.
 */
void
ZbxhistRestartDays(OpenDays *days)
{
	ZbxhistLeaveDay(days);
	ZbxhistRestartArchive(days->spec.archive, days->reads_all);
	days->kept.hint = 0;
	days->distance = 0;
	days->nahead = 0;
}

/*
 * EnterOpenDay takes a day in hand whose table the caller has opened and
 * locked, and takes over the reference.
 */
static void
EnterOpenDay(OpenDays *days, Relation rel)
{
	MemoryContext old = MemoryContextSwitchTo(days->context);

	Assert(days->reader == NULL);
	if (days->idle != NULL && ZbxhistMoveDayReader(days->idle, rel))
	{
		days->reader = days->idle;
		days->idle = NULL;
	}
	else
		days->reader = ZbxhistOpenDayReader(rel, &days->spec);
	if (days->keeps_days)
		ZbxhistKeepTable(&days->kept, RelationGetRelid(rel), days->reader);
	MemoryContextSwitchTo(old);
}

/*
 * ZbxhistEnterDay takes the day in hand that the walk has come to; returns
 * false if it has been dropped.
 */
bool
ZbxhistEnterDay(OpenDays *days, const PartitionWalk *walk, const WalkStep *step)
{
	Relation	rel;

	days->reader = ZbxhistFindKept(&days->kept, step->relid);
	if (days->reader != NULL)
		return true;
	rel = ZbxhistOpenDay(step->relid, days->lockmode);
	if (rel == NULL)
		return false;
	/* the lock took in what happened meanwhile */
	if (!ZbxhistWalkKnows(walk, step->relid))
	{
		table_close(rel, NoLock);
		return false;
	}
	if (days->looks_again)
		TakeFreshSnapshot(days, rel);
	EnterOpenDay(days, rel);
	return true;
}

/*
 * ZbxhistLeaveDay leaves the day in hand, if there is one.  Unless it is kept
 * open its reader is for the next one.
 */
void
ZbxhistLeaveDay(OpenDays *days)
{
	DayReader  *reader = days->reader;

	if (reader == NULL)
		return;
	days->reader = NULL;
	days->distance = reader->has_read ?
		Min(Max(days->distance * 2, 1), MAX_DISTANCE) : days->distance / 2;
	if (days->keeps_days)
		return;
	if (days->idle != NULL)
		ZbxhistCloseDayReader(days->idle);
	days->idle = reader;
}

/*
 * ZbxhistPrefetchDays asks for pages of the days that walk will come to after
 * the one in hand, for a reader of a range of a single item.
 */
void
ZbxhistPrefetchDays(OpenDays *days, const PartitionWalk *walk,
					const ItemRange *range)
{
	Oid			tablespace = days->reader->rel->rd_rel->reltablespace;
	int			distance;
	WalkStep	step;

	if (days->nahead > 0)
		days->nahead--;
	if (days->distance == 0)
		return;
	distance = Min(days->distance, get_tablespace_io_concurrency(tablespace));
	if (days->nahead == 0)
		days->ahead = *walk;
	while (days->nahead < distance && ZbxhistWalkNext(&days->ahead, &step))
	{
		ZbxhistWalkArrived(&days->ahead, &step);
		if (!step.is_day)
			continue;
		PrefetchDay(step.relid, days->lockmode, range);
		days->nahead++;
	}
}

/*
 * ZbxhistCloseDays closes all days.
 */
void
ZbxhistCloseDays(OpenDays *days)
{
	ListCell   *lc;

	ZbxhistLeaveDay(days);
	foreach(lc, days->kept.readers)
		ZbxhistCloseDayReader(lfirst(lc));
	if (days->idle != NULL)
		ZbxhistCloseDayReader(days->idle);
	foreach(lc, days->fresh)
		UnregisterSnapshot(lfirst(lc));
}
