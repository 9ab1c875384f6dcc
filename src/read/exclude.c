/*-------------------------------------------------------------------------
 *
 * exclude.c
 *	  Excludes partitions from a plan by comparing clocks.
 *
 * The planner excludes a child by its CHECK constraint, which it reads and simplifies
 * each time: a third of the time that it takes to plan a range of one partition.  The
 * bounds in these constraints are in our cache already.  So get_relation_info_hook, which
 * is called for every child, compares the clocks and marks a child as empty, as the
 * planner itself does later for a child whose conditions are false.  The foreign table of
 * packed days has no constraint; it is excluded if no packed day is within the clocks.
 *
 * Partitions are locked by then, so before the plan is run no constraint can change and
 * no partition can be packed.  If one had been packed before the children were listed,
 * its day is found (ZbxhistCatchUp).  Later changes invalidate the plan.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "optimizer/cost.h"
#include "optimizer/paths.h"
#include "utils/rel.h"

#include "compat_marks.h"
#include "guc.h"
#include "packed/conditions.h"
#include "read/clock_bounds.h"
#include "read/exclude.h"

/*
 * HasNoRows says whether child surely has no rows of these clocks.
 */
static bool
HasNoRows(Relation parent, const PartitionSet *set, Oid child,
		  const ClockRange *clocks)
{
	const PartitionBounds *partition = partition_of(set, child);

	if (child == set->packed)
		return zbxhist_enable_packed_scan_pruning &&
			!ZbxhistHasPackedDay(set, clocks) &&
			!ZbxhistHasPackedDay(ZbxhistCatchUp(parent, clocks), clocks);
	return partition != NULL && !clocks_overlap(partition, clocks);
}

/*
 * GetClocks returns the range of clocks that the conditions on the relation varno allow.
 */
static ClockRange
GetClocks(PlannerInfo *root, Index varno, AttrNumber clock_attnum)
{
	KeyColumns	columns = {.root = root,.varno = varno,.clock = clock_attnum};
	List	   *conds = NIL;
	ScanBounds	bounds;
	ListCell   *lc;

	foreach(lc, root->simple_rel_array[varno]->baserestrictinfo)
		(void) ZbxhistTakeCondition(lfirst_node(RestrictInfo, lc)->clause, &columns,
									&conds);
	ZbxhistGetConstBounds(conds, &bounds);
	return clocks_of_bounds(&bounds);
}

/*
 * IsExcluded says whether a relation is a child of a parent of which the query
 * wants none of its rows.
 */
static bool
IsExcluded(PlannerInfo *root, const RelOptInfo *rel, Oid child)
{
	AppendRelInfo *appinfo = root->append_rel_array != NULL ?
		root->append_rel_array[rel->relid] : NULL;
	Relation	parent;
	bool		result = false;

	if (appinfo == NULL || appinfo->parent_reloid == child ||
		!OidIsValid(appinfo->parent_reloid) ||
		root->simple_rel_array[appinfo->parent_relid]->baserestrictinfo == NIL)
		return false;

	parent = table_open(appinfo->parent_reloid, NoLock);
	if (ZbxhistIsRouted(parent))
	{
		PartitionSet *set = ZbxhistGetPartitions(parent);
		ClockRange	clocks = GetClocks(root, appinfo->parent_relid,
									   set->clock_attnum);

		result = set->clock_attnum != InvalidAttrNumber &&
			HasNoRows(parent, set, child, &clocks);
	}
	table_close(parent, NoLock);
	return result;
}

/*
 * ZbxhistExcludeRelation is called when the planner has collected its information about a
 * relation.  It marks a child as empty if the query wants none of its clocks, and removes
 * the indexes of a table that one of our scans reads.
 */
void
ZbxhistExcludeRelation(PlannerInfo *root, RelOptInfo *rel)
{
	RangeTblEntry *rte = root->simple_rte_array[rel->relid];

	if (rel->indexlist != NIL && get_table_mark(rte) != NIL)
		rel->indexlist = NIL;
	if (!rte->inh && rel->reloptkind == RELOPT_OTHER_MEMBER_REL &&
		constraint_exclusion != CONSTRAINT_EXCLUSION_OFF &&
		IsExcluded(root, rel, rte->relid))
		mark_dummy_rel(rel);
}
