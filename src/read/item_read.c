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

#include "access/stratnum.h"
#include "commands/explain.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "optimizer/optimizer.h"
#include "utils/rel.h"
#include "utils/ruleutils.h"

#include "compat.h"
#include "fdw/fdw.h"
#include "ingest/literal.h"
#include "packed/day_reader.h"
#include "packed/scan_bounds.h"
#include "read/item_read.h"
#include "read/item_scan.h"
#include "read/reader.h"
#include "read_integer.h"

/* numbers from first to last; none if that is before first */
typedef struct NumberRange
{
	int64		first;
	int64		last;
} NumberRange;

typedef struct ItemReadState
{
	CustomScanState css;		/* must be first */
	ItemReader *reader;			/* NULL: nothing has been read yet */
	bool		has_started;	/* it reads the items below */
	int64	   *items;			/* sorted, each once */
	int			nitems;
	int			next_item;		/* of these, in the order in which they are
								 * read */
	bool		items_descending;
	ItemRange	range;			/* of each item */
	NumberRange ns;				/* of rows of other seconds than the range's
								 * first and last */
	bool		limits_item;	/* the limit is of each item's rows */
	uint64		limit;
	uint64		rows_left;		/* of it, when an item has been begun with */
	int			ntargets;
	AttrNumber *attnums;		/* columns of the parent */
	AttrNumber	last_attnum;	/* of these */
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
 * BeginItemRead has nothing to do: EXPLAIN without ANALYZE comes as far as this.
 */
static void
BeginItemRead(CustomScanState *node, EState *estate, int eflags)
{
}

/* ---- conditions ---- */

/*
 * EvalInteger returns an integer of that type as an int8.
 */
static int64
EvalInteger(Oid type, Datum value)
{
	int64		result = 0;

	(void) read_integer(type, value, &result);
	return result;
}

/*
 * NarrowRange narrows a range to the numbers for which "number operator value" holds.
 */
static void
NarrowRange(NumberRange *range, StrategyNumber strategy, int64 value)
{
	switch (strategy)
	{
		case BTLessStrategyNumber:
			if (value == PG_INT64_MIN)
				range->first = PG_INT64_MAX;
			range->last = Min(range->last, value - (value > PG_INT64_MIN));
			break;
		case BTLessEqualStrategyNumber:
			range->last = Min(range->last, value);
			break;
		case BTEqualStrategyNumber:
			range->first = Max(range->first, value);
			range->last = Min(range->last, value);
			break;
		case BTGreaterEqualStrategyNumber:
			range->first = Max(range->first, value);
			break;
		case BTGreaterStrategyNumber:
			if (value == PG_INT64_MAX)
				range->last = PG_INT64_MIN;
			range->first = Max(range->first, value + (value < PG_INT64_MAX));
			break;
	}
}

/*
 * EvalItems makes the list of items of an array, or of one that IN has.  NULL is none of
 * them; a NULL in place of the array means no items.
 */
static void
EvalItems(ItemReadState *state, LiteralState *literals, Oid type, Node *value)
{
	bool		is_list = IsA(value, ArrayExpr);
	List	   *exprs = is_list ? ((ArrayExpr *) value)->elements : NIL;
	int			nelements = list_length(exprs);
	Datum	   *elements = NULL;
	bool	   *nulls = NULL;

	if (!is_list)
	{
		bool		isnull;
		Datum		array = ZbxhistEvalLiteral(literals, value, &isnull);

		if (!isnull)
			deconstruct_array(DatumGetArrayTypeP(array), type,
							  type == INT2OID ? sizeof(int16) :
							  type == INT4OID ? sizeof(int32) : sizeof(int64),
							  true,
							  type == INT2OID ? TYPALIGN_SHORT :
							  type == INT4OID ? TYPALIGN_INT : TYPALIGN_DOUBLE,
							  &elements, &nulls, &nelements);
	}
	state->items = palloc(sizeof(int64) * Max(nelements, 1));
	state->nitems = 0;
	for (int i = 0; i < nelements; i++)
	{
		bool		isnull;
		Datum		element;

		if (is_list)
			element = ZbxhistEvalLiteral(literals, list_nth(exprs, i), &isnull);
		else
		{
			element = elements[i];
			isnull = nulls[i];
		}
		if (!isnull)
			state->items[state->nitems++] = EvalInteger(type, element);
	}
	state->nitems = ZbxhistSortItems(state->items, state->nitems);
}

/*
 * EvalConds makes the range of the values that the conditions have, and the
 * limit.  A comparison with NULL holds for no row.
 */
static void
EvalConds(ItemReadState *state)
{
	const CustomScan *scan = (const CustomScan *) state->css.ss.ps.plan;
	List	   *conds = GetReadPrivate(state, ITEM_READ_CONDS);
	List	   *order = GetReadPrivate(state, ITEM_READ_ORDER);
	Node	   *limit = GetReadPrivate(state, ITEM_READ_LIMIT);
	NumberRange ranges[READ_NS + 1] = {
		[READ_ITEM] = {PG_INT64_MIN, PG_INT64_MAX},
		[READ_CLOCK] = {PG_INT32_MIN, PG_INT32_MAX},
		[READ_NS] = {PG_INT32_MIN, PG_INT32_MAX}
	};
	NumberRange *clock = &ranges[READ_CLOCK];
	bool		has_null = false;
	LiteralState literals;
	ListCell   *lc;

	ZbxhistInitLiterals(&literals, &state->css.ss.ps);
	foreach(lc, scan->custom_exprs)
	{
		int			i = foreach_current_index(lc) * COND_PARTS;
		StrategyNumber strategy = list_nth_int(conds, i + COND_STRATEGY);
		Oid			type = (Oid) list_nth_int(conds, i + COND_TYPE);
		bool		isnull;
		Datum		value;

		if (strategy == InvalidStrategy)
		{
			EvalItems(state, &literals, type, lfirst(lc));
			continue;
		}
		value = ZbxhistEvalLiteral(&literals, lfirst(lc), &isnull);
		if (isnull)
			has_null = true;
		else
			NarrowRange(&ranges[list_nth_int(conds, i + COND_COLUMN)], strategy,
						EvalInteger(type, value));
	}
	if (state->items == NULL)
	{
		state->items = palloc(sizeof(int64));
		state->items[0] = ranges[READ_ITEM].first;
		state->nitems = 1;
	}
	state->ns = ranges[READ_NS];
	state->range.is_descending = list_nth_int(order, ORDER_IS_DESCENDING);
	state->items_descending = list_nth_int(order, ORDER_ITEMS_DESCENDING);
	state->limits_item = list_nth_int(order, ORDER_LIMITS_ITEM);
	if (has_null || clock->first > clock->last || state->ns.first > state->ns.last)
		ZbxhistMakeEmpty(&state->range);
	else
	{
		state->range.first = make_position(clock->first, state->ns.first);
		state->range.last = make_position(clock->last, state->ns.last);
	}

	state->limit = PG_UINT64_MAX;
	if (limit != NULL)
	{
		bool		isnull;
		int64		value = DatumGetInt64(ZbxhistEvalLiteral(&literals, limit,
															 &isnull));

		if (!isnull && value < 0)
			ereport(ERROR,
					errcode(ERRCODE_INVALID_ROW_COUNT_IN_LIMIT_CLAUSE),
					errmsg("LIMIT must not be negative"));
		if (!isnull)
			state->limit = value;
	}
}

/* ---- reading ---- */

/*
 * PrepareTargets notes which columns are wanted, in the query's memory.
 */
static void
PrepareTargets(ItemReadState *state)
{
	List	   *attnums = GetReadPrivate(state, ITEM_READ_ATTNUMS);
	ListCell   *lc;

	state->attnums = palloc(sizeof(AttrNumber) * list_length(attnums));
	foreach(lc, attnums)
	{
		AttrNumber	attnum = lfirst_int(lc);

		state->attnums[state->ntargets++] = attnum;
		state->last_attnum = Max(state->last_attnum, attnum);
	}
}

/*
 * NextReadItem begins with the next item; returns false if there is none, or no row is
 * wanted any more.
 */
static bool
NextReadItem(ItemReadState *state)
{
	int			next = state->next_item;

	if (next == state->nitems || (next > 0 && state->rows_left == 0 && !state->limits_item))
		return false;
	state->range.itemid = state->items[state->items_descending ?
									   state->nitems - 1 - next : next];
	state->next_item++;
	if (state->limits_item || next == 0)
		state->rows_left = state->limit;
	ZbxhistReadItem(state->reader, &state->range);
	return true;
}

/*
 * StartItemRead begins to read.
 */
static void
StartItemRead(ItemReadState *state)
{
	EState	   *estate = state->css.ss.ps.state;
	Relation	parent = state->css.ss.ss_currentRelation;
	MemoryContext old = MemoryContextSwitchTo(estate->es_query_cxt);

	if (state->attnums == NULL)
		PrepareTargets(state);
	EvalConds(state);
	state->has_started = true;
	if (item_range_is_empty(&state->range) || state->limit == 0)
		state->nitems = 0;
	if (state->nitems > 0)
	{
		ZbxhistLockScannedPartitions(parent, &state->range, &state->locked);
		state->reader = ZbxhistOpenReader(parent, estate->es_snapshot,
										  state->nitems > 1);
		if (state->limit == PG_UINT64_MAX)
			ZbxhistReadsToEnd(state->reader);
	}
	MemoryContextSwitchTo(old);
}

/*
 * HasWantedNs says whether the row that was read last meets the conditions on ns.  (A
 * range of positions limits ns in its first and its last second only.)
 */
static bool
HasWantedNs(const ItemReadState *state)
{
	int32		ns = position_ns(ZbxhistReadPosition(state->reader));

	return ns >= state->ns.first && ns <= state->ns.last;
}

/*
 * ExecItemRead gives out the next row.  Values stay where they are until the next one
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
	do
	{
		while (state->rows_left == 0 || !ZbxhistReadNext(state->reader))
		{
			CHECK_FOR_INTERRUPTS();
			if (!NextReadItem(state))
			{
				state->rows_left = 0;
				return slot;
			}
		}
	} while (!HasWantedNs(state));
	state->rows_left--;
	row = ZbxhistReadSlot(state->reader);
	slot_getsomeattrs(row, state->last_attnum);
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
	if (state->has_started)
		pfree(state->items);
	state->items = NULL;
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
	Node	   *quals = eval_const_expressions(NULL,
											   GetReadPrivate(state,
															  ITEM_READ_QUALS));

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
