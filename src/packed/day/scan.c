/*-------------------------------------------------------------------------
 *
 * scan.c
 *	  The rows of all packed days of a table.
 *
 * Day after day, and in each one item after the other, or the day as a whole
 * if no items are named; or item after item, each through all days, which then
 * stay open.  Rows of an item come in the order of (clock, ns), either way.  A day is opened when it is reached, so whoever stops early
 * has not touched the rest, but for pages asked for beforehand while days come
 * from disk (day_prefetch.c).
 *
 * Rows may also be asked for by their ctids, which say their clocks: then of
 * each day only the clocks between the first and the last one are read.
 *
 * Locks: the caller has locked the foreign table, which keeps maintenance
 * from dropping a day, and the parent.  Each day is locked while it is open:
 * to the end of the transaction, hundreds would fill the server's table of
 * locks.  One that somebody has dropped is passed over.
 *
 * Rights: whoever reads needs them on the parent or the foreign table only.
 * The days that a parent has are a part of it, whoever owns their tables: who
 * writes into zbxhist.packed_day must have the rights of both owners
 * (sql/tables/require_owners.sql).  But the owner of a foreign table that only
 * names a parent needs them on the days.  Otherwise whoever may create foreign
 * tables could read the days of anybody.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "catalog/objectaddress.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "binary_search.h"
#include "catalog/packed_days.h"
#include "catalog/partition_set.h"
#include "packed/day/scan.h"

/* ---- days ---- */

/*
 * ZbxhistDaysUser returns who must have privileges on the days that a foreign
 * table stands for; InvalidOid if it is a part of their parent.
 */
Oid
ZbxhistDaysUser(Relation foreign)
{
	return ZbxhistIsPackedTable(RelationGetRelid(foreign)) ? InvalidOid :
		foreign->rd_rel->relowner;
}

/*
 * TryOpen does what try_table_open does.  That looks into pg_class whether there
 * is such a relation, and again what it is like: of the pages that a query touches
 * for a day to which its session comes for the first time, it is a tenth.
 */
static Relation
TryOpen(Oid relid, LOCKMODE lockmode)
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

/*
 * ZbxhistOpenDay opens and locks a day's table, on which user, if there is
 * one, must have the privilege; returns NULL if it has been dropped.
 */
Relation
ZbxhistOpenDay(Oid day, Oid user, LOCKMODE lockmode, AclMode privilege)
{
	Relation	rel = TryOpen(day, lockmode);
	AclResult	result;

	/* what owners lack they may give themselves */
	if (rel == NULL || !OidIsValid(user) || rel->rd_rel->relowner == user)
		return rel;
	result = pg_class_aclcheck(day, user, privilege);
	if (result != ACLCHECK_OK)
		aclcheck_error(result, get_relkind_objtype(rel->rd_rel->relkind),
					   RelationGetRelationName(rel));
	return rel;
}

/*
 * ZbxhistPackedScanDays finds the days that there are now, or takes those of
 * the parallel scan that this one is part of.
 */
void
ZbxhistPackedScanDays(PackedScan *scan)
{
	Size		size;

	if (scan->days != NULL)
		return;
	if (scan->shared != NULL)
	{
		scan->ndays = scan->shared->ndays;
		scan->days = scan->shared->list;
	}
	else
	{
		Relation	parent = table_open(scan->parent, AccessShareLock);
		MemoryContext old = MemoryContextSwitchTo(scan->context);

		scan->days = ZbxhistCopyPackedDays(ZbxhistGetPartitions(parent),
										   &scan->ndays);
		MemoryContextSwitchTo(old);
		table_close(parent, NoLock);
	}
	size = sizeof(DayReader *) * Max(scan->ndays, 1);
	scan->readers = MemoryContextAllocZero(scan->context, size);
}

/*
 * ZbxhistBeginPackedScan prepares a scan of the days of parent for a foreign
 * table.  The snapshot must stay registered, and wanted must stay, too.
 */
PackedScan *
ZbxhistBeginPackedScan(Relation table, Oid parent, Snapshot snapshot,
					   const bool *wanted, bool wants_row_id)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "zbxhist packed scan",
												  ALLOCSET_SMALL_SIZES);
	PackedScan *scan = MemoryContextAllocZero(context, sizeof(PackedScan));

	scan->context = context;
	scan->parent = parent;
	scan->spec.table = table;
	scan->spec.snapshot = snapshot;
	scan->spec.wanted = wanted;
	scan->spec.wants_row_id = wants_row_id;
	scan->spec.counters = &scan->counters;
	scan->user = ZbxhistDaysUser(table);
	/* of another foreign table maintenance knows nothing */
	scan->spec.release = OidIsValid(scan->user) ? NoLock : AccessShareLock;
	return scan;
}

/*
 * ZbxhistEndPackedScan closes everything; locks stay.
 */
void
ZbxhistEndPackedScan(PackedScan *scan)
{
	for (int i = 0; scan->readers != NULL && i < scan->ndays; i++)
	{
		if (scan->readers[i] != NULL)
			ZbxhistCloseDayReader(scan->readers[i]);
	}
	if (scan->idle != NULL)
		ZbxhistCloseDayReader(scan->idle);
	MemoryContextDelete(scan->context);
}

/* ---- day after day ---- */

/*
 * FindTid returns the index of the first of the bounds' tids that is not
 * before tid.
 */
static int
FindTid(const ScanBounds *bounds, int64 tid)
{
	int			i;

	find_first(i, bounds->ntids, bounds->tids[i] >= tid);
	return i;
}

/*
 * FindTidsOfDay finds which of the bounds' tids are those of a day; returns
 * false if none is.
 */
static bool
FindTidsOfDay(const PackedScan *scan, int day, int *first, int *last)
{
	const PackedDay *clocks = &scan->days[day];

	*first = FindTid(&scan->bounds, clocks->from_clock * (1 << 16));
	*last = FindTid(&scan->bounds, clocks->to_clock * (1 << 16)) - 1;
	return *first <= *last;
}

/*
 * SetRange makes range the bounds, for one item.
 */
static void
SetRange(const PackedScan *scan, ItemRange *range)
{
	const ScanBounds *bounds = &scan->bounds;

	range->itemid = bounds->items == NULL ? 0 : bounds->items[scan->item];
	range->first = make_position((int32) bounds->from_clock, PG_INT32_MIN);
	range->last = make_position((int32) bounds->to_clock, PG_INT32_MAX);
	range->is_descending = bounds->is_descending;
}

/*
 * LimitToTids leaves the clocks of the tids that are of the day in hand.
 */
static void
LimitToTids(const PackedScan *scan, ItemRange *range)
{
	const int64 *tids = scan->bounds.tids;
	int			first;
	int			last;

	if (!FindTidsOfDay(scan, scan->current, &first, &last))
	{
		ZbxhistMakeEmpty(range);
		return;
	}
	ZbxhistStartAt(range, make_position(packed_tid_clock(tids[first]),
										PG_INT32_MIN));
	ZbxhistEndAt(range, make_position(packed_tid_clock(tids[last]),
									  PG_INT32_MAX));
}

/*
 * StartReader begins with the present item, or all, of the day in hand.
 */
static void
StartReader(PackedScan *scan)
{
	ItemRange	range;

	SetRange(scan, &range);
	if (scan->bounds.tids != NULL)
		LimitToTids(scan, &range);
	if (scan->bounds.items == NULL)
		ZbxhistDayReaderStartWhole(scan->reader, &range);
	else
		ZbxhistDayReaderStart(scan->reader, &range);
}

/*
 * IsWanted says whether a day may have rows that are asked for.
 */
static bool
IsWanted(const PackedScan *scan, int day)
{
	int			first;
	int			last;

	return scan->days[day].to_clock > scan->bounds.from_clock &&
		scan->days[day].from_clock <= scan->bounds.to_clock &&
		(scan->bounds.tids == NULL ||
		 FindTidsOfDay(scan, day, &first, &last));
}

/*
 * TakeDay returns the index of the next day, -1 if there is none.
 */
static int
TakeDay(PackedScan *scan)
{
	int			step = scan->bounds.is_descending ? -1 : 1;

	if (scan->shared != NULL)
	{
		uint32		day;

		while ((day = pg_atomic_fetch_add_u32(&scan->shared->next, 1)) < scan->ndays)
		{
			if (IsWanted(scan, day))
				return day;
		}
		return -1;
	}
	while (scan->day >= 0 && scan->day < scan->ndays)
	{
		int			day = scan->day;

		scan->day += step;
		if (IsWanted(scan, day))
			return day;
	}
	return -1;
}

/*
 * OpenReader returns the reader of a day, NULL if the day has been dropped.
 */
static DayReader *
OpenReader(PackedScan *scan, int day)
{
	MemoryContext old;
	Relation	rel;

	if (scan->readers[day] != NULL)
		return scan->readers[day];
	rel = ZbxhistOpenDay(scan->days[day].relid, scan->user, AccessShareLock,
						 ACL_SELECT);
	if (rel == NULL)
		return NULL;
	if (scan->idle != NULL && ZbxhistMoveDayReader(scan->idle, rel))
	{
		scan->readers[day] = scan->idle;
		scan->idle = NULL;
		return scan->readers[day];
	}
	old = MemoryContextSwitchTo(scan->context);
	scan->readers[day] = ZbxhistOpenDayReader(rel, &scan->spec);
	MemoryContextSwitchTo(old);
	return scan->readers[day];
}

/*
 * LeaveDay leaves the day in hand.  Unless days are kept open its reader is
 * for the next one.
 */
static void
LeaveDay(PackedScan *scan)
{
	if (scan->reader != NULL)
		ZbxhistPrefetchLeaveDay(&scan->prefetch, scan->reader->has_read);
	if (scan->reader != NULL && !scan->keeps_days)
	{
		scan->readers[scan->current] = NULL;
		if (scan->idle != NULL)
			ZbxhistCloseDayReader(scan->idle);
		scan->idle = scan->reader;
	}
	scan->reader = NULL;
}

/*
 * PrefetchDays asks for pages of the days after the one in hand, of which a
 * single item is read.
 */
static void
PrefetchDays(PackedScan *scan)
{
	int			step = scan->bounds.is_descending ? -1 : 1;
	int			distance;
	ItemRange	range;

	if (scan->shared != NULL || scan->bounds.items == NULL ||
		scan->bounds.nitems != 1)
		return;
	distance = ZbxhistPrefetchDistance(&scan->prefetch, scan->reader->rel);
	if (distance == 0)
		return;
	SetRange(scan, &range);
	if ((scan->prefetch_day - scan->day) * step < 0)
		scan->prefetch_day = scan->day;
	while ((scan->prefetch_day - scan->day) * step < distance &&
		   scan->prefetch_day >= 0 && scan->prefetch_day < scan->ndays)
	{
		int			day = scan->prefetch_day;

		scan->prefetch_day += step;
		if (IsWanted(scan, day))
			ZbxhistPrefetchDay(scan->days[day].relid, AccessShareLock, &range);
	}
}

/*
 * NextDay begins with the next day; returns false if there is none.
 */
static bool
NextDay(PackedScan *scan)
{
	LeaveDay(scan);
	while ((scan->current = TakeDay(scan)) >= 0)
	{
		CHECK_FOR_INTERRUPTS();
		scan->reader = OpenReader(scan, scan->current);
		if (scan->reader == NULL)
			continue;
		if (!scan->bounds.is_by_item)
			scan->item = 0;
		StartReader(scan);
		PrefetchDays(scan);
		return true;
	}
	return false;
}

/*
 * GoToFirstDay goes back to where all days begin.
 */
static void
GoToFirstDay(PackedScan *scan)
{
	scan->day = scan->bounds.is_descending ? scan->ndays - 1 : 0;
}

/*
 * ZbxhistStartPackedScan begins to read what is in bounds, whose items must
 * stay.
 */
void
ZbxhistStartPackedScan(PackedScan *scan, const ScanBounds *bounds)
{
	ZbxhistPackedScanDays(scan);
	LeaveDay(scan);
	scan->bounds = *bounds;
	scan->bounds.from_clock = Max(bounds->from_clock, PG_INT32_MIN);
	scan->bounds.to_clock = Min(bounds->to_clock, PG_INT32_MAX);
	scan->keeps_days |= bounds->is_by_item;
	scan->item = 0;
	GoToFirstDay(scan);
	scan->prefetch_day = scan->day;
	memset(&scan->prefetch, 0, sizeof(DayPrefetch));
	/* nothing can be in it: pass over all days */
	if ((bounds->items != NULL && bounds->nitems == 0) ||
		scan->bounds.from_clock > scan->bounds.to_clock)
		scan->bounds.from_clock = PG_INT64_MAX;
}

/*
 * NextOfItem begins with the next day of the item in hand, or the first one of
 * the next item; returns false if there is none.
 */
static bool
NextOfItem(PackedScan *scan)
{
	while (!NextDay(scan))
	{
		if (scan->item + 1 >= scan->bounds.nitems)
			return false;
		scan->item++;
		GoToFirstDay(scan);
	}
	return true;
}

/*
 * NextReader begins with the next item of the day in hand, or the next day;
 * returns false if there is none.
 */
static bool
NextReader(PackedScan *scan)
{
	if (scan->bounds.is_by_item)
		return NextOfItem(scan);
	if (scan->reader == NULL || scan->bounds.items == NULL ||
		scan->item + 1 >= scan->bounds.nitems)
		return NextDay(scan);
	scan->item++;
	StartReader(scan);
	return true;
}

/*
 * ZbxhistPackedScanFind returns the segment that would be decoded next, or
 * NULL if there is none; ZbxhistDayReaderSkip passes over it.
 */
const SegmentInfo *
ZbxhistPackedScanFind(PackedScan *scan)
{
	const SegmentInfo *info;

	while (scan->reader != NULL || NextDay(scan))
	{
		info = ZbxhistDayReaderFind(scan->reader);
		if (info != NULL)
			return info;
		if (!NextReader(scan))
			break;
	}
	return NULL;
}

/*
 * ZbxhistPackedScanNextSegment goes to the first row of the next segment that
 * has any; returns false if there is none.
 */
bool
ZbxhistPackedScanNextSegment(PackedScan *scan)
{
	while (scan->reader != NULL || NextDay(scan))
	{
		if (ZbxhistDayReaderNextSegment(scan->reader))
			return true;
		if (!NextReader(scan))
			break;
	}
	return false;
}

/*
 * ZbxhistPackedScanHasTid says whether the present row is one of the bounds'
 * tids.
 */
bool
ZbxhistPackedScanHasTid(PackedScan *scan)
{
	PackedRowId id;
	int64		tid;
	int			place;

	ZbxhistDayReaderRowId(scan->reader, &id);
	tid = make_packed_tid(&id);
	place = FindTid(&scan->bounds, tid);
	return place < scan->bounds.ntids && scan->bounds.tids[place] == tid;
}
