/*-------------------------------------------------------------------------
 *
 * implied.c
 *	  Conditions on a parent that follow from what it is joined with.
 *
 * Zabbix's graph of the first or last value of each interval joins history with
 * an aggregate of it:
 *
 *	   SELECT h.* FROM history h JOIN (SELECT itemid, max(clock) AS clock
 *			  FROM history WHERE itemid IN (5, 6) AND clock BETWEEN 100 AND 200
 *			  GROUP BY itemid, clock / 10) s
 *		   ON h.itemid = s.itemid AND h.clock = s.clock
 *
 * What the subquery gives are items and clocks for which its WHERE holds, so it
 * holds for those of h as well.  PostgreSQL draws no such conclusion and reads h
 * as a whole, or looks for each row of the subquery in all children.
 *
 * A condition that follows is added to WHERE if the equality is ANDed there, or
 * in the condition of an inner join: then it holds for all rows of the result,
 * and none of them goes.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "access/table.h"
#include "catalog/pg_opfamily.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "parser/parsetree.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "catalog/columns.h"
#include "compat.h"
#include "plan/clock_bounds.h"
#include "plan/implied.h"

/* ---- conditions that are ANDed ---- */

/*
 * AddJoinConjuncts adds the conditions of an inner join, and of those within it.
 */
static List *
AddJoinConjuncts(List *list, Node *item)
{
	JoinExpr   *join = (JoinExpr *) item;

	if (!IsA(item, JoinExpr) || join->jointype != JOIN_INNER)
		return list;
	list = AddJoinConjuncts(list, join->larg);
	list = AddJoinConjuncts(list, join->rarg);
	return ZbxhistAddParts(list, join->quals, AND_EXPR);
}

/*
 * ZbxhistGetConjuncts returns the conditions that hold for all rows of a query, before
 * they are grouped.
 */
List *
ZbxhistGetConjuncts(const Query *query)
{
	List	   *result = ZbxhistAddParts(NIL, query->jointree->quals, AND_EXPR);
	ListCell   *lc;

	foreach(lc, query->jointree->fromlist)
		result = AddJoinConjuncts(result, lfirst(lc));
	return result;
}

/* ---- what a condition is about ---- */

/*
 * IsValue says whether an expression is made of constants and parameters only.  Of
 * IN (5, 6) the analyzer makes an array of numbers that are cast to bigint.
 */
static bool
IsValue(Node *node)
{
	List	   *parts;
	ListCell   *lc;

	if (IsA(node, Param))
		return ((Param *) node)->paramkind == PARAM_EXTERN;
	if (IsA(node, ArrayExpr))
		parts = ((ArrayExpr *) node)->elements;
	else if (IsA(node, FuncExpr) &&
			 func_volatile(((FuncExpr *) node)->funcid) == PROVOLATILE_IMMUTABLE)
		parts = ((FuncExpr *) node)->args;
	else
		return IsA(node, Const);
	foreach(lc, parts)
	{
		if (!IsValue(lfirst(lc)))
			return false;
	}
	return true;
}

/*
 * IsComparison says whether two arguments are var and a value that an operator
 * of integers compares it with.
 */
static bool
IsComparison(Oid operator, List *args, const Var *var)
{
	return list_length(args) == 2 && equal(linitial(args), var) &&
		IsValue(lsecond(args)) &&
		get_op_opfamily_strategy(operator, INTEGER_BTREE_FAM_OID) != 0;
}

/*
 * IsOnlyAbout says whether a condition compares var with values and does nothing
 * else.
 */
static bool
IsOnlyAbout(Node *node, const Var *var)
{
	ListCell   *lc;

	if (IsA(node, OpExpr))
		return IsComparison(((OpExpr *) node)->opno, ((OpExpr *) node)->args, var);
	if (IsA(node, ScalarArrayOpExpr))
		return IsComparison(((ScalarArrayOpExpr *) node)->opno,
							((ScalarArrayOpExpr *) node)->args, var);
	if (!is_orclause(node) && !is_andclause(node))
		return false;
	foreach(lc, ((BoolExpr *) node)->args)
	{
		if (!IsOnlyAbout(lfirst(lc), var))
			return false;
	}
	return true;
}

/* a column to be replaced by another */
typedef struct Replacement
{
	const Var  *old;
	const Var  *new;
} Replacement;

/*
 * replace_var is a mutator that does so.
 */
static Node *
replace_var(Node *node, void *context)
{
	Replacement *replacement = context;

	if (node == NULL)
		return NULL;
	if (equal(node, replacement->old))
		return copyObject((Node *) replacement->new);
	return expression_tree_mutator(node, replace_var, context);
}

/* ---- adding conditions ---- */

/*
 * AddCondition adds a condition to WHERE, unless it is there.
 */
static void
AddCondition(Query *query, Node *condition)
{
	List	   *conjuncts = ZbxhistGetConjuncts(query);

	if (list_member(conjuncts, condition))
		return;
	conjuncts = lappend(ZbxhistAddParts(NIL, query->jointree->quals, AND_EXPR),
						condition);
	query->jointree->quals = (Node *) make_ands_explicit(conjuncts);
}

/*
 * ImplyFromColumn adds what follows from a column, of a relation of subquery,
 * whose values are the only ones that column of query may have.
 */
static void
ImplyFromColumn(Query *query, const Var *column, Query *subquery,
				const Var *source)
{
	Replacement replacement = {.old = source,.new = column};
	ListCell   *lc;

	if (source->vartype != column->vartype)
		return;
	foreach(lc, ZbxhistGetConjuncts(subquery))
	{
		if (IsOnlyAbout(lfirst(lc), source))
			AddCondition(query, replace_var(lfirst(lc), &replacement));
	}
}

/*
 * GetSourceColumn returns the column of a relation of a query that has all
 * values of one of its results, or NULL.
 */
static const Var *
GetSourceColumn(Query *query, AttrNumber result)
{
	Node	   *expr;

	if (query->commandType != CMD_SELECT || query->setOperations != NULL ||
		result < 1 || result > list_length(query->targetList))
		return NULL;
	expr = (Node *) list_nth_node(TargetEntry, query->targetList,
								  result - 1)->expr;
	expr = ungrouped_expr(query, expr);
	if (IsA(expr, Aggref))
	{
		const Aggref *call = (const Aggref *) expr;

		if (list_length(call->args) != 1 || call->agglevelsup != 0 ||
			(call->aggfnoid != F_MAX_INT4 && call->aggfnoid != F_MIN_INT4 &&
			 call->aggfnoid != F_MAX_INT8 && call->aggfnoid != F_MIN_INT8))
			return NULL;
		expr = (Node *) linitial_node(TargetEntry, call->args)->expr;
	}
	if (!IsA(expr, Var) || ((Var *) expr)->varlevelsup != 0 ||
		((Var *) expr)->varattno < 1)
		return NULL;
	return (Var *) expr;
}

/*
 * ImplyFromResult adds what follows from column being equal to a subquery's
 * result.
 */
static void
ImplyFromResult(Query *query, const Var *column, Query *subquery,
				AttrNumber result)
{
	const Var  *source = GetSourceColumn(subquery, result);

	if (source != NULL)
		ImplyFromColumn(query, column, subquery, source);
}

/* ---- equalities ---- */

/*
 * ZbxhistIsKeyOfParent says whether an expression is the itemid or the clock of a
 * parent of the query.
 */
bool
ZbxhistIsKeyOfParent(const Query *query, Node *expr)
{
	const Var  *var = (const Var *) expr;
	const RangeTblEntry *rte;
	Relation	rel;
	bool		result;

	if (!IsA(var, Var) || var->varlevelsup != 0 || var->varattno < 1 ||
		(var->vartype != INT4OID && var->vartype != INT8OID))
		return false;
	rte = rt_fetch(var->varno, query->rtable);
	if (rte->rtekind != RTE_RELATION || !rte->inh ||
		rte->relkind != RELKIND_RELATION)
		return false;
	rel = table_open(rte->relid, NoLock);
	result = ZbxhistIsRouted(rel) &&
		(var->varattno == ZbxhistFindColumn(RelationGetDescr(rel), "itemid",
											INT8OID) ||
		 var->varattno == ZbxhistFindColumn(RelationGetDescr(rel), "clock",
											INT4OID));
	table_close(rel, NoLock);
	return result;
}

/*
 * ImplyFromEquality adds what follows from column = other.
 */
static void
ImplyFromEquality(Query *query, Node *column, Node *other)
{
	const Var  *var = (const Var *) other;
	RangeTblEntry *rte;

	if (!IsA(var, Var) || var->varlevelsup != 0)
		return;
	rte = rt_fetch(var->varno, query->rtable);
	if (rte->rtekind == RTE_SUBQUERY && ZbxhistIsKeyOfParent(query, column))
		ImplyFromResult(query, (Var *) column, rte->subquery, var->varattno);
}

/*
 * ImplyFromIn adds what follows from column = a result of IN (SELECT ...).
 */
static void
ImplyFromIn(Query *query, SubLink *in, OpExpr *equality)
{
	Node	   *column = linitial(equality->args);
	const Param *result = lsecond(equality->args);

	if (IsA(result, Param) && result->paramkind == PARAM_SUBLINK &&
		ZbxhistIsKeyOfParent(query, column))
		ImplyFromResult(query, (Var *) column, (Query *) in->subselect,
						result->paramid);
}

/*
 * IsEquality says whether a condition is that two integers are equal.
 */
static bool
IsEquality(Node *condition)
{
	OpExpr	   *op = (OpExpr *) condition;

	return IsA(op, OpExpr) && list_length(op->args) == 2 &&
		get_op_opfamily_strategy(op->opno, INTEGER_BTREE_FAM_OID) ==
		BTEqualStrategyNumber;
}

/*
 * ImplyFrom adds what follows from a condition of a query.
 */
static void
ImplyFrom(Query *query, Node *condition)
{
	SubLink    *in = (SubLink *) condition;
	ListCell   *lc;

	if (IsEquality(condition))
	{
		List	   *args = ((OpExpr *) condition)->args;

		ImplyFromEquality(query, linitial(args), lsecond(args));
		ImplyFromEquality(query, lsecond(args), linitial(args));
	}
	if (!IsA(in, SubLink) || in->subLinkType != ANY_SUBLINK)
		return;
	ZbxhistImplyConditions((Query *) in->subselect);
	foreach(lc, ZbxhistAddParts(NIL, in->testexpr, AND_EXPR))
	{
		if (IsEquality(lfirst(lc)))
			ImplyFromIn(query, in, lfirst(lc));
	}
}

/*
 * ZbxhistImplyConditions adds to WHERE of a query, and of subqueries that it is
 * joined with, what follows for parents in it.  What a subquery is given is
 * passed on, so each comes before the query that it is part of, and once: there
 * may be many conditions on it.
 */
void
ZbxhistImplyConditions(Query *query)
{
	ListCell   *lc;

	check_stack_depth();
	if (query->commandType != CMD_SELECT ||
		(list_length(query->rtable) < 2 && !query->hasSubLinks))
		return;
	foreach(lc, query->rtable)
	{
		RangeTblEntry *rte = lfirst_node(RangeTblEntry, lc);

		if (rte->rtekind == RTE_SUBQUERY)
			ZbxhistImplyConditions(rte->subquery);
	}
	foreach(lc, ZbxhistGetConjuncts(query))
		ImplyFrom(query, lfirst(lc));
}
