/*-------------------------------------------------------------------------
 *
 * double_total.c
 *	  Count, least, greatest and sum of doubles.
 *
 * A sum of doubles depends on their order, and rows come in no certain order here.  So
 * the sum is computed in a way that does not depend on it: the rounding errors are added
 * up, too, and the rounding errors of these (Klein).  The result is within 1 ulp of the
 * exact sum, and is rounded once.  A sum out of range raises 22003, as in PostgreSQL, but
 * only if the final sum is out of range.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "utils/float.h"

#include "format/exact_sum.h"
#include "read/total.h"

/* sums of doubles side by side */
#define LANES 4

/* fewer doubles are added one by one */
#define MIN_LANES 32

/*
 * AddToSum adds a number to a sum, and the rounding errors to its rests.
 */
static inline void
AddToSum(double *sum, double *rest, double *rest_of_rest, double number)
{
	*rest_of_rest += add_exactly(rest, add_exactly(sum, number));
}

/*
 * ZbxhistAddDouble adds a double.  Of equal values (0 and -0) the last one counts as
 * least and greatest, as in PostgreSQL.
 */
void
ZbxhistAddDouble(Total *total, double number)
{
	DoubleTotal *d = &total->u.d;

	if (total->count++ == 0)
	{
		d->min = d->max = number;
		d->sum = number;
	}
	else
	{
		if (!float8_lt(d->min, number))
			d->min = number;
		if (!float8_gt(d->max, number))
			d->max = number;
		AddToSum(&d->sum, &d->rest, &d->rest_of_rest, number);
	}
	if (unlikely(isinf(number)))
		d->has_infinity = true;
}

/*
 * ZeroOf returns the least or greatest value as PostgreSQL does: of 0 and -0, which
 * are equal, the last.
 */
static double
ZeroOf(double extreme, const double *values, int n)
{
	while (extreme == 0 && n > 0 && values[n - 1] != 0)
		n--;
	return extreme == 0 && n > 0 ? values[n - 1] : extreme;
}

/*
 * AddLanes adds n doubles, a multiple of LANES, to a total.  It keeps LANES sums, so
 * that an addition need not wait for the one before.
 */
static void
AddLanes(DoubleTotal *d, const double *values, int n)
{
	double		min[LANES];
	double		max[LANES];
	double		sum[LANES];
	double		rest[LANES] = {0};
	double		rest_of_rest[LANES] = {0};

	for (int k = 0; k < LANES; k++)
	{
		min[k] = d->min;
		max[k] = d->max;
		sum[k] = -0.0;
	}
	for (int i = 0; i < n; i += LANES)
	{
		for (int k = 0; k < LANES; k++)
		{
			double		number = values[i + k];

			min[k] = min[k] < number ? min[k] : number;
			max[k] = max[k] > number ? max[k] : number;
			rest_of_rest[k] +=
				add_without_branch(&rest[k],
								   add_without_branch(&sum[k], number));
		}
	}
	for (int k = 0; k < LANES; k++)
	{
		d->min = Min(d->min, min[k]);
		d->max = Max(d->max, max[k]);
		AddToSum(&d->sum, &d->rest, &d->rest_of_rest, sum[k]);
		d->rest_of_rest += add_exactly(&d->rest, rest[k]) + rest_of_rest[k];
	}
}

/*
 * ZbxhistAddDoubles adds doubles of which none is null.
 */
void
ZbxhistAddDoubles(Total *total, const double *values, int n)
{
	DoubleTotal d;
	int			i = 1;

	if (n == 0)
		return;
	ZbxhistAddDouble(total, values[0]);
	d = total->u.d;
	if (n > MIN_LANES)
	{
		AddLanes(&d, values + 1, (n - 1) / LANES * LANES);
		i = 1 + (n - 1) / LANES * LANES;
		d.min = ZeroOf(d.min, values + 1, i - 1);
		d.max = ZeroOf(d.max, values + 1, i - 1);
	}
	for (; i < n; i++)
	{
		d.min = d.min < values[i] ? d.min : values[i];
		d.max = d.max > values[i] ? d.max : values[i];
		d.rest_of_rest +=
			add_without_branch(&d.rest, add_without_branch(&d.sum, values[i]));
	}
	/* a NaN or an infinity makes the rest one; then check each value */
	if (unlikely(!isfinite(d.sum) || !isfinite(d.rest)))
	{
		for (i = 1; i < n; i++)
			ZbxhistAddDouble(total, values[i]);
		return;
	}
	total->u.d = d;
	total->count += n - 1;
}

/*
 * ZbxhistAddDoubleStats adds the doubles of a segment; the sum is right only if all
 * segments have their rest.
 */
void
ZbxhistAddDoubleStats(Total *total, const SegmentStats *stats)
{
	DoubleTotal *d = &total->u.d;
	bool		is_first = total->count == 0;

	if (is_first || !float8_lt(d->min, stats->min_double))
		d->min = stats->min_double;
	if (is_first || !float8_gt(d->max, stats->max_double))
		d->max = stats->max_double;
	if (is_first)
		d->sum = stats->sum_double;
	else
		AddToSum(&d->sum, &d->rest, &d->rest_of_rest, stats->sum_double);
	d->rest_of_rest += add_exactly(&d->rest, stats->rest_double);
	total->count += stats->count;
}

/*
 * ZbxhistMergeDoubles adds a total of doubles to another that has some.
 */
void
ZbxhistMergeDoubles(Total *total, const Total *other)
{
	DoubleTotal *d = &total->u.d;
	const DoubleTotal *o = &other->u.d;

	if (!float8_lt(d->min, o->min))
		d->min = o->min;
	if (!float8_gt(d->max, o->max))
		d->max = o->max;
	AddToSum(&d->sum, &d->rest, &d->rest_of_rest, o->sum);
	d->rest_of_rest += add_exactly(&d->rest, o->rest);
	d->rest_of_rest += o->rest_of_rest;
	d->has_infinity |= o->has_infinity;
	total->count += other->count;
}

/*
 * ZbxhistDoubleSum returns the sum.
 */
double
ZbxhistDoubleSum(const DoubleTotal *d)
{
	double		sum = d->sum;
	double		rest;

	if (isinf(d->sum) || isnan(d->sum))
	{
		/* did it overflow, or is there an infinity among the values? */
		if (isinf(d->sum) && !d->has_infinity)
			float_overflow_error();
		return d->sum;
	}
	/* the sum of only -0 is -0 */
	if (d->rest == 0 && d->rest_of_rest == 0)
		return sum;
	rest = add_exactly(&sum, d->rest);
	return sum + (rest + d->rest_of_rest);
}
