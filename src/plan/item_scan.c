/*-------------------------------------------------------------------------
 *
 * item_scan.c
 *	  Plans and executes SELECT of an item's newest or oldest rows.
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
 * select.c finds such a query before it is planned and marks the entry of its
 * table; the planner works on the conditions, and the hook on paths takes
 * them from there.
 *
 * Locks and the snapshot are the query's; privileges are those on the parent.
 * All partitions that may have rows are locked before the first one is read,
 * so that none is dropped while a cursor is open, but only those that are read
 * are opened; reader.c says why no row is missed.  What is opened is in the
 * query's memory context and is closed with the scan, or by the resource
 * owner.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "commands/explain.h"
#include "executor/executor.h"
#include "nodes/extensible.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
#include "storage/lmgr.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/ruleutils.h"

#include "compat.h"
#include "guc.h"
#include "packed/fdw/fdw_quals.h"
#include "plan/clock_bounds.h"
#include "plan/item_scan.h"
#include "read/reader.h"

/* rows that an item is taken to have; they are read as far as the LIMIT */
#define USUAL_ROWS 1000

/* how often partitions are looked for that have come meanwhile */
#define MAX_LOOKS 10

/* members of the plan's custom_private */
typedef enum ItemScanPrivate
{
	ITEM_CONDS,					/* IntList: kinds of the conditions whose
								 * values custom_exprs begin with; then come
								 * the conditions as a whole, for EXPLAIN */
	ITEM_IS_DESCENDING			/* IntList of one */
} ItemScanPrivate;

typedef struct ItemScanState
{
	CustomScanState css;		/* must be first */
	List	   *kinds;			/* of conditions */
	List	   *values;			/* ExprStates of theirs */
	bool		is_descending;
	ItemReader *reader;			/* NULL: nothing has been read yet */
	bool		has_started;	/* reader reads by the present values */
	MemoryContext bounds_context;	/* owns what values evaluate to */
} ItemScanState;

/* ---- recognising ---- */

/*
 * IsPlain says whether a query only selects and sorts rows of relation rti,
 * and wants few.
 */
static bool
IsPlain(const Query *query, Index rti)
{
	return list_length(query->rtable) == 1 && rti == 1 &&
		query->limitCount != NULL && query->sortClause != NIL &&
		!query->hasAggs && !query->hasWindowFuncs && !query->hasTargetSRFs &&
		!query->hasSubLinks && query->distinctClause == NIL &&
		query->groupClause == NIL && query->groupingSets == NIL &&
		query->havingQual == NULL && query->setOperations == NULL &&
		query->cteList == NIL && list_length(query->jointree->fromlist) == 1;
}

/*
 * IsSortedBy says whether a sort clause is the column attnum, which is never
 * null, and sets its direction.
 */
static bool
IsSortedBy(const Query *query, const SortGroupClause *clause, Relation table,
		   AttrNumber attnum, bool *is_descending)
{
	Var		   *var = (Var *) get_sortgroupclause_expr((SortGroupClause *) clause,
													   query->targetList);
	RegProcedure proc = get_opcode(clause->sortop);

	*is_descending = proc == F_INT4GT;
	return attnum != InvalidAttrNumber && IsA(var, Var) &&
		var->varattno == attnum && var->varlevelsup == 0 &&
		TupleDescAttr(RelationGetDescr(table), attnum - 1)->attnotnull &&
		(proc == F_INT4LT || proc == F_INT4GT);
}

/*
 * IsSorted says whether a query wants its rows by clock, or by clock and ns,
 * and sets in which direction.
 */
static bool
IsSorted(const Query *query, Relation table, const PartitionSet *set,
		 bool *is_descending)
{
	List	   *clauses = query->sortClause;
	bool		is_ns_descending;

	if (!IsSortedBy(query, linitial(clauses), table, set->clock_attnum,
					is_descending))
		return false;
	return list_length(clauses) == 1 ||
		(list_length(clauses) == 2 &&
		 IsSortedBy(query, lsecond(clauses), table, set->ns_attnum,
					&is_ns_descending) &&
		 *is_descending == is_ns_descending);
}

/*
 * ZbxhistIsItemQuery says whether a query wants the newest or the oldest rows
 * of an item of relation rti, an open parent, and which.
 */
bool
ZbxhistIsItemQuery(const Query *query, Index rti, Relation parent,
				   const PartitionSet *set, bool *is_descending)
{
	KeyColumns	columns;
	List	   *conds = NIL;

	if (!zbxhist_enable_item_scan || !zbxhist_enable_packed_scan_pruning ||
		!IsPlain(query, rti) || !set->is_exhaustive ||
		!IsSorted(query, parent, set, is_descending))
		return false;
	ZbxhistFindKeyColumns(NULL, parent, rti, &columns);
	return columns.itemid != InvalidAttrNumber &&
		columns.itemid == set->itemid_attnum &&
		columns.clock == set->clock_attnum &&
		ZbxhistTakeCondition((Expr *) query->jointree->quals, &columns,
							 &conds) &&
		ZbxhistIsOneItem(conds);
}

/*
 * ZbxhistMarkItemScan marks the entry of the table of such a query in a field
 * that has no other use in an entry of this kind.
 */
void
ZbxhistMarkItemScan(RangeTblEntry *rte, bool is_descending)
{
	rte->inh = false;
	rte->coltypmods = list_make1_int(is_descending);
}

/* ---- planning ---- */

static Node *CreateItemState(CustomScan *scan);

static const CustomScanMethods item_scan_methods = {
	.CustomName = "ZbxhistItem",
	.CreateCustomScanState = CreateItemState
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
	scan->methods = &item_scan_methods;
	return &scan->scan.plan;
}

static const CustomPathMethods item_path_methods = {
	.CustomName = "ZbxhistItem",
	.PlanCustomPath = PlanItem
};

/*
 * MakeItemPath makes the path.
 */
static CustomPath *
MakeItemPath(PlannerInfo *root, RelOptInfo *rel, RangeTblEntry *rte)
{
	CustomPath *path = makeNode(CustomPath);
	KeyColumns *columns = palloc(sizeof(KeyColumns));
	Relation	table = table_open(rte->relid, NoLock);

	ZbxhistFindKeyColumns(root, table, rel->relid, columns);
	table_close(table, NoLock);
	path->path.pathtype = T_CustomScan;
	path->path.parent = rel;
	path->path.pathtarget = rel->reltarget;
	path->path.param_info = get_baserel_parampathinfo(root, rel,
													  rel->lateral_relids);
	path->path.rows = USUAL_ROWS;
	path->path.total_cost = random_page_cost +
		USUAL_ROWS * (cpu_tuple_cost + cpu_index_tuple_cost);
	path->path.pathkeys = root->query_pathkeys;
	path->flags = CUSTOMPATH_SUPPORT_PROJECTION;
	path->custom_private = list_make2(columns, rte->coltypmods);
	path->methods = &item_path_methods;
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
	if (rte->rtekind != RTE_RELATION || rte->coltypmods == NIL ||
		IS_DUMMY_REL(rel))
		return;
	rel->pathlist = NIL;
	rel->partial_pathlist = NIL;
	add_path(rel, &MakeItemPath(root, rel, rte)->path);
}

/* ---- execution ---- */

/*
 * BeginItem prepares the conditions; nothing is opened before the first row
 * is asked for.
 */
static void
BeginItem(CustomScanState *node, EState *estate, int eflags)
{
	ItemScanState *state = (ItemScanState *) node;
	CustomScan *scan = (CustomScan *) node->ss.ps.plan;

	state->kinds = list_nth(scan->custom_private, ITEM_CONDS);
	state->is_descending =
		linitial_int(list_nth(scan->custom_private, ITEM_IS_DESCENDING));
	state->values = ExecInitExprList(list_copy_head(scan->custom_exprs,
													list_length(state->kinds)),
									 &node->ss.ps);
	state->bounds_context = AllocSetContextCreate(CurrentMemoryContext,
												  "zbxhist item bounds",
												  ALLOCSET_SMALL_SIZES);
}

/*
 * GetRange makes a range of the values that the conditions have now.
 */
static void
GetRange(ItemScanState *state, ItemRange *range)
{
	ScanBounds	bounds;

	ZbxhistEvaluateConds(state->kinds, state->values,
						 state->css.ss.ps.ps_ExprContext,
						 state->bounds_context, &bounds);
	ZbxhistMakeEmpty(range);
	if (bounds.nitems != 1 || bounds.from_clock > bounds.to_clock ||
		bounds.from_clock > PG_INT32_MAX || bounds.to_clock < PG_INT32_MIN)
		return;
	range->itemid = bounds.items[0];
	range->first = make_position((int32) Max(bounds.from_clock, PG_INT32_MIN),
								 PG_INT32_MIN);
	range->last = make_position((int32) Min(bounds.to_clock, PG_INT32_MAX),
								PG_INT32_MAX);
	range->is_descending = state->is_descending;
}

/*
 * LockPartitions locks the partitions that may have rows of a range.  A lock
 * takes in what has happened meanwhile, so then it looks again, but not for
 * ever: the reader copes with whatever happens.
 */
static void
LockPartitions(Relation parent, const ItemRange *range)
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

		for (int i = 0; i < set->npartitions &&
			 ZbxhistPartitionSetIsValid(set); i++)
		{
			if (clocks_overlap(&set->partitions[i], &bounds))
				LockRelationOid(set->partitions[i].relid, AccessShareLock);
		}
		if (ZbxhistPartitionSetIsValid(set))
			break;
	}
}

/*
 * StartItem begins to read.  Whoever does that a second time will do it again,
 * so tables stay open from then on.
 */
static void
StartItem(ItemScanState *state)
{
	EState	   *estate = state->css.ss.ps.state;
	MemoryContext old = MemoryContextSwitchTo(estate->es_query_cxt);
	ItemRange	range;

	GetRange(state, &range);
	LockPartitions(state->css.ss.ss_currentRelation, &range);
	if (state->reader == NULL)
		state->reader = ZbxhistOpenReader(state->css.ss.ss_currentRelation,
										  estate->es_snapshot, AccessShareLock,
										  false);
	ZbxhistReadItem(state->reader, &range);
	state->has_started = true;
	MemoryContextSwitchTo(old);
}

/*
 * NextOfItem puts the next row into the scan's slot, which is empty at the
 * end.  Values stay where they are until the next one is read.
 */
static TupleTableSlot *
NextOfItem(ScanState *node)
{
	ItemScanState *state = (ItemScanState *) node;
	TupleTableSlot *slot = node->ss_ScanTupleSlot;
	int			natts = slot->tts_tupleDescriptor->natts;
	TupleTableSlot *row;

	if (!state->has_started)
		StartItem(state);
	ExecClearTuple(slot);
	if (!ZbxhistReadNext(state->reader))
		return slot;
	row = ZbxhistReadSlot(state->reader);
	slot_getallattrs(row);
	memcpy(slot->tts_values, row->tts_values, sizeof(Datum) * natts);
	memcpy(slot->tts_isnull, row->tts_isnull, sizeof(bool) * natts);
	return ExecStoreVirtualTuple(slot);
}

/*
 * RecheckItem is asked for by ExecScan; no rows are locked, so there is
 * nothing to check.
 */
static bool
RecheckItem(ScanState *node, TupleTableSlot *slot)
{
	return true;
}

/*
 * ExecItem gives out the next row.
 */
static TupleTableSlot *
ExecItem(CustomScanState *node)
{
	return ExecScan(&node->ss, NextOfItem, RecheckItem);
}

/*
 * EndItem closes what is open.
 */
static void
EndItem(CustomScanState *node)
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
	bool		with_names = es->verbose || list_length(es->rtable) > 1;

	ExplainPropertyText("Item Cond",
						deparse_expression((Node *) make_ands_explicit(conditions),
										   context, with_names, false), es);
	ExplainPropertyText("Order", state->is_descending ? "newest first" :
						"oldest first", es);
	if (es->analyze)
		ExplainPropertyInteger("Tables Read", NULL, state->reader == NULL ? 0 :
							   ZbxhistCountSources(state->reader), es);
}

static const CustomExecMethods item_exec_methods = {
	.CustomName = "ZbxhistItem",
	.BeginCustomScan = BeginItem,
	.ExecCustomScan = ExecItem,
	.EndCustomScan = EndItem,
	.ReScanCustomScan = ReScanItem,
	.ExplainCustomScan = ExplainItem
};

/*
 * CreateItemState makes the node's state.
 */
static Node *
CreateItemState(CustomScan *scan)
{
	ItemScanState *state = (ItemScanState *) newNode(sizeof(ItemScanState),
													 T_CustomScanState);

	state->css.methods = &item_exec_methods;
	return (Node *) state;
}

/*
 * ZbxhistItemScanInit registers the scan; called by _PG_init.
 */
void
ZbxhistItemScanInit(void)
{
	RegisterCustomScanMethods(&item_scan_methods);
}
