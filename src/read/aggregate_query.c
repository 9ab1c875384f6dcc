/*-------------------------------------------------------------------------
 *
 * aggregate_query.c
 *	  Which queries can be aggregated over packed days without rows.
 *
 * Grouping keys, of GROUP BY or DISTINCT, are expressions of itemid and clock, which the
 * executor evaluates.  Their functions must be PostgreSQL's own and not volatile, because
 * they are not called for each row, and are called in another order.  Aggregates are
 * count(*), and count, min, max, sum and avg of a column, with or without a FILTER on
 * columns.  Expressions of the results, and HAVING, are evaluated by the executor.
 *
 * Only queries that are known to be of this kind are accepted.  PostgreSQL aggregates the
 * rows of all others.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/transam.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "utils/fmgroids.h"

#include "read/aggregate.h"
#include "read/clock_keys.h"
#include "read/total.h"

/* ---- expressions ---- */

/*
 * is_others_function says whether a function is not PostgreSQL's own; a
 * callback of check_functions_in_node.
 */
static bool
is_others_function(Oid funcid, void *context)
{
	return funcid >= FirstNormalObjectId;
}

/*
 * is_strange is a walker that says whether an expression has parts that cannot be
 * evaluated within a row, or that run code of users.
 */
static bool
is_strange(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, SubPlan) || IsA(node, AlternativeSubPlan) ||
		IsA(node, PlaceHolderVar) || IsA(node, Aggref) ||
		IsA(node, GroupingFunc) || IsA(node, NextValueExpr) || IsA(node, CoerceToDomain) ||
		(IsA(node, Param) && ((Param *) node)->paramkind != PARAM_EXTERN) ||
		(IsA(node, Var) && ((Var *) node)->varlevelsup > 0) ||
		check_functions_in_node(node, is_others_function, NULL))
		return true;
	return expression_tree_walker(node, is_strange, context);
}

/*
 * ZbxhistIsUsable says whether an expression can be evaluated by us.
 */
bool
ZbxhistIsUsable(Node *node)
{
	return !is_strange(node, NULL) && !contain_volatile_functions(node) &&
		!expression_returns_set(node);
}

/*
 * ZbxhistAddByCost adds a condition to others.  As in the planner, cheaper ones come first.
 * If one is false, the others are not evaluated and raise no error.
 */
List *
ZbxhistAddByCost(List *quals, Expr *qual)
{
	int			place = list_length(quals);
	QualCost	cost = {0, 0};
	QualCost	before;

	if (place > 0)
		cost_qual_eval_node(&cost, (Node *) qual, NULL);
	for (; place > 0; place--)
	{
		cost_qual_eval_node(&before, list_nth(quals, place - 1), NULL);
		if (before.per_tuple <= cost.per_tuple)
			break;
	}
	return list_insert_nth(quals, place, qual);
}

/*
 * IsOfColumns says whether all variables of an expression are columns of the
 * relation, none of the system's, and, of a key, itemid and clock.
 */
static bool
IsOfColumns(const AggregateQuery *query, Node *node, bool is_key)
{
	ListCell   *lc;

	foreach(lc, pull_var_clause(node, 0))
	{
		Var		   *var = lfirst_node(Var, lc);

		if (var->varno != query->rti || var->varattno <= 0 ||
			(is_key && var->varattno != query->itemid &&
			 var->varattno != query->clock))
			return false;
	}
	return true;
}

/* ---- grouping keys ---- */

/*
 * ReadKeys takes the query's grouping keys from their clauses.
 */
static bool
ReadKeys(PlannerInfo *root, List *clauses, AggregateQuery *query)
{
	ListCell   *lc;

	query->follows_clock = true;
	if (!grouping_is_hashable(clauses))
		return false;
	foreach(lc, clauses)
	{
		SortGroupClause *clause = lfirst_node(SortGroupClause, lc);
		Node	   *key = get_sortgroupclause_expr(clause,
												   root->processed_tlist);

		if (!ZbxhistIsUsable(key) || !contain_var_clause(key) ||
			!IsOfColumns(query, key, true))
			return false;
		query->keys = lappend(query->keys, key);
		query->equals = lappend_oid(query->equals, clause->eqop);
		if (query->follows_clock)
			query->follows_clock = ZbxhistFollowsClock(key, query->rti,
													   query->clock,
													   &query->breaks);
	}
	return true;
}

/* ---- aggregates ---- */

#define CASES_OF(function) \
	case function##_INT4: \
	case function##_INT8: \
	case function##_FLOAT8: \
	case function##_NUMERIC

/*
 * GetPart returns which part of a total an aggregate function returns; PART_NONE if we do
 * not support it.
 */
static TotalPart
GetPart(Oid function)
{
	switch (function)
	{
		case F_COUNT_ANY:
			return PART_COUNT;
	CASES_OF(F_MIN):
			return PART_MIN;
	CASES_OF(F_MAX):
			return PART_MAX;
	CASES_OF(F_SUM):
			return PART_SUM;
	CASES_OF(F_AVG):
			return PART_AVG;
		default:
			return PART_NONE;
	}
}

/*
 * GetKind returns the kind of total by which values of a type are added up.
 */
static TotalKind
GetKind(TotalPart part, Oid type)
{
	if (part == PART_COUNT)
		return TOTAL_COUNT;
	switch (type)
	{
		case INT4OID:
		case INT8OID:
			return TOTAL_INT;
		case FLOAT8OID:
			return TOTAL_DOUBLE;
		case NUMERICOID:
			return TOTAL_NUMERIC;
		default:
			elog(ERROR, "values of type %u are not added up", type);
	}
}

/*
 * AddInput returns the index of a column, NULL for rows, with a filter, or NULL, among the
 * inputs, adding it if need be.
 */
static int
AddInput(AggregateQuery *query, Var *column, Expr *filter, TotalPart part)
{
	TotalKind	kind = GetKind(part, column == NULL ? InvalidOid : column->vartype);
	bool		is_sum = part == PART_SUM || part == PART_AVG;
	int			n;

	for (n = 0; n < list_length(query->inputs); n++)
	{
		if (!equal(list_nth(query->inputs, n), column) ||
			!equal(list_nth(query->filters, n), filter))
			continue;
		if (kind != TOTAL_COUNT)
			lfirst_int(list_nth_cell(query->kinds, n)) = kind;
		if (is_sum)
			lfirst_int(list_nth_cell(query->sums, n)) = true;
		return n;
	}
	query->inputs = lappend(query->inputs, column);
	query->filters = lappend(query->filters, filter);
	query->kinds = lappend_int(query->kinds, kind);
	query->sums = lappend_int(query->sums, is_sum);
	return n;
}

/*
 * ReadAggregate takes an aggregate; returns false if it is not one of ours.
 */
static bool
ReadAggregate(AggregateQuery *query, Aggref *aggref)
{
	Expr	   *filter = aggref->aggfilter;
	Var		   *column = NULL;
	TotalPart	part = PART_COUNT;
	int			source = -1;

	if (aggref->aggkind != AGGKIND_NORMAL || aggref->aggdistinct != NIL ||
		aggref->aggorder != NIL || aggref->aggdirectargs != NIL ||
		aggref->aggvariadic || aggref->agglevelsup != 0 ||
		aggref->aggsplit != AGGSPLIT_SIMPLE)
		return false;
	if (filter != NULL &&
		(!ZbxhistIsUsable((Node *) filter) ||
		 !IsOfColumns(query, (Node *) filter, false)))
		return false;
	if (aggref->aggfnoid != F_COUNT_)
	{
		part = GetPart(aggref->aggfnoid);
		if (part == PART_NONE || list_length(aggref->args) != 1)
			return false;
		column = (Var *) linitial_node(TargetEntry, aggref->args)->expr;
		if (!IsA(column, Var) || column->varlevelsup > 0 ||
			!IsOfColumns(query, (Node *) column, false))
			return false;
	}
	if (column != NULL || filter != NULL)
		source = AddInput(query, column, filter, part);
	query->aggrefs = lappend(query->aggrefs, aggref);
	query->parts = lappend_int(query->parts, part);
	query->sources = lappend_int(query->sources, source);
	return true;
}

/*
 * is_not_result is a walker that collects the aggregates in an output expression.  Other
 * columns must be in grouping keys.  Returns true if something is not supported.
 */
static bool
is_not_result(Node *node, AggregateQuery *query)
{
	if (node == NULL)
		return false;
	if (IsA(node, Aggref))
		return !list_member(query->aggrefs, node) &&
			!ReadAggregate(query, (Aggref *) node);
	if (list_member(query->keys, node))
		return false;
	if (IsA(node, Var) || IsA(node, SubPlan) ||
		IsA(node, AlternativeSubPlan) || IsA(node, PlaceHolderVar) ||
		IsA(node, GroupingFunc))
		return true;
	return expression_tree_walker(node, is_not_result, query);
}

/*
 * ZbxhistReadAggregateQuery analyses a query whose relation, itemid and clock are set,
 * and says whether it is supported. clauses are those of its grouping keys, target is the
 * output of each group.
 */
bool
ZbxhistReadAggregateQuery(PlannerInfo *root, List *clauses,
						  PathTarget *target, AggregateQuery *query)
{
	const Query *parse = root->parse;

	if (parse->groupingSets != NIL || parse->hasTargetSRFs ||
		parse->hasWindowFuncs || parse->setOperations != NULL ||
		parse->rowMarks != NIL || root->rowMarks != NIL ||
		root->qual_security_level > 0 || !ReadKeys(root, clauses, query))
		return false;
	return !is_not_result((Node *) target->exprs, query) &&
		!is_not_result(parse->havingQual, query);
}
