/*-------------------------------------------------------------------------
 *
 * aggregate_plan.c
 *	  Makes plans of paths that aggregate packed days without rows.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "nodes/extensible.h"
#include "nodes/makefuncs.h"
#include "optimizer/tlist.h"
#include "rewrite/rewriteManip.h"

#include "aggregate/aggregate_path.h"
#include "packed/fdw/fdw_plan.h"

/*
 * PlaceOf returns where a column of the packed table is in the input, or 0.
 */
static int
PlaceOf(List *attributes, AttrNumber attnum)
{
	int			n = 0;
	ListCell   *lc;

	foreach(lc, attributes)
	{
		n++;
		if (lfirst_int(lc) == attnum)
			return n;
	}
	return 0;
}

/*
 * MakeScanList returns the target list of what the scan gives: the keys, and
 * then the aggregates, or the state of them all.
 */
static List *
MakeScanList(const AggregateChoice *choice)
{
	const AggregateQuery *query = &choice->query;
	List	   *result = NIL;
	ListCell   *lc;

	if (choice->role == AGGREGATE_SHARE)
		return make_tlist_from_pathtarget(choice->states);

	foreach(lc, list_concat_copy(query->keys, query->aggrefs))
		result = lappend(result,
						 makeTargetEntry(copyObject(lfirst(lc)),
										 list_length(result) + 1, NULL, false));
	return result;
}

/*
 * MakePlaces returns AGGREGATE_PLACES.
 */
static List *
MakePlaces(const AggregateChoice *choice)
{
	const KeyColumns *columns =
		&ZbxhistPackedRelOf(choice->tables.packed)->columns;

	return list_make4_int(PlaceOf(choice->attributes, columns->itemid),
						  PlaceOf(choice->attributes, columns->clock),
						  choice->query.follows_clock, choice->role);
}

/*
 * ForExplain returns conditions in columns of relation 1.
 */
static List *
ForExplain(List *conditions, Index varno)
{
	List	   *result = copyObject(conditions);

	ChangeVarNodes((Node *) result, varno, 1, 0);
	return result;
}

/*
 * MakePrivate returns the plan's custom_private and adds the values of
 * conditions to exprs.
 */
static List *
MakePrivate(const AggregateChoice *choice, List **exprs)
{
	const AggregateQuery *query = &choice->query;
	RelOptInfo *packed = choice->tables.packed;
	List	   *kinds = NIL;
	List	   *result;
	ListCell   *lc;

	/* a node that combines groups reads nothing but these */
	foreach(lc, choice->role == AGGREGATE_COMBINE ? NIL : choice->conds)
	{
		PackedCond *cond = lfirst(lc);

		kinds = lappend_int(kinds, cond->kind);
		*exprs = lappend(*exprs, cond->value);
	}
	result = list_make5(ZbxhistPlaceColumns(query->keys, choice->columns),
						query->equals,
						ZbxhistPlaceColumns(query->breaks, choice->columns),
						ZbxhistPlaceColumns(query->inputs, choice->columns),
						ZbxhistPlaceColumns(query->filters, choice->columns));
	result = list_concat(result,
						 list_make5(query->kinds, query->sums, query->parts,
									query->sources, MakePlaces(choice)));
	result = list_concat(result,
						 list_make5(list_make2_oid(choice->relid,
												   ZbxhistPackedRelOf(packed)->parent),
									choice->attributes, kinds,
									ForExplain(choice->exact, packed->relid),
									choice->local));
	return list_concat(result,
					   list_make2(ForExplain(choice->filter, packed->relid),
								  choice->partials));
}

/*
 * PlanAggregate makes the plan of the path.
 */
static Plan *
PlanAggregate(PlannerInfo *root, RelOptInfo *rel, CustomPath *path,
			  List *tlist, List *clauses, List *custom_plans)
{
	const AggregateChoice *choice = linitial(path->custom_private);
	CustomScan *scan = makeNode(CustomScan);

	scan->scan.plan.targetlist = tlist;
	/* preprocessed; implicitly ANDed */
	if (choice->role != AGGREGATE_SHARE)
		scan->scan.plan.qual = (List *) copyObject(root->parse->havingQual);
	scan->flags = path->flags;
	scan->custom_plans = custom_plans;
	scan->custom_scan_tlist = MakeScanList(choice);
	scan->custom_private = MakePrivate(choice, &scan->custom_exprs);
	scan->methods = &zbxhist_aggregate_scan.methods;
	return &scan->scan.plan;
}

const CustomPathMethods zbxhist_aggregate_path_methods = {
	.CustomName = "ZbxhistAggregate",
	.PlanCustomPath = PlanAggregate
};
