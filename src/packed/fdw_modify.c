/*-------------------------------------------------------------------------
 *
 * fdw_modify.c
 *	  DELETE and UPDATE of packed rows, one by one.
 *
 * A row is named by its itemid and ctid (fdw_scan.c).  Changes are collected
 * and written together, before AFTER triggers fire; the day is locked against other changes before the
 * first one, so what is said of a row then stays true.  The key of a row
 * cannot be changed, and rows are not inserted: new ones go to the parent.
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
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "packed/day_changes.h"
#include "packed/fdw.h"
#include "packed/fdw_plan.h"
#include "packed/fdw_scan.h"

/* columns of the plan that name a row */
#define JUNK_TID "ctid"
#define JUNK_ITEMID "zbxhist_itemid"
#define JUNK_NS "zbxhist_ns"
#define JUNK_ROW "wholerow"

typedef struct FdwModifyState
{
	Relation	table;
	Relation	parent;
	DayChanges *changes;
	AttrNumber	tid;			/* in the plan's rows */
	AttrNumber	itemid;
	AttrNumber	ns;				/* or 0 */
	AttrNumber	row;			/* or 0 */
	AttrNumber	itemid_attnum;	/* in the table's rows */
	AttrNumber	clock_attnum;
	AttrNumber	ns_attnum;		/* or 0 */
	bool		has_tid_alone;	/* rows are named by nothing but a ctid */
} FdwModifyState;

/* a search in the conditions on relation varno */
typedef struct ConditionSearch
{
	Index		varno;
	AttrNumber	itemid;
	bool		has_tid;		/* some are on its ctid */
	bool		has_one_item;	/* one leaves a single item, or that of another
								 * relation's row */
} ConditionSearch;

/* ---- planning ---- */

/*
 * AddJunk adds a column to the plan's rows.
 */
static void
AddJunk(PlannerInfo *root, Index rtindex, AttrNumber attnum, Oid type,
		const char *name)
{
	add_row_identity_var(root, makeVar(rtindex, attnum, type, -1, InvalidOid,
									   0), rtindex, name);
}

/*
 * AddForeignUpdateTargets adds what names a row.  For UPDATE, PostgreSQL
 * itself adds the whole row.
 */
static void
AddForeignUpdateTargets(PlannerInfo *root, Index rtindex,
						RangeTblEntry *rte, Relation table)
{
	AttrNumber	itemid = ZbxhistFindTyped(table, "itemid", INT8OID);
	AttrNumber	ns = ZbxhistFindTyped(table, "ns", INT4OID);

	if (itemid == InvalidAttrNumber ||
		ZbxhistFindTyped(table, "clock", INT4OID) == InvalidAttrNumber)
		ereport(ERROR,
				errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				errmsg("cannot change foreign table \"%s\"",
					   RelationGetRelationName(table)),
				errdetail("It needs columns \"itemid\" of type bigint and \"clock\" of type integer."),
				errtable(table));
	AddJunk(root, rtindex, SelfItemPointerAttributeNumber, TIDOID, JUNK_TID);
	AddJunk(root, rtindex, itemid, INT8OID, JUNK_ITEMID);
	if (root->parse->commandType == CMD_UPDATE && ns != InvalidAttrNumber)
		AddJunk(root, rtindex, ns, INT4OID, JUNK_NS);
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
 * FindTid is a walker that finds out whether the ctid is mentioned.
 */
static bool
FindTid(Node *node, ConditionSearch *search)
{
	Var		   *var = (Var *) node;

	if (node == NULL)
		return false;
	if (IsA(node, Var) && var->varno == search->varno &&
		var->varlevelsup == 0 &&
		var->varattno == SelfItemPointerAttributeNumber)
		search->has_tid = true;
	return expression_tree_walker(node, FindTid, search);
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
	ConditionSearch search = {.varno = root->parse->resultRelation};
	RangeTblEntry *rte = planner_rt_fetch(search.varno, root);

	search.itemid = get_attnum(rte->relid, "itemid");
	(void) FindTid((Node *) root->parse->jointree, &search);
	(void) FindOneItem((Node *) root->parse->jointree, &search);
	return search.has_tid && !search.has_one_item;
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
	state->table = table;
	state->tid = ExecFindJunkAttributeInTlist(targets, JUNK_TID);
	state->itemid = ExecFindJunkAttributeInTlist(targets, JUNK_ITEMID);
	state->ns = ExecFindJunkAttributeInTlist(targets, JUNK_NS);
	state->row = ExecFindJunkAttributeInTlist(targets, JUNK_ROW);
	state->itemid_attnum = ZbxhistFindTyped(table, "itemid", INT8OID);
	state->clock_attnum = ZbxhistFindTyped(table, "clock", INT4OID);
	state->ns_attnum = ZbxhistFindTyped(table, "ns", INT4OID);
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
 * GetChanges returns the changes, which begin with the first row.
 */
static DayChanges *
GetChanges(FdwModifyState *state, EState *estate, AclMode privilege)
{
	MemoryContext old;

	if (state->changes != NULL)
		return state->changes;
	if (state->has_tid_alone)
		RaiseTidAlone(state);
	old = MemoryContextSwitchTo(estate->es_query_cxt);
	state->parent = table_open(ZbxhistForeignParent(state->table),
							   AccessShareLock);
	state->changes = ZbxhistBeginDayChanges(state->parent,
											ZbxhistDaysUser(state->table),
											privilege, estate->es_snapshot);
	MemoryContextSwitchTo(old);
	return state->changes;
}

/*
 * GetRowId reads the name of a row from the plan's row.
 */
static void
GetRowId(const FdwModifyState *state, TupleTableSlot *plan_slot,
		 PackedRowId *id)
{
	bool		tid_isnull;
	bool		itemid_isnull;
	Datum		tid = ExecGetJunkAttribute(plan_slot, state->tid,
										   &tid_isnull);
	Datum		itemid = ExecGetJunkAttribute(plan_slot, state->itemid,
											  &itemid_isnull);

	if (tid_isnull || itemid_isnull)
		elog(ERROR, "row of foreign table \"%s\" has no name",
			 RelationGetRelationName(state->table));
	id->itemid = DatumGetInt64(itemid);
	if (!ZbxhistGetPackedTid((ItemPointer) DatumGetPointer(tid), id))
		elog(ERROR, "ctid of foreign table \"%s\" is invalid",
			 RelationGetRelationName(state->table));
}

/*
 * ExecForeignDelete deletes a row.  With RETURNING, slot gets what it was.
 */
static TupleTableSlot *
ExecForeignDelete(EState *estate, ResultRelInfo *rri, TupleTableSlot *slot,
				  TupleTableSlot *plan_slot)
{
	FdwModifyState *state = rri->ri_FdwState;
	DayModify  *modify;
	PackedRowId id;
	Datum		row;
	bool		isnull;

	GetRowId(state, plan_slot, &id);
	modify = ZbxhistChangesOfDay(GetChanges(state, estate, ACL_DELETE),
								 id.clock);
	if (modify == NULL || !ZbxhistDayDeleteRow(modify, &id))
		return NULL;
	if (rri->ri_projectReturning == NULL)
		return slot;
	row = ExecGetJunkAttribute(plan_slot, state->row, &isnull);
	ExecStoreHeapTupleDatum(row, slot);
	ZbxhistSetPackedTid(&slot->tts_tid, &id);
	return slot;
}

/*
 * HasInt says whether a column of slot is that number.
 */
static bool
HasInt(TupleTableSlot *slot, AttrNumber attnum, int32 number)
{
	bool		isnull;
	Datum		value = slot_getattr(slot, attnum, &isnull);

	return !isnull && DatumGetInt32(value) == number;
}

/*
 * CheckKey raises an error unless the new row has the old one's key.
 */
static void
CheckKey(const FdwModifyState *state, TupleTableSlot *slot,
		 TupleTableSlot *plan_slot, const PackedRowId *id)
{
	bool		isnull;
	bool		is_same =
		DatumGetInt64(slot_getattr(slot, state->itemid_attnum,
								   &isnull)) == id->itemid && !isnull &&
		HasInt(slot, state->clock_attnum, id->clock);

	if (is_same && state->ns_attnum != InvalidAttrNumber)
	{
		Datum		ns = ExecGetJunkAttribute(plan_slot, state->ns, &isnull);
		bool		new_isnull;

		(void) slot_getattr(slot, state->ns_attnum, &new_isnull);
		is_same = isnull ? new_isnull :
			HasInt(slot, state->ns_attnum, DatumGetInt32(ns));
	}
	if (!is_same)
		ereport(ERROR,
				errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				errmsg("cannot change \"itemid\", \"clock\" or \"ns\" of a row of a packed day"),
				errhint("Unpack the day with zbxhist.unpack() first."),
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
 * ExecForeignUpdate replaces a row by slot.
 */
static TupleTableSlot *
ExecForeignUpdate(EState *estate, ResultRelInfo *rri, TupleTableSlot *slot,
				  TupleTableSlot *plan_slot)
{
	FdwModifyState *state = rri->ri_FdwState;
	DayModify  *modify;
	PackedRowId id;

	GetRowId(state, plan_slot, &id);
	CheckKey(state, slot, plan_slot, &id);
	CheckRow(estate, rri, slot);
	modify = ZbxhistChangesOfDay(GetChanges(state, estate, ACL_UPDATE),
								 id.clock);
	if (modify == NULL || !ZbxhistDayUpdateRow(modify, &id, slot))
		return NULL;
	ZbxhistSetPackedTid(&slot->tts_tid, &id);
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
	ZbxhistEndDayChanges(state->changes);
	table_close(state->parent, NoLock);
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
 * locks: SELECT FOR UPDATE locks rows of the other children, and UPDATE and
 * DELETE lock the day.
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
