/*-------------------------------------------------------------------------
 *
 * accumulator.h
 *	  Aggregates of the values of an item.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_ACCUMULATOR_H
#define ZBXHIST_ACCUMULATOR_H

#include "executor/tuptable.h"
#include "utils/numeric.h"
#include "utils/relcache.h"

struct SegmentStats;

/* the columns of a parent that hold its values */
typedef struct ValueColumns
{
	bool		is_float;		/* double precision, else numeric */
	AttrNumber	min;
	AttrNumber	max;
	AttrNumber	value;			/* the value, or a trend's average */
	AttrNumber	num;			/* values behind a trend; 0 for history */
} ValueColumns;

typedef struct Accumulator
{
	const ValueColumns *columns;
	bool		is_weighted;	/* the sum is one of values, not of trends */
	int64		rows;
	int64		count;			/* of values, which for history is rows */

	/* double precision */
	float8		float_min;
	float8		float_max;
	float8		float_sum;

	/* numeric, as long as all are unsigned integers of 64 bits */
	bool		is_unsigned;
	uint64		unsigned_min;
	uint64		unsigned_max;
	uint64		sum_low;
	uint64		sum_high;

	/* other numerics; NULL before the first */
	Numeric		min;
	Numeric		max;
	Numeric		sum;

	MemoryContext context;		/* owns min, max and sum */
	MemoryContext scratch;		/* owns what becomes old */
	int			nscratch;		/* rows since scratch was reset */
} Accumulator;

extern void ZbxhistFindValueColumns(Relation parent, ValueColumns *columns);
extern void ZbxhistInitAccumulator(Accumulator *acc,
								   const ValueColumns *columns,
								   bool is_weighted);
extern void ZbxhistResetAccumulator(Accumulator *acc);
extern void ZbxhistAccumulate(Accumulator *acc, TupleTableSlot *slot);
extern bool ZbxhistAccumulateSegment(Accumulator *acc,
									 const struct SegmentStats *stats);
extern Datum ZbxhistAccumulatedMin(const Accumulator *acc);
extern Datum ZbxhistAccumulatedMax(const Accumulator *acc);
extern Datum ZbxhistAccumulatedSum(const Accumulator *acc);
extern Datum ZbxhistAccumulatedAverage(const Accumulator *acc);
extern Datum ZbxhistAccumulatedDelta(const Accumulator *acc);

#endif							/* ZBXHIST_ACCUMULATOR_H */
