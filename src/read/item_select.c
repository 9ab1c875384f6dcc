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
 * There is nothing to decide in it: the index on (itemid, clock, ns) has the
 * rows in their order, and the clocks say which tables have them.  So the
 * planner hook here makes a custom scan of the query tree as it is, and
 * item_read.c finds the tables when it is executed.  Nothing of a partition is
 * in the plan, which therefore holds while hours begin, are packed and dropped,
 * and a generic plan of a prepared statement is as good as any.
 *
 * Whatever else a SELECT can be is the planner's: a check that is not sure says
 * no.  What is checked here holds while the plan lives, because a plan is thrown
 * away when its relation changes (relationOids) and when one of our settings
 * does (guc.c).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "access/table.h"
#include "catalog/pg_class.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
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
#include "read/clock_bounds.h"
#include "read/item_read.h"
#include "read_integer.h"
#include "tables/partition_set.h"

/* what EXPLAIN says of the width of a column without a fixed one */
#define USUAL_WIDTH 32

/* so many rows are rather read too much than tables planned one by one */
#define MAX_SORTED_ROWS 1000

/* a function that compares two integers */
typedef struct Comparison
{
	Oid			funcid;
	Oid			left_type;
	Oid			right_type;
	StrategyNumber strategy;
} Comparison;

#define COMPARISONS(name, left, right) \
	{F_##name##LT, left, right, BTLessStrategyNumber}, \
	{F_##name##LE, left, right, BTLessEqualStrategyNumber}, \
	{F_##name##EQ, left, right, BTEqualStrategyNumber}, \
	{F_##name##GE, left, right, BTGreaterEqualStrategyNumber}, \
	{F_##name##GT, left, right, BTGreaterStrategyNumber}

/* those of itemid, clock and ns, the usual ones first */
static const Comparison comparisons[] = {
	COMPARISONS(INT4, INT4OID, INT4OID),
	{F_INT84EQ, INT8OID, INT4OID, BTEqualStrategyNumber},
	{F_INT8EQ, INT8OID, INT8OID, BTEqualStrategyNumber},
	COMPARISONS(INT48, INT4OID, INT8OID),
	COMPARISONS(INT42, INT4OID, INT2OID),
	{F_INT82EQ, INT8OID, INT2OID, BTEqualStrategyNumber},
	{F_INT28EQ, INT2OID, INT8OID, BTEqualStrategyNumber},
	COMPARISONS(INT84, INT8OID, INT4OID),
	COMPARISONS(INT24, INT2OID, INT4OID)
};

/* a SELECT taken apart */
typedef struct SelectParts
{
	AttrNumber	attnums[READ_NS + 1];	/* of the columns; 0: there is none */
	List	   *conds;			/* see ITEM_READ_CONDS */
	List	   *values;			/* of these */
	List	   *targets;		/* of TargetEntry: those that are wanted */
	List	   *target_attnums;
	Node	   *limit;
	bool		has_item;		/* there is a condition on the item */
	bool		has_list;		/* it is one of several */
	bool		has_one_clock;	/* clock = value */
	bool		has_ns;			/* a condition on ns, or the order is by it */
	bool		is_descending;
	bool		items_descending;
	bool		needs_sort;		/* the order is not that of items first */
} SelectParts;

/* ---- the statement ---- */

/*
 * IsItemSelect says whether a query selects rows of one table with its children,
 * and sorts and limits them at most.  The cheap part comes first: it is asked for
 * every query.  A cursor that is not NO SCROLL is the planner's, for it may be
 * read backwards if its plan can.
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
		!query->hasAggs && !query->hasWindowFuncs && !query->hasTargetSRFs &&
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

/*
 * FindReadColumn finds which column of the table an expression is; returns false if it
 * is none that can be compared.
 */
static bool
FindReadColumn(const SelectParts *parts, const Node *expr, ReadColumn *column)
{
	const Var  *var = (const Var *) expr;

	if (!IsA(var, Var) || var->varno != 1 || var->varlevelsup != 0 ||
		var->varattno <= 0)
		return false;
	for (*column = READ_ITEM; *column <= READ_NS; (*column)++)
	{
		if (var->varattno == parts->attnums[*column])
			return true;
	}
	return false;
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
 * TakeLiteral returns a value that can be evaluated without the planner, or NULL
 * if it cannot be.  Casts that may fail do so now, as in the planner.
 */
static Node *
TakeLiteral(Node *expr)
{
	if (!ZbxhistIsLiteral(expr))
		return NULL;
	return NeedsNoFolding(expr) ? expr : eval_const_expressions(NULL, expr);
}

/*
 * AddReadCond adds a condition.
 */
static void
AddReadCond(SelectParts *parts, ReadColumn column, StrategyNumber strategy,
			Oid type, Node *value)
{
	parts->conds = lappend_int(parts->conds, column);
	parts->conds = lappend_int(parts->conds, strategy);
	parts->conds = lappend_int(parts->conds, (int) type);
	parts->values = lappend(parts->values, value);
	parts->has_one_clock |= column == READ_CLOCK &&
		strategy == BTEqualStrategyNumber;
	parts->has_ns |= column == READ_NS;
	parts->has_item |= column == READ_ITEM;
}

/*
 * TakeComparison takes "column operator value", or the other way round.  There must
 * be one condition on the item.
 */
static bool
TakeComparison(const OpExpr *op, SelectParts *parts)
{
	Oid			funcid = OidIsValid(op->opfuncid) ? op->opfuncid :
		get_opcode(op->opno);
	const Comparison *found = NULL;
	StrategyNumber strategy;
	ReadColumn	column;
	bool		is_commuted;
	Node	   *value;

	for (int i = 0; i < lengthof(comparisons) && found == NULL; i++)
	{
		if (comparisons[i].funcid == funcid)
			found = &comparisons[i];
	}
	if (found == NULL)
		return false;
	is_commuted = !FindReadColumn(parts, linitial(op->args), &column);
	if (is_commuted && !FindReadColumn(parts, lsecond(op->args), &column))
		return false;
	strategy = is_commuted ? BTMaxStrategyNumber + 1 - found->strategy :
		found->strategy;
	if (column == READ_ITEM &&
		(parts->has_item || strategy != BTEqualStrategyNumber))
		return false;
	value = TakeLiteral(is_commuted ? linitial(op->args) : lsecond(op->args));
	if (value == NULL)
		return false;
	AddReadCond(parts, column, strategy,
				is_commuted ? found->left_type : found->right_type, value);
	return true;
}

/*
 * IsListOfLiterals says whether an expression is an array of literals, as IN has it.
 */
static bool
IsListOfLiterals(const ArrayExpr *array)
{
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
 * TakeItems takes "itemid = ANY (array)", or IN.
 */
static bool
TakeItems(const ScalarArrayOpExpr *any, SelectParts *parts)
{
	Oid			funcid = OidIsValid(any->opfuncid) ? any->opfuncid :
		get_opcode(any->opno);
	Oid			type = funcid == F_INT8EQ ? INT8OID :
		funcid == F_INT84EQ ? INT4OID :
		funcid == F_INT82EQ ? INT2OID : InvalidOid;
	Node	   *array = lsecond(any->args);
	ReadColumn	column;

	if (!any->useOr || !OidIsValid(type) || parts->has_item ||
		!FindReadColumn(parts, linitial(any->args), &column) ||
		column != READ_ITEM)
		return false;
	if (!IsListOfLiterals((ArrayExpr *) array))
		array = TakeLiteral(array);
	if (array == NULL)
		return false;
	AddReadCond(parts, READ_ITEM, InvalidStrategy, type, array);
	parts->has_list = true;
	return true;
}

/*
 * TakeQual takes the conditions of WHERE apart; returns false if there is one
 * that the scan cannot take care of.
 */
static bool
TakeQual(Node *qual, SelectParts *parts)
{
	ListCell   *lc;

	if (IsA(qual, OpExpr) && list_length(((OpExpr *) qual)->args) == 2)
		return TakeComparison((OpExpr *) qual, parts);
	if (IsA(qual, ScalarArrayOpExpr))
		return TakeItems((ScalarArrayOpExpr *) qual, parts);
	if (!is_andclause(qual))
		return false;
	check_stack_depth();
	foreach(lc, ((BoolExpr *) qual)->args)
	{
		if (!TakeQual(lfirst(lc), parts))
			return false;
	}
	return true;
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
	bool		has_items = !parts->has_list;
	bool		has_direction = false;
	bool		has_clock = parts->has_one_clock;
	bool		has_ns = false;
	ListCell   *lc;

	foreach(lc, query->sortClause)
	{
		SortGroupClause *clause = lfirst_node(SortGroupClause, lc);
		ReadColumn	column;
		bool		is_descending;

		if (!FindReadColumn(parts,
							get_sortgroupclause_expr(clause,
													 query->targetList),
							&column))
			return false;
		if (clause->sortop == Int4LessOperator ||
			clause->sortop == Int8LessOperator)
			is_descending = false;
		else
		{
			RegProcedure proc = get_opcode(clause->sortop);

			if (proc != F_INT4GT && proc != F_INT8GT)
				return false;
			is_descending = true;
		}
		if (column == READ_ITEM)
		{
			parts->needs_sort |= parts->has_list && has_items;
			if (!has_items)
				parts->items_descending = is_descending;
			has_items = true;
			continue;
		}
		if (column == READ_CLOCK && parts->has_one_clock)
			continue;
		parts->needs_sort |= !has_items;
		has_items = true;
		if (has_ns || (column == READ_CLOCK) == has_clock ||
			(has_direction && is_descending != parts->is_descending))
			return false;
		has_clock = true;
		has_ns = column == READ_NS;
		has_direction = true;
		parts->is_descending = is_descending;
	}
	parts->has_ns |= has_ns;
	return true;
}

/*
 * TakeTargets takes what is selected, if that is columns.
 */
static bool
TakeTargets(const Query *query, SelectParts *parts)
{
	ListCell   *lc;

	foreach(lc, query->targetList)
	{
		TargetEntry *entry = lfirst_node(TargetEntry, lc);
		const Var  *var = (const Var *) entry->expr;

		if (!IsA(var, Var) || var->varno != 1 || var->varlevelsup != 0 ||
			var->varattno <= 0)
			return false;
		if (entry->resjunk && !parts->needs_sort)
			continue;
		parts->targets = lappend(parts->targets, entry);
		parts->target_attnums = lappend_int(parts->target_attnums,
											var->varattno);
	}
	return parts->targets != NIL;
}

/*
 * TakeSelect takes a query on an open parent apart; returns false if the scan is not
 * for it.  NULL has no position, so columns by which rows are found have none.
 */
static bool
TakeSelect(const Query *query, Relation parent, SelectParts *parts)
{
	const PartitionSet *set = ZbxhistGetPartitions(parent);
	TupleDesc	desc = RelationGetDescr(parent);

	memset(parts, 0, sizeof(*parts));
	if (!set->is_exhaustive || set->nothers > 0 ||
		set->itemid_attnum == InvalidAttrNumber ||
		set->clock_attnum == InvalidAttrNumber ||
		!has_no_nulls(desc, set->clock_attnum) ||
		has_virtual_columns(desc->constr))
		return false;
	parts->attnums[READ_ITEM] = set->itemid_attnum;
	parts->attnums[READ_CLOCK] = set->clock_attnum;
	parts->attnums[READ_NS] = set->ns_attnum;
	if (!TakeQual(query->jointree->quals, parts) || !parts->has_item ||
		!TakeOrder(query, parts) || !TakeTargets(query, parts) ||
		(parts->has_ns && !has_no_nulls(desc, set->ns_attnum)))
		return false;
	if (query->limitCount == NULL)
		return true;
	parts->limit = TakeLiteral(query->limitCount);
	return parts->limit != NULL;
}

/* ---- estimates ---- */

/*
 * EstimateRows estimates how many rows the conditions leave, of how many items.
 */
static double
EstimateRows(const SelectParts *parts, const PartitionSet *set, double *nitems)
{
	int64		first_clock = PG_INT32_MIN;
	int64		last_clock = PG_INT32_MAX;
	ListCell   *lc;

	*nitems = 1;
	foreach(lc, parts->values)
	{
		int			i = foreach_current_index(lc) * COND_PARTS;
		StrategyNumber strategy = list_nth_int(parts->conds, i + COND_STRATEGY);
		const Const *value = lfirst(lc);
		int64		clock = 0;

		if (strategy == InvalidStrategy)
			*nitems = estimate_array_length_compat(NULL, lfirst(lc));
		if (list_nth_int(parts->conds, i + COND_COLUMN) != READ_CLOCK ||
			!IsA(value, Const) || value->constisnull ||
			!read_integer(value->consttype, value->constvalue, &clock))
			continue;
		if (strategy >= BTEqualStrategyNumber)
			first_clock = Max(first_clock, clock);
		if (strategy <= BTEqualStrategyNumber)
			last_clock = Min(last_clock, clock);
	}
	return ZbxhistCountItemRows(set, *nitems, first_clock, last_clock);
}

/*
 * PutEstimates puts into the plan of the scan what EXPLAIN is to say, by which postgres_fdw
 * decides elsewhere what to ask for, and by which generic and custom plans are compared.
 * Returns false if it may read far more rows of several items, so many of each as
 * are wanted of all, than tables that are read in the order of clocks.
 */
static bool
PutEstimates(Plan *plan, const SelectParts *parts, Relation parent)
{
	const Const *limit = (const Const *) parts->limit;
	double		nitems;
	double		nread = EstimateRows(parts, ZbxhistGetPartitions(parent), &nitems);
	ListCell   *lc;

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
	return limit == NULL || !parts->needs_sort || nread <= MAX_SORTED_ROWS;
}

/* ---- the plan ---- */

/*
 * ReferTo makes entries of targets that are columns of what is below, as varno says.
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
 * of the targets and no others, so nothing is projected.
 */
static CustomScan *
MakeRead(const Query *query, const SelectParts *parts)
{
	CustomScan *scan = makeNode(CustomScan);

	scan->scan.plan.targetlist = ReferTo(parts->targets, INDEX_VAR);
	scan->scan.scanrelid = 1;
	scan->custom_scan_tlist = parts->targets;
	scan->custom_relids = bms_make_singleton(1);
	scan->custom_exprs = parts->values;
	scan->custom_private = list_make5(parts->conds, parts->target_attnums,
									  list_make3_int(parts->is_descending,
													 parts->items_descending,
													 parts->needs_sort),
									  parts->limit, query->jointree->quals);
	scan->methods = &zbxhist_item_read.methods;
	return scan;
}

/*
 * PutAbove makes a plan one of the rows of another.
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
 * ZbxhistPlanItemSelect returns a plan if a query is such a SELECT, else NULL.  The
 * table is locked by the query.
 */
PlannedStmt *
ZbxhistPlanItemSelect(const Query *query, int cursor_options)
{
	Plan	   *plan = NULL;
	SelectParts parts;
	Relation	rel;

	if (!IsItemSelect(query, cursor_options) || !zbxhist_enable_item_scan ||
		!zbxhist_enable_partition_pruning)
		return NULL;
	rel = table_open(linitial_node(RangeTblEntry, query->rtable)->relid, NoLock);
	if (ZbxhistIsRouted(rel) && TakeSelect(query, rel, &parts))
	{
		plan = &MakeRead(query, &parts)->scan.plan;
		if (!PutEstimates(plan, &parts, rel))
			plan = NULL;
		else if (parts.needs_sort)
			plan = SortRead(query, &parts, plan);
	}
	table_close(rel, NoLock);
	return plan == NULL ? NULL : make_plan(query, query->rtable, plan);
}
