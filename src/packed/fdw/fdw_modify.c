/*-------------------------------------------------------------------------
 *
 * fdw_modify.c
 *	  DELETE and UPDATE of packed rows, one by one.
 *
 * A row is named by its itemid and ctid (fdw_scan.c).  Changes are collected
 * and written together, before AFTER triggers fire; the day is locked against other changes before the
 * first one, so what is said of a row then stays true.  For one that another
 * transaction has changed since the statement's snapshot, the plan is evaluated
 * again.  The key of a row cannot be changed, and rows are not inserted: new ones go to the parent.
 *
 * Rows of several items may have the same ctid.  A statement that asks for rows
 * by ctid without saying of which item would reach others than were meant, so
 * it is refused when it comes to a packed row.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "access/sysattr.h"
#include "access/table.h"
#include "catalog/pg_opfamily.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/appendinfo.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "packed/changes/day_changes.h"
#include "packed/changes/day_conflicts.h"
#include "packed/changes/day_modify.h"
#include "packed/changes/row_lock.h"
#include "packed/fdw/fdw.h"
#include "packed/fdw/fdw_newest.h"
#include "packed/fdw/fdw_scan.h"
#include "packed/fdw/moved_rows.h"
#include "packed/fdw/row_key.h"

/* columns of the plan that name a row */
#define JUNK_TID "ctid"
#define JUNK_ROW "wholerow"

typedef struct FdwModifyState
{
	ModifyTableState *node;
	Relation	table;
	DayChanges *changes;
	MovedRows  *moved;			/* NULL: none yet */
	RowKey	   *key;
	AttrNumber	tid;			/* in the plan's rows */
	AttrNumber	row;			/* or 0 */
	bool		has_tid_alone;	/* rows are named by nothing but a ctid */
	bool		has_join;		/* the plan may give a row more than once */
	TupleTableSlot *newest;		/* a row that others have changed; or NULL */
	RowKey	   *newest_key;
	HTAB	   *done;			/* PackedRowId of those evaluated again or
								 * moved, and with a join of all; zeros
								 * between their parts */
} FdwModifyState;

/* a row that is to be changed */
typedef struct ModifiedRow
{
	PackedRowId id;
	int64		position;
	DayModify  *modify;			/* NULL: its day is gone */
	bool		is_newest;		/* it has been evaluated again, as it is now */
	TupleTableSlot *plan_slot;	/* the plan's row */
} ModifiedRow;

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
 * AddForeignUpdateTargets adds what names a row.  For UPDATE, PostgreSQL
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
 * RaiseCannotInsert raises the error for INSERT and COPY.
 */
static void
RaiseCannotInsert(Relation table)
{
	ereport(ERROR,
			errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			errmsg("cannot insert into foreign table \"%s\"",
				   RelationGetRelationName(table)),
			errdetail("It stands for packed days."),
			errhint("Insert into the managed table."),
			errtable(table));
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
 * HasTidAlone says whether a query finds the rows that it changes by their
 * ctids, without saying of which item each is.
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
 * PlanForeignModify refuses INSERT, and notes whether the statement names rows
 * by nothing but a ctid.
 */
static List *
PlanForeignModify(PlannerInfo *root, ModifyTable *plan, Index rtindex,
				  int subplan)
{
	if (plan->operation == CMD_INSERT)
	{
		RangeTblEntry *rte = planner_rt_fetch(rtindex, root);

		RaiseCannotInsert(table_open(rte->relid, NoLock));
	}
	return list_make1_int(HasTidAlone(root));
}

/*
 * IsForeignRelUpdatable says that all statements reach us; INSERT gets an
 * error that tells what to do instead.
 */
static int
IsForeignRelUpdatable(Relation rel)
{
	return (1 << CMD_INSERT) | (1 << CMD_UPDATE) | (1 << CMD_DELETE);
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
	FdwModifyState *state;

	if (eflags & EXEC_FLAG_EXPLAIN_ONLY)
		return;
	state = palloc0(sizeof(FdwModifyState));
	state->node = mtstate;
	state->table = table;
	state->tid = ExecFindJunkAttributeInTlist(targets, JUNK_TID);
	state->row = ExecFindJunkAttributeInTlist(targets, JUNK_ROW);
	state->key = ZbxhistBeginRowKey(table, targets);
	state->has_tid_alone = linitial_int(private);
	rri->ri_FdwState = state;
}

/*
 * RaiseTidAlone raises the error for a row that is named by a ctid alone.
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
 * FindJoin is a walker that says whether a plan has a join.
 */
static bool
FindJoin(PlanState *node, void *context)
{
	return IsA(node, NestLoopState) || IsA(node, MergeJoinState) ||
		IsA(node, HashJoinState) ||
		planstate_tree_walker(node, FindJoin, context);
}

/*
 * GetChanges returns the changes, which begin with the first row.
 */
static DayChanges *
GetChanges(FdwModifyState *state, EState *estate)
{
	MemoryContext old;

	if (state->changes != NULL)
		return state->changes;
	if (state->has_tid_alone)
		RaiseTidAlone(state);
	state->has_join = FindJoin(outerPlanState(state->node), NULL);
	old = MemoryContextSwitchTo(estate->es_query_cxt);
	state->changes = ZbxhistBeginDayChanges(state->table, estate->es_snapshot);
	MemoryContextSwitchTo(old);
	return state->changes;
}

/*
 * GetRow reads the name of the row that the plan's row is for, and locks it.
 */
static void
GetRow(FdwModifyState *state, EState *estate, TupleTableSlot *plan_slot,
	   LOCKMODE mode, ModifiedRow *row)
{
	bool		isnull;
	Datum		tid = ExecGetJunkAttribute(plan_slot, state->tid, &isnull);

	memset(row, 0, sizeof(ModifiedRow));
	if (isnull ||
		!ZbxhistGetItemid(state->key, estate, plan_slot, &row->id.itemid))
		elog(ERROR, "row of foreign table \"%s\" has no name",
			 RelationGetRelationName(state->table));
	if (!get_packed_tid((ItemPointer) DatumGetPointer(tid), &row->id))
		elog(ERROR, "ctid of foreign table \"%s\" is invalid",
			 RelationGetRelationName(state->table));
	row->position = make_position(row->id.clock,
								  ZbxhistGetNs(state->key, plan_slot));
	row->plan_slot = plan_slot;
	row->modify = ZbxhistChangesOfRow(GetChanges(state, estate),
									  row->id.itemid, row->position, mode);
}

/* ---- rows that others have changed meanwhile ---- */

/*
 * IsFirstTime notes that a row is evaluated again, moved, or changed; returns false if
 * it has been before: then it has been changed by this statement.
 */
static bool
IsFirstTime(FdwModifyState *state, EState *estate, const PackedRowId *id)
{
	HASHCTL		ctl = {.keysize = sizeof(PackedRowId),.entrysize = sizeof(PackedRowId),.hcxt = estate->es_query_cxt};
	bool		found;

	if (state->done == NULL)
		state->done = hash_create("zbxhist changed rows", 64, &ctl,
								  HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	(void) hash_search(state->done, id, HASH_ENTER, &found);
	return !found;
}

/*
 * WasChanged says whether a join has given a row before, which has been changed.
 */
static bool
WasChanged(const FdwModifyState *state, const PackedRowId *id)
{
	return state->has_join && state->done != NULL &&
		hash_search(state->done, id, HASH_FIND, NULL) != NULL;
}

/*
 * HasTriggers says whether a new row has come from more than the plan's row.
 */
static bool
HasTriggers(const ResultRelInfo *rri)
{
	const TupleConstr *constr = rri->ri_RelationDesc->rd_att->constr;

	return (rri->ri_TrigDesc != NULL &&
			(rri->ri_TrigDesc->trig_update_before_row ||
			 rri->ri_TrigDesc->trig_delete_before_row)) ||
		(constr != NULL && constr->has_generated_stored);
}

/*
 * BeginNewest prepares for reading rows as others have left them.
 */
static void
BeginNewest(FdwModifyState *state, EState *estate)
{
	MemoryContext old = MemoryContextSwitchTo(estate->es_query_cxt);

	state->newest = ExecInitExtraTupleSlot(estate,
										   RelationGetDescr(state->table),
										   &TTSOpsHeapTuple);
	state->newest_key = ZbxhistBeginRowKey(state->table, NIL);
	MemoryContextSwitchTo(old);
}

/*
 * EvaluateAgain evaluates the plan for a row as another transaction has left it,
 * as PostgreSQL does for its own tables; returns false if it is not to be changed
 * any more.
 */
static bool
EvaluateAgain(FdwModifyState *state, EState *estate, ResultRelInfo *rri,
			  ModifiedRow *row)
{
	EPQState   *epq = &state->node->mt_epqstate;
	TupleTableSlot *test;
	bool		isnull;
	Datum		tid;

	if (!IsFirstTime(state, estate, &row->id))
		return false;
	if (HasTriggers(rri))
		ZbxhistRaiseChanged();
	if (state->newest == NULL)
		BeginNewest(state, estate);
	if (ZbxhistReadNewest(state->table, RelationGetRelid(row->modify->day),
						  state->newest_key, NULL, row->id.itemid,
						  row->position, state->newest) != ROW_CHANGED)
		return false;
	test = EvalPlanQualSlot(epq, state->table, rri->ri_RangeTableIndex);
	ExecCopySlot(test, state->newest);
	test->tts_tid = state->newest->tts_tid;
	test->tts_tableOid = RelationGetRelid(state->table);
	row->plan_slot = EvalPlanQual(epq, state->table, rri->ri_RangeTableIndex,
								  test);
	if (TupIsNull(row->plan_slot))
		return false;
	tid = ExecGetJunkAttribute(row->plan_slot, state->tid, &isnull);
	row->is_newest = !isnull &&
		get_packed_tid((ItemPointer) DatumGetPointer(tid), &row->id);
	return row->is_newest;
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
	ModifiedRow row;
	RowState	found;
	Datum		whole;
	bool		isnull;

	GetRow(state, estate, plan_slot, ROW_LOCK_UPDATE, &row);
	if (row.modify == NULL || WasChanged(state, &row.id))
		return NULL;
	found = ZbxhistDayDeleteRow(row.modify, &row.id, false);
	if (found == ROW_CHANGED && EvaluateAgain(state, estate, rri, &row))
		found = ZbxhistDayDeleteRow(row.modify, &row.id, true);
	if (found != ROW_SAME)
		return NULL;
	if (state->has_join)
		(void) IsFirstTime(state, estate, &row.id);
	if (rri->ri_projectReturning == NULL)
		return slot;
	whole = ExecGetJunkAttribute(row.plan_slot, state->row, &isnull);
	ExecStoreHeapTupleDatum(whole, slot);
	set_packed_tid(&slot->tts_tid, &row.id);
	return slot;
}

/* ---- UPDATE ---- */

/*
 * CheckKey raises an error unless the new row has the old one's key.
 */
static void
CheckKey(const FdwModifyState *state, TupleTableSlot *slot,
		 TupleTableSlot *plan_slot)
{
	if (!ZbxhistKeepsKey(state->key, slot, plan_slot))
		ereport(ERROR,
				errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				errmsg("cannot change \"itemid\", \"clock\" or \"ns\" of a row of a packed day"),
				errhint("DELETE the row and INSERT it with its new key."),
				errtable(state->table));
}

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
 * MoveRow deletes a row from its day, whose columns are not those of slot, and
 * stores slot in the parent.
 */
static RowState
MoveRow(FdwModifyState *state, EState *estate, const ModifiedRow *row,
		TupleTableSlot *slot)
{
	MemoryContext old = MemoryContextSwitchTo(estate->es_query_cxt);
	RowState	found;

	if (state->moved == NULL)
		state->moved = ZbxhistBeginMovedRows(state->table);
	MemoryContextSwitchTo(old);
	found = ZbxhistDayDeleteRow(row->modify, &row->id, row->is_newest);
	if (found != ROW_SAME)
		return found;
	if (!row->is_newest && !IsFirstTime(state, estate, &row->id))
		return ROW_GONE;
	ZbxhistMoveRow(state->moved, row->id.clock, slot, estate->es_output_cid);
	return ROW_SAME;
}

/*
 * UpdateRow replaces a row by slot, if it is as it was.
 */
static RowState
UpdateRow(FdwModifyState *state, EState *estate, ResultRelInfo *rri,
		  const ModifiedRow *row, TupleTableSlot *slot)
{
	CheckKey(state, slot, row->plan_slot);
	CheckRow(estate, rri, slot);
	return row->modify->is_altered ? MoveRow(state, estate, row, slot) :
		ZbxhistDayUpdateRow(row->modify, &row->id, row->is_newest, slot);
}

/*
 * ExecForeignUpdate replaces a row by slot.
 */
static TupleTableSlot *
ExecForeignUpdate(EState *estate, ResultRelInfo *rri, TupleTableSlot *slot,
				  TupleTableSlot *plan_slot)
{
	FdwModifyState *state = rri->ri_FdwState;
	ModifiedRow row;
	RowState	found;

	GetRow(state, estate, plan_slot, ROW_LOCK_NO_KEY_UPDATE, &row);
	if (row.modify == NULL || WasChanged(state, &row.id))
		return NULL;
	found = UpdateRow(state, estate, rri, &row, slot);
	if (found == ROW_CHANGED && EvaluateAgain(state, estate, rri, &row))
	{
		ExecCopySlot(rri->ri_oldTupleSlot, state->newest);
		slot = ExecGetUpdateNewTuple(rri, row.plan_slot, rri->ri_oldTupleSlot);
		found = UpdateRow(state, estate, rri, &row, slot);
	}
	if (found != ROW_SAME)
		return NULL;
	if (state->has_join)
		(void) IsFirstTime(state, estate, &row.id);
	set_packed_tid(&slot->tts_tid, &row.id);
	return slot;
}

/*
 * EndForeignModify writes the changes.
 */
static void
EndForeignModify(EState *estate, ResultRelInfo *rri)
{
	FdwModifyState *state = rri->ri_FdwState;

	if (state == NULL || state->changes == NULL)
		return;
	if (state->moved != NULL)
		ZbxhistEndMovedRows(state->moved);
	state->moved = NULL;
	ZbxhistEndDayChanges(state->changes);
	state->changes = NULL;
}

/*
 * WriteChangesOf writes the changes of one ModifyTable.
 */
static void
WriteChangesOf(EState *estate, ModifyTableState *node)
{
	for (int i = 0; i < node->mt_nrels; i++)
	{
		ResultRelInfo *rri = &node->resultRelInfo[i];

		if (rri->ri_FdwRoutine != NULL && !rri->ri_usesFdwDirectModify &&
			rri->ri_FdwRoutine->EndForeignModify == EndForeignModify)
			EndForeignModify(estate, rri);
	}
}

/*
 * ZbxhistWritePackedChanges writes the changes that a query has made so far,
 * so that its AFTER triggers see them.
 */
void
ZbxhistWritePackedChanges(QueryDesc *query)
{
	ListCell   *lc;

	if (query->planstate != NULL && IsA(query->planstate, ModifyTableState))
		WriteChangesOf(query->estate, (ModifyTableState *) query->planstate);
	foreach(lc, query->estate->es_auxmodifytables)
		WriteChangesOf(query->estate, lfirst_node(ModifyTableState, lc));
}

/* ---- INSERT ---- */

/*
 * ExecForeignInsert is not reached: INSERT fails before.
 */
static TupleTableSlot *
ExecForeignInsert(EState *estate, ResultRelInfo *rri, TupleTableSlot *slot,
				  TupleTableSlot *plan_slot)
{
	RaiseCannotInsert(rri->ri_RelationDesc);
	return NULL;
}

/*
 * BeginForeignInsert refuses COPY.
 */
static void
BeginForeignInsert(ModifyTableState *mtstate, ResultRelInfo *rri)
{
	RaiseCannotInsert(rri->ri_RelationDesc);
}

/*
 * ZbxhistFdwModifyInit sets the functions of changes.  There is none of row
 * locks: a ctid, which is all that PostgreSQL would tell, does not say of which item
 * the row is (fdw_lock.c).
 */
void
ZbxhistFdwModifyInit(FdwRoutine *routine)
{
	routine->AddForeignUpdateTargets = AddForeignUpdateTargets;
	routine->PlanForeignModify = PlanForeignModify;
	routine->BeginForeignModify = BeginForeignModify;
	routine->ExecForeignInsert = ExecForeignInsert;
	routine->ExecForeignUpdate = ExecForeignUpdate;
	routine->ExecForeignDelete = ExecForeignDelete;
	routine->EndForeignModify = EndForeignModify;
	routine->BeginForeignInsert = BeginForeignInsert;
	routine->IsForeignRelUpdatable = IsForeignRelUpdatable;
}
