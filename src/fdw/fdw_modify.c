/*-------------------------------------------------------------------------
 *
 * fdw_modify.c
 *	  DELETE and UPDATE of packed rows, one by one; TRUNCATE.
 *
 * A row is named by its itemid and ctid (fdw_scan.c).  Changes are collected and written
 * together, before AFTER triggers fire (packed/day_changes.c).  If another transaction
 * has changed a row, the statement fails, because its conditions are not evaluated again.
 * Only if the conditions are on columns of the key alone, and there is no join, its scan
 * waits for the other transaction and reads the day again (fdw_scan.c).  The key of a row
 * cannot be changed.  Rows are not inserted: new ones go to the parent.
 *
 * Rows of several items may have the same ctid.  A statement that names rows by ctid
 * without an item could change other rows than were meant.  So it is refused when it
 * reaches a packed row.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "access/sysattr.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/pg_opfamily.h"
#include "catalog/pg_type.h"
#include "commands/tablecmds.h"
#include "executor/executor.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/appendinfo.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "compat.h"
#include "fdw/fdw.h"
#include "fdw/fdw_plan.h"
#include "fdw/row_key.h"
#include "packed/day_changes.h"
#include "packed/day_conflicts.h"
#include "tables/packed_table.h"

/* columns of the plan that name a row */
#define JUNK_TID "ctid"
#define JUNK_ROW "wholerow"

/* members of what is planned */
enum ModifyPlanPart
{
	MODIFY_HAS_TID_ALONE,		/* only a ctid identifies the rows */
	MODIFY_LOOKS_AGAIN,			/* rows were found in their current version */
	MODIFY_NEW_KEY				/* key column that gets a value, or 0 */
};

typedef struct FdwModifyState
{
	Relation	table;
	DayChanges *changes;		/* NULL: none yet */
	RowKey	   *key;
	AttrNumber	tid;			/* in the plan's rows */
	AttrNumber	row;			/* or 0 */
	bool		has_tid_alone;
	bool		looks_again;
} FdwModifyState;

/* a search in the conditions on relation varno */
typedef struct ConditionSearch
{
	Index		varno;
	AttrNumber	itemid;
	bool		has_one_item;	/* one leaves a single item, or that of
								 * another relation's row */
} ConditionSearch;

/* ---- planning ---- */

/*
 * AddForeignUpdateTargets adds the columns that identify a row.  For UPDATE, PostgreSQL
 * itself adds the whole row.
 */
static void
AddForeignUpdateTargets(PlannerInfo *root, Index rtindex,
						RangeTblEntry *rte, Relation table)
{
	add_row_identity_var(root, makeVar(rtindex, SelfItemPointerAttributeNumber,
									   TIDOID, -1, InvalidOid, 0),
						 rtindex, JUNK_TID);
	ZbxhistAddKeyJunk(root, rtindex, table);
	if (root->parse->commandType == CMD_DELETE &&
		root->parse->returningList != NIL)
		add_row_identity_var(root, makeWholeRowVar(rte, rtindex, 0, false),
							 rtindex, JUNK_ROW);
}

/*
 * IsItem says whether an expression is the itemid.
 */
static bool
IsItem(const Node *expr, const ConditionSearch *search)
{
	const Var  *var = (const Var *) expr;

	return IsA(expr, Var) && var->varno == search->varno &&
		var->varlevelsup == 0 && var->varattno == search->itemid;
}

/*
 * FindOneItem is a walker that finds out whether conditions that are ANDed
 * say that the itemid is equal to something.
 */
static bool
FindOneItem(Node *node, ConditionSearch *search)
{
	OpExpr	   *op = (OpExpr *) node;
	JoinExpr   *join = (JoinExpr *) node;

	if (node == NULL)
		return false;
	if (IsA(node, JoinExpr) && join->jointype != JOIN_INNER &&
		join->jointype != JOIN_SEMI)
		return FindOneItem(join->larg, search);
	if (IsA(node, OpExpr) && list_length(op->args) == 2 &&
		op_in_opfamily(op->opno, INTEGER_BTREE_FAM_OID) &&
		get_op_opfamily_strategy(op->opno, INTEGER_BTREE_FAM_OID) ==
		BTEqualStrategyNumber &&
		IsItem(linitial(op->args), search) != IsItem(lsecond(op->args), search))
		search->has_one_item = true;
	if (IsA(node, List) || IsA(node, FromExpr) || IsA(node, JoinExpr) ||
		is_andclause(node))
		return expression_tree_walker(node, FindOneItem, search);
	return false;
}

/*
 * HasTidAlone says whether a query finds the rows that it changes by their ctids, without
 * a condition on the item.
 */
static bool
HasTidAlone(PlannerInfo *root)
{
	Node	   *conditions = (Node *) root->parse->jointree;
	ConditionSearch search = {.varno = root->parse->resultRelation};
	RangeTblEntry *rte = planner_rt_fetch(search.varno, root);
	Bitmapset  *columns = NULL;

	search.itemid = get_attnum(rte->relid, "itemid");
	(void) FindOneItem(conditions, &search);
	pull_varattnos(conditions, search.varno, &columns);
	return !search.has_one_item &&
		bms_is_member(SelfItemPointerAttributeNumber -
					  FirstLowInvalidHeapAttributeNumber, columns);
}

/*
 * FindScan returns the scan of relation rtindex if its rows reach the plan
 * directly, with any columns, else NULL.
 */
static ForeignScan *
FindScan(ModifyTable *plan, Index rtindex)
{
	Plan	   *subplan = outerPlan(plan);
	List	   *candidates;
	ListCell   *lc;

	if (IsA(subplan, Result) && outerPlan(subplan) != NULL &&
		((Result *) subplan)->resconstantqual == NULL)
		subplan = outerPlan(subplan);
	candidates = list_make1(subplan);
	if (IsA(subplan, Append))
		candidates = ((Append *) subplan)->appendplans;
	foreach(lc, candidates)
	{
		ForeignScan *scan = lfirst(lc);

		if (IsA(scan, ForeignScan) && scan->scan.scanrelid == rtindex)
			return scan;
	}
	return NULL;
}

/*
 * LetScanLookAgain lets the scan that finds the rows of a change read each day as it is
 * when it is locked.  That is correct if the conditions are on key columns and ctid only:
 * these never change, so each row that satisfies them then is to be changed.  Returns
 * whether it does so.
 */
static bool
LetScanLookAgain(PlannerInfo *root, ModifyTable *plan, Index rtindex)
{
	ForeignScan *scan = FindScan(plan, rtindex);
	Bitmapset  *columns = NULL;
	bool		result = true;

	if (scan == NULL)
		return false;
	/* usually none are left: the scan has used all */
	if (scan->scan.plan.qual != NIL)
	{
		Relation	table = table_open(planner_rt_fetch(rtindex, root)->relid, NoLock);

		pull_varattnos((Node *) scan->scan.plan.qual, rtindex, &columns);
		result = bms_is_subset(columns, ZbxhistKeyAttributes(table)) &&
			!contain_subplans((Node *) scan->scan.plan.qual) &&
			!contain_volatile_functions((Node *) scan->scan.plan.qual);
		table_close(table, NoLock);
	}
	if (result)
		lfirst(list_nth_cell(scan->fdw_private, PLAN_LOOKS_AGAIN)) = list_make1_int(true);
	return result;
}

/*
 * FindNewKey returns a column of the key to which an UPDATE gives a value, or 0.
 */
static AttrNumber
FindNewKey(PlannerInfo *root, const ModifyTable *plan, Index rtindex,
		   int subplan)
{
	Relation	table;
	Bitmapset  *keys;
	AttrNumber	result = InvalidAttrNumber;
	ListCell   *lc;

	if (plan->operation != CMD_UPDATE)
		return InvalidAttrNumber;
	table = table_open(planner_rt_fetch(rtindex, root)->relid, NoLock);
	keys = ZbxhistKeyAttributes(table);
	foreach(lc, (List *) list_nth(plan->updateColnosLists, subplan))
	{
		if (bms_is_member(lfirst_int(lc) - FirstLowInvalidHeapAttributeNumber, keys))
			result = lfirst_int(lc);
	}
	table_close(table, NoLock);
	return result;
}

/*
 * PlanForeignModify notes how the statement finds rows, and what it must not change.
 */
static List *
PlanForeignModify(PlannerInfo *root, ModifyTable *plan, Index rtindex,
				  int subplan)
{
	/* which will fail */
	if (plan->operation == CMD_INSERT)
		return NIL;
	return list_make3_int(HasTidAlone(root),
						  LetScanLookAgain(root, plan, rtindex),
						  FindNewKey(root, plan, rtindex, subplan));
}

/* ---- execution ---- */

/*
 * BeginForeignModify prepares for changes.
 */
static void
BeginForeignModify(ModifyTableState *mtstate, ResultRelInfo *rri,
				   List *private, int subplan, int eflags)
{
	Relation	table = rri->ri_RelationDesc;
	List	   *targets = outerPlanState(mtstate)->plan->targetlist;
	AttrNumber	new_key;
	FdwModifyState *state;

	if (eflags & EXEC_FLAG_EXPLAIN_ONLY)
		return;
	new_key = list_nth_int(private, MODIFY_NEW_KEY);
	if (new_key != InvalidAttrNumber)
		ZbxhistRaiseNewKey(table, new_key);
	state = palloc0(sizeof(FdwModifyState));
	state->table = table;
	state->tid = ExecFindJunkAttributeInTlist(targets, JUNK_TID);
	state->row = ExecFindJunkAttributeInTlist(targets, JUNK_ROW);
	state->key = ZbxhistBeginRowKey(table, targets);
	state->has_tid_alone = list_nth_int(private, MODIFY_HAS_TID_ALONE);
	state->looks_again = list_nth_int(private, MODIFY_LOOKS_AGAIN) &&
		!IsolationUsesXactSnapshot();
	rri->ri_FdwState = state;
}

/*
 * RaiseTidAlone raises the error for a row that is found by a ctid alone.
 */
static void
RaiseTidAlone(const FdwModifyState *state)
{
	ereport(ERROR,
			errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			errmsg("cannot change packed rows that are found by \"ctid\" alone"),
			errdetail("Packed rows of several items have the same \"ctid\"."),
			errhint("Add the condition \"itemid = ...\", one item for each statement."),
			errtable(state->table));
}

/*
 * BeginRow prepares the collection of changes at the first row, and reads which row the
 * plan's row identifies.
 */
static void
BeginRow(FdwModifyState *state, EState *estate, TupleTableSlot *plan_slot,
		 PackedRowId *id)
{
	bool		isnull;
	Datum		tid = ExecGetJunkAttribute(plan_slot, state->tid, &isnull);

	if (state->has_tid_alone)
		RaiseTidAlone(state);
	if (state->changes == NULL)
		state->changes = ZbxhistDayChangesOf(estate, state->table);
	if (isnull ||
		!ZbxhistGetItemid(state->key, estate, plan_slot, &id->itemid))
		elog(ERROR, "row of foreign table \"%s\" has no name",
			 RelationGetRelationName(state->table));
	if (!get_packed_tid((ItemPointer) DatumGetPointer(tid), id))
		elog(ERROR, "ctid of foreign table \"%s\" is invalid",
			 RelationGetRelationName(state->table));
}

/* ---- DELETE ---- */

/*
 * ExecForeignDelete deletes a row.  With RETURNING, slot gets what it was.
 */
static TupleTableSlot *
ExecForeignDelete(EState *estate, ResultRelInfo *rri, TupleTableSlot *slot,
				  TupleTableSlot *plan_slot)
{
	FdwModifyState *state = rri->ri_FdwState;
	PackedRowId id;
	Datum		whole;
	bool		isnull;

	BeginRow(state, estate, plan_slot, &id);
	if (!ZbxhistDeleteDayRow(state->changes, &id, state->looks_again))
		return NULL;
	if (rri->ri_projectReturning == NULL)
		return slot;
	whole = ExecGetJunkAttribute(plan_slot, state->row, &isnull);
	ExecStoreHeapTupleDatum(whole, slot);
	set_packed_tid(&slot->tts_tid, &id);
	return slot;
}

/* ---- UPDATE ---- */

/*
 * CheckRow raises an error if the new row breaks a constraint or a policy: of
 * foreign tables, PostgreSQL leaves that to us.
 */
static void
CheckRow(EState *estate, ResultRelInfo *rri, TupleTableSlot *slot)
{
	if (rri->ri_WithCheckOptions != NIL)
		ExecWithCheckOptions(WCO_RLS_UPDATE_CHECK, rri, slot, estate);
	if (rri->ri_RelationDesc->rd_att->constr != NULL)
		ExecConstraints(rri, slot, estate);
}

/*
 * ExecForeignUpdate replaces a row by slot.
 */
static TupleTableSlot *
ExecForeignUpdate(EState *estate, ResultRelInfo *rri, TupleTableSlot *slot,
				  TupleTableSlot *plan_slot)
{
	FdwModifyState *state = rri->ri_FdwState;
	PackedRowId id;

	BeginRow(state, estate, plan_slot, &id);
	CheckRow(estate, rri, slot);
	if (!ZbxhistUpdateDayRow(state->changes, &id, state->looks_again, slot))
		return NULL;
	set_packed_tid(&slot->tts_tid, &id);
	return slot;
}

/*
 * RunOtherParts runs data-modifying WITH queries to their end, as the executor would do
 * later.
 */
static void
RunOtherParts(EState *estate)
{
	MemoryContext old = MemoryContextSwitchTo(estate->es_query_cxt);
	TupleTableSlot *slot;
	ListCell   *lc;

	estate->es_direction = ForwardScanDirection;
	foreach(lc, estate->es_auxmodifytables)
	{
		do
		{
			ResetPerTupleExprContext(estate);
			slot = ExecProcNode(lfirst(lc));
		} while (!TupIsNull(slot));
	}
	MemoryContextSwitchTo(old);
}

/*
 * ZbxhistWritePackedChanges writes the changes of a query, before its AFTER triggers read
 * them.  All parts of the query must have run before.
 */
void
ZbxhistWritePackedChanges(QueryDesc *query)
{
	RunOtherParts(query->estate);
	ZbxhistWriteDayChanges(query->estate);
}

/* ---- TRUNCATE ---- */

/*
 * TruncateDays truncates all packed days that a foreign table stands for.
 */
static void
TruncateDays(Relation table)
{
	Relation	parent = table_open(ZbxhistForeignParent(table),
									AccessShareLock);
	int			ndays;
	PackedDay  *days = ZbxhistCopyPackedDays(ZbxhistGetPartitions(parent),
											 &ndays);
	List	   *rels = NIL;
	List	   *relids = NIL;
	ListCell   *lc;

	for (int i = 0; i < ndays; i++)
	{
		Relation	day = ZbxhistOpenDay(days[i].relid, AccessExclusiveLock);

		if (day == NULL)
			continue;
		rels = lappend(rels, day);
		relids = lappend_oid(relids, days[i].relid);
		ZbxhistNotePackedChange(days[i].relid, days[i].nrows);
	}
	if (rels != NIL)
		ExecuteTruncateGutsCompat(rels, relids, NIL, DROP_RESTRICT, false);
	foreach(lc, rels)
		table_close(lfirst(lc), NoLock);
	table_close(parent, NoLock);
}

/*
 * ExecForeignTruncate truncates foreign tables.
 */
static void
ExecForeignTruncate(List *tables, DropBehavior behavior, bool restart_seqs)
{
	ListCell   *lc;

	foreach(lc, tables)
		TruncateDays(lfirst(lc));
}

/*
 * ZbxhistFdwModifyInit sets the functions of changes.
 */
void
ZbxhistFdwModifyInit(FdwRoutine *routine)
{
	routine->AddForeignUpdateTargets = AddForeignUpdateTargets;
	routine->PlanForeignModify = PlanForeignModify;
	routine->BeginForeignModify = BeginForeignModify;
	routine->ExecForeignUpdate = ExecForeignUpdate;
	routine->ExecForeignTruncate = ExecForeignTruncate;
	routine->ExecForeignDelete = ExecForeignDelete;
}
