/*-------------------------------------------------------------------------
 *
 * salvage.c
 *	  Keeps what can be read of a damaged day.
 *
 * As unpack.c it moves the rows of a day into a partition, but what cannot be
 * read does not keep it from the rest: pages, groups, segments, and rows with
 * values that are none of their type are passed over, and told of.  So are rows
 * that the partition refuses, such as a second one of the same key.
 *
 * A group is deleted before its rows are inserted, in the same transaction, so
 * that none is there twice.  One whose bytes cannot even be deleted stays; no
 * row of it has been read.
 *
 * Locks: as unpack.c.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "access/xact.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "compat.h"
#include "packed/day/day_write.h"
#include "packed/jobs/day_progress.h"
#include "packed/jobs/salvage.h"
#include "packed/jobs/unpack.h"
#include "packed/runs/run_group.h"

PG_FUNCTION_INFO_V1(zbxhist_salvage_rows);

typedef struct Salvage
{
	Unpacking	unpacking;
	Snapshot	snapshot;
	Snapshot	crosscheck;
	DayTimes   *times;			/* that segments share */
	LossReport	report;
	int64		kept;

	/* rows that have been collected */
	int			nslots;
	int64		itemids[UNPACK_ROWS];
	int32		clocks[UNPACK_ROWS];

	/* groups that could be read, and blocks that could not */
	DayGroup   *readable;
	int			nreadable;
	int			max_readable;
	List	   *blocks;			/* of LostBlock */

	MemoryContext context;		/* that of the call */
	MemoryContext block_context;	/* reset with each block */
	MemoryContext segment_context;
} Salvage;

/* ---- rows ---- */

/* some of the rows that have been collected */
typedef struct RowInsert
{
	Salvage    *salvage;
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
 * InsertSome inserts rows.  What they are inserted by is this attempt's own: the
 * executor and the indexes prepare and pin things with the first row, which an
 * attempt that fails leaves half done, and the end of any leaves behind.
 */
static void
InsertSome(void *arg)
{
	const RowInsert *insert = arg;
	Unpacking  *unpacking = &insert->salvage->unpacking;
	Relation	partition =
		table_open(RelationGetRelid(unpacking->target->rel), NoLock);
	InsertTarget *target = ZbxhistOpenTarget(partition,
											 RelationGetDescr(unpacking->table),
											 TARGET_MOVE, insert->context);

	ZbxhistInsertRows(target, &unpacking->slots[insert->first],
					  insert->count, GetCurrentCommandId(true));
	ZbxhistCloseTarget(target);
}

/*
 * TryInsert inserts rows, or returns false and sets error.  An attempt that fails
 * leaves no memory behind but the message.
 */
static bool
TryInsert(Salvage *salvage, int first, int count, char **error)
{
	RowInsert	insert = {salvage, first, count};
	bool		result;

	insert.context = AllocSetContextCreate(CurrentMemoryContext,
										   "zbxhist insertion attempt",
										   ALLOCSET_SMALL_SIZES);
	result = ZbxhistTry(InsertSome, &insert, IsRefusal, error);
	MemoryContextDelete(insert.context);
	return result;
}

/*
 * InsertOne inserts a row, or tells that it cannot be kept.
 */
static void
InsertOne(Salvage *salvage, int number)
{
	Loss		loss = {.has_begin = true,.has_end = true,.nrows = 1};
	char	   *error;

	if (TryInsert(salvage, number, 1, &error))
	{
		salvage->kept++;
		return;
	}
	loss.first_itemid = loss.last_itemid = salvage->itemids[number];
	loss.first_clock = loss.last_clock = salvage->clocks[number];
	loss.problem = error;
	ZbxhistReportLoss(&salvage->report, &loss);
}

/*
 * InsertSlots inserts the rows that have been collected: all at once, or if
 * that fails, one by one.
 */
static void
InsertSlots(Salvage *salvage)
{
	char	   *error;

	if (salvage->nslots == 0)
		return;
	if (TryInsert(salvage, 0, salvage->nslots, &error))
		salvage->kept += salvage->nslots;
	else
	{
		for (int i = 0; i < salvage->nslots; i++)
		{
			CHECK_FOR_INTERRUPTS();
			InsertOne(salvage, i);
		}
	}
	for (int i = 0; i < salvage->nslots; i++)
		ExecClearTuple(salvage->unpacking.slots[i]);
	salvage->nslots = 0;
}

/*
 * CollectRow collects a row of the segment that has been mapped.
 */
static void
CollectRow(Salvage *salvage, const SegmentRows *rows, int row)
{
	MemoryContext old = MemoryContextSwitchTo(salvage->block_context);

	salvage->itemids[salvage->nslots] = rows->itemid;
	salvage->clocks[salvage->nslots] = (int32) rows->columns[0].ints[row];
	ZbxhistUnpackRow(&salvage->unpacking, row,
					 salvage->unpacking.slots[salvage->nslots]);
	if (++salvage->nslots == UNPACK_ROWS)
		InsertSlots(salvage);
	MemoryContextSwitchTo(old);
}

/* ---- a segment ---- */

/*
 * FindProblems returns for each row of a decoded segment what is wrong with
 * it, NULL if nothing is.
 */
static const char **
FindProblems(const Salvage *salvage, const SegmentRows *rows)
{
	const Unpacking *unpacking = &salvage->unpacking;
	const char **problems = palloc0(sizeof(char *) * rows->nrows);
	const int64 *clocks = rows->columns[0].ints;

	for (int i = 1; i < rows->ncolumns; i++)
	{
		const LayoutColumn *column = unpacking->layout->packed[i];
		int			row = ZbxhistFindWrong(column, rows, 0);
		const char *problem = row == rows->nrows ? NULL :
			MemoryContextStrdup(salvage->block_context,
								psprintf("column \"%s\" has bytes that are no value of its type",
										 NameStr(column->name)));

		for (; row < rows->nrows; row = ZbxhistFindWrong(column, rows, row + 1))
			problems[row] = problem;
	}
	for (int row = 0; row < rows->nrows; row++)
	{
		if (clocks[row] < unpacking->from_clock ||
			clocks[row] >= unpacking->to_clock)
			problems[row] = "clocks are not of this day";
	}
	return problems;
}

/*
 * SalvageSegment keeps the rows of a segment.
 */
static void
SalvageSegment(Salvage *salvage, const GroupReader *reader, int segment)
{
	Unpacking  *unpacking = &salvage->unpacking;
	const SegmentInfo *info = &reader->segments[segment];
	Loss		loss = {true, info->itemid, info->first_clock,
	true, info->itemid, info->last_clock, info->nrows, NULL};
	const char **problems;
	SegmentRows rows;

	loss.problem = ZbxhistWhyNotDecoded(unpacking->layout, reader, segment,
										&rows);
	if (loss.problem != NULL)
	{
		loss.problem = MemoryContextStrdup(salvage->block_context, loss.problem);
		ZbxhistReportLoss(&salvage->report, &loss);
		return;
	}
	problems = FindProblems(salvage, &rows);
	ZbxhistMapSegment(unpacking->map, &rows);
	for (int row = 0; row < rows.nrows; row++)
	{
		if (problems[row] == NULL)
		{
			CollectRow(salvage, &rows, row);
			continue;
		}
		loss.first_clock = loss.last_clock = (int32) rows.columns[0].ints[row];
		loss.nrows = 1;
		loss.problem = problems[row];
		ZbxhistReportLoss(&salvage->report, &loss);
	}
}

/* ---- a group ---- */

/* the arguments of DeleteDamaged */
typedef struct GroupDelete
{
	Salvage    *salvage;
	ItemPointer tid;
} GroupDelete;

/*
 * DeleteDamaged deletes a group.
 */
static void
DeleteDamaged(void *arg)
{
	const GroupDelete *delete = arg;

	ZbxhistDeleteGroup(delete->salvage->unpacking.day, delete->tid,
					   delete->salvage->crosscheck);
}

/*
 * LoseGroup tells that nothing of a group can be read, and deletes it if that
 * can be done.
 */
static void
LoseGroup(Salvage *salvage, StoredGroup *stored, const char *problem)
{
	const DayGroup *group = &stored->group;
	GroupDelete delete = {salvage, &stored->group.tid};
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
	ZbxhistReportLoss(&salvage->report, &loss);
	(void) ZbxhistTry(DeleteDamaged, &delete, ZbxhistIsDamage, &error);
}

/*
 * KeepPlace notes where a group that can be read begins and ends.
 */
static void
KeepPlace(Salvage *salvage, const GroupReader *reader)
{
	DayGroup   *place;

	if (salvage->nreadable == salvage->max_readable)
	{
		salvage->max_readable *= 2;
		salvage->readable = repalloc_huge(salvage->readable, sizeof(DayGroup) *
										  salvage->max_readable);
	}
	place = &salvage->readable[salvage->nreadable++];
	place->first_itemid = reader->first_itemid;
	place->first_clock = reader->first_clock;
	place->last_itemid = reader->last_itemid;
	place->last_clock = reader->last_clock;
}

/*
 * KeepGroup keeps the rows of a group, which is open.
 */
static void
KeepGroup(Salvage *salvage, DayGroup *group)
{
	GroupReader *reader = &group->reader;

	reader->times = ZbxhistTimesSource(salvage->times);
	KeepPlace(salvage, reader);
	ZbxhistDeleteGroup(salvage->unpacking.day, &group->tid,
					   salvage->crosscheck);
	for (int i = 0; i < reader->nsegments; i++)
	{
		MemoryContext old = MemoryContextSwitchTo(salvage->segment_context);

		CHECK_FOR_INTERRUPTS();
		SalvageSegment(salvage, reader, i);
		MemoryContextSwitchTo(old);
		MemoryContextReset(salvage->segment_context);
	}
	InsertSlots(salvage);
}

/*
 * RefuseNewer raises an error if a group could not be opened because a newer
 * version has written it: nothing of it is lost.
 */
static void
RefuseNewer(const Salvage *salvage, const DayGroup *group)
{
	Relation	day = salvage->unpacking.day;

	if (ZbxhistNewerFormat(&group->reader) == 0)
		return;
	ereport(ERROR,
			errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			errmsg("packed day \"%s\" has values of %s",
				   RelationGetRelationName(day),
				   ZbxhistWhyNotOpened(&group->reader)),
			errdetail("A newer version can read them.  If there was none, what is damaged is the group with first_itemid = " INT64_FORMAT " and first_clock = %d.",
					  group->first_itemid, (int) group->first_clock),
			errtable(day));
}

/*
 * LoseTimes tells of a row of shared times that is damaged.  No value is in it;
 * the segments that cannot be read without it tell which are lost.
 */
static void
LoseTimes(Salvage *salvage, const char *problem)
{
	Loss		loss = {.problem = psprintf("shared times: %s", problem)};

	ZbxhistReportLoss(&salvage->report, &loss);
}

/*
 * SalvageRun keeps a run, whose bytes the report has.
 */
static void
SalvageRun(Salvage *salvage, StoredGroup *stored)
{
	GroupReader *reader = &stored->group.reader;
	const uint8 *data = (uint8 *) salvage->report.bytes;
	const char *problem = ZbxhistOpenRunGroup(salvage->unpacking.day,
											  salvage->unpacking.layout,
											  &stored->group, data,
											  salvage->report.length);

	if (ZbxhistNewerRunFormat(data, salvage->report.length) > 0)
	{
		reader->data = data;
		reader->length = salvage->report.length;
		RefuseNewer(salvage, &stored->group);
	}
	if (problem != NULL)
		LoseGroup(salvage, stored, problem);
	else
		KeepGroup(salvage, &stored->group);
}

/*
 * SalvageGroup keeps what can be read of a group.  A row of shared times stays
 * until the day is dropped, for whatever needs it.
 */
static void
SalvageGroup(Salvage *salvage, StoredGroup *stored)
{
	LossReport *report = &salvage->report;
	DayGroup   *group = &stored->group;
	bool		is_times = stored->has_place && ZbxhistHoldsTimes(group);
	const char *problem;
	struct varlena *payload = NULL;
	char	   *error = "damaged row";

	if (stored->payload != NULL)
		payload = ZbxhistFetchPayload(stored->payload, &error);
	if (payload != NULL)
	{
		report->bytes = VARDATA_ANY(payload);
		report->length = VARSIZE_ANY_EXHDR(payload);
	}
	if (is_times)
	{
		problem = payload == NULL ? error :
			ZbxhistWhyNotTimes(group, (uint8 *) report->bytes, report->length);
		if (problem != NULL)
			LoseTimes(salvage, problem);
	}
	else if (payload == NULL)
		LoseGroup(salvage, stored, error);
	else if (salvage->unpacking.layout->has_runs)
		SalvageRun(salvage, stored);
	else if (!ZbxhistOpenGroup(&group->reader, (uint8 *) report->bytes,
							   report->length,
							   salvage->unpacking.layout->npacked))
	{
		RefuseNewer(salvage, group);
		LoseGroup(salvage, stored, "damaged directory");
	}
	else
		KeepGroup(salvage, group);
	ZbxhistEndReport(report);
}

/* ---- the day ---- */

/*
 * SalvageBlock keeps what can be read of a block.
 */
static void
SalvageBlock(Salvage *salvage, BlockNumber number)
{
	List	   *groups;
	ListCell   *lc;
	char	   *error;

	if (!ZbxhistReadDayBlock(salvage->unpacking.day, salvage->snapshot, number,
							 &groups, &error))
	{
		MemoryContext old = MemoryContextSwitchTo(salvage->context);
		LostBlock  *block = palloc(sizeof(LostBlock));

		block->number = number;
		block->error = pstrdup(error);
		salvage->blocks = lappend(salvage->blocks, block);
		MemoryContextSwitchTo(old);
	}
	foreach(lc, groups)
		SalvageGroup(salvage, lfirst(lc));
}

/*
 * SalvageDay keeps what can be read of the day.
 */
static void
SalvageDay(Salvage *salvage)
{
	Relation	day = salvage->unpacking.day;
	BlockNumber nblocks = RelationGetNumberOfBlocks(day);

	salvage->snapshot = RegisterSnapshot(GetLatestSnapshot());
	salvage->times = ZbxhistBeginCarefulTimes(day, salvage->snapshot);
	for (BlockNumber block = 0; block < nblocks; block++)
	{
		MemoryContext old = MemoryContextSwitchTo(salvage->block_context);

		CHECK_FOR_INTERRUPTS();
		note_day_progress(RelationGetRelid(day), DAY_JOB_SALVAGE, block,
						  nblocks, salvage->kept);
		SalvageBlock(salvage, block);
		MemoryContextSwitchTo(old);
		MemoryContextReset(salvage->block_context);
	}
	ZbxhistReportBlocks(&salvage->report, day, salvage->blocks,
						salvage->readable, salvage->nreadable);
	ZbxhistReportKept(&salvage->report, salvage->kept);
	UnregisterSnapshot(salvage->snapshot);
}

/*
 * zbxhist_salvage_rows(day, partition) moves what can be read of a packed day
 * into a partition and returns what cannot; see sql/packed/salvage.sql.
 */
Datum
zbxhist_salvage_rows(PG_FUNCTION_ARGS)
{
	Salvage    *salvage = palloc0(sizeof(Salvage));
	Unpacking  *unpacking = &salvage->unpacking;

	InitMaterializedSRF(fcinfo, 0);
	salvage->report.rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	ZbxhistBeginUnpacking(unpacking, PG_GETARG_OID(0), PG_GETARG_OID(1));
	for (int i = 0; i < unpacking->layout->npacked; i++)
		ZbxhistRequireKnown(unpacking->day, unpacking->layout->packed[i]);
	salvage->crosscheck = IsolationUsesXactSnapshot() ?
		GetActiveSnapshot() : InvalidSnapshot;
	salvage->max_readable = 1024;
	salvage->readable = palloc0(sizeof(DayGroup) * salvage->max_readable);
	salvage->context = CurrentMemoryContext;
	salvage->block_context = AllocSetContextCreate(CurrentMemoryContext,
												   "zbxhist salvaged page",
												   ALLOCSET_DEFAULT_SIZES);
	salvage->segment_context = AllocSetContextCreate(CurrentMemoryContext,
													 "zbxhist salvaged segment",
													 ALLOCSET_DEFAULT_SIZES);
	SalvageDay(salvage);
	pgstat_progress_end_command();
	ZbxhistEndUnpacking(unpacking);
	return (Datum) 0;
}
