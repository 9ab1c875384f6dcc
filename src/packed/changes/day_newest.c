/*-------------------------------------------------------------------------
 *
 * day_newest.c
 *	  Finds the newest version of a row that is to be changed.
 *
 * If the row's group has been written anew since the statement's snapshot was
 * taken, the row is looked for by its values: when it is the same, that is the
 * row to be changed; when it has been changed, its qualification is to be looked
 * at again (fdw_modify.c); when it is gone, it is passed over,
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
#include "packed/changes/day_modify.h"
#include "packed/values/row_compare.h"

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
	modify->segment = -1;
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
 * FindSeenRow finds a row in modify->rows, the segment that has it as the snapshot
 * sees it; first is set to the first one of its clock.  Returns -1 if there is
 * none.
 */
static int
FindSeenRow(DayModify *modify, const PackedRowId *id, int *first)
{
	const GroupReader *reader = &modify->group.reader;
	int			segment = ZbxhistFindSegment(reader, id->itemid, id->clock);
	MemoryContext old;
	int			result = -1;

	if (segment == reader->nsegments ||
		reader->segments[segment].itemid != id->itemid)
		return -1;
	if (segment != modify->segment)
	{
		modify->segment = -1;
		MemoryContextReset(modify->seen_context);
	}
	old = MemoryContextSwitchTo(modify->seen_context);
	if (segment != modify->segment)
	{
		ZbxhistDecodeDaySegment(modify->day, modify->layout, reader, segment,
								NULL, &modify->rows);
		modify->offsets.first = -1;
		modify->segment = segment;
	}
	*first = ZbxhistFirstOfClock(&modify->rows, id->clock);
	if (*first < modify->rows.nrows &&
		modify->rows.columns[0].ints[*first] == id->clock)
		result = ZbxhistRowAtOffset(&modify->offsets, modify->layout,
									&modify->rows, *first, id->offset);
	MemoryContextSwitchTo(old);
	return result;
}

/*
 * FindByValues finds the newest version of a row that the snapshot sees, whose
 * group has been written anew.  One that another part of our own statement has
 * changed is gone.
 */
static RowState
FindByValues(DayModify *modify, const PackedRowId *id, int seen,
			 int first_seen, bool *is_own, uint16 *ordinal)
{
	DayGroup	newest;
	SegmentRows now;
	int			first_now;
	int			row;
	bool		has_key;

	*is_own = TransactionIdIsCurrentTransactionId(ZbxhistDayScanXmaxOf(modify->seen,
																	   seen));
	if (!ZbxhistDayScanRow(modify->current, id->itemid, id->clock, &newest))
		return ROW_GONE;
	first_now = DecodeClock(modify, &newest, id->itemid, id->clock, &now);
	if (first_now < 0)
		return ROW_GONE;
	row = FindSame(modify, &now, first_now, &modify->rows, seen,
				   CountSame(&modify->rows, first_seen, seen, seen),
				   &has_key);
	if (row < 0)
		return has_key && !*is_own ? ROW_CHANGED : ROW_GONE;
	*ordinal = (uint16) (row - first_now + 1);
	return ROW_SAME;
}

/*
 * FindByPosition finds the row of an item at a position in the newest version.
 */
static RowState
FindByPosition(DayModify *modify, const PackedRowId *id, int64 position,
			   uint16 *ordinal)
{
	DayGroup	newest;
	SegmentRows now;
	int			first;

	ZbxhistOpenNewest(modify);
	if (!ZbxhistDayScanRow(modify->current, id->itemid, id->clock, &newest))
		return ROW_GONE;
	first = DecodeClock(modify, &newest, id->itemid, id->clock, &now);
	for (int i = first; i >= 0 && i < now.nrows &&
		 now.columns[0].ints[i] == id->clock; i++)
	{
		*ordinal = (uint16) (i - first + 1);
		if (ZbxhistRowPosition(modify->layout, &now, i) == position)
			return ROW_SAME;
	}
	return ROW_GONE;
}

/*
 * IsElsewhere says whether a row that is not there any more may be in another
 * table: those of a day that has been unpacked meanwhile are, and so is one of
 * other columns that has been updated.
 */
static bool
IsElsewhere(const DayModify *modify, bool is_own)
{
	return ZbxhistDayIsUnpacked(RelationGetRelid(modify->day)) ||
		(!is_own && (modify->is_altered || IsolationUsesXactSnapshot()));
}

/*
 * FindSeenNow finds the newest version of a row that the snapshot sees.
 */
static RowState
FindSeenNow(DayModify *modify, const PackedRowId *id, uint16 *ordinal)
{
	RowState	state = ROW_GONE;
	bool		is_own = false;
	int			first;
	int			row;

	if (!FindSeen(modify, id))
		return ROW_GONE;
	row = FindSeenRow(modify, id, &first);
	if (row >= 0 && modify->is_same)
	{
		*ordinal = (uint16) (row - first + 1);
		return ROW_SAME;
	}
	if (row >= 0)
		state = FindByValues(modify, id, row, first, &is_own, ordinal);
	if ((state == ROW_GONE && IsElsewhere(modify, is_own)) ||
		(state == ROW_CHANGED && IsolationUsesXactSnapshot()))
		ZbxhistRaiseChanged();
	return state;
}

/*
 * ZbxhistFindNewest finds the newest version of a row that the snapshot sees, or
 * that is there now at a position, unless that is NULL; ordinal is set to its number among those of its item
 * and clock.
 */
RowState
ZbxhistFindNewest(DayModify *modify, const PackedRowId *id,
				  const int64 *position, uint16 *ordinal)
{
	MemoryContext old = MemoryContextSwitchTo(modify->segment_context);
	RowState	state = position != NULL ?
		FindByPosition(modify, id, *position, ordinal) :
		FindSeenNow(modify, id, ordinal);

	MemoryContextSwitchTo(old);
	MemoryContextReset(modify->segment_context);
	return state;
}
