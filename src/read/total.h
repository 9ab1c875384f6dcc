/*-------------------------------------------------------------------------
 *
 * total.h
 *	  Count, least, greatest, sum, spread, first and last of the values of a group.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_TOTAL_H
#define ZBXHIST_TOTAL_H

#include "utils/numeric.h"

#include "packed/values/layout.h"
#include "read/spread.h"

/* what values are added up as */
typedef enum TotalKind
{
	TOTAL_COUNT,				/* of any type; only counted */
	TOTAL_INT,					/* integer or bigint */
	TOTAL_DOUBLE,
	TOTAL_NUMERIC,
	TOTAL_SQUARES,				/* of integers and numerics (spread.c) */
	TOTAL_DEVIATIONS,			/* of doubles */
	TOTAL_FIRST,				/* numbers (edge_total.c) */
	TOTAL_LAST
} TotalKind;

/* what of it is asked for */
typedef enum TotalPart
{
	PART_ROWS,					/* count(*), which is no total's */
	PART_COUNT,
	PART_MIN,
	PART_MAX,
	PART_SUM,
	PART_AVG,
	PART_ANY,					/* bool_or and bool_and, of two totals: how
								 * many */
	PART_EVERY,					/* are true, and how many are false */
	PART_FIRST,					/* an array that begins with it */
	PART_LAST,
	PART_VAR_POP,				/* from here on of squares or deviations, and
								 * of */
	PART_VAR_SAMP,				/* the values' sum */
	PART_STDDEV_POP,
	PART_STDDEV_SAMP
} TotalPart;

typedef struct DoubleTotal
{
	double		min;
	double		max;
	double		sum;
	double		rest;			/* what rounding took from the sum */
	double		rest_of_rest;	/* and from that */
	bool		has_infinity;
} DoubleTotal;

/* the sum has 128 bits */
typedef struct IntTotal
{
	int64		min;
	int64		max;
	uint64		sum_low;
	int64		sum_high;
} IntTotal;

/* of unsigned integers first, and then of others */
typedef struct NumericTotal
{
	uint64		min;
	uint64		max;
	uint64		sum_low;
	uint64		sum_high;
	Numeric		other_min;		/* NULL: all were unsigned integers */
	Numeric		other_max;
	Numeric		other_sum;
} NumericTotal;

/* a value and the time of its row */
typedef struct EdgeTotal
{
	int64		clock;			/* null is the greatest */
	int64		ns;
	Datum		value;			/* but for a numeric */
	Numeric		number;
	bool		isnull;
} EdgeTotal;

typedef struct Total
{
	int64		count;			/* values that are not null; of first and last
								 * ones all */
	union
	{
		DoubleTotal d;
		IntTotal	i;
		NumericTotal n;
		SpreadTotal s;
		EdgeTotal	e;
	}			u;
} Total;

/* double_total.c */
extern void ZbxhistAddDouble(Total *total, double number);
extern void ZbxhistAddDoubles(Total *total, const double *values, int n);
extern void ZbxhistAddDoubleStats(Total *total, const SegmentStats *stats);
extern void ZbxhistMergeDoubles(Total *total, const Total *other);
extern double ZbxhistDoubleSum(const DoubleTotal *d);

/* edge_total.c */
extern int64 ZbxhistEdgeTime(int32 time, bool isnull);
extern void ZbxhistSetEdgeValue(EdgeTotal *edge, Datum value, bool isnull,
								Oid type);
extern void ZbxhistAddEdge(Total *total, TotalKind kind, const EdgeTotal *edge,
						   int64 count, MemoryContext owner);
extern Datum ZbxhistEdgeArray(const EdgeTotal *edge, Oid type);

/* total.c */
extern void ZbxhistTotalAdd(Total *total, TotalKind kind, Datum value,
							Oid type, MemoryContext owner);
extern void ZbxhistTotalAddColumn(Total *total, TotalKind kind, Oid type,
								  const LayoutColumn *column,
								  const PackedColumn *packed, int from, int to,
								  MemoryContext owner);
extern void ZbxhistTotalAddSame(Total *total, TotalKind kind, int64 value,
								int64 count);
extern void ZbxhistTotalAddBounds(Total *total, int64 min, int64 max,
								  int64 count);
extern bool ZbxhistTotalAddStats(Total *total, TotalKind kind, bool wants_sum,
								 const SegmentStats *stats,
								 MemoryContext owner);
extern Datum ZbxhistTotalResult(const Total *total, TotalKind kind,
								TotalPart part, Oid type, bool *isnull);
extern Datum ZbxhistTotalSpread(const Total *squares, const Total *sum,
								TotalKind kind, TotalPart part, bool *isnull);
extern void ZbxhistTotalMerge(Total *total, TotalKind kind, const Total *other,
							  MemoryContext owner);

#endif							/* ZBXHIST_TOTAL_H */
