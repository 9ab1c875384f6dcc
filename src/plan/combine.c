/*-------------------------------------------------------------------------
 *
 * combine.c
 *	  Aggregates of groups in the place of aggregates of their rows.
 *
 * What a query asks for of a parent's rows is made of what their groups by item
 * have (group_below.c): a count of the sum of counts, an average of sums and
 * counts, the least of the least.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_aggregate.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

#include "compat.h"
#include "plan/two_steps.h"

/*
 * ZbxhistIsOfSource says whether an expression has columns of rti, and no others of the
 * query's.
 */
bool
ZbxhistIsOfSource(const TwoSteps *steps, Node *node)
{
	Relids		relids = pull_varnos(NULL, node);

	return bms_membership(relids) == BMS_SINGLETON &&
		bms_is_member(steps->rti, relids);
}

/* ---- totals ---- */

/*
 * AddTotal has the groups below have an aggregate, of the argument and the FILTER of
 * another, and returns the column that it is of rti.
 */
static Expr *
AddTotal(TwoSteps *steps, const Aggref *model, Oid function)
{
	Aggref	   *total = copyObject((Aggref *) model);
	int			n;

	total->aggfnoid = function;
	total->aggtype = get_func_rettype(function);
	for (n = 0; n < list_length(steps->totals); n++)
	{
		if (equal(list_nth(steps->totals, n), total))
			break;
	}
	if (n == list_length(steps->totals))
		steps->totals = lappend(steps->totals, total);
	steps->is_refused |= !may_execute(function);
	return (Expr *) makeVar(steps->rti, list_length(steps->keys) + n + 1,
							total->aggtype, -1, total->aggcollid, 0);
}

/*
 * Aggregate returns an aggregate of an expression.
 */
static Expr *
Aggregate(TwoSteps *steps, Oid function, Expr *expr)
{
	Aggref	   *result = makeNode(Aggref);

	result->aggfnoid = function;
	result->aggtype = get_func_rettype(function);
	result->aggargtypes = list_make1_oid(exprType((Node *) expr));
	result->args = list_make1(makeTargetEntry(expr, 1, NULL, false));
	result->aggkind = AGGKIND_NORMAL;
	result->aggsplit = AGGSPLIT_SIMPLE;
	result->aggno = -1;
	result->aggtransno = -1;
	result->location = -1;
	steps->is_refused |= !may_execute(function);
	return (Expr *) result;
}

/*
 * Call returns the call of a function.
 */
static Expr *
Call(Oid function, List *args)
{
	return (Expr *) makeFuncExpr(function, get_func_rettype(function), args,
								 InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
}

/*
 * Count returns the sum of a count of groups, 0 if there are none.
 */
static Expr *
Count(TwoSteps *steps, const Aggref *model, Oid function)
{
	CoalesceExpr *result = makeNode(CoalesceExpr);
	Expr	   *sum = Aggregate(steps, F_SUM_INT8,
								AddTotal(steps, model, function));
	Const	   *zero = makeConst(INT8OID, -1, InvalidOid, sizeof(int64),
								 Int64GetDatum(0), false, FLOAT8PASSBYVAL);

	result->coalescetype = INT8OID;
	result->args = list_make2(Call(F_INT8_NUMERIC, list_make1(sum)), zero);
	result->location = -1;
	return (Expr *) result;
}

/*
 * Average returns what the sum, by a function whose sums another one adds up, and
 * the count make.
 */
static Expr *
Average(TwoSteps *steps, const Aggref *model, Oid function, Oid adding)
{
	Expr	   *sum = Aggregate(steps, adding, AddTotal(steps, model, function));
	Expr	   *count = Aggregate(steps, F_SUM_INT8,
								  AddTotal(steps, model, F_COUNT_ANY));

	if (adding == F_SUM_FLOAT8)
		return Call(F_FLOAT8DIV, list_make2(sum, Call(F_FLOAT8_NUMERIC,
													  list_make1(count))));
	return Call(F_NUMERIC_DIV, list_make2(sum, count));
}

/*
 * Combine returns what makes an aggregate of those of the groups below, or NULL if
 * there is no such thing.
 */
static Expr *
Combine(TwoSteps *steps, const Aggref *call)
{
	switch (call->aggfnoid)
	{
		case F_COUNT_:
		case F_COUNT_ANY:
			return Count(steps, call, call->aggfnoid);
		case F_MIN_INT4:
		case F_MIN_INT8:
		case F_MIN_FLOAT8:
		case F_MIN_NUMERIC:
		case F_MAX_INT4:
		case F_MAX_INT8:
		case F_MAX_FLOAT8:
		case F_MAX_NUMERIC:
		case F_BOOL_OR:
		case F_BOOL_AND:
		case F_EVERY:
		case F_SUM_FLOAT8:
		case F_SUM_NUMERIC:
			return Aggregate(steps, call->aggfnoid,
							 AddTotal(steps, call, call->aggfnoid));
		case F_SUM_INT4:
			return Call(F_INT8_NUMERIC,
						list_make1(Aggregate(steps, F_SUM_INT8,
											 AddTotal(steps, call, F_SUM_INT4))));
		case F_SUM_INT8:
			return Aggregate(steps, F_SUM_NUMERIC,
							 AddTotal(steps, call, F_SUM_INT8));
		case F_AVG_INT4:
			return Average(steps, call, F_SUM_INT4, F_SUM_INT8);
		case F_AVG_INT8:
			return Average(steps, call, F_SUM_INT8, F_SUM_NUMERIC);
		case F_AVG_FLOAT8:
			return Average(steps, call, F_SUM_FLOAT8, F_SUM_FLOAT8);
		case F_AVG_NUMERIC:
			return Average(steps, call, F_SUM_NUMERIC, F_SUM_NUMERIC);
		default:
			return NULL;
	}
}

/*
 * CombineAll returns what takes the place of an aggregate of the source's rows;
 * one with another type modifier than its parts is none of these.
 */
static Node *
CombineAll(TwoSteps *steps, const Aggref *call)
{
	Expr	   *result = NULL;

	/* a subquery would get to another level */
	if (call->aggkind == AGGKIND_NORMAL && call->aggorder == NIL &&
		!call->aggvariadic && !checkExprHasSubLink((Node *) call) &&
		(pull_varnos(NULL, (Node *) call) == NULL ||
		 ZbxhistIsOfSource(steps, (Node *) call)))
		result = Combine(steps, call);
	steps->is_refused |= result == NULL || !may_execute(call->aggfnoid);
	return (Node *) result;
}

/* ---- the query above ---- */

/*
 * above is a mutator that makes expressions of the groups' columns of those of the
 * rows', and takes out the conditions that were moved.
 */
static Node *
above(Node *node, void *context)
{
	TwoSteps   *steps = context;
	Aggref	   *call = (Aggref *) node;
	const Var  *var = (const Var *) node;
	int			n = 0;
	ListCell   *lc;

	if (node == NULL || steps->is_refused)
		return NULL;
	if (list_member_ptr(steps->moved, node))
		return makeBoolConst(true, false);
	foreach(lc, steps->keys)
	{
		n++;
		if (equal(lfirst(lc), node))
			return (Node *) makeVar(steps->rti, n, exprType(node),
									exprTypmod(node), exprCollation(node), 0);
	}
	/* of what is different it does not matter how often it is there */
	if (IsA(node, Aggref) && call->aggdistinct == NIL)
		return CombineAll(steps, call);
	if (IsA(node, Query))
	{
		steps->is_refused |= contain_vars_of_level(node, 1) ||
			contain_aggs_of_level(node, 1);
		return node;
	}
	if (IsA(node, Var) && var->varlevelsup == 0)
		steps->is_refused |= var->varno == steps->rti ||
			rt_fetch(var->varno, steps->query->rtable)->rtekind == RTE_JOIN;
	return expression_tree_mutator(node, above, context);
}

/*
 * of_join is a mutator that makes columns of the groups of the rows' in what the
 * entries of joins say of their columns.
 */
static Node *
of_join(Node *node, void *context)
{
	const TwoSteps *steps = context;
	const Var  *var = (const Var *) node;

	if (node == NULL)
		return NULL;
	if (!IsA(node, Var) || var->varno != steps->rti || var->varlevelsup > 0)
		return expression_tree_mutator(node, of_join, context);
	if (var->varattno == steps->itemid)
		return (Node *) makeVar(steps->rti, 1, var->vartype, var->vartypmod,
								var->varcollid, 0);
	return (Node *) makeNullConst(var->vartype, var->vartypmod, var->varcollid);
}

/*
 * ZbxhistCombineGroups returns expressions of the query as those of groups, or refuses it.
 */
List *
ZbxhistCombineGroups(TwoSteps *steps, List *exprs)
{
	return (List *) above((Node *) exprs, steps);
}

/*
 * ZbxhistJoinGroups has entries of joins have the groups' columns.
 */
void
ZbxhistJoinGroups(TwoSteps *steps)
{
	ListCell   *lc;

	foreach(lc, steps->query->rtable)
	{
		RangeTblEntry *join = lfirst_node(RangeTblEntry, lc);

		if (join->rtekind == RTE_JOIN)
			join->joinaliasvars = (List *) of_join((Node *) join->joinaliasvars,
												   steps);
	}
}
