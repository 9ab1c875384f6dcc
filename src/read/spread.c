/*-------------------------------------------------------------------------
 *
 * spread.c
 *	  Variance and standard deviation of the values of a group.
 *
 * Of integers and numerics their squares are added up exactly, and results have
 * the digits of PostgreSQL's.  Those that are unsigned integers of 64 bits are
 * squared in two halves, whose products have sums of 128 bits.  Doubles are
 * added up as PostgreSQL does (Youngs and Cramer), so the last digits depend on
 * their order.
 *
 * Memory: numerics of a total are in the context that its caller names.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "utils/float.h"
#include "utils/fmgrprotos.h"

#include "read/numbers.h"
#include "read/spread.h"

/* ---- exactly ---- */

/*
 * AddWide adds a number to a sum.
 */
static inline void
AddWide(WideSum *sum, uint64 low, uint64 high)
{
	sum->low += low;
	sum->high += high + (sum->low < low);
}

/*
 * AddSquare adds the square of an integer without its sign.
 */
static inline void
AddSquare(SquareTotal *s, uint64 number)
{
	uint64		high = number >> 32;
	uint64		low = number & PG_UINT32_MAX;

	AddWide(&s->high, high * high, 0);
	AddWide(&s->cross, high * low, 0);
	AddWide(&s->low, low * low, 0);
}

/*
 * Magnitude returns an integer without its sign.
 */
static inline uint64
Magnitude(int64 number)
{
	return number < 0 ? -(uint64) number : (uint64) number;
}

/*
 * AddOther adds squares of numerics that are no unsigned integers of 64 bits.
 */
static void
AddOther(SquareTotal *s, Datum squares, MemoryContext owner)
{
	if (s->other != NULL)
		squares = DirectFunctionCall2(numeric_add, NumericGetDatum(s->other),
									  squares);
	ZbxhistReplaceNumber(&s->other, squares, owner);
}

/*
 * Product multiplies a sum by a number of 128 bits.
 */
static Datum
Product(const WideSum *sum, uint64 high, uint64 low)
{
	return DirectFunctionCall2(numeric_mul,
							   NumericGetDatum(ZbxhistWideToNumeric(sum->high,
																	sum->low)),
							   NumericGetDatum(ZbxhistWideToNumeric(high, low)));
}

/*
 * SumOfSquares returns it.
 */
static Datum
SumOfSquares(const SquareTotal *s)
{
	Datum		result = DirectFunctionCall2(numeric_add,
											 Product(&s->high, 1, 0),
											 Product(&s->cross, 0,
													 UINT64CONST(1) << 33));

	result = DirectFunctionCall2(numeric_add, result, Product(&s->low, 0, 1));
	return s->other == NULL ? result :
		DirectFunctionCall2(numeric_add, result, NumericGetDatum(s->other));
}

/*
 * Root returns the square root of a number, rounded to as many digits as that has.
 * PostgreSQL's function gives more; where these say that it is in the middle
 * between two numbers, they have been rounded themselves.
 */
static Datum
Root(Datum number)
{
	Datum		scale = DirectFunctionCall1(numeric_scale, number);
	Datum		root = DirectFunctionCall1(numeric_sqrt, number);
	Datum		above = DirectFunctionCall2(numeric_round, root, scale);
	Datum		below = DirectFunctionCall2(numeric_trunc, root, scale);

	if (DatumGetBool(DirectFunctionCall2(numeric_eq,
										 DirectFunctionCall2(numeric_add, above, below),
										 DirectFunctionCall2(numeric_add, root, root))) &&
		DatumGetBool(DirectFunctionCall2(numeric_gt,
										 DirectFunctionCall2(numeric_mul, root, root),
										 number)))
		return below;
	return above;
}

/*
 * ZbxhistSpreadOfSquares returns variance or standard deviation of n numbers by
 * their sum and that of their squares, in the current context.
 */
Datum
ZbxhistSpreadOfSquares(const SpreadTotal *total, Datum sum, int64 n,
					   bool is_sample, bool is_root)
{
	Datum		squares = SumOfSquares(&total->squares);
	Datum		count = NumericGetDatum(int64_to_numeric(n));
	Datum		divisor = NumericGetDatum(int64_to_numeric(is_sample ? n - 1 : n));
	Datum		zero = NumericGetDatum(int64_to_numeric(0));
	Datum		spread;

	/* NaN */
	if (numeric_is_nan(DatumGetNumeric(squares)) ||
		numeric_is_inf(DatumGetNumeric(squares)))
		return DirectFunctionCall2(numeric_sub, squares, squares);
	spread = DirectFunctionCall2(numeric_sub,
								 DirectFunctionCall2(numeric_mul, count, squares),
								 DirectFunctionCall2(numeric_mul, sum, sum));
	if (DatumGetBool(DirectFunctionCall2(numeric_le, spread, zero)))
		return zero;
	spread = DirectFunctionCall2(numeric_div, spread,
								 DirectFunctionCall2(numeric_mul, count, divisor));
	return is_root ? Root(spread) : spread;
}

/*
 * ZbxhistSquaresMerge adds other squares.
 */
void
ZbxhistSquaresMerge(SpreadTotal *total, const SpreadTotal *other,
					MemoryContext owner)
{
	SquareTotal *s = &total->squares;
	const SquareTotal *o = &other->squares;

	AddWide(&s->high, o->high.low, o->high.high);
	AddWide(&s->cross, o->cross.low, o->cross.high);
	AddWide(&s->low, o->low.low, o->low.high);
	if (o->other != NULL)
		AddOther(s, NumericGetDatum(o->other), owner);
}

/* ---- doubles ---- */

/*
 * AddSpreadDoubles adds n doubles of that sum, and of those squares of what
 * they are away from their mean.
 */
static void
AddSpreadDoubles(DeviationTotal *d, double n, double sum, double squares)
{
	double		was = d->n;
	double		old_sum = d->sum;

	d->n += n;
	d->sum += sum;
	if (was == 0)
	{
		d->squares = isfinite(sum) ? squares : get_float8_nan();
		return;
	}
	if (n == 1)
	{
		double		away = sum * d->n - d->sum;

		d->squares += away * away / (d->n * was);
	}
	else
	{
		double		away = old_sum / was - sum / n;

		d->squares += squares + was * n * away * away / d->n;
	}
	if (unlikely(isinf(d->sum) || isinf(d->squares)))
	{
		if (!isinf(old_sum) && !isinf(sum))
			float_overflow_error();
		d->squares = get_float8_nan();
	}
}

/*
 * ZbxhistDeviationsMerge adds other deviations, of some doubles.
 */
void
ZbxhistDeviationsMerge(SpreadTotal *total, const SpreadTotal *other)
{
	const DeviationTotal *o = &other->deviations;

	AddSpreadDoubles(&total->deviations, o->n, o->sum, o->squares);
}

/*
 * ZbxhistSpreadOfDeviations returns variance or standard deviation of doubles.
 */
Datum
ZbxhistSpreadOfDeviations(const SpreadTotal *total, bool is_sample,
						  bool is_root)
{
	const DeviationTotal *d = &total->deviations;
	double		result = d->squares / (is_sample ? d->n - 1 : d->n);

	return Float8GetDatum(is_root ? sqrt(result) : result);
}

/* ---- all kinds ---- */

/*
 * ZbxhistSpreadAdd adds a value of a type that is not null.
 */
void
ZbxhistSpreadAdd(SpreadTotal *total, Datum value, Oid type,
				 MemoryContext owner)
{
	uint64		integer;

	if (type == FLOAT8OID)
		AddSpreadDoubles(&total->deviations, 1, DatumGetFloat8(value), 0);
	else if (type == INT4OID)
		AddSquare(&total->squares, Magnitude(DatumGetInt32(value)));
	else if (type == INT8OID)
		AddSquare(&total->squares, Magnitude(DatumGetInt64(value)));
	else if (ZbxhistNumericToUnsigned(value, &integer))
		AddSquare(&total->squares, integer);
	else
		AddOther(&total->squares,
				 DirectFunctionCall2(numeric_mul, value, value), owner);
}

/*
 * ZbxhistSpreadAddSame adds the same integer count times.
 */
void
ZbxhistSpreadAddSame(SpreadTotal *total, int64 value, int64 count)
{
	for (int64 i = 0; i < count; i++)
		AddSquare(&total->squares, Magnitude(value));
}

/*
 * ZbxhistSpreadAddColumn adds the values of the rows from one, included, to another,
 * excluded, of a decoded column, if it has numbers and no nulls; returns false,
 * having done nothing, if not.
 */
bool
ZbxhistSpreadAddColumn(SpreadTotal *total, const PackedColumn *packed,
					   int from, int to)
{
	if (packed->nulls != NULL || packed->kind == PACKED_BYTES)
		return false;
	for (int i = from; i < to; i++)
	{
		if (packed->kind == PACKED_DOUBLE)
			AddSpreadDoubles(&total->deviations, 1, packed->doubles[i], 0);
		else
			AddSquare(&total->squares, packed->kind == PACKED_UNSIGNED ?
					  packed->unsigneds[i] : Magnitude(packed->ints[i]));
	}
	return true;
}
