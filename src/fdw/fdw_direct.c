/*-------------------------------------------------------------------------
 *
 * fdw_direct.c
 *	  DELETE by items and clocks, without a look at the rows; TRUNCATE.
 *
 * Where a DELETE has only conditions that a scan takes care of (that of
 * Zabbix's housekeeper, of "clear history"), the ranges are deleted in the
 * days: segments that go as a whole are not decoded.  Rows that are named by
 * their ctids have to be found first (fdw_modify.c).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "commands/tablecmds.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/rel.h"

#include "compat.h"
#include "fdw/fdw.h"
#include "fdw/fdw_plan.h"
#include "fdw/fdw_scan.h"
#include "fdw/row_key.h"
#include "guc.h"
#include "make_room.h"
#include "packed/day_changes.h"
#include "packed/day_conflicts.h"
#include "tables/packed_table.h"
#include "tables/partition_set.h"

/* ---- planning ---- */

/*
 * FindScan returns the scan of relation rtindex that feeds the plan directly,
 * with whatever columns, or NULL.
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
 * SetChange notes what a scan has to do with a change.
 */
static void
SetChange(ForeignScan *scan, int change)
{
	lfirst(list_nth_cell(scan->fdw_private, PLAN_CHANGE)) = list_make1_int(change);
}

/*
 * PlanDirectModify makes the scan a DELETE, if it can be one.
 */
static bool
PlanDirectModify(PlannerInfo *root, ModifyTable *plan, Index rtindex,
				 int subplan_index)
{
	ForeignScan *scan;

	if (plan->operation != CMD_DELETE || plan->returningLists != NIL ||
		!zbxhist_enable_packed_scan_pruning)
		return false;
	scan = FindScan(plan, rtindex);
	if (scan == NULL || scan->scan.plan.qual != NIL ||
		scan->scan.plan.parallel_aware ||
		list_member_int(list_nth(scan->fdw_private, PLAN_CONDS), COND_TIDS))
		return false;
	scan->operation = CMD_DELETE;
	scan->resultRelation = rtindex;
	SetChange(scan, plan->canSetTag ? CHANGE_SETS_TAG : CHANGE_NONE);
	return true;
}

/*
 * ZbxhistLetScanLookAgain has the scan that finds the rows of a change find them as
 * they are when their day is locked, if conditions are of the columns of a key, or
 * ctid, alone: then a row that satisfies them is one that they meant.
 * Returns whether it does.
 */
bool
ZbxhistLetScanLookAgain(PlannerInfo *root, ModifyTable *plan, Index rtindex)
{
	ForeignScan *scan = FindScan(plan, rtindex);
	Bitmapset  *columns = NULL;
	bool		result = true;

	if (scan == NULL)
		return false;
	/* usually none are left: the scan has taken them all */
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
		SetChange(scan, CHANGE_LOOKS_AGAIN);
	return result;
}

/* ---- execution ---- */

/*
 * BeginDirectModify prepares for the DELETE.
 */
static void
BeginDirectModify(ForeignScanState *node, int eflags)
{
	node->fdw_state = ZbxhistBeginFdwScan(node);
}

/*
 * DeleteItems deletes the rows of the items in bounds.
 */
static uint64
DeleteItems(DayChanges *changes, const ScanBounds *bounds)
{
	ItemRange  *ranges = palloc(sizeof(ItemRange) * Max(bounds->nitems, 1));
	ItemRange	range;

	ZbxhistBoundsRange(bounds, &range);
	if (item_range_is_empty(&range))
		return 0;
	for (int i = 0; i < bounds->nitems; i++)
	{
		ranges[i] = range;
		ranges[i].itemid = bounds->items[i];
	}
	return ZbxhistDeleteDayRanges(changes, ranges, bounds->nitems);
}

/*
 * FindItems finds the items that have rows, for a DELETE that names none.
 */
static void
FindItems(ForeignScanState *node, FdwScanState *state, ScanBounds *bounds)
{
	PackedScan *scan = ZbxhistBeginPackedScan(node->ss.ss_currentRelation,
											  state->parent,
											  node->ss.ps.state->es_snapshot,
											  state->wanted, false);
	int			capacity = 1024;
	int64	   *items = palloc(sizeof(int64) * capacity);
	int			nitems = 0;
	const SegmentInfo *segment;

	ZbxhistStartPackedScan(scan, bounds);
	while ((segment = ZbxhistPackedScanFind(scan)) != NULL)
	{
		make_room(items, nitems, capacity);
		items[nitems++] = segment->itemid;
		ZbxhistDayReaderSkip(scan->open.reader);
	}
	ZbxhistEndPackedScan(scan);

	bounds->items = items;
	bounds->nitems = ZbxhistSortItems(items, nitems);
}

/*
 * IterateDirectModify deletes everything at once.
 */
static TupleTableSlot *
IterateDirectModify(ForeignScanState *node)
{
	ForeignScan *plan = (ForeignScan *) node->ss.ps.plan;
	FdwScanState *state = node->fdw_state;
	EState	   *estate = node->ss.ps.state;
	MemoryContext old = MemoryContextSwitchTo(estate->es_query_cxt);
	ScanBounds	bounds;
	uint64		deleted;

	ZbxhistEvaluateBounds(node, state, &bounds);
	if (bounds.items == NULL)
		FindItems(node, state, &bounds);
	deleted = DeleteItems(ZbxhistDayChangesOf(estate,
											  node->ss.ss_currentRelation),
						  &bounds);
	MemoryContextSwitchTo(old);

	if (linitial_int(list_nth(plan->fdw_private, PLAN_CHANGE)) == CHANGE_SETS_TAG)
		estate->es_processed += deleted;
	if (node->ss.ps.instrument)
		node->ss.ps.instrument->tuplecount += deleted;
	return ExecClearTuple(node->ss.ss_ScanTupleSlot);
}

/*
 * EndDirectModify has nothing to do.
 */
static void
EndDirectModify(ForeignScanState *node)
{
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
 * ZbxhistFdwDirectInit sets the functions of DELETE by ranges and of TRUNCATE.
 */
void
ZbxhistFdwDirectInit(FdwRoutine *routine)
{
	routine->PlanDirectModify = PlanDirectModify;
	routine->BeginDirectModify = BeginDirectModify;
	routine->IterateDirectModify = IterateDirectModify;
	routine->EndDirectModify = EndDirectModify;
	routine->ExecForeignTruncate = ExecForeignTruncate;
}
