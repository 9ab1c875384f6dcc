/*-------------------------------------------------------------------------
 *
 * verify.c
 *	  Looks through a packed day for damage.
 *
 * Every group is read: its place among the others, its directory, and of each
 * segment the checksum, the rows and the statistics.  One that cannot be
 * opened does not keep the others from being looked at; what is stored out of
 * line is fetched in a subtransaction, since that may fail.
 *
 * Locks: ACCESS SHARE on the day's table until the transaction ends.  Memory:
 * one group, and the problems.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/resowner.h"
#include "utils/snapmgr.h"
#include "utils/tuplestore.h"

#include "catalog/owned_table.h"
#include "compat.h"
#include "packed/day.h"

PG_FUNCTION_INFO_V1(zbxhist_verify_day);

typedef struct VerifyState
{
	Relation	day;
	DayLayout  *layout;
	ReturnSetInfo *rsinfo;		/* gets the problems */
	DayGroup	group;
	bool		has_last;		/* a group before it */
	int64		last_itemid;	/* where that ended */
	int32		last_clock;
	int64		ngroups;
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
 * SameStats says whether two statistics are the same.
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
			SameDouble(a->sum_double, b->sum_double);
	return a->min_unsigned == b->min_unsigned &&
		a->max_unsigned == b->max_unsigned &&
		a->sum_high == b->sum_high && a->sum_low == b->sum_low;
}

/*
 * HasRightClocks says whether the clocks of a segment are sorted, and begin
 * and end as its directory says.
 */
static bool
HasRightClocks(const SegmentInfo *info, const SegmentRows *rows)
{
	const int64 *clocks = rows->columns[0].ints;

	for (int i = 1; i < rows->nrows; i++)
	{
		if (clocks[i - 1] > clocks[i])
			return false;
	}
	return rows->nrows > 0 && clocks[0] == info->first_clock &&
		clocks[rows->nrows - 1] == info->last_clock;
}

/*
 * WhatIsWrong returns what is wrong with the values of a segment, or NULL.
 */
static const char *
WhatIsWrong(const VerifyState *state, int segment)
{
	const GroupReader *reader = &state->group.reader;
	const SegmentInfo *info = &reader->segments[segment];
	int			stats_column = ZbxhistStatsColumn(state->layout);
	SegmentRows rows;
	SegmentStats stats;
	SegmentStats stored;

	if (!ZbxhistCheckSegment(reader, segment))
		return "wrong checksum";
	if (!ZbxhistDecodeSegment(reader, segment, NULL, &rows) ||
		rows.ncolumns != state->layout->npacked)
		return "values cannot be decoded";
	for (int i = 0; i < rows.ncolumns; i++)
	{
		if (!packed_kind_is_right(state->layout->packed[i], &rows.columns[i]))
			return psprintf("values of column \"%s\" have another type",
							NameStr(state->layout->packed[i]->name));
	}
	if (!HasRightClocks(info, &rows))
		return "clocks are not in order";
	if (stats_column < 0)
		return NULL;
	memset(&stats, 0, sizeof(stats));
	ZbxhistComputeStats(&rows.columns[stats_column], 0, rows.nrows, &stats);
	return ZbxhistReadStats(reader, segment, &stored) &&
		SameStats(&stats, &stored) ? NULL : "wrong statistics";
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
				   psprintf("segment to clock %d: %s",
							(int) info->last_clock, problem));
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
 * FetchPayload detoasts the bytes of a group; returns NULL and adds the
 * problem if that fails.
 */
static struct varlena *
FetchPayload(VerifyState *state, Datum payload)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	struct varlena *volatile result = NULL;

	if (!VARATT_IS_EXTERNAL(DatumGetPointer(payload)) &&
		!VARATT_IS_COMPRESSED(DatumGetPointer(payload)))
		return (struct varlena *) DatumGetPointer(payload);

	BeginInternalSubTransaction(NULL);
	PG_TRY();
	{
		MemoryContextSwitchTo(context);
		result = PG_DETOAST_DATUM(payload);
		ReleaseCurrentSubTransaction();
	}
	PG_CATCH();
	{
		ErrorData  *error;

		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
		CurrentResourceOwner = owner;
		if (error->sqlerrcode != ERRCODE_DATA_CORRUPTED &&
			error->sqlerrcode != ERRCODE_INTERNAL_ERROR)
			ReThrowError(error);
		AddGroupProblem(state, error->message);
	}
	PG_END_TRY();
	MemoryContextSwitchTo(context);
	CurrentResourceOwner = owner;
	return result;
}

/*
 * VerifyPlace looks whether the group begins after the one before ended.
 */
static void
VerifyPlace(VerifyState *state)
{
	const DayGroup *group = &state->group;

	if (state->has_last &&
		(group->first_itemid < state->last_itemid ||
		 (group->first_itemid == state->last_itemid &&
		  group->first_clock <= state->last_clock)))
		AddGroupProblem(state, "overlaps the group before");
	state->has_last = true;
	state->last_itemid = group->last_itemid;
	state->last_clock = group->last_clock;
}

/*
 * VerifyGroup looks at a group.
 */
static void
VerifyGroup(VerifyState *state, Datum stored)
{
	DayGroup   *group = &state->group;
	struct varlena *payload = FetchPayload(state, stored);
	int64		nrows = 0;

	state->ngroups++;
	VerifyPlace(state);
	if (payload == NULL)
		return;
	if (!ZbxhistOpenGroup(&group->reader, (uint8 *) VARDATA_ANY(payload),
						  VARSIZE_ANY_EXHDR(payload),
						  state->layout->npacked))
	{
		AddGroupProblem(state, "damaged directory");
		return;
	}
	for (int i = 0; i < group->reader.nsegments; i++)
		nrows += group->reader.segments[i].nrows;
	if (!ZbxhistGroupHasRightPlace(group) || nrows != group->nrows)
		AddGroupProblem(state, "the row does not agree with the directory");
	for (int i = 0; i < group->reader.nsegments; i++)
		VerifySegment(state, i);
}

/* ---- the function ---- */

/*
 * CountGroups returns how many groups the table itself has.
 */
static int64
CountGroups(VerifyState *state, Snapshot snapshot)
{
	TableScanDesc scan = table_beginscan(state->day, snapshot, 0, NULL);
	TupleTableSlot *slot = table_slot_create(state->day, NULL);
	int64		result = 0;

	while (table_scan_getnextslot(scan, ForwardScanDirection, slot))
	{
		CHECK_FOR_INTERRUPTS();
		result++;
	}
	ExecDropSingleTupleTableSlot(slot);
	table_endscan(scan);
	return result;
}

/*
 * VerifyGroups looks at all groups.
 */
static void
VerifyGroups(VerifyState *state)
{
	Snapshot	snapshot = GetActiveSnapshot();
	DayScan    *scan = ZbxhistBeginDayScan(state->day, state->layout, snapshot);
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "zbxhist verified group",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	Datum		payload;
	int64		ngroups;

	ZbxhistDayScanPlaces(scan);
	while (ZbxhistDayScanNextPlace(scan, &state->group, &payload))
	{
		VerifyGroup(state, payload);
		MemoryContextReset(context);
	}
	ngroups = CountGroups(state, snapshot);
	if (ngroups != state->ngroups)
		AddProblem(state, 0, 0,
				   psprintf("the index has " INT64_FORMAT " of " INT64_FORMAT " groups",
							state->ngroups, ngroups));
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
	ZbxhistEndDayScan(scan);
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
	state->day = ZbxhistOpenOwnedTable(PG_GETARG_OID(0), AccessShareLock);
	state->layout = ZbxhistDayLayout(state->day);
	state->context = AllocSetContextCreate(CurrentMemoryContext,
										   "zbxhist verified segment",
										   ALLOCSET_DEFAULT_SIZES);
	VerifyGroups(state);
	table_close(state->day, NoLock);
	return (Datum) 0;
}
