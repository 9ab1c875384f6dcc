/*-------------------------------------------------------------------------
 *
 * item_read.c
 *	  Executes the custom scan that item_select.c plans.
 *
 * The values of the conditions are evaluated when the first row is requested.  For each
 * item they give a range of positions.  It is read from one partition or packed day after
 * the other, and from the parent's own rows, as long as rows are requested
 * (read/reader.c).
 *
 * The relation is opened, and its privileges are checked, by the executor; the snapshot
 * is the query's.  All partitions that may have rows are locked, but only those that are
 * read are opened; reader.c says why no row is missed.  Memory is allocated in the
 * query's context.  Relations are closed with the scan, or by the resource owner.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "commands/explain.h"
#include "executor/executor.h"
#include "nodes/makefuncs.h"
#include "miscadmin.h"
#include "optimizer/optimizer.h"
#include "utils/rel.h"
#include "utils/ruleutils.h"

#include "compat.h"
#include "fdw/fdw.h"
#include "guc.h"
#include "packed/column_filter.h"
#include "packed/day_reader.h"
#include "packed/scan_bounds.h"
#include "read/item_read.h"
#include "read/item_scan.h"
#include "read/reader.h"

typedef struct ItemReadState
{
	CustomScanState css;		/* must be first */
	Relation	parent;			/* borrowed */
	ItemReader *reader;			/* NULL: nothing has been read yet */
	bool		has_started;	/* it reads the items below */
	List	   *values;			/* ExprStates of conditions */
	MemoryContext context;		/* owns the items of bounds */
	ScanBounds	bounds;
	ColumnFilter *filter;		/* of packed rows; NULL: none yet, or not
								 * worth it */
	int			next_item;		/* of bounds.items, in the order in which they
								 * are read */
	bool		items_descending;
	ItemRange	range;			/* of each item */
	bool		limits_item;	/* the limit is of each item's rows */
	uint64		limit;
	uint64		rows_left;		/* rows left of the limit */
	int			ntargets;
	AttrNumber *attnums;		/* columns of the parent */
	AttrNumber	last_attnum;	/* of these and of the filter */
	LockedPartitions locked;
} ItemReadState;

static const CustomExecMethods item_read_methods;

const ScanNode zbxhist_item_read = {
	.methods = {"ZbxhistItemRows", create_scan_state},
	.state_size = sizeof(ItemReadState),
	.exec_methods = &item_read_methods
};

/*
 * GetReadPrivate returns a member of the plan's custom_private.
 */
static void *
GetReadPrivate(const ItemReadState *state, ItemReadPrivate member)
{
	const CustomScan *scan = (const CustomScan *) state->css.ss.ps.plan;

	return list_nth(scan->custom_private, member);
}

/*
 * BeginItemRead prepares the conditions; nothing is opened before the first row is asked
 * for.  The executor has prepared the filter.
 */
static void
BeginItemRead(CustomScanState *node, EState *estate, int eflags)
{
	ItemReadState *state = (ItemReadState *) node;

	state->parent = take_scan_relation(&node->ss);
	state->values = ExecInitExprList(((CustomScan *) node->ss.ps.plan)->custom_exprs,
									 &node->ss.ps);
	state->context = AllocSetContextCreate(CurrentMemoryContext, "zbxhist items read",
										   ALLOCSET_SMALL_SIZES);
}

/* ---- conditions ---- */

/*
 * EvalRange makes the range of the values that the conditions have.
 */
static void
EvalRange(ItemReadState *state)
{
	List	   *order = GetReadPrivate(state, ITEM_READ_ORDER);

	ZbxhistEvaluateConds(GetReadPrivate(state, ITEM_READ_CONDS), state->values,
						 state->css.ss.ps.ps_ExprContext, state->context, &state->bounds);
	ZbxhistBoundsRange(&state->bounds, &state->range);
	state->range.is_descending = list_nth_int(order, ORDER_IS_DESCENDING);
	state->items_descending = list_nth_int(order, ORDER_ITEMS_DESCENDING);
	state->limits_item = list_nth_int(order, ORDER_LIMITS_ITEM);
}

/*
 * EvalLimit evaluates the limit.
 */
static void
EvalLimit(ItemReadState *state)
{
	Expr	   *limit = GetReadPrivate(state, ITEM_READ_LIMIT);
	bool		isnull;
	int64		value;

	state->limit = PG_UINT64_MAX;
	if (limit == NULL)
		return;
	value = DatumGetInt64(ExecEvalExpr(ExecInitExpr(limit, &state->css.ss.ps),
									   state->css.ss.ps.ps_ExprContext, &isnull));
	if (!isnull && value < 0)
		ereport(ERROR,
				errcode(ERRCODE_INVALID_ROW_COUNT_IN_LIMIT_CLAUSE),
				errmsg("LIMIT must not be negative"));
	if (!isnull)
		state->limit = value;
}

/* ---- reading ---- */

/*
 * PrepareTargets notes which columns are wanted, in the query's memory.
 */
static void
PrepareTargets(ItemReadState *state)
{
	List	   *attnums = GetReadPrivate(state, ITEM_READ_ATTNUMS);
	Bitmapset  *filtered = NULL;
	ListCell   *lc;

	state->attnums = palloc(sizeof(AttrNumber) * list_length(attnums));
	foreach(lc, attnums)
	{
		AttrNumber	attnum = lfirst_int(lc);

		state->attnums[state->ntargets++] = attnum;
		state->last_attnum = Max(state->last_attnum, attnum);
	}
	pull_varattnos((Node *) state->css.ss.ps.plan->qual, 1, &filtered);
	if (filtered != NULL)
		state->last_attnum = Max(state->last_attnum, bms_prev_member(filtered, -1) +
								 FirstLowInvalidHeapAttributeNumber);
}

/*
 * NextReadItem begins with the next item; returns false if there is none, or no row is
 * wanted any more.
 */
static bool
NextReadItem(ItemReadState *state)
{
	const ScanBounds *bounds = &state->bounds;
	int			next = state->next_item;

	if (next == bounds->nitems ||
		(next > 0 && state->rows_left == 0 && !state->limits_item))
		return false;
	state->range.itemid = bounds->items[state->items_descending ?
										bounds->nitems - 1 - next : next];
	state->next_item++;
	if (state->limits_item || next == 0)
		state->rows_left = state->limit;
	ZbxhistReadItem(state->reader, &state->range);
	return true;
}

/*
 * GetPackedFilter returns the plan's filter for packed rows, unless rows of one second are
 * read, for which that takes longer than reading them.
 */
static const ColumnFilter *
GetPackedFilter(ItemReadState *state)
{
	PlanState  *ps = &state->css.ss.ps;

	if (ps->plan->qual == NIL || !zbxhist_enable_packed_scan_pruning ||
		position_clock(state->range.first) == position_clock(state->range.last))
		return NULL;
	if (state->filter == NULL)
		state->filter = ZbxhistMakeColumnFilter(ps->plan->qual, ps);
	ZbxhistSetFilterValues(state->filter, ps->ps_ExprContext, state->context);
	return state->filter;
}

/*
 * StartItemRead begins to read.
 */
static void
StartItemRead(ItemReadState *state)
{
	EState	   *estate = state->css.ss.ps.state;
	Relation	parent = state->parent;
	MemoryContext old = MemoryContextSwitchTo(estate->es_query_cxt);

	if (state->attnums == NULL)
		PrepareTargets(state);
	EvalRange(state);
	EvalLimit(state);
	state->has_started = true;
	if (item_range_is_empty(&state->range) || state->limit == 0)
		state->bounds.nitems = 0;
	if (state->bounds.nitems > 0)
	{
		ItemReaderSpec spec = {
			.keeps_sources = state->bounds.nitems > 1,
			.reads_all = state->limit == PG_UINT64_MAX,
			.filter = GetPackedFilter(state)
		};

		ZbxhistLockScannedPartitions(parent, &state->range, &state->locked);
		state->reader = ZbxhistOpenReader(parent, estate->es_snapshot, &spec);
	}
	MemoryContextSwitchTo(old);
}

/*
 * IsWanted says whether a row of the parent, of which the columns are there, passes the
 * filter.
 */
static inline bool
IsWanted(ItemReadState *state, TupleTableSlot *row)
{
	PlanState  *ps = &state->css.ss.ps;

	if (ps->qual == NULL)
		return true;
	ResetExprContext(ps->ps_ExprContext);
	ps->ps_ExprContext->ecxt_scantuple = row;
	if (ExecQual(ps->qual, ps->ps_ExprContext))
		return true;
	InstrCountFiltered1(ps, 1);
	return false;
}

/*
 * NextWantedRow goes to the next row that is wanted and returns it with its columns; NULL
 * at the end.
 */
static TupleTableSlot *
NextWantedRow(ItemReadState *state)
{
	for (;;)
	{
		TupleTableSlot *row;

		if (state->rows_left == 0 || !ZbxhistReadNext(state->reader))
		{
			CHECK_FOR_INTERRUPTS();
			if (NextReadItem(state))
				continue;
			state->rows_left = 0;
			return NULL;
		}
		row = ZbxhistReadSlot(state->reader);
		slot_getsomeattrs(row, state->last_attnum);
		if (IsWanted(state, row))
			return row;
	}
}

/*
 * ExecItemRead returns the next row.  Values stay where they are until the next one
 * is read.
 */
static TupleTableSlot *
ExecItemRead(CustomScanState *node)
{
	ItemReadState *state = (ItemReadState *) node;
	TupleTableSlot *slot = node->ss.ss_ScanTupleSlot;
	TupleTableSlot *row;

	if (!state->has_started)
		StartItemRead(state);
	ExecClearTuple(slot);
	row = NextWantedRow(state);
	if (row == NULL)
		return slot;
	state->rows_left--;
	for (int i = 0; i < state->ntargets; i++)
	{
		slot->tts_values[i] = row->tts_values[state->attnums[i] - 1];
		slot->tts_isnull[i] = row->tts_isnull[state->attnums[i] - 1];
	}
	return ExecStoreVirtualTuple(slot);
}

/*
 * EndItemRead closes what is open.
 */
static void
EndItemRead(CustomScanState *node)
{
	ItemReadState *state = (ItemReadState *) node;

	ExecClearTuple(node->ss.ss_ScanTupleSlot);
	if (state->reader != NULL)
		ZbxhistCloseReader(state->reader);
	state->reader = NULL;
}

/*
 * ReScanItemRead begins again, with the present values of parameters.
 */
static void
ReScanItemRead(CustomScanState *node)
{
	ItemReadState *state = (ItemReadState *) node;

	EndItemRead(node);
	state->next_item = 0;
	state->rows_left = 0;
	state->has_started = false;
}

/* ---- EXPLAIN ---- */

/*
 * ExplainItemRead shows the conditions, and with ANALYZE how many tables have been
 * read.
 */
static void
ExplainItemRead(CustomScanState *node, List *ancestors, ExplainState *es)
{
	const ItemReadState *state = (const ItemReadState *) node;
	List	   *context = set_deparse_context_plan(es->deparse_cxt,
												   node->ss.ps.plan, ancestors);
	Node	   *limit = GetReadPrivate(state, ITEM_READ_LIMIT);
	Node	   *quals = eval_const_expressions(NULL, (Node *)
											   make_ands_explicit(GetReadPrivate(state,
																				 ITEM_READ_QUALS)));

	ExplainPropertyText("Item Cond",
						deparse_expression(quals, context, shows_table_names(es),
										   false), es);
	ExplainPropertyText("Order",
						list_nth_int(GetReadPrivate(state, ITEM_READ_ORDER),
									 ORDER_IS_DESCENDING) ?
						"newest first" : "oldest first", es);
	if (limit != NULL)
		ExplainPropertyText(list_nth_int(GetReadPrivate(state, ITEM_READ_ORDER),
										 ORDER_LIMITS_ITEM) ?
							"Limit of Each Item" : "Limit",
							deparse_expression(limit, context, false, false),
							es);
	if (!es->analyze)
		return;
	ExplainPropertyInteger("Tables Read", NULL, state->reader == NULL ? 0 :
						   ZbxhistCountSources(state->reader), es);
	if (state->reader != NULL && ZbxhistCountPacked(state->reader)->days > 0)
		ZbxhistExplainPacked(ZbxhistCountPacked(state->reader), es);
}

static const CustomExecMethods item_read_methods = {
	.CustomName = "ZbxhistItemRows",
	.BeginCustomScan = BeginItemRead,
	.ExecCustomScan = ExecItemRead,
	.EndCustomScan = EndItemRead,
	.ReScanCustomScan = ReScanItemRead,
	.ExplainCustomScan = ExplainItemRead
};
