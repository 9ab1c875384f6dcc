/*-------------------------------------------------------------------------
 *
 * changed_day.c
 *	  Finds the groups of a packed day of which a statement changes rows.
 *
 * The day's table is locked against changes by other transactions.  A group that
 * another transaction has changed since the snapshot was taken by which the day is
 * read raises 40001.  A group that a function called by the statement has changed
 * raises 27000.
 *
 * Memory: groups are in the context of the statement's changes.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/tableam.h"
#include "access/xact.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "packed/changed_day.h"
#include "packed/day_conflicts.h"

/*
 * RequireUnchanged raises an error if the group that has been found is gone.
 */
static void
RequireUnchanged(ChangedDay *day)
{
	if (table_tuple_fetch_row_version(day->rel, &day->found.tid, SnapshotSelf,
									  day->slot))
	{
		ExecClearTuple(day->slot);
		return;
	}
	if (TransactionIdIsCurrentTransactionId(ZbxhistDayScanXmax(day->scan)))
		ZbxhistRaiseSecondChange(day->rel);
	ZbxhistRaiseChanged();
}

/*
 * NoteChangedGroup notes that a group has been found, in day->found.
 */
static void
NoteChangedGroup(ChangedDay *day)
{
	bool		is_known;
	ChangedGroup *group;

	day->segment = -1;
	RequireUnchanged(day);
	group = hash_search(day->groups, &day->found.tid, HASH_ENTER, &is_known);
	if (!is_known)
	{
		memset(group, 0, sizeof(ChangedGroup));
		group->tid = day->found.tid;
		group->itemid = day->found.first_itemid;
		group->clock = day->found.first_clock;
		group->nrows = day->found.nrows;
	}
	day->group = group;
}

/*
 * ZbxhistFindChangedGroup finds the group that has rows of an item and clock, unless it has been
 * found last; returns false if there is none.
 */
bool
ZbxhistFindChangedGroup(ChangedDay *day, int64 itemid, int32 clock)
{
	const DayGroup *found = &day->found;

	if (day->group != NULL &&
		compare_places(itemid, clock, found->first_itemid, found->first_clock) >= 0 &&
		compare_places(itemid, clock, found->last_itemid, found->last_clock) <= 0)
		return true;
	day->group = NULL;
	if (!ZbxhistDayScanRow(day->scan, itemid, clock, &day->found))
		return false;
	NoteChangedGroup(day);
	return true;
}

/*
 * ZbxhistMarkRow notes that a row of the group found last is deleted or updated; returns
 * false if the statement has changed it before.
 */
bool
ZbxhistMarkRow(ChangedDay *day, int row, bool is_update)
{
	ChangedGroup *group = day->group;
	Size		length = (group->nrows + 7) / 8;

	if (group->deleted == NULL)
	{
		group->deleted = MemoryContextAllocZero(day->context, 2 * length);
		group->updated = group->deleted + length;
	}
	if (row_is_in(group->deleted, row) || row_is_in(group->updated, row))
		return false;
	(is_update ? group->updated : group->deleted)[row / 8] |= 1 << row % 8;
	*(is_update ? &group->nupdated : &group->ndeleted) += 1;
	return true;
}

/*
 * ZbxhistDecodeChangedSegment decodes a segment of the group found last, unless that is what has
 * been decoded last.
 */
void
ZbxhistDecodeChangedSegment(ChangedDay *day, int segment)
{
	MemoryContext old;

	if (segment == day->segment)
		return;
	day->segment = -1;
	MemoryContextReset(day->segment_context);
	old = MemoryContextSwitchTo(day->segment_context);
	ZbxhistDecodeDaySegment(day->rel, day->layout, &day->found.reader, segment,
							NULL, &day->rows);
	MemoryContextSwitchTo(old);
	day->offsets.first = -1;
	day->segment = segment;
}
