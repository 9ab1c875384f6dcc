/*-------------------------------------------------------------------------
 *
 * path.c
 *	  Which way a statement's rows take into a parent, and why.
 *
 * The planner hook (ingest/fast_insert.c) asks what about the table is in
 * the way.  A statement that it has left to the planner is looked at once, when
 * its first row comes to the trigger: only to count it (zbxhist.insert_paths),
 * nothing else depends on the answer.  Its query tree is gone by then, so the
 * plan has to tell; what leaves no trace in it counts as an expression.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/transam.h"
#include "catalog/pg_type.h"
#include "nodes/plannodes.h"
#include "utils/lsyscache.h"

#include "compat.h"
#include "guc.h"
#include "ingest/insert_triggers.h"
#include "ingest/path.h"
#include "tables/partition_set.h"

static const char *const path_names[] = {
	[PATH_FAST] = "fast",
	[PATH_COLUMN] = "column",
	[PATH_COPY] = "copy",
	[PATH_EXPRESSION] = "expression",
	[PATH_FUNCTION] = "function",
	[PATH_NOT_LOADED] = "not_loaded",
	[PATH_ON_CONFLICT] = "on_conflict",
	[PATH_OTHER] = "other",
	[PATH_QUERY] = "query",
	[PATH_REPLICATION] = "replication",
	[PATH_RETURNING] = "returning",
	[PATH_ROW_SECURITY] = "row_security",
	[PATH_RULE] = "rule",
	[PATH_SETTING] = "setting",
	[PATH_TRIGGER] = "trigger",
	[PATH_VIEW] = "view",
	[PATH_WITH] = "with"
};

StaticAssertDecl(lengthof(path_names) == INSERT_PATH_COUNT,
				 "every path has a name");

/*
 * ZbxhistInsertPathName returns the path's name, a constant.
 */
const char *
ZbxhistInsertPathName(InsertPath path)
{
	return path_names[path];
}

/* ---- the table ---- */

/*
 * HasPlainColumns says whether every column can be stored as it comes, and is
 * NULL if nothing is said about it.
 */
static bool
HasPlainColumns(TupleDesc desc)
{
	if (desc->constr != NULL && has_generated_columns(desc->constr))
		return false;
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(desc, i);

		if (!attribute->attisdropped &&
			attribute->atttypid >= FirstGenbkiObjectId &&
			get_typtype(attribute->atttypid) == TYPTYPE_DOMAIN)
			return false;
	}
	return true;
}

/*
 * ZbxhistTableInsertPath returns PATH_FAST if the parent rel, which is open,
 * allows literals to go straight into its batch, else what does not.
 */
InsertPath
ZbxhistTableInsertPath(Relation rel)
{
	if (rel->rd_rel->relrowsecurity)
		return PATH_ROW_SECURITY;
	if (!ZbxhistHasOnlyRouting(rel))
		return PATH_TRIGGER;
	if (rel->rd_rules != NULL)
		return PATH_RULE;
	if (rel->rd_rel->relispartition)
		return PATH_OTHER;
	if (!HasPlainColumns(RelationGetDescr(rel)) ||
		ZbxhistGetPartitionSet(rel)->clock_attnum == InvalidAttrNumber)
		return PATH_COLUMN;
	return PATH_FAST;
}

/* ---- the statement ---- */

/*
 * SessionInsertPath says whether something about the session or the kind of
 * statement is in the way.
 */
static InsertPath
SessionInsertPath(const StatementInfo *info)
{
	if (SessionReplicationRole == SESSION_REPLICATION_ROLE_REPLICA)
		return PATH_REPLICATION;
	if (info->is_copy)
		return PATH_COPY;
	if (info->frame == NULL)
		return PATH_NOT_LOADED;
	if (!zbxhist_enable_fast_insert || !zbxhist_enable_routing ||
		!zbxhist_enable_batching)
		return PATH_SETTING;
	return PATH_FAST;
}

/*
 * ClauseInsertPath says whether a clause of the statement is in the way.
 */
static InsertPath
ClauseInsertPath(const PlannedStmt *stmt, const ModifyTable *node)
{
	if (node->onConflictAction != ONCONFLICT_NONE)
		return PATH_ON_CONFLICT;
	if (node->returningLists != NIL)
		return PATH_RETURNING;
	if (stmt->hasModifyingCTE)
		return PATH_WITH;
	return PATH_FAST;
}

/*
 * SourceInsertPath tells a view, a query and rows of expressions apart.
 */
static InsertPath
SourceInsertPath(const ModifyTable *node)
{
	const Plan *source = outerPlan(node);

	if (node->withCheckOptionLists != NIL ||
		linitial_int(node->resultRelations) != 1)
		return PATH_VIEW;
	if (node->operation != CMD_INSERT ||
		!(IsA(source, ValuesScan) ||
		  (IsA(source, Result) && outerPlan(source) == NULL)))
		return PATH_QUERY;
	return PATH_EXPRESSION;
}

/*
 * ZbxhistFindInsertPath returns why the statement that fires the row trigger
 * does so, instead of going the short way.
 */
InsertPath
ZbxhistFindInsertPath(const TriggerData *trigdata, const StatementInfo *info)
{
	InsertPath	path = SessionInsertPath(info);

	if (path != PATH_FAST)
		return path;
	if (info->node == NULL)
		return PATH_OTHER;
	path = ClauseInsertPath(info->frame->query->plannedstmt, info->node);
	if (path == PATH_FAST)
		path = ZbxhistTableInsertPath(trigdata->tg_relation);
	return path != PATH_FAST ? path : SourceInsertPath(info->node);
}
