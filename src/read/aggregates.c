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

#include "read/accumulator.h"
#include "read/arguments.h"
#include "read/row_set.h"

PG_FUNCTION_INFO_V1(zbxhist_statistics);
PG_FUNCTION_INFO_V1(zbxhist_statistics_time);
PG_FUNCTION_INFO_V1(zbxhist_buckets);
PG_FUNCTION_INFO_V1(zbxhist_buckets_time);

/* so that the last bucket's number is exact in numeric, too */
#define MAX_BUCKETS 1000000

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
	while (ZbxhistNextRow(&set))
	{
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

/*
 * PutBucket adds a bucket to the result, if it has values, and empties it.
 */
static void
PutBucket(ReturnSetInfo *rsinfo, Accumulator *acc, int32 bucket, int32 clock)
{
	Datum		values[6];
	bool		nulls[6] = {false};

	if (acc->rows == 0)
		return;
	values[0] = Int32GetDatum(bucket);
	values[1] = Int64GetDatum(acc->count);
	values[2] = ZbxhistAccumulatedAverage(acc);
	values[3] = ZbxhistAccumulatedMin(acc);
	values[4] = ZbxhistAccumulatedMax(acc);
	values[5] = Int32GetDatum(clock);
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	ZbxhistResetAccumulator(acc);
}

/*
 * ReturnBuckets returns a row for each bucket that has values, in order.  As
 * in the frontend's query, both clocks are included.
 */
static Datum
ReturnBuckets(FunctionCallInfo fcinfo, int32 from_clock, int32 to_clock)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	int32		nbuckets = PG_GETARG_INT32(4);
	ItemRange	range;
	ValueColumns columns;
	Accumulator acc;
	RowSet		set;
	int32		bucket = 0;
	int32		last_clock = 0;

	if (nbuckets < 1 || nbuckets > MAX_BUCKETS)
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
	ZbxhistInitAccumulator(&acc, &columns, false);
	while (ZbxhistNextRow(&set))
	{
		int32		clock = position_clock(ZbxhistReadPosition(set.reader));
		int32		next = GetBucket(clock, from_clock, to_clock, nbuckets);

		if (next != bucket)
			PutBucket(rsinfo, &acc, bucket, last_clock);
		bucket = next;
		last_clock = clock;
		ZbxhistAccumulate(&acc, ZbxhistReadSlot(set.reader));
	}
	PutBucket(rsinfo, &acc, bucket, last_clock);
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
