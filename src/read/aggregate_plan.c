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

#include "read/aggregate_path.h"

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
 * MakePrivate returns the plan's custom_private, of which kinds are those of conditions.
 */
static List *
MakePrivate(const AggregateChoice *choice, List *kinds)
{
	const AggregateQuery *query = &choice->query;
	Index		packed = choice->tables.packed->relid;
	const PackedRel *rel = choice->tables.about;
	List	   *places = list_make4_int(PlaceOf(choice->attributes, rel->columns.itemid),
										PlaceOf(choice->attributes, rel->columns.clock),
										query->follows_clock, choice->role);
	List	   *result;

	result = list_make5(ZbxhistPlaceColumns(query->keys, choice->columns),
						query->equals,
						ZbxhistPlaceColumns(query->breaks, choice->columns),
						ZbxhistPlaceColumns(query->inputs, choice->columns),
						ZbxhistPlaceColumns(query->filters, choice->columns));
	result = list_concat(result,
						 list_make5(query->kinds, query->sums, query->parts,
									query->sources, places));
	result = list_concat(result,
						 list_make5(list_make2_oid(choice->tables.relid,
												   rel->parent),
									choice->attributes, kinds,
									ForExplain(choice->exact, packed),
									choice->local));
	return list_concat(result,
					   list_make2(ForExplain(choice->filter, packed),
								  choice->partials));
}

/*
 * PlanAggregate makes the plan of the path.  It gives the keys, and then the aggregates, or
 * the state of them all.
 */
static Plan *
PlanAggregate(PlannerInfo *root, RelOptInfo *rel, CustomPath *path,
			  List *tlist, List *clauses, List *custom_plans)
{
	const AggregateChoice *choice = linitial(path->custom_private);
	CustomScan *scan = makeNode(CustomScan);
	List	   *kinds;
	ListCell   *lc;

	/* a node that combines groups reads only these */
	kinds = ZbxhistKindsOf(choice->role == AGGREGATE_COMBINE ? NIL : choice->conds,
						   &scan->custom_exprs);
	scan->scan.plan.targetlist = tlist;
	/* preprocessed; implicitly ANDed */
	if (choice->role != AGGREGATE_SHARE)
		scan->scan.plan.qual = (List *) copyObject(root->parse->havingQual);
	scan->flags = path->flags;
	scan->custom_plans = custom_plans;
	if (choice->role == AGGREGATE_SHARE)
		scan->custom_scan_tlist = make_tlist_from_pathtarget(choice->states);
	else
	{
		foreach(lc, list_concat_copy(choice->query.keys, choice->query.aggrefs))
			scan->custom_scan_tlist =
			lappend(scan->custom_scan_tlist,
					makeTargetEntry(copyObject(lfirst(lc)),
									foreach_current_index(lc) + 1, NULL, false));
	}
	scan->custom_private = MakePrivate(choice, kinds);
	scan->methods = &zbxhist_aggregate_scan.methods;
	/* which may not be a table of the query */
	root->glob->relationOids = lappend_oid(root->glob->relationOids,
										   choice->tables.relid);
	return &scan->scan.plan;
}

const CustomPathMethods zbxhist_aggregate_path_methods = {
	.CustomName = "ZbxhistAggregate",
	.PlanCustomPath = PlanAggregate
};
