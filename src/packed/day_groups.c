/*-------------------------------------------------------------------------
 *
 * day_groups.c
 *	  A day's table: finds groups of segments.
 *
 * In any snapshot, groups do not overlap in (itemid, clock), and all rows of one
 * item and clock are in one group.  So the primary key (first_itemid, first_clock)
 * puts groups in the order of their rows, and a row is in the last group that does not
 * begin after it.
 *
 * The bytes of a group are read in the page of the table, without a copy, unless they
 * are stored out of line.
 *
 * Locks: the caller has locked the table.  The index is locked here, until the scan
 * ends; kept longer, the locks of hundreds of days would fill the lock table.  A scan
 * is allocated in a context of its own, below the current one when it begins;
 * its relations belong to the current resource owner.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/relscan.h"
#include "access/sysattr.h"
#include "access/tableam.h"
#include "common/int.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "compat.h"
#include "packed/archived_group.h"
#include "packed/day.h"
#include "packed/day_index.h"
#include "tables/index_next.h"

/* how far a scan for an item has come */
typedef enum ScanPhase
{
	SCAN_FIRST,					/* ascending: find the first group */
	SCAN_REST,					/* ascending: the groups after it */
	SCAN_BACKWARD,				/* descending */
	SCAN_HEAP,					/* all groups */
	SCAN_BLOCKS,				/* groups in some blocks of the heap */
	SCAN_DONE
} ScanPhase;

struct DayScan
{
	Relation	day;
	const DayLayout *layout;
	Snapshot	snapshot;

	Relation	index;			/* opened when it is needed */
	IndexScanDesc index_scan;
	TableScanDesc table_scan;
	TableScanDesc block_scan;
	TupleTableSlot *slot;
	DayTimes   *times;			/* that segments share */
	int64		ntimes;			/* skipped rows with shared times */
	ArchiveReader *archive;		/* fetches groups */
	ArchiveCounters *counters;	/* counts what it fetches; may be NULL */
	bool		is_here;		/* archived groups are not fetched */

	ScanPhase	phase;
	bool		is_started;		/* the index scan of this phase has begun */
	int64		itemid;
	int64		last_itemid;	/* the same, or of a scan for several the
								 * last, in its direction */
	int32		first_clock;
	int32		last_clock;
	bool		only_item;		/* other segments are not wanted */
	bool		is_reader;		/* the directory is enough, without its
								 * segments */
	bool		is_descending;
	int64		hint;			/* an item a little before the group found
								 * lately */
	GroupKeys	keys;

	MemoryContext context;		/* owns all this */
	MemoryContext group_context;	/* what belongs to the group */
};

/* ---- life of a scan ---- */

/*
 * ZbxhistBeginDayScan prepares a scan of a day's table.  The snapshot must
 * stay registered, and day open, until it ends.
 */
DayScan *
ZbxhistBeginDayScan(Relation day, const DayLayout *layout, Snapshot snapshot)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "zbxhist day scan",
												  ALLOCSET_SMALL_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	DayScan    *scan = palloc0(sizeof(DayScan));

	scan->context = context;
	scan->group_context = AllocSetContextCreate(context, "zbxhist group",
												ALLOCSET_DEFAULT_SIZES);
	scan->day = day;
	scan->layout = layout;
	scan->snapshot = snapshot;
	scan->phase = SCAN_DONE;
	scan->slot = table_slot_create(day, NULL);
	scan->times = ZbxhistBeginDayTimes(day, snapshot, false);
	scan->archive = ZbxhistBeginArchiveReader(NULL, NULL);
	MemoryContextSwitchTo(old);
	return scan;
}

/*
 * ZbxhistDayScanCount makes the scan count the archived groups that it fetches from now
 * on; counters must live as long as the scan.
 */
void
ZbxhistDayScanCount(DayScan *scan, ArchiveCounters *counters)
{
	scan->counters = counters;
}

/*
 * CloseGroupScans ends what has been begun in the scan's day.
 */
static void
CloseGroupScans(DayScan *scan)
{
	ExecClearTuple(scan->slot);
	if (scan->index_scan != NULL)
	{
		index_endscan(scan->index_scan);
		index_close(scan->index, AccessShareLock);
	}
	if (scan->table_scan != NULL)
		table_endscan(scan->table_scan);
	if (scan->block_scan != NULL)
		table_endscan(scan->block_scan);
	scan->index_scan = NULL;
	scan->index = NULL;
	scan->table_scan = NULL;
	scan->block_scan = NULL;
}

/*
 * ZbxhistMoveDayScan moves the scan to another day of the same layout.
 */
void
ZbxhistMoveDayScan(DayScan *scan, Relation day)
{
	ZbxhistMoveDayTimes(scan->times, day);
	CloseGroupScans(scan);
	scan->day = day;
	scan->phase = SCAN_DONE;
	if (scan->slot->tts_ops != table_slot_callbacks(day))
	{
		MemoryContext old = MemoryContextSwitchTo(scan->context);

		ExecDropSingleTupleTableSlot(scan->slot);
		scan->slot = table_slot_create(day, NULL);
		MemoryContextSwitchTo(old);
	}
}

/*
 * ZbxhistEndDayScan closes the scan.
 */
void
ZbxhistEndDayScan(DayScan *scan)
{
	ZbxhistEndDayTimes(scan->times);
	CloseGroupScans(scan);
	ExecDropSingleTupleTableSlot(scan->slot);
	MemoryContextDelete(scan->context);
}

/*
 * ZbxhistDayScanItem begins, or begins again, with the groups that overlap a
 * range.  Only its clocks count: rows of a second are together.
 */
void
ZbxhistDayScanItem(DayScan *scan, const ItemRange *range)
{
	MemoryContext old;

	ExecClearTuple(scan->slot);
	scan->is_started = false;
	ZbxhistLendScan(scan->times, NULL, false);
	if (item_range_is_empty(range))
	{
		scan->phase = SCAN_DONE;
		return;
	}
	scan->phase = range->is_descending ? SCAN_BACKWARD : SCAN_FIRST;
	scan->itemid = range->itemid;
	scan->last_itemid = range->itemid;
	scan->first_clock = position_clock(range->first);
	scan->last_clock = position_clock(range->last);
	scan->is_descending = range->is_descending;
	if (scan->index_scan != NULL)
		return;
	old = MemoryContextSwitchTo(scan->context);
	scan->index = ZbxhistOpenGroupIndex(scan->day);
	scan->index_scan = index_beginscan_compat(scan->day, scan->index,
											  scan->snapshot, NUM_GROUP_KEYS);
	MemoryContextSwitchTo(old);
}

/*
 * ZbxhistDayScanAll begins with all groups, in the order of the heap.
 */
void
ZbxhistDayScanAll(DayScan *scan)
{
	MemoryContext old = MemoryContextSwitchTo(scan->context);

	ExecClearTuple(scan->slot);
	scan->phase = SCAN_HEAP;
	if (scan->table_scan != NULL)
		table_rescan(scan->table_scan, NULL);
	else
		scan->table_scan = table_beginscan_compat(scan->day, scan->snapshot);
	MemoryContextSwitchTo(old);
}

/*
 * ZbxhistDayScanItemsInOrder begins with those groups that may have rows of the items
 * between two, both included, by the index.
 */
void
ZbxhistDayScanItemsInOrder(DayScan *scan, int64 first_itemid, int64 last_itemid,
						   bool is_descending)
{
	ItemRange	range;

	ZbxhistWholeItem(&range, is_descending ? last_itemid : first_itemid);
	range.is_descending = is_descending;
	ZbxhistDayScanItem(scan, &range);
	scan->last_itemid = is_descending ? first_itemid : last_itemid;
}

/*
 * ZbxhistDayScanItems begins with these groups in any order.
 */
void
ZbxhistDayScanItems(DayScan *scan, int64 first_itemid, int64 last_itemid)
{
	if (first_itemid == PG_INT64_MIN && last_itemid == PG_INT64_MAX)
		ZbxhistDayScanAll(scan);
	else
		ZbxhistDayScanItemsInOrder(scan, first_itemid, last_itemid, false);
}

/*
 * ZbxhistDayScanBlocks begins with the groups in some blocks of the heap.
 */
void
ZbxhistDayScanBlocks(DayScan *scan, BlockNumber first, BlockNumber last)
{
	MemoryContext old = MemoryContextSwitchTo(scan->context);
	ItemPointerData from;
	ItemPointerData to;

	ExecClearTuple(scan->slot);
	scan->phase = SCAN_BLOCKS;
	ItemPointerSet(&from, first, FirstOffsetNumber);
	ItemPointerSet(&to, last, MaxOffsetNumber);
	if (scan->block_scan != NULL)
		table_rescan_tidrange(scan->block_scan, &from, &to);
	else
		scan->block_scan = table_beginscan_tidrange_compat(scan->day, scan->snapshot,
														   &from, &to);
	MemoryContextSwitchTo(old);
}

/* ---- groups ---- */

/*
 * OpenBytes opens a group of which nhere bytes are available, with only the segments of
 * the scan's item if no others are wanted.
 */
static bool
OpenBytes(const DayScan *scan, GroupReader *reader, const uint8 *data,
		  size_t nhere, size_t length)
{
	bool		only_item = scan->only_item && scan->phase < SCAN_HEAP &&
		scan->last_itemid == scan->itemid;

	if (!ZbxhistOpenDirectory(reader, data, nhere, length,
							  scan->layout->npacked,
							  only_item ? &scan->itemid : NULL))
		return false;
	reader->times = ZbxhistTimesSource(scan->times);
	return true;
}

/*
 * ZbxhistDayScanFrom sets the reader of archived groups, unless archive is NULL.  With
 * is_here the scan fetches none: groups that archive has not fetched yet come without
 * a directory.
 */
void
ZbxhistDayScanFrom(DayScan *scan, ArchiveReader *archive, bool is_here)
{
	if (archive != NULL)
		scan->archive = archive;
	scan->is_here = is_here;
}

/*
 * GetScannedBytes returns a group's bytes, given its payload in the scan's day.  They are
 * in the current context, or not copied.
 */
static struct varlena *
GetScannedBytes(DayScan *scan, struct varlena *payload)
{
	payload = pg_detoast_datum_packed(payload);
	if (!ZbxhistIsArchived(payload))
		return payload;
	return ZbxhistFetchArchived(scan->archive,
								scan->day, payload, scan->counters);
}

/*
 * ZbxhistDayScanLoad fetches the bytes of the group found last if only its directory is here.
 */
void
ZbxhistDayScanLoad(DayScan *scan, DayGroup *group)
{
	GroupReader *reader = &group->reader;
	MemoryContext old;

	if (reader->nhere == reader->length)
		return;
	old = MemoryContextSwitchTo(scan->group_context);
	reader->data = (uint8 *)
		VARDATA_ANY(GetScannedBytes(scan, PG_DETOAST_DATUM_PACKED(scan->slot->tts_values[DAY_ATTNUM_PAYLOAD - 1])));
	reader->nhere = reader->length;
	MemoryContextSwitchTo(old);
}

/*
 * OpenPayload opens the group in the slot.  If the directory of an archived group is
 * stored here, only that is opened; with is_here the group may stay closed.
 */
static bool
OpenPayload(DayScan *scan, DayGroup *group)
{
	GroupReader *reader = &group->reader;
	struct varlena *payload = PG_DETOAST_DATUM_PACKED(scan->slot->tts_values[DAY_ATTNUM_PAYLOAD - 1]);
	bool		is_archived = ZbxhistIsArchived(payload);
	size_t		nhere;
	size_t		length;

	memset(reader, 0, sizeof(GroupReader));
	reader->is_whole = true;
	if (is_archived && scan->is_here &&
		!ZbxhistHasFetched(scan->archive, payload))
		return true;
	if (is_archived && scan->is_reader)
	{
		const uint8 *data = ZbxhistArchivedDirectory(payload, &nhere, &length);

		if (OpenBytes(scan, reader, data, nhere, length))
			return true;
	}
	payload = GetScannedBytes(scan, payload);
	length = VARSIZE_ANY_EXHDR(payload);
	return OpenBytes(scan, reader, (uint8 *) VARDATA_ANY(payload), length,
					 length);
}

/*
 * OpenScannedGroup opens the group in the scan's slot, of which NextTuple has
 * read the place.
 */
static void
OpenScannedGroup(DayScan *scan, DayGroup *group)
{
	MemoryContext old;

	MemoryContextReset(scan->group_context);
	old = MemoryContextSwitchTo(scan->group_context);
	if (!OpenPayload(scan, group) ||
		(group->reader.data != NULL && !ZbxhistGroupAgrees(group)))
		ZbxhistRaiseNotOpened(scan->day, scan->phase >= SCAN_HEAP ||
							  scan->last_itemid != scan->itemid ?
							  group->first_itemid : scan->itemid,
							  &group->reader);
	MemoryContextSwitchTo(old);
}

/*
 * ZbxhistDayScanWhole opens the group found last again with all of its segments, if
 * only those of an item are there.  Later groups are opened with all segments, too.
 */
void
ZbxhistDayScanWhole(DayScan *scan, DayGroup *group)
{
	scan->only_item = false;
	if (!group->reader.is_whole)
	{
		MemoryContext old = MemoryContextSwitchTo(scan->group_context);
		GroupReader reader = group->reader;

		if (!OpenBytes(scan, &group->reader, reader.data, reader.nhere,
					   reader.length) ||
			!ZbxhistGroupAgrees(group))
			ZbxhistRaiseCorrupt(scan->day, group->first_itemid);
		MemoryContextSwitchTo(old);
	}
}

/*
 * ZbxhistDayScanOnlyItem says that only the segments of the scan's item are wanted.  The
 * caller loads a group before it decodes one, by archive unless that is NULL.
 */
void
ZbxhistDayScanOnlyItem(DayScan *scan, ArchiveReader *archive)
{
	if (archive != NULL)
		scan->archive = archive;
	scan->only_item = true;
	scan->is_reader = true;
}

/*
 * StartGroupScan starts the index scan at the groups that begin after (or at, as strategy
 * says) one place, and not after another.
 */
static void
StartGroupScan(DayScan *scan, StrategyNumber strategy, int64 from_itemid,
			   int32 from_clock, int64 to_itemid, int32 to_clock)
{
	ZbxhistStartGroupScan(scan->index_scan, &scan->keys, strategy,
						  from_itemid, from_clock, to_itemid, to_clock);
	scan->is_started = true;
}

/*
 * StartBackward starts the index scan at the last group that does not begin
 * after the scan's item at clock, back to item `from`.
 */
static void
StartBackward(DayScan *scan, int32 clock, int64 from)
{
	StartGroupScan(scan, BTGreaterEqualStrategyNumber, from, PG_INT32_MIN,
				   scan->itemid, clock);
}

/*
 * StartForward starts the index scan at the first group that begins after the
 * range's first clock, up to its last.
 */
static void
StartForward(DayScan *scan)
{
	StartGroupScan(scan, BTGreaterStrategyNumber, scan->itemid,
				   scan->first_clock,
				   scan->last_itemid, scan->last_clock);
}

/*
 * NextSlot puts the next row of the day's table into the slot; returns false
 * at the end of the scan that has been started.
 */
static bool
NextSlot(DayScan *scan)
{
	CHECK_FOR_INTERRUPTS();
	if (scan->phase == SCAN_HEAP)
		return table_scan_getnextslot(scan->table_scan, ForwardScanDirection,
									  scan->slot);
	if (scan->phase == SCAN_BLOCKS)
		return table_scan_getnextslot_tidrange(scan->block_scan,
											   ForwardScanDirection,
											   scan->slot);
	return index_next(scan->index_scan,
					  scan->phase == SCAN_REST ?
					  ForwardScanDirection : BackwardScanDirection,
					  scan->slot);
}

/*
 * NextTuple puts the next group's row into the slot and reads its place,
 * passing over shared times; returns false at the end.
 */
static bool
NextTuple(DayScan *scan, DayGroup *group)
{
	while (NextSlot(scan))
	{
		if (!ZbxhistReadPlace(scan->slot, group) ||
			!ZbxhistHasPayload(scan->day, scan->slot))
			ZbxhistRaiseCorrupt(scan->day, scan->itemid);
		if (!ZbxhistHoldsTimes(group))
			return true;
		scan->ntimes++;
	}
	return false;
}

/*
 * FindBackward finds the last group that does not begin after the scan's item at a clock.
 * A backward index scan reads all entries of its page that are in its bounds, so the first
 * try begins near where the group was found in the day before: as far in front of it as the
 * item is behind its beginning.
 */
static bool
FindBackward(DayScan *scan, int32 clock, DayGroup *group)
{
	bool		found = false;
	int64		span;

	if (scan->hint <= scan->itemid)
	{
		StartBackward(scan, clock, scan->hint);
		found = NextTuple(scan, group);
	}
	if (!found)
	{
		StartBackward(scan, clock, PG_INT64_MIN);
		found = NextTuple(scan, group);
	}
	if (!found ||
		pg_sub_s64_overflow(Min(scan->itemid, group->last_itemid),
							group->first_itemid, &span) ||
		pg_sub_s64_overflow(group->first_itemid, span, &scan->hint))
		scan->hint = PG_INT64_MAX;
	return found;
}

/*
 * BeginsInScan says whether a group begins behind the beginning of the range of an item.
 */
static bool
BeginsInScan(const DayScan *scan, const DayGroup *group)
{
	return compare_places(group->first_itemid, group->first_clock,
						  scan->itemid, scan->first_clock) > 0;
}

/*
 * NextAscending finds the next group of a range, oldest first: what contains
 * its beginning, if that is in a group, then those that begin in it.  The last group that
 * may have rows of an item tells if it is the only one, or has none.
 */
static bool
NextAscending(DayScan *scan, DayGroup *group)
{
	bool		found = false;

	if (scan->phase == SCAN_FIRST)
	{
		bool		is_last = scan->last_itemid == scan->itemid;

		found = FindBackward(scan, is_last ? scan->last_clock : scan->first_clock,
							 group);
		if (is_last && found && BeginsInScan(scan, group))
		{
			is_last = false;
			found = FindBackward(scan, scan->first_clock, group);
		}
		found = found && compare_places(group->last_itemid, group->last_clock,
										scan->itemid, scan->first_clock) >= 0;
		scan->phase = is_last ? SCAN_DONE : SCAN_REST;
		scan->is_started = false;
		if (is_last)
			return found;
	}
	if (!found)
	{
		if (!scan->is_started)
			StartForward(scan);
		found = NextTuple(scan, group);
	}
	if (!found || compare_places(group->last_itemid, group->last_clock,
								 scan->last_itemid, scan->last_clock) >= 0)
		scan->phase = SCAN_DONE;
	return found;
}

/*
 * NextDescending finds the next group of a range, newest first; of one item each by a
 * search of its own.
 */
static bool
NextDescending(DayScan *scan, DayGroup *group)
{
	bool		is_of_item = scan->last_itemid == scan->itemid;
	bool		found;

	if (!is_of_item && !scan->is_started)
		StartBackward(scan, scan->last_clock, PG_INT64_MIN);
	found = (is_of_item ? FindBackward(scan, scan->last_clock, group) :
			 NextTuple(scan, group)) &&
		compare_places(group->last_itemid, group->last_clock,
					   scan->last_itemid, scan->first_clock) >= 0;
	if (!found || compare_places(group->first_itemid, group->first_clock,
								 scan->last_itemid, scan->first_clock) <= 0)
		scan->phase = SCAN_DONE;
	else if (is_of_item)
		scan->last_clock = group->first_clock - 1;
	return found;
}

/*
 * ZbxhistDayScanNextPlace finds where the next group is, and its bytes as they are
 * stored; returns false at the end.
 */
bool
ZbxhistDayScanNextPlace(DayScan *scan, DayGroup *group, Datum *payload)
{
	MemoryContext old = MemoryContextSwitchTo(scan->context);
	bool		found = false;

	if (scan->phase == SCAN_BACKWARD)
		found = NextDescending(scan, group);
	else if (scan->phase == SCAN_HEAP || scan->phase == SCAN_BLOCKS)
		found = NextTuple(scan, group);
	else if (scan->phase != SCAN_DONE)
		found = NextAscending(scan, group);
	if (found)
		*payload = scan->slot->tts_values[DAY_ATTNUM_PAYLOAD - 1];
	MemoryContextSwitchTo(old);
	return found;
}

/*
 * ZbxhistDayScanNext finds the next group; returns false at the end.  The group before is
 * not valid any more.
 */
bool
ZbxhistDayScanNext(DayScan *scan, DayGroup *group)
{
	Datum		payload;

	if (ZbxhistDayScanNextPlace(scan, group, &payload))
	{
		OpenScannedGroup(scan, group);
		ZbxhistLendScan(scan->times, scan->index_scan,
						scan->phase >= SCAN_HEAP);
		return true;
	}
	scan->phase = SCAN_DONE;
	ExecClearTuple(scan->slot);
	return false;
}

/*
 * ZbxhistDayScanRow finds the group that contains rows of an item and clock,
 * if there are any; returns false if none can.
 */
bool
ZbxhistDayScanRow(DayScan *scan, int64 itemid, int32 clock, DayGroup *group)
{
	ItemRange	range;

	range.itemid = itemid;
	range.first = make_position(clock, PG_INT32_MIN);
	range.last = make_position(clock, PG_INT32_MAX);
	range.is_descending = true;
	ZbxhistDayScanItem(scan, &range);
	return ZbxhistDayScanNext(scan, group);
}

/*
 * FindBeginning finds the first group that begins after a place, without
 * opening it.
 */
static bool
FindBeginning(DayScan *scan, int64 itemid, int32 clock, DayGroup *group)
{
	StartGroupScan(scan, BTGreaterStrategyNumber, itemid, clock,
				   PG_INT64_MAX, PG_INT32_MAX);
	scan->phase = SCAN_REST;
	return NextTuple(scan, group);
}

/*
 * ZbxhistDayScanTarget finds the group to which a row of that item and clock is to be
 * added: the last that does not begin after it, or the first of all.  Sets end to where
 * the next group begins: rows before that go to this group.  Returns false if the day is
 * empty.
 */
bool
ZbxhistDayScanTarget(DayScan *scan, int64 itemid, int32 clock,
					 DayGroup *group, DayPlace *end)
{
	ItemRange	range;
	MemoryContext old;
	DayGroup	next;
	bool		found;

	ZbxhistWholeItem(&range, itemid);
	ZbxhistDayScanItem(scan, &range);
	old = MemoryContextSwitchTo(scan->context);
	StartBackward(scan, clock, PG_INT64_MIN);
	scan->phase = SCAN_BACKWARD;
	found = NextTuple(scan, group) ||
		FindBeginning(scan, itemid, clock, group);
	end->is_end = !found || !FindBeginning(scan, group->first_itemid,
										   group->first_clock, &next);
	end->itemid = end->is_end ? 0 : next.first_itemid;
	end->clock = end->is_end ? 0 : next.first_clock;
	MemoryContextSwitchTo(old);
	return found && ZbxhistDayScanRow(scan, group->first_itemid,
									  group->first_clock, group);
}

/*
 * ZbxhistDayScanPlaces begins with all groups, in the order of the index.
 */
void
ZbxhistDayScanPlaces(DayScan *scan)
{
	ItemRange	range;
	MemoryContext old;

	ZbxhistWholeItem(&range, PG_INT64_MIN);
	ZbxhistDayScanItem(scan, &range);
	old = MemoryContextSwitchTo(scan->context);
	StartGroupScan(scan, BTGreaterEqualStrategyNumber, PG_INT64_MIN,
				   PG_INT32_MIN,
				   PG_INT64_MAX, PG_INT32_MAX);
	scan->phase = SCAN_REST;
	scan->last_itemid = PG_INT64_MAX;
	MemoryContextSwitchTo(old);
}

/*
 * ZbxhistDayScanNumRows returns how many rows of the table have been read when the scan
 * has found so many groups: these and rows that have shared times.
 */
int64
ZbxhistDayScanNumRows(const DayScan *scan, int64 ngroups)
{
	return ngroups + scan->ntimes;
}

/*
 * ZbxhistDayScanXmax returns the transaction that has deleted the group found
 * last, or is about to.
 */
TransactionId
ZbxhistDayScanXmax(DayScan *scan)
{
	return ZbxhistDeletedBy(scan->slot);
}
