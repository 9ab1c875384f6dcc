/*-------------------------------------------------------------------------
 *
 * total.c
 *	  Count, least, greatest and sum of the values of a group.
 *
 * Results are those of PostgreSQL's aggregates.  Integers and numerics are exact, to the
 * last digit and with the same scale.  So are the least and the greatest double; for sums
 * of doubles see double_total.c.
 *
 * Numerics are mostly unsigned integers of 64 bits (Zabbix's history_uint), which are
 * added up in 128 bits; others are added up separately.
 *
 * Memory: numerics of a total are in the context that its caller names.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/fmgrprotos.h"

#include "format/numbers.h"
#include "read/total.h"

/* ---- integers ---- */

/*
 * AddInts adds count integers that sum up to a number of 128 bits.
 */
static inline void
AddInts(Total *total, int64 min, int64 max, uint64 sum_low, int64 sum_high,
		int64 count)
{
	IntTotal   *i = &total->u.i;

	if (total->count == 0 || min < i->min)
		i->min = min;
	if (total->count == 0 || max > i->max)
		i->max = max;
	i->sum_low += sum_low;
	i->sum_high += sum_high + (i->sum_low < sum_low);
	total->count += count;
}

/*
 * AddInt adds an integer.
 */
static inline void
AddInt(Total *total, int64 number)
{
	AddInts(total, number, number, (uint64) number, number < 0 ? -1 : 0, 1);
}

/*
 * ZbxhistTotalAddSame adds the same integer count times.
 */
void
ZbxhistTotalAddSame(Total *total, TotalKind kind, int64 value, int64 count)
{
	uint64		magnitude = value < 0 ? -(uint64) value : (uint64) value;
	uint64		low = (magnitude & PG_UINT32_MAX) * count;
	uint64		middle = (magnitude >> 32) * count;
	uint64		high = middle >> 32;

	Assert(count <= PG_UINT32_MAX);
	if (count == 0)
		return;
	if (kind == TOTAL_COUNT)
	{
		total->count += count;
		return;
	}
	low += middle << 32;
	if (low < middle << 32)
		high++;
	if (value < 0)
	{
		low = -low;
		high = ~high + (low == 0);
	}
	AddInts(total, value, value, low, (int64) high, count);
}

/*
 * ZbxhistTotalAddBounds adds count integers of which only the least and the
 * greatest are known; the sum must not be asked for then.
 */
void
ZbxhistTotalAddBounds(Total *total, int64 min, int64 max, int64 count)
{
	if (count > 0)
		AddInts(total, min, max, 0, 0, count);
}

/* ---- numerics ---- */

/*
 * AddUnsigneds adds count unsigned integers.
 */
static inline void
AddUnsigneds(Total *total, uint64 min, uint64 max, uint64 sum_low,
			 uint64 sum_high, int64 count)
{
	NumericTotal *n = &total->u.n;

	if (total->count == 0)
		n->min = PG_UINT64_MAX;
	if (min < n->min)
		n->min = min;
	if (max > n->max)
		n->max = max;
	n->sum_low += sum_low;
	n->sum_high += sum_high + (n->sum_low < sum_low);
	total->count += count;
}

/*
 * AddOtherNumerics adds count numerics that are no unsigned integers of 64
 * bits.
 */
static void
AddOtherNumerics(Total *total, Datum min, Datum max, Datum sum, int64 count,
				 MemoryContext owner)
{
	NumericTotal *n = &total->u.n;

	/* the totals of unsigned integers begin empty */
	if (total->count == 0)
		n->min = PG_UINT64_MAX;
	total->count += count;
	if (n->other_sum == NULL)
	{
		ZbxhistReplaceNumber(&n->other_min, min, owner);
		ZbxhistReplaceNumber(&n->other_max, max, owner);
		ZbxhistReplaceNumber(&n->other_sum, sum, owner);
		return;
	}
	if (!DatumGetBool(DirectFunctionCall2(numeric_lt,
										  NumericGetDatum(n->other_min), min)))
		ZbxhistReplaceNumber(&n->other_min, min, owner);
	if (!DatumGetBool(DirectFunctionCall2(numeric_gt,
										  NumericGetDatum(n->other_max), max)))
		ZbxhistReplaceNumber(&n->other_max, max, owner);
	ZbxhistReplaceNumber(&n->other_sum,
						 DirectFunctionCall2(numeric_add,
											 NumericGetDatum(n->other_sum), sum),
						 owner);
}

/*
 * AddNumeric adds a numeric.
 */
static void
AddNumeric(Total *total, Datum number, MemoryContext owner)
{
	uint64		integer;

	if (ZbxhistNumericToUnsigned(number, &integer))
		AddUnsigneds(total, integer, integer, integer, 0, 1);
	else
		AddOtherNumerics(total, number, number, number, 1, owner);
}

/*
 * HasUnsigned says whether there were unsigned integers.
 */
static inline bool
HasUnsigned(const NumericTotal *n)
{
	return n->min <= n->max;
}

/*
 * NumericPart returns the least, the greatest or the sum of the unsigned
 * integers and the others.
 */
static Datum
NumericPart(const NumericTotal *n, TotalPart part)
{
	PGFunction	combine = part == PART_MIN ? numeric_smaller :
		part == PART_MAX ? numeric_larger : numeric_add;
	Numeric		other = part == PART_MIN ? n->other_min :
		part == PART_MAX ? n->other_max : n->other_sum;
	Numeric		number;

	if (!HasUnsigned(n))
		return NumericGetDatum(ZbxhistCopyNumeric(other));
	if (part == PART_MIN || part == PART_MAX)
		number = ZbxhistUnsignedToNumeric(part == PART_MIN ? n->min : n->max);
	else
		number = ZbxhistWideToNumeric(n->sum_high, n->sum_low);
	if (other == NULL)
		return NumericGetDatum(number);
	return DirectFunctionCall2(combine, NumericGetDatum(number),
							   NumericGetDatum(other));
}

/* ---- adding ---- */

/*
 * ZbxhistTotalAdd adds a value that is not null.
 */
void
ZbxhistTotalAdd(Total *total, TotalKind kind, Datum value, Oid type,
				MemoryContext owner)
{
	switch (kind)
	{
		case TOTAL_COUNT:
			total->count++;
			break;
		case TOTAL_INT:
			AddInt(total, type == INT4OID ? (int64) DatumGetInt32(value) :
				   DatumGetInt64(value));
			break;
		case TOTAL_DOUBLE:
			ZbxhistAddDouble(total, DatumGetFloat8(value));
			break;
		case TOTAL_NUMERIC:
			AddNumeric(total, value, owner);
			break;
	}
}

/*
 * AddUnsignedColumn adds unsigned integers of which none is null.
 */
static void
AddUnsignedColumn(Total *total, const uint64 *values, int n)
{
	uint64		min = PG_UINT64_MAX;
	uint64		max = 0;
	uint64		low = 0;
	uint64		high = 0;

	if (n == 0)
		return;
	for (int i = 0; i < n; i++)
	{
		min = Min(min, values[i]);
		max = Max(max, values[i]);
		low += values[i];
		high += low < values[i];
	}
	AddUnsigneds(total, min, max, low, high, n);
}

/*
 * CountColumn counts the values of a column that are not null.
 */
static int64
CountColumn(const PackedColumn *packed, int from, int to)
{
	int64		count = to - from;

	for (int i = from; packed->nulls != NULL && i < to; i++)
		count -= packed->nulls[i];
	return count;
}

/*
 * AddEach adds the values of a column one by one.
 */
static void
AddEach(Total *total, TotalKind kind, Oid type, const LayoutColumn *column,
		const PackedColumn *packed, int from, int to, MemoryContext owner)
{
	for (int i = from; i < to; i++)
	{
		bool		isnull;
		Datum		value = ZbxhistPackedDatum(column, packed, i, &isnull);

		if (!isnull)
			ZbxhistTotalAdd(total, kind, value, type, owner);
	}
}

/*
 * ZbxhistTotalAddColumn adds the values of the rows from one, included, to another,
 * excluded, of a decoded column.  Leaves allocations in the current context.
 */
void
ZbxhistTotalAddColumn(Total *total, TotalKind kind, Oid type,
					  const LayoutColumn *column, const PackedColumn *packed,
					  int from, int to, MemoryContext owner)
{
	bool		has_nulls = packed->nulls != NULL;

	if (kind == TOTAL_COUNT)
		total->count += CountColumn(packed, from, to);
	else if (kind == TOTAL_DOUBLE && packed->kind == PACKED_DOUBLE &&
			 !has_nulls)
		ZbxhistAddDoubles(total, packed->doubles + from, to - from);
	else if (kind == TOTAL_NUMERIC && packed->kind == PACKED_UNSIGNED &&
			 !has_nulls)
		AddUnsignedColumn(total, packed->unsigneds + from, to - from);
	else if (kind == TOTAL_INT && packed->kind == PACKED_INT && !has_nulls)
	{
		for (int i = from; i < to; i++)
			AddInt(total, packed->ints[i]);
	}
	else
		AddEach(total, kind, type, column, packed, from, to, owner);
}

/*
 * ZbxhistTotalAddStats adds all values of a segment by its statistics; returns
 * false, having done nothing, if they do not say what is asked for.
 */
bool
ZbxhistTotalAddStats(Total *total, TotalKind kind, bool wants_sum,
					 const SegmentStats *stats, MemoryContext owner)
{
	if (!stats->is_set)
		return false;
	if (stats->count == 0)
		return true;
	if (kind == TOTAL_COUNT)
		total->count += stats->count;
	else if (kind == TOTAL_NUMERIC && stats->kind == PACKED_UNSIGNED)
		AddUnsigneds(total, stats->min_unsigned, stats->max_unsigned,
					 stats->sum_low, stats->sum_high, stats->count);
	else if (kind == TOTAL_DOUBLE && stats->kind == PACKED_DOUBLE &&
			 (stats->has_rest || !wants_sum))
		ZbxhistAddDoubleStats(total, stats);
	else
		return false;
	return true;
}

/* ---- merging ---- */

/*
 * MergeNumerics adds a total of numerics to another.
 */
static void
MergeNumerics(Total *total, const Total *other, MemoryContext owner)
{
	const NumericTotal *o = &other->u.n;

	if (HasUnsigned(o))
		AddUnsigneds(total, o->min, o->max, o->sum_low, o->sum_high,
					 other->count);
	if (o->other_sum != NULL)
		AddOtherNumerics(total, NumericGetDatum(o->other_min),
						 NumericGetDatum(o->other_max), NumericGetDatum(o->other_sum),
						 HasUnsigned(o) ? 0 : other->count, owner);
}

/*
 * ZbxhistTotalMerge adds another total of the same kind.  The result does not depend on
 * which values were added to which total.
 */
void
ZbxhistTotalMerge(Total *total, TotalKind kind, const Total *other,
				  MemoryContext owner)
{
	if (other->count == 0)
		return;
	switch (kind)
	{
		case TOTAL_COUNT:
			total->count += other->count;
			break;
		case TOTAL_INT:
			AddInts(total, other->u.i.min, other->u.i.max, other->u.i.sum_low,
					other->u.i.sum_high, other->count);
			break;
		case TOTAL_DOUBLE:
			if (total->count == 0)
				*total = *other;
			else
				ZbxhistMergeDoubles(total, other);
			break;
		case TOTAL_NUMERIC:
			MergeNumerics(total, other, owner);
			break;
	}
}

/* ---- results, in the current context ---- */

/*
 * IntSum returns the sum of integers as a numeric.
 */
static Datum
IntSum(const IntTotal *i)
{
	uint64		high = (uint64) i->sum_high;
	uint64		low = i->sum_low;

	if (i->sum_high >= 0)
		return NumericGetDatum(ZbxhistWideToNumeric(high, low));
	low = -low;
	high = ~high + (low == 0);
	return DirectFunctionCall1(numeric_uminus,
							   NumericGetDatum(ZbxhistWideToNumeric(high, low)));
}

/*
 * IntResult returns a part of a total of integers of a type.
 */
static Datum
IntResult(const Total *total, TotalPart part, Oid type)
{
	const IntTotal *i = &total->u.i;
	int64		extreme = part == PART_MIN ? i->min : i->max;

	switch (part)
	{
		case PART_SUM:
			/* sum(integer) is a bigint */
			return type == INT4OID ? Int64GetDatum((int64) i->sum_low) :
				IntSum(i);
		case PART_AVG:
			return DirectFunctionCall2(numeric_div, IntSum(i),
									   NumericGetDatum(int64_to_numeric(total->count)));
		default:
			return type == INT4OID ? Int32GetDatum((int32) extreme) :
				Int64GetDatum(extreme);
	}
}

/*
 * DoubleResult returns a part of a total of doubles.
 */
static Datum
DoubleResult(const Total *total, TotalPart part)
{
	const DoubleTotal *d = &total->u.d;

	switch (part)
	{
		case PART_SUM:
			return Float8GetDatum(ZbxhistDoubleSum(d));
		case PART_AVG:
			/* PostgreSQL's begins with 0, so it is never -0 for -0 */
			return Float8GetDatum((ZbxhistDoubleSum(d) + 0.0) / (double) total->count);
		default:
			return Float8GetDatum(part == PART_MIN ? d->min : d->max);
	}
}

/*
 * ZbxhistTotalResult returns the result of an aggregate of values of a type.
 */
Datum
ZbxhistTotalResult(const Total *total, TotalKind kind, TotalPart part, Oid type,
				   bool *isnull)
{
	*isnull = false;
	if (part == PART_COUNT)
		return Int64GetDatum(total->count);
	*isnull = total->count == 0;
	if (*isnull)
		return (Datum) 0;
	if (kind == TOTAL_INT)
		return IntResult(total, part, type);
	if (kind == TOTAL_DOUBLE)
		return DoubleResult(total, part);
	Assert(kind == TOTAL_NUMERIC);
	if (part != PART_AVG)
		return NumericPart(&total->u.n, part);
	return DirectFunctionCall2(numeric_div, NumericPart(&total->u.n, PART_SUM),
							   NumericGetDatum(int64_to_numeric(total->count)));
}
