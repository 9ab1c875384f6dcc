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

/* rows before those that change, and after them, that are near them */
#define NEAR_ROWS 32

/* a run whose rows are changed */
typedef struct EditedRun
{
	int64		batch;			/* that what is left of it belongs to */
	bool		is_own;			/* our own transaction has stored it */
	RunRows		old;			/* its rows */
	RunRows		changed;		/* those that are updated, as they become */
	RunRow	   *rows;			/* that are left */
	int			nrows;
	int			first;			/* that changes, or comes after one deleted */
	int			last;			/* likewise */
} EditedRun;

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
 * has come from, and in ours.  Allocates in the current context.
 */
static void
ReadRun(DayModify *modify, ItemPointer tid, EditedRun *run)
{
	TupleTableSlot *slot = table_slot_create(modify->day, NULL);
	DayGroup	place;

	if (!table_tuple_fetch_row_version(modify->day, tid, modify->newest,
									   slot) ||
		!ZbxhistReadPlace(slot, &place))
		elog(ERROR, "run of a row to be changed is not there");
	if (TransactionIdIsCurrentTransactionId(ZbxhistDeletedBy(slot)))
		ZbxhistRaiseSecondChange(modify->day);
	(void) ZbxhistDecodeDayRun(modify->day, modify->layout, slot, &place, NULL,
							   &run->old);
	run->batch = ZbxhistRunBatch(slot);
	run->is_own = IsOwn(slot);
	ExecDropSingleTupleTableSlot(slot);
	ZbxhistDeleteGroup(modify->day, tid,
					   IsolationUsesXactSnapshot() && !run->is_own ?
					   modify->snapshot : InvalidSnapshot);
}

/*
 * ChangeRows makes the rows that the changes, which are all of a run's, leave of it.
 * Allocates in the current context.
 */
static void
ChangeRows(DayModify *modify, const RowChange *edits, int nedits, EditedRun *run)
{
	RowBuffer  *buffer = ZbxhistCreateRowBuffer(modify->layout);
	int			next = 0;

	ZbxhistBeginRows(buffer, 0);
	run->rows = palloc(run->old.nrows * sizeof(RunRow));
	run->changed.itemids = palloc(nedits * sizeof(int64));
	for (int i = 0; i < run->old.nrows; i++)
	{
		RunRow		row = {&run->old, i};

		if (next < nedits && edits[next].place.row == i)
		{
			if (next == 0)
				run->first = run->nrows;
			run->last = run->nrows;
			if (edits[next++].tuple == NULL)
				continue;
			row.rows = &run->changed;
			row.row = ZbxhistAddRow(buffer,
									(int32) run->old.columns[0].ints[i]);
			ZbxhistSetTuple(buffer, row.row, edits[next - 1].tuple);
			run->changed.itemids[row.row] = run->old.itemids[i];
		}
		run->rows[run->nrows++] = row;
	}
	run->changed.columns = buffer->rows.columns;
}

/*
 * WriteLeft writes those rows from one to another one, not included, that are left of
 * a run.
 */
static void
WriteLeft(DayModify *modify, const EditedRun *run, int from, int to)
{
	double		row_bytes = ROW_BYTES;
	RunRows		gathered;
	WrittenRun *written;

	if (from == to)
		return;
	ZbxhistGatherRows(modify->layout, run->rows + from, to - from, &gathered);
	(void) ZbxhistWriteRuns(modify->day, run->batch, &gathered, &row_bytes,
							GetCurrentCommandId(true), &written);
}

/*
 * FirstOfItem returns the row that begins the item of a row that is left.
 */
static int
FirstOfItem(const EditedRun *run, int row)
{
	const RunRow *rows = run->rows;

	while (row > 0 && rows[row].rows->itemids[rows[row].row] ==
		   rows[row - 1].rows->itemids[rows[row - 1].row])
		row--;
	return row;
}

/*
 * EditRun writes anew what the changes, which are all of its, leave of a run.  One
 * that a merge or the same transaction has stored is divided into the rows near the
 * changes and those before and after: who changes one row after the other would write
 * all of them each time.  Parts of a run of a batch do not overlap, as batches
 * want it.
 */
void
ZbxhistEditRun(DayModify *modify, const RowChange *edits, int nedits)
{
	MemoryContext old = MemoryContextSwitchTo(modify->segment_context);
	ItemPointerData tid = edits->place.tid;
	EditedRun	run = {0};
	int			begin = 0;
	int			end;

	ReadRun(modify, &tid, &run);
	ChangeRows(modify, edits, nedits, &run);
	end = run.nrows;
	if ((run.is_own || run.batch != NO_BATCH) && run.nrows > 4 * NEAR_ROWS &&
		run.last - run.first < NEAR_ROWS)
	{
		begin = FirstOfItem(&run, Max(run.first - NEAR_ROWS, 0));
		if (run.last + NEAR_ROWS < run.nrows)
			end = Max(FirstOfItem(&run, run.last + NEAR_ROWS), begin);
	}
	WriteLeft(modify, &run, 0, begin);
	WriteLeft(modify, &run, begin, end);
	WriteLeft(modify, &run, end, run.nrows);
	MemoryContextSwitchTo(old);
	MemoryContextReset(modify->segment_context);
}

/*
 * ZbxhistRequireRunIndexes raises an error if a table of runs has not the indexes
 * that tell which of its runs are there.
 */
void
ZbxhistRequireRunIndexes(Relation day)
{
	RunIndexes	indexes;

	if (!ZbxhistRunIndexes(day, &indexes))
		ereport(ERROR,
				errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				errmsg("table of runs \"%s\" has no valid indexes on (last_clock) and (batch, last_itemid, first_itemid), or others",
					   RelationGetRelationName(day)),
				errhint("zbxhist.check() names the command that mends it."),
				errtable(day));
}
