/*-------------------------------------------------------------------------
 *
 * filter_rows.c
 *	  Evaluates conditions on columns of segments.
 *
 * A segment's statistics may say that all of its rows pass, or none.  Else the
 * columns in question are decoded and the rows that pass are put together.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "executor/executor.h"

#include "binary_search.h"
#include "read/column_filter.h"

/* ---- by statistics ---- */

/* what is known of a column in a segment */
typedef struct ColumnBounds
{
	uint64		min;
	uint64		max;
	int64		nvalues;		/* not null */
	int64		nnulls;
} ColumnBounds;

/*
 * SetValueBounds sets the bounds of the column that has statistics; returns
 * false if there are none of the segment.
 */
static bool
SetValueBounds(const SegmentInfo *info, const SegmentStats *stats,
			   ColumnBounds *bounds)
{
	if (!stats->is_set || stats->count > info->nrows)
		return false;
	bounds->nvalues = stats->count;
	bounds->nnulls = info->nrows - stats->count;
	if (stats->kind == PACKED_UNSIGNED)
	{
		bounds->min = stats->min_unsigned;
		bounds->max = stats->max_unsigned;
	}
	else
	{
		bounds->min = double_key(stats->min_double);
		bounds->max = double_key(stats->max_double);
	}
	return true;
}

/*
 * SetColumnBounds sets what is known of a column; returns false if that is
 * nothing.
 */
static bool
SetColumnBounds(const ColumnCondition *condition, const DayLayout *layout,
				const SegmentInfo *info, const SegmentStats *stats,
				ColumnBounds *bounds)
{
	const LayoutColumn *column = condition->column;

	memset(bounds, 0, sizeof(ColumnBounds));
	bounds->nvalues = info->nrows;
	if (column->packed < 0)
		bounds->min = bounds->max = int_key(info->itemid);
	else if (column->packed == 0)
	{
		bounds->min = int_key(info->first_clock);
		bounds->max = int_key(info->last_clock);
	}
	else
	{
		if (layout->value < 0 ||
			column->packed != layout->columns[layout->value].packed ||
			!SetValueBounds(info, stats, bounds))
			return false;
	}
	return bounds->min <= bounds->max;
}

/*
 * FindRange returns the first range that does not end before a number, which
 * may be the one after the last.
 */
static inline int
FindRange(const ColumnCondition *condition, uint64 key)
{
	int			i;

	find_first(i, condition->nranges, condition->ranges[i].last >= key);
	return i;
}

/*
 * JudgeCondition says what of a segment passes a condition.
 */
static FilterVerdict
JudgeCondition(const ColumnCondition *condition, const DayLayout *layout,
			   const SegmentInfo *info, const SegmentStats *stats)
{
	ColumnBounds bounds;
	bool		passes_any;
	bool		passes_all;
	int			range;

	if (condition->is_never)
		return FILTER_NONE;
	if (condition->column == NULL ||
		!SetColumnBounds(condition, layout, info, stats, &bounds))
		return FILTER_SOME;
	passes_any = bounds.nnulls > 0 && condition->accepts_null;
	passes_all = bounds.nnulls == 0 || condition->accepts_null;
	range = FindRange(condition, bounds.min);
	if (bounds.nvalues > 0 && range < condition->nranges &&
		condition->ranges[range].first <= bounds.max)
	{
		passes_any = true;
		passes_all = passes_all &&
			condition->ranges[range].first <= bounds.min &&
			condition->ranges[range].last >= bounds.max;
	}
	else if (bounds.nvalues > 0)
		passes_all = false;
	return passes_all ? FILTER_ALL : passes_any ? FILTER_SOME : FILTER_NONE;
}

/*
 * ZbxhistJudgeSegment says what of a segment passes, as far as that is known
 * without its rows.
 */
FilterVerdict
ZbxhistJudgeSegment(const ColumnFilter *filter, const DayLayout *layout,
					const SegmentInfo *info, const SegmentStats *stats)
{
	/* one such part decides, and all others must be so */
	FilterVerdict deciding = filter->kind == FILTER_AND ? FILTER_NONE :
		FILTER_ALL;
	FilterVerdict result = filter->kind == FILTER_AND ? FILTER_ALL :
		FILTER_NONE;
	ListCell   *lc;

	if (filter->kind == FILTER_CONDITION)
		return JudgeCondition(filter->condition, layout, info, stats);
	foreach(lc, filter->parts)
	{
		FilterVerdict verdict = ZbxhistJudgeSegment(lfirst(lc), layout, info,
													stats);

		if (verdict == deciding)
			return verdict;
		if (verdict == FILTER_SOME)
			result = FILTER_SOME;
	}
	return result;
}

/* ---- by rows ---- */

/*
 * passes says whether a number is in one of the condition's ranges.
 */
static inline bool
passes(const ColumnCondition *condition, uint64 key)
{
	const ColumnRange *range = condition->ranges;

	if (condition->nranges > 1)
	{
		int			i = FindRange(condition, key);

		return i < condition->nranges && range[i].first <= key;
	}
	return condition->nranges > 0 &&
		key - range->first <= range->last - range->first;
}

/*
 * CheckEach evaluates a condition for one row after the other, with values as
 * PostgreSQL has them.
 */
static void
CheckEach(const ColumnCondition *condition, const PackedColumn *packed,
		  int nrows, ExprContext *econtext, TupleTableSlot *slot, bool *mask)
{
	int			place = condition->place - 1;

	for (int i = 0; i < nrows; i++)
	{
		MemoryContext old;

		if (!mask[i])
			continue;
		ResetExprContext(econtext);
		ExecClearTuple(slot);
		old = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
		slot->tts_values[place] = ZbxhistPackedDatum(condition->column, packed,
													 i, &slot->tts_isnull[place]);
		MemoryContextSwitchTo(old);
		ExecStoreVirtualTuple(slot);
		econtext->ecxt_outertuple = slot;
		mask[i] = ExecQual(condition->check, econtext);
	}
}

/*
 * FilterDoubles clears the mask of the doubles that are not in the condition's
 * only range, as numbers; returns false, having done nothing, if it has others, or
 * one that these do not tell from others.
 */
static bool
FilterDoubles(const ColumnCondition *condition, const double *values, int n,
			  bool *mask)
{
	const ColumnRange *range = condition->ranges;
	double		first;
	double		last;

	if (condition->nranges != 1 || range->first > double_key(HUGE_VAL) ||
		range->last < double_key(-HUGE_VAL))
		return false;
	first = key_double(Max(range->first, double_key(-HUGE_VAL)));
	/* no double has the number below that of 0 */
	last = key_double(Min(range->last == double_key(0) - 1 ? range->last - 1 :
						  range->last, double_key(HUGE_VAL)));
	if (range->last == PG_UINT64_MAX)
	{
		/* NaN is the greatest */
		for (int i = 0; i < n; i++)
			mask[i] &= !(values[i] < first);
	}
	else
	{
		for (int i = 0; i < n; i++)
			mask[i] &= (values[i] >= first) & (values[i] <= last);
	}
	return true;
}

/*
 * FilterColumn clears the mask of the rows that do not pass a condition.
 */
static void
FilterColumn(const ColumnCondition *condition, const SegmentRows *rows,
			 ExprContext *econtext, TupleTableSlot *slot, bool *mask)
{
	const LayoutColumn *column = condition->column;
	const PackedColumn *packed;

	if (column->packed < 0)
	{
		if (!passes(condition, int_key(rows->itemid)))
			memset(mask, false, sizeof(bool) * rows->nrows);
		return;
	}
	packed = &rows->columns[column->packed];
	if (packed->kind == PACKED_DOUBLE && column->kind == PACKED_DOUBLE &&
		FilterDoubles(condition, packed->doubles, rows->nrows, mask))
		return;
	if (packed->kind != column->kind || packed->kind == PACKED_BYTES)
	{
		CheckEach(condition, packed, rows->nrows, econtext, slot, mask);
		return;
	}
	for (int i = 0; packed->kind == PACKED_INT && i < rows->nrows; i++)
		mask[i] &= passes(condition, int_key(packed->ints[i]));
	for (int i = 0; packed->kind == PACKED_DOUBLE && i < rows->nrows; i++)
		mask[i] &= passes(condition, double_key(packed->doubles[i]));
	for (int i = 0; packed->kind == PACKED_UNSIGNED && i < rows->nrows; i++)
		mask[i] &= passes(condition, packed->unsigneds[i]);
}

/*
 * FilterNulls sets what a condition says of a column's nulls; before has the
 * mask as it was.
 */
static void
FilterNulls(const ColumnCondition *condition, const SegmentRows *rows,
			const bool *before, bool *mask)
{
	const bool *nulls = rows->columns[condition->column->packed].nulls;

	for (int i = 0; i < rows->nrows; i++)
	{
		if (nulls[i])
			mask[i] = before[i] && condition->accepts_null;
	}
}

/*
 * FilterCondition clears the mask of the rows that do not pass a condition.
 */
static void
FilterCondition(const ColumnCondition *condition, const SegmentRows *rows,
				ExprContext *econtext, TupleTableSlot *slot, bool *mask)
{
	const bool *before = NULL;
	int			packed = condition->column->packed;

	if (packed >= 0 && rows->columns[packed].nulls != NULL)
		before = memcpy(palloc(rows->nrows), mask, rows->nrows);
	FilterColumn(condition, rows, econtext, slot, mask);
	if (before != NULL)
		FilterNulls(condition, rows, before, mask);
}

/*
 * ZbxhistFilterRows clears the mask of those decoded rows that do not pass.
 * All conditions must have a column of the day.  What it needs meanwhile is left in the current
 * context; slot is one for rows of the input, whose conditions on numerics
 * that are no unsigned integers are evaluated in econtext.
 */
void
ZbxhistFilterRows(const ColumnFilter *filter, const SegmentRows *rows,
				  ExprContext *econtext, TupleTableSlot *slot, bool *mask)
{
	Size		size = sizeof(bool) * rows->nrows;
	ListCell   *lc;

	if (filter->kind == FILTER_CONDITION)
		FilterCondition(filter->condition, rows, econtext, slot, mask);
	else if (filter->kind == FILTER_AND)
	{
		foreach(lc, filter->parts)
			ZbxhistFilterRows(lfirst(lc), rows, econtext, slot, mask);
	}
	else
	{
		bool	   *any = palloc0(size);
		bool	   *part = palloc(size);

		foreach(lc, filter->parts)
		{
			memcpy(part, mask, size);
			ZbxhistFilterRows(lfirst(lc), rows, econtext, slot, part);
			for (int i = 0; i < rows->nrows; i++)
				any[i] |= part[i];
		}
		memcpy(mask, any, size);
	}
}

/* ---- what passes ---- */

#define leave_values(values, n, mask, result) \
	do { \
		int			m = 0; \
		(result) = palloc(sizeof(*(result)) * Max((n), 1)); \
		for (int i = 0; i < (n); i++) \
		{ \
			(result)[m] = (values)[i]; \
			m += (mask)[i]; \
		} \
	} while (0)

/*
 * LeaveColumn makes a column of n values of which only those with a mask are
 * left.
 */
static void
LeaveColumn(const PackedColumn *packed, int n, const bool *mask,
			PackedColumn *result)
{
	memset(result, 0, sizeof(PackedColumn));
	result->kind = packed->kind;
	if (packed->nulls != NULL)
		leave_values(packed->nulls, n, mask, result->nulls);
	if (packed->kind == PACKED_BYTES)
		leave_values(packed->bytes, n, mask, result->bytes);
	else
		leave_values(packed->ints, n, mask, result->ints);
}

/*
 * ZbxhistLeaveRows makes rows of which only those with a mask are left, and of
 * the columns the wanted ones, in the current context.
 */
void
ZbxhistLeaveRows(const SegmentRows *rows, const bool *wanted,
				 const bool *mask, SegmentRows *result)
{
	int			n = 0;

	for (int i = 0; i < rows->nrows; i++)
		n += mask[i];
	*result = *rows;
	result->nrows = n;
	if (n == 0 || n == rows->nrows)
		return;
	result->columns = palloc0(sizeof(PackedColumn) * rows->ncolumns);
	for (int i = 0; i < rows->ncolumns; i++)
	{
		if (wanted[i])
			LeaveColumn(&rows->columns[i], rows->nrows, mask,
						&result->columns[i]);
	}
}
