/*-------------------------------------------------------------------------
 *
 * total.h
 *	  Count, least, greatest and sum of the values of a group.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_TOTAL_H
#define ZBXHIST_TOTAL_H

#include "utils/numeric.h"

#include "format/layout.h"

/* what values are added up as */
typedef enum TotalKind
{
	TOTAL_COUNT,				/* of any type; only counted */
	TOTAL_INT,					/* integer or bigint */
	TOTAL_DOUBLE,
	TOTAL_NUMERIC
} TotalKind;

/* what of it is asked for */
typedef enum TotalPart
{
	PART_NONE,
	PART_COUNT,
	PART_MIN,
	PART_MAX,
	PART_SUM,
	PART_AVG
} TotalPart;

typedef struct DoubleTotal
{
	double		min;
	double		max;
	double		sum;
	double		rest;			/* rounding error of the sum */
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

typedef struct Total
{
	int64		count;			/* values that are not null */
	union
	{
		DoubleTotal d;
		IntTotal	i;
		NumericTotal n;
	}			u;
} Total;

/* double_total.c */
extern void ZbxhistAddDouble(Total *total, double number);
extern void ZbxhistAddDoubles(Total *total, const double *values, int n);
extern void ZbxhistAddDoubleStats(Total *total, const SegmentStats *stats);
extern void ZbxhistMergeDoubles(Total *total, const Total *other);
extern double ZbxhistDoubleSum(const DoubleTotal *d);

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
extern void ZbxhistTotalMerge(Total *total, TotalKind kind, const Total *other,
							  MemoryContext owner);

#endif							/* ZBXHIST_TOTAL_H */
