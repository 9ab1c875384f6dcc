/*-------------------------------------------------------------------------
 *
 * aggregate_query.c
 *	  Which queries can be aggregated over packed days without rows.
 *
 * Grouping keys are expressions of itemid and clock, of GROUP BY or DISTINCT; what they compute is
 * left to the executor.  Aggregates are count, min, max, sum and avg of
 * numbers, variance, stddev, bool_and and bool_or, with or without FILTER, and
 * (array_agg(number ORDER BY clock, ns))[1], or with DESC.  All functions have to be PostgreSQL's own and not volatile: they
 * are called less often than for each row, and in another order.  What is
 * done with the results, and HAVING, is the executor's.  Whatever is not
 * understood makes the query none of these.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "access/transam.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_opfamily.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

#include "aggregate/aggregate.h"
#include "aggregate/clock_keys.h"
#include "read/total.h"

/* ---- expressions ---- */

/*
 * is_others_function says whether a function did not come with PostgreSQL; a
 * callback of check_functions_in_node.
 */
static bool
is_others_function(Oid funcid, void *context)
{
	return funcid >= FirstNormalObjectId;
}

/*
 * is_strange is a walker that says whether an expression has parts that are
 * not evaluated as part of a row, or code of others.
 */
static bool
is_strange(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, SubPlan) || IsA(node, AlternativeSubPlan) ||
		IsA(node, PlaceHolderVar) || IsA(node, Aggref) ||
		IsA(node, GroupingFunc) || IsA(node, NextValueExpr) ||
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
 * GetPart says what an aggregate function gives; PART_ROWS for those that are
 * not known, as for count(*).
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
		case F_BOOL_OR:
			return PART_ANY;
		case F_BOOL_AND:
		case F_EVERY:
			return PART_EVERY;
	CASES_OF(F_VAR_POP):
			return PART_VAR_POP;
	CASES_OF(F_VAR_SAMP):
	CASES_OF(F_VARIANCE):
			return PART_VAR_SAMP;
	CASES_OF(F_STDDEV_POP):
			return PART_STDDEV_POP;
	CASES_OF(F_STDDEV_SAMP):
	CASES_OF(F_STDDEV):
			return PART_STDDEV_SAMP;
		default:
			return PART_ROWS;
	}
}

/*
 * GetKind says as what values of a type are added up.
 */
static TotalKind
GetKind(Oid type)
{
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
			return TOTAL_COUNT;
	}
}

/*
 * KindFor says as what values of a type are added up for a part of a total.
 */
static TotalKind
KindFor(TotalPart part, Oid type)
{
	TotalKind	kind = GetKind(type);

	if (part == PART_COUNT)
		return TOTAL_COUNT;
	if (part == PART_FIRST || part == PART_LAST)
		return part == PART_FIRST ? TOTAL_FIRST : TOTAL_LAST;
	if (part >= PART_VAR_POP)
		return kind == TOTAL_DOUBLE ? TOTAL_DEVIATIONS : TOTAL_SQUARES;
	return kind;
}

/*
 * AddInput returns the index of an expression among the inputs, adding it if
 * need be.
 */
static int
AddInput(AggregateQuery *query, Node *expr, TotalPart part)
{
	bool		is_sum = part == PART_SUM || part == PART_AVG;
	TotalKind	kind = KindFor(part, exprType(expr));
	int			n = 0;
	ListCell   *lc;

	foreach(lc, query->inputs)
	{
		TotalKind	other = list_nth_int(query->kinds, n);

		if (equal(lfirst(lc), expr) &&
			(kind < TOTAL_SQUARES ? other < TOTAL_SQUARES : other == kind))
			break;
		n++;
	}
	if (lc == NULL)
	{
		query->inputs = lappend(query->inputs, expr);
		query->kinds = lappend_int(query->kinds, kind);
		query->sums = lappend_int(query->sums, is_sum);
		return n;
	}
	if (kind != TOTAL_COUNT)
		lfirst_int(list_nth_cell(query->kinds, n)) = kind;
	if (is_sum)
		lfirst_int(list_nth_cell(query->sums, n)) = true;
	return n;
}

/*
 * ValueWhere returns "CASE WHEN condition THEN value END": aggregates pass over
 * nulls, so of the values only those are taken for which the condition is true.
 */
static Node *
ValueWhere(Expr *condition, Node *value)
{
	CaseExpr   *result = makeNode(CaseExpr);
	CaseWhen   *when = makeNode(CaseWhen);

	when->expr = condition;
	when->result = (Expr *) value;
	when->location = -1;
	result->casetype = exprType(value);
	result->casecollid = exprCollation(value);
	result->args = list_make1(when);
	result->defresult = (Expr *) makeNullConst(exprType(value),
											   exprTypmod(value),
											   exprCollation(value));
	result->location = -1;
	return (Node *) result;
}

/*
 * CountWhere adds an input that counts the rows for which a condition is true, and
 * the FILTER of the aggregate, if any.
 */
static int
CountWhere(AggregateQuery *query, const Aggref *aggref, Node *condition)
{
	if (aggref->aggfilter != NULL)
		condition = (Node *) make_andclause(list_make2(aggref->aggfilter,
													   condition));
	return AddInput(query, ValueWhere((Expr *) condition,
									  makeBoolConst(true, false)), PART_COUNT);
}

/*
 * IsPlainAggregate says whether an aggregate is one of all values in any order.
 */
static bool
IsPlainAggregate(const Aggref *aggref)
{
	return aggref->aggkind == AGGKIND_NORMAL && aggref->aggdistinct == NIL &&
		aggref->aggorder == NIL && aggref->aggdirectargs == NIL &&
		!aggref->aggvariadic && aggref->agglevelsup == 0 &&
		aggref->aggsplit == AGGSPLIT_SIMPLE;
}

/*
 * AddAggregateInputs adds the inputs of an aggregate of an expression, NULL
 * for count(*), and returns their indexes; -1 stands for none.
 */
static int
AddAggregateInputs(AggregateQuery *query, const Aggref *aggref, TotalPart part,
				   Node *expr, int *other)
{
	*other = -1;
	if (part == PART_ANY || part == PART_EVERY)
	{
		*other = CountWhere(query, aggref, negate_clause(copyObject(expr)));
		return CountWhere(query, aggref, expr);
	}
	if (part == PART_ROWS)
	{
		if (aggref->aggfilter == NULL)
			return -1;
		part = PART_COUNT;
		expr = makeBoolConst(true, false);
	}
	if (aggref->aggfilter != NULL)
		expr = ValueWhere(aggref->aggfilter, expr);
	if (part < PART_VAR_POP)
		return AddInput(query, expr, part);
	*other = AddInput(query, expr, part);
	return exprType(expr) == FLOAT8OID ? *other :
		AddInput(query, expr, PART_SUM);
}

/*
 * AddAggregate adds an aggregate of inputs.
 */
static void
AddAggregate(AggregateQuery *query, Aggref *aggref, TotalPart part, int source,
			 int other)
{
	query->aggrefs = lappend(query->aggrefs, aggref);
	query->parts = lappend_int(query->parts, part);
	query->sources = lappend_int(query->sources, source);
	query->others = lappend_int(query->others, other);
}

/*
 * ReadAggregate takes an aggregate; returns false if it is not one of ours.
 */
static bool
ReadAggregate(AggregateQuery *query, Aggref *aggref)
{
	TotalPart	part = GetPart(aggref->aggfnoid);
	Node	   *filter = (Node *) aggref->aggfilter;
	Node	   *expr = NULL;
	int			source;
	int			other;

	if (!IsPlainAggregate(aggref) ||
		(part == PART_ROWS && aggref->aggfnoid != F_COUNT_))
		return false;
	if (filter != NULL &&
		(!ZbxhistIsUsable(filter) || !IsOfColumns(query, filter, false)))
		return false;
	if (part != PART_ROWS)
		expr = (Node *) linitial_node(TargetEntry, aggref->args)->expr;
	if (part == PART_COUNT && IsA(expr, Const) &&
		!((Const *) expr)->constisnull)
		part = PART_ROWS;
	if (part != PART_ROWS &&
		(!ZbxhistIsUsable(expr) || !IsOfColumns(query, expr, false)))
		return false;
	source = AddAggregateInputs(query, aggref, part, expr, &other);
	if (part == PART_ROWS && source >= 0)
		part = PART_COUNT;
	AddAggregate(query, aggref, part, source, other);
	return true;
}

/* ---- first and last values ---- */

/*
 * FirstElementOf returns the call of array_agg whose first element a node is, or NULL.
 */
static Aggref *
FirstElementOf(Node *node)
{
	const SubscriptingRef *element = (const SubscriptingRef *) node;
	const Const *number;

	if (!IsA(element, SubscriptingRef) || !IsA(element->refexpr, Aggref) ||
		((Aggref *) element->refexpr)->aggfnoid != F_ARRAY_AGG_ANYNONARRAY ||
		element->refassgnexpr != NULL || element->reflowerindexpr != NIL ||
		list_length(element->refupperindexpr) != 1)
		return NULL;
	number = linitial(element->refupperindexpr);
	return IsA(number, Const) && !number->constisnull &&
		DatumGetInt32(number->constvalue) == 1 ?
		(Aggref *) element->refexpr : NULL;
}

/*
 * OrderOf says whether an aggregate is of rows in the order of clock, or of clock and
 * another integer, from the first or the last one on, and adds these columns to a list;
 * PART_ROWS if neither.
 */
static TotalPart
OrderOf(const AggregateQuery *query, const Aggref *aggref, List **times)
{
	TotalPart	result = PART_ROWS;
	ListCell   *lc;

	foreach(lc, aggref->aggorder)
	{
		const SortGroupClause *clause = lfirst_node(SortGroupClause, lc);
		Var		   *var = (Var *) get_sortgroupclause_expr((SortGroupClause *) clause,
														   aggref->args);
		bool		is_last = get_op_opfamily_strategy(clause->sortop,
													   INTEGER_BTREE_FAM_OID) ==
			BTGreaterStrategyNumber;
		TotalPart	part = is_last ? PART_LAST : PART_FIRST;

		if (!IsA(var, Var) || var->varno != query->rti ||
			var->vartype != INT4OID || var->varattno <= 0 ||
			(*times == NIL && var->varattno != query->clock) ||
			list_length(*times) == 2 || clause->nulls_first != is_last ||
			(result != PART_ROWS && result != part))
			return PART_ROWS;
		result = part;
		*times = lappend(*times, var);
	}
	return result;
}

/*
 * ReadEdge takes an aggregate of which the first element is asked for, a number.
 */
static bool
ReadEdge(AggregateQuery *query, Aggref *aggref)
{
	Node	   *expr = (Node *) linitial_node(TargetEntry, aggref->args)->expr;
	List	   *times = NIL;
	TotalPart	part = OrderOf(query, aggref, &times);

	if (part == PART_ROWS || aggref->aggdistinct != NIL ||
		aggref->aggfilter != NULL || aggref->agglevelsup > 0 ||
		GetKind(exprType(expr)) == TOTAL_COUNT || !ZbxhistIsUsable(expr) ||
		!IsOfColumns(query, expr, false) ||
		(query->times != NIL && !equal(query->times, times)))
		return false;
	query->times = times;
	AddAggregate(query, aggref, part, AddInput(query, expr, part), -1);
	return true;
}

/*
 * is_not_result is a walker that takes the aggregates in an expression that
 * the query wants of each group.  What else it has of the relation must be in
 * grouping keys.  Returns true if something is not understood.
 */
static bool
is_not_result(Node *node, AggregateQuery *query)
{
	Aggref	   *array;

	if (node == NULL)
		return false;
	array = FirstElementOf(node);
	if (array != NULL)
		return !list_member(query->aggrefs, array) && !ReadEdge(query, array);
	/* of an array there is no more than that element */
	if (IsA(node, Aggref))
		return ((Aggref *) node)->aggorder != NIL ||
			(!list_member(query->aggrefs, node) &&
			 !ReadAggregate(query, (Aggref *) node));
	if (list_member(query->keys, node))
		return false;
	if (IsA(node, Var) || IsA(node, SubPlan) ||
		IsA(node, AlternativeSubPlan) || IsA(node, PlaceHolderVar) ||
		IsA(node, GroupingFunc))
		return true;
	return expression_tree_walker(node, is_not_result, query);
}

/*
 * ZbxhistReadAggregateQuery takes a query apart whose relation, itemid and
 * clock are set, and says whether it is understood.  clauses are those of its
 * keys, target is what is wanted of each group.
 */
bool
ZbxhistReadAggregateQuery(PlannerInfo *root, List *clauses,
						  PathTarget *target, AggregateQuery *query)
{
	const Query *parse = root->parse;

	if (parse->groupingSets != NIL || parse->hasTargetSRFs ||
		parse->rowMarks != NIL || root->rowMarks != NIL ||
		root->qual_security_level > 0 || !ReadKeys(root, clauses, query))
		return false;
	return !is_not_result((Node *) target->exprs, query) &&
		!is_not_result(parse->havingQual, query);
}
