/*-------------------------------------------------------------------------
 *
 * verify.c
 *	  Looks through a packed day for damage.
 *
 * Every group is read: its place among the others, its directory, and of each
 * segment the checksum, the values and the statistics.  What cannot be read
 * does not keep the rest from being looked at (day_damage.c).  In the end the
 * index must lead to the very groups that were read.
 *
 * Locks: ACCESS SHARE on the day's table until the transaction ends.  Memory:
 * the groups of a page, where each group begins and ends, and the problems.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "storage/bufmgr.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/tuplestore.h"

#include "catalog/bounds.h"
#include "catalog/owned_table.h"
#include "catalog/packed_days.h"
#include "make_room.h"
#include "packed/day/day_damage.h"
#include "packed/jobs/day_progress.h"
#include "packed/runs/run_group.h"
#include "packed/runs/run_index.h"
#include "packed/values/row_compare.h"

PG_FUNCTION_INFO_V1(zbxhist_verify_day);

typedef struct VerifyState
{
	Relation	day;
	DayLayout  *layout;
	int64		from_clock;		/* of the day; all there are if not known */
	int64		to_clock;
	ReturnSetInfo *rsinfo;		/* gets the problems */
	Snapshot	snapshot;
	DayGroup	group;			/* the one that is looked at */
	DayTimes   *times;			/* that segments share */
	ArchiveReader *archive;		/* of archived groups */

	List	   *blocks;			/* LostBlock: that cannot be read */
	int64		nrows;			/* of groups that were looked at */

	/* all groups: where they begin and end, and tid */
	DayGroup   *places;
	int			nplaces;
	int			max_places;

	MemoryContext outer_context;	/* that of the call */
	MemoryContext block_context;	/* reset with each block */
	MemoryContext context;		/* reset with each segment */
} VerifyState;

/*
 * AddProblem adds a row to the result.
 */
static void
AddProblem(VerifyState *state, int64 itemid, int32 clock, const char *problem)
{
	Datum		values[3];
	bool		nulls[3] = {false};

	values[0] = Int64GetDatum(itemid);
	values[1] = Int32GetDatum(clock);
	values[2] = CStringGetTextDatum(problem);
	tuplestore_putvalues(state->rsinfo->setResult, state->rsinfo->setDesc,
						 values, nulls);
}

/* ---- a segment ---- */

/*
 * SameDouble says whether two doubles have the same bits.
 */
static bool
SameDouble(double a, double b)
{
	return memcmp(&a, &b, sizeof(double)) == 0;
}

/*
 * SameStats says whether two statistics are the same, the second ones being
 * stored: they may lack the rest of the sum.
 */
static bool
SameStats(const SegmentStats *a, const SegmentStats *b)
{
	if (!a->is_set || !b->is_set)
		return a->is_set == b->is_set;
	if (a->kind != b->kind || a->count != b->count)
		return false;
	if (a->count == 0)
		return true;
	if (a->kind == PACKED_DOUBLE)
		return SameDouble(a->min_double, b->min_double) &&
			SameDouble(a->max_double, b->max_double) &&
			SameDouble(a->sum_double, b->sum_double) &&
			(!b->has_rest ||
			 (a->has_rest && SameDouble(a->rest_double, b->rest_double)));
	return a->min_unsigned == b->min_unsigned &&
		a->max_unsigned == b->max_unsigned &&
		a->sum_high == b->sum_high && a->sum_low == b->sum_low;
}

/*
 * AreInOrder says whether the rows of a segment are sorted by time.
 */
static bool
AreInOrder(const VerifyState *state, const SegmentRows *rows)
{
	for (int i = 1; i < rows->nrows; i++)
	{
		if (ZbxhistRowPosition(state->layout, rows, i - 1) >
			ZbxhistRowPosition(state->layout, rows, i))
			return false;
	}
	return true;
}

/*
 * FindWrongColumn returns a column of the segment that has a value which is
 * none of its type, or NULL.
 */
static const LayoutColumn *
FindWrongColumn(const VerifyState *state, const SegmentRows *rows)
{
	for (int i = 1; i < rows->ncolumns; i++)
	{
		const LayoutColumn *column = state->layout->packed[i];

		if (ZbxhistFindWrong(column, rows, 0) < rows->nrows)
			return column;
	}
	return NULL;
}

/*
 * HasRightStats says whether the statistics of a segment are those of its
 * rows.
 */
static bool
HasRightStats(const VerifyState *state, int segment, const SegmentRows *rows)
{
	int			stats_column = ZbxhistStatsColumn(state->layout);
	SegmentStats stats;
	SegmentStats stored;

	if (stats_column < 0 || state->layout->has_runs)
		return true;
	memset(&stats, 0, sizeof(stats));
	ZbxhistComputeStats(&rows->columns[stats_column], 0, rows->nrows, &stats);
	return ZbxhistReadStats(&state->group.reader, segment, &stored) &&
		SameStats(&stats, &stored);
}

/*
 * WhatIsWrong returns what is wrong with the values of a segment, or NULL.
 */
static const char *
WhatIsWrong(const VerifyState *state, int segment)
{
	const GroupReader *reader = &state->group.reader;
	const SegmentInfo *info = &reader->segments[segment];
	const LayoutColumn *column;
	SegmentRows rows;
	const char *problem = ZbxhistWhyNotDecoded(state->layout, reader, segment,
											   &rows);

	if (problem != NULL)
		return problem;
	if ((column = FindWrongColumn(state, &rows)) != NULL)
		return psprintf("column \"%s\" has bytes that are no value of its type",
						NameStr(column->name));
	if (!AreInOrder(state, &rows))
		return "clocks are not in order";
	if (info->first_clock < state->from_clock ||
		info->last_clock >= state->to_clock)
		return "clocks are not of this day";
	return HasRightStats(state, segment, &rows) ? NULL : "wrong statistics";
}

/*
 * VerifySegment looks at a segment.
 */
static void
VerifySegment(VerifyState *state, int segment)
{
	const SegmentInfo *info = &state->group.reader.segments[segment];
	MemoryContext old = MemoryContextSwitchTo(state->context);
	const char *problem = WhatIsWrong(state, segment);

	CHECK_FOR_INTERRUPTS();
	if (problem != NULL)
		AddProblem(state, info->itemid, info->first_clock,
				   psprintf("segment to clock %d, %u values: %s",
							(int) info->last_clock, info->nrows, problem));
	MemoryContextSwitchTo(old);
	MemoryContextReset(state->context);
}

/* ---- a group ---- */

/*
 * AddGroupProblem adds a problem of the group as a whole.
 */
static void
AddGroupProblem(VerifyState *state, const char *problem)
{
	const DayGroup *group = &state->group;

	AddProblem(state, group->first_itemid, group->first_clock,
			   psprintf("group to item " INT64_FORMAT ", clock %d: %s",
						group->last_itemid, (int) group->last_clock,
						problem));
}

/*
 * KeepVerifiedPlace notes where the group begins and ends.
 */
static void
KeepVerifiedPlace(VerifyState *state)
{
	make_room(state->places, state->nplaces, state->max_places);
	state->places[state->nplaces++] = state->group;
}

/*
 * VerifyRun looks at a run.
 */
static void
VerifyRun(VerifyState *state, struct varlena *payload)
{
	const char *problem = ZbxhistOpenRunGroup(state->day, state->layout,
											  &state->group,
											  (uint8 *) VARDATA_ANY(payload),
											  VARSIZE_ANY_EXHDR(payload));

	if (problem != NULL)
	{
		AddProblem(state, state->group.first_itemid, state->group.first_clock,
				   psprintf("run of %d values to item " INT64_FORMAT ", clock %d: %s",
							(int) state->group.nrows, state->group.last_itemid,
							(int) state->group.last_clock, problem));
		return;
	}
	for (int i = 0; i < state->group.reader.nsegments; i++)
		VerifySegment(state, i);
	state->nrows += state->group.nrows;
}

/*
 * VerifyTimes looks at a row with times that items share.  Which items they are
 * their segments tell, which cannot be decoded if something is wrong.
 */
static void
VerifyTimes(VerifyState *state, const StoredGroup *stored)
{
	struct varlena *payload = NULL;
	char	   *error = "damaged row";
	const char *problem;

	if (stored->payload != NULL)
		payload = ZbxhistFetchPayload(state->day, state->archive,
									  stored->payload, &error);
	problem = payload == NULL ? error :
		ZbxhistWhyNotTimes(&stored->group, (uint8 *) VARDATA_ANY(payload),
						   VARSIZE_ANY_EXHDR(payload));
	if (problem != NULL)
		AddProblem(state, 0, 0, psprintf("shared times in page %u: %s",
										 ItemPointerGetBlockNumber(&stored->group.tid),
										 problem));
}

/*
 * VerifyGroup looks at a group.
 */
static void
VerifyGroup(VerifyState *state, const StoredGroup *stored)
{
	DayGroup   *group = &state->group;
	struct varlena *payload;
	char	   *error;

	if (stored->has_place && ZbxhistHoldsTimes(&stored->group))
	{
		VerifyTimes(state, stored);
		return;
	}
	*group = stored->group;
	if (stored->has_place)
		KeepVerifiedPlace(state);
	if (stored->payload == NULL)
	{
		AddGroupProblem(state, "damaged row");
		return;
	}
	payload = ZbxhistFetchPayload(state->day, state->archive,
								  stored->payload, &error);
	if (payload == NULL)
	{
		AddGroupProblem(state, error);
		return;
	}
	if (state->layout->has_runs)
	{
		VerifyRun(state, payload);
		return;
	}
	if (!ZbxhistOpenGroup(&group->reader, (uint8 *) VARDATA_ANY(payload),
						  VARSIZE_ANY_EXHDR(payload),
						  state->layout->npacked))
	{
		AddGroupProblem(state, ZbxhistWhyNotOpened(&group->reader));
		return;
	}
	if (!ZbxhistGroupHasRightPlace(group) || !ZbxhistGroupHasRightCount(group))
		AddGroupProblem(state, "the row does not agree with the directory");
	group->reader.times = ZbxhistTimesSource(state->times);
	for (int i = 0; i < group->reader.nsegments; i++)
		VerifySegment(state, i);
	state->nrows += group->nrows;
}

/*
 * LoseBlock notes a block that cannot be read.
 */
static void
LoseBlock(VerifyState *state, BlockNumber number, const char *error)
{
	MemoryContext old = MemoryContextSwitchTo(state->outer_context);
	LostBlock  *block = palloc(sizeof(LostBlock));

	block->number = number;
	block->error = pstrdup(error);
	state->blocks = lappend(state->blocks, block);
	MemoryContextSwitchTo(old);
	AddProblem(state, 0, 0, psprintf("page %u: %s", number, error));
}

/*
 * VerifyBlock looks at the groups in a block.
 */
static void
VerifyBlock(VerifyState *state, BlockNumber block)
{
	List	   *groups;
	char	   *error;
	ListCell   *lc;

	if (!ZbxhistReadDayBlock(state->day, state->snapshot, block, &groups,
							 &error))
		LoseBlock(state, block, error);
	foreach(lc, groups)
		VerifyGroup(state, lfirst(lc));
}

/* ---- the groups together ---- */

/*
 * VerifyPlaces looks whether each group begins after the one before has ended.
 */
static void
VerifyPlaces(VerifyState *state)
{
	qsort(state->places, state->nplaces, sizeof(DayGroup), ZbxhistCompareGroups);
	for (int i = 1; i < state->nplaces; i++)
	{
		const DayGroup *last = &state->places[i - 1];

		state->group = state->places[i];
		if (compare_places(state->group.first_itemid, state->group.first_clock,
						   last->last_itemid, last->last_clock) <= 0)
			AddGroupProblem(state, "overlaps the group before");
	}
}

/*
 * VerifyIndex looks whether the index leads to the groups, which are sorted,
 * in their order.
 */
static void
VerifyIndex(void *arg)
{
	VerifyState *state = arg;
	DayScan    *scan = ZbxhistBeginDayScan(state->day, state->layout,
										   state->snapshot);
	DayGroup	group;
	Datum		payload;
	int			n = 0;
	bool		is_same = true;

	ZbxhistDayScanPlaces(scan);
	while (ZbxhistDayScanNextPlace(scan, &group, &payload))
	{
		is_same &= n < state->nplaces &&
			ItemPointerEquals(&group.tid, &state->places[n].tid);
		n++;
	}
	ZbxhistEndDayScan(scan);
	if (n != state->nplaces)
		AddProblem(state, 0, 0,
				   psprintf("the index has %d of %d groups", n,
							state->nplaces));
	else if (!is_same)
		AddProblem(state, 0, 0, "the index has another order than the groups");
}

/*
 * VerifyInBatch looks whether a run is where its batch, of which the one before may
 * be another, has its items and its clocks.
 */
static void
VerifyInBatch(VerifyState *state, int64 batch, int64 before, int64 last_itemid)
{
	if (state->group.last_clock > batch_clock(batch))
		AddGroupProblem(state, "the run is newer than its batch");
	if (batch == before && state->group.first_itemid < last_itemid)
		AddGroupProblem(state, "overlaps the run before in its batch");
}

/*
 * VerifyIndexOfRuns looks whether runs are where an index has them, and returns how
 * many it leads to.
 */
static int
VerifyIndexOfRuns(VerifyState *state, Oid index, bool is_merged)
{
	RunIndexScan *scan = ZbxhistBeginRunIndexScan(state->day, index,
												  state->snapshot);
	TupleTableSlot *slot;
	int64		batch = NO_BATCH;
	int64		last_itemid = 0;
	int			n = 0;

	ZbxhistRunsSince(scan, PG_INT32_MIN);
	while ((slot = ZbxhistNextInRunIndex(scan)) != NULL)
	{
		int64		before = batch;

		CHECK_FOR_INTERRUPTS();
		n++;
		if (!ZbxhistReadBatch(state->day, slot, &state->group, &batch))
			continue;
		if (is_merged || batch != NO_BATCH)
			VerifyInBatch(state, batch, before, last_itemid);
		last_itemid = state->group.last_itemid;
	}
	ZbxhistEndRunIndexScan(scan);
	return n;
}

/*
 * VerifyRunIndexes looks whether the indexes of a table of runs lead to all of
 * them.
 */
static void
VerifyRunIndexes(void *arg)
{
	VerifyState *state = arg;
	RunIndexes	indexes;
	int			n;

	if (!ZbxhistRunIndexes(state->day, &indexes))
	{
		AddProblem(state, 0, 0, "the indexes: those on (last_clock) and (batch, last_itemid, first_itemid) are not there, or others are");
		return;
	}
	n = VerifyIndexOfRuns(state, indexes.stored, false) +
		VerifyIndexOfRuns(state, indexes.merged, true);
	if (n != state->nplaces)
		AddProblem(state, 0, 0, psprintf("the indexes have %d of %d runs", n,
										 state->nplaces));
}

/*
 * VerifyKeys looks whether a key is in two runs.
 */
static void
VerifyKeys(void *arg)
{
	VerifyState *state = arg;
	DayScan    *scan = ZbxhistBeginDayScan(state->day, state->layout,
										   state->snapshot);
	DayGroup	group;

	ZbxhistDayScanAll(scan);
	while (ZbxhistDayScanNext(scan, &group))
	{
		for (int i = 0; i < group.reader.nsegments; i++)
		{
			const SegmentRows *rows = &group.reader.decoded[i];

			for (int row = 1; row < rows->nrows; row++)
			{
				if (ZbxhistRowPosition(state->layout, rows, row - 1) ==
					ZbxhistRowPosition(state->layout, rows, row))
					AddProblem(state, rows->itemid,
							   (int32) rows->columns[0].ints[row],
							   "two values have the same key");
			}
		}
	}
	ZbxhistEndDayScan(scan);
}

/*
 * VerifyRuns looks at all runs together; the index of pages that cannot be read
 * leads in vain.
 */
static void
VerifyRuns(VerifyState *state)
{
	char	   *error;

	if (state->blocks == NIL &&
		!ZbxhistTry(VerifyRunIndexes, state, ZbxhistIsDamage, &error))
		AddProblem(state, 0, 0, psprintf("the index: %s", error));
	/* what cannot be read has been told then */
	(void) ZbxhistTry(VerifyKeys, state, ZbxhistIsDamage, &error);
}

/*
 * VerifyLost tells to which groups the index leads in vain; returns false if it
 * is damaged itself.
 */
static bool
VerifyLost(VerifyState *state)
{
	List	   *groups;
	char	   *error;
	ListCell   *lc;

	if (!ZbxhistFindLostGroups(state->day, state->blocks, &groups, &error))
	{
		AddProblem(state, 0, 0, psprintf("the index: %s", error));
		return false;
	}
	foreach(lc, groups)
	{
		const LostGroup *group = lfirst(lc);
		bool		is_times = ZbxhistIsPlaceOfTimes(group->itemid,
													 group->clock);

		AddProblem(state, is_times ? 0 : group->itemid,
				   is_times ? 0 : group->clock,
				   psprintf(ZbxhistFindLostBlock(state->blocks, group->block) ?
							"%s in page %u, which cannot be read" :
							"%s in page %u, which does not have it",
							is_times ? "shared times" : "group", group->block));
	}
	return true;
}

/* ---- the function ---- */

/*
 * VerifyBlocks looks at all groups.
 */
static void
VerifyBlocks(VerifyState *state)
{
	BlockNumber nblocks = RelationGetNumberOfBlocks(state->day);
	char	   *error;

	for (BlockNumber block = 0; block < nblocks; block++)
	{
		MemoryContext old = MemoryContextSwitchTo(state->block_context);

		CHECK_FOR_INTERRUPTS();
		note_day_progress(RelationGetRelid(state->day), DAY_JOB_VERIFY, block,
						  nblocks, state->nrows);
		VerifyBlock(state, block);
		MemoryContextSwitchTo(old);
		MemoryContextReset(state->block_context);
	}
	if (state->layout->has_runs)
	{
		VerifyRuns(state);
		return;
	}
	VerifyPlaces(state);
	/* what a page lacks has been told then */
	if (VerifyLost(state) && state->blocks == NIL &&
		!ZbxhistTry(VerifyIndex, state, ZbxhistIsDamage, &error))
		AddProblem(state, 0, 0, psprintf("the index: %s", error));
}

/*
 * OpenState opens the day and prepares for a look at it.
 */
static void
OpenState(VerifyState *state, Oid day)
{
	PackedDay	entry;

	state->day = ZbxhistOpenOwnedTable(day, AccessShareLock);
	state->layout = ZbxhistDayLayout(state->day);
	for (int i = 0; i < state->layout->npacked; i++)
		ZbxhistRequireKnown(state->day, state->layout->packed[i]);
	state->snapshot = GetActiveSnapshot();
	state->from_clock = ZBXHIST_CLOCK_MIN;
	state->to_clock = ZBXHIST_CLOCK_END;
	if (ZbxhistReadPackedDay(day, NULL, &entry))
	{
		state->from_clock = entry.from_clock;
		state->to_clock = entry.to_clock;
	}
	state->times = ZbxhistBeginCarefulTimes(state->day, state->snapshot);
	state->archive = ZbxhistBeginArchiveReader(NULL, NULL);
	state->outer_context = CurrentMemoryContext;
	state->max_places = 1024;
	state->places = palloc(sizeof(DayGroup) * state->max_places);
	state->block_context = AllocSetContextCreate(CurrentMemoryContext,
												 "zbxhist verified page",
												 ALLOCSET_DEFAULT_SIZES);
	state->context = AllocSetContextCreate(CurrentMemoryContext,
										   "zbxhist verified segment",
										   ALLOCSET_DEFAULT_SIZES);
}

/*
 * zbxhist_verify_day(day) returns item, first clock and problem of what is
 * damaged in a packed day.
 */
Datum
zbxhist_verify_day(PG_FUNCTION_ARGS)
{
	VerifyState *state = palloc0(sizeof(VerifyState));

	InitMaterializedSRF(fcinfo, 0);
	state->rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	OpenState(state, PG_GETARG_OID(0));
	VerifyBlocks(state);
	pgstat_progress_end_command();
	/* of hundreds in one statement */
	table_close(state->day, AccessShareLock);
	return (Datum) 0;
}
