/*-------------------------------------------------------------------------
 *
 * item_scan.c
 *	  Plans and executes SELECT of the newest or oldest rows of items.
 *
 * SELECT * FROM history WHERE itemid = 5 AND clock > 1795130262
 * ORDER BY clock DESC, ns DESC LIMIT 2 is what Zabbix's frontend asks for each
 * item of "Latest data", and the server's value cache likewise.  Mostly the
 * first table that is looked at has these rows, and whatever the planner
 * spends on the others is lost.  So such a query is planned for the parent
 * alone, with a custom scan in place of all paths, which reads one partition
 * or packed day after the other (read/reader.c), and the parent's own rows
 * with them, as far as rows are asked for.
 *
 * One row of each of many items, or of all there are (DISTINCT ON), is read the
 * same way, one item after the other.  Which items there are is found out first:
 * partitions are asked by their index for one item after the other, of packed
 * days only the directories are read.  That also says up to which clock an item
 * has to be looked for.
 *
 * item_query.c finds such a query before it is planned, and select.c marks the
 * entry of its table; the planner works on the conditions, and the hook on paths
 * takes them from there.
 *
 * Locks and the snapshot are the query's; privileges are those on the parent.
 * All partitions that may have rows are locked (locked_partitions.c), but only those
 * that are read are opened; reader.c says why no row is missed.  What is opened is in the
 * query's memory context and is closed with the scan, or by the resource
 * owner.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "access/table.h"
#include "catalog/pg_opfamily.h"
#include "catalog/pg_type.h"
#include "commands/explain.h"
#include "executor/executor.h"
#include "nodes/extensible.h"
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/ruleutils.h"

#include "compat.h"
#include "compat_marks.h"
#include "custom_scan.h"
#include "packed/fdw/fdw.h"
#include "packed/fdw/fdw_quals.h"
#include "plan/item_scan.h"
#include "plan/locked_partitions.h"
#include "read/reader.h"

/* rows that an item is taken to have; they are read as far as the LIMIT */
#define USUAL_ROWS 1000

/* members of the plan's custom_private */
typedef enum ItemScanPrivate
{
	ITEM_CONDS,					/* IntList: kinds of the conditions whose
								 * values custom_exprs begin with; then come
								 * the conditions as a whole, for EXPLAIN */
	ITEM_QUERY					/* IntList, see below */
} ItemScanPrivate;

/* members of ITEM_QUERY, and of the mark on a table's entry */
enum ItemQueryPart
{
	QUERY_IS_DESCENDING,
	QUERY_IS_OF_EACH
};

typedef struct ItemScanState
{
	CustomScanState css;		/* must be first */
	List	   *kinds;			/* of conditions */
	List	   *values;			/* ExprStates of theirs */
	ItemQuery	query;
	ItemReader *reader;			/* NULL: nothing has been read yet */
	bool		has_started;	/* reader reads by the present values */
	LockedPartitions locked;
	MemoryContext bounds_context;	/* owns what values evaluate to, and the
									 * list's items */

	/* for a row of each item */
	ItemRange	range;			/* of all of them */
	ItemList	list;
	int			next_item;		/* of the list */
	bool		wants_item;		/* the row before was one that is wanted */
	bool		needs_clock;	/* item and clock, but nothing else */
	bool		is_known;		/* the row is what the list says of its item */
	AttrNumber	itemid_attnum;
	AttrNumber	clock_attnum;
	uint64		nitems;			/* looked for; shown by EXPLAIN */
	uint64		nknown;			/* of these, of which no row was read */
} ItemScanState;

/* ---- planning ---- */

/*
 * ZbxhistMarkItemScan marks the entry of the table of such a query.
 */
void
ZbxhistMarkItemScan(RangeTblEntry *rte, const ItemQuery *query)
{
	rte->inh = false;
	mark_table(rte, MARK_ITEM_SCAN,
			   list_make2_int(query->is_descending, query->is_of_each));
}

static const CustomExecMethods item_exec_methods;

const ScanNode zbxhist_item_scan = {
	.methods = {"ZbxhistItem", create_scan_state},
	.state_size = sizeof(ItemScanState),
	.exec_methods = &item_exec_methods
};

/*
 * PlanItem makes the plan of the path.
 */
static Plan *
PlanItem(PlannerInfo *root, RelOptInfo *rel, CustomPath *path, List *tlist,
		 List *clauses, List *custom_plans)
{
	CustomScan *scan = makeNode(CustomScan);
	KeyColumns *columns = linitial(path->custom_private);
	List	   *conds = NIL;
	List	   *kinds = NIL;
	List	   *exact = NIL;
	ListCell   *lc;

	foreach(lc, clauses)
	{
		RestrictInfo *restriction = lfirst_node(RestrictInfo, lc);

		if (restriction->pseudoconstant)
			continue;
		if (ZbxhistTakeCondition(restriction->clause, columns, &conds))
			exact = lappend(exact, restriction->clause);
		else
			scan->scan.plan.qual = lappend(scan->scan.plan.qual,
										   restriction->clause);
	}
	foreach(lc, conds)
	{
		PackedCond *cond = lfirst(lc);

		kinds = lappend_int(kinds, cond->kind);
		scan->custom_exprs = lappend(scan->custom_exprs, cond->value);
	}
	scan->custom_exprs = list_concat(scan->custom_exprs, exact);
	scan->scan.plan.targetlist = tlist;
	scan->scan.scanrelid = rel->relid;
	scan->flags = path->flags;
	scan->custom_private = list_make2(kinds, lsecond(path->custom_private));
	scan->methods = &zbxhist_item_scan.methods;
	return &scan->scan.plan;
}

static const CustomPathMethods item_path_methods = {
	.CustomName = "ZbxhistItem",
	.PlanCustomPath = PlanItem
};

/*
 * EstimateItemRows estimates of how many items there is a row.
 */
static double
EstimateItemRows(RelOptInfo *rel, Oid relid, const KeyColumns *columns)
{
	List	   *conds = NIL;
	ScanBounds	bounds;
	double		result;
	ListCell   *lc;

	foreach(lc, rel->baserestrictinfo)
		(void) ZbxhistTakeCondition(lfirst_node(RestrictInfo, lc)->clause,
									columns, &conds);
	ZbxhistGetConstBounds(conds, &bounds);
	if (bounds.items != NULL)
		return clamp_row_est(bounds.nitems);
	if (ZbxhistIsOneItem(conds))
		return 1;
	result = ZbxhistCountItems(relid, columns->itemid, 0);
	return result <= 0 ? USUAL_ROWS : clamp_row_est(result);
}

/*
 * HasItemOrder says whether the query wants rows in the order of their items.
 * What it says of rows of one item holds, as there is only one.
 */
static bool
HasItemOrder(PlannerInfo *root, RelOptInfo *rel, AttrNumber itemid)
{
	const PathKey *key;

	if (root->query_pathkeys == NIL)
		return false;
	key = linitial_node(PathKey, root->query_pathkeys);
	return key->pk_opfamily == INTEGER_BTREE_FAM_OID &&
		!pathkey_is_descending(key) && !key->pk_eclass->ec_has_volatile &&
		find_equivalence_member(key->pk_eclass, rel, itemid) != NULL;
}

/*
 * MakeItemPath makes the path.
 */
static CustomPath *
MakeItemPath(PlannerInfo *root, RelOptInfo *rel, RangeTblEntry *rte,
			 List *query)
{
	CustomPath *path;
	KeyColumns *columns = palloc(sizeof(KeyColumns));
	Relation	table = table_open(rte->relid, NoLock);
	bool		is_of_each = list_nth_int(query, QUERY_IS_OF_EACH);

	ZbxhistFindKeyColumns(root, table, rel->relid, columns);
	table_close(table, NoLock);
	path = make_scan_path(rel,
						  get_baserel_parampathinfo(root, rel,
													rel->lateral_relids),
						  &item_path_methods, list_make2(columns, query));
	path->path.rows = is_of_each ?
		EstimateItemRows(rel, rte->relid, columns) : USUAL_ROWS;
	path->path.total_cost = random_page_cost +
		path->path.rows * (cpu_tuple_cost + cpu_index_tuple_cost);
	if (!is_of_each || HasItemOrder(root, rel, columns->itemid))
		path->path.pathkeys = root->query_pathkeys;
	return path;
}

/*
 * ZbxhistConsiderItemScan puts the path in place of those that the
 * planner has found for a table that is marked.
 */
void
ZbxhistConsiderItemScan(PlannerInfo *root, RelOptInfo *rel, Index rti,
						RangeTblEntry *rte)
{
	List	   *query = get_table_mark(rte, MARK_ITEM_SCAN);
	CustomPath *path;

	if (query == NIL || IS_DUMMY_REL(rel))
		return;
	path = MakeItemPath(root, rel, rte, query);
	/* the parent's own rows, which were estimated, are mostly none */
	if (list_nth_int(query, QUERY_IS_OF_EACH))
	{
		rel->rows = path->path.rows;
		rel->tuples = Max(rel->tuples, rel->rows);
	}
	rel->pathlist = NIL;
	rel->partial_pathlist = NIL;
	add_path(rel, &path->path);
}

/* ---- execution ---- */

/*
 * NeedsClock says whether nothing but item and clock is wanted of rows, and
 * there is nothing left to look for in others of an item.
 */
static bool
NeedsClock(const ItemScanState *state, const CustomScan *scan)
{
	Bitmapset  *attnums = NULL;
	Bitmapset  *known;

	if (scan->scan.plan.qual != NIL)
		return false;
	pull_varattnos((Node *) scan->scan.plan.targetlist, scan->scan.scanrelid,
				   &attnums);
	known = bms_make_singleton(state->itemid_attnum -
							   FirstLowInvalidHeapAttributeNumber);
	known = bms_add_member(known, state->clock_attnum -
						   FirstLowInvalidHeapAttributeNumber);
	return bms_is_subset(attnums, known);
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
	List	   *query = list_nth(scan->custom_private, ITEM_QUERY);
	Relation	parent = node->ss.ss_currentRelation;

	state->kinds = list_nth(scan->custom_private, ITEM_CONDS);
	state->query.is_descending = list_nth_int(query, QUERY_IS_DESCENDING);
	state->query.is_of_each = list_nth_int(query, QUERY_IS_OF_EACH);
	if (state->query.is_of_each)
	{
		state->itemid_attnum = ZbxhistFindTyped(parent, "itemid", INT8OID);
		state->clock_attnum = ZbxhistFindTyped(parent, "clock", INT4OID);
		state->needs_clock = NeedsClock(state, scan);
	}
	state->values = ExecInitExprList(list_copy_head(scan->custom_exprs,
													list_length(state->kinds)),
									 &node->ss.ps);
	state->bounds_context = AllocSetContextCreate(CurrentMemoryContext,
												  "zbxhist item bounds",
												  ALLOCSET_SMALL_SIZES);
}

/*
 * EvaluateRange makes bounds of the values that the conditions have now, and a range
 * of the first item in them, or of any if there are none.
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
	else if (!state->query.is_of_each)
		ZbxhistMakeEmpty(range);
	range->is_descending = state->query.is_descending;
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
 * StartItem begins to read.  A plan that does that a second time will do it
 * again, so tables stay open from then on.
 */
static void
StartItem(ItemScanState *state)
{
	EState	   *estate = state->css.ss.ps.state;
	MemoryContext old = MemoryContextSwitchTo(estate->es_query_cxt);
	ScanBounds	bounds;
	ItemRange	range;

	EvaluateRange(state, &bounds, &range);
	ZbxhistLockPartitions(state->css.ss.ss_currentRelation, &range,
						  &state->locked);
	if (state->reader == NULL)
		state->reader = ZbxhistOpenReader(state->css.ss.ss_currentRelation,
										  estate->es_snapshot,
										  state->query.is_of_each);
	if (state->query.is_of_each)
	{
		state->range = range;
		MemoryContextSwitchTo(state->bounds_context);
		SetItems(state, &bounds);
	}
	else
		ZbxhistReadItem(state->reader, &range);
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
	item = &state->list.items[state->next_item++];
	state->nitems++;
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
 * NextItemRow goes to the next row: of one item, or of another one if the row
 * before was wanted; returns false at the end.
 */
static bool
NextItemRow(ItemScanState *state)
{
	if (!state->query.is_of_each)
		return ZbxhistReadNext(state->reader);
	if (state->next_item > 0 && !state->wants_item &&
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
 * FillKnown fills in what the list says of an item.
 */
static void
FillKnown(const ItemScanState *state, TupleTableSlot *slot)
{
	const ListedItem *item = &state->list.items[state->next_item - 1];

	memset(slot->tts_isnull, true,
		   sizeof(bool) * slot->tts_tupleDescriptor->natts);
	slot->tts_values[state->itemid_attnum - 1] = Int64GetDatum(item->itemid);
	slot->tts_isnull[state->itemid_attnum - 1] = false;
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

	if (!state->has_started)
		StartItem(state);
	ExecClearTuple(slot);
	if (!NextItemRow(state))
		return slot;
	if (!state->is_known)
		return fill_read(state->reader, slot);
	FillKnown(state, slot);
	return ExecStoreVirtualTuple(slot);
}

/*
 * ExecItem gives out the next row.  ExecScan ends with one that is wanted.
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
 * ReScanItem begins anew, with the values of then.
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
	List	   *conditions = list_copy_tail(scan->custom_exprs,
											list_length(state->kinds));
	List	   *context = set_deparse_context_plan(es->deparse_cxt,
												   (Plan *) scan, ancestors);
	bool		with_names = shows_table_names(es);

	if (conditions != NIL)
		ExplainPropertyText("Item Cond",
							deparse_expression((Node *) make_ands_explicit(conditions),
											   context, with_names, false), es);
	ExplainPropertyText("Order", ORDERS[state->query.is_of_each]
						[state->query.is_descending], es);
	if (!es->analyze)
		return;
	if (state->query.is_of_each)
		ExplainPropertyInteger("Items Read", NULL, state->nitems, es);
	if (state->needs_clock)
		ExplainPropertyInteger("Items Known", NULL, state->nknown, es);
	ExplainPropertyInteger("Tables Read", NULL, state->reader == NULL ? 0 :
						   ZbxhistCountSources(state->reader), es);
	if (state->reader != NULL)
		ZbxhistExplainRuns(ZbxhistCountRunsOf(state->reader), es);
}

static const CustomExecMethods item_exec_methods = {
	.CustomName = "ZbxhistItem",
	.BeginCustomScan = BeginItem,
	.ExecCustomScan = ExecItem,
	.EndCustomScan = EndItemScan,
	.ReScanCustomScan = ReScanItem,
	.ExplainCustomScan = ExplainItem
};
