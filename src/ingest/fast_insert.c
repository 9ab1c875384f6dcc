/*-------------------------------------------------------------------------
 *
 * fast_insert.c
 *	  Plans an INSERT of literals into a parent as a custom scan.
 *
 * The statement that Zabbix sends, INSERT INTO history (...) VALUES (...),
 * (...), leaves the planner nothing to decide, yet costs it more than parsing
 * does: it folds each literal's cast by itself.  The planner hook here takes
 * the rows of the query tree as they are into a custom scan, which evaluates
 * them straight into the batch of routing (exec_insert.c).
 *
 * The custom scan does for a row what the trigger would have done, and for the
 * rest of what an INSERT can be, the planner is there: a check that is not sure
 * says no.  What is checked here holds while the plan lives, because a plan is
 * thrown away when its relation changes (relationOids), when
 * session_replication_role does, and when one of our settings does (guc.c).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
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

/* ---- the statement ---- */

/*
 * IsPlainInsert says whether a query inserts one or more rows of expressions
 * into a table and does nothing else.  The cheap part comes first: it is asked
 * for every query.
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
 * MayBeParent says whether a table has row triggers at all, as every parent
 * does.
 */
static bool
MayBeParent(Relation rel)
{
	return rel->trigdesc != NULL && rel->trigdesc->trig_insert_before_row;
}

/* ---- the rows ---- */

/*
 * AllLiterals says whether all expressions of a list can be evaluated by
 * literal.c.
 */
static bool
AllLiterals(List *exprs)
{
	ListCell   *lc;

	foreach(lc, exprs)
	{
		if (!ZbxhistIsLiteral(lfirst(lc)))
			return false;
	}
	return true;
}

/*
 * SplitRow takes the only row of an INSERT from its target list, in which the
 * rewriter has put the defaults.
 */
static bool
SplitRow(const Query *query, InsertParts *parts)
{
	List	   *row = NIL;
	ListCell   *lc;

	foreach(lc, query->targetList)
	{
		TargetEntry *entry = lfirst_node(TargetEntry, lc);

		if (entry->resjunk || !ZbxhistIsLiteral((Node *) entry->expr))
			return false;
		row = lappend(row, entry->expr);
		parts->row_attnums = lappend_int(parts->row_attnums, entry->resno);
	}
	parts->rows = list_make1(row);
	return true;
}

/*
 * PutColumn notes that the column attnum is the VALUES list's one of that
 * number.
 */
static bool
PutColumn(const Var *var, AttrNumber attnum, InsertParts *parts)
{
	if (var->varno != 2 || var->varlevelsup != 0 || var->varattno < 1 ||
		var->varattno > list_length(parts->row_attnums))
		return false;
	lfirst_int(list_nth_cell(parts->row_attnums, var->varattno - 1)) = attnum;
	return true;
}

/*
 * SplitTargets sorts an INSERT's target list into columns of the VALUES lists
 * and constants, which are defaults.
 */
static bool
SplitTargets(const Query *query, int ncolumns, InsertParts *parts)
{
	ListCell   *lc;

	for (int i = 0; i < ncolumns; i++)
		parts->row_attnums = lappend_int(parts->row_attnums, 0);
	foreach(lc, query->targetList)
	{
		TargetEntry *entry = lfirst_node(TargetEntry, lc);

		if (entry->resjunk)
			return false;
		if (IsA(entry->expr, Var))
		{
			if (!PutColumn((Var *) entry->expr, entry->resno, parts))
				return false;
			continue;
		}
		if (!ZbxhistIsLiteral((Node *) entry->expr))
			return false;
		parts->constants = lappend(parts->constants, entry->expr);
		parts->constant_attnums = lappend_int(parts->constant_attnums,
											  entry->resno);
	}
	return true;
}

/*
 * SplitRows takes the rows of an INSERT with several.
 */
static bool
SplitRows(const Query *query, InsertParts *parts)
{
	RangeTblEntry *values = lsecond_node(RangeTblEntry, query->rtable);
	int			ncolumns = list_length(linitial_node(List,
													 values->values_lists));
	ListCell   *lc;

	if (values->lateral || !SplitTargets(query, ncolumns, parts))
		return false;
	foreach(lc, values->values_lists)
	{
		if (!AllLiterals(lfirst_node(List, lc)))
			return false;
	}
	parts->rows = values->values_lists;
	return true;
}

/*
 * SplitInsert takes a plain INSERT apart if all its expressions are literals.
 */
static bool
SplitInsert(const Query *query, InsertParts *parts)
{
	memset(parts, 0, sizeof(*parts));
	if (list_length(query->rtable) == 2)
		return SplitRows(query, parts);
	return SplitRow(query, parts);
}

/* ---- the plan ---- */

/*
 * MakeScan makes the custom scan of an INSERT taken apart.
 */
static CustomScan *
MakeScan(const InsertParts *parts)
{
	CustomScan *scan = makeNode(CustomScan);

	scan->scan.scanrelid = 1;
	scan->custom_relids = bms_make_singleton(1);
	scan->methods = &zbxhist_insert_scan.methods;
	scan->custom_private = list_make4(parts->rows, parts->row_attnums,
									  parts->constants,
									  parts->constant_attnums);
	scan->scan.plan.plan_rows = 0;
	scan->scan.plan.total_cost =
		cpu_tuple_cost * list_length(parts->rows);
	return scan;
}

/*
 * MakeRangeTable returns the range table for a plan: the VALUES lists, which
 * are in the plan already, left out.
 */
static List *
MakeRangeTable(const Query *query)
{
	RangeTblEntry *values;

	if (list_length(query->rtable) < 2)
		return query->rtable;
	values = makeNode(RangeTblEntry);
	*values = *lsecond_node(RangeTblEntry, query->rtable);
	values->values_lists = NIL;
	return list_make2(linitial(query->rtable), values);
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
	InsertPath	path = PATH_OTHER;
	InsertParts parts;

	if (MayBeParent(rel))
	{
		path = ZbxhistTableInsertPath(rel);
		if (path == PATH_FAST && !SplitInsert(query, &parts))
			path = PATH_EXPRESSION;
		if (path != PATH_FAST)
			elog(DEBUG1, "INSERT into \"%s\" is planned the long way: %s",
				 RelationGetRelationName(rel), ZbxhistInsertPathName(path));
	}
	table_close(rel, NoLock);
	if (path != PATH_FAST)
		return NULL;
	return make_plan(query, MakeRangeTable(query), (Plan *) MakeScan(&parts));
}

/*
 * ZbxhistPlanFastInsert returns a plan if a query is such an INSERT, else NULL.
 */
PlannedStmt *
ZbxhistPlanFastInsert(const Query *query)
{
	if (IsPlainInsert(query) && zbxhist_enable_fast_insert &&
		zbxhist_enable_routing && zbxhist_enable_batching &&
		SessionReplicationRole != SESSION_REPLICATION_ROLE_REPLICA)
		return PlanInsert(query);
	return NULL;
}
