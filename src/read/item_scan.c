/*-------------------------------------------------------------------------
 *
 * item_scan.c
 *	  Executes SELECT of rows of items.
 *
 * If a query wants rows of some items, the planner's work on tables that have none of its
 * clocks is wasted.  So it is planned for the parent alone, with a custom scan in place
 * of all paths.  The scan reads item after item.  For each it reads one partition or
 * packed day after the other (read/reader.c), and the parent's own rows, as long as rows
 * are requested.  For an aggregation it leaves packed days to the node above it
 * (aggregate_path.c).
 *
 * One row of each of many items, or of all there are (DISTINCT ON), is read the same way,
 * one item after the other.  First it finds out which items there are: partitions are
 * searched by their index for one item after the other, and of packed days only the
 * directories are read.  That also tells up to which clock an item must be searched.
 *
 * The first or last rows of each interval are read in the same way (interval_query.c):
 * all rows of an item are read, and a row is returned if it differs from the row before
 * in a key of the intervals.
 *
 * All rows come in the order of the key, (itemid, clock, ns).  If items are not named, all
 * tables are asked for the next one that one has.
 *
 * Rows by a list of keys are in any partition or packed day, mostly few in each.  The
 * planner would make paths by all keys for each table, and the executor would look for
 * all keys in each table, which takes longer the more tables there are.  Here each key is
 * looked up in the table of its clock, and in the parent's own rows.
 *
 * item_query.c and key_query.c find such a query before it is planned, and item_path.c
 * plans it.
 *
 * Locks and the snapshot are the query's; privileges are those on the parent.  All
 * partitions that may have rows are locked, but only those that are read are opened;
 * reader.c says why no row is missed.  Memory is allocated in the query's context.
 * Relations are closed with the scan, or by the resource owner.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "access/table.h"
#include "catalog/pg_type.h"
#include "commands/explain.h"
#include "executor/executor.h"
#include "nodes/extensible.h"
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "storage/lmgr.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/ruleutils.h"

#include "compat.h"
#include "custom_scan.h"
#include "fdw/fdw.h"
#include "guc.h"
#include "packed/column_filter.h"
#include "packed/conditions.h"
#include "read/item_scan.h"
#include "read/reader.h"
#include "tables/partition_set.h"

/* how often it looks again for new partitions */
#define MAX_LOOKS 10

typedef struct ItemScanState
{
	CustomScanState css;		/* must be first */
	Relation	parent;			/* borrowed */
	List	   *kinds;			/* of conditions */
	List	   *values;			/* ExprStates of theirs */
	ColumnFilter *filter;		/* of all conditions; NULL: rows are not
								 * filtered, as the next depends on each */
	ItemQuery	query;
	int			nranges;
	const KeyRange *ranges;		/* the plan's list of keys, or NULL */
	ItemReader *reader;			/* NULL: nothing has been read yet */
	bool		has_started;	/* reader reads by the present values */
	LockedPartitions locked;
	MemoryContext bounds_context;	/* owns what values evaluate to, and the
									 * list's items */

	/* for a row of each item */
	ItemRange	range;			/* of all of them */
	ItemList	list;
	int			next_item;		/* of the list */
	bool		wants_item;		/* the last row was returned */
	bool		needs_clock;	/* only item and clock are needed */
	bool		is_known;		/* the list of items has all that is needed of
								 * the row */
	AttrNumber	itemid_attnum;
	AttrNumber	clock_attnum;
	uint64		nitems;			/* looked for; shown by EXPLAIN */
	uint64		nknown;			/* items of which no row was read */

	/* for all rows by their key */
	ScanBounds	bounds;			/* of items; those that have been read are
								 * left out */
	int			nread;			/* of bounds.items */
	bool		has_item;		/* an item is being read */
	ItemRange	item_range;		/* of this one */
	bool		needs_item;		/* only the item is needed */

	/* for intervals */
	List	   *keys;			/* ExprStates */
	int64	   *interval;		/* the keys' values */
	int64		position;		/* of the interval's first row */
	bool		has_position;	/* position is that of the current item */
} ItemScanState;

static const CustomExecMethods item_exec_methods;

const ScanNode zbxhist_item_scan = {
	.methods = {"ZbxhistItem", create_scan_state},
	.state_size = sizeof(ItemScanState),
	.exec_methods = &item_exec_methods
};

const ScanNode zbxhist_key_scan = {
	.methods = {"ZbxhistKeys", create_scan_state},
	.state_size = sizeof(ItemScanState),
	.exec_methods = &item_exec_methods
};

/*
 * NeedsOnly says whether a plan needs of a row only itemid and another column, which may
 * be the same, and has no conditions on rows.
 */
static bool
NeedsOnly(const ItemScanState *state, const CustomScan *scan, AttrNumber other)
{
	Bitmapset  *attnums = NULL;
	Bitmapset  *known;

	if (scan->scan.plan.qual != NIL)
		return false;
	pull_varattnos((Node *) scan->scan.plan.targetlist, scan->scan.scanrelid,
				   &attnums);
	known = bms_make_singleton(state->itemid_attnum -
							   FirstLowInvalidHeapAttributeNumber);
	known = bms_add_member(known, other - FirstLowInvalidHeapAttributeNumber);
	return bms_is_subset(attnums, known);
}

/*
 * NeedsTids says whether a plan refers to the ctid of its table's rows.
 */
static bool
NeedsTids(const CustomScan *scan)
{
	Bitmapset  *attnums = NULL;

	pull_varattnos((Node *) scan->scan.plan.targetlist, scan->scan.scanrelid, &attnums);
	pull_varattnos((Node *) scan->scan.plan.qual, scan->scan.scanrelid, &attnums);
	return bms_is_member(SelfItemPointerAttributeNumber -
						 FirstLowInvalidHeapAttributeNumber, attnums);
}

/*
 * BeginItem prepares the conditions; nothing is opened before the first row
 * is asked for.
 */
static void
BeginItem(CustomScanState *node, EState *estate, int eflags)
{
	ItemScanState *state = (ItemScanState *) node;
	CustomScan *scan = (CustomScan *) node->ss.ps.plan;
	List	   *numbers = list_nth(scan->custom_private, ITEM_QUERY);
	int			nkeys = list_nth_int(numbers, QUERY_NKEYS);
	Relation	parent = take_scan_relation(&node->ss);
	List	   *exprs;

	state->parent = parent;
	state->kinds = list_nth(scan->custom_private, ITEM_CONDS);
	read_item_numbers(numbers, &state->query);
	state->query.ranges = list_nth(scan->custom_private, ITEM_RANGES);
	if (state->query.ranges != NULL)
		state->ranges = read_key_ranges(state->query.ranges->constvalue,
										&state->nranges);
	else if (state->query.is_of_each)
	{
		state->itemid_attnum = ZbxhistFindTyped(parent, "itemid", INT8OID);
		state->clock_attnum = ZbxhistFindTyped(parent, "clock", INT4OID);
		state->needs_clock = !state->query.is_of_intervals &&
			NeedsOnly(state, scan, state->clock_attnum);
	}
	else if (state->query.is_by_key)
	{
		state->itemid_attnum = ZbxhistFindTyped(parent, "itemid", INT8OID);
		state->needs_item = NeedsOnly(state, scan, state->itemid_attnum);
	}
	exprs = ExecInitExprList(list_copy_head(scan->custom_exprs,
											list_length(state->kinds) + nkeys),
							 &node->ss.ps);
	state->values = list_copy_head(exprs, list_length(state->kinds));
	state->keys = list_copy_tail(exprs, list_length(state->kinds));
	state->interval = palloc(sizeof(int64) * Max(nkeys, 1));
	if (!state->query.is_of_each && !state->query.is_of_intervals &&
		zbxhist_enable_packed_scan_pruning)
		state->filter = ZbxhistMakeColumnFilter(scan->scan.plan.qual, &node->ss.ps);
	state->bounds_context = AllocSetContextCreate(CurrentMemoryContext,
												  "zbxhist item bounds",
												  ALLOCSET_SMALL_SIZES);
}

/*
 * EvaluateRange makes bounds of the present values of the conditions, and a range of the
 * first of their items (of any item if they name none), or one that has all keys.
 */
static void
EvaluateRange(ItemScanState *state, ScanBounds *bounds, ItemRange *range)
{
	ZbxhistEvaluateConds(state->kinds, state->values,
						 state->css.ss.ps.ps_ExprContext,
						 state->bounds_context, bounds);
	ZbxhistBoundsRange(bounds, range);
	if (bounds->items != NULL && bounds->nitems > 0)
		range->itemid = bounds->items[0];
	range->is_descending = state->query.is_descending;
	if (state->ranges == NULL)
		return;
	range->first = PG_INT64_MAX;
	range->last = PG_INT64_MIN;
	for (int i = 0; i < state->nranges; i++)
	{
		range->first = Min(range->first, state->ranges[i].first);
		range->last = Max(range->last, state->ranges[i].last);
	}
}

/*
 * SetItems makes the list one of the items in bounds, or of those that have
 * rows.
 */
static void
SetItems(ItemScanState *state, const ScanBounds *bounds)
{
	ItemList   *list = &state->list;

	state->next_item = 0;
	if (state->ranges != NULL)
	{
		list->nitems = state->nranges;
		list->last = PG_INT64_MAX;
		return;
	}
	ZbxhistInitItemList(list, state->query.is_descending);
	if (item_range_is_empty(&state->range))
		return;
	if (bounds->items == NULL)
	{
		ZbxhistListItems(state->reader, &state->range, list);
		return;
	}
	list->nitems = bounds->nitems;
	list->items = palloc(sizeof(ListedItem) * Max(list->nitems, 1));
	for (int i = 0; i < list->nitems; i++)
	{
		list->items[i].itemid = bounds->items[i];
		list->items[i].clock = list->is_descending ? PG_INT32_MAX :
			PG_INT32_MIN;
		list->items[i].is_exact = false;
	}
}

/*
 * ZbxhistLockScannedPartitions locks the partitions that may have rows of a range, so
 * that none is dropped while a cursor is open, unless it has done so before.  Locking
 * processes invalidations, so the set may have changed, and it looks again, a limited
 * number of times: the reader can handle all changes.
 */
void
ZbxhistLockScannedPartitions(Relation parent, const ItemRange *range,
							 LockedPartitions *locked)
{
	ClockRange	bounds = {
		.from_clock = position_clock(range->first),
		.to_clock = (int64) position_clock(range->last) + 1
	};

	if (item_range_is_empty(range))
		return;
	for (int attempt = 0; attempt < MAX_LOOKS; attempt++)
	{
		PartitionSet *set = ZbxhistGetPartitions(parent);

		if (set->generation == locked->generation &&
			bounds.from_clock >= locked->clocks.from_clock &&
			bounds.to_clock <= locked->clocks.to_clock)
			break;
		for (int i = 0; i < set->npartitions &&
			 ZbxhistPartitionSetIsValid(set); i++)
		{
			if (clocks_overlap(&set->partitions[i], &bounds))
				LockRelationOid(set->partitions[i].relid, AccessShareLock);
		}
		locked->generation = set->generation;
		locked->clocks = bounds;
		if (ZbxhistPartitionSetIsValid(set))
			break;
	}
}

/*
 * StartItem begins to read.  A plan that is restarted once will be restarted
 * again, so from then on tables stay open.
 */
static void
StartItem(ItemScanState *state)
{
	const CustomScan *scan = (const CustomScan *) state->css.ss.ps.plan;
	const List *numbers = list_nth(scan->custom_private, ITEM_QUERY);
	EState	   *estate = state->css.ss.ps.state;
	MemoryContext old = MemoryContextSwitchTo(estate->es_query_cxt);
	ScanBounds	bounds;
	ItemRange	range;

	EvaluateRange(state, &bounds, &range);
	if (state->filter != NULL)
		ZbxhistSetFilterValues(state->filter, state->css.ss.ps.ps_ExprContext,
							   state->bounds_context);
	ZbxhistLockScannedPartitions(state->parent, &range, &state->locked);
	if (state->reader == NULL)
	{
		ItemReaderSpec spec = {
			.keeps_sources = !state->query.is_by_key,
			.reads_all = list_nth_int(numbers, QUERY_READS_ALL),
			.leaves_packed = list_nth_int(numbers, QUERY_LEAVES_PACKED),
			.wants_tids = NeedsTids(scan),
			.filter = state->filter
		};

		state->reader = ZbxhistOpenReader(state->parent, estate->es_snapshot, &spec);
	}
	state->range = range;
	if (state->query.is_by_key)
	{
		state->bounds = bounds;
		state->nread = 0;
		state->has_item = false;
		state->is_known = false;
	}
	else
	{
		MemoryContextSwitchTo(state->bounds_context);
		SetItems(state, &bounds);
	}
	state->has_started = true;
	MemoryContextSwitchTo(old);
}

/*
 * FillList makes the list one of the items that come after those in it, if it
 * could not hold them; returns false if there are none.
 */
static bool
FillList(ItemScanState *state)
{
	ItemList   *list = &state->list;

	if (list->last == PG_INT64_MAX)
		return false;
	list->first = list->last + 1;
	ZbxhistListItems(state->reader, &state->range, list);
	state->next_item = 0;
	return list->nitems > 0;
}

/*
 * NextScannedItem begins with the next item; returns false if there is none.
 */
static bool
NextScannedItem(ItemScanState *state)
{
	const ListedItem *item;
	ItemRange	range = state->range;

	if (state->next_item == state->list.nitems && !FillList(state))
		return false;
	if (state->ranges != NULL)
	{
		const KeyRange *key = &state->ranges[state->next_item++];

		range.itemid = key->itemid;
		range.first = key->first;
		range.last = key->last;
		ZbxhistReadItem(state->reader, &range);
		return true;
	}
	item = &state->list.items[state->next_item++];
	state->nitems++;
	state->has_position = false;
	state->is_known = item->is_exact && state->needs_clock;
	if (state->is_known)
	{
		state->nknown++;
		return true;
	}
	range.itemid = item->itemid;
	if (range.is_descending)
		ZbxhistEndAt(&range, make_position(item->clock, PG_INT32_MAX));
	else
		ZbxhistStartAt(&range, make_position(item->clock, PG_INT32_MIN));
	ZbxhistReadItem(state->reader, &range);
	return true;
}

/*
 * FindNextKeyItem finds the next item in the order of the key; returns false if there
 * is none.
 */
static bool
FindNextKeyItem(ItemScanState *state, int64 *itemid)
{
	ScanBounds *bounds = &state->bounds;
	bool		is_last = state->query.items_descending;

	if (bounds->items != NULL)
	{
		if (state->nread == bounds->nitems)
			return false;
		*itemid = bounds->items[is_last ? bounds->nitems - 1 - state->nread :
								state->nread];
		state->nread++;
		return true;
	}
	return ZbxhistFindItem(state->reader, &state->range, bounds->from_item,
						   bounds->to_item, is_last, itemid);
}

/*
 * NextKeyItem begins with the next item in the order of the key; returns false if there
 * is none.
 */
static bool
NextKeyItem(ItemScanState *state)
{
	ScanBounds *bounds = &state->bounds;
	ItemRange	range = state->range;

	/* only now, because many queries end within the first item */
	if (state->nitems == 1)
		ZbxhistKeepSources(state->reader);
	if (bounds->from_item > bounds->to_item ||
		!FindNextKeyItem(state, &range.itemid))
		return false;
	state->nitems++;
	state->has_item = true;
	if (range.itemid == bounds->from_item && bounds->from_item_clock > PG_INT32_MIN)
		ZbxhistStartAt(&range, make_position((int32) Min(bounds->from_item_clock,
														 PG_INT32_MAX), PG_INT32_MIN));
	if (range.itemid == bounds->to_item && bounds->to_item_clock < PG_INT32_MAX)
		ZbxhistEndAt(&range, make_position((int32) Max(bounds->to_item_clock,
													   PG_INT32_MIN), PG_INT32_MAX));
	/* an item found without a condition on clocks has a row */
	state->is_known = state->needs_item && bounds->items == NULL &&
		range.first == PG_INT64_MIN && range.last == PG_INT64_MAX;
	state->item_range = range;
	if (!state->is_known)
		ZbxhistReadItem(state->reader, &range);

	/*
	 * continue behind this item, unless it is the last possible number
	 */
	if (state->query.items_descending)
	{
		if (range.itemid == PG_INT64_MIN)
			bounds->from_item = PG_INT64_MAX;
		else
			bounds->to_item = range.itemid - 1;
		bounds->to_item_clock = PG_INT64_MAX;
	}
	else
	{
		if (range.itemid == PG_INT64_MAX)
			bounds->to_item = PG_INT64_MIN;
		else
			bounds->from_item = range.itemid + 1;
		bounds->from_item_clock = PG_INT64_MIN;
	}
	return true;
}

/*
 * NextKeyRow goes to the next row in the order of the key; returns false at the end.
 */
static bool
NextKeyRow(ItemScanState *state)
{
	if (state->is_known)
	{
		/* more than the existence of a row is needed */
		state->is_known = false;
		ZbxhistReadItem(state->reader, &state->item_range);
		(void) ZbxhistReadNext(state->reader);
	}
	while (!state->has_item || !ZbxhistReadNext(state->reader))
	{
		CHECK_FOR_INTERRUPTS();
		if (!NextKeyItem(state))
			return false;
		if (state->is_known)
			break;
	}
	return true;
}

/*
 * NextItemRow goes to the next row: of one item, or of a range, or of another item if
 * the row before was wanted; returns false at the end.
 */
static bool
NextItemRow(ItemScanState *state)
{
	if (state->next_item > 0 && (state->ranges != NULL || !state->wants_item) &&
		ZbxhistReadNext(state->reader))
		return true;
	while (NextScannedItem(state))
	{
		CHECK_FOR_INTERRUPTS();
		state->wants_item = false;
		if (state->is_known || ZbxhistReadNext(state->reader))
			return true;
	}
	return false;
}

/*
 * IsOtherInterval says whether the row that has been read last is of another interval
 * than the rows before, and notes which.  Keys are of its item and clock.
 */
static bool
IsOtherInterval(ItemScanState *state, int64 position, TupleTableSlot *slot)
{
	ExprContext *econtext = state->css.ss.ps.ps_ExprContext;
	bool		result = !state->has_position;
	ListCell   *lc;

	slot->tts_values[state->itemid_attnum - 1] =
		Int64GetDatum(state->list.items[state->next_item - 1].itemid);
	slot->tts_isnull[state->itemid_attnum - 1] = false;
	slot->tts_values[state->clock_attnum - 1] =
		Int32GetDatum(position_clock(position));
	slot->tts_isnull[state->clock_attnum - 1] = false;
	ExecStoreVirtualTuple(slot);
	ResetExprContext(econtext);
	econtext->ecxt_scantuple = slot;
	foreach(lc, state->keys)
	{
		int64	   *last = &state->interval[foreach_current_index(lc)];
		bool		isnull;
		Datum		value = ExecEvalExprSwitchContext(lfirst(lc), econtext, &isnull);
		int64		key = isnull ? PG_INT64_MIN : (int64) value;

		result |= key != *last;
		*last = key;
	}
	ExecClearTuple(slot);
	return result;
}

/*
 * NextIntervalRow goes to the next row that is the first of an interval, or is of the
 * same time as that; returns false at the end.
 */
static bool
NextIntervalRow(ItemScanState *state, TupleTableSlot *slot)
{
	for (;;)
	{
		int64		position;
		bool		is_same;

		CHECK_FOR_INTERRUPTS();
		while (state->next_item == 0 || !ZbxhistReadNext(state->reader))
		{
			if (!NextScannedItem(state))
				return false;
		}
		position = ZbxhistReadPosition(state->reader);
		is_same = state->has_position &&
			(state->query.has_ns ? position == state->position :
			 position_clock(position) == position_clock(state->position));
		if (is_same)
			return true;
		if (IsOtherInterval(state, position, slot))
		{
			state->position = position;
			state->has_position = true;
			return true;
		}
		if (state->keys == NIL && !NextScannedItem(state))
			return false;
	}
}

/*
 * FillKnown fills in a row without reading it: the item that was found, or item
 * and clock from the list.
 */
static void
FillKnown(const ItemScanState *state, TupleTableSlot *slot)
{
	const ListedItem *item = state->query.is_by_key ? NULL :
		&state->list.items[state->next_item - 1];

	memset(slot->tts_isnull, true,
		   sizeof(bool) * slot->tts_tupleDescriptor->natts);
	slot->tts_values[state->itemid_attnum - 1] =
		Int64GetDatum(item == NULL ? state->item_range.itemid : item->itemid);
	slot->tts_isnull[state->itemid_attnum - 1] = false;
	if (item == NULL)
		return;
	slot->tts_values[state->clock_attnum - 1] = Int32GetDatum(item->clock);
	slot->tts_isnull[state->clock_attnum - 1] = false;
}

/*
 * NextItemSlot puts the next row into the scan's slot, which is empty at the
 * end.  Values stay where they are until the next one is read.
 */
static TupleTableSlot *
NextItemSlot(ScanState *node)
{
	ItemScanState *state = (ItemScanState *) node;
	TupleTableSlot *slot = node->ss_ScanTupleSlot;
	int			natts = slot->tts_tupleDescriptor->natts;
	TupleTableSlot *row;

	if (!state->has_started)
		StartItem(state);
	ExecClearTuple(slot);
	if (!(state->query.is_by_key ? NextKeyRow(state) :
		  state->query.is_of_intervals ? NextIntervalRow(state, slot) :
		  NextItemRow(state)))
		return slot;
	if (state->is_known)
		FillKnown(state, slot);
	else
	{
		row = ZbxhistReadSlot(state->reader);
		slot_getallattrs(row);
		memcpy(slot->tts_values, row->tts_values, sizeof(Datum) * natts);
		memcpy(slot->tts_isnull, row->tts_isnull, sizeof(bool) * natts);
		slot->tts_tid = row->tts_tid;
	}
	return ExecStoreVirtualTuple(slot);
}

/*
 * ExecItem returns the next row.  ExecScan ends with one that is wanted.
 */
static TupleTableSlot *
ExecItem(CustomScanState *node)
{
	((ItemScanState *) node)->wants_item = true;
	return ExecScan(&node->ss, NextItemSlot, recheck_nothing);
}

/*
 * EndItemScan closes what is open.
 */
static void
EndItemScan(CustomScanState *node)
{
	ItemScanState *state = (ItemScanState *) node;

	ExecClearTuple(node->ss.ss_ScanTupleSlot);
	if (state->reader != NULL)
		ZbxhistCloseReader(state->reader);
	state->reader = NULL;
}

/*
 * ReScanItem begins again, with the present values of parameters.
 */
static void
ReScanItem(CustomScanState *node)
{
	ItemScanState *state = (ItemScanState *) node;

	ExecClearTuple(node->ss.ss_ScanTupleSlot);
	if (state->reader != NULL)
		ZbxhistKeepSources(state->reader);
	state->has_started = false;
	ExecScanReScan(&node->ss);
}

/* what EXPLAIN says, by is_of_each and is_descending */
static const char *const ORDERS[2][2] = {
	{"oldest first", "newest first"},
	{"oldest of each item", "newest of each item"}
};

/*
 * ExplainItem shows the conditions, and with ANALYZE how many tables have been
 * read.
 */
static void
ExplainItem(CustomScanState *node, List *ancestors, ExplainState *es)
{
	const ItemScanState *state = (const ItemScanState *) node;
	CustomScan *scan = (CustomScan *) node->ss.ps.plan;
	List	   *exprs = list_copy_tail(scan->custom_exprs,
									   list_length(state->kinds));
	int			nkeys = list_length(state->keys);
	List	   *conditions = list_copy_tail(exprs, nkeys);
	List	   *context = set_deparse_context_plan(es->deparse_cxt,
												   (Plan *) scan, ancestors);
	bool		with_names = shows_table_names(es);

	if (conditions != NIL)
		ExplainPropertyText("Item Cond",
							deparse_expression((Node *) make_ands_explicit(conditions),
											   context, with_names, false), es);
	if (state->ranges != NULL)
		ExplainPropertyInteger("Keys", NULL, state->nranges, es);
	else if (state->query.is_by_key)
		ExplainPropertyText("Order", state->query.items_descending ?
							"item after item, backward" :
							state->query.is_descending ?
							"item after item, newest first" : "item after item", es);
	else
		ExplainPropertyText("Order", ORDERS[state->query.is_of_each]
							[state->query.is_descending], es);
	if (nkeys > 0)
		ExplainPropertyText("Interval",
							deparse_expression((Node *) list_copy_head(exprs, nkeys),
											   context, with_names, false), es);
	if (!es->analyze)
		return;
	if ((state->query.is_of_each || state->query.is_by_key) && state->ranges == NULL)
		ExplainPropertyInteger("Items Read", NULL, state->nitems, es);
	if (state->needs_clock)
		ExplainPropertyInteger("Items Known", NULL, state->nknown, es);
	ExplainPropertyInteger("Tables Read", NULL, state->reader == NULL ? 0 :
						   ZbxhistCountSources(state->reader), es);
	if (state->reader != NULL)
		ZbxhistExplainArchive(&ZbxhistCountPacked(state->reader)->archive, es);
}

static const CustomExecMethods item_exec_methods = {
	.CustomName = "ZbxhistItem",
	.BeginCustomScan = BeginItem,
	.ExecCustomScan = ExecItem,
	.EndCustomScan = EndItemScan,
	.ReScanCustomScan = ReScanItem,
	.ExplainCustomScan = ExplainItem
};
