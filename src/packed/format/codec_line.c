/*-------------------------------------------------------------------------
 *
 * codec_line.c
 *	  Integers of 64 bits as their distances from a line.
 *
 * Counters that grow steadily, and clocks that are a little late now and
 * then, scatter about a line.  The difference of two neighbours scatters twice
 * as much: the distances from the line need a bit less (Y. Liu, X. Zeng,
 * H. Zhang: LeCo: Lightweight Compression via Learning Serial Correlations,
 * SIGMOD 2024).
 *
 * How far the distances spread is a convex function of the slope, made of
 * straight pieces: between any two highest and lowest values it changes as
 * fast as these are apart.  Its minimum is searched where the pieces on both
 * sides of it meet (J. E. Kelley: The Cutting-Plane Method for Solving Convex
 * Programs, 1960); what is there bounds the minimum from below, so that the
 * search ends as soon as no bit can be won.
 *
 * A line begins at zero; its slope has 16 binary places.  The arithmetic
 * wraps around, the same in writing and reading.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "packed/format/codec.h"
#include "packed/format/codec_line.h"

#define SLOPE_PLACES 16
#define SLOPE_ONE ((double) (1 << SLOPE_PLACES))

/* fewer values are not worth the bytes of a slope */
#define MIN_VALUES 16

/* what is higher or steeper is not looked at: it would wrap around */
#define MAX_HEIGHT ((double) (INT64CONST(1) << 46))

#define MAX_ROUNDS 8
#define SAMPLE_SIZE 16

/* how far values are from lines of one slope */
typedef struct Spread
{
	double		slope;			/* binary places are in front of the point */
	double		height;			/* from the lowest to the highest value */
	double		gradient;		/* of the height; 0: none is known */
} Spread;

/* Where a line is that began at zero, `run` being slope times rows. */
static inline uint64
line_at(uint64 run)
{
	return (uint64) ((int64) run >> SLOPE_PLACES);
}

/* ---------------------------------------------------------------- writing */

/* Measures how far every step-th value is from lines of a slope. */
static Spread
measure_spread(const uint64 *values, int n, int step, uint64 slope)
{
	int64		lowest = 0;
	int64		highest = 0;
	int			lowest_row = 0;
	int			highest_row = 0;
	Spread		spread;
	int			i;

	for (i = step; i < n; i += step)
	{
		int64		distance = values[i] - values[0] - line_at(i * slope);

		if (distance < lowest)
		{
			lowest = distance;
			lowest_row = i;
		}
		else if (distance > highest)
		{
			highest = distance;
			highest_row = i;
		}
	}
	spread.slope = (int64) slope;
	spread.height = (double) highest - (double) lowest;
	spread.gradient = (lowest_row - highest_row) / SLOPE_ONE;
	return spread;
}

/*
 * Where the tangents on both sides meet; where the only one is zero if the
 * other side is not known yet.  Returns the height there, in *slope the place.
 */
static double
meet(const Spread *left, const Spread *right, double *slope)
{
	const Spread *known = left->gradient != 0 ? left : right;

	if (left->gradient == 0 || right->gradient == 0)
	{
		*slope = known->slope - known->height / known->gradient;
		return 0;
	}
	*slope = (right->height - left->height + left->gradient * left->slope -
			  right->gradient * right->slope) /
		(left->gradient - right->gradient);
	return left->height + left->gradient * (*slope - left->slope);
}

/* The bits that distances need; too many for what has wrapped around. */
static int
width_of(double height)
{
	if (height >= (double) PG_INT64_MAX)
		return 64;
	return codec_width((uint64) Max(height, 0));
}

/*
 * Finds the slope of a line from which n values are so far at most that each
 * distance needs less than width bits.  Returns false if there is none.
 */
bool
ZbxhistFindLine(const uint64 *values, int n, int width, uint64 *slope)
{
	Spread		sides[2] = {{0}};	/* the height falls there, and rises */
	double		next;
	bool		is_found = false;
	int			i;

	if (n < MIN_VALUES ||
		fabs((double) (int64) (values[n - 1] - values[0])) > MAX_HEIGHT)
		return false;
	next = (double) (int64) (values[n - 1] - values[0]) / (n - 1) * SLOPE_ONE;

	/* a better slope can halve that */
	if (width_of(measure_spread(values, n, n / SAMPLE_SIZE,
								(uint64) (int64) next).height) > width)
		return false;
	for (i = 0; i < MAX_ROUNDS && fabs(next) < MAX_HEIGHT * SLOPE_ONE; i++)
	{
		Spread		spread = measure_spread(values, n, 1, (uint64) (int64) next);

		if (width_of(spread.height) < width)
		{
			width = width_of(spread.height);
			*slope = (uint64) (int64) spread.slope;
			is_found = true;
		}
		if (spread.gradient == 0)
			break;
		sides[spread.gradient > 0] = spread;
		if (width_of(meet(&sides[0], &sides[1], &next)) >= width)
			break;
	}
	return is_found;
}

/* Takes a line away from values. */
void
ZbxhistSubtractLine(uint64 *distances, const uint64 *values, int n,
					uint64 slope)
{
	uint64		run = 0;
	int			i;

	for (i = 0; i < n; i++, run += slope)
		distances[i] = values[i] - line_at(run);
}

/* ---------------------------------------------------------------- reading */

/* Makes values of the distances from a line that are in their places. */
void
ZbxhistAddLine(uint64 *values, Slice slice, uint64 slope)
{
	uint64		run = slice.from * slope;
	int			i;

	for (i = 0; i < codec_count(slice); i++, run += slope)
		values[i] += line_at(run);
}
