/*-------------------------------------------------------------------------
 *
 * select.c
 *	  Finds the parents in a SELECT that our own scans can read.
 *
 * The planner expands a parent to all of its children before it uses any condition: each
 * child is locked, opened with its indexes, and estimated.  If a query wants rows of some
 * items only, the parent is not expanded.  Its range table entry is marked and gets one
 * custom scan (item_path.c), which finds the tables by clock when it runs (item_scan.c).
 * So the plan does not contain partitions.  All other parents are expanded; exclude.c
 * excludes children that have none of the clocks.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "access/table.h"
#include "nodes/nodeFuncs.h"
#include "parser/parsetree.h"
#include "utils/rel.h"

#include "compat.h"
#include "guc.h"
#include "read/clock_bounds.h"
#include "read/interval_query.h"
#include "read/item_path.h"
#include "read/select.h"

/*
 * refers_to_row is the walker of RefersToRow; context is the number of query levels that
 * it has descended.
 */
static bool
refers_to_row(Node *node, void *context)
{
	Index	   *levelsup = context;
	bool		result;

	if (node == NULL)
		return false;
	if (IsA(node, Var))
	{
		Var		   *var = (Var *) node;

		return var->varattno <= 0 &&
			var->varattno != SelfItemPointerAttributeNumber &&
			var->varno == 1 && var->varlevelsup == *levelsup;
	}
	if (!IsA(node, Query))
		return expression_tree_walker(node, refers_to_row, context);
	(*levelsup)++;
	result = query_tree_walker((Query *) node, refers_to_row, context, 0);
	(*levelsup)--;
	return result;
}

/*
 * RefersToRow says whether a query refers to the row of its only relation as a whole,
 * whose type is the parent's, or to its system columns but ctid.
 */
static bool
RefersToRow(Query *query)
{
	Index		levelsup = 0;

	return query_tree_walker(query, refers_to_row, &levelsup, 0);
}

/*
 * MarkParent marks the only relation of a query if it is a parent and the query wants
 * rows of items.
 */
static void
MarkParent(Query *query)
{
	RangeTblEntry *rte = linitial_node(RangeTblEntry, query->rtable);
	ItemQuery	item_query = {0};
	Relation	rel;

	if (rte->rtekind != RTE_RELATION || !rte->inh ||
		rte->relkind != RELKIND_RELATION)
		return;
	rel = table_open(rte->relid, NoLock);
	if (ZbxhistIsRouted(rel) &&
		ZbxhistIsItemQuery(query, rel, ZbxhistGetPartitions(rel), &item_query) &&
		ZbxhistMayReplace(query, rte, rel) && !RefersToRow(query))
	{
		query->jointree->quals = item_query.quals;
		ZbxhistMarkItemScan(rte, &item_query);
	}
	table_close(rel, NoLock);
}

/*
 * mark_parents is a walker that marks the parents of all queries that it meets.
 */
static bool
mark_parents(Node *node, void *context)
{
	Query	   *query = (Query *) node;
	ListCell   *lc;

	if (node == NULL)
		return false;
	if (!IsA(node, Query))
		return expression_tree_walker(node, mark_parents, context);
	if (query->commandType != CMD_SELECT)
		return false;
	ZbxhistTakeIntervals(query);
	if (query->rowMarks == NIL && count_relations(query) == 1)
		MarkParent(query);
	/* skip long lists of values */
	if (query->hasSubLinks)
		return query_tree_walker(query, mark_parents, context, 0);
	foreach(lc, query->rtable)
	{
		RangeTblEntry *rte = lfirst_node(RangeTblEntry, lc);

		if (rte->rtekind == RTE_SUBQUERY)
			mark_parents((Node *) rte->subquery, context);
	}
	foreach(lc, query->cteList)
		mark_parents(lfirst_node(CommonTableExpr, lc)->ctequery, context);
	return false;
}

/*
 * ZbxhistMarkParents marks parents in a query that is about to be planned.
 */
void
ZbxhistMarkParents(Query *query)
{
	if (query->commandType == CMD_SELECT && query->rowMarks == NIL &&
		!query->hasModifyingCTE && query->utilityStmt == NULL &&
		zbxhist_enable_item_scan && zbxhist_enable_packed_scan_pruning)
		mark_parents((Node *) query, NULL);
}
