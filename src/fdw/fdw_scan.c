/*-------------------------------------------------------------------------
 *
 * fdw_scan.c
 *	  Executes scans of packed days.
 *
 * Rows are put into the scan's slot as they are decoded; no tuple is formed
 * unless a system column other than ctid and tableoid is asked for.  A row's
 * ctid is made of its clock and ns; with the itemid it names the row.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/sysattr.h"
#include "access/table.h"
#include "access/transam.h"
#include "access/xact.h"
#include "executor/executor.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "fdw/fdw.h"
#include "fdw/fdw_plan.h"
#include "fdw/fdw_scan.h"
#include "guc.h"
#include "packed/conditions.h"
#include "packed/day_conflicts.h"

/* ---- beginning ---- */

/*
 * SetWantedColumns says which columns the plan asks for.
 */
static void
SetWantedColumns(FdwScanState *state, List *attributes, int natts)
{
	ListCell   *lc;

	state->wanted = palloc0(sizeof(bool) * Max(natts, 1));
	foreach(lc, attributes)
	{
		int			attnum = lfirst_int(lc);

		if (attnum > 0)
			state->wanted[attnum - 1] = true;
		else if (attnum == 0)
			memset(state->wanted, true, sizeof(bool) * natts);
		else if (attnum == SelfItemPointerAttributeNumber)
			state->wants_tid = true;
		else if (attnum != TableOidAttributeNumber)
			state->wants_tuple = true;
	}
}

/*
 * MakeScanState makes the state of a scan from its plan.
 */
static FdwScanState *
MakeScanState(ForeignScanState *node)
{
	ForeignScan *plan = (ForeignScan *) node->ss.ps.plan;
	TupleDesc	desc = RelationGetDescr(node->ss.ss_currentRelation);
	FdwScanState *state = palloc0(sizeof(FdwScanState));
	List	   *order;

	state->parent = linitial_oid(list_nth(plan->fdw_private, PLAN_PARENT));
	state->kinds = list_nth(plan->fdw_private, PLAN_CONDS);
	state->values = ExecInitExprList(plan->fdw_exprs, &node->ss.ps);
	order = list_nth(plan->fdw_private, PLAN_ORDER);
	state->is_descending = list_nth_int(order, ORDER_IS_DESCENDING);
	SetWantedColumns(state, list_nth(plan->fdw_private, PLAN_ATTRIBUTES),
					 desc->natts);
	state->bounds_context = AllocSetContextCreate(CurrentMemoryContext,
												  "zbxhist scan bounds",
												  ALLOCSET_SMALL_SIZES);
	return state;
}

/*
 * BeginForeignScan prepares a scan; nothing is opened before its first row is
 * asked for.
 */
static void
BeginForeignScan(ForeignScanState *node, int eflags)
{
	TupleTableSlot *slot = node->ss.ss_ScanTupleSlot;
	FdwScanState *state = MakeScanState(node);
	ForeignScan *plan = (ForeignScan *) node->ss.ps.plan;
	Relation	parent;

	node->fdw_state = state;
	if (eflags & EXEC_FLAG_EXPLAIN_ONLY)
		return;
	/* columns that are not needed stay null */
	memset(slot->tts_isnull, true,
		   sizeof(bool) * slot->tts_tupleDescriptor->natts);
	parent = table_open(state->parent, AccessShareLock);
	ZbxhistNotePackedRead(parent, node->ss.ps.state->es_snapshot);
	table_close(parent, NoLock);
	state->scan = ZbxhistBeginPackedScan(node->ss.ss_currentRelation,
										 state->parent,
										 node->ss.ps.state->es_snapshot,
										 state->wanted,
										 state->wants_tid ||
										 state->wants_tuple ||
										 list_member_int(state->kinds, COND_TIDS));
	if (linitial_int(list_nth(plan->fdw_private, PLAN_LOOKS_AGAIN)) &&
		!IsolationUsesXactSnapshot())
		ZbxhistLookAgainInDays(&state->scan->open);
	if (zbxhist_enable_packed_scan_pruning)
		state->filter = ZbxhistMakeColumnFilter(plan->scan.plan.qual, &node->ss.ps);
	state->scan->open.spec.filter = state->filter;
	state->scan->open.reads_all =
		list_nth_int(list_nth(plan->fdw_private, PLAN_ORDER), ORDER_READS_ALL);
}

/* ---- scanning ---- */

/*
 * EvaluateScanBounds makes bounds of the values that the conditions have
 * now.
 */
static void
EvaluateScanBounds(ForeignScanState *node, FdwScanState *state, ScanBounds *bounds)
{
	ZbxhistEvaluateConds(state->kinds, state->values, node->ss.ps.ps_ExprContext,
						 state->bounds_context, bounds);
	bounds->is_descending = state->is_descending;
}

/*
 * StartForeignScan begins to read by the present values of the conditions.
 */
static void
StartForeignScan(ForeignScanState *node, FdwScanState *state)
{
	MemoryContext old =
		MemoryContextSwitchTo(node->ss.ps.state->es_query_cxt);
	ScanBounds	bounds;

	EvaluateScanBounds(node, state, &bounds);
	if (state->filter != NULL)
		ZbxhistSetFilterValues(state->filter, node->ss.ps.ps_ExprContext,
							   state->bounds_context);
	ZbxhistStartPackedScan(state->scan, &bounds);
	state->has_started = true;
	MemoryContextSwitchTo(old);
}

/*
 * StoreTuple puts the row in slot, whose columns are set, into a tuple of its
 * own, which has all system columns.
 */
static void
StoreTuple(TupleTableSlot *slot, Oid table, ItemPointer tid)
{
	HeapTuple	tuple = heap_form_tuple(slot->tts_tupleDescriptor,
										slot->tts_values, slot->tts_isnull);

	/* it is not a value of a row type any more */
	tuple->t_data->t_infomask &= ~HEAP_XACT_MASK;
	tuple->t_data->t_infomask |= HEAP_XMIN_FROZEN | HEAP_XMAX_INVALID;
	HeapTupleHeaderSetXmin(tuple->t_data, FrozenTransactionId);
	HeapTupleHeaderSetXmax(tuple->t_data, InvalidTransactionId);
	HeapTupleHeaderSetCmin(tuple->t_data, FirstCommandId);
	tuple->t_self = *tid;
	tuple->t_tableOid = table;
	ExecStoreHeapTuple(tuple, slot, false);
}

/*
 * IterateForeignScan returns the next row, in a context that lasts as long as
 * the row does.
 */
static TupleTableSlot *
IterateForeignScan(ForeignScanState *node)
{
	FdwScanState *state = node->fdw_state;
	TupleTableSlot *slot = node->ss.ss_ScanTupleSlot;
	PackedScan *scan = state->scan;
	ItemPointerData tid;
	PackedRowId id;

	if (!state->has_started)
		StartForeignScan(node, state);
	ExecClearTuple(slot);
	if (!packed_scan_next(scan))
		return slot;

	ZbxhistMapRow(scan->open.reader->map, scan->open.reader->row, slot->tts_values,
				  slot->tts_isnull);
	if (!scan->open.spec.wants_row_id)
		return ExecStoreVirtualTuple(slot);
	ZbxhistDayReaderRowId(scan->open.reader, &id);
	set_packed_tid(&tid, &id);
	if (state->wants_tuple)
		StoreTuple(slot, RelationGetRelid(scan->open.spec.table), &tid);
	else
	{
		ExecStoreVirtualTuple(slot);
		slot->tts_tid = tid;
	}
	return slot;
}

/*
 * ReScanForeignScan begins again, maybe with other values.  A plan that is
 * restarted once will be restarted again, so from now on days stay open.
 */
static void
ReScanForeignScan(ForeignScanState *node)
{
	FdwScanState *state = node->fdw_state;

	state->has_started = false;
	ZbxhistLeaveDay(&state->scan->open);
	state->scan->open.keeps_days = true;
}

/*
 * EndForeignScan closes everything.
 */
static void
EndForeignScan(ForeignScanState *node)
{
	FdwScanState *state = node->fdw_state;

	if (state == NULL || state->scan == NULL)
		return;
	ZbxhistReportToLeader(state->scan);
	ZbxhistEndPackedScan(state->scan);
}

/*
 * ZbxhistFdwScanInit sets the functions of execution.
 */
void
ZbxhistFdwScanInit(FdwRoutine *routine)
{
	routine->BeginForeignScan = BeginForeignScan;
	routine->IterateForeignScan = IterateForeignScan;
	routine->ReScanForeignScan = ReScanForeignScan;
	routine->EndForeignScan = EndForeignScan;
}
