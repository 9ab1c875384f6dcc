/*-------------------------------------------------------------------------
 *
 * exec_insert.c
 *	  Executes the custom scan that fast_insert.c plans.
 *
 * One call evaluates all rows, forms each tuple once, in the memory of the batch, and
 * closes the batch, so that all rows are stored, or an error raised, before the node
 * returns.  It returns no rows.  The batch decides where a row goes
 * (ingest/batch_route.c), as for the rows of the trigger.  Rows without a partition go to
 * the parent by the batch, too.
 *
 * The relation is opened, and its privileges are checked, by the executor.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "commands/explain.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/rel.h"

#include "compat.h"
#include "ingest/batch.h"
#include "ingest/fast_insert.h"
#include "ingest/literal.h"
#include "ingest/row_layout.h"
#include "tables/partition_set.h"

typedef struct InsertState
{
	CustomScanState css;		/* must be first */
	LiteralState literals;
	InsertBatch *batch;			/* open while the node runs */
	MemoryContext memory;		/* of the batch's rows */
	const PartitionSet *set;	/* of the table, for its columns' numbers */
	int			ncolumns;		/* of each row */
	AttrNumber *attnums;		/* columns of the table, 0: not stored */
	Datum	   *values;			/* the row being built, in the table's column
								 * order */
	bool	   *nulls;
	RowLayout  *layout;			/* how tuples are formed */
	bool		is_done;

	/* for EXPLAIN */
	InsertStats stats;
	List	   *partitions;		/* OIDs */
} InsertState;

static const CustomExecMethods insert_exec_methods;

const ScanNode zbxhist_insert_scan = {
	.methods = {"ZbxhistInsert", create_scan_state},
	.state_size = sizeof(InsertState),
	.exec_methods = &insert_exec_methods
};

/*
 * BeginInsert does nothing, because EXPLAIN without ANALYZE calls it, too.
 */
static void
BeginInsert(CustomScanState *node, EState *estate, int eflags)
{
}

/*
 * GetPrivate returns a member of the plan's custom_private.
 */
static List *
GetPrivate(const InsertState *state, FastInsertPrivate member)
{
	const CustomScan *scan = (const CustomScan *) state->css.ss.ps.plan;

	return (List *) list_nth(scan->custom_private, member);
}

/*
 * PrepareInsert prepares the forming of rows, in the statement's memory.  Columns without
 * literals get their values once: the default, or NULL.
 */
static void
PrepareInsert(InsertState *state)
{
	int			natts = RelationGetDescr(state->css.ss.ss_currentRelation)->natts;
	List	   *attnums = GetPrivate(state, FAST_ROW_ATTNUMS);
	ListCell   *expr;
	ListCell   *lc;

	ZbxhistInitLiterals(&state->literals, &state->css.ss.ps);
	state->values = palloc0(sizeof(Datum) * natts);
	state->nulls = palloc(sizeof(bool) * natts);
	memset(state->nulls, true, sizeof(bool) * natts);
	forboth(expr, GetPrivate(state, FAST_CONSTANTS),
			lc, GetPrivate(state, FAST_CONSTANT_ATTNUMS))
	{
		int			i = lfirst_int(lc) - 1;

		state->values[i] = ZbxhistEvalLiteral(&state->literals, lfirst(expr),
											  &state->nulls[i]);
	}

	state->attnums = palloc(sizeof(AttrNumber) * Max(list_length(attnums), 1));
	state->ncolumns = 0;
	foreach(lc, attnums)
		state->attnums[state->ncolumns++] = (AttrNumber) lfirst_int(lc);
}

/*
 * RouteLiteral evaluates a row, forms its tuple in the batch's memory and hands it
 * over to the batch.
 */
static void
RouteLiteral(InsertState *state, const List *exprs)
{
	Relation	parent = state->css.ss.ss_currentRelation;
	ExprContext *econtext = state->css.ss.ps.ps_ExprContext;
	MemoryContext old = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
	AttrNumber	clock = state->set->clock_attnum;
	AttrNumber	ns = state->set->ns_attnum;
	AttrNumber	itemid = state->set->itemid_attnum;
	NewRow		row = {.is_owned = true};
	Oid			relid;

	for (int i = 0; i < state->ncolumns; i++)
	{
		AttrNumber	attnum = state->attnums[i];

		if (attnum != 0)
			state->values[attnum - 1] =
				ZbxhistEvalLiteral(&state->literals, list_nth(exprs, i),
								   &state->nulls[attnum - 1]);
	}

	row.has_clock = clock != InvalidAttrNumber && !state->nulls[clock - 1];
	if (row.has_clock)
		row.clock = DatumGetInt32(state->values[clock - 1]);
	if (ns != InvalidAttrNumber && !state->nulls[ns - 1])
		row.ns = DatumGetInt32(state->values[ns - 1]);
	if (itemid != InvalidAttrNumber && !state->nulls[itemid - 1])
		row.itemid = DatumGetInt64(state->values[itemid - 1]);

	MemoryContextSwitchTo(state->memory);
	row.tuple = ZbxhistFormRow(state->layout, state->values, state->nulls);
	MemoryContextSwitchTo(old);
	row.tuple->t_tableOid = RelationGetRelid(parent);
	relid = ZbxhistRouteRow(state->batch, parent, &row);
	if (state->css.ss.ps.instrument != NULL && OidIsValid(relid) &&
		relid != RelationGetRelid(parent))
		state->partitions = list_append_unique_oid(state->partitions, relid);
	ResetExprContext(econtext);
}

/*
 * ExecInsertRows stores all rows and returns nothing.
 */
static TupleTableSlot *
ExecInsertRows(CustomScanState *node)
{
	InsertState *state = (InsertState *) node;
	EState	   *estate = node->ss.ps.state;
	Relation	parent = node->ss.ss_currentRelation;
	List	   *rows = GetPrivate(state, FAST_ROWS);
	ListCell   *lc;

	if (state->is_done)
		return NULL;
	state->is_done = true;

	PrepareInsert(state);
	state->batch = ZbxhistOpenBatch(parent, node, estate->es_output_cid);
	state->memory = ZbxhistBatchMemory(state->batch);
	state->set = ZbxhistGetPartitionSet(parent);
	state->layout = ZbxhistDescribeRow(RelationGetDescr(parent),
									   list_length(rows));
	foreach(lc, rows)
	{
		CHECK_FOR_INTERRUPTS();
		RouteLiteral(state, lfirst_node(List, lc));
	}
	state->stats = ZbxhistCloseBatch(state->batch);
	state->batch = NULL;

	if (estate->es_plannedstmt->canSetTag)
		estate->es_processed += list_length(rows) - state->stats.left_out;
	return NULL;
}

/*
 * EndInsert has nothing to release: the batch is closed, or the transaction
 * is being aborted.
 */
static void
EndInsert(CustomScanState *node)
{
}

/*
 * ReScanInsert does not insert again.
 */
static void
ReScanInsert(CustomScanState *node)
{
}

/*
 * ExplainInsert shows how many rows there are and, after execution, where they were
 * stored.
 */
static void
ExplainInsert(CustomScanState *node, List *ancestors, ExplainState *es)
{
	InsertState *state = (InsertState *) node;

	ExplainPropertyInteger("Rows to Insert", NULL,
						   list_length(GetPrivate(state, FAST_ROWS)), es);
	if (!es->analyze || !state->is_done)
		return;
	ExplainPropertyInteger("Rows Routed", NULL, state->stats.routed, es);
	ExplainPropertyInteger("Rows Kept", NULL, state->stats.kept, es);
	if (state->stats.left_out > 0)
		ExplainPropertyInteger("Rows Left Out", NULL, state->stats.left_out,
							   es);
	ExplainPropertyInteger("Partitions", NULL, list_length(state->partitions),
						   es);
	ExplainPropertyInteger("Batches", NULL, state->stats.flushes, es);
}

static const CustomExecMethods insert_exec_methods = {
	.CustomName = "ZbxhistInsert",
	.BeginCustomScan = BeginInsert,
	.ExecCustomScan = ExecInsertRows,
	.EndCustomScan = EndInsert,
	.ReScanCustomScan = ReScanInsert,
	.ExplainCustomScan = ExplainInsert
};
