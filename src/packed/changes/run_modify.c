/*-------------------------------------------------------------------------
 *
 * run_modify.c
 *	  Changes rows in runs.
 *
 * A run is deleted, and what the changes leave of its rows is written as a new
 * one.  As in other days, what is changed is the newest version, whose runs
 * nobody else changes once we have locked them.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "make_room.h"
#include "packed/changes/day_conflicts.h"
#include "packed/changes/day_modify.h"
#include "packed/day/day_write.h"
#include "packed/runs/day_runs.h"
#include "packed/runs/run_group.h"
#include "packed/runs/run_index.h"
#include "packed/runs/run_write.h"
#include "packed/values/row_buffer.h"
#include "packed/values/row_compare.h"

/* bytes that a row takes in a run, about */
#define ROW_BYTES 10

/* a row of a run that is to be changed */
typedef struct RunEdit
{
	RunPlace	place;
	HeapTuple	tuple;			/* of the layout's columns; NULL: delete */
} RunEdit;

typedef struct RunEdits
{
	RunEdit    *edits;
	int			nedits;
	int			capacity;
} RunEdits;

/*
 * AddEdit adds the change of a row of the group that scan has found last.
 * Allocates in the current context.
 */
static void
AddEdit(RunEdits *edits, DayScan *scan, int row, HeapTuple tuple)
{
	RunEdit    *edit;

	make_room(edits->edits, edits->nedits, edits->capacity);
	edit = &edits->edits[edits->nedits++];
	ZbxhistDayScanRun(scan, row, &edit->place);
	edit->tuple = tuple;
}

/*
 * compare_edits orders changes by the place of their rows.
 */
static int
compare_edits(const void *a, const void *b)
{
	RunPlace	left = ((const RunEdit *) a)->place;
	RunPlace	right = ((const RunEdit *) b)->place;
	int			result = ItemPointerCompare(&left.tid, &right.tid);

	return result != 0 ? result : left.row - right.row;
}

/*
 * IsOwn says whether the run in a slot has been stored by our own transaction.
 */
static bool
IsOwn(TupleTableSlot *slot)
{
	bool		isnull;
	Datum		xid = slot_getsysattr(slot, MinTransactionIdAttributeNumber,
									  &isnull);

	return TransactionIdIsCurrentTransactionId(DatumGetTransactionId(xid));
}

/*
 * ReadRun reads the run at tid and deletes it.  A snapshot that is kept must see
 * it, or else would see the rows that are left twice: in the run that this one
 * has come from, and in ours.  Returns its batch, which what is left of it belongs to.
 * Allocates in the current context.
 */
static int64
ReadRun(DayModify *modify, ItemPointer tid, RunRows *rows)
{
	TupleTableSlot *slot = table_slot_create(modify->day, NULL);
	DayGroup	place;
	Snapshot	crosscheck;
	int64		batch;

	if (!table_tuple_fetch_row_version(modify->day, tid, modify->newest,
									   slot) ||
		!ZbxhistReadPlace(slot, &place))
		elog(ERROR, "run of a row to be changed is not there");
	if (TransactionIdIsCurrentTransactionId(ZbxhistDeletedBy(slot)))
		ZbxhistRaiseSecondChange(modify->day);
	ZbxhistDecodeDayRun(modify->day, modify->layout, slot, &place, rows);
	batch = ZbxhistRunBatch(slot);
	crosscheck = IsolationUsesXactSnapshot() &&
		!IsOwn(slot) ? modify->snapshot : InvalidSnapshot;
	ExecDropSingleTupleTableSlot(slot);
	ZbxhistDeleteGroup(modify->day, tid, crosscheck);
	return batch;
}

/*
 * EditRun writes anew what the changes, which are all of its, leave of a run.
 * Allocates in the current context.
 */
static void
EditRun(DayModify *modify, const RunEdit *edits, int nedits)
{
	const DayLayout *layout = modify->layout;
	RowBuffer  *buffer = ZbxhistCreateRowBuffer(layout);
	ItemPointerData tid = edits->place.tid;
	SegmentRows source = {0};
	RunRows		rows;
	WrittenRun *written;
	double		row_bytes = ROW_BYTES;
	int64		batch = ReadRun(modify, &tid, &rows);
	int			next = 0;
	int			n = 0;

	source.nrows = rows.nrows;
	source.ncolumns = rows.ncolumns;
	source.columns = rows.columns;
	ZbxhistBeginRows(buffer, 0);
	for (int i = 0; i < rows.nrows; i++)
	{
		const RunEdit *edit = next < nedits && edits[next].place.row == i ?
			&edits[next++] : NULL;
		int			row;

		if (edit != NULL && edit->tuple == NULL)
			continue;
		row = ZbxhistAddAnyRow(buffer, (int32) rows.columns[0].ints[i]);
		if (edit != NULL)
			ZbxhistSetTuple(buffer, row, edit->tuple);
		else
			ZbxhistCopyValues(buffer, row, &source, i);
		rows.itemids[n++] = rows.itemids[i];
	}
	rows.nrows = n;
	rows.columns = buffer->rows.columns;
	if (n > 0)
		(void) ZbxhistWriteRuns(modify->day, batch, &rows, &row_bytes,
								GetCurrentCommandId(true), &written);
}

/*
 * ApplyEdits writes all runs anew whose rows change, and counts those that go.
 */
static void
ApplyEdits(DayModify *modify, RunEdits *edits)
{
	MemoryContext old = MemoryContextSwitchTo(modify->segment_context);
	RunIndexes	indexes;
	int			end;

	if (edits->nedits > 0 && !ZbxhistRunIndexes(modify->day, &indexes))
		ereport(ERROR,
				errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				errmsg("table of runs \"%s\" has no valid indexes on (last_clock) and (batch, last_itemid, first_itemid), or others",
					   RelationGetRelationName(modify->day)),
				errhint("zbxhist.check() names the command that mends it."),
				errtable(modify->day));
	qsort(edits->edits, edits->nedits, sizeof(RunEdit), compare_edits);
	for (int first = 0; first < edits->nedits; first = end)
	{
		CHECK_FOR_INTERRUPTS();
		for (end = first; end < edits->nedits &&
			 ItemPointerEquals(&edits->edits[end].place.tid,
							   &edits->edits[first].place.tid); end++)
			modify->nremoved += edits->edits[end].tuple == NULL;
		EditRun(modify, &edits->edits[first], end - first);
		MemoryContextReset(modify->segment_context);
	}
	MemoryContextSwitchTo(old);
}

/*
 * ZbxhistApplyToRuns writes the changes that have been collected, one of each
 * row.  Allocates in the current context.
 */
void
ZbxhistApplyToRuns(DayModify *modify)
{
	RunEdits	edits = {0};

	for (int i = 0; i < modify->nchanges; i++)
	{
		const RowChange *change = &modify->changes[i];
		DayGroup	group;

		if (!ZbxhistDayScanRow(modify->current, change->itemid,
							   change->clock, &group) ||
			change->ordinal > group.nrows)
			elog(ERROR, "run of a row to be changed is not there");
		AddEdit(&edits, modify->current, change->ordinal - 1,
				change->tuple);
	}
	ApplyEdits(modify, &edits);
}

/* ---- a range ---- */

/*
 * NextOfRange goes on to the next row of a group in a range, from the one with
 * the number *row on; its position is set.  Returns false if there is none.
 */
static bool
NextOfRange(const DayModify *modify, const DayGroup *group,
			const ItemRange *range, int *row, int64 *position)
{
	const SegmentRows *segment = group->reader.decoded;
	int			first = 0;

	for (int i = 0; i < group->reader.nsegments; i++, segment++)
	{
		for (; *row < first + segment->nrows; (*row)++)
		{
			*position = ZbxhistRowPosition(modify->layout, segment,
										   *row - first);
			if (*position >= range->first && *position <= range->last)
				return true;
		}
		first += segment->nrows;
	}
	return false;
}

/*
 * RefuseLost raises an error if the caller's snapshot sees a row of the range
 * that another transaction has deleted since, where that counts.
 */
static void
RefuseLost(DayModify *modify, int row)
{
	if (IsolationUsesXactSnapshot() &&
		!TransactionIdIsCurrentTransactionId(ZbxhistDayScanXmaxOf(modify->seen, row)))
		ZbxhistRaiseChanged();
}

/*
 * ZbxhistDeleteFromRuns deletes the rows of an item in a range that both the
 * caller's snapshot and the newest see, and returns their number.  Allocates in
 * the current context.
 */
uint64
ZbxhistDeleteFromRuns(DayModify *modify, const ItemRange *range)
{
	ItemRange	ascending = *range;
	RunEdits	edits = {0};
	DayGroup	seen = {0};
	DayGroup	newest = {0};
	int64		position = 0;
	int64		now = 0;
	int			row = 0;
	int			seen_row = 0;

	ascending.is_descending = false;
	ZbxhistDayScanItem(modify->seen, &ascending);
	if (!ZbxhistDayScanNext(modify->seen, &seen))
		return 0;
	ZbxhistDayScanItem(modify->current, &ascending);
	(void) ZbxhistDayScanNext(modify->current, &newest);
	/* keys are unique, and both are sorted by them */
	while (NextOfRange(modify, &seen, range, &seen_row, &position))
	{
		bool		found = false;

		while (!found && NextOfRange(modify, &newest, range, &row, &now) &&
			   now <= position)
		{
			found = now == position;
			if (found)
				AddEdit(&edits, modify->current, row, NULL);
			row++;
		}
		if (!found)
			RefuseLost(modify, seen_row);
		seen_row++;
	}
	ApplyEdits(modify, &edits);
	return edits.nedits;
}
