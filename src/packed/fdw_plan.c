/*-------------------------------------------------------------------------
 *
 * fdw_plan.c
 *	  Plans scans of packed days.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/planmain.h"
#include "optimizer/restrictinfo.h"

#include "compat.h"
#include "packed/fdw.h"

static void
GetForeignRelSize(PlannerInfo *root, RelOptInfo *rel, Oid relid)
{
	set_baserel_size_estimates(root, rel);
}

static void
GetForeignPaths(PlannerInfo *root, RelOptInfo *rel, Oid relid)
{
	add_path(rel, (Path *) create_foreignscan_path_compat(root, rel, rel->rows, 0, rel->rows,
														  NIL, rel->lateral_relids, NIL));
}

static ForeignScan *
GetForeignPlan(PlannerInfo *root, RelOptInfo *rel, Oid relid,
			   ForeignPath *path, List *targets, List *clauses, Plan *outer)
{
	return make_foreignscan(targets, extract_actual_clauses(clauses, false),
							rel->relid, NIL, NIL, NIL, NIL, outer);
}

/*
 * ZbxhistFdwPlanInit sets the functions of planning.
 */
void
ZbxhistFdwPlanInit(FdwRoutine *routine)
{
	routine->GetForeignRelSize = GetForeignRelSize;
	routine->GetForeignPaths = GetForeignPaths;
	routine->GetForeignPlan = GetForeignPlan;
}
