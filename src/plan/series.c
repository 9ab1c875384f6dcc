/*-------------------------------------------------------------------------
 *
 * series.c
 *	  Joins with generate_series, by intervals of the clock.
 *
 * For an interval without values to have a row, people write
 *
 *	   SELECT s.t, avg(h.value) FROM generate_series(100, 200, 10) s (t)
 *		   LEFT JOIN history h ON h.clock >= s.t AND h.clock < s.t + 10
 *		   GROUP BY s.t
 *
 * for which PostgreSQL compares each number of the series with each row, or looks
 * for rows so often.  But it follows that s.t = 100 + (h.clock - 100) / 10 * 10,
 * so rows can be joined by a hash, and that clocks are between the first and the
 * last number.  What follows is added to the join's condition.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "catalog/pg_opfamily.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

#include "aggregate/clock_keys.h"
#include "plan/clock_bounds.h"
#include "plan/implied.h"
#include "read_integer.h"

/* a clock that is from first to last more than a number of a series */
typedef struct Stretch
{
	Node	   *clock;			/* NULL: none yet */
	Node	   *number;
	List	   *series;			/* arguments of the call that gives it */
	int64		step;
	int64		first;
	int64		last;
} Stretch;

/*
 * GetConst sets number to an integer that an expression is; returns false if it is
 * none.
 */
static bool
GetConst(Node *node, int64 *number)
{
	const Const *constant = (const Const *) eval_const_expressions(NULL, node);

	return IsA(constant, Const) && !constant->constisnull &&
		read_integer(constant->consttype, constant->constvalue, number);
}

/*
 * GetSeries returns the arguments of the series whose numbers a column is, and sets
 * what is between two of them; NIL if it is another column.
 */
static List *
GetSeries(const Query *query, Node *node, int64 *step)
{
	const Var  *number = (const Var *) node;
	const RangeTblEntry *rte;
	const FuncExpr *call;

	if (!IsA(number, Var) || number->varlevelsup > 0 || number->varattno != 1)
		return NIL;
	rte = rt_fetch(number->varno, query->rtable);
	if (rte->rtekind != RTE_FUNCTION || list_length(rte->functions) != 1)
		return NIL;
	call = (FuncExpr *) linitial_node(RangeTblFunction, rte->functions)->funcexpr;
	if (!IsA(call, FuncExpr) ||
		call->funcid != F_GENERATE_SERIES_INT4_INT4_INT4 ||
		!GetConst(lthird(call->args), step) || *step <= 0 ||
		contain_var_clause((Node *) call->args) ||
		contain_volatile_functions((Node *) call->args) ||
		checkExprHasSubLink((Node *) call->args))
		return NIL;
	return call->args;
}

/*
 * SplitSum returns what a number is added to, and sets that.
 */
static Node *
SplitSum(Node *node, int64 *offset)
{
	List	   *args;
	Oid			function = ZbxhistCallOf(node, &args);

	*offset = 0;
	if ((function != F_INT4PL && function != F_INT4MI) ||
		!GetConst(lsecond(args), offset))
		return node;
	*offset = function == F_INT4MI ? -*offset : *offset;
	return linitial(args);
}

/*
 * TakeLimit takes a condition that a clock is more, or less, than a number of a series
 * and a constant.
 */
static void
TakeLimit(const Query *query, OpExpr *op, Stretch *stretch)
{
	int			strategy;
	int64		offset;
	int64		step;
	List	   *series;
	Node	   *clock;
	Node	   *number;

	if (!IsA(op, OpExpr) || list_length(op->args) != 2)
		return;
	strategy = get_op_opfamily_strategy(op->opno, INTEGER_BTREE_FAM_OID);
	clock = linitial(op->args);
	number = SplitSum(lsecond(op->args), &offset);
	series = GetSeries(query, number, &step);
	if (series == NIL)
	{
		clock = lsecond(op->args);
		number = SplitSum(linitial(op->args), &offset);
		strategy = BTMaxStrategyNumber + 1 - strategy;
		series = GetSeries(query, number, &step);
	}
	if (strategy < BTLessStrategyNumber || strategy > BTGreaterStrategyNumber ||
		series == NIL ||
		exprType(clock) != INT4OID || !ZbxhistIsKeyOfParent(query, clock) ||
		(stretch->clock != NULL && (!equal(clock, stretch->clock) ||
									!equal(number, stretch->number))))
		return;
	stretch->clock = clock;
	stretch->number = number;
	stretch->series = series;
	stretch->step = step;
	if (strategy >= BTEqualStrategyNumber)
		stretch->first = offset + (strategy == BTGreaterStrategyNumber);
	if (strategy <= BTEqualStrategyNumber)
		stretch->last = offset - (strategy == BTLessStrategyNumber);
}

/*
 * Number returns a constant.
 */
static Node *
Number(int64 number)
{
	return (Node *) makeConst(INT8OID, -1, InvalidOid, sizeof(int64),
							  Int64GetDatum(number), false, FLOAT8PASSBYVAL);
}

/*
 * CallBigint returns the call of a function of bigints.
 */
static Node *
CallBigint(Oid function, Node *left, Node *right)
{
	return (Node *) makeFuncExpr(function, INT8OID, list_make2(left, right),
								 InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
}

/*
 * Add returns the sum of an integer and a number, as a bigint.
 */
static Node *
Add(void *integer, int64 number)
{
	Node	   *left = (Node *) makeFuncExpr(F_INT8_INT4, INT8OID,
											 list_make1(copyObject((Node *) integer)),
											 InvalidOid, InvalidOid,
											 COERCE_EXPLICIT_CALL);

	return number == 0 ? left : CallBigint(F_INT8PL, left, Number(number));
}

/*
 * Compare adds the comparison of a column with a bigint to conditions.
 */
static List *
Compare(List *conditions, Node *column, int strategy, Node *other)
{
	Oid			operator = get_opfamily_member(INTEGER_BTREE_FAM_OID, INT4OID,
											   INT8OID, strategy);

	return lappend(conditions,
				   make_opclause(operator, BOOLOID, false,
								 (Expr *) copyObject(column),
								 (Expr *) eval_const_expressions(NULL, other),
								 InvalidOid, InvalidOid));
}

/*
 * ImplyOfQuals adds to the condition of a join, or WHERE, what follows from it.
 */
static void
ImplyOfQuals(const Query *query, Node **quals)
{
	List	   *parts = ZbxhistAddParts(NIL, *quals, AND_EXPR);
	Stretch		stretch = {.first = PG_INT64_MIN / 2,.last = PG_INT64_MAX / 2};
	List	   *series;
	Node	   *steps;
	ListCell   *lc;

	foreach(lc, parts)
		TakeLimit(query, lfirst(lc), &stretch);
	if (stretch.last - stretch.first >= PG_INT32_MAX)
		return;
	series = stretch.series;
	parts = Compare(parts, stretch.clock, BTGreaterEqualStrategyNumber,
					Add(linitial(series), stretch.first));
	parts = Compare(parts, stretch.clock, BTLessEqualStrategyNumber,
					Add(lsecond(series), stretch.last));
	if (stretch.last - stretch.first < stretch.step)
	{
		steps = CallBigint(F_INT8DIV, CallBigint(F_INT8MI, Add(stretch.clock, 0),
												 Add(linitial(series), stretch.first)),
						   Number(stretch.step));
		parts = Compare(parts, stretch.number, BTEqualStrategyNumber,
						CallBigint(F_INT8PL, CallBigint(F_INT8MUL, steps, Number(stretch.step)),
								   Add(linitial(series), 0)));
	}
	*quals = (Node *) make_ands_explicit(parts);
}

/*
 * ZbxhistImplyOfSeries is a walker that does so with the conditions in FROM and WHERE.
 */
bool
ZbxhistImplyOfSeries(Node *node, Query *query)
{
	if (node == NULL)
		return false;
	if (IsA(node, JoinExpr))
		ImplyOfQuals(query, &((JoinExpr *) node)->quals);
	else if (IsA(node, FromExpr))
		ImplyOfQuals(query, &((FromExpr *) node)->quals);
	else if (!IsA(node, List))
		return false;
	return expression_tree_walker(node, ZbxhistImplyOfSeries, query);
}
