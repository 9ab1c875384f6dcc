/*-------------------------------------------------------------------------
 *
 * aggregates.c
 *	  SQL functions statistics and buckets: aggregates of an item's values.
 *
 * Values are added up as aggregates over packed days do it (total.c).  Results are of
 * type numeric for both kinds of tables: exact for numeric columns, and for double
 * precision the shortest decimal that converts back to the very same double.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "common/shortest_dec.h"
#include "fmgr.h"
#include "funcapi.h"
#include "utils/float.h"
#include "utils/fmgrprotos.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/tuplestore.h"

#include "format/segment.h"
#include "read/row_set.h"
#include "read/total.h"
#include "tables/columns.h"

PG_FUNCTION_INFO_V1(zbxhist_statistics);
PG_FUNCTION_INFO_V1(zbxhist_buckets);

/* so that the last bucket's number is exact in numeric, too */
#define MAX_BUCKETS 1000000

/* the columns of a trend, or the first alone, the value of history */
enum
{
	COLUMN_VALUE,				/* of a trend the average */
	COLUMN_MIN,
	COLUMN_MAX,
	NUM_COLUMNS
};

/* values being added up, of one bucket after the other or of the whole range */
typedef struct Bucket
{
	ReturnSetInfo *rsinfo;
	int32		from_clock;
	int32		to_clock;		/* from_clock: there is one bucket */
	int32		nbuckets;

	/* of the parent */
	AttrNumber	attnums[NUM_COLUMNS];
	int			ncolumns;
	AttrNumber	num;			/* values behind a trend; 0 for history */
	Oid			type;			/* of the values */
	TotalKind	kind;
	bool		is_weighted;	/* a trend counts as many times as it had
								 * values */

	/* in the bucket */
	int32		number;
	int64		nrows;
	int64		count;			/* of values, which for history is rows */
	Total		totals[NUM_COLUMNS];
	int32		first_clock;
	int32		last_clock;
	MemoryContext context;		/* owns numerics of totals */
	MemoryContext scratch;		/* for what numerics of a row allocate */
} Bucket;

/* ---- columns ---- */

/*
 * FindColumns finds the value's column, or those of a trend, and returns their
 * type; InvalidOid if there are none, or of different types.
 */
static Oid
FindColumns(Bucket *bucket, TupleDesc desc)
{
	static const char *const names[] = {"value_avg", "value_min", "value_max"};
	Oid			type = InvalidOid;

	bucket->attnums[COLUMN_VALUE] = ZbxhistFindColumn(desc, "value", InvalidOid);
	bucket->ncolumns = 1;
	if (bucket->attnums[COLUMN_VALUE] == InvalidAttrNumber)
	{
		bucket->num = ZbxhistFindColumn(desc, "num", INT4OID);
		if (bucket->num == InvalidAttrNumber)
			return InvalidOid;
		for (int i = 0; i < NUM_COLUMNS; i++)
			bucket->attnums[i] = ZbxhistFindColumn(desc, names[i], InvalidOid);
		bucket->ncolumns = NUM_COLUMNS;
	}
	for (int i = 0; i < bucket->ncolumns; i++)
	{
		Oid			found = bucket->attnums[i] == InvalidAttrNumber ? InvalidOid :
			TupleDescAttr(desc, bucket->attnums[i] - 1)->atttypid;

		if (i > 0 && found != type)
			return InvalidOid;
		type = found;
	}
	return type;
}

/*
 * BeginValues finds the columns of a history or trends table, raises 22023 if their
 * values are not numbers, and makes contexts below the current one.
 */
static void
BeginValues(Bucket *bucket, Relation parent)
{
	bucket->type = FindColumns(bucket, RelationGetDescr(parent));
	if (bucket->type != FLOAT8OID && bucket->type != NUMERICOID)
		ereport(ERROR,
				errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("values of table \"%s\" are not numeric",
					   RelationGetRelationName(parent)),
				errdetail("Columns of type double precision or numeric are needed: \"value\", or \"num\", \"value_min\", \"value_avg\" and \"value_max\"."),
				errtable(parent));
	bucket->is_weighted &= bucket->num != InvalidAttrNumber;
	bucket->kind = bucket->type == FLOAT8OID ? TOTAL_DOUBLE : TOTAL_NUMERIC;
	bucket->context = AllocSetContextCreate(CurrentMemoryContext,
											"zbxhist totals of a bucket",
											ALLOCSET_SMALL_SIZES);
	bucket->scratch = AllocSetContextCreate(CurrentMemoryContext,
											"zbxhist values of a row",
											ALLOCSET_SMALL_SIZES);
}

/* ---- adding ---- */

/*
 * Weigh returns a trend's average times the number of its values.
 */
static Datum
Weigh(const Bucket *bucket, Datum value, int32 num)
{
	if (bucket->kind == TOTAL_DOUBLE)
		return Float8GetDatum(float8_mul(DatumGetFloat8(value), (float8) num));
	return DirectFunctionCall2(numeric_mul, value,
							   NumericGetDatum(int64_to_numeric(num)));
}

/*
 * AddValues adds a row with the parent's columns.  As in aggregates, nulls do
 * not count.
 */
static void
AddValues(Bucket *bucket, TupleTableSlot *slot)
{
	Datum		values[NUM_COLUMNS];
	bool		isnull;
	int32		num = 1;
	MemoryContext old = NULL;

	for (int i = 0; i < bucket->ncolumns; i++)
	{
		values[i] = slot_getattr(slot, bucket->attnums[i], &isnull);
		if (isnull)
			return;
	}
	if (bucket->num != InvalidAttrNumber)
	{
		num = DatumGetInt32(slot_getattr(slot, bucket->num, &isnull));
		if (isnull)
			return;
	}

	if (bucket->kind == TOTAL_NUMERIC)
		old = MemoryContextSwitchTo(bucket->scratch);
	if (bucket->is_weighted)
		values[COLUMN_VALUE] = Weigh(bucket, values[COLUMN_VALUE], num);
	for (int i = 0; i < bucket->ncolumns; i++)
		ZbxhistTotalAdd(&bucket->totals[i], bucket->kind, values[i],
						bucket->type, bucket->context);
	if (bucket->kind == TOTAL_NUMERIC)
	{
		MemoryContextSwitchTo(old);
		MemoryContextReset(bucket->scratch);
	}
	bucket->nrows++;
	bucket->count += num;
}

/* ---- results, in the current context; there must have been a row ---- */

/*
 * GetTotal returns the least value, the greatest, the sum or the average of the
 * rows, in the type of the values.
 */
static Datum
GetTotal(const Bucket *bucket, TotalPart part)
{
	int			column = bucket->ncolumns == 1 ? COLUMN_VALUE :
		part == PART_MIN ? COLUMN_MIN :
		part == PART_MAX ? COLUMN_MAX : COLUMN_VALUE;
	bool		isnull;

	return ZbxhistTotalResult(&bucket->totals[column], bucket->kind, part,
							  bucket->type, &isnull);
}

/*
 * ToNumeric returns a total as a numeric; a double so that it converts back to
 * itself.
 */
static Datum
ToNumeric(const Bucket *bucket, Datum total)
{
	char		text[DOUBLE_SHORTEST_DECIMAL_LEN];

	if (bucket->kind != TOTAL_DOUBLE)
		return total;
	double_to_shortest_decimal_buf(DatumGetFloat8(total), text);
	return DirectFunctionCall3(numeric_in, CStringGetDatum(text),
							   ObjectIdGetDatum(InvalidOid),
							   Int32GetDatum(-1));
}

/*
 * GetAverage returns the average: of trends weighted by their numbers of values, of which
 * there must be some, else of the rows.
 */
static Datum
GetAverage(const Bucket *bucket)
{
	if (!bucket->is_weighted)
		return GetTotal(bucket, PART_AVG);
	if (bucket->kind == TOTAL_DOUBLE)
		return Float8GetDatum(DatumGetFloat8(GetTotal(bucket, PART_SUM)) /
							  (float8) bucket->count);
	return DirectFunctionCall2(numeric_div, GetTotal(bucket, PART_SUM),
							   NumericGetDatum(int64_to_numeric(bucket->count)));
}

/*
 * GetDelta returns the difference of the greatest and the least value.
 */
static Datum
GetDelta(const Bucket *bucket)
{
	Datum		min = GetTotal(bucket, PART_MIN);
	Datum		max = GetTotal(bucket, PART_MAX);

	if (bucket->kind == TOTAL_DOUBLE)
		return Float8GetDatum(float8_mi(DatumGetFloat8(max),
										DatumGetFloat8(min)));
	return DirectFunctionCall2(numeric_sub, max, min);
}

/* ---- buckets ---- */

/*
 * GetBucket returns round(buckets * (clock - from) / (to - from)), halves
 * rounded up, which is what the frontend has PostgreSQL compute in numeric.
 */
static int32
GetBucket(const Bucket *bucket, int32 clock)
{
	int64		period = (int64) bucket->to_clock - bucket->from_clock;
	int64		passed = (int64) clock - bucket->from_clock;

	if (period == 0)
		return 0;
	return (int32) ((2 * bucket->nbuckets * passed + period) / (2 * period));
}

/*
 * PutBucket adds the bucket to the result, if it has values, and empties it.
 */
static void
PutBucket(Bucket *bucket)
{
	Datum		values[6];
	bool		nulls[6] = {false};

	if (bucket->nrows == 0)
		return;
	values[0] = Int32GetDatum(bucket->number);
	values[1] = Int64GetDatum(bucket->count);
	values[2] = ToNumeric(bucket, GetAverage(bucket));
	values[3] = ToNumeric(bucket, GetTotal(bucket, PART_MIN));
	values[4] = ToNumeric(bucket, GetTotal(bucket, PART_MAX));
	values[5] = Int32GetDatum(bucket->last_clock);
	tuplestore_putvalues(bucket->rsinfo->setResult, bucket->rsinfo->setDesc,
						 values, nulls);
	bucket->nrows = 0;
	bucket->count = 0;
	memset(bucket->totals, 0, sizeof(bucket->totals));
	MemoryContextReset(bucket->context);
}

/*
 * EnterBucket goes to the bucket of a clock.
 */
static void
EnterBucket(Bucket *bucket, int32 clock)
{
	int32		number = GetBucket(bucket, clock);

	if (number != bucket->number)
		PutBucket(bucket);
	bucket->number = number;
}

/*
 * AddBucketSegments adds the packed segments that come next, as long as each
 * is in one bucket and its statistics will do.
 */
static void
AddBucketSegments(Bucket *bucket, ItemReader *reader)
{
	const SegmentInfo *segment;
	SegmentStats stats;

	while ((segment = ZbxhistPeekSegment(reader, &stats)) != NULL)
	{
		int32		first_clock = segment->first_clock;
		int32		last_clock = segment->last_clock;

		EnterBucket(bucket, first_clock);
		if (GetBucket(bucket, last_clock) != bucket->number ||
			bucket->num != InvalidAttrNumber ||
			!ZbxhistTotalAddStats(&bucket->totals[COLUMN_VALUE], bucket->kind,
								  true, &stats, bucket->context))
			return;
		if (bucket->nrows == 0)
			bucket->first_clock = first_clock;
		bucket->last_clock = last_clock;
		bucket->nrows += stats.count;
		bucket->count += stats.count;
		ZbxhistSkipSegment(reader);
	}
}

/*
 * AddItemRange adds the values in a range of an item; afterwards all buckets but the last
 * are in the result.
 */
static void
AddItemRange(Bucket *bucket, FunctionCallInfo fcinfo, const ItemRange *range)
{
	RowSet		set;

	InitMaterializedSRF(fcinfo, 0);
	bucket->rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	ZbxhistOpenRowSet(&set, PG_GETARG_OID(0), range, 1, PG_UINT64_MAX);
	BeginValues(bucket, set.parent);
	(void) ZbxhistNextRange(&set);
	for (;;)
	{
		int32		clock;

		AddBucketSegments(bucket, set.reader);
		if (!ZbxhistNextRow(&set))
			break;
		clock = position_clock(ZbxhistReadPosition(set.reader));
		EnterBucket(bucket, clock);
		if (bucket->nrows == 0)
			bucket->first_clock = clock;
		bucket->last_clock = clock;
		AddValues(bucket, ZbxhistReadSlot(set.reader));
	}
	ZbxhistCloseRowSet(&set);
}

/*
 * zbxhist_buckets(parent, itemid, from_clock, to_clock, buckets) returns
 * bucket, count, avg, min, max and the last clock of each bucket that has
 * values, in order.  As in the frontend's query, both clocks are included.
 */
Datum
zbxhist_buckets(PG_FUNCTION_ARGS)
{
	Bucket		bucket = {0};
	ItemRange	range;

	bucket.from_clock = PG_GETARG_INT32(2);
	bucket.to_clock = PG_GETARG_INT32(3);
	bucket.nbuckets = PG_GETARG_INT32(4);
	if (bucket.nbuckets < 1 || bucket.nbuckets > MAX_BUCKETS)
		ereport(ERROR,
				errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("argument \"%s\" must be between %d and %d", "buckets",
					   1, MAX_BUCKETS));
	ZbxhistWholeItem(&range, PG_GETARG_INT64(1));
	ZbxhistStartAt(&range, make_position(bucket.from_clock, PG_INT32_MIN));
	ZbxhistEndAt(&range, make_position(bucket.to_clock, PG_INT32_MAX));
	AddItemRange(&bucket, fcinfo, &range);
	PutBucket(&bucket);
	return (Datum) 0;
}

/* ---- statistics ---- */

/*
 * zbxhist_statistics(parent, itemid, from_clock, to_clock [, from_ns, to_ns])
 * returns count, min, max, sum, avg, delta, first_clock and last_clock of an
 * item's values from one moment, included, to another, excluded.
 */
Datum
zbxhist_statistics(PG_FUNCTION_ARGS)
{
	bool		has_ns = PG_NARGS() > 4;
	Datum		values[8];
	bool		nulls[8] = {false, true, true, true, true, true, true, true};
	Bucket		bucket = {.is_weighted = true};
	ItemRange	range;

	ZbxhistWholeItem(&range, PG_GETARG_INT64(1));
	ZbxhistStartAt(&range, make_position(PG_GETARG_INT32(2), has_ns ?
										 PG_GETARG_INT32(4) : PG_INT32_MIN));
	ZbxhistEndBefore(&range, make_position(PG_GETARG_INT32(3), has_ns ?
										   PG_GETARG_INT32(5) : PG_INT32_MIN));
	AddItemRange(&bucket, fcinfo, &range);
	values[0] = Int64GetDatum(bucket.count);
	if (bucket.nrows > 0)
	{
		memset(nulls, 0, sizeof(nulls));
		values[1] = ToNumeric(&bucket, GetTotal(&bucket, PART_MIN));
		values[2] = ToNumeric(&bucket, GetTotal(&bucket, PART_MAX));
		values[3] = ToNumeric(&bucket, GetTotal(&bucket, PART_SUM));
		/* a trend may have num 0 */
		nulls[4] = bucket.count == 0;
		if (!nulls[4])
			values[4] = ToNumeric(&bucket, GetAverage(&bucket));
		values[5] = ToNumeric(&bucket, GetDelta(&bucket));
		values[6] = Int32GetDatum(bucket.first_clock);
		values[7] = Int32GetDatum(bucket.last_clock);
	}
	tuplestore_putvalues(bucket.rsinfo->setResult, bucket.rsinfo->setDesc,
						 values, nulls);
	return (Datum) 0;
}
