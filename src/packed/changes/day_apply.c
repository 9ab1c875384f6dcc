/*-------------------------------------------------------------------------
 *
 * day_apply.c
 *	  Writes the changes of a packed day that have been collected.
 *
 * A group is deleted, and those of its segments that stay are written to one or
 * more new ones, as they are if no row of theirs changes.  Groups that become
 * small are not joined with their neighbours.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "packed/changes/day_modify.h"
#include "packed/changes/run_modify.h"
#include "packed/day/day_write.h"

/* by how much an updated row may make a group grow */
#define UPDATE_GROWTH	32

/*
 * compare_changes orders changes by row; the first one of a row first.
 */
static int
compare_changes(const void *a, const void *b)
{
	const RowChange *left = a;
	const RowChange *right = b;

	int			order = compare_places(left->itemid, left->clock, right->itemid,
									   right->clock);

	if (order != 0)
		return order;
	if (left->ordinal != right->ordinal)
		return left->ordinal < right->ordinal ? -1 : 1;
	return left->number < right->number ? -1 : 1;
}

/*
 * SortChanges sorts the changes and leaves one for each row.
 */
static void
SortChanges(DayModify *modify)
{
	RowChange  *changes = modify->changes;
	int			n = 0;

	qsort(changes, modify->nchanges, sizeof(RowChange), compare_changes);
	for (int i = 0; i < modify->nchanges; i++)
	{
		if (n > 0 && changes[n - 1].itemid == changes[i].itemid &&
			changes[n - 1].clock == changes[i].clock &&
			changes[n - 1].ordinal == changes[i].ordinal)
			continue;
		changes[n++] = changes[i];
	}
	modify->nchanges = n;
}

/*
 * WriteTuple writes an updated row.
 */
static void
WriteTuple(DayWriter *writer, const RowChange *change)
{
	RowBuffer  *buffer;
	int			row = ZbxhistDayWriteRow(writer, change->itemid, change->clock,
										 &buffer);

	ZbxhistSetTuple(buffer, row, change->tuple);
}

/*
 * WriteChanged decodes a segment and writes its rows, with the changes
 * applied, which are all of that segment's.
 */
static void
WriteChanged(DayModify *modify, DayWriter *writer, const GroupReader *reader,
			 int segment, const RowChange *changes, int nchanges)
{
	MemoryContext old = MemoryContextSwitchTo(modify->segment_context);
	SegmentRows rows;
	int			next = 0;
	int			ordinal = 0;

	ZbxhistDecodeDaySegment(modify->day, modify->layout, reader, segment,
							NULL, &rows);
	for (int i = 0; i < rows.nrows; i++)
	{
		int64		clock = rows.columns[0].ints[i];

		ordinal = i > 0 && rows.columns[0].ints[i - 1] == clock ?
			ordinal + 1 : 1;
		if (next == nchanges || changes[next].clock != clock ||
			changes[next].ordinal != ordinal)
			ZbxhistDayWriteRows(writer, &rows, i, 1);
		else if (changes[next++].tuple != NULL)
			WriteTuple(writer, &changes[next - 1]);
	}
	if (next != nchanges)
		ereport(ERROR,
				errcode(ERRCODE_NO_DATA_FOUND),
				errmsg("row to be changed is not in packed day \"%s\"",
					   RelationGetRelationName(modify->day)),
				errtable(modify->day));
	MemoryContextSwitchTo(old);
	MemoryContextReset(modify->segment_context);
}

/*
 * WriteSegments writes what the changes leave of a group.
 */
static void
WriteSegments(DayModify *modify, DayWriter *writer, const DayGroup *group,
			  const RowChange *changes, int nchanges)
{
	const GroupReader *reader = &group->reader;
	int			first = 0;

	for (int i = 0; i < reader->nsegments; i++)
	{
		const SegmentInfo *info = &reader->segments[i];
		int			end = first;
		bool		is_update = false;

		while (end < nchanges && changes[end].itemid == info->itemid &&
			   changes[end].clock <= info->last_clock)
			is_update |= changes[end++].tuple != NULL;
		if (end == first)
			ZbxhistDayWriteSegment(writer, reader, i);
		else if (is_update || end - first < info->nrows)
			WriteChanged(modify, writer, reader, i, &changes[first],
						 end - first);
		first = end;
	}
}

/*
 * ZbxhistRaiseSecondChange raises the error for what our own transaction has
 * changed again: by another part of the statement, or a function that it
 * calls.  To repeat it would not help.
 */
void
ZbxhistRaiseSecondChange(DayModify *modify)
{
	ereport(ERROR,
			errcode(ERRCODE_TRIGGERED_DATA_CHANGE_VIOLATION),
			errmsg("rows of packed day \"%s\" are being changed by another part of the same statement",
				   RelationGetRelationName(modify->day)),
			errhint("Change them in two statements."),
			errtable(modify->day));
}

/*
 * RewriteGroup applies changes to a group, all of which are in it.
 */
static void
RewriteGroup(DayModify *modify, DayWriter *writer, DayGroup *group,
			 const RowChange *changes, int nchanges)
{
	size_t		limit = ZbxhistDayPageLimit(writer);
	int			nupdates = 0;

	for (int i = 0; i < nchanges; i++)
		nupdates += changes[i].tuple != NULL;

	ZbxhistDeleteGroup(modify->day, &group->tid, InvalidSnapshot);
	modify->nremoved += nchanges - nupdates;
	if (nupdates == 0 && nchanges == group->nrows)
		return;
	/* one that may outgrow its page becomes two of the same size */
	if (group->reader.length + (size_t) nupdates * UPDATE_GROWTH > limit &&
		nupdates > 0)
		limit = Min(limit, limit / 2 + (size_t) nupdates * UPDATE_GROWTH);
	ZbxhistDayWriteLimit(writer, limit);
	WriteSegments(modify, writer, group, changes, nchanges);
	ZbxhistDayWriteBreak(writer);
}

/*
 * ApplyToGroups writes the changes, which are sorted.
 */
static void
ApplyToGroups(DayModify *modify)
{
	DayWriter  *writer;
	uint64		nrows;
	uint64		nbytes;
	int			end;

	writer = ZbxhistBeginDayWrite(modify->day, modify->layout, false);
	for (int first = 0; first < modify->nchanges; first = end)
	{
		const RowChange *change = &modify->changes[first];
		DayGroup	group;

		CHECK_FOR_INTERRUPTS();
		if (!ZbxhistDayScanRow(modify->current, change->itemid, change->clock,
							   &group))
			elog(ERROR, "group of a row to be changed is not there");
		if (TransactionIdIsCurrentTransactionId(ZbxhistDayScanXmax(modify->current)))
			ZbxhistRaiseSecondChange(modify);
		for (end = first + 1; end < modify->nchanges; end++)
		{
			change = &modify->changes[end];
			if (!ZbxhistInGroup(&group, change->itemid, change->clock))
				break;
		}
		RewriteGroup(modify, writer, &group, &modify->changes[first],
					 end - first);
	}
	ZbxhistEndDayWrite(writer, &nrows, &nbytes);
}

/*
 * ZbxhistFlushChanges writes the changes.
 */
void
ZbxhistFlushChanges(DayModify *modify)
{
	MemoryContext old;

	if (modify->nchanges == 0)
		return;
	ZbxhistOpenNewest(modify);
	old = MemoryContextSwitchTo(modify->scratch);
	SortChanges(modify);
	if (modify->layout->has_runs)
		ZbxhistApplyToRuns(modify);
	else
		ApplyToGroups(modify);
	MemoryContextSwitchTo(old);
	MemoryContextReset(modify->scratch);
	MemoryContextReset(modify->changes_context);
	modify->nchanges = 0;
	modify->nbytes = 0;
	ZbxhistCloseNewest(modify);
}
