/*-------------------------------------------------------------------------
 *
 * prune.c
 *	  Plans an UPDATE or DELETE of one child's rows without the other children.
 *
 * When Zabbix is restarted within an hour it updates the trends of that hour
 * row by row: UPDATE trends SET ... WHERE itemid = 5 AND clock = 1795215600.
 * The planner expands a parent to all of its children before it looks at a
 * single constraint, so with a year of months it spends five times what a
 * plain table needs for the whole statement.  Where the clock bounds in WHERE
 * leave one child, a partition or the packed table, the planner is given a query
 * with that instead of the parent; where they leave none, as the housekeeper's mostly
 * do, one of ONLY the parent.
 *
 * Rows that wait in the parent must be found as well.  Whether there are any
 * is known only when the statement has its snapshot, so the query as it was
 * goes with the plan, in a range table entry that nothing refers to, and
 * after the child ZbxhistRunParentPart updates ONLY the parent in the same
 * snapshot, unless the parent is empty.
 *
 * Privileges are those of the parent: its entry stays in the range table, and
 * the child's own are not asked for, as with inheritance.
 *
 * Unlike inheritance, such a plan does not lock all children.  By those locks
 * a statement and a move of rows wait for each other, so here the move lock is
 * taken instead (tables/move_lock.c).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/pg_class.h"
#include "executor/executor.h"
#include "optimizer/planner.h"
#include "parser/parsetree.h"
#include "tcop/dest.h"
#include "tcop/tcopprot.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "compat.h"
#include "compat_marks.h"
#include "guc.h"
#include "ingest/frame.h"
#include "read/clock_bounds.h"
#include "read/prune.h"
#include "read/stand_in.h"
#include "tables/move_lock.h"
#include "tables/partition_set.h"
#include "tables/stray.h"

/* fewer children than this are planned fast enough */
#define MIN_CHILDREN 2

/* ---- recognising ---- */

/*
 * FindOnlyTable returns the one table that holds all clocks in bounds, a partition, the
 * packed table, or the parent itself if none of these has any; InvalidOid if they are
 * not within one.
 */
static Oid
FindOnlyTable(const PartitionSet *set, const ClockRange *bounds)
{
	const PartitionBounds *partition;

	if (count_children(set) < MIN_CHILDREN || !set->is_exhaustive ||
		set->clock_attnum == InvalidAttrNumber ||
		bounds->from_clock >= bounds->to_clock)
		return InvalidOid;
	partition = ZbxhistFindPartition(set, (int32) bounds->from_clock);
	if (partition != NULL)
		return bounds->to_clock > partition->to_clock ? InvalidOid :
			partition->relid;
	for (int i = 0; i < set->npartitions; i++)
	{
		if (clocks_overlap(&set->partitions[i], bounds))
			return InvalidOid;
	}
	return ZbxhistHasPackedDay(set, bounds) ? set->packed : set->parent;
}

/*
 * IsSimple says whether a query changes rows of one inheritance parent and
 * looks at nothing else.
 */
static bool
IsSimple(const Query *query)
{
	const RangeTblEntry *rte;

	if ((query->commandType != CMD_UPDATE &&
		 query->commandType != CMD_DELETE) ||
		list_length(query->rtable) != 1 || query->resultRelation != 1 ||
		query->hasSubLinks || query->returningList != NIL ||
		query->cteList != NIL || query->withCheckOptions != NIL ||
		list_length(query->jointree->fromlist) != 1)
		return false;
	rte = linitial_node(RangeTblEntry, query->rtable);
	return rte->rtekind == RTE_RELATION && rte->inh &&
		rte->relkind == RELKIND_RELATION;
}

/*
 * HasStatementTriggers says whether triggers fire for a statement as a whole,
 * which must be one on the parent.
 */
static bool
HasStatementTriggers(Relation rel)
{
	const TriggerDesc *triggers = rel->trigdesc;

	return triggers != NULL &&
		(triggers->trig_update_before_statement ||
		 triggers->trig_update_after_statement ||
		 triggers->trig_delete_before_statement ||
		 triggers->trig_delete_after_statement);
}

/*
 * FindStandIn returns the child that can stand in for the query's parent,
 * locked for the query, or the parent if it can do without, or InvalidOid.
 */
static Oid
FindStandIn(Query *query)
{
	RangeTblEntry *rte = linitial_node(RangeTblEntry, query->rtable);
	Relation	parent = table_open(rte->relid, NoLock);
	Oid			result = InvalidOid;

	if (ZbxhistIsRouted(parent) && !HasStatementTriggers(parent) &&
		ZbxhistMayStandIn(query, rte, parent))
	{
		PartitionSet *set = ZbxhistGetPartitions(parent);
		ClockRange	bounds = ZbxhistBoundsInWhere(query,
												  query->resultRelation,
												  set->clock_attnum);

		result = FindOnlyTable(set, &bounds);
		if (OidIsValid(result))
			(void) ZbxhistBeginChanging(rte->relid);
		if (result == rte->relid ? !ZbxhistPartitionSetIsValid(set) :
			OidIsValid(result) &&
			(!ZbxhistLockStandIn(parent, set, result, rte->rellockmode) ||
			 ZbxhistAskLocked(result, HasStatementTriggers)))
			result = InvalidOid;
	}
	table_close(parent, NoLock);
	return result;
}

/* ---- planning ---- */

/*
 * PlanOneChild plans the query with the child in the parent's place and lets the
 * plan carry the whole query.
 */
static PlannedStmt *
PlanOneChild(Oid child, planner_hook_type next_planner, PLANNER_PROTO)
{
	Query	   *whole = copyObject(query);
	PlannedStmt *result;

	if (child == linitial_node(RangeTblEntry, query->rtable)->relid)
		linitial_node(RangeTblEntry, query->rtable)->inh = false;
	else
		substitute_relation(query, 1, child);
	result = (*next_planner) (PLANNER_ARGS);
	keep_whole_query(result, whole);
	return result;
}

/*
 * ZbxhistPlanPruned has next_planner plan a query, an UPDATE or DELETE with one
 * child in its parent's place where that is right.
 */
PlannedStmt *
ZbxhistPlanPruned(planner_hook_type next_planner, PLANNER_PROTO)
{
	Oid			child = zbxhist_enable_partition_pruning && IsSimple(query) ?
		FindStandIn(query) : InvalidOid;

	return OidIsValid(child) ?
		PlanOneChild(child, next_planner, PLANNER_ARGS) :
		(*next_planner) (PLANNER_ARGS);
}

/* ---- executing ---- */

/*
 * GetWholeQuery returns the query that a plan of ours stands for, or NULL.
 */
static Query *
GetWholeQuery(const PlannedStmt *stmt)
{
	return stmt->commandType != CMD_UPDATE && stmt->commandType != CMD_DELETE ?
		NULL : get_whole_query(stmt);
}

/*
 * ParentOfPlan returns the parent of which a plan changes one
 * child, or InvalidOid.
 */
static Oid
ParentOfPlan(const PlannedStmt *stmt)
{
	Query	   *whole = GetWholeQuery(stmt);

	return whole == NULL ? InvalidOid :
		linitial_node(RangeTblEntry, whole->rtable)->relid;
}

/*
 * RunQuery executes a query in the snapshot of another and returns the number
 * of rows.
 */
static uint64
RunQuery(Query *query, QueryDesc *outer)
{
	PlannedStmt *stmt = pg_plan_query_compat(query, outer->sourceText, 0,
											 outer->params);
	QueryDesc  *inner = CreateQueryDesc(stmt, outer->sourceText,
										outer->snapshot,
										outer->crosscheck_snapshot,
										None_Receiver, outer->params,
										outer->queryEnv, 0);
	uint64		result;

	ExecutorStart(inner, 0);
	ExecutorRunCompat(inner);
	result = inner->estate->es_processed;
	ExecutorFinish(inner);
	ExecutorEnd(inner);
	FreeQueryDesc(inner);
	return result;
}

/*
 * ZbxhistRunParentPart is called after a query has been run: if it was
 * planned for one child and the parent has rows too, it is run on ONLY
 * the parent.
 */
void
ZbxhistRunParentPart(QueryDesc *query)
{
	Oid			parent = ParentOfPlan(query->plannedstmt);
	Query	   *whole;
	MemoryContext old;

	if (!OidIsValid(parent) ||
		linitial_node(RangeTblEntry, query->plannedstmt->rtable)->relid == parent ||
		ZbxhistAskLocked(parent, ZbxhistIsEmpty))
		return;

	old = MemoryContextSwitchTo(query->estate->es_query_cxt);
	whole = copyObject(GetWholeQuery(query->plannedstmt));
	linitial_node(RangeTblEntry, whole->rtable)->inh = false;
	/* extensions that count queries have counted it */
	whole->queryId = UINT64CONST(0);
	add_processed(query->estate, RunQuery(whole, query));
	MemoryContextSwitchTo(old);
}

/* ---- snapshots that are older than locks ---- */

/*
 * A session that changes or locks rows of a parent waits for moves of its rows
 * before it takes its snapshot, see tables/move_lock.c.  Two kinds of statements
 * have one by then:
 *
 * - those that a utility statement executes: EXPLAIN ANALYZE, EXECUTE, DECLARE
 *	 CURSOR and COPY take a snapshot before they plan, or lock what a plan
 *	 needs;
 * - those that have a plan for one child from earlier, which says nothing
 *	 of the move lock.
 *
 * In READ COMMITTED a statement may see whatever has been committed before it
 * begins, so these get a new snapshot here, before they begin.
 */

/*
 * ChangesParent says whether a plan changes or locks rows of a parent.
 */
static bool
ChangesParent(const PlannedStmt *stmt)
{
	ListCell   *lc;

	foreach(lc, stmt->rtable)
	{
		const RangeTblEntry *rte = lfirst_node(RangeTblEntry, lc);

		if (rte->rtekind == RTE_RELATION &&
			rte->relkind == RELKIND_RELATION &&
			rte->rellockmode >= RowShareLock &&
			ZbxhistAskLocked(rte->relid, ZbxhistIsRouted))
			return true;
	}
	return false;
}

/*
 * ZbxhistPrepareChange is called before a query is started.
 */
void
ZbxhistPrepareChange(QueryDesc *query)
{
	Oid			parent = ParentOfPlan(query->plannedstmt);
	bool		is_old = OidIsValid(parent) && ZbxhistBeginChanging(parent);

	if (!is_old)
		is_old = ZbxhistSnapshotIsOld() && ChangesParent(query->plannedstmt);
	if (!is_old || IsolationUsesXactSnapshot() ||
		query->crosscheck_snapshot != InvalidSnapshot)
		return;
	UnregisterSnapshot(query->snapshot);
	query->snapshot = RegisterSnapshot(GetTransactionSnapshot());
}

/* ---- rows that get other clocks ---- */

/*
 * ZbxhistNoteNewClocks is called when a query has been started: if it gives rows
 * of a parent other clocks, one in the parent itself may belong to a partition
 * then, see tables/stray.c.
 */
void
ZbxhistNoteNewClocks(QueryDesc *query)
{
	ListCell   *lc;

	foreach(lc, query->plannedstmt->rtable)
	{
		RangeTblEntry *rte = lfirst_node(RangeTblEntry, lc);
		Bitmapset  *columns;
		Relation	parent;

		if (rte->rtekind != RTE_RELATION || rte->relkind != RELKIND_RELATION)
			continue;
		columns = updated_columns(query->plannedstmt, rte);
		if (columns == NULL)
			continue;
		parent = table_open(rte->relid, NoLock);
		if (ZbxhistIsRouted(parent) &&
			bms_is_member(ZbxhistGetPartitions(parent)->clock_attnum -
						  FirstLowInvalidHeapAttributeNumber, columns))
			ZbxhistNoteStray(parent);
		table_close(parent, NoLock);
	}
}
