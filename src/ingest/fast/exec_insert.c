/*-------------------------------------------------------------------------
 *
 * exec_insert.c
 *	  Executes the custom scan that fast_insert.c plans.
 *
 * One call evaluates all rows, forms each tuple once, in the memory of the
 * batch, and closes the batch, so that all rows are stored, or an error
 * raised, before the node returns.  It returns no rows.  What happens to a
 * row on its way is the batch's business (ingest/batch.c), as for the rows of
 * the trigger; those without a partition go the same way to the parent.
 *
 * The relation is opened, and its privileges are checked, by the executor.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "commands/explain.h"
#include "commands/trigger.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "compat.h"
#include "guc.h"
#include "ingest/batch.h"
#include "ingest/fast/fast_insert.h"
#include "ingest/fast/literal.h"
#include "ingest/fast/row_layout.h"

typedef struct InsertState
{
	CustomScanState css;		/* must be first */
	LiteralState literals;
	InsertBatch *batch;			/* open while the node runs */
	int			ncolumns;		/* of each row */
	AttrNumber *attnums;		/* columns of the table, 0: not stored */
	Datum	   *values;			/* the row being formed, in the table's order */
	bool	   *nulls;
	RowLayout  *layout;			/* how tuples are formed */
	bool		is_done;

	/* for EXPLAIN */
	InsertStats stats;
	List	   *partitions;		/* OIDs */
} InsertState;

static Node *CreateInsertState(CustomScan *scan);
static void BeginInsert(CustomScanState *node, EState *estate, int eflags);
static TupleTableSlot *ExecInsertRows(CustomScanState *node);
static void EndInsert(CustomScanState *node);
static void ReScanInsert(CustomScanState *node);
static void ExplainInsert(CustomScanState *node, List *ancestors,
						  ExplainState *es);

const CustomScanMethods ZbxhistInsertMethods = {
	.CustomName = "ZbxhistInsert",
	.CreateCustomScanState = CreateInsertState
};

static const CustomExecMethods insert_exec_methods = {
	.CustomName = "ZbxhistInsert",
	.BeginCustomScan = BeginInsert,
	.ExecCustomScan = ExecInsertRows,
	.EndCustomScan = EndInsert,
	.ReScanCustomScan = ReScanInsert,
	.ExplainCustomScan = ExplainInsert
};

/*
 * CreateInsertState makes the node's state.
 */
static Node *
CreateInsertState(CustomScan *scan)
{
	InsertState *state = (InsertState *) newNode(sizeof(InsertState),
												 T_CustomScanState);

	state->css.methods = &insert_exec_methods;
	return (Node *) state;
}

/*
 * BeginInsert has nothing to do: EXPLAIN without ANALYZE comes as far as
 * this.
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
 * FillConstants puts the columns that all rows have in common into the row
 * being formed: defaults, NULL elsewhere.  They live as long as the statement.
 */
static void
FillConstants(InsertState *state, int natts)
{
	ListCell   *expr;
	ListCell   *attnum;

	state->values = palloc0(sizeof(Datum) * natts);
	state->nulls = palloc(sizeof(bool) * natts);
	memset(state->nulls, true, sizeof(bool) * natts);

	forboth(expr, GetPrivate(state, FAST_CONSTANTS),
			attnum, GetPrivate(state, FAST_CONSTANT_ATTNUMS))
	{
		int			i = lfirst_int(attnum) - 1;

		state->values[i] = ZbxhistEvalLiteral(&state->literals, lfirst(expr),
											  &state->nulls[i]);
	}
}

/*
 * PrepareInsert sets up what rows are formed with, in the statement's memory.
 */
static void
PrepareInsert(InsertState *state)
{
	Relation	parent = state->css.ss.ss_currentRelation;
	List	   *attnums = GetPrivate(state, FAST_ROW_ATTNUMS);
	ListCell   *lc;

	ZbxhistInitLiterals(&state->literals, &state->css.ss.ps);
	FillConstants(state, RelationGetDescr(parent)->natts);

	state->attnums = palloc(sizeof(AttrNumber) * Max(list_length(attnums), 1));
	state->ncolumns = 0;
	foreach(lc, attnums)
		state->attnums[state->ncolumns++] = (AttrNumber) lfirst_int(lc);
}

/*
 * EvalRow evaluates a row into values and nulls.
 */
static void
EvalRow(InsertState *state, const List *row)
{
	for (int i = 0; i < state->ncolumns; i++)
	{
		AttrNumber	attnum = state->attnums[i];

		if (attnum != 0)
			state->values[attnum - 1] =
				ZbxhistEvalLiteral(&state->literals, list_nth(row, i),
								   &state->nulls[attnum - 1]);
	}
}

/*
 * ChooseTable returns the table for the row being formed: its partition, or
 * the parent if it has none or must not leave.
 */
static Oid
ChooseTable(InsertState *state, Relation parent, int32 *clock)
{
	InsertBatch *batch = state->batch;
	AttrNumber	attnum = batch->set->clock_attnum;
	const PartitionBounds *partition;

	*clock = 0;
	if (attnum == InvalidAttrNumber || state->nulls[attnum - 1])
		return batch->parent;	/* the parent's NOT NULL will tell */
	*clock = DatumGetInt32(state->values[attnum - 1]);
	partition = ZbxhistFindRowPartition(batch, parent, *clock);
	if (partition == NULL)
		return batch->parent;
	if (batch->action == ROW_KEEP || !batch->set->is_routing)
	{
		ZbxhistNoteStrays(batch, parent);
		return batch->parent;
	}
	return partition->relid;
}

/*
 * BufferRow forms the row's tuple in the batch's memory and hands it over.
 */
static void
BufferRow(InsertState *state)
{
	InsertBatch *batch = state->batch;
	AttrNumber	itemid_attnum = batch->set->itemid_attnum;
	int32		clock;
	int64		itemid = 0;
	Oid			relid;
	MemoryContext old;
	HeapTuple	tuple;

	relid = ChooseTable(state, state->css.ss.ss_currentRelation, &clock);
	if (itemid_attnum != 0 && !state->nulls[itemid_attnum - 1])
		itemid = DatumGetInt64(state->values[itemid_attnum - 1]);

	old = MemoryContextSwitchTo(batch->rows_context);
	tuple = ZbxhistFormRow(state->layout, state->values, state->nulls);
	MemoryContextSwitchTo(old);
	tuple->t_tableOid = batch->parent;
	ZbxhistBufferTuple(batch, tuple, relid, itemid, clock);

	if (state->css.ss.ps.instrument != NULL && relid != batch->parent)
		state->partitions = list_append_unique_oid(state->partitions, relid);
}

/*
 * InsertRows puts all rows into the open batch.
 */
static void
InsertRows(InsertState *state, const List *rows)
{
	ExprContext *econtext = state->css.ss.ps.ps_ExprContext;
	ListCell   *lc;

	foreach(lc, rows)
	{
		MemoryContext old =
			MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);

		CHECK_FOR_INTERRUPTS();
		EvalRow(state, lfirst_node(List, lc));
		MemoryContextSwitchTo(old);
		BufferRow(state);
		ResetExprContext(econtext);
	}
}

/*
 * ChooseAction follows the settings, which may have changed since planning if
 * a portal was open.
 */
static RowAction
ChooseAction(void)
{
	if (!zbxhist_enable_routing ||
		SessionReplicationRole == SESSION_REPLICATION_ROLE_REPLICA)
		return ROW_KEEP;
	return zbxhist_enable_batching ? ROW_BUFFER : ROW_INSERT;
}

/*
 * ExecInsertRows stores all rows and returns nothing.
 */
static TupleTableSlot *
ExecInsertRows(CustomScanState *node)
{
	InsertState *state = (InsertState *) node;
	EState	   *estate = node->ss.ps.state;
	ExecFrame  *frame = ZbxhistCurrentFrame();
	List	   *rows = GetPrivate(state, FAST_ROWS);

	if (state->is_done)
		return NULL;
	state->is_done = true;

	PrepareInsert(state);
	state->batch = ZbxhistOpenBatch(node->ss.ss_currentRelation, node,
									frame ? frame->query : NULL,
									estate->es_output_cid, ChooseAction(),
									PATH_FAST);
	state->layout = ZbxhistDescribeRow(state->batch->desc,
									   list_length(rows));
	InsertRows(state, rows);
	ZbxhistFlushBatch(state->batch);
	state->stats = state->batch->stats;
	ZbxhistCloseBatch(state->batch);
	state->batch = NULL;

	if (estate->es_plannedstmt->canSetTag)
		estate->es_processed += list_length(rows);
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
 * ExplainInsert says how many rows there are, and after execution what became
 * of them.
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
	ExplainPropertyInteger("Partitions", NULL, list_length(state->partitions),
						   es);
	ExplainPropertyInteger("Batches", NULL, state->stats.flushes, es);
}
