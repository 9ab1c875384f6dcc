/*-------------------------------------------------------------------------
 *
 * path.c
 *	  By which path a statement's rows are stored in a parent, and why.
 *
 * The planner hook (ingest/fast_insert.c) asks whether anything about the table prevents
 * the fast path.  For a statement that was left to the planner the path is found when its
 * first row reaches the trigger.  That is only for counting (zbxhist.insert_paths).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/transam.h"
#include "catalog/pg_type.h"
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
	[PATH_NOT_LOADED] = "not_loaded",
	[PATH_REPLICATION] = "replication",
	[PATH_ROW_SECURITY] = "row_security",
	[PATH_RULE] = "rule",
	[PATH_SETTING] = "setting",
	[PATH_STATEMENT] = "statement",
	[PATH_TRIGGER] = "trigger"
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
 * ZbxhistTableInsertPath returns PATH_FAST if the parent rel, which is open, allows the
 * fast path, else the reason why not.
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
		return PATH_STATEMENT;
	if (!HasPlainColumns(RelationGetDescr(rel)) ||
		ZbxhistGetPartitionSet(rel)->clock_attnum == InvalidAttrNumber)
		return PATH_COLUMN;
	return PATH_FAST;
}

/* ---- the statement ---- */

/*
 * ZbxhistFindInsertPath returns why a statement fires the row trigger instead of taking
 * the fast path: because of the session, the kind of statement, the table, or else what
 * is in the statement.
 */
InsertPath
ZbxhistFindInsertPath(const TriggerData *trigdata, const StatementInfo *info)
{
	InsertPath	path;

	if (SessionReplicationRole == SESSION_REPLICATION_ROLE_REPLICA)
		return PATH_REPLICATION;
	if (info->is_copy)
		return PATH_COPY;
	if (info->frame == NULL)
		return PATH_NOT_LOADED;
	if (!zbxhist_enable_fast_insert || !zbxhist_enable_routing ||
		!zbxhist_enable_batching)
		return PATH_SETTING;
	path = ZbxhistTableInsertPath(trigdata->tg_relation);
	return path == PATH_FAST ? PATH_STATEMENT : path;
}
