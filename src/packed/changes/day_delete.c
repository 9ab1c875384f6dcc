/*-------------------------------------------------------------------------
 *
 * day_delete.c
 *	  Deletes the rows of an item in a range from a packed day.
 *
 * What is deleted is what the newest version has, unless a group of it is newer
 * than the statement's snapshot: then only rows that the snapshot sees, too.
 * Segments that go as a whole are not decoded.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/transam.h"
#include "access/xact.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "binary_search.h"
#include "catalog/packed_days.h"
#include "make_room.h"
#include "packed/changes/day_conflicts.h"
#include "packed/changes/day_modify.h"
#include "packed/day/day_reader.h"
#include "packed/day/day_write.h"
#include "packed/values/row_compare.h"

/* which rows of a range are there for the snapshot */
typedef struct SeenRows
{
	int64	   *positions;		/* ascending */
	int			nrows;
	int			capacity;
} SeenRows;

/*
 * AddSeen adds those rows of a segment that are in a range.
 */
static void
AddSeen(DayModify *modify, const GroupReader *reader, int segment,
		const ItemRange *range, SeenRows *seen)
{
	MemoryContext old = MemoryContextSwitchTo(modify->segment_context);
	SegmentRows rows;

	ZbxhistDecodeDaySegment(modify->day, modify->layout, reader, segment,
							NULL, &rows);
	MemoryContextSwitchTo(old);
	for (int i = 0; i < rows.nrows; i++)
	{
		int64		position = ZbxhistRowPosition(modify->layout, &rows, i);

		if (position < range->first || position > range->last)
			continue;
		make_room(seen->positions, seen->nrows, seen->capacity);
		seen->positions[seen->nrows++] = position;
	}
	MemoryContextReset(modify->segment_context);
}

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
 * KeepRows writes those rows of a segment that are not in the range, or not
 * seen, and returns the number of the others.
 */
static int
KeepRows(DayModify *modify, DayWriter *writer, const GroupReader *reader,
		 int segment, const ItemRange *range, const SeenRows *seen)
{
	MemoryContext old = MemoryContextSwitchTo(modify->segment_context);
	SegmentRows rows;
	int			deleted = 0;

	ZbxhistDecodeDaySegment(modify->day, modify->layout, reader, segment,
							NULL, &rows);
	for (int i = 0; i < rows.nrows; i++)
	{
		int64		position = ZbxhistRowPosition(modify->layout, &rows, i);

		if (position >= range->first && position <= range->last &&
			(seen == NULL || IsSeen(seen, position)))
			deleted++;
		else
			ZbxhistDayWriteRows(writer, &rows, i, 1);
	}
	MemoryContextSwitchTo(old);
	MemoryContextReset(modify->segment_context);
	return deleted;
}

/*
 * CountOutside returns the number of segments that the range does not touch.
 */
static int
CountOutside(const GroupReader *reader, const ItemRange *range)
{
	int			result = 0;

	for (int i = 0; i < reader->nsegments; i++)
		result += IsOutside(&reader->segments[i], range);
	return result;
}

/*
 * DeleteFromGroup deletes the rows of a range from a group, only those seen
 * unless it is NULL, and returns their number.
 */
static uint64
DeleteFromGroup(DayModify *modify, DayWriter *writer, DayGroup *group,
				const ItemRange *range, const SeenRows *seen)
{
	const GroupReader *reader = &group->reader;
	uint64		deleted = 0;

	if (CountOutside(reader, range) == reader->nsegments)
		return 0;
	/* what we have written anew ourselves was compared before that */
	ZbxhistDeleteGroup(modify->day, &group->tid,
					   IsolationUsesXactSnapshot() &&
					   !TransactionIdIsCurrentTransactionId(ZbxhistDayScanXmin(modify->current)) ?
					   modify->snapshot : InvalidSnapshot);
	for (int i = 0; i < reader->nsegments; i++)
	{
		const SegmentInfo *info = &reader->segments[i];

		if (IsOutside(info, range))
			ZbxhistDayWriteSegment(writer, reader, i);
		else if (seen == NULL && ZbxhistIsWithinRange(info, range))
			deleted += info->nrows;
		else
			deleted += KeepRows(modify, writer, reader, i, range, seen);
	}
	ZbxhistDayWriteBreak(writer);
	return deleted;
}

/*
 * RequireUnchanged raises an error if another transaction has changed a group
 * in which the caller's snapshot sees rows of the range.  Below REPEATABLE READ
 * that matters only when the rows are elsewhere by now.
 */
static void
RequireUnchanged(DayModify *modify, const ItemRange *range)
{
	DayGroup	seen;
	DayGroup	newest;

	if (!IsolationUsesXactSnapshot() &&
		!ZbxhistDayIsUnpacked(RelationGetRelid(modify->day)))
		return;
	ZbxhistDayScanItem(modify->seen, range);
	while (ZbxhistDayScanNext(modify->seen, &seen))
	{
		if (CountOutside(&seen.reader, range) == seen.reader.nsegments ||
			TransactionIdIsCurrentTransactionId(ZbxhistDayScanXmax(modify->seen)))
			continue;
		if (!ZbxhistDayScanRow(modify->current, seen.first_itemid,
							   seen.first_clock, &newest) ||
			!ItemPointerEquals(&newest.tid, &seen.tid))
			ZbxhistRaiseChanged();
	}
}

/*
 * IsNewer says whether the caller's snapshot does not see a group, the one
 * found last in the newest version: there may be rows in it that came later.
 */
static bool
IsNewer(DayModify *modify, DayGroup *newest)
{
	DayGroup	seen;

	return !TransactionIdPrecedes(ZbxhistDayScanXmin(modify->current),
								  modify->snapshot->xmin) &&
		(!ZbxhistDayScanRow(modify->seen, newest->first_itemid,
							newest->first_clock, &seen) ||
		 !ItemPointerEquals(&newest->tid, &seen.tid));
}

/*
 * FindSeenRows finds the rows of a range that the caller's snapshot sees.
 * Allocates in the current context.
 */
static const SeenRows *
FindSeenRows(DayModify *modify, const ItemRange *range)
{
	ItemRange	ascending = *range;
	SeenRows   *seen = palloc0(sizeof(SeenRows));
	DayGroup	group;

	ascending.is_descending = false;
	ZbxhistDayScanItem(modify->seen, &ascending);
	while (ZbxhistDayScanNext(modify->seen, &group))
	{
		for (int i = 0; i < group.reader.nsegments; i++)
		{
			if (!IsOutside(&group.reader.segments[i], range))
				AddSeen(modify, &group.reader, i, range, seen);
		}
	}
	return seen;
}

/*
 * DeleteFromGroups deletes the rows of an item in a range from the groups that
 * have any, and returns their number.  Allocates in the current context.
 */
static uint64
DeleteFromGroups(DayModify *modify, const ItemRange *range)
{
	DayWriter  *writer;
	DayGroup	group;
	const SeenRows *seen = NULL;
	uint64		deleted = 0;

	RequireUnchanged(modify, range);
	writer = ZbxhistBeginDayWrite(modify->day, modify->layout, false);
	ZbxhistDayScanItem(modify->current, range);
	while (ZbxhistDayScanNext(modify->current, &group))
	{
		if (seen == NULL && IsNewer(modify, &group))
			seen = FindSeenRows(modify, range);
		deleted += DeleteFromGroup(modify, writer, &group, range, seen);
	}
	modify->nremoved += deleted;
	(void) ZbxhistEndDayWrite(writer, NULL);
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
	MemoryContext old;
	uint64		deleted;

	ZbxhistFlushDayChanges(RelationGetRelid(modify->day), modify);
	ZbxhistFlushChanges(modify);
	ZbxhistCloseNewest(modify);
	ZbxhistOpenNewest(modify);
	old = MemoryContextSwitchTo(modify->scratch);
	deleted = modify->layout->has_runs ?
		ZbxhistDeleteFromRuns(modify, range) :
		DeleteFromGroups(modify, range);
	MemoryContextSwitchTo(old);
	MemoryContextReset(modify->scratch);
	ZbxhistCloseNewest(modify);
	return deleted;
}
