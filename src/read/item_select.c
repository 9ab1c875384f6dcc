/*-------------------------------------------------------------------------
 *
 * item_select.c
 *	  Plans a SELECT of an item's rows as a custom scan.
 *
 * Half of what Zabbix asks of history is about one item:
 *
 *	SELECT clock, ns, value FROM history WHERE itemid = 5 AND clock > 1795130262
 *	SELECT * FROM history h WHERE h.itemid = '5' AND h.clock > 1795130262
 *		ORDER BY h.clock DESC, h.ns DESC LIMIT 2
 *
 * The planner has nothing to decide: the index on (itemid, clock, ns) has the rows in
 * their order, and the clocks say which tables have them.  So the planner hook makes a
 * custom scan of the unchanged query tree, and item_read.c finds the tables when it is
 * executed.  The plan does not contain partitions.  So it stays valid while hours begin,
 * are packed and dropped, and a generic plan of a prepared statement is as good as a
 * custom one.
 *
 * Aggregates of such rows, as history.get's COUNT(*) and the server's sum(num), are
 * PostgreSQL's Agg over that scan, unless segments of packed days may answer them sooner
 * (aggregate_path.c).
 *
 * All other SELECTs are left to the planner; if a check is in doubt, it refuses.  What is
 * checked here holds while the plan lives, because a plan is thrown away when its
 * relation changes (relationOids) and when one of our settings does (guc.c).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "access/transam.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_class.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/prep.h"
#include "optimizer/tlist.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/selfuncs.h"

#include "compat.h"
#include "compat_marks.h"
#include "fdw/fdw.h"
#include "guc.h"
#include "ingest/literal.h"
#include "packed/conditions.h"
#include "packed/scan.h"
#include "read/aggregate.h"
#include "read/clock_bounds.h"
#include "read/item_query.h"
#include "read/item_read.h"
#include "tables/partition_set.h"

/* width that EXPLAIN shows for a column of varying length */
#define USUAL_WIDTH 32

/* up to so many rows that are not needed, reading them is cheaper than planning each table */
#define MAX_SORTED_ROWS 1000

/* up to so many packed rows are aggregated one by one, more by segments */
#define MAX_AGGREGATED_ROWS 200

/* a SELECT taken apart */
typedef struct SelectParts
{
	KeyColumns	columns;
	AttrNumber	ns;
	List	   *conds;			/* of PackedCond: those on item and clock */
	List	   *quals;			/* all these as they were */
	List	   *filters;		/* other conditions, for each row */
	List	   *targets;		/* of TargetEntry: those that are wanted */
	List	   *target_attnums;
	Node	   *limit;
	bool		has_list;		/* of several items */
	bool		has_ns;			/* the order is by it */
	bool		is_descending;
	bool		items_descending;
	bool		needs_sort;		/* the order is not that of items first */
} SelectParts;

/* ---- the statement ---- */

/*
 * IsItemSelect says whether a query selects rows of one table with its children, and
 * sorts and limits them at most, or aggregates all of them.  The cheap checks come first,
 * because it is called for every query.  A cursor without NO SCROLL is left to the planner,
 * because it may be read backwards.
 */
static bool
IsItemSelect(const Query *query, int cursor_options)
{
	const RangeTblEntry *rte;

	if (query->commandType != CMD_SELECT || list_length(query->rtable) != 1 ||
		query->jointree->quals == NULL ||
		list_length(query->jointree->fromlist) != 1 ||
		!IsA(linitial(query->jointree->fromlist), RangeTblRef))
		return false;
	rte = linitial_node(RangeTblEntry, query->rtable);
	return rte->rtekind == RTE_RELATION && rte->inh &&
		rte->relkind == RELKIND_RELATION && rte->securityQuals == NIL &&
		rte->tablesample == NULL && query->utilityStmt == NULL &&
		(!query->hasAggs || (query->sortClause == NIL && query->limitCount == NULL)) &&
		!query->hasWindowFuncs && !query->hasTargetSRFs &&
		!query->hasSubLinks && !query->hasDistinctOn &&
		!query->hasModifyingCTE && !query->hasForUpdate &&
		!query->hasRowSecurity && query->cteList == NIL &&
		query->groupClause == NIL && query->groupingSets == NIL &&
		query->havingQual == NULL && query->windowClause == NIL &&
		query->distinctClause == NIL && query->rowMarks == NIL &&
		query->setOperations == NULL && query->limitOffset == NULL &&
		query->limitOption == LIMIT_OPTION_COUNT &&
		!(cursor_options & CURSOR_OPT_SCROLL) &&
		(!(cursor_options & CURSOR_OPT_FAST_PLAN) ||
		 (cursor_options & CURSOR_OPT_NO_SCROLL));
}

/* ---- conditions ---- */

/*
 * NeedsNoFolding says whether an expression is a constant, a parameter, or one of
 * these widened.
 */
static bool
NeedsNoFolding(const Node *expr)
{
	if (IsA(expr, FuncExpr) &&
		((const FuncExpr *) expr)->funcformat == COERCE_IMPLICIT_CAST &&
		list_length(((const FuncExpr *) expr)->args) == 1)
		expr = linitial(((const FuncExpr *) expr)->args);
	return IsA(expr, Const) || IsA(expr, Param);
}

/*
 * IsListOfLiterals says whether an expression is an array of literals, as IN has it.
 */
static bool
IsListOfLiterals(const Node *expr)
{
	const ArrayExpr *array = (const ArrayExpr *) expr;
	ListCell   *lc;

	if (!IsA(array, ArrayExpr) || array->multidims)
		return false;
	foreach(lc, array->elements)
	{
		if (!ZbxhistIsLiteral(lfirst(lc)) || !NeedsNoFolding(lfirst(lc)))
			return false;
	}
	return true;
}

/*
 * TakeValue returns a value that can be evaluated without the planner, or NULL
 * if it cannot be.  Casts that may fail do so now, as in the planner.
 */
static Node *
TakeValue(Node *expr)
{
	if (IsListOfLiterals(expr))
		return expr;
	if (!ZbxhistIsLiteral(expr))
		return NULL;
	return NeedsNoFolding(expr) ? expr : eval_const_expressions(NULL, expr);
}

/*
 * TakeFilter takes a condition that is evaluated for each row; returns false if the scan
 * cannot do that.  The planner evaluates one without columns once, before there are rows.
 */
static bool
TakeFilter(Expr *qual, SelectParts *parts)
{
	List	   *columns;
	ListCell   *lc;

	if (!ZbxhistIsUsable((Node *) qual))
		return false;
	qual = (Expr *) eval_const_expressions(NULL, (Node *) qual);
	columns = pull_var_clause((Node *) qual, 0);
	foreach(lc, columns)
	{
		if (lfirst_node(Var, lc)->varattno <= 0)
			return false;
	}
	convert_saop_to_hashed_saop((Node *) qual);
	parts->filters = ZbxhistAddByCost(parts->filters, qual);
	return columns != NIL;
}

/*
 * TakeQuals splits the conditions of WHERE; returns false if there is one that the scan
 * cannot evaluate, or none that names the items.
 */
static bool
TakeQuals(const Query *query, SelectParts *parts)
{
	ListCell   *lc;

	foreach(lc, ZbxhistAddParts(NIL, query->jointree->quals, AND_EXPR))
	{
		Expr	   *qual = lfirst(lc);

		if (!IsA(qual, OpExpr) && !IsA(qual, ScalarArrayOpExpr))
			return false;
		if (ZbxhistTakeCondition(qual, &parts->columns, &parts->conds))
			parts->quals = lappend(parts->quals, qual);
		else if (!TakeFilter(qual, parts))
			return false;
	}
	foreach(lc, parts->conds)
	{
		PackedCond *cond = lfirst(lc);

		cond->value = (Expr *) TakeValue((Node *) cond->value);
		if (cond->value == NULL)
			return false;
	}
	parts->has_list = !leaves_one_item(parts->conds);
	return names_items(parts->conds) &&
		!ZbxhistHasCond(parts->conds, COND_TIDS, COND_TIDS);
}

/* ---- order, targets, limit ---- */

/*
 * TakeOrder says whether the scan gives the rows of an item in the order that ORDER BY
 * wants, and sets the directions.  Of columns that have one value it does not matter; rows
 * of one clock come in the order of ns.  Rows of several items are sorted unless the items
 * come first.
 */
static bool
TakeOrder(const Query *query, SelectParts *parts)
{
	bool		has_one_clock = ZbxhistHasCond(parts->conds, COND_CLOCK, COND_CLOCK);
	bool		has_items = !parts->has_list;
	bool		has_direction = false;
	bool		has_clock = has_one_clock;
	bool		has_ns = false;
	ListCell   *lc;

	foreach(lc, query->sortClause)
	{
		SortGroupClause *clause = lfirst_node(SortGroupClause, lc);
		const Var  *column = (const Var *)
			get_sortgroupclause_expr(clause, query->targetList);
		RegProcedure proc = get_opcode(clause->sortop);
		bool		is_descending = proc == F_INT4GT || proc == F_INT8GT;
		bool		is_clock;

		if (!IsA(column, Var) || column->varno != 1 || column->varlevelsup != 0 ||
			column->varattno <= 0 ||
			(!is_descending && proc != F_INT4LT && proc != F_INT8LT))
			return false;
		if (column->varattno == parts->columns.itemid)
		{
			parts->needs_sort |= parts->has_list && has_items;
			if (!has_items)
				parts->items_descending = is_descending;
			has_items = true;
			continue;
		}
		is_clock = column->varattno == parts->columns.clock;
		if (is_clock && has_one_clock)
			continue;
		if (!is_clock && column->varattno != parts->ns)
			return false;
		parts->needs_sort |= !has_items;
		has_items = true;
		if (has_ns || is_clock == has_clock ||
			(has_direction && is_descending != parts->is_descending))
			return false;
		has_clock = true;
		has_ns = !is_clock;
		has_direction = true;
		parts->is_descending = is_descending;
	}
	parts->has_ns = has_ns;
	return true;
}

/*
 * IsColumn says whether an expression is a column of the table.
 */
static bool
IsColumn(const Expr *expr)
{
	const Var  *var = (const Var *) expr;

	return IsA(var, Var) && var->varno == 1 && var->varlevelsup == 0 && var->varattno > 0;
}

/*
 * AddTarget adds a target to those that the scan has.
 */
static void
AddTarget(SelectParts *parts, TargetEntry *entry)
{
	parts->targets = lappend(parts->targets, entry);
	parts->target_attnums = lappend_int(parts->target_attnums,
										((Var *) entry->expr)->varattno);
}

/*
 * TakeAggregate takes an aggregate of all rows, or of a column of theirs, which becomes a
 * target.
 */
static bool
TakeAggregate(const Aggref *aggregate, SelectParts *parts)
{
	Expr	   *column;

	if (!IsA(aggregate, Aggref) || aggregate->aggkind != AGGKIND_NORMAL ||
		aggregate->aggfnoid >= FirstNormalObjectId || aggregate->agglevelsup != 0 ||
		aggregate->aggdistinct != NIL || aggregate->aggorder != NIL ||
		aggregate->aggfilter != NULL || list_length(aggregate->args) > 1)
		return false;
	if (aggregate->args == NIL)
		return true;
	column = linitial_node(TargetEntry, aggregate->args)->expr;
	if (!IsColumn(column))
		return false;
	if (tlist_member(column, parts->targets) == NULL)
		AddTarget(parts, makeTargetEntry(column, list_length(parts->targets) + 1, NULL,
										 false));
	return true;
}

/*
 * TakeTargets takes the target list, if it has only columns, or only aggregates of
 * columns.  The newest and the oldest clock are found without reading all rows
 * (item_query.c).
 */
static bool
TakeTargets(const Query *query, Relation parent, SelectParts *parts)
{
	bool		has_max;
	bool		has_min;
	ListCell   *lc;

	foreach(lc, query->targetList)
	{
		TargetEntry *entry = lfirst_node(TargetEntry, lc);

		if (query->hasAggs ? !TakeAggregate((Aggref *) entry->expr, parts) :
			!IsColumn(entry->expr))
			return false;
		if (!query->hasAggs && (!entry->resjunk || parts->needs_sort))
			AddTarget(parts, entry);
	}
	if (!query->hasAggs)
		return parts->targets != NIL;
	if (parts->targets == NIL)
		AddTarget(parts, makeTargetEntry((Expr *) makeVar(1, parts->columns.clock,
														  INT4OID, -1, InvalidOid, 0),
										 1, NULL, false));
	return list_length(parts->targets) > 1 ||
		!ZbxhistFindExtremes((Node *) query->targetList, parent, parts->columns.clock,
							 &has_max, &has_min);
}

/*
 * TakeSelect takes a query on an open parent apart; returns false if the scan cannot
 * execute it.  The key columns must be NOT NULL, because NULL has no position.
 */
static bool
TakeSelect(const Query *query, Relation parent, SelectParts *parts)
{
	const PartitionSet *set = ZbxhistGetPartitions(parent);
	TupleDesc	desc = RelationGetDescr(parent);

	memset(parts, 0, sizeof(*parts));
	if (!ZbxhistTakeKeyColumns(set, &parts->columns) ||
		!has_no_nulls(desc, set->clock_attnum) ||
		has_virtual_columns(desc->constr))
		return false;
	parts->ns = set->ns_attnum;
	if (!TakeQuals(query, parts) || !TakeOrder(query, parts) ||
		!TakeTargets(query, parent, parts) ||
		(parts->has_ns && !has_no_nulls(desc, set->ns_attnum)))
		return false;
	if (query->limitCount == NULL)
		return true;
	parts->limit = TakeValue(query->limitCount);
	return parts->limit != NULL;
}

/* ---- estimates ---- */

/*
 * CountNamedItems returns how many items conditions leave, which name them.
 */
static double
CountNamedItems(const SelectParts *parts)
{
	ListCell   *lc;

	foreach(lc, parts->has_list ? parts->conds : NIL)
	{
		PackedCond *cond = lfirst(lc);

		if (cond->kind == COND_ITEMS)
			return estimate_array_length_compat(NULL, (Node *) cond->value);
	}
	return 1;
}

/*
 * PutEstimates sets the estimates of the scan's plan.  EXPLAIN shows them, postgres_fdw on
 * another server uses them, and generic and custom plans are compared by them.  Returns
 * false if another plan is cheaper: with a LIMIT the scan reads so many rows of each item,
 * while tables in the order of clocks give so many in all; many rows of packed days are
 * aggregated by segments.
 */
static bool
PutEstimates(Plan *plan, const Query *query, const SelectParts *parts, Relation parent)
{
	const PartitionSet *set = ZbxhistGetPartitions(parent);
	const Const *limit = (const Const *) parts->limit;
	double		nitems = CountNamedItems(parts);
	double		nread;
	ScanBounds	bounds;
	ClockRange	clocks;
	ListCell   *lc;

	ZbxhistGetConstBounds(parts->conds, &bounds);
	clocks = clocks_of_bounds(&bounds);
	nread = ZbxhistCountItemRows(set, nitems, bounds.from_clock, bounds.to_clock);
	plan->plan_rows = nread;
	if (limit != NULL && IsA(limit, FuncExpr))
		limit = linitial(((const FuncExpr *) limit)->args);
	if (limit != NULL && IsA(limit, Const) && !limit->constisnull &&
		limit->consttype == INT4OID)
	{
		plan->plan_rows = clamp_row_est(Min(DatumGetInt32(limit->constvalue), nread));
		nread = Min(plan->plan_rows * nitems, nread);
	}
	plan->total_cost = random_page_cost +
		plan->plan_rows * (cpu_tuple_cost + cpu_index_tuple_cost);
	foreach(lc, parts->target_attnums)
	{
		int			length = TupleDescAttr(RelationGetDescr(parent),
										   lfirst_int(lc) - 1)->attlen;

		plan->plan_width += length > 0 ? length : USUAL_WIDTH;
	}
	if (query->hasAggs)
		return nread <= MAX_AGGREGATED_ROWS || !ZbxhistHasPackedDay(set, &clocks);
	return limit == NULL || !parts->needs_sort || nread <= MAX_SORTED_ROWS;
}

/* ---- the plan ---- */

/*
 * ReferTo returns target entries that refer to the same columns of the plan below, by
 * varno.
 */
static List *
ReferTo(const List *targets, Index varno)
{
	List	   *result = NIL;
	ListCell   *lc;

	foreach(lc, targets)
	{
		TargetEntry *entry = flatCopyTargetEntry(lfirst(lc));

		entry->resno = foreach_current_index(lc) + 1;
		entry->expr = (Expr *) makeVarFromTargetEntry(varno, entry);
		result = lappend(result, entry);
	}
	return result;
}

/*
 * MakeRead makes the custom scan of a SELECT taken apart.  Its rows have the columns
 * of the targets and no others, so nothing is projected.  The filters are evaluated on the
 * parent's rows, so they refer to the parent.
 */
static CustomScan *
MakeRead(const SelectParts *parts)
{
	CustomScan *scan = makeNode(CustomScan);
	List	   *kinds = ZbxhistKindsOf(parts->conds, &scan->custom_exprs);

	scan->scan.plan.targetlist = ReferTo(parts->targets, INDEX_VAR);
	scan->scan.plan.qual = parts->filters;
	scan->scan.scanrelid = 1;
	scan->custom_scan_tlist = parts->targets;
	scan->custom_relids = bms_make_singleton(1);
	scan->custom_private = list_make5(kinds, parts->target_attnums,
									  list_make3_int(parts->is_descending,
													 parts->items_descending,
													 parts->needs_sort),
									  parts->limit, parts->quals);
	scan->methods = &zbxhist_item_read.methods;
	return scan;
}

/*
 * PutAbove puts a plan above another.
 */
static Plan *
PutAbove(Plan *plan, Plan *below)
{
	plan->targetlist = ReferTo(below->targetlist, OUTER_VAR);
	plan->lefttree = below;
	plan->startup_cost = plan->total_cost = below->total_cost;
	plan->plan_rows = below->plan_rows;
	plan->plan_width = below->plan_width;
	return plan;
}

/*
 * SortRead sorts the rows of a scan of several items, which has all columns of the order,
 * and leaves so many of them as are wanted.
 */
static Plan *
SortRead(const Query *query, const SelectParts *parts, Plan *scan)
{
	Sort	   *sort = makeNode(Sort);
	Limit	   *limit = makeNode(Limit);
	ListCell   *lc;

	sort->numCols = list_length(query->sortClause);
	sort->sortColIdx = palloc(sizeof(AttrNumber) * sort->numCols);
	sort->sortOperators = palloc(sizeof(Oid) * sort->numCols);
	sort->collations = palloc0(sizeof(Oid) * sort->numCols);
	sort->nullsFirst = palloc(sizeof(bool) * sort->numCols);
	foreach(lc, query->sortClause)
	{
		SortGroupClause *clause = lfirst_node(SortGroupClause, lc);
		int			i = foreach_current_index(lc);

		sort->sortColIdx[i] = get_sortgroupclause_tle(clause, parts->targets)->resno;
		sort->sortOperators[i] = clause->sortop;
		sort->nullsFirst[i] = clause->nulls_first;
	}
	(void) PutAbove(&sort->plan, scan);
	if (parts->limit == NULL)
		return &sort->plan;
	limit->limitCount = parts->limit;
	limit->limitOption = LIMIT_OPTION_COUNT;
	return PutAbove(&limit->plan, &sort->plan);
}

/*
 * AggregateRead aggregates the rows of a scan, which has the columns that are aggregated.
 */
static Plan *
AggregateRead(const Query *query, const SelectParts *parts, Plan *scan)
{
	Agg		   *agg = makeNode(Agg);
	List	   *targets = copyObject(query->targetList);
	ListCell   *lc;

	(void) PutAbove(&agg->plan, scan);
	agg->aggstrategy = AGG_PLAIN;
	agg->aggsplit = AGGSPLIT_SIMPLE;
	agg->numGroups = 1;
	agg->plan.plan_rows = 1;
	preprocess_aggrefs(makeNode(PlannerInfo), (Node *) targets);
	foreach(lc, targets)
	{
		Aggref	   *aggregate = (Aggref *) lfirst_node(TargetEntry, lc)->expr;
		TargetEntry *argument;

		if (aggregate->args == NIL)
			continue;
		argument = linitial_node(TargetEntry, aggregate->args);
		argument->expr = (Expr *)
			makeVarFromTargetEntry(OUTER_VAR, tlist_member(argument->expr, parts->targets));
	}
	agg->plan.targetlist = targets;
	return &agg->plan;
}

/*
 * ZbxhistPlanItemSelect returns a plan if a query is such a SELECT, else NULL.  The
 * table is locked by the query.
 */
PlannedStmt *
ZbxhistPlanItemSelect(const Query *query, int cursor_options)
{
	Plan	   *plan = NULL;
	SelectParts parts;
	Relation	rel;

	if (!IsItemSelect(query, cursor_options) || !zbxhist_enable_item_scan)
		return NULL;
	rel = table_open(linitial_node(RangeTblEntry, query->rtable)->relid, NoLock);
	if (ZbxhistIsRouted(rel) && TakeSelect(query, rel, &parts))
	{
		plan = &MakeRead(&parts)->scan.plan;
		if (!PutEstimates(plan, query, &parts, rel))
			plan = NULL;
		else if (query->hasAggs)
			plan = AggregateRead(query, &parts, plan);
		else if (parts.needs_sort)
			plan = SortRead(query, &parts, plan);
	}
	table_close(rel, NoLock);
	return plan == NULL ? NULL : make_plan(query, query->rtable, plan);
}
