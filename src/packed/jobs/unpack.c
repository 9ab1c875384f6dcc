/*-------------------------------------------------------------------------
 *
 * unpack.c
 *	  Brings the rows of a packed day back into a partition.
 *
 * All rows are inserted into the partition and all groups deleted in one
 * transaction, as any rows are: a snapshot sees each row in the one place or
 * in the other.
 *
 * What ALTER TABLE has done since the day was packed is applied to the rows, as
 * it is when they are read (row_map.c).
 *
 * The tables' owner, not the user, does all this: expressions of casts, indexes
 * and constraints are the owner's code.
 *
 * Locks: SHARE ROW EXCLUSIVE on the day's table, against other changes, and
 * ROW EXCLUSIVE on the partition, until the transaction ends.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/partition.h"
#include "catalog/pg_inherits.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "catalog/owned_table.h"
#include "catalog/owner_rights.h"
#include "catalog/partition_set.h"
#include "compat.h"
#include "packed/day/day_progress.h"
#include "packed/day/day_write.h"
#include "packed/jobs/unpack.h"

PG_FUNCTION_INFO_V1(zbxhist_unpack_rows);

typedef struct UnpackState
{
	Unpacking	unpacking;
	int			nslots;			/* of its slots that have a row */
	int64		nrows;
	MemoryContext segment_context;
} UnpackState;

/* ---- what rows pass through ---- */

/*
 * OpenColumnsTable returns the table whose columns the rows of a day have: the
 * foreign table that stands for packed days, which knows what was in columns
 * that came later, the partition's parent, or the partition itself.
 */
static Relation
OpenColumnsTable(Oid partition)
{
	Relation	parent;
	Oid			packed;

	if (!has_superclass(partition))
		return table_open(partition, AccessShareLock);
	parent = table_open(get_partition_parent(partition, true),
						AccessShareLock);
	packed = ZbxhistGetPartitions(parent)->packed;
	if (!OidIsValid(packed))
		return parent;
	table_close(parent, NoLock);
	return table_open(packed, AccessShareLock);
}

/*
 * ReadRange finds the clocks that the partition holds.
 */
static void
ReadRange(Unpacking *state, Oid partition)
{
	PartitionBounds bounds;

	state->from_clock = ZBXHIST_CLOCK_MIN;
	state->to_clock = ZBXHIST_CLOCK_END;
	if (ZbxhistReadBounds(partition, &bounds))
	{
		state->from_clock = bounds.from_clock;
		state->to_clock = bounds.to_clock;
	}
}

/*
 * ZbxhistBeginUnpacking opens and locks both tables, and what the rows pass
 * through, in the current context, and becomes the owner of the tables.
 */
void
ZbxhistBeginUnpacking(Unpacking *state, Oid day, Oid partition)
{
	Relation	rel = ZbxhistOpenOwnedTable(partition, RowExclusiveLock);
	TupleDesc	desc;

	state->day = ZbxhistOpenOwnedTable(day, ShareRowExclusiveLock);
	state->table = OpenColumnsTable(partition);
	ZbxhistRequireSameOwner(state->table, rel);
	ZbxhistTakeOwnerRights(&state->before, rel->rd_rel->relowner);
	state->layout = ZbxhistDayLayout(state->day);
	ZbxhistMarkReplaced(state->layout, state->table);
	ReadRange(state, partition);
	desc = RelationGetDescr(state->table);
	state->map = ZbxhistCreateRowMap(state->day, state->layout, state->table,
									 NULL);
	state->target = ZbxhistOpenTarget(rel, desc, TARGET_MOVE,
									  CurrentMemoryContext);
	state->values = palloc0(sizeof(Datum) * desc->natts);
	state->nulls = palloc(sizeof(bool) * desc->natts);
	memset(state->nulls, true, sizeof(bool) * desc->natts);
	for (int i = 0; i < UNPACK_ROWS; i++)
		state->slots[i] = MakeSingleTupleTableSlot(desc, &TTSOpsHeapTuple);
	state->row_context = AllocSetContextCreate(CurrentMemoryContext,
											   "zbxhist unpacked row",
											   ALLOCSET_DEFAULT_SIZES);
}

/*
 * ZbxhistUnpackRow puts a row of the segment that has been mapped into slot,
 * with memory of the current context.
 */
void
ZbxhistUnpackRow(Unpacking *state, int row, TupleTableSlot *slot)
{
	MemoryContext old = MemoryContextSwitchTo(state->row_context);
	HeapTuple	tuple;

	ZbxhistMapRow(state->map, row, state->values, state->nulls);
	MemoryContextSwitchTo(old);
	tuple = heap_form_tuple(RelationGetDescr(state->table), state->values,
							state->nulls);
	MemoryContextReset(state->row_context);
	ExecStoreHeapTuple(tuple, slot, true);
}

/*
 * ZbxhistEndUnpacking closes the tables, and becomes the user that it was;
 * locks stay.
 */
void
ZbxhistEndUnpacking(Unpacking *state)
{
	for (int i = 0; i < UNPACK_ROWS; i++)
		ExecDropSingleTupleTableSlot(state->slots[i]);
	ZbxhistCloseTarget(state->target);
	ZbxhistGiveBackRights(&state->before);
	table_close(state->table, NoLock);
	table_close(state->day, NoLock);
}

/* ---- all rows ---- */

/*
 * InsertUnpacked inserts the rows that have been collected.
 */
static void
InsertUnpacked(UnpackState *state)
{
	Unpacking  *unpacking = &state->unpacking;

	if (state->nslots > 0)
		ZbxhistInsertRows(unpacking->target, unpacking->slots, state->nslots,
						  GetCurrentCommandId(true));
	state->nrows += state->nslots;
	for (int i = 0; i < state->nslots; i++)
		ExecClearTuple(unpacking->slots[i]);
	state->nslots = 0;
}

/*
 * UnpackSegment inserts the decoded rows of a segment.
 */
static void
UnpackSegment(UnpackState *state, const SegmentRows *rows)
{
	Unpacking  *unpacking = &state->unpacking;

	ZbxhistMapSegment(unpacking->map, rows);
	for (int row = 0; row < rows->nrows; row++)
	{
		ZbxhistUnpackRow(unpacking, row, unpacking->slots[state->nslots]);
		if (++state->nslots == UNPACK_ROWS)
			InsertUnpacked(state);
	}
}

/*
 * UnpackGroup inserts the rows of a group.
 */
static void
UnpackGroup(UnpackState *state, const DayGroup *group)
{
	const Unpacking *unpacking = &state->unpacking;

	for (int i = 0; i < group->reader.nsegments; i++)
	{
		const SegmentInfo *info = &group->reader.segments[i];
		MemoryContext old = MemoryContextSwitchTo(state->segment_context);
		SegmentRows rows;

		CHECK_FOR_INTERRUPTS();
		if (info->first_clock < unpacking->from_clock ||
			info->last_clock >= unpacking->to_clock)
			ZbxhistRaiseCorrupt(unpacking->day, info->itemid);
		ZbxhistDecodeDaySegment(unpacking->day, unpacking->layout,
								&group->reader, i, NULL, &rows);
		MemoryContextSwitchTo(old);
		UnpackSegment(state, &rows);
		MemoryContextReset(state->segment_context);
	}
}

/*
 * UnpackDay moves all rows of the day.
 */
static void
UnpackDay(UnpackState *state)
{
	const Unpacking *unpacking = &state->unpacking;
	Snapshot	snapshot = RegisterSnapshot(GetLatestSnapshot());
	DayScan    *scan = ZbxhistBeginDayScan(unpacking->day, unpacking->layout,
										   snapshot);
	Snapshot	crosscheck = IsolationUsesXactSnapshot() ?
		GetActiveSnapshot() : InvalidSnapshot;
	BlockNumber nblocks = RelationGetNumberOfBlocks(unpacking->day);
	DayGroup	group;

	ZbxhistDayScanAll(scan);
	while (ZbxhistDayScanNext(scan, &group))
	{
		note_day_progress(RelationGetRelid(unpacking->day), DAY_JOB_UNPACK,
						  ItemPointerGetBlockNumber(&group.tid), nblocks,
						  state->nrows);
		UnpackGroup(state, &group);
		ZbxhistDeleteGroup(unpacking->day, &group.tid, crosscheck);
	}
	InsertUnpacked(state);
	ZbxhistEndDayScan(scan);
	UnregisterSnapshot(snapshot);
}

/*
 * zbxhist_unpack_rows(day, partition) moves the rows of a packed day into a
 * partition and returns their number; see sql/packed/unpack.sql.
 */
Datum
zbxhist_unpack_rows(PG_FUNCTION_ARGS)
{
	UnpackState *state = palloc0(sizeof(UnpackState));

	ZbxhistBeginUnpacking(&state->unpacking, PG_GETARG_OID(0),
						  PG_GETARG_OID(1));
	if (state->unpacking.layout->has_runs)
		ereport(ERROR,
				errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				errmsg("\"%s\" cannot be unpacked, because it is a table of runs",
					   RelationGetRelationName(state->unpacking.day)),
				errhint("Pack it first, when its hour is over."),
				errtable(state->unpacking.day));
	state->segment_context = AllocSetContextCreate(CurrentMemoryContext,
												   "zbxhist unpacked segment",
												   ALLOCSET_DEFAULT_SIZES);
	UnpackDay(state);
	pgstat_progress_end_command();
	ZbxhistEndUnpacking(&state->unpacking);
	PG_RETURN_INT64(state->nrows);
}
