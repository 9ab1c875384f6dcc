/*-------------------------------------------------------------------------
 *
 * fast_insert.c
 *	  Plans an INSERT of literals into a parent as a custom scan.
 *
 * The statement that Zabbix sends, INSERT INTO history (...)  VALUES (...), (...), leaves
 * the planner nothing to decide, yet planning it costs more than parsing: the planner
 * folds each literal's cast separately.  The planner hook here puts the rows of the query
 * tree unchanged into a custom scan, which evaluates them into the batch (exec_insert.c).
 *
 * The custom scan does for a row what the trigger would do.  All other INSERTs are left to
 * the planner; if a check is in doubt, it refuses.  The checks stay true as long as the
 * plan exists: it is discarded when its relation (relationOids), session_replication_role
 * or one of our settings (guc.c) changes.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "access/xact.h"
#include "commands/trigger.h"
#include "optimizer/optimizer.h"
#include "utils/rel.h"

#include "compat_marks.h"
#include "guc.h"
#include "ingest/fast_insert.h"
#include "ingest/literal.h"
#include "ingest/path.h"

/* an INSERT taken apart */
typedef struct InsertParts
{
	List	   *rows;			/* of lists of expressions */
	List	   *row_attnums;
	List	   *constants;
	List	   *constant_attnums;
} InsertParts;

/*
 * IsPlainInsert says whether a query inserts one or more rows of expressions into a table
 * and does nothing else.  The cheap checks come first, because it is called for every
 * query.
 */
static bool
IsPlainInsert(const Query *query)
{
	const RangeTblEntry *target;
	int			nrelations;

	if (query->commandType != CMD_INSERT || query->resultRelation != 1)
		return false;
	nrelations = list_length(query->rtable);
	if (nrelations > 2 ||
		(nrelations == 2 &&
		 lsecond_node(RangeTblEntry, query->rtable)->rtekind != RTE_VALUES))
		return false;
	target = linitial_node(RangeTblEntry, query->rtable);
	return target->rtekind == RTE_RELATION &&
		target->relkind == RELKIND_RELATION && target->securityQuals == NIL &&
		query->returningList == NIL && query->onConflict == NULL &&
		query->cteList == NIL && query->withCheckOptions == NIL &&
		query->override == OVERRIDING_NOT_SET &&
		!query->hasSubLinks && !query->hasTargetSRFs &&
		!query->hasRowSecurity &&
		list_length(query->jointree->fromlist) == nrelations - 1 &&
		query->jointree->quals == NULL;
}

/*
 * SplitInsert takes a plain INSERT apart; returns false unless all its expressions
 * are literals.  Its target list has columns of the VALUES lists, and constants,
 * which are defaults; of a single row the rewriter has put all into the target list.
 */
static bool
SplitInsert(const Query *query, InsertParts *parts)
{
	const RangeTblEntry *values = NULL;
	int			ncolumns = 0;
	ListCell   *lc;
	ListCell   *expr;

	memset(parts, 0, sizeof(*parts));
	if (list_length(query->rtable) == 2)
	{
		values = lsecond_node(RangeTblEntry, query->rtable);
		if (values->lateral)
			return false;
		ncolumns = list_length(linitial_node(List, values->values_lists));
	}
	for (int i = 0; i < ncolumns; i++)
		parts->row_attnums = lappend_int(parts->row_attnums, 0);
	foreach(lc, query->targetList)
	{
		TargetEntry *entry = lfirst_node(TargetEntry, lc);
		const Var  *var = (Var *) entry->expr;

		if (entry->resjunk)
			return false;
		if (IsA(var, Var))
		{
			if (var->varno != 2 || var->varlevelsup != 0 ||
				var->varattno < 1 || var->varattno > ncolumns)
				return false;
			lfirst_int(list_nth_cell(parts->row_attnums,
									 var->varattno - 1)) = entry->resno;
			continue;
		}
		if (!ZbxhistIsLiteral((Node *) entry->expr))
			return false;
		parts->constants = lappend(parts->constants, entry->expr);
		parts->constant_attnums = lappend_int(parts->constant_attnums,
											  entry->resno);
	}
	parts->rows = values != NULL ? values->values_lists : list_make1(NIL);
	foreach(lc, parts->rows)
	{
		foreach(expr, lfirst_node(List, lc))
		{
			if (!ZbxhistIsLiteral(lfirst(expr)))
				return false;
		}
	}
	return true;
}

/*
 * PlanInsert plans a plain INSERT, or returns NULL.  The table is locked
 * by the query.
 */
static PlannedStmt *
PlanInsert(const Query *query)
{
	RangeTblEntry *target = linitial_node(RangeTblEntry, query->rtable);
	Relation	rel = table_open(target->relid, NoLock);
	InsertPath	path = PATH_STATEMENT;
	List	   *rtable = query->rtable;
	InsertParts parts;
	CustomScan *scan;

	/* every parent has row triggers */
	if (rel->trigdesc != NULL && rel->trigdesc->trig_insert_before_row)
	{
		path = ZbxhistTableInsertPath(rel);
		if (path == PATH_FAST && !SplitInsert(query, &parts))
			path = PATH_STATEMENT;
		if (path != PATH_FAST)
			elog(DEBUG1, "INSERT into \"%s\" is planned the long way: %s",
				 RelationGetRelationName(rel), ZbxhistInsertPathName(path));
	}
	table_close(rel, NoLock);
	if (path != PATH_FAST)
		return NULL;

	scan = makeNode(CustomScan);
	scan->scan.scanrelid = 1;
	scan->custom_relids = bms_make_singleton(1);
	scan->methods = &zbxhist_insert_scan.methods;
	scan->custom_private = list_make4(parts.rows, parts.row_attnums,
									  parts.constants,
									  parts.constant_attnums);
	scan->scan.plan.plan_rows = 0;
	scan->scan.plan.total_cost = cpu_tuple_cost * list_length(parts.rows);
	if (list_length(rtable) == 2)
	{
		/* the VALUES lists are in the plan already */
		RangeTblEntry *values = makeNode(RangeTblEntry);

		*values = *lsecond_node(RangeTblEntry, rtable);
		values->values_lists = NIL;
		rtable = list_make2(target, values);
	}
	return make_plan(query, rtable, (Plan *) scan);
}

/*
 * ZbxhistPlanFastInsert returns a plan if a query is such an INSERT, else NULL.  In a
 * read-only transaction the planner plans it, because an error of a cast must come before
 * that of the transaction.
 */
PlannedStmt *
ZbxhistPlanFastInsert(const Query *query)
{
	if (IsPlainInsert(query) && !XactReadOnly && zbxhist_enable_fast_insert &&
		zbxhist_enable_routing && zbxhist_enable_batching &&
		SessionReplicationRole != SESSION_REPLICATION_ROLE_REPLICA)
		return PlanInsert(query);
	return NULL;
}
