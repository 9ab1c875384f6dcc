/*-------------------------------------------------------------------------
 *
 * frame.c
 *	  Which statement is executing, and which rows are missing in its command tag.
 *
 * A trigger is not told which statement fires it, but the batch must know:
 * rows may leave the parent only if the statement does not need them there
 * (RETURNING, ON CONFLICT, view check options, row security), and the
 * command tag should count them.  So the hooks (hooks.c) keep a stack of frames
 * here, one for each statement in execution, and the row trigger looks its plan
 * up in the innermost.
 *
 * A statement that was already executing when the library was loaded has no frame.  That
 * is the first statement of a session, unless the library is preloaded.  Its plan is
 * found through ActivePortal if it is a top-level statement; if it is nested in a
 * function, its rows stay in the parent.
 *
 * Frames live on the C stack; PG_FINALLY pops them on error, too.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "nodes/parsenodes.h"
#include "parser/parsetree.h"
#include "tcop/pquery.h"
#include "utils/portal.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "compat.h"
#include "ingest/frame.h"

static ExecFrame *current_frame = NULL;

/*
 * ZbxhistCurrentFrame returns the innermost statement's frame, or NULL.
 */
ExecFrame *
ZbxhistCurrentFrame(void)
{
	return current_frame;
}

/*
 * ZbxhistIsInChange says whether a statement that is being executed changes
 * rows.
 */
bool
ZbxhistIsInChange(void)
{
	for (ExecFrame *frame = current_frame; frame != NULL;
		 frame = frame->outer)
	{
		if (!frame->only_reads &&
			(frame->query == NULL ? frame->is_copy_from :
			 frame->query->operation != CMD_SELECT ||
			 frame->query->plannedstmt->hasModifyingCTE))
			return true;
	}
	return false;
}

/*
 * ZbxhistSetOnlyReads notes whether the statement that is being executed, which changes
 * rows, only reads until the next call.
 */
void
ZbxhistSetOnlyReads(bool only_reads)
{
	current_frame->only_reads = only_reads;
}

/*
 * RunsQuery says whether a utility statement executes a query in a snapshot
 * that it has taken before it plans the query or locks its tables.
 */
static bool
RunsQuery(const Node *statement)
{
	return IsA(statement, ExplainStmt) || IsA(statement, ExecuteStmt) ||
		IsA(statement, DeclareCursorStmt) || IsA(statement, CopyStmt) ||
		IsA(statement, CreateTableAsStmt);
}

/*
 * ZbxhistSnapshotIsOld says whether the query that is about to be started has
 * such a snapshot.
 */
bool
ZbxhistSnapshotIsOld(void)
{
	const PlannedStmt *stmt;

	if (current_frame != NULL)
		return current_frame->runs_query;
	/* began before the library was loaded */
	if (ActivePortal == NULL || list_length(ActivePortal->stmts) != 1)
		return false;
	stmt = linitial_node(PlannedStmt, ActivePortal->stmts);
	return stmt->utilityStmt != NULL && RunsQuery(stmt->utilityStmt);
}

/*
 * ZbxhistPushFrame makes frame, on the caller's stack, the innermost one: of a
 * query, or of a utility statement.
 */
void
ZbxhistPushFrame(ExecFrame *frame, QueryDesc *query, const Node *utility)
{
	memset(frame, 0, sizeof(*frame));
	frame->outer = current_frame;
	frame->query = query;
	if (utility != NULL)
	{
		frame->is_copy_from = IsA(utility, CopyStmt) &&
			((const CopyStmt *) utility)->is_from;
		frame->runs_query = RunsQuery(utility);
	}
	current_frame = frame;
}

/*
 * ZbxhistPopFrame must be called when the statement ends, also by an error.
 */
void
ZbxhistPopFrame(const ExecFrame *frame)
{
	current_frame = frame->outer;
}

/*
 * OwnsTrigger says whether a ModifyTable node is the one that fires trigger:
 * each result relation has its own copy of the trigger descriptor.
 */
static bool
OwnsTrigger(const ModifyTableState *node, const Trigger *trigger)
{
	const TriggerDesc *desc = node->rootResultRelInfo->ri_TrigDesc;

	return desc != NULL && trigger >= desc->triggers &&
		trigger < desc->triggers + desc->numtriggers;
}

/*
 * FindModifyTable returns the node of query that fires trigger, or NULL.
 */
static ModifyTableState *
FindModifyTable(const QueryDesc *query, const Trigger *trigger)
{
	ListCell   *lc;

	if (query->planstate != NULL && IsA(query->planstate, ModifyTableState) &&
		OwnsTrigger((ModifyTableState *) query->planstate, trigger))
		return (ModifyTableState *) query->planstate;

	foreach(lc, query->estate->es_auxmodifytables)
	{
		ModifyTableState *node = lfirst_node(ModifyTableState, lc);

		if (OwnsTrigger(node, trigger))
			return node;
	}
	return NULL;
}

/*
 * CallsFunctions says whether a plan depends on functions that do not come with
 * PostgreSQL: only those can run queries within the statement.
 */
static bool
CallsFunctions(const PlannedStmt *stmt)
{
	ListCell   *lc;

	foreach(lc, stmt->invalItems)
	{
		if (lfirst_node(PlanInvalItem, lc)->cacheId == PROCOID)
			return true;
	}
	return false;
}

/*
 * DescribeModifyTable adds what one ModifyTable plan node needs to info; two
 * nodes on one table add up.
 */
static void
DescribeModifyTable(const ModifyTable *node, StatementInfo *info)
{
	if (node->operation != CMD_INSERT || node->returningLists != NIL ||
		node->withCheckOptionLists != NIL)
		info->needs_row = true;
	if (node->onConflictAction != ONCONFLICT_NONE)
		info->on_conflict = node->onConflictAction;
	info->sets_tag = node->canSetTag;
	info->is_known = true;
}

/*
 * DescribeUnframed looks for the plans that insert into relid in the session's top-level
 * statement, if there is no frame.
 */
static void
DescribeUnframed(Oid relid, StatementInfo *info)
{
	PlannedStmt *stmt;
	List	   *plans;
	ListCell   *lc;

	if (ActivePortal == NULL || list_length(ActivePortal->stmts) != 1)
		return;
	stmt = linitial_node(PlannedStmt, ActivePortal->stmts);

	if (stmt->utilityStmt != NULL)
	{
		info->is_copy = IsA(stmt->utilityStmt, CopyStmt) &&
			((CopyStmt *) stmt->utilityStmt)->is_from;
		info->is_known = info->is_copy;
		return;
	}

	plans = lcons(stmt->planTree, list_copy(stmt->subplans));
	foreach(lc, plans)
	{
		ModifyTable *node = (ModifyTable *) lfirst(lc);

		if (node != NULL && IsA(node, ModifyTable) &&
			rt_fetch(linitial_int(node->resultRelations),
					 stmt->rtable)->relid == relid)
			DescribeModifyTable(node, info);
	}
	info->runs_functions = CallsFunctions(stmt);
}

/*
 * ZbxhistDescribeStatement describes, for routing, the statement that fires the row
 * trigger in trigdata.
 */
void
ZbxhistDescribeStatement(const TriggerData *trigdata, StatementInfo *info)
{
	ExecFrame  *frame = current_frame;
	ModifyTableState *node;

	memset(info, 0, sizeof(*info));

	if (frame != NULL && frame->query == NULL && frame->is_copy_from)
	{
		info->frame = frame;
		info->is_copy = true;
		info->is_known = true;
		info->sets_tag = true;
		return;
	}

	if (frame != NULL && frame->query != NULL &&
		(node = FindModifyTable(frame->query, trigdata->tg_trigger)) != NULL)
	{
		info->frame = frame;
		DescribeModifyTable((ModifyTable *) node->ps.plan, info);
		info->runs_functions = CallsFunctions(frame->query->plannedstmt);
		return;
	}

	DescribeUnframed(RelationGetRelid(trigdata->tg_relation), info);
}
