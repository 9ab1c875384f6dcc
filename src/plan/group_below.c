/*-------------------------------------------------------------------------
 *
 * group_below.c
 *	  Aggregates in two steps, of which the first is by item.
 *
 * Packed days are aggregated without rows where a query does nothing but
 * group rows of one parent (aggregate/).  Others are made so, before they are
 * planned: a parent's rows are grouped by item and by those keys that are of
 * item and clock, in a subquery in the parent's place, and its groups by what
 * the query asks for.  Of
 *
 *	   SELECT o.name, h.clock / 3600, avg(h.value)
 *		   FROM history h JOIN items i USING (itemid) JOIN hosts o USING (hostid)
 *		   WHERE h.clock > 100 AND o.name LIKE 'web%' GROUP BY 1, 2
 *
 * becomes
 *
 *	   SELECT o.name, h.key, sum(h.sum) / sum(h.count)
 *		   FROM (SELECT itemid, clock / 3600 AS key, sum(value), count(value)
 *				 FROM history WHERE clock > 100 AND itemid = ANY (ARRAY
 *					 (SELECT i.itemid FROM items i JOIN hosts o USING (hostid)
 *					  WHERE o.name LIKE 'web%'))
 *				 GROUP BY 1, 2) h
 *		   JOIN items i USING (itemid) JOIN hosts o USING (hostid)
 *		   WHERE o.name LIKE 'web%' GROUP BY 1, 2
 *
 * A row of items is joined with all rows of an item or with none, and as often
 * with its groups.  The same serves count(DISTINCT itemid), GROUPING SETS, and
 * UNION ALL of parents, in whose members the groups are made.
 *
 * Nothing is changed of a query that has any part which is not understood.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "access/table.h"
#include "catalog/pg_opfamily.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "parser/parse_oper.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "compat.h"
#include "guc.h"
#include "plan/clock_bounds.h"
#include "plan/group_below.h"
#include "plan/implied.h"
#include "plan/stand_in.h"
#include "plan/two_steps.h"

/* ---- the items that it is joined with ---- */

/*
 * IsSourceItem says whether an expression is the source's item.
 */
static bool
IsSourceItem(const TwoSteps *steps, Node *node)
{
	const Var  *var = (const Var *) node;

	return IsA(var, Var) && var->varno == steps->rti &&
		var->varlevelsup == 0 && var->varattno == steps->itemid;
}

/*
 * is_not_item is a walker that ends with true at another column of the query.
 */
static bool
is_not_item(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Var))
		return ((Var *) node)->varlevelsup == 0 && !IsSourceItem(context, node);
	return expression_tree_walker(node, is_not_item, context);
}

/*
 * TakeItemJoin takes a condition if it is that the item is equal to something else, and
 * returns "item = something else", or NULL.
 */
static OpExpr *
TakeItemJoin(const TwoSteps *steps, Node *condition)
{
	OpExpr	   *op = (OpExpr *) condition;

	if (!IsA(op, OpExpr) || list_length(op->args) != 2 ||
		get_op_opfamily_strategy(op->opno, INTEGER_BTREE_FAM_OID) !=
		BTEqualStrategyNumber)
		return NULL;
	op = copyObject(op);
	if (IsSourceItem(steps, lsecond(op->args)))
		CommuteOpExpr(op);
	return IsSourceItem(steps, linitial(op->args)) && IsA(lsecond(op->args), Var) &&
		!IsSourceItem(steps, lsecond(op->args)) ? op : NULL;
}

/*
 * AddOthers adds what is in FROM besides the source to a list, and conditions of joins
 * with it.
 */
static List *
AddOthers(TwoSteps *steps, List *list, Node *item, List **quals)
{
	JoinExpr   *join = (JoinExpr *) item;

	if (!ZbxhistReachesSource(steps, item))
		return lappend(list, copyObject(item));
	if (IsA(item, RangeTblRef))
		return list;
	*quals = ZbxhistAddParts(*quals, join->quals, AND_EXPR);
	list = AddOthers(steps, list, join->larg, quals);
	return AddOthers(steps, list, join->rarg, quals);
}

/*
 * MakeListOfItems returns a query of the items that the source is joined with.
 */
static Query *
MakeListOfItems(TwoSteps *steps, Node *item)
{
	Query	   *result = copyObject(steps->query);
	List	   *from = NIL;
	List	   *quals = NIL;
	List	   *own = NIL;
	ListCell   *lc;

	result->targetList = NIL;
	result->havingQual = NULL;
	ungroup_query(result);
	result->groupClause = result->groupingSets = result->distinctClause = NIL;
	result->sortClause = result->windowClause = NIL;
	result->limitCount = result->limitOffset = NULL;
	result->hasAggs = result->hasWindowFuncs = result->hasDistinctOn = false;
	foreach(lc, steps->query->jointree->fromlist)
		from = AddOthers(steps, from, lfirst(lc), &quals);
	quals = ZbxhistAddParts(quals, steps->query->jointree->quals, AND_EXPR);
	foreach(lc, quals)
	{
		if (!bms_is_member(steps->rti, pull_varnos(NULL, lfirst(lc))))
			own = lappend(own, copyObject(lfirst(lc)));
	}
	result->jointree = makeFromExpr(from, own == NIL ? NULL :
									(Node *) make_ands_explicit(own));
	result->targetList = list_make1(makeTargetEntry((Expr *) copyObject(item), 1,
													"itemid", false));
	ZbxhistDropEntry(result, steps->rti);
	return result;
}

/*
 * IsChoice says whether a condition chooses rows of other relations than the source:
 * one that only joins them does not, but one with the row of a query around this.
 */
static bool
IsChoice(const TwoSteps *steps, Node *condition)
{
	const List *args = IsA(condition, OpExpr) ? ((OpExpr *) condition)->args : NIL;

	return !bms_is_member(steps->rti, pull_varnos(NULL, condition)) &&
		(list_length(args) != 2 || !IsA(linitial(args), Var) ||
		 !IsA(lsecond(args), Var) || contain_vars_of_level(condition, 1));
}

/*
 * ListItems returns the condition that the item is one of those that the source is joined
 * with, or NULL if these are not chosen, or the item is already.
 */
static Node *
ListItems(TwoSteps *steps, List *conditions)
{
	OpExpr	   *join = NULL;
	bool		has_choice = false;
	SubLink    *array;
	ScalarArrayOpExpr *result;
	ListCell   *lc;

	if (steps->has_left_join || steps->query->cteList != NIL)
		return NULL;
	foreach(lc, conditions)
	{
		if (ZbxhistIsOfSource(steps, lfirst(lc)) && !is_not_item(lfirst(lc), steps))
			return NULL;
		has_choice |= IsChoice(steps, lfirst(lc));
		if (join == NULL)
			join = TakeItemJoin(steps, lfirst(lc));
	}
	if (join == NULL ||
		(!has_choice && rt_fetch(lsecond_node(Var, join->args)->varno,
								 steps->query->rtable)->rtekind == RTE_RELATION))
		return NULL;
	array = makeNode(SubLink);
	array->subLinkType = ARRAY_SUBLINK;
	array->subselect = (Node *) MakeListOfItems(steps, lsecond(join->args));
	array->location = -1;
	if (contain_volatile_functions(array->subselect))
		return NULL;
	/* the level of what it is put into is counted by ForMember */
	result = makeNode(ScalarArrayOpExpr);
	result->opno = join->opno;
	result->opfuncid = join->opfuncid;
	result->useOr = true;
	result->args = list_make2(linitial(join->args), array);
	result->location = -1;
	IncrementVarSublevelsUp(array->subselect, 1, 1);
	return (Node *) result;
}

/*
 * refers_to_more is a walker that ends with true at what a key may not have: columns
 * of rti other than item and clock, or a subquery.
 */
static bool
refers_to_more(Node *node, void *context)
{
	const TwoSteps *steps = context;

	if (node == NULL)
		return false;
	if (IsA(node, Var))
		return ((Var *) node)->varlevelsup > 0 ||
			(((Var *) node)->varattno != steps->itemid &&
			 ((Var *) node)->varattno != steps->clock);
	return IsA(node, SubLink) ||
		expression_tree_walker(node, refers_to_more, context);
}

/* ---- the query ---- */

/*
 * find_distinct is a walker that ends with true at an aggregate of what is different.
 */
static bool
find_distinct(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Aggref))
		return ((Aggref *) node)->aggdistinct != NIL;
	return expression_tree_walker(node, find_distinct, context);
}

/*
 * MayBeInSteps says whether a query is one of groups, and not one that is aggregated
 * without rows as it is.
 */
static bool
MayBeInSteps(const Query *query)
{
	if ((!query->hasAggs && query->groupClause == NIL) || query->hasTargetSRFs ||
		query->rowMarks != NIL || query->setOperations != NULL ||
		query->jointree->fromlist == NIL)
		return false;
	return count_relations(query) > 1 || query->groupingSets != NIL ||
		linitial_node(RangeTblEntry, query->rtable)->rtekind == RTE_SUBQUERY ||
		find_distinct((Node *) query->targetList, NULL);
}

/*
 * has_correlated is a walker that ends with true at a subquery that has columns of
 * the query.
 */
static bool
has_correlated(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Query))
		return contain_vars_of_level(node, 1);
	return expression_tree_walker(node, has_correlated, context);
}

/*
 * HasPackedDays says whether some of the clocks that a member's WHERE leaves are
 * packed.
 */
static bool
HasPackedDays(const Query *member)
{
	Index		rti = linitial_node(RangeTblRef,
									member->jointree->fromlist)->rtindex;
	Relation	rel = table_open(rt_fetch(rti, member->rtable)->relid, NoLock);
	const PartitionSet *set = ZbxhistGetPartitions(rel);
	ClockRange	bounds = ZbxhistBoundsInWhere(member, rti, set->clock_attnum);
	bool		result = ZbxhistHasPackedDay(set, &bounds);

	table_close(rel, NoLock);
	return result;
}

/*
 * TakeConditions moves the conditions of the source into its members, and says whether
 * some of them have packed days then.
 */
static bool
TakeConditions(TwoSteps *steps)
{
	List	   *conditions = ZbxhistGetConjuncts(steps->query);
	List	   *list;
	bool		result = false;
	Node	   *items;
	ListCell   *lc;

	foreach(lc, conditions)
	{
		if (ZbxhistIsOfSource(steps, lfirst(lc)) && !has_correlated(lfirst(lc), NULL))
			steps->moved = lappend(steps->moved, lfirst(lc));
	}
	items = ListItems(steps, conditions);
	list = items == NULL ? steps->moved :
		lappend(list_copy(steps->moved), items);
	foreach(lc, steps->members)
	{
		ZbxhistAddToMember(steps, lfirst(lc), list);
		result |= HasPackedDays(lfirst(lc));
	}
	return result;
}

/*
 * AddKey has the groups below be made by an expression.
 */
static void
AddKey(TwoSteps *steps, Node *key, SortGroupClause *clause)
{
	clause->tleSortGroupRef = list_length(steps->keys) + 1;
	steps->keys = lappend(steps->keys, key);
	steps->clauses = lappend(steps->clauses, clause);
}

/*
 * TakeKeys takes the keys of the groups below: the item, and of the query's what is of
 * item and clock.  Others are those of other relations, or refuse the query later.
 */
static bool
TakeKeys(TwoSteps *steps)
{
	Query	   *query = steps->query;
	SortGroupClause *clause = makeNode(SortGroupClause);
	ListCell   *lc;

	get_sort_group_operators(INT8OID, true, true, false, &clause->sortop,
							 &clause->eqop, NULL, &clause->hashable);
	AddKey(steps, (Node *) makeVar(steps->rti, steps->itemid, INT8OID, -1,
								   InvalidOid, 0), clause);
	foreach(lc, query->groupClause)
	{
		Node	   *key = get_sortgroupclause_expr(lfirst(lc), query->targetList);

		key = ungrouped_expr(query, key);
		if (!ZbxhistIsOfSource(steps, key) || list_member(steps->keys, key))
			continue;
		clause = copyObject(lfirst_node(SortGroupClause, lc));
		/* there are as many clocks as rows */
		if (IsA(key, Var) || !clause->hashable || refers_to_more(key, steps))
			return false;
		AddKey(steps, copyObject(key), clause);
	}
	return true;
}

/*
 * ZbxhistGroupBelow does so with a query if all of it is understood.
 */
void
ZbxhistGroupBelow(Query *query)
{
	TwoSteps	steps = {.query = query};
	List	  **groups = group_exprs(query);
	List	   *exprs;

	if (!zbxhist_enable_aggregate_scan || !MayBeInSteps(query) ||
		!ZbxhistFindGroupSource(&steps))
		return;
	exprs = list_make4(query->targetList, query->havingQual, query->jointree,
					   groups == NULL ? NIL : *groups);
	if (contain_volatile_functions((Node *) exprs) || !TakeConditions(&steps) ||
		!TakeKeys(&steps))
		return;
	exprs = ZbxhistCombineGroups(&steps, exprs);
	if (steps.is_refused)
		return;
	query->targetList = linitial(exprs);
	query->havingQual = lsecond(exprs);
	query->jointree = lthird(exprs);
	if (groups != NULL)
		*groups = lfourth(exprs);
	ZbxhistJoinGroups(&steps);
	ZbxhistPutGroups(&steps);
}
