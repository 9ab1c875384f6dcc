/*-------------------------------------------------------------------------
 *
 * column_filter.c
 *	  Which conditions are evaluated on columns of segments, without rows.
 *
 * Comparisons of a column of integers, doubles or numerics with a constant, a
 * parameter, or an array of these, by an operator of the default ordering of
 * the column's type or the one that negates its equality; IS NULL and
 * IS NOT NULL; and AND and OR of all that.  A row counts where a condition is
 * true; whether it is false or unknown elsewhere is all the same without NOT,
 * which the planner leaves only where it could not get rid of it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "access/transam.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "nodes/nodeFuncs.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "read/column_filter.h"

/* ---- comparisons ---- */

/*
 * CannotFail says whether a function is a cast of numbers that takes them all.
 */
static bool
CannotFail(Oid function)
{
	return function == F_INT4_INT2 || function == F_INT8_INT2 ||
		function == F_INT8_INT4 || function == F_FLOAT8_INT2 ||
		function == F_FLOAT8_INT4 || function == F_FLOAT8_INT8 ||
		function == F_FLOAT8_FLOAT4 || function == F_NUMERIC_INT2 ||
		function == F_NUMERIC_INT4 || function == F_NUMERIC_INT8 ||
		function == F_NUMERIC_FLOAT4 || function == F_NUMERIC_FLOAT8;
}

/*
 * is_no_value is a walker that says whether an expression has anything but
 * constants, parameters, and casts and arrays of them: others may fail, where an OR
 * would not have come to them.
 */
static bool
is_no_value(Node *node, void *context)
{
	if (node == NULL)
		return false;
	switch (nodeTag(node))
	{
		case T_FuncExpr:
			if (!CannotFail(((FuncExpr *) node)->funcid))
				return true;
			break;
		case T_List:
		case T_Const:
		case T_Param:
		case T_RelabelType:
		case T_ArrayExpr:
			break;
		default:
			return true;
	}
	return expression_tree_walker(node, is_no_value, context);
}

/*
 * IsNumberColumn says whether an expression is a column of a type that we
 * compare.
 */
static bool
IsNumberColumn(Node *node)
{
	Var		   *var = (Var *) node;

	return IsA(node, Var) && var->varattno > 0 && var->varlevelsup == 0 &&
		(var->vartype == INT4OID || var->vartype == INT8OID ||
		 var->vartype == FLOAT8OID || var->vartype == NUMERICOID);
}

/*
 * SetOperator sets what an operator does that has a column on its left, and a value on
 * its right; returns false if it is not one of the ordering of the column's type.
 */
static bool
SetOperator(ColumnCondition *condition, Oid operator, Node *column, Node *value)
{
	Oid			family;
	bool		is_negated;
	Oid			left;

	if (!OidIsValid(operator) || !IsNumberColumn(column) ||
		is_no_value(value, NULL))
		return false;
	condition->place = ((Var *) column)->varattno;
	condition->type = ((Var *) column)->vartype;
	family = lookup_type_cache(condition->type,
							   TYPECACHE_BTREE_OPFAMILY)->btree_opf;
	is_negated = !op_in_opfamily(operator, family);
	if (family >= FirstNormalObjectId)
		return false;
	if (is_negated)
	{
		operator = get_negator(operator);
		if (!OidIsValid(operator) || !op_in_opfamily(operator, family))
			return false;
	}
	get_op_opfamily_properties(operator, family, false, &condition->strategy,
							   &left, &condition->value_type);
	if (left != condition->type ||
		(is_negated && condition->strategy != BTEqualStrategyNumber))
		return false;
	if (is_negated)
		condition->strategy = InvalidStrategy;
	return true;
}

/*
 * TakeColumnComparison takes "column op value" or "value op column", and
 * returns the value, or NULL.
 */
static Node *
TakeColumnComparison(OpExpr *op, ColumnCondition *condition)
{
	Node	   *left = linitial(op->args);
	Node	   *right = llast(op->args);
	Oid			operator = op->opno;

	if (list_length(op->args) != 2)
		return NULL;
	if (!IsNumberColumn(left))
	{
		Node	   *swap = left;

		left = right;
		right = swap;
		operator = get_commutator(operator);
	}
	if (!SetOperator(condition, operator, left, right) ||
		exprType(right) != condition->value_type)
		return NULL;
	return right;
}

/*
 * TakeArray takes "column = ANY (array)" and "column <> ALL (array)", and
 * returns the array, or NULL.
 */
static Node *
TakeArray(ScalarArrayOpExpr *op, ColumnCondition *condition)
{
	Node	   *right = lsecond(op->args);

	condition->is_array = true;
	if (!SetOperator(condition, op->opno, linitial(op->args), right) ||
		condition->strategy != (op->useOr ? BTEqualStrategyNumber : InvalidStrategy) ||
		get_element_type(exprType(right)) != condition->value_type)
		return NULL;
	return right;
}

/*
 * TakeNullTest takes IS NULL and IS NOT NULL; returns false for those of
 * something else than a column.
 */
static bool
TakeNullTest(NullTest *test, ColumnCondition *condition)
{
	static ColumnRange everything = {0, PG_UINT64_MAX};
	Var		   *var = (Var *) test->arg;

	if (test->argisrow || !IsNumberColumn((Node *) var))
		return false;
	condition->place = var->varattno;
	condition->type = var->vartype;
	condition->is_null_test = true;
	condition->accepts_null = test->nulltesttype == IS_NULL;
	condition->nranges = condition->accepts_null ? 0 : 1;
	condition->ranges = &everything;
	return true;
}

/*
 * TakeColumnCondition takes a condition on a column, and sets its value;
 * returns false if it is another one.
 */
static bool
TakeColumnCondition(Expr *expr, ColumnCondition *condition, Node **value)
{
	memset(condition, 0, sizeof(ColumnCondition));
	*value = NULL;
	if (IsA(expr, NullTest))
		return TakeNullTest((NullTest *) expr, condition);
	if (IsA(expr, OpExpr))
		*value = TakeColumnComparison((OpExpr *) expr, condition);
	else if (IsA(expr, ScalarArrayOpExpr))
		*value = TakeArray((ScalarArrayOpExpr *) expr, condition);
	return *value != NULL;
}

/* ---- all of them ---- */

/*
 * MakeFilter makes the filter of a condition, NULL if it is not evaluated on columns;
 * without a parent, which evaluates its values, only to tell that.
 */
static ColumnFilter *
MakeFilter(Expr *expr, PlanState *parent)
{
	ColumnFilter *filter = palloc0(sizeof(ColumnFilter));
	ColumnCondition *condition;
	Node	   *value;
	ListCell   *lc;

	if (IsA(expr, BoolExpr) && ((BoolExpr *) expr)->boolop != NOT_EXPR)
	{
		filter->kind = ((BoolExpr *) expr)->boolop == AND_EXPR ? FILTER_AND :
			FILTER_OR;
		foreach(lc, ((BoolExpr *) expr)->args)
			filter->parts = lappend(filter->parts,
									MakeFilter(lfirst(lc), parent));
		return list_member_ptr(filter->parts, NULL) ? NULL : filter;
	}
	filter->kind = FILTER_CONDITION;
	filter->condition = condition = palloc(sizeof(ColumnCondition));
	if (!TakeColumnCondition(expr, condition, &value))
		return NULL;
	if (value != NULL && parent != NULL)
		condition->value = ExecInitExpr((Expr *) value, parent);
	if (parent != NULL)
		condition->check = ExecInitQual(list_make1(expr), parent);
	return filter;
}

/*
 * ZbxhistIsColumnCondition says whether a condition on rows of one relation is
 * evaluated on its columns.
 */
bool
ZbxhistIsColumnCondition(Expr *expr)
{
	return MakeFilter(expr, NULL) != NULL;
}

/*
 * ZbxhistMakeColumnFilter makes the filter of those conditions, all of which
 * have to hold, that are evaluated on columns, in the current context; NULL if
 * there are none.  Columns are those of the input.
 */
ColumnFilter *
ZbxhistMakeColumnFilter(List *conditions, PlanState *parent)
{
	ColumnFilter *filter = palloc0(sizeof(ColumnFilter));
	ListCell   *lc;

	filter->kind = FILTER_AND;
	foreach(lc, conditions)
	{
		ColumnFilter *part = MakeFilter(lfirst(lc), parent);

		if (part != NULL)
			filter->parts = lappend(filter->parts, part);
	}
	return filter->parts == NIL ? NULL : filter;
}
