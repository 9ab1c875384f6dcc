/*-------------------------------------------------------------------------
 *
 * scan.c
 *	  The rows of all packed days of a table.
 *
 * A scan reads day after day, and in each day the named items one after the other, or
 * if none are named all items or a range of them.  Rows of an item come in the order of
 * (clock, ns), in either direction.  A day is opened when the scan reaches it, so a query
 * that stops early does not touch the rest.
 *
 * Rows may also be named by their ctids, which contain their clocks.  Then only the
 * clocks between the first and the last ctid of each day are read.
 *
 * The scan looks up the next day when it has left the one before
 * (tables/partition_walk.c).  A parallel scan hands out ranges of clocks, those that
 * days had when it began.
 *
 * The partitions in the query's plan are locked, so none of them can have been packed
 * since.  But this session's cache may still have as a partition what was packed before
 * the plan was made.  So the scan updates the cache once, before it begins.
 *
 * Locks and rights are those of open_days.c.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/parallel.h"
#include "access/table.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "binary_search.h"
#include "packed/scan.h"
#include "tables/partition_set.h"

/* ---- beginning and ending ---- */

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
	MemoryContext old = MemoryContextSwitchTo(context);
	PackedScan *scan = palloc0(sizeof(PackedScan));

	scan->context = context;
	scan->parent = table_open(parent, AccessShareLock);
	ZbxhistInitOpenDays(&scan->open, table, snapshot, AccessShareLock);
	scan->open.spec.wanted = wanted;
	scan->open.spec.wants_row_id = wants_row_id;
	MemoryContextSwitchTo(old);
	return scan;
}

/*
 * ZbxhistEndPackedScan closes everything; locks stay.
 */
void
ZbxhistEndPackedScan(PackedScan *scan)
{
	ZbxhistCloseDays(&scan->open);
	table_close(scan->parent, NoLock);
	MemoryContextDelete(scan->context);
}

/* ---- day after day ---- */

/*
 * FindTidOfBounds returns the index of the first of the bounds' tids that is
 * not before tid.
 */
static int
FindTidOfBounds(const ScanBounds *bounds, int64 tid)
{
	int			i;

	find_first(i, bounds->ntids, bounds->tids[i] >= tid);
	return i;
}

/*
 * LimitToTids leaves the clocks of the tids, if there are bounds of that kind,
 * that are of the current day; returns false if none is.
 */
static bool
LimitToTids(const PackedScan *scan, ItemRange *range)
{
	const int64 *tids = scan->bounds.tids;
	int			first;
	int			last;

	if (tids == NULL)
		return true;
	first = FindTidOfBounds(&scan->bounds, scan->day.from_clock * (1 << 16));
	last = FindTidOfBounds(&scan->bounds, scan->day.to_clock * (1 << 16)) - 1;
	if (first > last)
		return false;
	ZbxhistStartAt(range, make_position(packed_tid_clock(tids[first]),
										PG_INT32_MIN));
	ZbxhistEndAt(range, make_position(packed_tid_clock(tids[last]),
									  PG_INT32_MAX));
	return true;
}

/*
 * StartReader begins with the present item, or all, of the current day.
 */
static void
StartReader(PackedScan *scan)
{
	ItemRange	range = scan->range;

	ZbxhistLimitToStep(&scan->day, &range);
	(void) LimitToTids(scan, &range);
	if (scan->bounds.items == NULL)
		ZbxhistDayReaderStartWhole(scan->open.reader, &range,
								   scan->bounds.from_item,
								   scan->bounds.to_item);
	else
		ZbxhistDayReaderStart(scan->open.reader, &range);
}

/*
 * FindScannedDay goes to the next day that may have rows that are asked for;
 * returns false if there is none.  Of a parallel scan it takes a range of clocks that
 * nobody has taken yet.
 */
static bool
FindScannedDay(PackedScan *scan)
{
	uint32		next;

	for (;;)
	{
		while (ZbxhistWalkNext(&scan->walk, &scan->day))
		{
			ItemRange	range = scan->range;

			CHECK_FOR_INTERRUPTS();
			if (LimitToTids(scan, &range))
				return true;
		}
		if (scan->shared == NULL ||
			(next = pg_atomic_fetch_add_u32(&scan->shared->next, 1)) >= scan->shared->nranges)
			return false;
		ZbxhistBeginWalk(&scan->walk, scan->parent, &scan->range, true);
		if (!item_range_is_empty(&scan->range))
			ZbxhistWalkBetween(&scan->walk, scan->shared->ranges[next].from_clock,
							   scan->shared->ranges[next].to_clock);
	}
}

/*
 * LimitToClocks leaves the clocks of a range that are between two, both included.
 */
static void
LimitToClocks(ItemRange *range, int64 from_clock, int64 to_clock)
{
	from_clock = Max(from_clock, PG_INT32_MIN);
	to_clock = Min(to_clock, PG_INT32_MAX);
	ZbxhistStartAt(range, make_position((int32) from_clock, PG_INT32_MIN));
	ZbxhistEndAt(range, make_position((int32) to_clock, PG_INT32_MAX));
	if (from_clock > to_clock)
		ZbxhistMakeEmpty(range);
}

/*
 * GoToItem goes to an item, if any are named.
 */
static void
GoToItem(PackedScan *scan, int item)
{
	scan->item = item;
	if (item < scan->bounds.nitems)
		scan->range.itemid = scan->bounds.items[item];
}

/*
 * NextScannedDay begins with the next day; returns false if there is none.
 */
static bool
NextScannedDay(PackedScan *scan)
{
	ZbxhistLeaveDay(&scan->open);
	while (FindScannedDay(scan))
	{
		CHECK_FOR_INTERRUPTS();
		if (!ZbxhistEnterDay(&scan->open, &scan->walk, &scan->day))
			continue;
		ZbxhistWalkArrived(&scan->walk, &scan->day);
		GoToItem(scan, 0);
		StartReader(scan);
		return true;
	}
	return false;
}

/*
 * ZbxhistBoundsRange sets range to the clocks in bounds, for some item.
 */
void
ZbxhistBoundsRange(const ScanBounds *bounds, ItemRange *range)
{
	ZbxhistWholeItem(range, 0);
	range->is_descending = bounds->is_descending;
	LimitToClocks(range, bounds->from_clock, bounds->to_clock);
	if (bounds->items != NULL && bounds->nitems == 0)
		ZbxhistMakeEmpty(range);
}

/*
 * ZbxhistStartPackedScan begins to read what is in bounds, whose items must
 * stay.
 */
void
ZbxhistStartPackedScan(PackedScan *scan, const ScanBounds *bounds)
{
	ClockRange	clocks = clocks_of_bounds(bounds);

	if (!scan->has_started && !IsParallelWorker())
		(void) ZbxhistCatchUp(scan->parent, &clocks);
	scan->has_started = true;
	ZbxhistRestartDays(&scan->open);
	scan->bounds = *bounds;
	scan->open.walk = bounds->items != NULL && bounds->tids == NULL ? &scan->walk : NULL;
	scan->open.range = &scan->range;
	scan->open.nitems = bounds->nitems;
	scan->open.items = scan->bounds.items;
	ZbxhistBoundsRange(&scan->bounds, &scan->range);
	GoToItem(scan, 0);
	ZbxhistBeginWalk(&scan->walk, scan->parent, &scan->range, true);
	/* the worker must take a range first */
	if (scan->shared != NULL)
		ZbxhistWalkBetween(&scan->walk, PG_INT64_MAX, PG_INT64_MAX);
}

/*
 * NextReader begins with the next item of the current day, or the next day, be it
 * the first one; returns false if there is none.
 */
static bool
NextReader(PackedScan *scan)
{
	if (scan->open.reader == NULL || scan->item + 1 >= scan->bounds.nitems)
		return NextScannedDay(scan);
	GoToItem(scan, scan->item + 1);
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

	while (scan->open.reader != NULL || NextReader(scan))
	{
		info = ZbxhistDayReaderFind(scan->open.reader);
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
	while (scan->open.reader != NULL || NextReader(scan))
	{
		if (ZbxhistDayReaderNextSegment(scan->open.reader))
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

	ZbxhistDayReaderRowId(scan->open.reader, &id);
	tid = make_packed_tid(&id);
	place = FindTidOfBounds(&scan->bounds, tid);
	return place < scan->bounds.ntids && scan->bounds.tids[place] == tid;
}

/* ---- in several processes ---- */

/*
 * ZbxhistSizeOfSharedDays finds the ranges of clocks to be handed out, and returns how much
 * shared memory they need.  Locks of workers end with them, so where days that have been
 * read are to stay, the leader locks all.
 */
Size
ZbxhistSizeOfSharedDays(PackedScan *scan)
{
	ClockRange	all = ANY_CLOCKS;
	const PartitionSet *set;
	PackedDay  *days;
	bool		is_new;

	do
	{
		set = ZbxhistCatchUp(scan->parent, &all);
		days = ZbxhistCopyPackedDays(set, &scan->nranges);
		is_new = false;
		for (int i = 0; i < scan->nranges && scan->open.spec.release == NoLock; i++)
		{
			is_new |= !is_locked_by_me(days[i].relid);
			LockRelationOid(days[i].relid, AccessShareLock);
		}
	} while (is_new && !ZbxhistPartitionSetIsValid(set));
	scan->ranges = MemoryContextAlloc(scan->context,
									  sizeof(ClockRange) * Max(scan->nranges, 1));
	for (int i = 0; i < scan->nranges; i++)
	{
		scan->ranges[i].from_clock = days[i].from_clock;
		scan->ranges[i].to_clock = days[i].to_clock;
	}
	pfree(days);
	return offsetof(SharedDays, ranges) + sizeof(ClockRange) * scan->nranges;
}

/*
 * ZbxhistShareDaysAgain lets all days be taken again.
 */
void
ZbxhistShareDaysAgain(SharedDays *shared)
{
	pg_atomic_write_u32(&shared->next, 0);
	pg_atomic_write_u32(&shared->next_input, 0);
}

/*
 * ZbxhistShareDays fills the shared memory, and makes the leader take its days from
 * there, as workers do.
 */
void
ZbxhistShareDays(PackedScan *scan, SharedDays *shared)
{
	pg_atomic_init_u32(&shared->next, 0);
	pg_atomic_init_u32(&shared->next_input, 0);
	for (int i = 0; i < NUM_SCAN_COUNTERS; i++)
		pg_atomic_init_u64(&shared->counters[i], 0);
	shared->nranges = scan->nranges;
	memcpy(shared->ranges, scan->ranges, sizeof(ClockRange) * shared->nranges);
	scan->shared = shared;
}

/*
 * ZbxhistReportToLeader adds what a worker has done, when it ends.
 */
void
ZbxhistReportToLeader(PackedScan *scan)
{
	const uint64 *counters = (uint64 *) &scan->open.counters;

	if (scan->shared == NULL || !IsParallelWorker())
		return;
	for (int i = 0; i < NUM_SCAN_COUNTERS; i++)
		pg_atomic_fetch_add_u64(&scan->shared->counters[i], counters[i]);
}

/*
 * ZbxhistStopSharing takes what workers have done, in the leader, before the shared
 * memory goes.
 */
void
ZbxhistStopSharing(PackedScan *scan)
{
	uint64	   *counters = (uint64 *) &scan->open.counters;

	if (scan->shared == NULL || IsParallelWorker())
		return;
	for (int i = 0; i < NUM_SCAN_COUNTERS; i++)
		counters[i] += pg_atomic_read_u64(&scan->shared->counters[i]);
	scan->shared = NULL;
}
