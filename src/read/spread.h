/*-------------------------------------------------------------------------
 *
 * spread.h
 *	  Variance and standard deviation of the values of a group.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_SPREAD_H
#define ZBXHIST_SPREAD_H

#include "utils/numeric.h"

#include "packed/format/segment.h"

typedef struct WideSum
{
	uint64		low;
	uint64		high;
} WideSum;

/* of the products of both halves of unsigned integers, and of others */
typedef struct SquareTotal
{
	WideSum		high;			/* squares of the upper 32 bits */
	WideSum		cross;			/* upper by lower */
	WideSum		low;
	Numeric		other;			/* squares; NULL: all were integers */
} SquareTotal;

typedef struct DeviationTotal
{
	double		n;
	double		sum;
	double		squares;		/* of what values are away from their mean */
} DeviationTotal;

/* squares of integers and numerics, or deviations of doubles */
typedef union SpreadTotal
{
	SquareTotal squares;
	DeviationTotal deviations;
} SpreadTotal;

extern void ZbxhistSpreadAdd(SpreadTotal *total, Datum value, Oid type,
							 MemoryContext owner);
extern void ZbxhistSpreadAddSame(SpreadTotal *total, int64 value, int64 count);
extern bool ZbxhistSpreadAddColumn(SpreadTotal *total,
								   const PackedColumn *packed,
								   int from, int to);
extern void ZbxhistSquaresMerge(SpreadTotal *total, const SpreadTotal *other,
								MemoryContext owner);
extern void ZbxhistDeviationsMerge(SpreadTotal *total,
								   const SpreadTotal *other);
extern Datum ZbxhistSpreadOfSquares(const SpreadTotal *total, Datum sum,
									int64 n, bool is_sample, bool is_root);
extern Datum ZbxhistSpreadOfDeviations(const SpreadTotal *total,
									   bool is_sample, bool is_root);

#endif							/* ZBXHIST_SPREAD_H */
