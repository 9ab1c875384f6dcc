/*-------------------------------------------------------------------------
 *
 * aggregates.c
 *	  SQL functions statistics and buckets: numbers about an item's values.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "funcapi.h"
#include "utils/timestamp.h"
#include "utils/tuplestore.h"

#include "packed/format/segment.h"
#include "read/accumulator.h"
#include "read/arguments.h"
#include "read/row_set.h"

PG_FUNCTION_INFO_V1(zbxhist_statistics);
PG_FUNCTION_INFO_V1(zbxhist_statistics_time);
PG_FUNCTION_INFO_V1(zbxhist_buckets);
PG_FUNCTION_INFO_V1(zbxhist_buckets_time);

/* so that the last bucket's number is exact in numeric, too */
#define MAX_BUCKETS 1000000

/* ---- segments ---- */

/*
 * AddSegments adds the packed segments that come next, as long as their
 * statistics will do.  Sets the first clock, unless there have been rows, and
 * the last one.
 */
static void
AddSegments(ItemReader *reader, Accumulator *acc, int32 *first_clock,
			int32 *last_clock)
{
	const SegmentInfo *segment;
	SegmentStats stats;

	while ((segment = ZbxhistPeekSegment(reader, &stats)) != NULL)
	{
		bool		is_first = acc->rows == 0;

		if (!ZbxhistAccumulateSegment(acc, &stats))
			return;
		if (is_first)
			*first_clock = segment->first_clock;
		*last_clock = segment->last_clock;
		ZbxhistSkipSegment(reader);
	}
}

/* ---- statistics ---- */

/*
 * ReturnStatistics returns the one row for a range.
 */
static Datum
ReturnStatistics(FunctionCallInfo fcinfo, const ItemRange *range)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	Datum		values[8];
	bool		nulls[8] = {false, true, true, true, true, true, true, true};
	ValueColumns columns;
	Accumulator acc;
	RowSet		set;
	int32		first_clock = 0;
	int32		last_clock = 0;

	InitMaterializedSRF(fcinfo, 0);
	ZbxhistOpenRowSet(&set, PG_GETARG_OID(0), range, 1, PG_UINT64_MAX);
	ZbxhistFindValueColumns(set.parent, &columns);
	ZbxhistInitAccumulator(&acc, &columns, true);
	(void) ZbxhistNextRange(&set);
	for (;;)
	{
		AddSegments(set.reader, &acc, &first_clock, &last_clock);
		if (!ZbxhistNextRow(&set))
			break;
		last_clock = position_clock(ZbxhistReadPosition(set.reader));
		if (acc.rows == 0)
			first_clock = last_clock;
		ZbxhistAccumulate(&acc, ZbxhistReadSlot(set.reader));
	}
	ZbxhistCloseRowSet(&set);

	values[0] = Int64GetDatum(acc.count);
	if (acc.rows > 0)
	{
		memset(nulls, 0, sizeof(nulls));
		values[1] = ZbxhistAccumulatedMin(&acc);
		values[2] = ZbxhistAccumulatedMax(&acc);
		values[3] = ZbxhistAccumulatedSum(&acc);
		values[4] = ZbxhistAccumulatedAverage(&acc);
		values[5] = ZbxhistAccumulatedDelta(&acc);
		values[6] = Int32GetDatum(first_clock);
		values[7] = Int32GetDatum(last_clock);
	}
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	return (Datum) 0;
}

/*
 * zbxhist_statistics(parent, itemid, from_clock, to_clock) returns count,
 * min, max, sum, avg, delta, first_clock and last_clock of an item's values
 * from one clock, included, to another, excluded.
 */
Datum
zbxhist_statistics(PG_FUNCTION_ARGS)
{
	ItemRange	range;

	ZbxhistWholeItem(&range, PG_GETARG_INT64(1));
	ZbxhistStartAt(&range, make_position(PG_GETARG_INT32(2), PG_INT32_MIN));
	ZbxhistEndBefore(&range, make_position(PG_GETARG_INT32(3), PG_INT32_MIN));
	return ReturnStatistics(fcinfo, &range);
}

/*
 * zbxhist_statistics_time(parent, itemid, from_time, to_time) does the same
 * for times.
 */
Datum
zbxhist_statistics_time(PG_FUNCTION_ARGS)
{
	ItemRange	range;

	ZbxhistWholeItem(&range, PG_GETARG_INT64(1));
	ZbxhistLimitByTimes(&range, PG_GETARG_TIMESTAMPTZ(2),
						PG_GETARG_TIMESTAMPTZ(3));
	return ReturnStatistics(fcinfo, &range);
}

/* ---- buckets ---- */

/*
 * GetBucket returns round(buckets * (clock - from) / (to - from)), halves
 * rounded up, which is what the frontend has PostgreSQL compute in numeric.
 */
static int32
GetBucket(int32 clock, int32 from_clock, int32 to_clock, int32 nbuckets)
{
	int64		period = (int64) to_clock - from_clock;
	int64		passed = (int64) clock - from_clock;

	if (period == 0)
		return 0;
	return (int32) ((2 * nbuckets * passed + period) / (2 * period));
}

/* buckets being filled, one after the other */
typedef struct Buckets
{
	ReturnSetInfo *rsinfo;
	int32		from_clock;
	int32		to_clock;
	int32		nbuckets;
	Accumulator acc;
	int32		bucket;
	int32		last_clock;		/* of what is in it */
} Buckets;

/*
 * PutBucket adds the bucket to the result, if it has values, and empties it.
 */
static void
PutBucket(Buckets *buckets)
{
	Accumulator *acc = &buckets->acc;
	ReturnSetInfo *rsinfo = buckets->rsinfo;
	Datum		values[6];
	bool		nulls[6] = {false};

	if (acc->rows == 0)
		return;
	values[0] = Int32GetDatum(buckets->bucket);
	values[1] = Int64GetDatum(acc->count);
	values[2] = ZbxhistAccumulatedAverage(acc);
	values[3] = ZbxhistAccumulatedMin(acc);
	values[4] = ZbxhistAccumulatedMax(acc);
	values[5] = Int32GetDatum(buckets->last_clock);
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	ZbxhistResetAccumulator(acc);
}

/*
 * EnterBucket goes to the bucket of a clock.
 */
static void
EnterBucket(Buckets *buckets, int32 clock)
{
	int32		bucket = GetBucket(clock, buckets->from_clock,
								   buckets->to_clock, buckets->nbuckets);

	if (bucket != buckets->bucket)
		PutBucket(buckets);
	buckets->bucket = bucket;
}

/*
 * FillBySegments adds the packed segments that come next, as long as each is
 * in one bucket and its statistics will do.
 */
static void
FillBySegments(Buckets *buckets, ItemReader *reader)
{
	const SegmentInfo *segment;
	SegmentStats stats;

	while ((segment = ZbxhistPeekSegment(reader, &stats)) != NULL)
	{
		EnterBucket(buckets, segment->first_clock);
		if (GetBucket(segment->last_clock, buckets->from_clock,
					  buckets->to_clock,
					  buckets->nbuckets) != buckets->bucket ||
			!ZbxhistAccumulateSegment(&buckets->acc, &stats))
			return;
		buckets->last_clock = segment->last_clock;
		ZbxhistSkipSegment(reader);
	}
}

/*
 * FillBuckets adds all rows to their buckets.
 */
static void
FillBuckets(Buckets *buckets, RowSet *set)
{
	(void) ZbxhistNextRange(set);
	for (;;)
	{
		int32		clock;

		FillBySegments(buckets, set->reader);
		if (!ZbxhistNextRow(set))
			break;
		clock = position_clock(ZbxhistReadPosition(set->reader));
		EnterBucket(buckets, clock);
		buckets->last_clock = clock;
		ZbxhistAccumulate(&buckets->acc, ZbxhistReadSlot(set->reader));
	}
	PutBucket(buckets);
}

/*
 * ReturnBuckets returns a row for each bucket that has values, in order.  As
 * in the frontend's query, both clocks are included.
 */
static Datum
ReturnBuckets(FunctionCallInfo fcinfo, int32 from_clock, int32 to_clock)
{
	Buckets		buckets = {0};
	ItemRange	range;
	ValueColumns columns;
	RowSet		set;

	buckets.rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	buckets.from_clock = from_clock;
	buckets.to_clock = to_clock;
	buckets.nbuckets = PG_GETARG_INT32(4);
	if (buckets.nbuckets < 1 || buckets.nbuckets > MAX_BUCKETS)
		ereport(ERROR,
				errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("argument \"%s\" must be between %d and %d", "buckets",
					   1, MAX_BUCKETS));
	InitMaterializedSRF(fcinfo, 0);
	ZbxhistWholeItem(&range, PG_GETARG_INT64(1));
	ZbxhistStartAt(&range, make_position(from_clock, PG_INT32_MIN));
	ZbxhistEndAt(&range, make_position(to_clock, PG_INT32_MAX));
	ZbxhistOpenRowSet(&set, PG_GETARG_OID(0), &range, 1, PG_UINT64_MAX);
	ZbxhistFindValueColumns(set.parent, &columns);
	ZbxhistInitAccumulator(&buckets.acc, &columns, false);
	FillBuckets(&buckets, &set);
	ZbxhistCloseRowSet(&set);
	return (Datum) 0;
}

/*
 * zbxhist_buckets(parent, itemid, from_clock, to_clock, buckets) returns
 * bucket, count, avg, min, max and the last clock of each bucket.
 */
Datum
zbxhist_buckets(PG_FUNCTION_ARGS)
{
	return ReturnBuckets(fcinfo, PG_GETARG_INT32(2), PG_GETARG_INT32(3));
}

/*
 * zbxhist_buckets_time(parent, itemid, from_time, to_time, buckets) does the
 * same for times, which count in whole seconds.
 */
Datum
zbxhist_buckets_time(PG_FUNCTION_ARGS)
{
	int64		from;
	int64		to;

	(void) ZbxhistTimePosition(PG_GETARG_TIMESTAMPTZ(2), &from);
	(void) ZbxhistTimePosition(PG_GETARG_TIMESTAMPTZ(3), &to);
	return ReturnBuckets(fcinfo, position_clock(from), position_clock(to));
}
