/*-------------------------------------------------------------------------
 *
 * day_key.c
 *	  Says whether a packed day has a key.
 *
 * Who asks has stored a row with that key in the parent, whose unique index
 * keeps others from storing or merging the same key until this transaction
 * ends.  So a key that a fresh snapshot does not see in the day will not come
 * there.  One that it sees may be about to go: then the other transaction is
 * waited for, as by a unique index.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/tableam.h"
#include "access/transam.h"
#include "access/xact.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "packed/day/day.h"
#include "packed/day/row_compare.h"

/*
 * SegmentHasKey decodes the clocks of a segment and what else is of the key,
 * and looks for it.
 */
static bool
SegmentHasKey(Relation day, const DayLayout *layout,
			  const GroupReader *reader, int segment, int64 position)
{
	bool	   *wanted = palloc0(sizeof(bool) * layout->npacked);
	int32		clock = position_clock(position);
	SegmentRows rows;

	wanted[0] = true;
	if (layout->ns >= 0)
		wanted[layout->columns[layout->ns].packed] = true;
	ZbxhistDecodeDaySegment(day, layout, reader, segment, wanted, &rows);
	for (int row = ZbxhistFirstOfClock(&rows, clock);
		 row < rows.nrows && rows.columns[0].ints[row] == clock; row++)
	{
		if (ZbxhistRowPosition(layout, &rows, row) == position)
			return true;
	}
	return false;
}

/*
 * GroupHasKey says whether a group has a row of the item at position.
 * Allocates in the current context.
 */
static bool
GroupHasKey(Relation day, const DayLayout *layout, const DayGroup *group,
			int64 itemid, int64 position)
{
	const GroupReader *reader = &group->reader;
	int32		clock = position_clock(position);
	int			segment = ZbxhistFindSegment(reader, itemid, clock);

	return segment < reader->nsegments &&
		reader->segments[segment].itemid == itemid &&
		reader->segments[segment].first_clock <= clock &&
		SegmentHasKey(day, layout, reader, segment, position);
}

/*
 * FindKey looks for the key by a fresh snapshot; tid is set to its group.
 */
static bool
FindKey(Relation day, const DayLayout *layout, int64 itemid, int64 position,
		ItemPointer tid)
{
	Snapshot	snapshot = RegisterSnapshot(GetLatestSnapshot());
	DayScan    *scan;
	DayGroup	group;
	bool		found;

	/* what this very command has deleted does not count */
	snapshot->curcid = GetCurrentCommandId(false) + 1;
	scan = ZbxhistBeginDayScan(day, layout, snapshot);
	found = ZbxhistDayScanRow(scan, itemid, position_clock(position), &group) &&
		GroupHasKey(day, layout, &group, itemid, position);
	if (found)
		*tid = group.tid;
	ZbxhistEndDayScan(scan);
	UnregisterSnapshot(snapshot);
	return found;
}

/*
 * WaitForGroup waits for a transaction that is about to delete the group at
 * tid; returns true if there is none, so that the group stays.
 */
static bool
WaitForGroup(Relation day, ItemPointer tid)
{
	TupleTableSlot *slot = table_slot_create(day, NULL);
	SnapshotData dirty;
	bool		found;

	InitDirtySnapshot(dirty);
	found = table_tuple_fetch_row_version(day, tid, &dirty, slot);
	ExecDropSingleTupleTableSlot(slot);
	if (found && !TransactionIdIsValid(dirty.xmax))
		return true;
	if (found)
		XactLockTableWait(dirty.xmax, day, tid, XLTW_RecheckExclusionConstr);
	return false;
}

/*
 * ZbxhistDayHasKey says whether the day, which the caller has locked, has a
 * row of that key.  Without a column ns that is the item and clock.
 */
bool
ZbxhistDayHasKey(Relation day, int64 itemid, int32 clock, int32 ns)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "zbxhist key of a day",
												  ALLOCSET_SMALL_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	const DayLayout *layout = ZbxhistDayLayout(day);
	int64		position = make_position(clock, layout->ns < 0 ? 0 : ns);
	ItemPointerData tid;
	bool		found;

	ZbxhistFlushDayChanges(RelationGetRelid(day));
	for (;;)
	{
		CHECK_FOR_INTERRUPTS();
		found = FindKey(day, layout, itemid, position, &tid);
		if (!found || WaitForGroup(day, &tid))
			break;
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
	return found;
}
