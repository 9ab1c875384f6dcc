/*-------------------------------------------------------------------------
 *
 * change.c
 *	  UPDATE and DELETE of a parent's rows, table by table.
 *
 * Zabbix changes rows of one item, mostly of a few clocks or none:
 *
 *	UPDATE trends SET ... WHERE itemid = 5 AND clock = 1795215600
 *	DELETE FROM history WHERE itemid = 5 AND clock < 1795151284
 *	DELETE FROM history WHERE itemid = 5 AND ctid = ANY (ARRAY (
 *		SELECT ctid FROM history WHERE itemid = 5 LIMIT 5000))
 *
 * The planner expands a parent to all of its children, locks and plans each, and the last
 * of these twice.  So the plan of such a statement is one node that knows the parent only.
 * When it runs, it evaluates the conditions on item and clock, locks the children that have
 * such clocks, and finds by their indexes those that have rows of the items. On each of
 * these, and on the parent if it has own rows, it runs the statement with ONLY this table,
 * in the same snapshot and as the same command.  AFTER triggers are queued for the whole
 * statement, so they fire when all tables have been changed.
 *
 * Privileges are needed on the parent only, as with inheritance; the executor checks them
 * by the plan's range table.
 *
 * PostgreSQL would lock all children before it takes the snapshot, and by these locks a
 * statement and a move of rows would wait for each other.  Here the move lock is taken
 * instead (tables/move_lock.c).  A partition that is packed between the snapshot and its
 * lock has the same rows as a packed day.
 *
 * All other statements (RETURNING, joins, statement triggers) are planned by PostgreSQL
 * for all children.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/pg_class.h"
#include "commands/explain.h"
#include "executor/executor.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/planner.h"
#include "rewrite/rewriteManip.h"
#include "storage/lmgr.h"
#include "tcop/dest.h"
#include "tcop/tcopprot.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/ruleutils.h"
#include "utils/snapmgr.h"

#include "compat.h"
#include "compat_marks.h"
#include "fdw/row_key.h"
#include "ingest/frame.h"
#include "packed/conditions.h"
#include "packed/scan.h"
#include "read/change.h"
#include "read/clock_bounds.h"
#include "tables/move_lock.h"
#include "tables/partition_set.h"
#include "tables/row_type.h"
#include "tables/source.h"

/* up to so many items, tables without rows of them are found and left out */
#define MAX_LOOKED_FOR 100

/* members of the plan's custom_private */
enum ChangePrivate
{
	CHANGE_QUERY,				/* the statement */
	CHANGE_CONDS				/* IntList: kinds of the conditions whose
								 * values are custom_exprs */
};

typedef struct ChangeState
{
	CustomScanState css;		/* must be first */
	Query	   *query;			/* the plan's */
	List	   *kinds;
	List	   *values;			/* ExprStates */
	int			ntables;		/* shown by EXPLAIN */
} ChangeState;

/* ---- recognising ---- */

/*
 * IsSimple says whether a query changes rows of one inheritance parent and reads other
 * tables in WHERE only.
 */
static bool
IsSimple(const Query *query)
{
	const RangeTblEntry *rte;

	if ((query->commandType != CMD_UPDATE &&
		 query->commandType != CMD_DELETE) ||
		list_length(query->rtable) != 1 || query->resultRelation != 1 ||
		query->returningList != NIL || query->cteList != NIL ||
		query->withCheckOptions != NIL ||
		list_length(query->jointree->fromlist) != 1 ||
		query->jointree->quals == NULL)
		return false;
	rte = linitial_node(RangeTblEntry, query->rtable);
	return rte->rtekind == RTE_RELATION && rte->inh &&
		rte->relkind == RELKIND_RELATION && rte->securityQuals == NIL &&
		rte->tablesample == NULL;
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
 * GetTidSublink returns the sublink of a condition ctid = ANY (ARRAY (SELECT ...)), or
 * NULL.
 */
static SubLink *
GetTidSublink(const Node *qual)
{
	const ScalarArrayOpExpr *any = (const ScalarArrayOpExpr *) qual;
	Var		   *var;
	SubLink    *sublink;

	if (!IsA(any, ScalarArrayOpExpr) || !any->useOr)
		return NULL;
	var = linitial(any->args);
	sublink = lsecond(any->args);
	return IsA(var, Var) && var->varattno == SelfItemPointerAttributeNumber &&
		IsA(sublink, SubLink) && sublink->subLinkType == ARRAY_SUBLINK ? sublink : NULL;
}

/*
 * IsOfSameTable says whether a sublink's query reads the table relid alone and refers to
 * nothing of the statement around it.  So it needs no locks but the statement's.
 */
static bool
IsOfSameTable(const SubLink *sublink, Oid relid)
{
	Query	   *query = castNode(Query, sublink->subselect);
	const RangeTblEntry *rte;

	if (query->commandType != CMD_SELECT || query->cteList != NIL ||
		query->hasSubLinks || query->rowMarks != NIL ||
		list_length(query->rtable) != 1 ||
		contain_vars_of_level((Node *) query, 1))
		return false;
	rte = linitial_node(RangeTblEntry, query->rtable);
	return rte->rtekind == RTE_RELATION && rte->relid == relid;
}

/*
 * TakeChangeQuals takes the conditions of WHERE that are about item and clock; returns false if
 * there is none, or one that has a sublink of another kind than those of ctids.
 */
static bool
TakeChangeQuals(const Query *query, Relation parent, List **conds)
{
	KeyColumns	columns;
	int			nsublinks = 0;
	ListCell   *lc;

	*conds = NIL;
	if (!ZbxhistTakeKeyColumns(ZbxhistGetPartitions(parent), &columns))
		return false;
	foreach(lc, ZbxhistAddParts(NIL, query->jointree->quals, AND_EXPR))
	{
		Node	   *qual = lfirst(lc);
		SubLink    *sublink = GetTidSublink(qual);

		if (sublink != NULL && nsublinks++ == 0 &&
			IsOfSameTable(sublink, RelationGetRelid(parent)))
			continue;
		if (query->hasSubLinks && checkExprHasSubLink(qual))
			return false;
		(void) ZbxhistTakeCondition((Expr *) qual, &columns, conds);
	}
	return *conds != NIL &&
		!(query->hasSubLinks && checkExprHasSubLink((Node *) query->targetList));
}

/*
 * IsByTable says whether a query can be run table by table, and sets the conditions by
 * which tables are found.
 */
static bool
IsByTable(const Query *query, Relation parent, List **conds)
{
	return ZbxhistIsRouted(parent) && !HasStatementTriggers(parent) &&
		!has_virtual_columns(RelationGetDescr(parent)->constr) &&
		TakeChangeQuals(query, parent, conds);
}

/* ---- planning ---- */

/*
 * ZbxhistPlanChange returns the plan of an UPDATE or DELETE that is run table by table;
 * NULL if the query is none.  The parent is locked by the query.
 */
PlannedStmt *
ZbxhistPlanChange(Query *query)
{
	CustomScan *scan;
	List	   *conds;
	List	   *kinds;
	Relation	parent;
	bool		is_by_table;

	if (constraint_exclusion == CONSTRAINT_EXCLUSION_OFF || !IsSimple(query))
		return NULL;
	parent = table_open(linitial_node(RangeTblEntry, query->rtable)->relid, NoLock);
	is_by_table = IsByTable(query, parent, &conds);
	table_close(parent, NoLock);
	if (!is_by_table)
		return NULL;
	(void) ZbxhistBeginChanging(linitial_node(RangeTblEntry, query->rtable)->relid);
	scan = makeNode(CustomScan);
	kinds = ZbxhistKindsOf(conds, &scan->custom_exprs);
	scan->custom_exprs = (List *) expression_planner((Expr *) scan->custom_exprs);
	scan->scan.scanrelid = 1;
	scan->custom_relids = bms_make_singleton(1);
	scan->custom_private = list_make2(query, kinds);
	scan->methods = &zbxhist_change_scan.methods;
	return make_plan(query, query->rtable, &scan->scan.plan);
}

/*
 * GetChange returns the node of a plan that is such a change, or NULL.
 */
static CustomScan *
GetChange(const PlannedStmt *stmt)
{
	CustomScan *scan = (CustomScan *) stmt->planTree;

	return IsA(scan, CustomScan) && scan->methods == &zbxhist_change_scan.methods ?
		scan : NULL;
}

/* ---- tables ---- */

/*
 * LockTablesOfClocks locks the children of a parent that may have rows of some clocks, in the
 * order in which PostgreSQL locks children, and lists them.  If a lock may have waited for
 * a change of the children, they are listed again.
 */
static List *
LockTablesOfClocks(Relation parent, const ClockRange *clocks)
{
	List	   *locked = NIL;

	for (;;)
	{
		PartitionSet *set = ZbxhistGetPartitions(parent);
		List	   *result = NIL;
		ListCell   *lc;

		for (int i = 0; i < set->npartitions; i++)
		{
			if (clocks_overlap(&set->partitions[i], clocks))
				result = lappend_oid(result, set->partitions[i].relid);
		}
		if (ZbxhistHasPackedDay(set, clocks))
			result = lappend_oid(result, set->packed);
		list_sort(result, list_oid_cmp);
		if (equal(result, locked))
			return result;
		foreach(lc, result)
			LockRelationOid(lfirst_oid(lc), RowExclusiveLock);
		if (ZbxhistPartitionSetIsValid(set))
			return result;
		list_free(locked);
		locked = result;
	}
}

/*
 * HasRowsOf says whether a locked table may have rows of the items in bounds.
 */
static bool
HasRowsOf(Oid relid, Snapshot snapshot, const ScanBounds *bounds)
{
	Relation	rel;
	ItemSource *source;
	ItemRange	range;
	bool		result = false;

	if (get_rel_relkind(relid) != RELKIND_RELATION)
		return true;
	/* a serializable transaction must note that it has read */
	if (!IsolationIsSerializable() && ZbxhistLockIfEmpty(relid, RowExclusiveLock))
		return false;
	if (bounds->items == NULL || bounds->nitems > MAX_LOOKED_FOR)
		return true;
	rel = table_open(relid, NoLock);
	source = ZbxhistOpenHeapSource(rel, snapshot);
	ZbxhistBoundsRange(bounds, &range);
	for (int i = 0; i < bounds->nitems && !result; i++)
	{
		range.itemid = bounds->items[i];
		source->methods->start(source, &range);
		result = source->methods->next(source);
	}
	source->methods->close(source);
	return result;
}

/*
 * AreLikeParent says whether all tables of a list have the parent's columns at the same
 * places, and all of them stored.  None may have a statement trigger, which must fire
 * only if a statement names the table itself.
 */
static bool
AreLikeParent(Relation parent, const List *relids)
{
	ListCell   *lc;

	foreach(lc, relids)
	{
		Relation	rel = table_open(lfirst_oid(lc), NoLock);
		bool		is_like = !HasStatementTriggers(rel) &&
			!has_virtual_columns(RelationGetDescr(rel)->constr) &&
			ZbxhistMapColumns(RelationGetDescr(parent), RelationGetDescr(rel)) == NULL;

		table_close(rel, NoLock);
		if (!is_like)
			return false;
	}
	return true;
}

/* ---- executing ---- */

/*
 * StartQuery starts a query in the snapshot of the statement, and as the same command, so
 * it does not see what triggers change meanwhile.  AFTER triggers are left to the
 * statement.
 */
static QueryDesc *
StartQuery(ChangeState *state, PlannedStmt *stmt, ParamListInfo params)
{
	EState	   *estate = state->css.ss.ps.state;
	QueryDesc  *result = CreateQueryDesc(stmt, estate->es_sourceText,
										 estate->es_snapshot,
										 estate->es_crosscheck_snapshot,
										 None_Receiver, params,
										 estate->es_queryEnv, 0);

	ExecutorStart(result, EXEC_FLAG_SKIP_TRIGGERS);
	result->estate->es_output_cid = estate->es_output_cid;
	return result;
}

/*
 * EndQuery ends a query that has been run.
 */
static void
EndQuery(QueryDesc *query)
{
	ExecutorFinish(query);
	ExecutorEnd(query);
	FreeQueryDesc(query);
}

/*
 * EvaluateSublink returns the array of a sublink, which does not depend on the statement.
 */
static Datum
EvaluateSublink(ChangeState *state, SubLink *sublink, ParamListInfo params, bool *isnull)
{
	EState	   *estate = state->css.ss.ps.state;
	Query	   *query = makeNode(Query);
	QueryDesc  *running;
	TupleTableSlot *slot;
	Datum		result;

	query->commandType = CMD_SELECT;
	query->canSetTag = true;
	query->hasSubLinks = true;
	query->jointree = makeFromExpr(NIL, NULL);
	query->targetList = list_make1(makeTargetEntry((Expr *) sublink, 1, "ctids", false));
	ZbxhistSetOnlyReads(true);
	running = StartQuery(state, pg_plan_query_compat(query, estate->es_sourceText, 0, params),
						 params);
	slot = ExecProcNode(running->planstate);
	result = slot_getattr(slot, 1, isnull);
	if (!*isnull)
		result = datumCopy(result, false, -1);
	EndQuery(running);
	ZbxhistSetOnlyReads(false);
	return result;
}

/*
 * SetTids replaces the sublink that gives ctids, if a query has one, by a parameter.  It
 * evaluates the sublink and adds the value to params.  Returns false if there are no
 * ctids.
 */
static bool
SetTids(ChangeState *state, Query *query, ParamListInfo *params)
{
	ScalarArrayOpExpr *any = NULL;
	ParamListInfo own;
	Param	   *param = makeNode(Param);
	ParamExternData *value;
	int			nparams;
	ListCell   *lc;

	if (!query->hasSubLinks)
		return true;
	foreach(lc, ZbxhistAddParts(NIL, query->jointree->quals, AND_EXPR))
	{
		if (GetTidSublink(lfirst(lc)) != NULL)
			any = lfirst(lc);
	}
	own = copyParamList(*params);
	nparams = own == NULL ? 0 : own->numParams;
	*params = makeParamList(nparams + 1);
	if (nparams > 0)
		memcpy((*params)->params, own->params, sizeof(ParamExternData) * nparams);
	value = &(*params)->params[nparams];
	value->ptype = exprType(lsecond(any->args));
	value->value = EvaluateSublink(state, lsecond(any->args), own, &value->isnull);
	param->paramkind = PARAM_EXTERN;
	param->paramid = nparams + 1;
	param->paramtype = value->ptype;
	param->paramtypmod = -1;
	param->location = -1;
	lsecond(any->args) = param;
	query->hasSubLinks = false;
	return !value->isnull && ARR_NDIM(DatumGetArrayTypeP(value->value)) > 0;
}

/*
 * KeepsBounds says whether a table is a partition whose only CHECK constraint is on the
 * clock, which an UPDATE cannot set (RefuseNewKey), and no trigger changes.
 */
static bool
KeepsBounds(const Query *query, const PartitionSet *set, const ResultRelInfo *table)
{
	return query->commandType == CMD_UPDATE &&
		partition_of(set, RelationGetRelid(table->ri_RelationDesc)) != NULL &&
		ZbxhistHasOnlyBounds(RelationGetDescr(table->ri_RelationDesc)) &&
		(table->ri_TrigDesc == NULL || !table->ri_TrigDesc->trig_update_before_row);
}

/*
 * RunOn runs the statement on one table, or on the parent with all of its children.
 */
static void
RunOn(ChangeState *state, Query *query, Oid relid, bool with_children,
	  ParamListInfo params)
{
	EState	   *estate = state->css.ss.ps.state;
	Query	   *own = copyObject(query);
	QueryDesc  *running;
	ResultRelInfo *table;

	if (!with_children)
		set_changed_table(own, relid);
	/* extensions that count queries have counted this one */
	own->queryId = UINT64CONST(0);

	/*
	 * the planner does not get the values of the parameters, or it would
	 * estimate thousands of ctids one by one
	 */
	running = StartQuery(state,
						 standard_planner_compat(own, estate->es_sourceText, 0,
												 estate->es_param_list_info),
						 params);
	table = castNode(ModifyTableState, running->planstate)->resultRelInfo;
	if (KeepsBounds(query, ZbxhistGetPartitions(state->css.ss.ss_currentRelation), table))
		skip_check(table);
	ExecutorRunCompat(running);
	estate->es_processed += running->estate->es_processed;
	EndQuery(running);
	state->ntables++;
}

/*
 * RunOnTables runs the statement on the tables that may have rows for it.
 */
static void
RunOnTables(ChangeState *state)
{
	EState	   *estate = state->css.ss.ps.state;
	Relation	parent = state->css.ss.ss_currentRelation;
	Query	   *query = state->query->hasSubLinks ? copyObject(state->query) : state->query;
	ParamListInfo params = estate->es_param_list_info;
	ScanBounds	bounds;
	ClockRange	clocks;
	List	   *tables;
	bool		is_one;
	ListCell   *lc;

	ZbxhistEvaluateConds(state->kinds, state->values, state->css.ss.ps.ps_ExprContext,
						 AllocSetContextCreate(CurrentMemoryContext, "zbxhist change bounds",
											   ALLOCSET_SMALL_SIZES),
						 &bounds);
	if (bounds.from_clock > bounds.to_clock ||
		(bounds.items != NULL && bounds.nitems == 0) ||
		!SetTids(state, query, &params))
		return;
	clocks = clocks_of_bounds(&bounds);
	tables = LockTablesOfClocks(parent, &clocks);
	if (!ZbxhistGetPartitions(parent)->is_exhaustive || !AreLikeParent(parent, tables))
	{
		RunOn(state, query, RelationGetRelid(parent), true, params);
		return;
	}
	is_one = list_length(tables) == 1;
	foreach(lc, lappend_oid(tables, RelationGetRelid(parent)))
	{
		Oid			relid = lfirst_oid(lc);

		CHECK_FOR_INTERRUPTS();
		if ((is_one && relid == linitial_oid(tables)) ||
			HasRowsOf(relid, estate->es_snapshot, &bounds))
			RunOn(state, query, relid, false, params);
	}
}

/*
 * BeginChange prepares the conditions.
 */
static void
BeginChange(CustomScanState *node, EState *estate, int eflags)
{
	ChangeState *state = (ChangeState *) node;
	CustomScan *scan = (CustomScan *) node->ss.ps.plan;

	state->query = list_nth(scan->custom_private, CHANGE_QUERY);
	state->kinds = list_nth(scan->custom_private, CHANGE_CONDS);
	state->values = ExecInitExprList(scan->custom_exprs, &node->ss.ps);
}

/*
 * ExecChange makes all changes at once, and returns no row.
 */
static TupleTableSlot *
ExecChange(CustomScanState *node)
{
	ChangeState *state = (ChangeState *) node;
	MemoryContext old = MemoryContextSwitchTo(node->ss.ps.state->es_query_cxt);

	RunOnTables(state);
	MemoryContextSwitchTo(old);
	return NULL;
}

/*
 * EndChange has nothing to do: what ran has ended, or the transaction has.
 */
static void
EndChange(CustomScanState *node)
{
}

/*
 * ReScanChange is never called: the node is part of no other.
 */
static void
ReScanChange(CustomScanState *node)
{
}

/*
 * ExplainChange shows the conditions, and with ANALYZE how many tables have been
 * changed.
 */
static void
ExplainChange(CustomScanState *node, List *ancestors, ExplainState *es)
{
	const ChangeState *state = (const ChangeState *) node;
	List	   *context = set_deparse_context_plan(es->deparse_cxt, node->ss.ps.plan,
												   ancestors);

	ExplainPropertyText("Change Cond",
						deparse_expression(eval_const_expressions(NULL,
																  state->query->jointree->quals),
										   context, shows_table_names(es), false), es);
	if (es->analyze)
		ExplainPropertyInteger("Tables Changed", NULL, state->ntables, es);
}

static const CustomExecMethods change_methods = {
	.CustomName = "ZbxhistChange",
	.BeginCustomScan = BeginChange,
	.ExecCustomScan = ExecChange,
	.EndCustomScan = EndChange,
	.ReScanCustomScan = ReScanChange,
	.ExplainCustomScan = ExplainChange
};

const ScanNode zbxhist_change_scan = {
	.methods = {"ZbxhistChange", create_scan_state},
	.state_size = sizeof(ChangeState),
	.exec_methods = &change_methods
};

/* ---- snapshots that are older than locks ---- */

/*
 * A session that changes or locks rows of a parent waits for moves of its rows
 * before it takes its snapshot, see tables/move_lock.c.  Two kinds of statements
 * have one by then:
 *
 * - those that a utility statement executes: EXPLAIN ANALYZE, EXECUTE, DECLARE
 *	 CURSOR and COPY take a snapshot before they plan, or lock what a plan
 *	 needs;
 * - those that have a plan of ours from earlier, which says nothing of the move
 *	 lock.
 *
 * In READ COMMITTED a statement may see whatever has been committed before it
 * begins, so these get a new snapshot here, before they begin.
 */

/*
 * IsRoutedTable says whether a locked table is a parent.
 */
static bool
IsRoutedTable(Oid relid)
{
	Relation	rel = table_open(relid, NoLock);
	bool		result = ZbxhistIsRouted(rel);

	table_close(rel, NoLock);
	return result;
}

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
			IsRoutedTable(rte->relid))
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
	const PlannedStmt *stmt = query->plannedstmt;
	bool		is_old = GetChange(stmt) != NULL &&
		ZbxhistBeginChanging(linitial_node(RangeTblEntry, stmt->rtable)->relid);
	bool		is_active;

	if (!is_old)
		is_old = ZbxhistSnapshotIsOld() && ChangesParent(stmt);
	if (!is_old || IsolationUsesXactSnapshot() ||
		query->crosscheck_snapshot != InvalidSnapshot)
		return;
	is_active = ActiveSnapshotSet() && query->snapshot == GetActiveSnapshot();
	UnregisterSnapshot(query->snapshot);
	/* whoever starts the query has made it the active one, and pops it */
	if (is_active)
	{
		PopActiveSnapshot();
		PushActiveSnapshot(GetTransactionSnapshot());
	}
	query->snapshot = RegisterSnapshot(is_active ? GetActiveSnapshot() :
									   GetTransactionSnapshot());
}

/* ---- rows that would get other keys ---- */

/*
 * RefuseNewKey raises an error if columns, which a query may give new values in a parent,
 * has one by which rows are found.
 */
static void
RefuseNewKey(Relation parent, const Bitmapset *columns)
{
	int			column =
		bms_next_member(bms_int_members(ZbxhistKeyAttributes(parent), columns), -1);

	if (column >= 0)
		ZbxhistRaiseNewKey(parent, column + FirstLowInvalidHeapAttributeNumber);
}

/*
 * ZbxhistRefuseNewKeys is called before a query is started.  It raises an error if the
 * query would give rows of a parent another itemid, clock or ns: only INSERT looks for a
 * key in all partitions and packed days.
 */
void
ZbxhistRefuseNewKeys(QueryDesc *query)
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
		if (ZbxhistIsRouted(parent))
			RefuseNewKey(parent, columns);
		table_close(parent, NoLock);
	}
}
