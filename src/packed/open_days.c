/*-------------------------------------------------------------------------
 *
 * open_days.c
 *	  The packed days that a query reads, one after the other.
 *
 * All readers of many days (scan.c, source.c) open, leave and close them here.  A
 * walk says which day comes next (partition_walk.c).  A day that has been left stays open
 * if it will be read again for another item.  Otherwise its reader is moved to the next
 * day, which mostly has the same columns.
 *
 * Locks: the caller has locked the parent.  Each day is locked when it is entered.  In
 * READ COMMITTED the lock is released when the day is left, because the locks of hundreds
 * of days would fill the lock table.  A day that is repacked or compacted meanwhile has
 * the same rows for all snapshots.  At REPEATABLE READ and above the locks stay, so that
 * retention drops nothing that the transaction may read again.
 *
 * Rights: a reader needs rights on the parent or the foreign table only.  The packed
 * days are part of the parent, whoever owns their tables: a user who writes into
 * zbxhist.packed_day must have the rights of both owners (sql/tables/require_owners.sql).
 *
 * Which archived groups will be read next is a hint only.  It may differ from what the
 * reader will see.  To find it, a day that is locked by others is skipped, and the lock
 * of any other is released at once, so that nobody waits for a reader that has not
 * reached the day.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "access/xact.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/lmgr.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "compat.h"
#include "packed/archived_group.h"
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

/* ---- a day's table ---- */

/*
 * ZbxhistOpenDay opens and locks a day's table; returns NULL if it has been dropped.
 * Unlike try_table_open it reads pg_class once instead of twice, which saves a tenth of
 * the pages that a query touches for a day that is new to its session.
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
 * WantItem adds the archived groups of an item in the scan's day to the next query;
 * returns false if some group is not archived, or the query is full.
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
 * WantDay adds those of all items in a day, in the current day from the current item
 * on.  A day that others have locked is left out.  Dead groups may be among them.
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
 * WantAhead adds the archived groups that will be read after the current one: those of
 * the same items in this day and in the days that follow.
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
 * ZbxhistInitOpenDays prepares for reading days as rows of a table's type.  The
 * snapshot must stay registered.  Days are locked in lockmode (NoLock: the caller has
 * locked them).  Readers are allocated in the current context; they belong to the
 * resource owner that is current when they are opened.
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
 * ZbxhistLookAgainInDays is called for a statement that will change the rows that it
 * finds.  Each day is locked against changes by others when it is entered, until the
 * transaction ends, and read as it is then.
 */
void
ZbxhistLookAgainInDays(OpenDays *days)
{
	days->looks_again = true;
	days->lockmode = ShareUpdateExclusiveLock;
	days->spec.release = NoLock;
}

/*
 * TakeFreshSnapshot takes a new snapshot for a day that has just been locked.  A day
 * with other columns than the table's is read by the caller's snapshot: rows of it that
 * others have updated are in the parent.
 */
static void
TakeFreshSnapshot(OpenDays *days, Relation rel)
{
	MemoryContext old = MemoryContextSwitchTo(days->context);
	Snapshot	fresh;

	/* it uses the snapshot of another day */
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
 * ZbxhistRestartDays leaves the current day, before days are read from the
 * first one on, for another range.
 */
void
ZbxhistRestartDays(OpenDays *days)
{
	ZbxhistLeaveDay(days);
	ZbxhistRestartArchive(days->spec.archive, days->reads_all);
	days->kept.hint = 0;
}

/*
 * EnterOpenDay makes a day the current one.  The caller has opened and locked its table;
 * the reference is taken over.
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
 * ZbxhistEnterDay makes the day that the walk has reached the current one; returns false
 * if it has been dropped.
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
	/* locking processed invalidations */
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
 * ZbxhistLeaveDay leaves the current day, if there is one.  Unless it is kept open, its
 * reader is reused for the next day.
 */
void
ZbxhistLeaveDay(OpenDays *days)
{
	DayReader  *reader = days->reader;

	if (reader == NULL)
		return;
	days->reader = NULL;
	if (days->keeps_days)
		return;
	if (days->idle != NULL)
		ZbxhistCloseDayReader(days->idle);
	days->idle = reader;
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
