/*-------------------------------------------------------------------------
 *
 * column_filter.h
 *	  Conditions that are evaluated on columns of segments, without rows.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_COLUMN_FILTER_H
#define ZBXHIST_COLUMN_FILTER_H

#include "nodes/execnodes.h"

#include "format/layout.h"

/*
 * Numbers of a type as unsigned integers in the order of the type, so that a
 * condition is a list of ranges of these, whatever the type.  Both ends are
 * included.
 */
typedef struct ColumnRange
{
	uint64		first;
	uint64		last;
} ColumnRange;

/* a comparison of a column with a value or an array, or IS [NOT] NULL */
typedef struct ColumnCondition
{
	int			place;			/* the column of the input, from 1 */
	Oid			type;			/* of the column */
	int			strategy;		/* btree's; 0: not equal */
	bool		is_array;		/* equal to any, or not equal to all */
	bool		is_null_test;	/* what follows is set from the beginning */
	Oid			value_type;		/* or that of the array's elements */
	ExprState  *value;
	ExprState  *check;			/* the condition as a whole, for one row */

	/*
	 * for the values of now; numerics that are no unsigned integers are of no
	 * range
	 */
	bool		is_never;		/* true */
	bool		accepts_null;
	int			nranges;
	ColumnRange *ranges;		/* sorted, apart from each other */

	/* of the day in hand */
	const LayoutColumn *column;
} ColumnCondition;

typedef enum FilterKind
{
	FILTER_AND,
	FILTER_OR,
	FILTER_CONDITION
} FilterKind;

typedef struct ColumnFilter
{
	FilterKind	kind;
	List	   *parts;			/* ColumnFilters, of AND and OR */
	ColumnCondition *condition;
} ColumnFilter;

/* what of a segment passes */
typedef enum FilterVerdict
{
	FILTER_NONE,
	FILTER_SOME,				/* or not known */
	FILTER_ALL
} FilterVerdict;

/*
 * double_key returns a double's number: -0 is 0, and NaN the greatest.
 */
static inline uint64
double_key(double value)
{
	union
	{
		double		d;
		uint64		bits;
	}			u;

	u.d = value + 0.0;
	if (unlikely(value != value))
		return PG_UINT64_MAX;
	return u.bits ^ (u.bits >> 63 == 0 ? UINT64CONST(1) << 63 : PG_UINT64_MAX);
}

/*
 * key_double returns the double that has a number; no double has that below 0's.
 */
static inline double
key_double(uint64 key)
{
	union
	{
		double		d;
		uint64		bits;
	}			u;

	u.bits = key ^ (key >> 63 != 0 ? UINT64CONST(1) << 63 : PG_UINT64_MAX);
	return u.d;
}

/*
 * int_key returns an integer's number.
 */
static inline uint64
int_key(int64 value)
{
	return (uint64) value ^ (UINT64CONST(1) << 63);
}

/* column_filter.c */
extern bool ZbxhistIsColumnCondition(Expr *expr);
extern ColumnFilter *ZbxhistMakeColumnFilter(List *conditions,
											 PlanState *parent);

/* filter_values.c */
extern void ZbxhistSetFilterValues(ColumnFilter *filter,
								   ExprContext *econtext,
								   MemoryContext context);

/* filter_rows.c */
extern FilterVerdict ZbxhistJudgeSegment(const ColumnFilter *filter,
										 const DayLayout *layout,
										 const SegmentInfo *info,
										 const SegmentStats *stats);
extern void ZbxhistFilterRows(const ColumnFilter *filter,
							  const SegmentRows *rows, ExprContext *econtext,
							  TupleTableSlot *slot, bool *mask);
extern void ZbxhistLeaveRows(const SegmentRows *rows, const bool *wanted,
							 const bool *mask, SegmentRows *result);

#endif							/* ZBXHIST_COLUMN_FILTER_H */
