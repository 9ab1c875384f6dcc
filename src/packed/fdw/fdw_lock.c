/*-------------------------------------------------------------------------
 *
 * fdw_lock.c
 *	  SELECT FOR UPDATE and its like of packed rows.
 *
 * PostgreSQL asks a foreign table to lock a row by nothing but its ctid, which
 * does not say of which item the row is.  So the plan's rows bring packed rows with
 * them as a whole, and each is locked when LockRows takes it from the plan below
 * it: after joins, sorts and all conditions.
 *
 * A row that is locked is read again as it is now.  Where another transaction has
 * changed it, the plan is evaluated again for the new row, as PostgreSQL does for
 * its own tables; above READ COMMITTED that is 40001.  No move of rows begins
 * while the statement's transaction is open (rows/move_lock.c).
 *
 * Memory: the query's.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/tupconvert.h"
#include "executor/executor.h"
#include "lib/ilist.h"
#include "nodes/nodeFuncs.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/typcache.h"

#include "catalog/packed_table.h"
#include "catalog/partition_set.h"
#include "compat.h"
#include "packed/changes/day_conflicts.h"
#include "packed/changes/modify.h"
#include "packed/changes/row_lock.h"
#include "packed/fdw/fdw.h"
#include "packed/fdw/fdw_newest.h"
#include "rows/row_type.h"

/* a foreign table whose rows a LockRows locks */
typedef struct LockedTable
{
	const ExecAuxRowMark *mark;
	Relation	table;
	RowKey	   *key;
	TupleTableSlot *seen;		/* the row as the plan has it */
	TupleTableSlot *newest;		/* as it is now */
	TupleTableSlot *whole;		/* the same, of the plan's type; or NULL */
	AttrMap    *map;			/* from its columns; NULL: the same */
} LockedTable;

/* a LockRows with such */
typedef struct RowLocking
{
	LockRowsState *node;
	PlanState  *source;			/* its rows' plan */
	ExecProcNodeMtd next;		/* the function that it had */
	List	   *tables;			/* of LockedTable */
	TupleTableSlot *result;		/* a row that has been evaluated again */
	dlist_node	link;			/* in open_lockings */
	MemoryContextCallback unlink;
} RowLocking;

static dlist_head open_lockings = DLIST_STATIC_INIT(open_lockings);

/* ---- the row in the plan ---- */

/*
 * GetJunk reads what a row of the plan has of a table's row; returns false if it is of
 * another table, or has none.
 */
static bool
GetJunk(const ExecAuxRowMark *aux, TupleTableSlot *slot, AttrNumber attnum,
		Datum *value)
{
	const ExecRowMark *mark = aux->rowmark;
	bool		isnull;

	if (mark->rti != mark->prti)
	{
		*value = ExecGetJunkAttribute(slot, aux->toidAttNo, &isnull);
		if (isnull || DatumGetObjectId(*value) != mark->relid)
			return false;
	}
	*value = ExecGetJunkAttribute(slot, attnum, &isnull);
	return !isnull;
}

/*
 * BeginWhole prepares for whole rows as the plan has them.
 */
static void
BeginWhole(LockedTable *locked, HeapTupleHeader header)
{
	MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(locked));
	TupleDesc	desc = lookup_rowtype_tupdesc_copy(HeapTupleHeaderGetTypeId(header),
												   HeapTupleHeaderGetTypMod(header));

	locked->whole = MakeSingleTupleTableSlot(desc, &TTSOpsVirtual);
	locked->map = ZbxhistMapColumns(desc, locked->seen->tts_tupleDescriptor);
	MemoryContextSwitchTo(old);
}

/*
 * GetSeen sets locked->seen to the table's row in a row of the plan; returns false
 * if that is of another table.
 */
static bool
GetSeen(LockedTable *locked, TupleTableSlot *slot)
{
	Datum		value;

	if (!GetJunk(locked->mark, slot, locked->mark->wholeAttNo, &value))
		return false;
	if (locked->whole == NULL)
		BeginWhole(locked, DatumGetHeapTupleHeader(value));
	ExecStoreHeapTupleDatum(value, locked->whole);
	if (locked->map == NULL)
		ExecCopySlot(locked->seen, locked->whole);
	else
		execute_attr_map_slot(locked->map, locked->whole, locked->seen);
	return true;
}

/* ---- locking ---- */

/*
 * GetMode returns the lock that a clause asks for.
 */
static LOCKMODE
GetMode(const ExecRowMark *mark)
{
	switch (mark->strength)
	{
		case LCS_FORKEYSHARE:
			return ROW_LOCK_KEY_SHARE;
		case LCS_FORSHARE:
			return ROW_LOCK_SHARE;
		case LCS_FORNOKEYUPDATE:
			return ROW_LOCK_NO_KEY_UPDATE;
		default:
			return ROW_LOCK_UPDATE;
	}
}

/*
 * LockInDay locks the row in locked->seen, if it can be had, and says how it is by
 * then; a row that is to be skipped is as good as gone.
 */
static RowState
LockInDay(LockedTable *locked, Relation parent, int64 itemid, int64 position)
{
	const ExecRowMark *mark = locked->mark->rowmark;
	const PackedDay *found =
		ZbxhistFindPackedDay(ZbxhistGetPartitions(parent),
							 position_clock(position));
	Oid			day;

	if (found == NULL)
		ZbxhistRaiseChanged();
	day = found->relid;
	if (!ZbxhistLockRow(day, itemid, position, GetMode(mark),
						mark->waitPolicy == LockWaitBlock))
	{
		if (mark->waitPolicy == LockWaitSkip)
			return ROW_GONE;
		ereport(ERROR,
				errcode(ERRCODE_LOCK_NOT_AVAILABLE),
				errmsg("could not obtain lock on row in relation \"%s\"",
					   RelationGetRelationName(locked->table)));
	}
	/* what a function of this statement has changed counts, too */
	ZbxhistFlushDayChanges(day, NULL);
	return ZbxhistReadNewest(locked->table, day, locked->key,
							 locked->seen, itemid, position,
							 locked->newest);
}

/*
 * LockSeen does so by the row's key.
 */
static RowState
LockSeen(LockedTable *locked, EState *estate)
{
	Relation	parent = table_open(ZbxhistForeignParent(locked->table),
									AccessShareLock);
	int64		itemid;
	RowState	result;

	if (!ZbxhistGetItemid(locked->key, estate, locked->seen, &itemid))
		elog(ERROR, "row of foreign table \"%s\" has no name",
			 RelationGetRelationName(locked->table));
	result = LockInDay(locked, parent, itemid,
					   ZbxhistGetPosition(locked->key, locked->seen));
	table_close(parent, NoLock);
	return result;
}

/* ---- evaluating again ---- */

/*
 * FetchOthers fetches the rows of other tables, which LockRows is going to lock, that
 * belong to a row of the plan.
 */
static void
FetchOthers(const RowLocking *locking, TupleTableSlot *slot)
{
	ListCell   *lc;

	foreach(lc, locking->node->lr_arowMarks)
	{
		ExecAuxRowMark *aux = lfirst(lc);
		ExecRowMark *mark = aux->rowmark;
		TupleTableSlot *other = EvalPlanQualSlot(&locking->node->lr_epqstate,
												 mark->relation, mark->rti);
		Datum		value;

		ExecClearTuple(other);
		if (!GetJunk(aux, slot, aux->ctidAttNo, &value))
			continue;
		/* another wrapper's tables lock what they fetch */
		if (mark->relation->rd_rel->relkind == RELKIND_FOREIGN_TABLE)
			ZbxhistRaiseChanged();
		if (!table_tuple_fetch_row_version(mark->relation,
										   (ItemPointer) DatumGetPointer(value),
										   SnapshotAny, other))
			elog(ERROR, "failed to fetch tuple for EvalPlanQual recheck");
	}
}

/*
 * Reevaluate evaluates the plan for a row of it in which the table's row is
 * locked->newest; returns NULL if it does not satisfy the query's conditions.
 */
static TupleTableSlot *
Reevaluate(RowLocking *locking, LockedTable *locked, TupleTableSlot *slot)
{
	EPQState   *epq = &locking->node->lr_epqstate;
	TupleTableSlot **given =
		&epq->relsubs_slot[locked->mark->rowmark->rti - 1];
	TupleTableSlot *result;

	FetchOthers(locking, slot);
	*given = locked->newest;
	EvalPlanQualSetSlot(epq, slot);
	EvalPlanQualBegin(epq);
	result = EvalPlanQualNext(epq);
	*given = NULL;
	if (TupIsNull(result))
		return NULL;
	return ExecCopySlot(locking->result, result);
}

/*
 * LockTables locks the packed rows of a row of the plan; returns that row, or what
 * it has become, or NULL if it is to be passed over.
 */
static TupleTableSlot *
LockTables(RowLocking *locking, TupleTableSlot *slot)
{
	ListCell   *lc;

	foreach(lc, locking->tables)
	{
		LockedTable *locked = lfirst(lc);
		RowState	state;

		if (!GetSeen(locked, slot))
			continue;
		state = LockSeen(locked, locking->node->ps.state);
		if (state == ROW_CHANGED)
			slot = Reevaluate(locking, locked, slot);
		if (state == ROW_GONE || slot == NULL)
			return NULL;
	}
	return slot;
}

/*
 * NextLocked is the function of a LockRows' plan: returns its next row, whose packed
 * rows are locked.
 */
static TupleTableSlot *
NextLocked(PlanState *source)
{
	RowLocking *locking = NULL;
	dlist_iter	iter;

	dlist_foreach(iter, &open_lockings)
	{
		locking = dlist_container(RowLocking, link, iter.cur);
		if (locking->source == source)
			break;
	}
	Assert(locking != NULL && locking->source == source);
	for (;;)
	{
		TupleTableSlot *slot = (*locking->next) (source);

		CHECK_FOR_INTERRUPTS();
		if (TupIsNull(slot))
			return slot;
		slot = LockTables(locking, slot);
		if (slot != NULL)
			return slot;
	}
}

/* ---- beginning ---- */

/*
 * UnlinkQuery is the callback of a query's context that goes, be it by an
 * error.
 */
static void
UnlinkQuery(void *arg)
{
	dlist_delete(&((RowLocking *) arg)->link);
}

/*
 * AddLockedTable adds a table whose rows are locked.
 */
static void
AddLockedTable(RowLocking *locking, const ExecAuxRowMark *mark)
{
	EState	   *estate = locking->node->ps.state;
	LockedTable *locked = palloc0(sizeof(LockedTable));
	TupleDesc	desc;

	if (!AttributeNumberIsValid(mark->wholeAttNo))
		elog(ERROR, "rows of table with OID %u cannot be locked",
			 mark->rowmark->relid);
	locked->mark = mark;
	locked->table = ExecGetRangeTableRelation_compat(estate, mark->rowmark->rti);
	locked->key = ZbxhistBeginRowKey(locked->table, NIL);
	desc = RelationGetDescr(locked->table);
	locked->seen = ExecInitExtraTupleSlot(estate, desc, &TTSOpsVirtual);
	locked->newest = ExecInitExtraTupleSlot(estate, desc, &TTSOpsHeapTuple);
	locking->tables = lappend(locking->tables, locked);
}

/*
 * FindLockedTables returns what is locked by a LockRows of rows of packed
 * days, or NULL.
 */
static RowLocking *
FindLockedTables(LockRowsState *node)
{
	RowLocking *locking = palloc0(sizeof(RowLocking));
	ListCell   *lc;

	locking->node = node;
	foreach(lc, node->lr_epqstate.arowMarks)
	{
		const ExecAuxRowMark *mark = lfirst(lc);

		if (mark->rowmark->markType == ROW_MARK_COPY &&
			mark->rowmark->strength != LCS_NONE &&
			OidIsValid(mark->rowmark->relid) &&
			ZbxhistIsOfPackedDays(ExecGetRangeTableRelation_compat(node->ps.state,
																   mark->rowmark->rti)))
			AddLockedTable(locking, mark);
	}
	return locking->tables == NIL ? NULL : locking;
}

/*
 * BeginLocking takes the place of a LockRows' plan, if that has rows of packed days.
 */
static void
BeginLocking(LockRowsState *node)
{
	PlanState  *source = outerPlanState(node);
	RowLocking *locking;

	if (source->ExecProcNodeReal == NextLocked ||
		(locking = FindLockedTables(node)) == NULL)
		return;
	locking->source = source;
	locking->next = source->ExecProcNodeReal;
	locking->result = ExecInitExtraTupleSlot(node->ps.state,
											 ExecGetResultType(source),
											 &TTSOpsHeapTuple);
	dlist_push_head(&open_lockings, &locking->link);
	locking->unlink.func = UnlinkQuery;
	locking->unlink.arg = locking;
	MemoryContextRegisterResetCallback(CurrentMemoryContext, &locking->unlink);
	ExecSetExecProcNode(source, NextLocked);
}

/*
 * FindLockRows is a walker that finds those in a plan.
 */
static bool
FindLockRows(PlanState *node, void *context)
{
	if (IsA(node, LockRowsState))
		BeginLocking((LockRowsState *) node);
	return planstate_tree_walker(node, FindLockRows, context);
}

/*
 * ZbxhistLockPackedRows has the packed rows of a query that begins be locked, if it
 * locks rows.
 */
void
ZbxhistLockPackedRows(QueryDesc *query)
{
	EState	   *estate = query->estate;
	MemoryContext old;
	ListCell   *lc;

	if (estate->es_rowmarks == NULL)
		return;
	old = MemoryContextSwitchTo(estate->es_query_cxt);
	(void) FindLockRows(query->planstate, NULL);
	foreach(lc, estate->es_subplanstates)
	{
		if (lfirst(lc) != NULL)
			(void) FindLockRows(lfirst(lc), NULL);
	}
	MemoryContextSwitchTo(old);
}
