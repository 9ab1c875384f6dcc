/*-------------------------------------------------------------------------
 *
 * range_support.c
 *	  Planner support for the function range.
 *
 * The executor materialises a function in FROM before it gives out a row, so
 * where range_scan.c does not apply, a LIMIT above it comes too late.  In
 *
 *		SELECT ... FROM zbxhist.range(...) LIMIT n
 *
 * the function may as well be asked for n rows (and those that OFFSET skips),
 * if nothing stands between it and the LIMIT: no condition, join, grouping,
 * sort or other set-returning function.  Here its argument max_rows is
 * replaced by the smaller of the two.  The limit itself stays in the plan.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/pathnodes.h"
#include "nodes/supportnodes.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"

#include "read/range.h"

PG_FUNCTION_INFO_V1(zbxhist_range_support);

/*
 * PassesLimitOn says whether every row of the query is one of the function's,
 * in its order.  Without set-returning functions in the target list there is
 * no other place for the call than FROM.
 */
static bool
PassesLimitOn(const Query *query, Oid funcid)
{
	RangeTblEntry *rte;
	RangeTblFunction *function;

	if (query->commandType != CMD_SELECT || query->limitCount == NULL ||
		query->limitOption != LIMIT_OPTION_COUNT ||
		query->hasAggs || query->hasWindowFuncs || query->hasTargetSRFs ||
		query->groupClause != NIL || query->groupingSets != NIL ||
		query->havingQual != NULL || query->distinctClause != NIL ||
		query->sortClause != NIL || query->setOperations != NULL ||
		query->rowMarks != NIL || query->jointree->quals != NULL ||
		list_length(query->jointree->fromlist) != 1 ||
		!IsA(linitial(query->jointree->fromlist), RangeTblRef))
		return false;
	rte = rt_fetch(linitial_node(RangeTblRef,
								 query->jointree->fromlist)->rtindex,
				   query->rtable);
	if (rte->rtekind != RTE_FUNCTION || list_length(rte->functions) != 1)
		return false;
	function = linitial_node(RangeTblFunction, rte->functions);
	return function->funcexpr != NULL && IsA(function->funcexpr, FuncExpr) &&
		((FuncExpr *) function->funcexpr)->funcid == funcid;
}

/*
 * GetConstRows takes a LIMIT or OFFSET that the planner knows into *rows;
 * returns false if it does not know it, or the executor will refuse it.
 */
static bool
GetConstRows(PlannerInfo *root, Node *expr, int64 missing, int64 *rows)
{
	Const	   *value;

	*rows = missing;
	if (expr == NULL)
		return true;
	value = (Const *) estimate_expression_value(root, copyObject(expr));
	if (!IsA(value, Const) || value->consttype != INT8OID)
		return false;
	if (!value->constisnull)
		*rows = DatumGetInt64(value->constvalue);
	return *rows >= 0;
}

/*
 * IsPlain says whether an expression has the same value whenever the plan
 * is executed: estimates of what changes must not become results.
 */
static bool
IsPlain(Node *expr)
{
	return expr == NULL ||
		(!contain_mutable_functions(expr) && !contain_subplans(expr));
}

/*
 * HasParameters is a walker that finds parameters, whose values in a plan
 * that is kept are not those of the next execution.
 */
static bool
HasParameters(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Param))
		return true;
	return expression_tree_walker(node, HasParameters, context);
}

/*
 * MakeLimit returns an expression for the number of rows that the query can
 * use, or NULL if that cannot be said.  A parameter alone, without OFFSET,
 * serves as it is.
 */
static Node *
MakeLimit(PlannerInfo *root)
{
	const Query *query = root->parse;
	Node	   *count = eval_const_expressions(root,
											   copyObject(query->limitCount));
	Node	   *offset = eval_const_expressions(root,
												copyObject(query->limitOffset));
	int64		nrows;
	int64		nskipped;

	if (!IsPlain(count) || !IsPlain(offset) || HasParameters(offset, NULL))
		return NULL;
	if (HasParameters(count, NULL))
		return offset == NULL ? count : NULL;
	if (!GetConstRows(root, count, PG_INT64_MAX, &nrows) ||
		!GetConstRows(root, offset, 0, &nskipped) ||
		nrows > PG_INT64_MAX - nskipped)
		return NULL;
	return (Node *) makeConst(INT8OID, -1, InvalidOid, sizeof(int64),
							  Int64GetDatum(nrows + nskipped), false,
							  FLOAT8PASSBYVAL);
}

/*
 * LimitCall returns the call with its max_rows lowered, or NULL if there is
 * nothing to gain.  A null max_rows is no limit, as LEAST ignores nulls.
 */
static Node *
LimitCall(SupportRequestSimplify *request)
{
	FuncExpr   *call = request->fcall;
	Node	   *limit;
	MinMaxExpr *least;
	FuncExpr   *result;

	if (request->root == NULL ||
		list_length(call->args) <= RANGE_MAX_ROWS_ARGUMENT ||
		!PassesLimitOn(request->root->parse, call->funcid) ||
		(limit = MakeLimit(request->root)) == NULL ||
		equal(limit, list_nth(call->args, RANGE_MAX_ROWS_ARGUMENT)))
		return NULL;

	least = makeNode(MinMaxExpr);
	least->minmaxtype = INT8OID;
	least->op = IS_LEAST;
	least->args = list_make2(list_nth(call->args, RANGE_MAX_ROWS_ARGUMENT), limit);
	least->location = -1;

	result = copyObject(call);
	list_nth_cell(result->args, RANGE_MAX_ROWS_ARGUMENT)->ptr_value =
		eval_const_expressions(request->root, (Node *) least);
	if (equal(result, call))
		return NULL;
	return (Node *) result;
}

/*
 * EstimateRows tells the planner a max_rows that it can know.
 */
static bool
EstimateRows(SupportRequestRows *request)
{
	FuncExpr   *call = (FuncExpr *) request->node;
	int64		rows;

	if (request->root == NULL || !IsA(call, FuncExpr) ||
		list_length(call->args) <= RANGE_MAX_ROWS_ARGUMENT ||
		!GetConstRows(request->root, list_nth(call->args, RANGE_MAX_ROWS_ARGUMENT),
					  PG_INT64_MAX, &rows) ||
		rows > 1000)
		return false;
	request->rows = Max(rows, 1);
	return true;
}

/*
 * zbxhist_range_support is the support function of both functions range.
 */
Datum
zbxhist_range_support(PG_FUNCTION_ARGS)
{
	Node	   *request = (Node *) PG_GETARG_POINTER(0);
	Node	   *result = NULL;

	if (IsA(request, SupportRequestSimplify))
		result = LimitCall((SupportRequestSimplify *) request);
	else if (IsA(request, SupportRequestRows) &&
			 EstimateRows((SupportRequestRows *) request))
		result = request;
	PG_RETURN_POINTER(result);
}
