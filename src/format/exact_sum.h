/*-------------------------------------------------------------------------
 *
 * exact_sum.h
 *	  Adding doubles without losing anything.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_EXACT_SUM_H
#define ZBXHIST_EXACT_SUM_H

#include <math.h>

/*
 * Adds a number to a sum and returns what rounding takes from it, which is a
 * double (Dekker).  If the sum overflows, that is NaN.
 */
static inline double
add_exactly(double *sum, double number)
{
	double		before = *sum;
	double		after = before + number;

	*sum = after;
	return fabs(before) >= fabs(number) ? (before - after) + number :
		(number - after) + before;
}

/*
 * The same without a branch, for loops (Knuth).  If the sum overflows, or the
 * greatest double there is takes part, what is returned may be NaN.
 */
static inline double
add_without_branch(double *sum, double number)
{
	double		before = *sum;
	double		after = before + number;
	double		added = after - before;

	*sum = after;
	return (before - (after - added)) + (number - added);
}

#endif							/* ZBXHIST_EXACT_SUM_H */
