/*-------------------------------------------------------------------------
 *
 * fdw_estimate.c
 *	  Estimates rows and cost of a scan of packed days.
 *
 * The catalog of packed days says how many rows each day has, so the clocks need no
 * statistics.  How many items there are is known from ANALYZE of the foreign table.  The
 * tables of the days are not opened: there may be a thousand.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/stratnum.h"
#include "access/htup_details.h"
#include "access/xact.h"
#include "catalog/pg_opfamily.h"
#include "catalog/pg_statistic.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/selfuncs.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

#include "compat.h"
#include "fdw/fdw.h"
#include "fdw/fdw_plan.h"
#include "tables/partition_set.h"

/* usual number of rows of a group, which is a page */
#define ROWS_PER_PAGE 1000.0

/* share of cpu_tuple_cost for decoding a row */
#define DECODE_COST 0.2

/* seconds between two rows of an item, of history and of trends, without ANALYZE */
#define USUAL_DELAY 60.0
#define TREND_DELAY 3600.0

/* share of the clocks, or items, that a comparison with something unknown leaves */
#define UNKNOWN_BOUND 0.3333

/* ---- a parent ---- */

/*
 * ZbxhistCountItems estimates how many items a table has by what ANALYZE has found;
 * -1: unknown.
 */
double
ZbxhistCountItems(Oid relid, AttrNumber attnum, double nrows)
{
	HeapTuple	tuple = SearchSysCache3(STATRELATTINH,
										ObjectIdGetDatum(relid),
										Int16GetDatum(attnum),
										BoolGetDatum(true));
	double		result;

	if (!HeapTupleIsValid(tuple))
		return -1;
	result = ((Form_pg_statistic) GETSTRUCT(tuple))->stadistinct;
	ReleaseSysCache(tuple);
	return result < 0 ? -result * nrows : result;
}

/*
 * CountOverlap returns how many seconds of a table's are between two clocks.
 */
static double
CountOverlap(int64 from_clock, int64 to_clock, int64 first_clock, int64 last_clock)
{
	return Max((double) Min(to_clock - 1, last_clock) -
			   Max(from_clock, first_clock) + 1, 0);
}

/*
 * ZbxhistCountItemRows estimates how many rows some items of a parent have between two
 * clocks, from their rate in packed days or else a usual rate.  No table is read.
 */
double
ZbxhistCountItemRows(const PartitionSet *set, double nitems, int64 first_clock,
					 int64 last_clock)
{
	int64		now = timestamptz_to_time_t(GetCurrentTransactionStartTimestamp());
	double		wanted = 0;
	double		nseconds = 0;
	double		nrows = 0;
	double		all_items;
	double		delay = set->ns_attnum == InvalidAttrNumber ? TREND_DELAY :
		USUAL_DELAY;

	for (int i = 0; i < set->npartitions; i++)
		wanted += CountOverlap(set->partitions[i].from_clock,
							   set->partitions[i].to_clock, first_clock,
							   Min(last_clock, now));
	for (int i = 0; i < set->npacked_days; i++)
	{
		const PackedDay *day = &set->packed_days[i];

		nrows += day->nrows;
		nseconds += (double) day->to_clock - day->from_clock;
		wanted += CountOverlap(day->from_clock, day->to_clock, first_clock,
							   last_clock);
	}
	all_items = nrows < 1 ? -1 :
		ZbxhistCountItems(set->parent, set->itemid_attnum, nrows);
	if (all_items >= 1)
		delay = nseconds * all_items / nrows;
	return clamp_row_est(nitems * wanted / delay);
}

/* ---- the foreign table ---- */

/*
 * CountValues estimates how many distinct values a column has, from ANALYZE; without it,
 * the caller's number.
 */
static double
CountValues(PlannerInfo *root, const RelOptInfo *rel, AttrNumber attnum, Oid type,
			double otherwise)
{
	Var		   *var = makeVar(rel->relid, attnum, type, -1, InvalidOid, 0);
	VariableStatData stats;
	double		result;
	bool		is_default;

	examine_variable(root, (Node *) var, 0, &stats);
	result = get_variable_numdistinct(&stats, &is_default);
	ReleaseVariableStats(stats);
	return is_default ? Max(otherwise, 1) : result;
}

/*
 * CountSeconds returns how many seconds packed days cover.
 */
static double
CountSeconds(const PackedRel *packed)
{
	double		result = 0;

	for (int i = 0; i < packed->ndays; i++)
		result += (double) packed->days[i].to_clock - packed->days[i].from_clock;
	return result;
}

/*
 * ZbxhistMakePackedRel collects what planning needs to know of a parent's packed
 * days, of which rel has the rows: their foreign table, or the parent itself.  Sets how
 * many rows they have.
 */
PackedRel *
ZbxhistMakePackedRel(PlannerInfo *root, RelOptInfo *rel, Relation table,
					 Relation parent)
{
	PackedRel  *packed = palloc0(sizeof(PackedRel));

	packed->parent = RelationGetRelid(parent);
	packed->days = ZbxhistCopyPackedDays(ZbxhistGetPartitions(parent),
										 &packed->ndays);
	ZbxhistFindKeyColumns(root, table, rel->relid, &packed->columns);
	packed->ns = ZbxhistFindTyped(table, "ns", INT4OID);
	if (packed->ns != InvalidAttrNumber &&
		!TupleDescAttr(RelationGetDescr(table), packed->ns - 1)->attnotnull)
		packed->ns = InvalidAttrNumber;
	for (int i = 0; i < packed->ndays; i++)
		packed->nrows += packed->days[i].nrows;
	rel->tuples = packed->nrows;
	packed->nitems = 1;
	if (packed->columns.itemid != InvalidAttrNumber && packed->nrows >= 1)
	{
		double		usual = packed->nrows *
			(packed->ns == InvalidAttrNumber ? TREND_DELAY : USUAL_DELAY) /
			CountSeconds(packed);

		packed->nitems = table == parent ?
			ZbxhistCountItems(packed->parent, packed->columns.itemid, packed->nrows) :
			CountValues(root, rel, packed->columns.itemid, INT8OID, usual);
		if (packed->nitems < 1)
			packed->nitems = Max(usual, 1);
	}
	return packed;
}

/* ---- a scan ---- */

/* what conditions leave */
typedef struct Selected
{
	ScanBounds	bounds;			/* by constants */
	double		nitems;			/* -1: all */
	bool		is_range;		/* all between two */
	double		ntids;			/* -1: all */
	double		share;			/* of the clocks in bounds */
	bool		is_one_clock;
	double		ndays;
	double		nplaces;		/* of items, in days that are opened */
	double		nrows;			/* of the selected items */
} Selected;

/*
 * SelectUnknown applies a condition whose value is not known yet.
 */
static void
SelectUnknown(PlannerInfo *root, const PackedCond *cond, Selected *selected)
{
	switch (cond->kind)
	{
		case COND_ITEM:
			selected->nitems = 1;
			break;
		case COND_ITEMS:
			if (selected->nitems < 0)
				selected->nitems =
					estimate_array_length_compat(root, (Node *) cond->value);
			break;
		case COND_CLOCK:
			selected->is_one_clock = true;
			break;
		case COND_CLOCKS:
		case COND_ITEM_FROM:
		case COND_ITEM_AFTER:
		case COND_ITEM_TO:
		case COND_ITEM_BEFORE:
			break;
		case COND_TIDS:
			selected->ntids =
				estimate_array_length_compat(root, (Node *) cond->value);
			break;
		default:
			selected->share *= UNKNOWN_BOUND;
			break;
	}
}

/*
 * SelectByConds applies all conditions.
 */
static void
SelectByConds(PlannerInfo *root, List *conds, Selected *selected)
{
	ListCell   *lc;

	ZbxhistInitBounds(&selected->bounds);
	selected->nitems = -1;
	selected->ntids = -1;
	selected->share = 1;
	foreach(lc, conds)
	{
		PackedCond *cond = lfirst(lc);
		Const	   *value = (Const *) cond->value;

		if (!IsA(value, Const))
			value = (Const *) estimate_expression_value(root, (Node *) value);
		if (IsA(value, Const))
			ZbxhistApplyCond(&selected->bounds, cond->kind, value->consttype,
							 value->constvalue, value->constisnull);
		else
			SelectUnknown(root, cond, selected);
	}
	ZbxhistSettleBounds(&selected->bounds);
	if (selected->bounds.items != NULL)
		selected->nitems = selected->nitems < 0 ? selected->bounds.nitems :
			Min(selected->nitems, selected->bounds.nitems);
	if (selected->bounds.tids != NULL)
		selected->ntids = selected->bounds.ntids;
	if (selected->bounds.from_clock == selected->bounds.to_clock)
		selected->is_one_clock = true;
}

/*
 * SelectRange estimates how many items are between two.
 */
static void
SelectRange(PlannerInfo *root, RelOptInfo *rel, List *conds,
			Selected *selected)
{
	const PackedRel *packed = rel->fdw_private;
	List	   *clauses = NIL;
	ListCell   *lc;

	foreach(lc, conds)
	{
		const PackedCond *cond = lfirst(lc);
		Oid			operator;

		if (cond->kind > COND_ITEM_AFTER || cond->kind == COND_ITEM)
			continue;
		operator = get_opfamily_member(INTEGER_BTREE_FAM_OID, INT8OID,
									   exprType((Node *) cond->value),
									   strategy_of_cond(cond->kind));
		clauses = lappend(clauses,
						  make_opclause(operator, BOOLOID, false,
										(Expr *) makeVar(rel->relid,
														 packed->columns.itemid,
														 INT8OID, -1,
														 InvalidOid, 0),
										cond->value, InvalidOid, InvalidOid));
	}
	selected->is_range = clauses != NIL && selected->nitems < 0;
	if (!selected->is_range)
		return;
	selected->nitems = packed->nitems *
		clauselist_selectivity(root, clauses, rel->relid, JOIN_INNER, NULL);
	selected->nitems = clamp_row_est(Min(selected->nitems,
										 (double) selected->bounds.to_item -
										 (double) selected->bounds.from_item + 1));
}

/*
 * CountDayRows adds up the rows of the days in bounds.
 */
static void
CountDayRows(PlannerInfo *root, const RelOptInfo *rel, Selected *selected)
{
	const PackedRel *packed = rel->fdw_private;
	double		share = selected->share;
	int64		from_clock = selected->bounds.from_clock;
	int64		to_clock = selected->bounds.to_clock;

	for (int i = 0; i < packed->ndays; i++)
	{
		const PackedDay *day = &packed->days[i];

		if (day->to_clock <= from_clock || day->from_clock > to_clock)
			continue;
		selected->ndays++;
		selected->nrows += (double) day->nrows *
			(Min(day->to_clock - 1, to_clock) -
			 Max(day->from_clock, from_clock) + 1) /
			(day->to_clock - day->from_clock);
	}
	selected->ndays = ceil(selected->ndays * share);
	selected->nrows *= share;
	if (selected->nitems >= 0)
		selected->nrows *= Min(1, selected->nitems / packed->nitems);
	if (selected->ntids >= 0 && selected->nitems >= 0)
		selected->nrows = Min(selected->nrows,
							  selected->ntids * selected->nitems);
	if (selected->is_one_clock && selected->ndays > 0)
	{
		selected->nrows = selected->nitems >= 0 ?
			Min(selected->nitems, packed->nitems) :
			packed->nrows / CountValues(root, rel, packed->columns.clock, INT4OID,
										CountSeconds(packed) /
										(packed->ns == InvalidAttrNumber ? TREND_DELAY : 1));
		selected->ndays = 1;
	}
	selected->nplaces = selected->ndays * selected->nitems;
}

/*
 * CountPages estimates how many groups are read.
 */
static double
CountPages(const PackedRel *packed, const Selected *selected)
{
	double		share = selected->ndays / Max(packed->ndays, 1);
	double		all = packed->nrows * share / ROWS_PER_PAGE + selected->ndays;

	if (selected->nitems < 0)
		return all;
	return Min(all, selected->nrows / ROWS_PER_PAGE +
			   (selected->is_range ? selected->ndays : selected->nplaces));
}

/*
 * ZbxhistEstimateScan estimates a scan by conditions that the scan takes care
 * of, and local ones (RestrictInfos) that the executor checks.
 */
void
ZbxhistEstimateScan(PlannerInfo *root, RelOptInfo *rel, List *conds,
					List *local, ScanEstimate *estimate)
{
	const PackedRel *packed = rel->fdw_private;
	Selected	selected = {0};
	QualCost	local_cost;
	double		decoded;
	Cost		page_cost;

	SelectByConds(root, conds, &selected);
	SelectRange(root, rel, conds, &selected);
	CountDayRows(root, rel, &selected);
	estimate->pages = CountPages(packed, &selected);
	estimate->rows = clamp_row_est(selected.nrows *
								   clauselist_selectivity(root, local,
														  rel->relid,
														  JOIN_INNER, NULL));

	/* a segment is decoded as a whole */
	decoded = Max(selected.nrows, selected.nitems < 0 ? 0 :
				  Min(estimate->pages * ROWS_PER_PAGE,
					  packed->nrows / Max(packed->ndays, 1) /
					  packed->nitems * selected.nplaces));
	/* a read by items descends the index for each item */
	page_cost = selected.nitems < 0 || selected.is_range ? seq_page_cost :
		random_page_cost + 50 * cpu_operator_cost;
	cost_qual_eval(&local_cost, local, root);

	estimate->cpu_cost = decoded * cpu_tuple_cost * DECODE_COST +
		selected.nrows * (cpu_tuple_cost + local_cost.per_tuple);
	estimate->startup_cost = local_cost.startup;
	estimate->total_cost = estimate->startup_cost + estimate->cpu_cost +
		estimate->pages * page_cost;
}
