/*-------------------------------------------------------------------------
 *
 * verify.c
 *	  Checks a packed day for damage.
 *
 * Every group is checked: its place among the others, its directory, and in each
 * segment the checksum, the values and the statistics.  What cannot be read is
 * reported, and the rest is still checked (day_damage.c).  In the end the index must
 * lead to exactly the groups that were read.
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
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/tuplestore.h"

#include "format/row_compare.h"
#include "packed/day_damage.h"
#include "tables/attempt.h"
#include "tables/bounds.h"
#include "tables/owned_table.h"
#include "tables/packed_days.h"

PG_FUNCTION_INFO_V1(zbxhist_verify_day);

typedef struct VerifyState
{
	DayLook		look;
	int64		from_clock;		/* the day's clocks; all clocks if they are
								 * not known */
	int64		to_clock;
	ReturnSetInfo *rsinfo;		/* gets the problems */
	DayGroup	group;			/* the group being verified */
	int64		nrows;			/* rows of the groups verified so far */
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
 * WhatIsWrong returns what is wrong with the values of a segment, or NULL.
 */
static const char *
WhatIsWrong(const VerifyState *state, int segment)
{
	const DayLayout *layout = state->look.layout;
	const GroupReader *reader = &state->group.reader;
	const SegmentInfo *info = &reader->segments[segment];
	int			stats_column = ZbxhistStatsColumn(layout);
	SegmentRows rows;
	SegmentStats stats;
	SegmentStats stored;
	const char *problem = ZbxhistWhyNotDecoded(layout, reader, segment, &rows);

	if (problem != NULL)
		return problem;
	for (int i = 1; i < rows.ncolumns; i++)
	{
		if (ZbxhistFindWrong(layout->packed[i], &rows, 0) < rows.nrows)
			return psprintf("column \"%s\" has bytes that are no value of its type",
							NameStr(layout->packed[i]->name));
	}
	for (int i = 1; i < rows.nrows; i++)
	{
		if (ZbxhistRowPosition(layout, &rows, i - 1) >
			ZbxhistRowPosition(layout, &rows, i))
			return "clocks are not in order";
	}
	if (info->first_clock < state->from_clock ||
		info->last_clock >= state->to_clock)
		return "clocks are not of this day";

	if (stats_column < 0)
		return NULL;
	ZbxhistComputeStats(&rows.columns[stats_column], 0, rows.nrows, &stats);
	if (!ZbxhistReadStats(reader, segment, &stored))
		return "wrong statistics";
	/* they may lack the rest of the sum */
	if (!stored.has_rest)
	{
		stats.has_rest = false;
		stats.rest_double = 0;
	}
	/* all that is not set is zero */
	return memcmp(&stats, &stored, sizeof(SegmentStats)) == 0 ? NULL :
		"wrong statistics";
}

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
 * VerifyStored checks a row of the day's table.  The report of damaged shared times does
 * not name the items: their segments, which cannot be decoded, are reported, too.
 */
static void
VerifyStored(void *arg, StoredGroup *stored)
{
	VerifyState *state = arg;
	DayGroup   *group = &state->group;
	BlockNumber block = ItemPointerGetBlockNumber(&stored->group.tid);
	const char *problem;

	if (stored->lost != NULL)
	{
		AddProblem(state, 0, 0, psprintf("page %u: %s", block, stored->lost));
		return;
	}
	if (stored->has_place && !stored->is_times)
		ZbxhistKeepPlace(&state->look, &stored->group);
	problem = ZbxhistOpenStored(&state->look, stored);
	*group = stored->group;
	if (problem != NULL && stored->is_times)
		AddProblem(state, 0, 0, psprintf("shared times in page %u: %s", block,
										 problem));
	else if (problem != NULL)
		AddGroupProblem(state, problem);
	if (problem != NULL || stored->is_times)
		return;
	if (!ZbxhistGroupAgrees(group))
		AddGroupProblem(state, "the row does not agree with the directory");
	for (int i = 0; i < group->reader.nsegments; i++)
	{
		const SegmentInfo *info = &group->reader.segments[i];
		MemoryContext old = MemoryContextSwitchTo(state->look.segment_context);

		CHECK_FOR_INTERRUPTS();
		problem = WhatIsWrong(state, i);
		if (problem != NULL)
			AddProblem(state, info->itemid, info->first_clock,
					   psprintf("segment to clock %d, %u values: %s",
								(int) info->last_clock, info->nrows, problem));
		MemoryContextSwitchTo(old);
		MemoryContextReset(state->look.segment_context);
	}
	state->nrows += group->nrows;
}

/* ---- the groups together ---- */

/*
 * VerifyPlaces checks that each group begins after the end of the one before.
 */
static void
VerifyPlaces(VerifyState *state)
{
	ZbxhistSortPlaces(&state->look);
	for (int i = 1; i < state->look.nplaces; i++)
	{
		const DayGroup *last = &state->look.places[i - 1];

		state->group = state->look.places[i];
		if (compare_places(state->group.first_itemid, state->group.first_clock,
						   last->last_itemid, last->last_clock) <= 0)
			AddGroupProblem(state, "overlaps the group before");
	}
}

/*
 * VerifyIndex checks that the index leads to the groups, which are sorted, in their
 * order.
 */
static void
VerifyIndex(void *arg)
{
	VerifyState *state = arg;
	DayScan    *scan = ZbxhistBeginDayScan(state->look.day, state->look.layout,
										   state->look.snapshot);
	DayGroup	group;
	Datum		payload;
	int			n = 0;
	bool		is_same = true;

	ZbxhistDayScanPlaces(scan);
	while (ZbxhistDayScanNextPlace(scan, &group, &payload))
	{
		is_same &= n < state->look.nplaces &&
			ItemPointerEquals(&group.tid, &state->look.places[n].tid);
		n++;
	}
	ZbxhistEndDayScan(scan);
	if (n != state->look.nplaces)
		AddProblem(state, 0, 0,
				   psprintf("the index has %d of %d groups", n,
							state->look.nplaces));
	else if (!is_same)
		AddProblem(state, 0, 0, "the index has another order than the groups");
}

/*
 * VerifyLost reports index entries without a group; returns false if the index itself
 * is damaged.
 */
static bool
VerifyLost(VerifyState *state)
{
	List	   *groups;
	char	   *error;
	ListCell   *lc;

	if (!ZbxhistFindLostGroups(&state->look, &groups, &error))
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
				   psprintf(ZbxhistFindLostBlock(&state->look, group->block) ?
							"%s in page %u, which cannot be read" :
							"%s in page %u, which does not have it",
							is_times ? "shared times" : "group", group->block));
	}
	return true;
}

/* ---- the function ---- */

/*
 * zbxhist_verify_day(day) returns item, first clock and problem of what is
 * damaged in a packed day.
 */
Datum
zbxhist_verify_day(PG_FUNCTION_ARGS)
{
	VerifyState *state = palloc0(sizeof(VerifyState));
	Relation	day;
	PackedDay	entry;
	char	   *error;

	InitMaterializedSRF(fcinfo, 0);
	state->rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	day = ZbxhistOpenOwnedTable(PG_GETARG_OID(0), AccessShareLock);
	ZbxhistBeginDayLook(&state->look, day, ZbxhistDayLayout(day),
						GetActiveSnapshot());
	state->from_clock = ZBXHIST_CLOCK_MIN;
	state->to_clock = ZBXHIST_CLOCK_END;
	if (ZbxhistReadPackedDay(RelationGetRelid(day), NULL, &entry))
	{
		state->from_clock = entry.from_clock;
		state->to_clock = entry.to_clock;
	}

	ZbxhistLookThrough(&state->look, DAY_JOB_VERIFY, &state->nrows,
					   VerifyStored, state);
	VerifyPlaces(state);
	/* losses of damaged pages have been reported by then */
	if (VerifyLost(state) && state->look.blocks == NIL &&
		!ZbxhistTry(VerifyIndex, state, ZbxhistIsDamage, &error))
		AddProblem(state, 0, 0, psprintf("the index: %s", error));
	pgstat_progress_end_command();
	/* a statement may verify hundreds of days */
	table_close(day, AccessShareLock);
	return (Datum) 0;
}
