/*-------------------------------------------------------------------------
 *
 * column_filter.c
 *	  Decides by the statistics of a segment, and by its decoded columns, whether rows
 *	  meet a condition.
 *
 * The least and the greatest value of some columns are known: of item and clock, and of
 * those with statistics.  So a comparison with a constant or a parameter may be known to
 * hold for all rows of a segment, or for none.  For other conditions and other columns
 * the rows must be read.
 *
 * Of a segment that has been decoded, a comparison with numbers can be made with the
 * packed column itself.  Rows that do not meet it are not made into rows of the table.
 * The conditions are checked once more on those that are.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/nbtree.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "nodes/nodeFuncs.h"
#include "utils/float.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "format/numbers.h"
#include "packed/column_filter.h"

/* for each strategy the orders of column and value: 1 below, 2 equal, 4 above */
static const uint8 orders_of_strategy[] = {0, 1, 3, 2, 6, 4};

/*
 * order_bit returns the order that a comparison has found.
 */
static inline int
order_bit(int comparison)
{
	return comparison < 0 ? 1 : comparison == 0 ? 2 : 4;
}

/* ---- beginning ---- */

/*
 * MakeCondition makes a condition of "column operator value", or the other way
 * round, where the operator is of the default ordering of the column's type.
 * Returns NULL if it is another one.
 */
static ColumnCondition *
MakeCondition(OpExpr *op, PlanState *parent)
{
	ColumnCondition *condition = palloc0(sizeof(ColumnCondition));
	Oid			operator = op->opno;
	Node	   *column;
	Node	   *value;
	TypeCacheEntry *type;
	int			strategy;
	Oid			left;
	Oid			right;

	if (!IsA(op, OpExpr) || list_length(op->args) != 2)
		return NULL;
	column = linitial(op->args);
	value = lsecond(op->args);
	if (!IsA(column, Var))
	{
		column = lsecond(op->args);
		value = linitial(op->args);
		operator = get_commutator(operator);
	}
	if (!IsA(column, Var) || !OidIsValid(operator) ||
		(!IsA(value, Const) &&
		 (!IsA(value, Param) || ((Param *) value)->paramkind != PARAM_EXTERN)))
		return NULL;
	condition->attribute = ((Var *) column)->varattno - 1;
	condition->type = ((Var *) column)->vartype;
	if (condition->type != INT4OID && condition->type != INT8OID &&
		condition->type != FLOAT8OID && condition->type != NUMERICOID)
		return NULL;
	type = lookup_type_cache(condition->type, TYPECACHE_BTREE_OPFAMILY);
	if (!op_in_opfamily(operator, type->btree_opf))
		return NULL;
	get_op_opfamily_properties(operator, type->btree_opf, false, &strategy, &left,
							   &right);
	condition->strategy = strategy;
	condition->value_type = right;
	fmgr_info(get_opfamily_proc(type->btree_opf, left, right, BTORDER_PROC),
			  &condition->compare);
	condition->expr = ExecInitExpr((Expr *) value, parent);
	return condition;
}

/*
 * ZbxhistMakeColumnFilter makes a filter of conditions on columns of one table, all of
 * which have to hold, in the current context; NULL if there are none.
 */
ColumnFilter *
ZbxhistMakeColumnFilter(List *quals, PlanState *parent)
{
	ColumnFilter *filter;
	ListCell   *lc;

	if (quals == NIL)
		return NULL;
	filter = palloc0(sizeof(ColumnFilter));
	filter->is_whole = true;
	foreach(lc, quals)
	{
		Expr	   *qual = lfirst(lc);
		ColumnCondition *condition;

		if (is_andclause(qual))
		{
			ColumnFilter *part = ZbxhistMakeColumnFilter(((BoolExpr *) qual)->args,
														 parent);

			filter->conditions = list_concat(filter->conditions, part->conditions);
			filter->is_whole &= part->is_whole;
			continue;
		}
		condition = MakeCondition((OpExpr *) qual, parent);
		if (condition == NULL)
			filter->is_whole = false;
		else
			filter->conditions = lappend(filter->conditions, condition);
	}
	return filter;
}

/*
 * SetWord sets the value of a condition as a packed column would have it, if that is the
 * same number.
 */
static void
SetWord(ColumnCondition *condition)
{
	condition->has_word = !condition->isnull;
	condition->kind = PACKED_INT;
	if (condition->isnull)
		return;
	if (condition->value_type == INT4OID)
		condition->word = DatumGetInt32(condition->value);
	else if (condition->value_type == INT8OID)
		condition->word = DatumGetInt64(condition->value);
	else if (condition->value_type == FLOAT8OID)
	{
		condition->kind = PACKED_DOUBLE;
		condition->number = DatumGetFloat8(condition->value);
	}
	else
	{
		condition->kind = PACKED_UNSIGNED;
		condition->has_word = condition->value_type == NUMERICOID &&
			ZbxhistNumericToUnsigned(condition->value, (uint64 *) &condition->word);
	}
}

/*
 * ZbxhistSetFilterValues evaluates what a filter compares with.  The context
 * owns what that leaves.
 */
void
ZbxhistSetFilterValues(ColumnFilter *filter, ExprContext *econtext,
					   MemoryContext context)
{
	MemoryContext old = MemoryContextSwitchTo(context);
	ListCell   *lc;

	foreach(lc, filter->conditions)
	{
		ColumnCondition *condition = lfirst(lc);

		condition->value = ExecEvalExpr(condition->expr, econtext,
										&condition->isnull);
		SetWord(condition);
	}
	MemoryContextSwitchTo(old);
}

/* ---- segments ---- */

/*
 * SetColumnBounds sets the least and the greatest value of a column in a segment, and
 * how many there are; returns false if that is not known.
 */
static bool
SetColumnBounds(const ColumnCondition *condition, const RowMap *map,
				const DayLayout *layout,
				const SegmentInfo *info, const SegmentStats *stats,
				Datum *min, Datum *max, int64 *count)
{
	const LayoutColumn *column = ZbxhistDirectColumn(map, condition->attribute);

	*count = info->nrows;
	if (column == NULL || column->type != condition->type)
		return false;
	if (column->packed < 0)
	{
		*min = *max = Int64GetDatum(info->itemid);
		return true;
	}
	if (column->packed == 0)
	{
		*min = Int32GetDatum(info->first_clock);
		*max = Int32GetDatum(info->last_clock);
		return true;
	}
	if (layout->value < 0 || !stats->is_set || stats->count > info->nrows ||
		column->packed != layout->columns[layout->value].packed)
		return false;
	*count = stats->count;
	if (stats->kind == PACKED_UNSIGNED && condition->type == NUMERICOID)
	{
		*min = NumericGetDatum(ZbxhistUnsignedToNumeric(stats->min_unsigned));
		*max = NumericGetDatum(ZbxhistUnsignedToNumeric(stats->max_unsigned));
		return true;
	}
	*min = Float8GetDatum(stats->min_double);
	*max = Float8GetDatum(stats->max_double);
	return stats->kind == PACKED_DOUBLE && condition->type == FLOAT8OID;
}

/*
 * JudgeCondition says whether all, some or no rows of a segment pass a condition.
 */
static FilterVerdict
JudgeCondition(ColumnCondition *condition, const RowMap *map,
			   const DayLayout *layout, const SegmentInfo *info,
			   const SegmentStats *stats)
{
	Datum		min;
	Datum		max;
	int64		count;
	int			wanted = orders_of_strategy[condition->strategy];
	int			least;
	int			greatest;
	int			found;			/* orders from the least to the greatest */

	if (condition->isnull)
		return FILTER_NONE;
	if (!SetColumnBounds(condition, map, layout, info, stats, &min, &max, &count))
		return FILTER_SOME;
	if (count == 0)
		return FILTER_NONE;
	least = order_bit(DatumGetInt32(FunctionCall2(&condition->compare, min,
												  condition->value)));
	greatest = order_bit(DatumGetInt32(FunctionCall2(&condition->compare, max,
													 condition->value)));
	found = greatest * 2 - least;
	if ((found & wanted) == 0)
		return FILTER_NONE;
	/* a comparison with NULL does not hold */
	return (found & ~wanted) == 0 && count == info->nrows ? FILTER_ALL : FILTER_SOME;
}

/*
 * ZbxhistJudgeSegment says whether all, some or no rows of a segment pass, as far as that
 * is known without its rows.  Leaves allocations in the current context.
 */
FilterVerdict
ZbxhistJudgeSegment(const ColumnFilter *filter, const RowMap *map,
					const DayLayout *layout, const SegmentInfo *info,
					const SegmentStats *stats)
{
	FilterVerdict result = filter->is_whole ? FILTER_ALL : FILTER_SOME;
	ListCell   *lc;

	foreach(lc, filter->conditions)
	{
		ColumnCondition *condition = lfirst(lc);
		FilterVerdict verdict = JudgeCondition(condition, map, layout, info, stats);

		condition->is_met = verdict == FILTER_ALL;
		if (verdict == FILTER_NONE)
			return verdict;
		result = Min(result, verdict);
	}
	return result;
}

/* ---- rows ---- */

/*
 * OrderOfRow returns the order of a row's value, which is not null, and the condition's.
 */
static inline int
OrderOfRow(const ColumnCondition *condition, const PackedColumn *column, int row)
{
	int64		word;

	if (condition->kind == PACKED_DOUBLE)
		return order_bit(float8_cmp_internal(column->doubles[row], condition->number));
	word = column->ints[row];
	if (word == condition->word)
		return 2;
	return (condition->kind == PACKED_INT ? word < condition->word :
			(uint64) word < (uint64) condition->word) ? 1 : 4;
}

/*
 * ZbxhistMarkPassing marks those rows of a decoded segment, the one that has been judged
 * last, from first to last, that meet all conditions that can be checked without making
 * rows; returns false, and marks none, if there are no such conditions.
 */
bool
ZbxhistMarkPassing(const ColumnFilter *filter, const RowMap *map,
				   const SegmentRows *rows, int first, int last, bool *passes)
{
	bool		is_marked = false;
	ListCell   *lc;

	foreach(lc, filter->conditions)
	{
		const ColumnCondition *condition = lfirst(lc);
		const LayoutColumn *layout = ZbxhistDirectColumn(map, condition->attribute);
		const PackedColumn *column;
		int			wanted = orders_of_strategy[condition->strategy];

		if (condition->is_met || !condition->has_word || layout == NULL ||
			layout->packed < 0 || layout->type != condition->type)
			continue;
		column = &rows->columns[layout->packed];
		if (column->kind != condition->kind)
			continue;
		for (int row = first; row <= last; row++)
			passes[row] = (!is_marked || passes[row]) &&
				!(column->nulls != NULL && column->nulls[row]) &&
				(OrderOfRow(condition, column, row) & wanted) != 0;
		is_marked = true;
	}
	return is_marked;
}
