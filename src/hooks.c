/*-------------------------------------------------------------------------
 *
 * hooks.c
 *	  Takes each of PostgreSQL's hooks once, and calls the modules.
 *
 * If several modules use one hook, or one must come before another library's hook, their
 * order and the reason are here.  No module knows of hooks, nor of the other modules.
 *
 *	planner				INSERT of literals, SELECT, UPDATE and DELETE of an item's
 *						rows first: such a plan needs nobody else, other
 *						libraries' planners included
 *	build_simple_rel	after the others, which may only add to what is known of
 *						a relation that is left out then
 *	set_rel_pathlist	after the others, since item and key scans replace the
 *						paths of the table that they are for
 *	create_upper_paths	after the others; any order would do
 *	ExecutorStart		before the others: UPDATE of keys is refused, and the
 *						query may get another snapshot
 *	ExecutorRun			what the outer statement has buffered is written first
 *	ExecutorFinish		buffered rows and packed changes are written before
 *						AFTER triggers look for them, when all of the query has run
 *	ProcessUtility		what is buffered is written first, as for a query; the
 *						refusal to drop packed days comes before PostgreSQL's
 *						own, which proposes CASCADE; COPY TO of a parent is
 *						refused before it begins
 *	object_access		after the others, which may refuse without a word of ours
 *
 * The modules themselves register callbacks (end of transaction, invalidation).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/parallel.h"
#include "catalog/objectaccess.h"
#include "executor/executor.h"
#include "optimizer/paths.h"
#include "optimizer/planner.h"
#include "tcop/utility.h"

#include "compat.h"
#include "fdw/fdw.h"
#include "hooks.h"
#include "ingest/batch.h"
#include "ingest/fast_insert.h"
#include "ingest/frame.h"
#include "maintenance/drop_guard.h"
#include "read/aggregate.h"
#include "read/change.h"
#include "read/clock_order.h"
#include "read/copy_to.h"
#include "read/exclude.h"
#include "read/item_path.h"
#include "read/item_read.h"
#include "read/select.h"

static planner_hook_type prev_planner = NULL;
static build_simple_rel_hook_type prev_build_simple_rel = NULL;
static set_rel_pathlist_hook_type prev_set_rel_pathlist = NULL;
static create_upper_paths_hook_type prev_create_upper_paths = NULL;
static ExecutorStart_hook_type prev_executor_start = NULL;
static ExecutorRun_hook_type prev_executor_run = NULL;
static ExecutorFinish_hook_type prev_executor_finish = NULL;
static ProcessUtility_hook_type prev_process_utility = NULL;
static object_access_hook_type prev_object_access = NULL;

/* ---- planning ---- */

/*
 * NextPlanner calls the planner of the library that took the hook before,
 * or PostgreSQL's.
 */
static PlannedStmt *
NextPlanner(PLANNER_PROTO)
{
	if (prev_planner)
		return (*prev_planner) (PLANNER_ARGS);
	return standard_planner(PLANNER_ARGS);
}

/*
 * PlannerHook plans a query.
 */
static PlannedStmt *
PlannerHook(PLANNER_PROTO)
{
	PlannedStmt *result = ZbxhistPlanFastInsert(query);

	if (result == NULL)
		result = ZbxhistPlanItemSelect(query, cursor_options);
	if (result == NULL)
		result = ZbxhistPlanChange(query);
	if (result != NULL)
		return result;
	ZbxhistMarkParents(query);
	return NextPlanner(PLANNER_ARGS);
}

/*
 * BuildSimpleRelHook is called when the planner has collected what it knows
 * of a relation.
 */
static void
BuildSimpleRelHook(BUILD_SIMPLE_REL_PROTO)
{
	if (prev_build_simple_rel)
		(*prev_build_simple_rel) (BUILD_SIMPLE_REL_ARGS);
	ZbxhistExcludeRelation(root, rel);
}

/*
 * SetRelPathlistHook is called when the planner has the paths of a relation.
 */
static void
SetRelPathlistHook(PlannerInfo *root, RelOptInfo *rel, Index rti,
				   RangeTblEntry *rte)
{
	if (prev_set_rel_pathlist)
		(*prev_set_rel_pathlist) (root, rel, rti, rte);
	ZbxhistConsiderItemScan(root, rel, rti, rte);
	ZbxhistConsiderClockOrder(root, rel, rte);
}

/*
 * CreateUpperPathsHook is called when the planner has the paths of what is
 * done with the rows of all relations.
 */
static void
CreateUpperPathsHook(PlannerInfo *root, UpperRelationKind stage,
					 RelOptInfo *input, RelOptInfo *output, void *extra)
{
	if (prev_create_upper_paths)
		(*prev_create_upper_paths) (root, stage, input, output, extra);
	if (stage == UPPERREL_GROUP_AGG || stage == UPPERREL_DISTINCT)
		ZbxhistConsiderAggregateScan(root, stage, input, output);
}

/* ---- executing ---- */

/*
 * ExecutorStartHook starts a query.
 */
static void
ExecutorStartHook(QueryDesc *query, int eflags)
{
	if (!IsParallelWorker() && !(eflags & EXEC_FLAG_EXPLAIN_ONLY))
	{
		ZbxhistRefuseNewKeys(query);
		ZbxhistPrepareChange(query);
	}
	if (prev_executor_start)
		(*prev_executor_start) (query, eflags);
	else
		standard_ExecutorStart(query, eflags);
}

/*
 * ExecutorRunHook runs a query in a frame of its own and adds the rows that
 * were routed to those that the executor counted.
 */
static void
ExecutorRunHook(EXECUTOR_RUN_PROTO)
{
	ExecFrame	frame;

	/* a nested query must see the rows that its caller inserted before */
	ZbxhistFlushForNestedQuery();

	ZbxhistPushFrame(&frame, queryDesc, NULL);
	PG_TRY();
	{
		if (prev_executor_run)
			(*prev_executor_run) (EXECUTOR_RUN_ARGS);
		else
			standard_ExecutorRun(EXECUTOR_RUN_ARGS);
	}
	PG_FINALLY();
	{
		ZbxhistPopFrame(&frame);
	}
	PG_END_TRY();

	if (frame.routed > 0)
		add_processed(queryDesc->estate, frame.routed);
}

/*
 * ExecutorFinishHook writes what is buffered before AFTER triggers fire, so
 * that they see the rows.  Data-modifying CTEs and AFTER triggers run in
 * here, so a frame is needed again.
 */
static void
ExecutorFinishHook(QueryDesc *queryDesc)
{
	ExecFrame	frame;

	ZbxhistPushFrame(&frame, queryDesc, NULL);
	PG_TRY();
	{
		ZbxhistWritePackedChanges(queryDesc);
		ZbxhistCloseQuery(queryDesc);
		if (prev_executor_finish)
			(*prev_executor_finish) (queryDesc);
		else
			standard_ExecutorFinish(queryDesc);
		ZbxhistCloseQuery(queryDesc);
	}
	PG_FINALLY();
	{
		ZbxhistPopFrame(&frame);
	}
	PG_END_TRY();
}

/*
 * ProcessUtilityHook runs a utility statement in a frame and corrects the tag
 * of COPY ... FROM.
 */
static void
ProcessUtilityHook(PlannedStmt *pstmt, const char *queryString,
				   bool readOnlyTree, ProcessUtilityContext context,
				   ParamListInfo params, QueryEnvironment *queryEnv,
				   DestReceiver *dest, QueryCompletion *qc)
{
	ExecFrame	frame;
	int			outer_days;

	ZbxhistRefuseCopyTo(pstmt->utilityStmt);
	ZbxhistFlushForNestedQuery();
	outer_days = ZbxhistBeginDrop(pstmt->utilityStmt);

	ZbxhistPushFrame(&frame, NULL, pstmt->utilityStmt);
	PG_TRY();
	{
		if (prev_process_utility)
			(*prev_process_utility) (pstmt, queryString, readOnlyTree, context,
									 params, queryEnv, dest, qc);
		else
			standard_ProcessUtility(pstmt, queryString, readOnlyTree, context,
									params, queryEnv, dest, qc);
	}
	PG_FINALLY();
	{
		ZbxhistPopFrame(&frame);
	}
	PG_END_TRY();

	/* pstmt may be gone by now (ROLLBACK) */
	ZbxhistEndDrop(outer_days);
	if (frame.is_copy_from && frame.routed > 0 && qc != NULL)
		qc->nprocessed += frame.routed;
}

/*
 * ObjectAccessHook is called for each object that is dropped or created.
 */
static void
ObjectAccessHook(ObjectAccessType access, Oid classId, Oid objectId, int subId,
				 void *arg)
{
	if (prev_object_access)
		(*prev_object_access) (access, classId, objectId, subId, arg);
	ZbxhistGuardObject(access, classId, objectId, subId);
}

/*
 * ZbxhistHooksInit takes the hooks, keeping those that are there; called once,
 * by _PG_init.
 */
void
ZbxhistHooksInit(void)
{
	prev_planner = planner_hook;
	planner_hook = PlannerHook;
	prev_build_simple_rel = build_simple_rel_hook;
	build_simple_rel_hook = BuildSimpleRelHook;
	prev_set_rel_pathlist = set_rel_pathlist_hook;
	set_rel_pathlist_hook = SetRelPathlistHook;
	prev_create_upper_paths = create_upper_paths_hook;
	create_upper_paths_hook = CreateUpperPathsHook;
	prev_executor_start = ExecutorStart_hook;
	ExecutorStart_hook = ExecutorStartHook;
	prev_executor_run = ExecutorRun_hook;
	ExecutorRun_hook = ExecutorRunHook;
	prev_executor_finish = ExecutorFinish_hook;
	ExecutorFinish_hook = ExecutorFinishHook;
	prev_process_utility = ProcessUtility_hook;
	ProcessUtility_hook = ProcessUtilityHook;
	prev_object_access = object_access_hook;
	object_access_hook = ObjectAccessHook;
}
