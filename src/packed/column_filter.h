/*-------------------------------------------------------------------------
 *
 * column_filter.h
 *	  Decides by the statistics of a segment, and by its decoded columns, whether rows
 *	  meet a condition.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_COLUMN_FILTER_H
#define ZBXHIST_COLUMN_FILTER_H

#include "access/stratnum.h"
#include "nodes/execnodes.h"

#include "format/row_map.h"

/* a comparison of a column of numbers with a value */
typedef struct ColumnCondition
{
	int			attribute;		/* of the table, from 0 */
	Oid			type;			/* of the column */
	Oid			value_type;
	StrategyNumber strategy;	/* btree's */
	FmgrInfo	compare;		/* btree's, of the types of both sides */
	ExprState  *expr;			/* of the value */
	Datum		value;			/* of now */
	bool		isnull;
	bool		has_word;		/* the value as packed columns have theirs: */
	PackedKind	kind;
	int64		word;			/* of an integer, signed or not */
	double		number;
	bool		is_met;			/* by all rows of the segment judged last */
} ColumnCondition;

/* conditions that all have to hold */
typedef struct ColumnFilter
{
	List	   *conditions;		/* of ColumnCondition */
	bool		is_whole;		/* there are no others */
} ColumnFilter;

/* what of a segment passes */
typedef enum FilterVerdict
{
	FILTER_NONE,
	FILTER_SOME,				/* or not known */
	FILTER_ALL
} FilterVerdict;

extern ColumnFilter *ZbxhistMakeColumnFilter(List *quals, PlanState *parent);
extern void ZbxhistSetFilterValues(ColumnFilter *filter, ExprContext *econtext,
								   MemoryContext context);
extern FilterVerdict ZbxhistJudgeSegment(const ColumnFilter *filter,
										 const RowMap *map,
										 const DayLayout *layout,
										 const SegmentInfo *info,
										 const SegmentStats *stats);
extern bool ZbxhistMarkPassing(const ColumnFilter *filter, const RowMap *map,
							   const SegmentRows *rows, int first, int last,
							   bool *passes);

#endif							/* ZBXHIST_COLUMN_FILTER_H */
