/*-------------------------------------------------------------------------
 *
 * day_newest.c
 *	  Finds the newest version of a row that is to be changed.
 *
 * If the row's group has been written anew since the statement's snapshot was
 * taken, the row is looked for by its values: when it is the same, that is the
 * row to be changed; when it has been changed, that is 40001, for its
 * qualification cannot be looked at again; when it is gone, it is passed over,
 * unless the whole day has been unpacked meanwhile, or has other columns than
 * the parent, where its new version may be (moved_rows.c): that is 40001 too.
 * Above READ COMMITTED each of these is 40001.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "catalog/packed_days.h"
#include "packed/day/day_modify.h"
#include "packed/day/row_compare.h"

/*
 * ZbxhistRaiseChanged raises the error for what another transaction has
 * changed.
 */
void
ZbxhistRaiseChanged(void)
{
	ereport(ERROR,
			errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
			errmsg("could not serialize access due to concurrent update"));
}

/*
 * ZbxhistInGroup says whether rows of an item and clock belong to the group.
 */
bool
ZbxhistInGroup(const DayGroup *group, int64 itemid, int32 clock)
{
	if (itemid == group->first_itemid && clock < group->first_clock)
		return false;
	if (itemid == group->last_itemid && clock > group->last_clock)
		return false;
	return itemid >= group->first_itemid && itemid <= group->last_itemid;
}

/*
 * FindSeen finds the group in which the snapshot sees a row, and whether that
 * is its newest version; returns false if there is no such group.
 */
static bool
FindSeen(DayModify *modify, const PackedRowId *id)
{
	DayGroup	newest;

	ZbxhistOpenNewest(modify);
	if (modify->has_group &&
		ZbxhistInGroup(&modify->group, id->itemid, id->clock))
		return true;
	modify->has_group = ZbxhistDayScanRow(modify->seen, id->itemid, id->clock,
										  &modify->group);
	if (!modify->has_group)
		return false;
	/* a group of runs has no place of its own */
	modify->is_same = false;
	if (modify->layout->has_runs)
		return true;
	modify->is_same = ZbxhistDayScanRow(modify->current, id->itemid, id->clock,
										&newest) &&
		ItemPointerEquals(&newest.tid, &modify->group.tid);
	if (!modify->is_same && IsolationUsesXactSnapshot() &&
		!TransactionIdIsCurrentTransactionId(ZbxhistDayScanXmax(modify->seen)))
		ZbxhistRaiseChanged();
	return true;
}

/*
 * DecodeClock decodes the segment of a group that has an item's rows of a
 * clock and returns the number of the first of them, or -1 if there are none.
 * Allocates in the current context.
 */
static int
DecodeClock(DayModify *modify, const DayGroup *group, int64 itemid,
			int32 clock, SegmentRows *rows)
{
	int			segment = ZbxhistFindSegment(&group->reader, itemid, clock);
	int			first;

	if (segment == group->reader.nsegments ||
		group->reader.segments[segment].itemid != itemid)
		return -1;
	ZbxhistDecodeDaySegment(modify->day, modify->layout, &group->reader,
							segment, NULL, rows);
	first = ZbxhistFirstOfClock(rows, clock);
	return first < rows->nrows && rows->columns[0].ints[first] == clock ?
		first : -1;
}

/*
 * CountSame returns how many rows from first to last, not included, of the
 * rows there are the same as row.
 */
static int
CountSame(const SegmentRows *rows, int first, int last, int row)
{
	int			result = 0;

	for (int i = first; i < last; i++)
		result += ZbxhistSameRow(rows, i, rows, row);
	return result;
}

/*
 * FindSame finds, from row first on, the row that is the same as one of
 * others, or the next after skip such.  Returns -1 if there is none; then
 * has_key says whether there is one with its key.
 */
static int
FindSame(const DayModify *modify, const SegmentRows *rows, int first,
		 const SegmentRows *others, int other, int skip, bool *has_key)
{
	int64		clock = rows->columns[0].ints[first];
	int64		position = ZbxhistRowPosition(modify->layout, others, other);

	*has_key = false;
	for (int i = first;
		 i < rows->nrows && rows->columns[0].ints[i] == clock; i++)
	{
		if (ZbxhistSameRow(rows, i, others, other))
		{
			if (skip-- == 0)
				return i;
		}
		else
			*has_key |= ZbxhistRowPosition(modify->layout, rows, i) == position;
	}
	return -1;
}

/*
 * FindByValues makes id the row's number in the newest version, when its group
 * has been written anew; returns false if the row is not there any more, or
 * another part of our own statement has changed it.
 */
static bool
FindByValues(DayModify *modify, PackedRowId *id, bool *is_own)
{
	DayGroup	newest;
	SegmentRows seen;
	SegmentRows now;
	int			first_seen;
	int			first_now;
	int			row;
	bool		has_key;

	*is_own = false;
	first_seen = DecodeClock(modify, &modify->group, id->itemid, id->clock,
							 &seen);
	row = first_seen + id->ordinal - 1;
	if (first_seen < 0 || row >= seen.nrows ||
		seen.columns[0].ints[row] != id->clock)
		return false;
	*is_own = TransactionIdIsCurrentTransactionId(ZbxhistDayScanXmaxOf(modify->seen,
																	   row));
	if (!ZbxhistDayScanRow(modify->current, id->itemid, id->clock, &newest))
		return false;
	first_now = DecodeClock(modify, &newest, id->itemid, id->clock, &now);
	if (first_now < 0)
		return false;
	row = FindSame(modify, &now, first_now, &seen, row,
				   CountSame(&seen, first_seen, row, row), &has_key);
	if (row < 0 && has_key && !*is_own)
		ZbxhistRaiseChanged();
	id->ordinal = (uint16) (row - first_now + 1);
	return row >= 0;
}

/*
 * ZbxhistFindNewest makes id, which is as the snapshot sees the row, what names
 * the row in the newest version; returns false if it is not there any more.
 */
bool
ZbxhistFindNewest(DayModify *modify, PackedRowId *id)
{
	MemoryContext old;
	bool		found;
	bool		is_own;

	if (!FindSeen(modify, id))
		return false;
	if (modify->is_same)
		return true;
	old = MemoryContextSwitchTo(modify->segment_context);
	found = FindByValues(modify, id, &is_own);
	MemoryContextSwitchTo(old);
	MemoryContextReset(modify->segment_context);

	/*
	 * the rows of a day that has been unpacked meanwhile are elsewhere, and
	 * so is one of other columns that has been updated
	 */
	if (!found &&
		(ZbxhistDayIsUnpacked(RelationGetRelid(modify->day)) ||
		 (!is_own && (modify->is_altered || IsolationUsesXactSnapshot()))))
		ZbxhistRaiseChanged();
	return found;
}
