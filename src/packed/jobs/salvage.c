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
 * What could not be salvaged are rows of a set.  Rows of an item that follow
 * each other and have the same problem are one row.  The first one about a
 * group, or a page, has its bytes, for somebody may make more of them some day.
 *
 * Of pages that cannot be read the index of a day's table tells where the groups
 * in them begin.  It tells also of groups that have been written anew since,
 * elsewhere: what is within one that can be read is not lost.  Where a group ends
 * nobody knows but that it is before the next one begins.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "access/xact.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/tuplestore.h"

#include "binary_search.h"
#include "compat.h"
#include "packed/day/day_damage.h"
#include "packed/day/day_write.h"
#include "packed/jobs/unpack.h"
#include "rows/attempt.h"

/* values that cannot be read */
typedef struct Loss
{
	bool		has_begin;		/* else it is not known which they are */
	int64		first_itemid;
	int32		first_clock;
	bool		has_end;		/* else they end somewhere before last_ */
	int64		last_itemid;
	int32		last_clock;
	int64		nrows;			/* -1: not known */
	const char *problem;
} Loss;

/* where to tell of them */
typedef struct LossReport
{
	ReturnSetInfo *rsinfo;
	Loss		last;			/* may grow yet */
	bool		has_last;
	const char *bytes;			/* what the values are in, not told of yet */
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
 * PutBytes puts the bytes that belong to the loss into a row, if that has not
 * been done.
 */
static void
PutBytes(LossReport *report, Datum *values, bool *nulls)
{
	struct varlena *bytes;

	if (report->bytes == NULL)
		return;
	bytes = palloc(VARHDRSZ + report->length);
	SET_VARSIZE(bytes, VARHDRSZ + report->length);
	memcpy(VARDATA(bytes), report->bytes, report->length);
	values[LOSS_BYTES] = PointerGetDatum(bytes);
	nulls[LOSS_BYTES] = false;
	report->bytes = NULL;
}

/*
 * WriteLoss writes a loss, or how many values have been kept, in a row without a
 * problem.
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
		PutBytes(report, values, nulls);
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
 * Continues says whether a loss goes on where the last one ends.
 */
static bool
Continues(const LossReport *report, const Loss *loss)
{
	const Loss *last = &report->last;

	return report->has_last && last->has_begin && loss->has_begin &&
		last->has_end && loss->has_end &&
		last->last_itemid == loss->first_itemid &&
		loss->first_itemid == loss->last_itemid &&
		last->last_clock <= loss->first_clock &&
		last->nrows >= 0 && loss->nrows >= 0 &&
		strcmp(last->problem, loss->problem) == 0;
}

/*
 * ReportLoss tells of values that cannot be read.  The problem must
 * stay until the report is ended.
 */
static void
ReportLoss(LossReport *report, const Loss *loss)
{
	if (Continues(report, loss))
	{
		report->last.last_clock = loss->last_clock;
		report->last.nrows += loss->nrows;
		return;
	}
	WriteLast(report);
	report->last = *loss;
	report->has_last = true;
}

/*
 * EndReport writes what has been told of the group or page in hand.
 */
static void
EndReport(LossReport *report)
{
	WriteLast(report);
	report->bytes = NULL;
}

/*
 * FindNextReadable returns the number of the first group, of those that can be
 * read, that begins after a place.
 */
static int
FindNextReadable(const DayLook *look, const LostGroup *begin)
{
	int			i;

	find_first(i, look->nplaces,
			   compare_places(look->places[i].first_itemid,
							  look->places[i].first_clock, begin->itemid,
							  begin->clock) > 0);
	return i;
}

/*
 * IsWithin says whether a place is within a group.
 */
static bool
IsWithin(const DayGroup *group, const LostGroup *begin)
{
	return compare_places(begin->itemid, begin->clock, group->last_itemid,
						  group->last_clock) <= 0;
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
 * MakeLoss makes the loss of the group that begins at the number-th place of
 * lost; returns false if it can be read elsewhere, or is there again.
 */
static bool
MakeLoss(const DayLook *look, const List *lost, int number, Loss *loss)
{
	const LostGroup *begin = list_nth(lost, number);
	const LostGroup *after = number + 1 < list_length(lost) ?
		list_nth(lost, number + 1) : NULL;
	int			next = FindNextReadable(look, begin);

	if (next > 0 && IsWithin(&look->places[next - 1], begin))
		return false;
	/* an older version of the same group */
	if (after != NULL && after->itemid == begin->itemid &&
		after->clock == begin->clock)
		return false;
	memset(loss, 0, sizeof(*loss));
	/* what shares these times tells which values are lost */
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
 * BeginBlock begins to tell of a block: its bytes go with the first loss.
 */
static void
BeginBlock(LossReport *report, Relation day, BlockNumber number)
{
	EndReport(report);
	report->bytes = ZbxhistReadRawBlock(day, number);
	report->length = BLCKSZ;
}

/*
 * ReportUnknown tells of blocks of which nothing is known but that they cannot
 * be read.
 */
static void
ReportUnknown(LossReport *report, const DayLook *look)
{
	Loss		loss = {.nrows = -1};
	ListCell   *lc;

	foreach(lc, look->blocks)
	{
		const LostBlock *block = lfirst(lc);

		BeginBlock(report, look->day, block->number);
		loss.problem = psprintf("page %u: %s", block->number, block->error);
		ReportLoss(report, &loss);
	}
}

/*
 * ReportBlocks tells of what was in blocks that cannot be read and of
 * what the index has besides, by the groups that can be read; sorts these.
 */
static void
ReportBlocks(LossReport *report, DayLook *look)
{
	BlockNumber last = InvalidBlockNumber;
	List	   *lost;
	Loss		loss;
	char	   *error;

	if (!ZbxhistFindLostGroups(look, &lost, &error))
	{
		ReportUnknown(report, look);
		lost = NIL;
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

PG_FUNCTION_INFO_V1(zbxhist_salvage_rows);

typedef struct Salvage
{
	Unpacking	unpacking;
	DayLook		look;			/* keeps places of groups that could be read */
	Snapshot	crosscheck;
	LossReport	report;
	int64		kept;

	/* rows that have been collected */
	int			nslots;
	int64		itemids[UNPACK_ROWS];
	int32		clocks[UNPACK_ROWS];
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
	ReportLoss(&salvage->report, &loss);
}

/*
 * InsertSalvaged inserts the rows that have been collected: all at once, or if
 * that fails, one by one.
 */
static void
InsertSalvaged(Salvage *salvage)
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
	MemoryContext old = MemoryContextSwitchTo(salvage->look.block_context);

	salvage->itemids[salvage->nslots] = rows->itemid;
	salvage->clocks[salvage->nslots] = (int32) rows->columns[0].ints[row];
	ZbxhistUnpackRow(&salvage->unpacking, row,
					 salvage->unpacking.slots[salvage->nslots]);
	if (++salvage->nslots == UNPACK_ROWS)
		InsertSalvaged(salvage);
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
			MemoryContextStrdup(salvage->look.block_context,
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
		loss.problem = MemoryContextStrdup(salvage->look.block_context, loss.problem);
		ReportLoss(&salvage->report, &loss);
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
		ReportLoss(&salvage->report, &loss);
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
	ReportLoss(&salvage->report, &loss);
	(void) ZbxhistTry(DeleteDamaged, &delete, ZbxhistIsDamage, &error);
}

/*
 * KeepGroup keeps the rows of a group, which is open.
 */
static void
KeepGroup(Salvage *salvage, DayGroup *group)
{
	const GroupReader *reader = &group->reader;

	group->first_itemid = reader->first_itemid;
	group->first_clock = reader->first_clock;
	group->last_itemid = reader->last_itemid;
	group->last_clock = reader->last_clock;
	ZbxhistKeepPlace(&salvage->look, group);
	ZbxhistDeleteGroup(salvage->unpacking.day, &group->tid,
					   salvage->crosscheck);
	for (int i = 0; i < reader->nsegments; i++)
	{
		MemoryContext old = MemoryContextSwitchTo(salvage->look.segment_context);

		CHECK_FOR_INTERRUPTS();
		SalvageSegment(salvage, reader, i);
		MemoryContextSwitchTo(old);
		MemoryContextReset(salvage->look.segment_context);
	}
	InsertSalvaged(salvage);
}

/*
 * RefuseNewer raises an error if a group could not be opened because a newer
 * version has written it: nothing of it is lost.
 */
static void
RefuseNewer(const Salvage *salvage, const StoredGroup *stored)
{
	Relation	day = salvage->unpacking.day;

	if (stored->newer == 0)
		return;
	ereport(ERROR,
			errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			errmsg("packed day \"%s\" has values of format %d, which this version of zbxhist does not know",
				   RelationGetRelationName(day), stored->newer),
			errdetail("A newer version can read them.  If there was none, what is damaged is the group with first_itemid = " INT64_FORMAT " and first_clock = %d.",
					  stored->group.first_itemid,
					  (int) stored->group.first_clock),
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

	ReportLoss(&salvage->report, &loss);
}

/*
 * SalvageStored keeps what can be read of a row of the day's table.  One of shared
 * times stays until the day is dropped, for whatever needs it.
 */
static void
SalvageStored(void *arg, StoredGroup *stored)
{
	Salvage    *salvage = arg;
	const char *problem;

	if (stored->lost != NULL)
		return;
	problem = ZbxhistOpenStored(&salvage->look, stored);
	salvage->report.bytes = (const char *) stored->data;
	salvage->report.length = stored->length;
	RefuseNewer(salvage, stored);
	if (problem == NULL && !stored->is_times)
		KeepGroup(salvage, &stored->group);
	else if (problem != NULL && stored->is_times)
		LoseTimes(salvage, problem);
	else if (problem != NULL)
		LoseGroup(salvage, stored, problem);
	EndReport(&salvage->report);
}

/* ---- the day ---- */

/*
 * zbxhist_salvage_rows(day, partition) moves what can be read of a packed day
 * into a partition and returns what cannot; see sql/packed/salvage.sql.
 */
Datum
zbxhist_salvage_rows(PG_FUNCTION_ARGS)
{
	Salvage    *salvage = palloc0(sizeof(Salvage));
	Unpacking  *unpacking = &salvage->unpacking;
	Loss		kept = {0};

	InitMaterializedSRF(fcinfo, 0);
	salvage->report.rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	ZbxhistBeginUnpacking(unpacking, PG_GETARG_OID(0), PG_GETARG_OID(1));
	ZbxhistBeginDayLook(&salvage->look, unpacking->day, unpacking->layout,
						RegisterSnapshot(GetLatestSnapshot()));
	salvage->crosscheck = IsolationUsesXactSnapshot() ?
		GetActiveSnapshot() : InvalidSnapshot;
	ZbxhistLookThrough(&salvage->look, DAY_JOB_SALVAGE, &salvage->kept,
					   SalvageStored, salvage);
	ReportBlocks(&salvage->report, &salvage->look);
	kept.nrows = salvage->kept;
	WriteLoss(&salvage->report, &kept);
	UnregisterSnapshot(salvage->look.snapshot);
	pgstat_progress_end_command();
	ZbxhistEndUnpacking(unpacking);
	return (Datum) 0;
}
