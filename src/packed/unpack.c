/*-------------------------------------------------------------------------
 *
 * unpack.c
 *	  Brings the rows of a packed day back into a partition: all of them, or
 *	  what can be read of a damaged day.
 *
 * In one transaction all rows are inserted into the partition and all groups are deleted,
 * both in the ordinary way.  So a snapshot sees each row in one of the two places.
 *
 * Changes by ALTER TABLE since the day was packed are applied to the rows, as when they
 * are read (row_map.c).
 *
 * All of it is done with the rights of the tables' owner, not of the user: casts,
 * indexes and constraints may have code of the owner.
 *
 * Locks: SHARE ROW EXCLUSIVE on the day's table, against other changes, and
 * ROW EXCLUSIVE on the partition, until the transaction ends.
 *
 * Salvage skips and reports what it cannot read: pages, groups, segments, and rows
 * whose values are not of their type.  It also reports rows that the partition
 * refuses, such as a second row with the same key.  A group whose row cannot even
 * be deleted stays; none of its values has been kept.
 *
 * The losses are returned as a set.  Losses of an item that follow each other and have
 * the same problem are one row of it.  The first row about a group or a page has
 * the damaged bytes, for a later attempt by hand.
 *
 * For pages that cannot be read, the index of the day's table says where the groups in
 * them begin.  It also has entries of groups that have been written anew elsewhere:
 * an entry within a group that can be read is no loss.  The end of a lost group is not
 * known; it is taken to be where the next group begins.
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
#include "funcapi.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/tuplestore.h"

#include "binary_search.h"
#include "compat.h"
#include "format/row_map.h"
#include "packed/day_damage.h"
#include "packed/day_write.h"
#include "tables/attempt.h"
#include "tables/owned_table.h"
#include "tables/owner_rights.h"
#include "tables/partition_set.h"
#include "tables/target.h"

PG_FUNCTION_INFO_V1(zbxhist_unpack_rows);
PG_FUNCTION_INFO_V1(zbxhist_salvage_rows);

/* rows that are inserted together */
#define UNPACK_ROWS 1000

/* ---- what is lost ---- */

/* values that cannot be read */
typedef struct Loss
{
	bool		has_begin;		/* false: not known which values */
	int64		first_itemid;
	int32		first_clock;
	bool		has_end;		/* false: the loss ends somewhere before last_ */
	int64		last_itemid;
	int32		last_clock;
	int64		nrows;			/* -1: not known */
	const char *problem;
} Loss;

/* where losses are reported */
typedef struct LossReport
{
	ReturnSetInfo *rsinfo;
	Loss		last;			/* may still grow */
	bool		has_last;
	const char *bytes;			/* of the group or page; NULL: reported */
	size_t		length;
} LossReport;

/* the columns of zbxhist_internal.salvage_rows */
enum
{
	LOSS_FIRST_ITEMID,
	LOSS_FIRST_CLOCK,
	LOSS_LAST_ITEMID,
	LOSS_LAST_CLOCK,
	LOSS_IS_END,
	LOSS_ROWS,
	LOSS_PROBLEM,
	LOSS_BYTES,
	LOSS_COLUMNS
};

/*
 * WriteLoss adds a row to the result: a loss, with the damaged bytes unless an earlier
 * row has them; or, without a problem, the number of values that have been kept.
 */
static void
WriteLoss(LossReport *report, const Loss *loss)
{
	Datum		values[LOSS_COLUMNS] = {0};
	bool		nulls[LOSS_COLUMNS];

	memset(nulls, true, sizeof(nulls));
	if (loss->has_begin)
	{
		values[LOSS_FIRST_ITEMID] = Int64GetDatum(loss->first_itemid);
		values[LOSS_FIRST_CLOCK] = Int32GetDatum(loss->first_clock);
		values[LOSS_LAST_ITEMID] = Int64GetDatum(loss->last_itemid);
		values[LOSS_LAST_CLOCK] = Int32GetDatum(loss->last_clock);
		memset(nulls, false, sizeof(bool) * LOSS_IS_END);
	}
	values[LOSS_ROWS] = Int64GetDatum(loss->nrows);
	nulls[LOSS_ROWS] = loss->nrows < 0;
	if (loss->problem != NULL)
	{
		values[LOSS_IS_END] = BoolGetDatum(loss->has_end);
		nulls[LOSS_IS_END] = false;
		values[LOSS_PROBLEM] = CStringGetTextDatum(loss->problem);
		nulls[LOSS_PROBLEM] = false;
		if (report->bytes != NULL)
		{
			struct varlena *bytes = palloc(VARHDRSZ + report->length);

			SET_VARSIZE(bytes, VARHDRSZ + report->length);
			memcpy(VARDATA(bytes), report->bytes, report->length);
			values[LOSS_BYTES] = PointerGetDatum(bytes);
			nulls[LOSS_BYTES] = false;
			report->bytes = NULL;
		}
	}
	tuplestore_putvalues(report->rsinfo->setResult, report->rsinfo->setDesc,
						 values, nulls);
}

/*
 * WriteLast writes the loss that is being collected, if any.
 */
static void
WriteLast(LossReport *report)
{
	if (report->has_last)
		WriteLoss(report, &report->last);
	report->has_last = false;
}

/*
 * ReportLoss reports values that cannot be read.  A loss that continues the last one,
 * of the same item and with the same problem, is added to that.  The problem must stay
 * allocated until the report is ended.
 */
static void
ReportLoss(LossReport *report, const Loss *loss)
{
	Loss	   *last = &report->last;

	if (report->has_last && last->has_begin && loss->has_begin &&
		last->has_end && loss->has_end &&
		last->last_itemid == loss->first_itemid &&
		loss->first_itemid == loss->last_itemid &&
		last->last_clock <= loss->first_clock &&
		last->nrows >= 0 && loss->nrows >= 0 &&
		strcmp(last->problem, loss->problem) == 0)
	{
		last->last_clock = loss->last_clock;
		last->nrows += loss->nrows;
		return;
	}
	WriteLast(report);
	*last = *loss;
	report->has_last = true;
}

/*
 * EndReport ends the report about the current group or page.
 */
static void
EndReport(LossReport *report)
{
	WriteLast(report);
	report->bytes = NULL;
}

/*
 * EndBefore makes a loss end where another group begins, if that is earlier.
 */
static void
EndBefore(Loss *loss, int64 itemid, int32 clock)
{
	if (compare_places(itemid, clock, loss->last_itemid,
					   loss->last_clock) >= 0)
		return;
	loss->last_itemid = itemid;
	loss->last_clock = clock;
}

/*
 * MakeLoss sets loss to that of the group at index number of lost; returns false if
 * the group can be read elsewhere, or follows in the list once more.
 */
static bool
MakeLoss(const DayLook *look, const List *lost, int number, Loss *loss)
{
	const LostGroup *begin = list_nth(lost, number);
	const LostGroup *after = number + 1 < list_length(lost) ?
		list_nth(lost, number + 1) : NULL;
	int			next;

	/* the next readable group */
	find_first(next, look->nplaces,
			   compare_places(look->places[next].first_itemid,
							  look->places[next].first_clock, begin->itemid,
							  begin->clock) > 0);
	if (next > 0 &&
		compare_places(begin->itemid, begin->clock,
					   look->places[next - 1].last_itemid,
					   look->places[next - 1].last_clock) <= 0)
		return false;
	/* an older version of the same group */
	if (after != NULL && after->itemid == begin->itemid &&
		after->clock == begin->clock)
		return false;
	memset(loss, 0, sizeof(*loss));
	/* the segments that share these times report which values are lost */
	if (ZbxhistIsPlaceOfTimes(begin->itemid, begin->clock))
		return true;
	loss->has_begin = true;
	loss->first_itemid = begin->itemid;
	loss->first_clock = begin->clock;
	loss->last_itemid = PG_INT64_MAX;
	loss->last_clock = PG_INT32_MAX;
	loss->nrows = -1;
	if (next < look->nplaces)
		EndBefore(loss, look->places[next].first_itemid,
				  look->places[next].first_clock);
	if (after != NULL)
		EndBefore(loss, after->itemid, after->clock);
	return true;
}

/*
 * BeginBlock begins the report about a block, whose bytes go with the first loss.
 */
static void
BeginBlock(LossReport *report, Relation day, BlockNumber number)
{
	EndReport(report);
	report->bytes = ZbxhistReadRawBlock(day, number);
	report->length = BLCKSZ;
}

/*
 * ReportBlocks reports the groups that are lost: those in blocks that cannot be read, and
 * other entries of the index without a group.  Sorts the groups that can be read.  If the
 * index is damaged, too, it can only report that blocks cannot be read.
 */
static void
ReportBlocks(LossReport *report, DayLook *look)
{
	BlockNumber last = InvalidBlockNumber;
	List	   *lost;
	Loss		loss = {.nrows = -1};
	char	   *error;
	ListCell   *lc;

	if (!ZbxhistFindLostGroups(look, &lost, &error))
	{
		lost = NIL;
		foreach(lc, look->blocks)
		{
			const LostBlock *block = lfirst(lc);

			BeginBlock(report, look->day, block->number);
			loss.problem = psprintf("page %u: %s", block->number, block->error);
			ReportLoss(report, &loss);
		}
	}
	ZbxhistSortPlaces(look);
	for (int i = 0; i < list_length(lost); i++)
	{
		BlockNumber number = ((const LostGroup *) list_nth(lost, i))->block;
		const LostBlock *block = ZbxhistFindLostBlock(look, number);

		if (!MakeLoss(look, lost, i, &loss))
			continue;
		if (number != last)
			BeginBlock(report, look->day, number);
		last = number;
		loss.problem = psprintf("page %u: %s", number, block != NULL ?
								block->error : "rows are missing");
		ReportLoss(report, &loss);
	}
	EndReport(report);
}

typedef struct Unpacking
{
	Relation	day;
	DayLayout  *layout;
	Relation	partition;
	Relation	table;			/* whose columns the rows get */
	OwnerRights before;			/* of the caller */
	RowMap	   *map;
	int64		from_clock;		/* which the partition holds */
	int64		to_clock;
	Snapshot	crosscheck;		/* of groups that are deleted */
	DayLook		look;			/* at the day */
	bool		is_salvage;		/* report damage instead of raising an error */
	LossReport	report;
	int64		nrows;			/* that have been inserted */
	ItemPointerData tid;		/* of the current group */

	/* rows to be inserted */
	int			nslots;
	TupleTableSlot *slots[UNPACK_ROWS];
	int64		itemids[UNPACK_ROWS];
	int32		clocks[UNPACK_ROWS];
	Datum	   *values;
	bool	   *nulls;
	MemoryContext row_context;	/* values of a row */
	MemoryContext context;		/* owns all this */
} Unpacking;

/* ---- what rows pass through ---- */

/*
 * BeginUnpacking opens and locks both tables, prepares the conversion of rows in the
 * current context, and takes the rights of the tables' owner.
 *
 * The rows get the columns of the foreign table that stands for packed days, which has
 * the values of columns that were added later.  If there is none, they get those of the
 * partition's parent, or of the partition itself.
 */
static Unpacking *
BeginUnpacking(Oid day, Oid partition)
{
	Unpacking  *state = palloc0(sizeof(Unpacking));
	PartitionBounds bounds;
	TupleDesc	desc;
	Oid			packed;

	state->context = CurrentMemoryContext;
	state->partition = ZbxhistOpenOwnedTable(partition, RowExclusiveLock);
	state->day = ZbxhistOpenOwnedTable(day, ShareRowExclusiveLock);
	state->table = table_open(has_superclass(partition) ?
							  get_partition_parent(partition, true) : partition,
							  AccessShareLock);
	packed = RelationGetRelid(state->table) == partition ? InvalidOid :
		ZbxhistGetPartitions(state->table)->packed;
	if (OidIsValid(packed))
	{
		table_close(state->table, NoLock);
		state->table = table_open(packed, AccessShareLock);
	}
	ZbxhistRequireSameOwner(state->table, state->partition);
	ZbxhistTakeOwnerRights(&state->before, state->partition->rd_rel->relowner);
	state->layout = ZbxhistDayLayout(state->day);
	ZbxhistMarkReplaced(state->layout, state->table);
	state->from_clock = ZBXHIST_CLOCK_MIN;
	state->to_clock = ZBXHIST_CLOCK_END;
	if (ZbxhistReadBounds(partition, &bounds))
	{
		state->from_clock = bounds.from_clock;
		state->to_clock = bounds.to_clock;
	}
	desc = RelationGetDescr(state->table);
	state->map = ZbxhistCreateRowMap(state->day, state->layout, state->table,
									 NULL);
	state->values = palloc0(sizeof(Datum) * desc->natts);
	state->nulls = palloc(sizeof(bool) * desc->natts);
	memset(state->nulls, true, sizeof(bool) * desc->natts);
	for (int i = 0; i < UNPACK_ROWS; i++)
		state->slots[i] = MakeSingleTupleTableSlot(desc, &TTSOpsHeapTuple);
	state->row_context = AllocSetContextCreate(CurrentMemoryContext,
											   "zbxhist unpacked row",
											   ALLOCSET_DEFAULT_SIZES);
	ZbxhistBeginDayLook(&state->look, state->day, state->layout,
						RegisterSnapshot(GetLatestSnapshot()));
	state->crosscheck = IsolationUsesXactSnapshot() ?
		GetActiveSnapshot() : InvalidSnapshot;
	return state;
}

/*
 * EndUnpacking closes the tables, and returns to the user's own rights; locks stay.
 */
static void
EndUnpacking(Unpacking *state)
{
	UnregisterSnapshot(state->look.snapshot);
	pgstat_progress_end_command();
	for (int i = 0; i < UNPACK_ROWS; i++)
		ExecDropSingleTupleTableSlot(state->slots[i]);
	ZbxhistGiveBackRights(&state->before);
	table_close(state->partition, NoLock);
	table_close(state->table, NoLock);
	table_close(state->day, NoLock);
}

/* ---- rows ---- */

/* some of the rows that have been collected */
typedef struct RowInsert
{
	Unpacking  *state;
	int			first;
	int			count;
	MemoryContext context;		/* of the attempt */
} RowInsert;

/*
 * IsRefusal says whether an error is a row's.
 */
static bool
IsRefusal(int sqlerrcode)
{
	int			category = ERRCODE_TO_CATEGORY(sqlerrcode);

	return category == ERRCODE_TO_CATEGORY(ERRCODE_DATA_EXCEPTION) ||
		category == ERRCODE_TO_CATEGORY(ERRCODE_INTEGRITY_CONSTRAINT_VIOLATION);
}

/*
 * InsertSome inserts rows.  Each attempt opens the table for itself: a failed one leaves
 * the state of the executor and of the indexes unusable.
 */
static void
InsertSome(void *arg)
{
	const RowInsert *insert = arg;
	Unpacking  *state = insert->state;
	Relation	partition = table_open(RelationGetRelid(state->partition), NoLock);
	InsertTarget *target = ZbxhistOpenTarget(partition,
											 RelationGetDescr(state->table),
											 TARGET_MOVE, NULL,
											 insert->context);

	ZbxhistInsertRows(target, &state->slots[insert->first], insert->count,
					  GetCurrentCommandId(true));
	ZbxhistCloseTarget(target);
}

/*
 * TryInsert inserts rows; salvage returns false and sets error if they cannot be.
 * An attempt that fails leaves no memory behind but the message.
 */
static bool
TryInsert(Unpacking *state, int first, int count, char **error)
{
	RowInsert	insert = {state, first, count};
	bool		result = true;

	insert.context = AllocSetContextCreate(CurrentMemoryContext,
										   "zbxhist insertion attempt",
										   ALLOCSET_SMALL_SIZES);
	if (state->is_salvage)
		result = ZbxhistTry(InsertSome, &insert, IsRefusal, error);
	else
		InsertSome(&insert);
	MemoryContextDelete(insert.context);
	if (result)
		state->nrows += count;
	return result;
}

/*
 * InsertCollected inserts the rows that have been collected: all at once, or if
 * that fails, one by one, and tells of those that cannot be kept.
 */
static void
InsertCollected(Unpacking *state)
{
	char	   *error;

	if (state->nslots > 0 && !TryInsert(state, 0, state->nslots, &error))
	{
		for (int i = 0; i < state->nslots; i++)
		{
			Loss		loss = {.has_begin = true,.has_end = true,.nrows = 1};

			CHECK_FOR_INTERRUPTS();
			if (TryInsert(state, i, 1, &error))
				continue;
			loss.first_itemid = loss.last_itemid = state->itemids[i];
			loss.first_clock = loss.last_clock = state->clocks[i];
			loss.problem = error;
			ReportLoss(&state->report, &loss);
		}
	}
	for (int i = 0; i < state->nslots; i++)
		ExecClearTuple(state->slots[i]);
	state->nslots = 0;
}

/*
 * CollectRow collects a row of the segment that has been mapped.
 */
static void
CollectRow(Unpacking *state, const SegmentRows *rows, int row)
{
	MemoryContext old = MemoryContextSwitchTo(state->row_context);
	HeapTuple	tuple;

	ZbxhistMapRow(state->map, row, state->values, state->nulls);
	MemoryContextSwitchTo(state->context);
	tuple = heap_form_tuple(RelationGetDescr(state->table), state->values,
							state->nulls);
	MemoryContextReset(state->row_context);
	ExecStoreHeapTuple(tuple, state->slots[state->nslots], true);
	state->itemids[state->nslots] = rows->itemid;
	state->clocks[state->nslots] = (int32) rows->columns[0].ints[row];
	/* keep what is known of a row as long as its page */
	MemoryContextSwitchTo(state->look.block_context);
	if (++state->nslots == UNPACK_ROWS)
		InsertCollected(state);
	MemoryContextSwitchTo(old);
}

/* ---- a segment ---- */

/*
 * FindProblems returns for each row of a decoded segment what is wrong with
 * it, NULL if nothing is.
 */
static const char **
FindProblems(const Unpacking *state, const SegmentRows *rows)
{
	const char **problems = palloc0(sizeof(char *) * rows->nrows);
	const int64 *clocks = rows->columns[0].ints;

	for (int i = 1; i < rows->ncolumns; i++)
	{
		const LayoutColumn *column = state->layout->packed[i];
		int			row = ZbxhistFindWrong(column, rows, 0);
		const char *problem = row == rows->nrows ? NULL :
			MemoryContextStrdup(state->look.block_context,
								psprintf("column \"%s\" has bytes that are no value of its type",
										 NameStr(column->name)));

		for (; row < rows->nrows; row = ZbxhistFindWrong(column, rows, row + 1))
			problems[row] = problem;
	}
	for (int row = 0; row < rows->nrows; row++)
	{
		if (clocks[row] < state->from_clock ||
			clocks[row] >= state->to_clock)
			problems[row] = "clocks are not of this day";
	}
	return problems;
}

/*
 * SalvageSegment keeps the rows of a segment.
 */
static void
SalvageSegment(Unpacking *state, const GroupReader *reader, int segment)
{
	const SegmentInfo *info = &reader->segments[segment];
	Loss		loss = {true, info->itemid, info->first_clock,
	true, info->itemid, info->last_clock, info->nrows, NULL};
	const char **problems;
	SegmentRows rows;

	loss.problem = ZbxhistWhyNotDecoded(state->layout, reader, segment,
										&rows);
	if (loss.problem != NULL)
	{
		loss.problem = MemoryContextStrdup(state->look.block_context, loss.problem);
		ReportLoss(&state->report, &loss);
		return;
	}
	problems = FindProblems(state, &rows);
	ZbxhistMapSegment(state->map, &rows);
	for (int row = 0; row < rows.nrows; row++)
	{
		if (problems[row] == NULL)
		{
			CollectRow(state, &rows, row);
			continue;
		}
		loss.first_clock = loss.last_clock = (int32) rows.columns[0].ints[row];
		loss.nrows = 1;
		loss.problem = problems[row];
		ReportLoss(&state->report, &loss);
	}
}

/*
 * UnpackSegment collects the rows of a segment, all of which can be read.
 */
static void
UnpackSegment(Unpacking *state, const GroupReader *reader, int segment)
{
	const SegmentInfo *info = &reader->segments[segment];
	SegmentRows rows;

	if (info->first_clock < state->from_clock ||
		info->last_clock >= state->to_clock)
		ZbxhistRaiseCorrupt(state->day, info->itemid);
	ZbxhistDecodeDaySegment(state->day, state->layout, reader, segment, NULL,
							&rows);
	ZbxhistMapSegment(state->map, &rows);
	for (int row = 0; row < rows.nrows; row++)
		CollectRow(state, &rows, row);
}

/* ---- a group ---- */

/*
 * DeleteInHand deletes the current group.
 */
static void
DeleteInHand(void *arg)
{
	Unpacking  *state = arg;

	ZbxhistDeleteGroup(state->day, &state->tid, state->crosscheck);
}

/*
 * KeepGroup deletes a group, which is open, and collects its rows.
 */
static void
KeepGroup(Unpacking *state, const DayGroup *group)
{
	state->tid = group->tid;
	DeleteInHand(state);
	for (int i = 0; i < group->reader.nsegments; i++)
	{
		MemoryContext old = MemoryContextSwitchTo(state->look.segment_context);

		CHECK_FOR_INTERRUPTS();
		(state->is_salvage ? SalvageSegment : UnpackSegment)
			(state, &group->reader, i);
		MemoryContextSwitchTo(old);
		MemoryContextReset(state->look.segment_context);
	}
}

/*
 * LoseGroup reports that nothing of a group can be read, and deletes the group if
 * possible.
 */
static void
LoseGroup(Unpacking *state, StoredGroup *stored, const char *problem)
{
	const DayGroup *group = &stored->group;
	Loss		loss = {.nrows = -1,.problem = problem};
	char	   *error;

	if (stored->has_place)
	{
		loss.has_begin = loss.has_end = true;
		loss.first_itemid = group->first_itemid;
		loss.first_clock = group->first_clock;
		loss.last_itemid = group->last_itemid;
		loss.last_clock = group->last_clock;
		loss.nrows = Max(group->nrows, 0);
	}
	ReportLoss(&state->report, &loss);
	state->tid = group->tid;
	(void) ZbxhistTry(DeleteInHand, state, ZbxhistIsDamage, &error);
}

/*
 * SalvageStored keeps what can be read of a row of the day's table.  A row of shared
 * times has no values itself and stays until the day is dropped, as segments may need
 * it; if it is damaged, these report the loss.  A group that a newer version of zbxhist
 * has written is an error, not a loss.
 */
static void
SalvageStored(void *arg, StoredGroup *stored)
{
	Unpacking  *state = arg;
	DayGroup   *group = &stored->group;
	const GroupReader *reader = &group->reader;
	Loss		loss = {0};
	const char *problem;

	if (stored->lost != NULL)
		return;
	problem = ZbxhistOpenStored(&state->look, stored);
	state->report.bytes = (const char *) stored->data;
	state->report.length = stored->length;
	if (stored->newer != 0)
		ereport(ERROR,
				errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				errmsg("packed day \"%s\" has values of format %d, which this version of zbxhist does not know",
					   RelationGetRelationName(state->day), stored->newer),
				errdetail("A newer version of zbxhist can read them.  If none was ever installed, the group with first_itemid = " INT64_FORMAT " and first_clock = %d is damaged.",
						  group->first_itemid, (int) group->first_clock),
				errtable(state->day));
	if (problem == NULL && !stored->is_times)
	{
		/* its places are those of its directory */
		group->first_itemid = reader->first_itemid;
		group->first_clock = reader->first_clock;
		group->last_itemid = reader->last_itemid;
		group->last_clock = reader->last_clock;
		ZbxhistKeepPlace(&state->look, group);
		KeepGroup(state, group);
		InsertCollected(state);
	}
	else if (problem != NULL && stored->is_times)
	{
		loss.problem = psprintf("shared times: %s", problem);
		ReportLoss(&state->report, &loss);
	}
	else if (problem != NULL)
		LoseGroup(state, stored, problem);
	EndReport(&state->report);
}

/* ---- the day ---- */

/*
 * zbxhist_unpack_rows(day, partition) moves the rows of a packed day into a
 * partition and returns their number; see sql/packed/unpack.sql.
 */
Datum
zbxhist_unpack_rows(PG_FUNCTION_ARGS)
{
	Unpacking  *state = BeginUnpacking(PG_GETARG_OID(0), PG_GETARG_OID(1));
	BlockNumber nblocks = RelationGetNumberOfBlocks(state->day);
	DayScan    *scan;
	DayGroup	group;

	scan = ZbxhistBeginDayScan(state->day, state->layout, state->look.snapshot);
	ZbxhistDayScanAll(scan);
	while (ZbxhistDayScanNext(scan, &group))
	{
		note_day_progress(RelationGetRelid(state->day), DAY_JOB_UNPACK,
						  ItemPointerGetBlockNumber(&group.tid), nblocks,
						  state->nrows);
		KeepGroup(state, &group);
	}
	InsertCollected(state);
	ZbxhistEndDayScan(scan);
	EndUnpacking(state);
	PG_RETURN_INT64(state->nrows);
}

/*
 * zbxhist_salvage_rows(day, partition) moves what can be read of a packed day
 * into a partition and returns what cannot; see sql/packed/salvage.sql.
 */
Datum
zbxhist_salvage_rows(PG_FUNCTION_ARGS)
{
	Unpacking  *state;
	Loss		kept = {0};

	InitMaterializedSRF(fcinfo, 0);
	state = BeginUnpacking(PG_GETARG_OID(0), PG_GETARG_OID(1));
	state->is_salvage = true;
	state->report.rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	ZbxhistLookThrough(&state->look, DAY_JOB_SALVAGE, &state->nrows,
					   SalvageStored, state);
	ReportBlocks(&state->report, &state->look);
	kept.nrows = state->nrows;
	WriteLoss(&state->report, &kept);
	EndUnpacking(state);
	return (Datum) 0;
}
