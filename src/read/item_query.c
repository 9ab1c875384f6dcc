/*-------------------------------------------------------------------------
 *
 * item_query.c
 *	  Recognises SELECT of rows of items.
 *
 * item_scan.c executes three kinds.  Rows of the items that WHERE names, whatever the
 * query does with them:
 *
 *	SELECT … WHERE itemid IN (5, 7) AND clock > 1795130262 GROUP BY …
 *
 * These may also be a part of a query that gives the item (LATERAL).  One row of each
 * item:
 *
 *	SELECT DISTINCT ON (itemid) … ORDER BY itemid, clock DESC, ns DESC
 *	SELECT itemid, max(clock) … GROUP BY itemid
 *	SELECT DISTINCT itemid …
 *	SELECT max(clock) … WHERE itemid = 5
 *
 * of all items or of a list.  The planner still adds Unique or an aggregation, which gets
 * only one row of each item.  Such a query may filter on itemid and clock only, and its
 * order must say which row it wants; all others are left to the planner.  And all rows in
 * the order of the key, item after item:
 *
 *	SELECT * … WHERE (itemid, clock) > (5, 1795130262) ORDER BY itemid, clock LIMIT 100
 *	SELECT min(itemid) …
 *
 * from which the planner takes the rows that it needs: the first ones for a LIMIT or for
 * min.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/stratnum.h"
#include "access/table.h"
#include "catalog/pg_class.h"
#include "catalog/pg_opfamily.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "utils/acl.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "compat.h"
#include "fdw/fdw.h"
#include "packed/conditions.h"
#include "read/clock_bounds.h"
#include "read/item_query.h"
#include "tables/item_index.h"

/*
 * with so many rows of each item, searching one of them is cheaper than reading
 * all
 */
#define MIN_ROWS_OF_ITEM 10

/* more rows than these are left to parallel workers, without comparing costs */
#define MAX_ROWS_OF_ITEMS 1000000

/* ---- parts of a query ---- */

/*
 * IsPlain says whether a query only selects rows of its relation, and sorts or
 * groups them.
 */
static bool
IsPlain(const Query *query)
{
	return !query->hasWindowFuncs && !query->hasTargetSRFs &&
		query->groupingSets == NIL &&
		query->setOperations == NULL && query->cteList == NIL &&
		list_length(query->jointree->fromlist) == 1 &&
		!(query->hasSubLinks &&
		  (contain_subplans((Node *) query->targetList) ||
		   contain_subplans(query->havingQual)));
}

/*
 * ZbxhistIsItemColumn says whether an expression is the column attnum of relation 1,
 * which is never null.
 */
bool
ZbxhistIsItemColumn(Node *expr, Relation table, AttrNumber attnum)
{
	Var		   *var = (Var *) expr;

	return attnum != InvalidAttrNumber && IsA(var, Var) &&
		var->varno == 1 && var->varattno == attnum && var->varlevelsup == 0 &&
		has_no_nulls(RelationGetDescr(table), attnum);
}

/*
 * IsClause says whether a clause of sorting or grouping is such a column.
 */
static bool
IsClause(Query *query, SortGroupClause *clause, Relation table,
		 AttrNumber attnum)
{
	Node	   *expr = get_sortgroupclause_expr(clause, query->targetList);

	return ZbxhistIsItemColumn(ungrouped_expr(query, expr), table, attnum);
}

/*
 * IsSortedBy says whether a sort clause is such a column of type integer, and
 * sets its direction.
 */
static bool
IsSortedBy(Query *query, SortGroupClause *clause, Relation table,
		   AttrNumber attnum, bool *is_descending)
{
	RegProcedure proc = get_opcode(clause->sortop);

	*is_descending = proc == F_INT4GT;
	return IsClause(query, clause, table, attnum) &&
		(proc == F_INT4LT || proc == F_INT4GT);
}

/*
 * IsSorted says whether the sort clauses after the first one are the clock, or clock and
 * ns, and sets their direction.
 */
static bool
IsSorted(Query *query, Relation table, const PartitionSet *set, bool *is_descending)
{
	int			n = list_length(query->sortClause);
	bool		is_ns_descending;

	if (n < 2 || n > 3 ||
		!IsSortedBy(query, lsecond(query->sortClause), table, set->clock_attnum,
					is_descending))
		return false;
	return n == 2 ||
		(IsSortedBy(query, lthird(query->sortClause), table, set->ns_attnum,
					&is_ns_descending) &&
		 *is_descending == is_ns_descending);
}

/*
 * ZbxhistTakeItemConditions splits the conditions of WHERE; returns false if one is not
 * on item and clock only.
 */
bool
ZbxhistTakeItemConditions(const ItemQuery *wanted, const PartitionSet *set,
						  List **conds)
{
	Expr	   *quals = (Expr *) wanted->quals;
	KeyColumns	columns;

	*conds = NIL;
	return ZbxhistTakeKeyColumns(set, &columns) &&
		(quals == NULL || (ZbxhistTakeCondition(quals, &columns, conds) &&
						   (names_items(*conds) ||
							!(ZbxhistHasCond(*conds, COND_ITEM_BEFORE, COND_ITEM_TO) ||
							  ZbxhistHasCond(*conds, COND_ITEM_FROM, COND_ITEM_AFTER)))));
}

/* ---- rows of items ---- */

/*
 * MayBePulledUp says whether the planner may pull up a subquery into the query around it;
 * then conditions with columns of that query could not be evaluated by the scan.
 */
static bool
MayBePulledUp(const Query *query)
{
	return !query->hasAggs &&
		(query->limitCount == NULL || query->sortClause == NIL) &&
		(contain_vars_of_level(query->jointree->quals, 1) ||
		 contain_vars_of_level(query->jointree->quals, 2));
}

/*
 * IsOfItems says whether a query wants rows of items that it names.  An aggregation of
 * very many rows is left to parallel workers; the first rows by clock of several items,
 * to an Append in the order of clocks (clock_order.c).
 */
static bool
IsOfItems(Query *query, Relation parent, const PartitionSet *set, List *conds)
{
	ScanBounds	bounds;

	if (!names_items(conds) ||
		MayBePulledUp(query) ||
		(!leaves_one_item(conds) && query->limitCount != NULL &&
		 query->sortClause != NIL &&
		 IsClause(query, linitial(query->sortClause), parent, set->clock_attnum)))
		return false;
	if (!query->hasAggs && query->groupClause == NIL && query->distinctClause == NIL)
		return true;
	ZbxhistGetConstBounds(conds, &bounds);
	return ZbxhistCountItemRows(set, bounds.items == NULL ? 1 : bounds.nitems,
								bounds.from_clock, bounds.to_clock) <=
		MAX_ROWS_OF_ITEMS;
}

/* ---- one row of each item ---- */

/* a search for what aggregates there are */
typedef struct AggregateSearch
{
	Relation	parent;
	AttrNumber	attnum;			/* of what */
	bool		has_max;
	bool		has_min;
} AggregateSearch;

/*
 * find_other_aggregate is a walker that notes max and min of the column, and ends
 * with true at any other aggregate.
 */
static bool
find_other_aggregate(Node *node, void *context)
{
	AggregateSearch *search = context;
	const Aggref *aggregate = (const Aggref *) node;
	bool		is_max;
	bool		is_min;

	if (node == NULL)
		return false;
	if (!IsA(node, Aggref))
		return expression_tree_walker(node, find_other_aggregate, context);
	is_max = aggregate->aggfnoid == F_MAX_INT4 || aggregate->aggfnoid == F_MAX_INT8;
	is_min = aggregate->aggfnoid == F_MIN_INT4 || aggregate->aggfnoid == F_MIN_INT8;
	if ((!is_max && !is_min) || aggregate->aggfilter != NULL || aggregate->agglevelsup != 0 ||
		!ZbxhistIsItemColumn((Node *) linitial_node(TargetEntry,
													aggregate->args)->expr,
							 search->parent, search->attnum))
		return true;
	search->has_max |= is_max;
	search->has_min |= is_min;
	return false;
}

/*
 * ZbxhistFindExtremes says whether all aggregates in an expression are max and min of
 * column attnum of relation 1, and which of them there are.
 */
bool
ZbxhistFindExtremes(Node *expr, Relation parent, AttrNumber attnum, bool *has_max,
					bool *has_min)
{
	AggregateSearch search = {.parent = parent,.attnum = attnum};

	if (find_other_aggregate(expr, &search))
		return false;
	*has_max = search.has_max;
	*has_min = search.has_min;
	return true;
}

/*
 * mentions_column is a walker that returns true at a column of the query outside of
 * aggregates.
 */
static bool
mentions_column(Node *node, void *context)
{
	if (node == NULL || IsA(node, Aggref))
		return false;
	if (IsA(node, Var))
		return ((Var *) node)->varlevelsup == 0;
	return expression_tree_walker(node, mentions_column, context);
}

/*
 * IsGrouped says whether a query groups by item, or not at all, and wants only the newest
 * clock of each item, or the oldest, or none (is_of_any).
 */
static bool
IsGrouped(Query *query, Relation parent, const PartitionSet *set,
		  bool *is_descending, bool *is_of_any)
{
	bool		has_max;
	bool		has_min;

	if (list_length(query->groupClause) > 1 ||
		query->distinctClause != NIL || query->constraintDeps != NIL ||
		mentions_column(query->havingQual, NULL) ||
		(query->groupClause != NIL &&
		 !IsClause(query, linitial(query->groupClause), parent,
				   set->itemid_attnum)) ||
		!ZbxhistFindExtremes((Node *) list_make2(query->targetList,
												 query->havingQual), parent,
							 set->clock_attnum, &has_max, &has_min))
		return false;
	*is_descending = !has_min;
	*is_of_any = !has_min && !has_max;
	return !has_min || !has_max;
}

/*
 * IsDistinct says whether a query wants a row of each item, and which: any if it
 * wants nothing but the item.
 */
static bool
IsDistinct(Query *query, Relation parent, const PartitionSet *set,
		   bool *is_descending, bool *is_of_any)
{
	if (list_length(query->distinctClause) != 1 ||
		query->groupClause != NIL || query->hasAggs ||
		query->havingQual != NULL ||
		!IsClause(query, linitial(query->distinctClause), parent,
				  set->itemid_attnum))
		return false;
	*is_descending = true;
	*is_of_any = !query->hasDistinctOn;
	if (*is_of_any)
		return true;
	return list_length(query->sortClause) > 1 &&
		IsClause(query, linitial(query->sortClause), parent,
				 set->itemid_attnum) &&
		IsSorted(query, parent, set, is_descending);
}

/*
 * CountTableRows adds the rows that a table has, by what VACUUM has found, to
 * nrows; returns false if that is unknown.
 */
static bool
CountTableRows(Oid relid, double *nrows)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	double		reltuples = -1;

	if (HeapTupleIsValid(tuple))
	{
		reltuples = ((Form_pg_class) GETSTRUCT(tuple))->reltuples;
		ReleaseSysCache(tuple);
	}
	if (reltuples < 0)
		return ZbxhistLockIfEmpty(relid, AccessShareLock);
	*nrows += reltuples;
	return true;
}

/*
 * CountRowsOfClocks counts the rows that a parent and its children of some clocks have; returns
 * false if that is unknown.
 */
static bool
CountRowsOfClocks(Relation parent, const PartitionSet *set, const ClockRange *bounds,
				  double *nrows)
{
	bool		is_known;

	*nrows = 0;
	is_known = CountTableRows(RelationGetRelid(parent), nrows);
	for (int i = 0; i < set->npartitions &&
		 ZbxhistPartitionSetIsValid(set); i++)
	{
		if (clocks_overlap(&set->partitions[i], bounds) &&
			!CountTableRows(set->partitions[i].relid, nrows))
			is_known = false;
	}
	for (int i = 0; i < set->npacked_days; i++)
	{
		if (clocks_overlap(&set->packed_days[i], bounds))
			*nrows += set->packed_days[i].nrows;
	}
	return is_known;
}

/*
 * ZbxhistCountRows estimates how many rows a parent and its children have.
 */
double
ZbxhistCountRows(Relation parent)
{
	ClockRange	all = ANY_CLOCKS;
	double		nrows;

	(void) CountRowsOfClocks(parent, ZbxhistGetPartitions(parent), &all, &nrows);
	return clamp_row_est(nrows);
}

/*
 * HasManyRows says whether items have so many rows of these clocks that searching one row
 * of each is cheaper than reading all, or whether that is unknown.
 */
static bool
HasManyRows(Relation parent, const PartitionSet *set, const ClockRange *clocks)
{
	double		nrows;
	double		nitems;

	if (!CountRowsOfClocks(parent, set, clocks, &nrows))
		return true;
	nitems = ZbxhistCountItems(RelationGetRelid(parent), set->itemid_attnum, nrows);
	return nitems < 0 || nrows >= nitems * MIN_ROWS_OF_ITEM;
}

/*
 * HasOpenClocks says whether some of these clocks are those of partitions.
 */
static bool
HasOpenClocks(const PartitionSet *set, const ClockRange *clocks)
{
	for (int i = 0; i < set->npartitions; i++)
	{
		if (clocks_overlap(&set->partitions[i], clocks))
			return true;
	}
	return false;
}

/*
 * IsOfEach says whether a query wants one row of each item.  If only packed days have
 * these clocks, which items of a list have rows is found faster by their directories than
 * by rows.
 */
static bool
IsOfEach(Query *query, Relation parent, const PartitionSet *set,
		 ItemQuery *wanted)
{
	bool	   *is_descending = &wanted->is_descending;
	bool		is_of_any;
	List	   *conds;
	ScanBounds	bounds;
	ClockRange	clocks;

	if ((query->distinctClause == NIL && query->groupClause == NIL && !query->hasAggs) ||
		!(IsDistinct(query, parent, set, is_descending, &is_of_any) ||
		  IsGrouped(query, parent, set, is_descending, &is_of_any)) ||
		!ZbxhistTakeItemConditions(wanted, set, &conds) ||
		contain_volatile_functions((Node *) query->targetList) ||
		(wanted->quals != NULL && MayBePulledUp(query)))
		return false;
	if (query->distinctClause == NIL && query->groupClause == NIL)
		return leaves_one_item(conds);
	ZbxhistGetConstBounds(conds, &bounds);
	clocks = clocks_of_bounds(&bounds);
	if (names_items(conds))
		return !is_of_any || HasOpenClocks(set, &clocks);
	return HasManyRows(parent, set, &clocks);
}

/* ---- all rows in the order of the key ---- */

/*
 * HasItemFirst says whether rows are sorted by item first, and more than that or only
 * the first of them are wanted: others are sorted by whoever reads them.
 */
static bool
HasItemFirst(Query *query, Relation parent, const PartitionSet *set)
{
	SortGroupClause *clause;
	RegProcedure proc;

	if (query->sortClause == NIL || query->hasAggs ||
		query->distinctClause != NIL || query->groupClause != NIL ||
		query->havingQual != NULL)
		return false;
	clause = linitial_node(SortGroupClause, query->sortClause);
	proc = get_opcode(clause->sortop);
	return IsClause(query, clause, parent, set->itemid_attnum) &&
		(proc == F_INT8LT || proc == F_INT8GT) &&
		(query->limitCount != NULL ||
		 (list_length(query->sortClause) > 1 &&
		  IsClause(query, lsecond_node(SortGroupClause, query->sortClause), parent,
				   set->clock_attnum)));
}

/*
 * IsOfEnds says whether a query wants only the first or the last item.
 */
static bool
IsOfEnds(const Query *query, Relation parent, const PartitionSet *set)
{
	bool		has_max;
	bool		has_min;

	return query->hasAggs && query->groupClause == NIL &&
		query->distinctClause == NIL && query->havingQual == NULL &&
		!mentions_column((Node *) query->targetList, NULL) &&
		ZbxhistFindExtremes((Node *) query->targetList, parent, set->itemid_attnum,
							&has_max, &has_min) &&
		(has_max || has_min);
}

/*
 * IsByKey says whether a query wants rows of items that it names, or rows in the order of
 * the key, or the first of these.  The executor evaluates other conditions.
 */
static bool
IsByKey(Query *query, Relation parent, const PartitionSet *set, ItemQuery *wanted)
{
	List	   *conds;

	return (ZbxhistTakeItemConditions(wanted, set, &conds) ||
			!contain_subplans(wanted->quals)) &&
		(IsOfItems(query, parent, set, conds) || HasItemFirst(query, parent, set) ||
		 IsOfEnds(query, parent, set)) &&
		ZbxhistHasItemIndex(parent);
}

/* ---- all ---- */

/*
 * OwnerMayRead says whether a table's owner still has the privilege to read it.
 */
static bool
OwnerMayRead(Relation rel)
{
	return pg_class_aclcheck(RelationGetRelid(rel), rel->rd_rel->relowner,
							 ACL_SELECT) == ACLCHECK_OK;
}

/*
 * ZbxhistMayReplace says whether one of our scans may read a query's parent instead of
 * its children.  The planner then assumes that the user may read the statistics, but an
 * operator that leaks values must not see those that the user may not read.
 */
bool
ZbxhistMayReplace(const Query *query, const RangeTblEntry *rte, Relation parent)
{
	Oid			user = relation_user(query, rte);

	return rte->securityQuals == NIL && rte->tablesample == NULL &&
		!has_virtual_columns(RelationGetDescr(parent)->constr) &&
		pg_class_aclcheck(RelationGetRelid(parent),
						  OidIsValid(user) ? user : GetUserId(),
						  ACL_SELECT) == ACLCHECK_OK &&
		OwnerMayRead(parent);
}

/*
 * ZbxhistIsItemQuery says whether a query wants rows of items of its only relation, an
 * open parent, or one row of each item, or rows by their keys, and which.
 */
bool
ZbxhistIsItemQuery(Query *query, Relation parent, const PartitionSet *set,
				   ItemQuery *result)
{
	if (!set->is_exhaustive || set->clock_attnum == InvalidAttrNumber)
		return false;
	result->quals = query->jointree->quals;
	result->is_of_each = IsPlain(query) && IsOfEach(query, parent, set, result);
	if (result->is_of_each)
		return true;
	result->is_descending = false;
	if (ZbxhistIsKeyQuery(query, parent, set, result))
		return true;
	result->is_by_key = IsPlain(query) && IsByKey(query, parent, set, result);
	return result->is_by_key;
}
