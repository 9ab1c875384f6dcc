/*-------------------------------------------------------------------------
 *
 * day_delete.c
 *	  Deletes the rows of an item in a range from a packed day.
 *
 * What is deleted is what the newest version has, unless a group of it is newer
 * than the statement's snapshot: then only rows that the snapshot sees, too.  The
 * deletes are collected as those of single rows are (day_modify.c), but segments that
 * go as a whole are not decoded.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/tableam.h"
#include "access/xact.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "binary_search.h"
#include "catalog/packed_days.h"
#include "make_room.h"
#include "packed/changes/day_conflicts.h"
#include "packed/changes/day_modify.h"
#include "packed/day/day_reader.h"
#include "packed/values/row_compare.h"

/* which rows of a range are there for the snapshot */
typedef struct SeenRows
{
	int64	   *positions;		/* ascending */
	int			nrows;
	int			capacity;
} SeenRows;

/*
 * IsSeen says whether there is a row at a position.
 */
static bool
IsSeen(const SeenRows *seen, int64 position)
{
	int			i;

	find_first(i, seen->nrows, seen->positions[i] >= position);
	return i < seen->nrows && seen->positions[i] == position;
}

/*
 * IsOutside says whether nothing of a segment is in a range.
 */
static bool
IsOutside(const SegmentInfo *info, const ItemRange *range)
{
	return info->itemid != range->itemid ||
		info->last_clock < position_clock(range->first) ||
		info->first_clock > position_clock(range->last);
}

/*
 * DecodeRange decodes a segment of a group, in modify->segment_context, and sets which
 * of its rows are in a range: from one to another, not included.
 */
static void
DecodeRange(DayModify *modify, const DayGroup *group, int segment,
			const ItemRange *range, SegmentRows *rows, int *from, int *to)
{
	MemoryContext old = MemoryContextSwitchTo(modify->segment_context);

	ZbxhistDecodeDaySegment(modify->day, modify->layout, &group->reader,
							segment, NULL, rows);
	find_first(*from, rows->nrows,
			   ZbxhistRowPosition(modify->layout, rows, *from) >= range->first);
	find_first(*to, rows->nrows,
			   ZbxhistRowPosition(modify->layout, rows, *to) > range->last);
	MemoryContextSwitchTo(old);
}

/*
 * AddSeen adds those rows of a segment that are in a range.
 */
static void
AddSeen(DayModify *modify, const DayGroup *group, int segment,
		const ItemRange *range, SeenRows *seen)
{
	SegmentRows rows;
	int			from;
	int			to;

	DecodeRange(modify, group, segment, range, &rows, &from, &to);
	for (int i = from; i < to; i++)
	{
		make_room(seen->positions, seen->nrows, seen->capacity);
		seen->positions[seen->nrows++] = ZbxhistRowPosition(modify->layout,
															&rows, i);
	}
	MemoryContextReset(modify->segment_context);
}

/*
 * DeleteFromSegment collects the deletes of the rows of a range in a segment, only
 * those seen unless that is NULL, and returns their number.
 */
static uint64
DeleteFromSegment(DayModify *modify, const DayGroup *group, int segment,
				  const ItemRange *range, const SeenRows *seen)
{
	const SegmentInfo *info = &group->reader.segments[segment];
	uint64		deleted = 0;
	SegmentRows rows;
	int			from = 0;
	int			to = info->nrows;

	if (seen != NULL || !ZbxhistIsWithinRange(info, range))
		DecodeRange(modify, group, segment, range, &rows, &from, &to);
	for (int end = from; from < to; from = end + 1)
	{
		/* as many as follow one another */
		for (end = seen == NULL ? to : from; end < to &&
			 IsSeen(seen, ZbxhistRowPosition(modify->layout, &rows, end)); end++)
			;
		if (end > from)
			ZbxhistAddDelete(modify, group, segment, from, end - from);
		deleted += end - from;
	}
	MemoryContextReset(modify->segment_context);
	return deleted;
}

/*
 * Sees says whether a snapshot sees the group at tid.
 */
static bool
Sees(const DayModify *modify, Snapshot snapshot, ItemPointer tid)
{
	TupleTableSlot *slot = table_slot_create(modify->day, NULL);
	bool		result = table_tuple_fetch_row_version(modify->day, tid,
													   snapshot, slot);

	ExecDropSingleTupleTableSlot(slot);
	return result;
}

/*
 * RequireUnchanged raises an error if another transaction has changed a group in
 * which the caller's snapshot sees rows of the range.  Below REPEATABLE READ
 * that matters only when the rows are elsewhere by now.
 */
static void
RequireUnchanged(DayModify *modify, const ItemRange *range)
{
	DayGroup	group;

	if (!IsolationUsesXactSnapshot() &&
		!ZbxhistDayIsUnpacked(RelationGetRelid(modify->day)))
		return;
	ZbxhistDayScanItem(modify->seen, range);
	while (ZbxhistDayScanNext(modify->seen, &group))
	{
		if (!Sees(modify, modify->newest, &group.tid) &&
			!TransactionIdIsCurrentTransactionId(ZbxhistDayScanXmax(modify->seen)))
			ZbxhistRaiseChanged();
	}
}

/*
 * FindSeenRows finds the rows of a range that the caller's snapshot sees.
 * Allocates in the current context.
 */
static const SeenRows *
FindSeenRows(DayModify *modify, const ItemRange *range)
{
	SeenRows   *seen = palloc0(sizeof(SeenRows));
	DayGroup	group;

	ZbxhistDayScanItem(modify->seen, range);
	while (ZbxhistDayScanNext(modify->seen, &group))
	{
		for (int i = 0; i < group.reader.nsegments; i++)
		{
			if (!IsOutside(&group.reader.segments[i], range))
				AddSeen(modify, &group, i, range, seen);
		}
	}
	return seen;
}

/*
 * CollectDeletes collects the deletes of an item's rows in a range, and returns their
 * number.  There may be rows in a group that the caller's snapshot does not see, that
 * came later.  Allocates in the current context.
 */
static uint64
CollectDeletes(DayModify *modify, const ItemRange *range)
{
	const SeenRows *seen = NULL;
	DayGroup	group;
	uint64		deleted = 0;

	RequireUnchanged(modify, range);
	ZbxhistDayScanItem(modify->current, range);
	while (ZbxhistDayScanNext(modify->current, &group))
	{
		if (seen == NULL && !Sees(modify, modify->snapshot, &group.tid))
			seen = FindSeenRows(modify, range);
		for (int i = 0; i < group.reader.nsegments; i++)
		{
			if (!IsOutside(&group.reader.segments[i], range))
				deleted += DeleteFromSegment(modify, &group, i, range, seen);
		}
	}
	return deleted;
}

/*
 * ZbxhistDayDeleteRange deletes the rows of an item in a range, of the newest
 * version, and returns their number.  Rows that came after the snapshot, by a
 * merge that was waited for, stay.  What is deleted as a whole is not
 * decoded.
 */
uint64
ZbxhistDayDeleteRange(DayModify *modify, const ItemRange *range)
{
	ItemRange	ascending = *range;
	MemoryContext old;
	uint64		deleted;

	ascending.is_descending = false;
	ZbxhistFlushDayChanges(RelationGetRelid(modify->day), modify);
	ZbxhistFlushChanges(modify);
	ZbxhistCloseNewest(modify);
	ZbxhistOpenNewest(modify);
	old = MemoryContextSwitchTo(modify->scratch);
	deleted = CollectDeletes(modify, &ascending);
	MemoryContextSwitchTo(old);
	MemoryContextReset(modify->scratch);
	ZbxhistFlushChanges(modify);
	ZbxhistCloseNewest(modify);
	return deleted;
}
