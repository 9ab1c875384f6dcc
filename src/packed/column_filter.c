/*-------------------------------------------------------------------------
 *
 * column_filter.c
 *	  Decides by the statistics of a segment whether its rows meet a condition.
 *
 * The least and the greatest value of some columns are known: of item and clock, and of
 * those with statistics.  So a comparison with a constant or a parameter may be known to
 * hold for all rows of a segment, or for none.  For other conditions and other columns
 * the rows must be read.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/nbtree.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "nodes/nodeFuncs.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "format/numbers.h"
#include "packed/column_filter.h"

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
	int			least;			/* against the value: below, equal, above */
	int			greatest;
	bool		all = false;
	bool		none = false;

	if (condition->isnull)
		return FILTER_NONE;
	if (!SetColumnBounds(condition, map, layout, info, stats, &min, &max, &count))
		return FILTER_SOME;
	if (count == 0)
		return FILTER_NONE;
	least = DatumGetInt32(FunctionCall2(&condition->compare, min, condition->value));
	greatest = DatumGetInt32(FunctionCall2(&condition->compare, max,
										   condition->value));
	switch (condition->strategy)
	{
		case BTLessStrategyNumber:
			all = greatest < 0;
			none = least >= 0;
			break;
		case BTLessEqualStrategyNumber:
			all = greatest <= 0;
			none = least > 0;
			break;
		case BTEqualStrategyNumber:
			all = least == 0 && greatest == 0;
			none = least > 0 || greatest < 0;
			break;
		case BTGreaterEqualStrategyNumber:
			all = least >= 0;
			none = greatest < 0;
			break;
		case BTGreaterStrategyNumber:
			all = least > 0;
			none = greatest <= 0;
			break;
	}
	/* a comparison with NULL does not hold */
	return none ? FILTER_NONE : all && count == info->nrows ? FILTER_ALL :
		FILTER_SOME;
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
		FilterVerdict verdict = JudgeCondition(lfirst(lc), map, layout, info,
											   stats);

		if (verdict == FILTER_NONE)
			return verdict;
		result = Min(result, verdict);
	}
	return result;
}
