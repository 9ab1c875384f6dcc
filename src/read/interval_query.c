/*-------------------------------------------------------------------------
 *
 * interval_query.c
 *	  Recognises joins for the first or last rows of intervals.
 *
 * Zabbix's graph of the last value of each interval joins history with an
 * aggregate of it,
 *
 *	   SELECT h.* FROM history h JOIN (SELECT itemid, clock - clock % 300 AS tick,
 *			  max(clock) AS clock FROM history WHERE itemid IN (5, 6) AND
 *			  clock BETWEEN 100 AND 200 GROUP BY itemid, clock - clock % 300) s
 *		   ON h.itemid = s.itemid AND h.clock = s.clock
 *
 * and joins the result once more with max(ns) by item, clock and tick.  If the keys of
 * the groups are monotonic functions of the clock, the rows of a group are consecutive,
 * and the wanted rows are found by reading each item once (item_scan.c).
 *
 * So the subquery is removed, and the query is one of the rows alone: the outputs of the
 * subquery are functions of a row's item, clock and ns.  Conditions that choose the rows
 * go into the mark of the parent's range table entry, where the planner does not add
 * others to them.  Conditions on the chosen rows stay in WHERE.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "access/table.h"
#include "catalog/pg_opfamily.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "compat.h"
#include "guc.h"
#include "packed/conditions.h"
#include "read/clock_bounds.h"
#include "read/clock_keys.h"
#include "read/interval_query.h"
#include "read/item_path.h"

/* a parent and a subquery of the same that are joined */
typedef struct IntervalJoin
{
	Query	   *query;
	Index		rti;			/* the parent, in the query */
	Index		sub_rti;		/* the subquery */
	Query	   *subquery;
	Relation	parent;
	const PartitionSet *set;
	bool		has_seconds;	/* the subquery is of rows chosen by clock */
	ItemQuery	wanted;

	/* of the subquery, in columns of relation 1 */
	List	   *results;
	Node	   *quals;			/* WHERE */
} IntervalJoin;

/* ---- expressions ---- */

/*
 * find_other is a walker that returns true at anything but the item and the
 * clock of relation 1, or an aggregate.
 */
static bool
find_other(Node *node, IntervalJoin *join)
{
	const Var  *var = (const Var *) node;

	if (node == NULL || IsA(node, Aggref))
		return false;
	if (IsA(node, Var))
		return var->varno != 1 || var->varlevelsup != 0 ||
			(var->varattno != join->set->itemid_attnum &&
			 var->varattno != join->set->clock_attnum);
	return expression_tree_walker(node, find_other, join);
}

/*
 * IsOfItemAndClock says whether an expression is one of item and clock, the same each time,
 * and of aggregates.
 */
static bool
IsOfItemAndClock(Node *expr, IntervalJoin *join)
{
	return !find_other(expr, join) && !contain_volatile_functions(expr);
}

/*
 * replace_aggregate is a mutator that replaces aggregates by the column they are of.
 */
static Node *
replace_aggregate(Node *node, void *context)
{
	if (node == NULL)
		return NULL;
	if (IsA(node, Aggref))
		return (Node *) linitial_node(TargetEntry,
									  ((Aggref *) node)->args)->expr;
	return expression_tree_mutator(node, replace_aggregate, context);
}

/*
 * replace_result is a mutator that replaces each result of the subquery by its expression
 * in columns of the parent.
 */
static Node *
replace_result(Node *node, void *context)
{
	const IntervalJoin *join = context;
	const Var  *var = (const Var *) node;
	Node	   *result;

	if (node == NULL)
		return NULL;
	if (!IsA(node, Var) || var->varlevelsup != 0 || var->varno != join->sub_rti)
		return expression_tree_mutator(node, replace_result, context);
	result = copyObject((Node *) list_nth(join->results, var->varattno - 1));
	ChangeVarNodes(result, 1, join->rti, 0);
	return result;
}

/* ---- the subquery ---- */

/*
 * IsAggregation says whether a query does nothing but group rows of one relation.
 */
static bool
IsAggregation(const Query *query)
{
	return query->commandType == CMD_SELECT && query->setOperations == NULL &&
		query->cteList == NIL && query->rowMarks == NIL && query->hasAggs &&
		query->groupClause != NIL && query->groupingSets == NIL &&
		!query->hasWindowFuncs && !query->hasTargetSRFs && !query->hasSubLinks &&
		query->distinctClause == NIL && query->havingQual == NULL &&
		query->limitCount == NULL && query->limitOffset == NULL &&
		list_length(query->jointree->fromlist) == 1 &&
		IsA(linitial(query->jointree->fromlist), RangeTblRef);
}

/*
 * TakeSource finds the relation of the subquery, which must be the parent, or rows of it
 * that were chosen by clock, and which the query's user may read.
 */
static bool
TakeSource(IntervalJoin *join)
{
	const RangeTblEntry *rte = rt_fetch(join->rti, join->query->rtable);
	Index		source = linitial_node(RangeTblRef,
									   join->subquery->jointree->fromlist)->rtindex;
	const RangeTblEntry *other = rt_fetch(source, join->subquery->rtable);
	ListCell   *lc;

	/* that of a view, whose privileges are asked for until 15 */
	foreach(lc, join->subquery->rtable)
	{
		if (lfirst_node(RangeTblEntry, lc)->rtekind == RTE_RELATION &&
			lfirst(lc) != other)
			return false;
	}

	if (other->rtekind != RTE_RELATION || other->relid != rte->relid ||
		relation_user(join->subquery, other) != relation_user(join->query, rte))
		return false;
	join->has_seconds = ZbxhistGetItemMark(other, &join->wanted);
	if (join->has_seconds ?
		!join->wanted.is_of_intervals || join->wanted.has_ns :
		!other->inh || other->securityQuals != NIL || other->tablesample != NULL)
		return false;
	foreach(lc, join->subquery->targetList)
	{
		Node	   *expr = (Node *) lfirst_node(TargetEntry, lc)->expr;

		expr = copyObject(ungrouped_expr(join->subquery, expr));
		ChangeVarNodes(expr, source, 1, 0);
		join->results = lappend(join->results, expr);
	}
	join->quals = copyObject(join->subquery->jointree->quals);
	ChangeVarNodes(join->quals, source, 1, 0);
	return IsOfItemAndClock((Node *) join->results, join) && IsOfItemAndClock(join->quals, join);
}

/*
 * TakeExtreme finds out whether the subquery wants the first or the last clock, or ns,
 * of each group.
 */
static bool
TakeExtreme(IntervalJoin *join)
{
	bool		has_max;
	bool		has_min;

	if (!ZbxhistFindExtremes((Node *) join->results, join->parent,
							 join->has_seconds ? join->set->ns_attnum :
							 join->set->clock_attnum, &has_max, &has_min) ||
		has_max == has_min ||
		(join->has_seconds && has_max != join->wanted.is_descending))
		return false;
	join->wanted.is_descending = has_max;
	join->results = (List *) replace_aggregate((Node *) join->results, NULL);
	return true;
}

/*
 * TakeKey takes a key of the groups, which must be a monotonic function of the clock.
 * Its values are compared bit by bit.
 */
static bool
TakeKey(IntervalJoin *join, Node *expr)
{
	Oid			type = exprType(expr);
	List	   *breaks = NIL;
	Node	   *key = eval_const_expressions(NULL, expr);

	if ((type != INT4OID && type != INT8OID && type != TIMESTAMPOID &&
		 type != TIMESTAMPTZOID) ||
		!ZbxhistFollowsClock(key, 1, join->set->clock_attnum, &breaks) ||
		breaks != NIL)
		return false;
	join->wanted.keys = lappend(join->wanted.keys, key);
	return true;
}

/*
 * TakeGroups takes the keys of the groups: the item and those that make intervals; or, to
 * choose one row of a second, the item, the clock, and functions of these.
 */
static bool
TakeGroups(IntervalJoin *join)
{
	bool		has_item = false;
	bool		has_clock = false;
	ListCell   *lc;

	foreach(lc, join->subquery->groupClause)
	{
		const TargetEntry *entry =
			get_sortgroupclause_tle(lfirst(lc), join->subquery->targetList);
		Node	   *expr = list_nth(join->results, entry->resno - 1);

		if (ZbxhistIsItemColumn(expr, join->parent, join->set->itemid_attnum))
			has_item = true;
		else if (ZbxhistIsItemColumn(expr, join->parent, join->set->clock_attnum))
			has_clock = true;
		else if (!join->has_seconds && !TakeKey(join, expr))
			return false;
	}
	return has_item && has_clock == join->has_seconds;
}

/*
 * TakeSubquery finds out which rows the subquery chooses.
 */
static bool
TakeSubquery(IntervalJoin *join)
{
	List	   *conds;

	if (!TakeSource(join) || !TakeExtreme(join) || !TakeGroups(join))
		return false;
	if (join->has_seconds)
	{
		join->wanted.has_ns = true;
		return true;
	}
	join->wanted.is_of_each = true;
	join->wanted.is_of_intervals = true;
	join->wanted.quals = join->quals;
	join->quals = NULL;
	return join->wanted.quals != NULL &&
		ZbxhistTakeItemConditions(&join->wanted, join->set, &conds) &&
		names_items(conds);
}

/* ---- the query ---- */

/*
 * FindRelations finds the parent and the subquery, which must be all of FROM.
 */
static bool
FindRelations(IntervalJoin *join)
{
	List	   *items = join->query->jointree->fromlist;
	const JoinExpr *expr = linitial(items);
	const RangeTblEntry *rte;

	if (list_length(items) == 1 && IsA(expr, JoinExpr) &&
		expr->jointype == JOIN_INNER)
		items = list_make2(expr->larg, expr->rarg);
	if (list_length(items) != 2 || !IsA(linitial(items), RangeTblRef) ||
		!IsA(lsecond(items), RangeTblRef))
		return false;
	join->rti = linitial_node(RangeTblRef, items)->rtindex;
	join->sub_rti = lsecond_node(RangeTblRef, items)->rtindex;
	if (rt_fetch(join->rti, join->query->rtable)->rtekind == RTE_SUBQUERY)
	{
		join->sub_rti = join->rti;
		join->rti = lsecond_node(RangeTblRef, items)->rtindex;
	}
	rte = rt_fetch(join->rti, join->query->rtable);
	if (rte->rtekind != RTE_RELATION || rte->relkind != RELKIND_RELATION || !rte->inh)
		return false;
	rte = rt_fetch(join->sub_rti, join->query->rtable);
	join->subquery = rte->subquery;
	/* from 16 on */
	return rte->rtekind == RTE_SUBQUERY && !rte->lateral && !rte->security_barrier &&
		rte->relid == InvalidOid && rte->securityQuals == NIL &&
		IsAggregation(join->subquery);
}

/*
 * refers_to_join is a walker that returns true at a column that is neither the
 * parent's nor a result of the subquery.
 */
static bool
refers_to_join(Node *node, void *context)
{
	const IntervalJoin *join = context;
	const Var  *var = (const Var *) node;

	if (node == NULL)
		return false;
	if (IsA(node, Var))
		return var->varlevelsup == 0 &&
			(var->varattno <= 0 ||
			 (var->varno != join->rti && var->varno != join->sub_rti));
	return expression_tree_walker(node, refers_to_join, context);
}

/*
 * ListConjuncts returns the conditions of such a query, in WHERE and of the join.
 */
static List *
ListConjuncts(const Query *query)
{
	const JoinExpr *join = linitial(query->jointree->fromlist);

	return ZbxhistAddParts(ZbxhistAddParts(NIL, query->jointree->quals, AND_EXPR),
						   IsA(join, JoinExpr) ? join->quals : NULL, AND_EXPR);
}

/*
 * IsSameColumn says whether a condition compares a column of the parent, which is never
 * null, with itself, and sets the column.
 */
static bool
IsSameColumn(const IntervalJoin *join, Node *condition, AttrNumber *attnum)
{
	const OpExpr *op = (const OpExpr *) condition;
	const Var  *var;

	if (!IsA(op, OpExpr) || list_length(op->args) != 2 ||
		!equal(linitial(op->args), lsecond(op->args)) ||
		get_op_opfamily_strategy(op->opno, INTEGER_BTREE_FAM_OID) !=
		BTEqualStrategyNumber)
		return false;
	var = linitial(op->args);
	if (!IsA(var, Var) || var->varno != join->rti ||
		!has_no_nulls(RelationGetDescr(join->parent), var->varattno))
		return false;
	*attnum = var->varattno;
	return true;
}

/*
 * TakeJoinConditions takes the conditions of the query, with results of the subquery
 * replaced.  Returns false unless they join it by the item and the clock or ns that it
 * has chosen. left gets the other conditions on the rows.
 */
static bool
TakeJoinConditions(IntervalJoin *join, List **left)
{
	Bitmapset  *joined = NULL;
	AttrNumber	attnum;
	ListCell   *lc;

	*left = NIL;
	foreach(lc, ListConjuncts(join->query))
	{
		Node	   *condition = replace_result(lfirst(lc), join);

		if (IsSameColumn(join, condition, &attnum))
			joined = bms_add_member(joined, attnum);
		else
			*left = lappend(*left, condition);
	}
	return bms_is_member(join->set->itemid_attnum, joined) &&
		bms_is_member(join->set->clock_attnum, joined) &&
		(!join->has_seconds || bms_is_member(join->set->ns_attnum, joined));
}

/*
 * DropRangeTableEntry replaces a range table entry by an empty one to which nothing
 * refers.
 */
static void
DropRangeTableEntry(Query *query, Index rti)
{
	RangeTblEntry *rte = makeNode(RangeTblEntry);

	rte->rtekind = RTE_RESULT;
	rte->eref = makeAlias("*RESULT*", NIL);
	lfirst(list_nth_cell(query->rtable, rti - 1)) = rte;
}

/*
 * TakeOut removes the subquery, so that the query is of the parent alone, with the
 * remaining conditions.
 */
static void
TakeOut(IntervalJoin *join, List *left)
{
	Query	   *query = join->query;
	RangeTblRef *ref = makeNode(RangeTblRef);

	ChangeVarNodes(join->quals, 1, join->rti, 0);
	left = ZbxhistAddParts(left, join->quals, AND_EXPR);
	ungroup_query(query);
	query->targetList = (List *) replace_result((Node *) query->targetList, join);
	query->havingQual = replace_result(query->havingQual, join);
	ref->rtindex = join->rti;
	query->jointree = makeFromExpr(list_make1(ref),
								   (Node *) make_ands_explicit(left));
	for (Index rti = 1; rti <= list_length(query->rtable); rti++)
	{
		if (rt_fetch(rti, query->rtable)->rtekind != RTE_RELATION)
			DropRangeTableEntry(query, rti);
	}
	ZbxhistMarkItemScan(rt_fetch(join->rti, query->rtable), &join->wanted);
}

/*
 * TakeFrom removes the subquery of a query on an open parent if the result
 * stays the same.
 */
static void
TakeFrom(IntervalJoin *join)
{
	Query	   *query = join->query;
	List	   *exprs;
	List	   *left;

	if (!ZbxhistIsRouted(join->parent))
		return;
	join->set = ZbxhistGetPartitions(join->parent);
	if (!join->set->is_exhaustive || !TakeSubquery(join) ||
		!ZbxhistMayReplace(query, rt_fetch(join->rti, query->rtable), join->parent))
		return;
	exprs = list_make3(query->targetList, query->havingQual, query->jointree);
	if (!refers_to_join(ungrouped_expr(query, (Node *) exprs), join) &&
		TakeJoinConditions(join, &left))
		TakeOut(join, left);
}

/*
 * ZbxhistTakeIntervals turns a SELECT of a parent that is joined with such a subquery
 * into one of the parent's rows.  It does so in subqueries, too, inner ones first.
 */
void
ZbxhistTakeIntervals(Query *query)
{
	IntervalJoin join = {.query = query};
	ListCell   *lc;

	check_stack_depth();
	if (query->commandType != CMD_SELECT || query->rowMarks != NIL ||
		count_relations(query) < 2 || query->jointree->fromlist == NIL ||
		!zbxhist_enable_item_scan || !zbxhist_enable_packed_scan_pruning)
		return;
	foreach(lc, query->rtable)
	{
		RangeTblEntry *rte = lfirst_node(RangeTblEntry, lc);

		if (rte->rtekind == RTE_SUBQUERY)
			ZbxhistTakeIntervals(rte->subquery);
	}
	if (query->hasSubLinks || query->setOperations != NULL || !FindRelations(&join))
		return;
	join.parent = table_open(rt_fetch(join.rti, query->rtable)->relid, NoLock);
	TakeFrom(&join);
	table_close(join.parent, NoLock);
}
