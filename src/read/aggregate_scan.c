/*-------------------------------------------------------------------------
 *
 * aggregate_scan.c
 *	  Executes aggregates over packed days without rows.
 *
 * All groups are made before the first one is returned: the rows of plans
 * below are added one by one, packed days by segment (packed_groups.c).  If
 * memory does not hold them all, they are spilled (spilled_groups.c).
 *
 * Packed days are locked as by a foreign scan (packed/scan.c).  Memory is allocated in
 * the query's context.  Relations are closed with the scan, or by the resource owner.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "commands/explain.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/extensible.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
#include "utils/ruleutils.h"

#include "compat.h"
#include "fdw/fdw.h"
#include "read/aggregate.h"
#include "read/aggregate_scan.h"

/* ---- beginning ---- */

/*
 * InitGroupKeys prepares the grouping keys and the breaks.
 */
static void
InitGroupKeys(AggregateScanState *state)
{
	List	   *keys = list_nth(state->private, AGGREGATE_KEYS);
	List	   *breaks = list_nth(state->private, AGGREGATE_BREAKS);
	List	   *equals = list_nth(state->private, AGGREGATE_EQUALS);
	List	   *all = list_concat_copy(keys, breaks);
	int			n = list_length(all);
	Bitmapset  *places = NULL;

	state->keys = palloc(sizeof(ExprState *) * Max(n, 1));
	state->table.nkeys = list_length(keys);
	state->nbreaks = list_length(breaks);
	state->table.keys = palloc0(sizeof(GroupKey) * Max(n, 1));
	pull_varattnos((Node *) keys, OUTER_VAR, &places);
	state->depends_on_clock =
		bms_is_member(state->clock - FirstLowInvalidHeapAttributeNumber,
					  places);
	for (int i = 0; i < n; i++)
	{
		GroupKey   *key = &state->table.keys[i];
		Node	   *expr = list_nth(all, i);
		Oid			left;
		Oid			right;

		state->keys[i] = ExecInitExpr((Expr *) expr, &state->css.ss.ps);
		key->type = exprType(expr);
		key->collation = exprCollation(expr);
		get_typlenbyval(key->type, &key->typlen, &key->typbyval);
		if (i >= state->table.nkeys)
			continue;
		fmgr_info(get_opcode(list_nth_oid(equals, i)), &key->equal);
		if (!get_op_hash_functions(list_nth_oid(equals, i), &left, &right))
			elog(ERROR, "operator %u has no hash function",
				 list_nth_oid(equals, i));
		fmgr_info(left, &key->hash);
	}
}

/*
 * InitInputs prepares what is added up.
 */
static void
InitInputs(AggregateScanState *state)
{
	List	   *columns = list_nth(state->private, AGGREGATE_INPUTS);
	List	   *filters = list_nth(state->private, AGGREGATE_FILTERS);
	GroupTable *table = &state->table;

	table->ninputs = list_length(columns);
	table->inputs = palloc0(sizeof(GroupInput) * Max(table->ninputs, 1));
	state->sources = palloc0(sizeof(InputSource) * Max(table->ninputs, 1));
	for (int i = 0; i < table->ninputs; i++)
	{
		InputSource *source = &state->sources[i];
		const Var  *column = list_nth(columns, i);
		Expr	   *filter = list_nth(filters, i);

		table->inputs[i].kind = list_nth_int(list_nth(state->private, AGGREGATE_KINDS), i);
		table->inputs[i].wants_sum =
			list_nth_int(list_nth(state->private, AGGREGATE_SUMS), i);
		if (column != NULL)
		{
			Assert(IsA(column, Var) && column->varattno > 0);
			source->place = column->varattno;
			source->type = table->inputs[i].type = column->vartype;
		}
		if (filter == NULL || state->role == AGGREGATE_COMBINE)
			continue;
		source->check = ExecInitQual(list_make1(filter), &state->css.ss.ps);
		source->filter = ZbxhistMakeColumnFilter(list_make1(filter),
												 &state->css.ss.ps);
		state->has_filters = true;
	}
}

/*
 * BeginAggregate prepares expressions and the plans below; raises an error if the user
 * may not execute an aggregate.
 */
static void
BeginAggregate(CustomScanState *node, EState *estate, int eflags)
{
	AggregateScanState *state = (AggregateScanState *) node;
	CustomScan *plan = (CustomScan *) node->ss.ps.plan;
	List	   *places = list_nth(plan->custom_private, AGGREGATE_PLACES);
	ListCell   *lc;

	state->private = plan->custom_private;
	state->role = list_nth_int(places, PLACE_ROLE);
	state->itemid = list_nth_int(places, PLACE_ITEMID);
	state->clock = list_nth_int(places, PLACE_CLOCK);
	state->follows_clock = list_nth_int(places, PLACE_FOLLOWS_CLOCK);
	/* input rows come in slots of several kinds */
	node->ss.ps.outeropsset = true;
	node->ss.ps.outeropsfixed = false;
	foreach(lc, plan->custom_scan_tlist)
	{
		const Aggref *aggref = (const Aggref *) lfirst_node(TargetEntry, lc)->expr;

		if (IsA(aggref, Aggref))
			check_function_execute(aggref->aggfnoid);
	}
	InitGroupKeys(state);
	InitInputs(state);
	if (state->role != AGGREGATE_COMBINE)
	{
		List	   *local = list_nth(state->private, AGGREGATE_LOCAL);

		state->local = ExecInitQual(local, &node->ss.ps);
		state->filter = ZbxhistMakeColumnFilter(local, &node->ss.ps);
	}
	state->values = ExecInitExprList(plan->custom_exprs, &node->ss.ps);
	state->econtext = CreateExprContext(estate);
	foreach(lc, plan->custom_plans)
		node->custom_ps = lappend(node->custom_ps,
								  ExecInitNode(lfirst(lc), estate, eflags));
	if (eflags & EXEC_FLAG_EXPLAIN_ONLY)
		return;
	ZbxhistInitGroups(&state->table);
	if (state->role != AGGREGATE_COMBINE)
		ZbxhistBeginPackedGroups(state);
	state->counters = state->scan != NULL ? &state->scan->open.counters :
		palloc0(sizeof(ScanCounters));
}

/* ---- adding ---- */

/*
 * AggregateInputs adds the rows of the plans below that are ours; returns false
 * if there are more, for which there is no memory now.
 */
static bool
AggregateInputs(AggregateScanState *state)
{
	int			ninputs = list_length(state->css.custom_ps);

	for (; state->input_number < ninputs; state->input_number++)
	{
		PlanState  *plan = list_nth(state->css.custom_ps, state->input_number);
		TupleTableSlot *slot;

		state->has_input = state->has_input ||
			ZbxhistTakeInput(state, state->input_number);
		while (state->has_input)
		{
			if (groups_are_full(&state->table))
				return false;
			slot = ExecProcNode(plan);
			if (TupIsNull(slot))
				break;
			CHECK_FOR_INTERRUPTS();
			ResetExprContext(state->econtext);
			if (state->role == AGGREGATE_COMBINE)
				ZbxhistAggregateState(state, slot);
			else
				ZbxhistAggregateRow(state, slot);
			state->counters->other_rows++;
		}
		state->has_input = false;
	}
	return true;
}

/*
 * MakeGroups makes the groups, or, in a parallel participant, as many as memory allows.
 */
static void
MakeGroups(AggregateScanState *state)
{
	MemoryContext old =
		MemoryContextSwitchTo(state->css.ss.ps.state->es_query_cxt);

	/* without GROUP BY there is one group, even if there are no rows */
	if (state->table.nkeys == 0)
		(void) ZbxhistFindGroup(&state->table, NULL, NULL);
	for (;;)
	{
		state->is_part = !AggregateInputs(state) ||
			(state->role != AGGREGATE_COMBINE &&
			 !ZbxhistAggregatePacked(state));
		if (!state->is_part || state->role == AGGREGATE_SHARE)
			break;
		ZbxhistSpillGroups(state);
	}
	ZbxhistEndSpilling(state);
	state->is_done = true;
	value_groups_start_iterate(state->table.groups, &state->iterator);
	MemoryContextSwitchTo(old);
}

/* ---- giving out ---- */

/*
 * StoreGroup puts a group's keys and aggregates into the scan's slot.
 */
static TupleTableSlot *
StoreGroup(AggregateScanState *state, const ValueGroup *group)
{
	TupleTableSlot *slot = state->css.ss.ss_ScanTupleSlot;
	List	   *parts = list_nth(state->private, AGGREGATE_PARTS);
	int			nparts = list_length(parts);
	ExprContext *econtext = state->css.ss.ps.ps_ExprContext;
	MemoryContext old = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
	int			nkeys = state->table.nkeys;

	ExecClearTuple(slot);
	memcpy(slot->tts_values, group->keys, sizeof(Datum) * nkeys);
	memcpy(slot->tts_isnull, group->nulls, sizeof(bool) * nkeys);
	if (state->role == AGGREGATE_SHARE)
	{
		slot->tts_values[nkeys] = ZbxhistGroupState(&state->table, group);
		slot->tts_isnull[nkeys] = false;
		nparts = 0;
	}
	for (int i = 0; i < nparts; i++)
	{
		TotalPart	part = list_nth_int(parts, i);
		int			source = list_nth_int(list_nth(state->private,
												   AGGREGATE_SOURCES), i);
		const GroupInput *input = &state->table.inputs[Max(source, 0)];
		bool	   *isnull = &slot->tts_isnull[nkeys + i];

		*isnull = false;
		slot->tts_values[nkeys + i] = source < 0 ?
			Int64GetDatum(group->nrows) :
			ZbxhistTotalResult(&group->totals[source], input->kind, part,
							   input->type, isnull);
	}
	MemoryContextSwitchTo(old);
	return ExecStoreVirtualTuple(slot);
}

/*
 * NextGroupSlot puts the next group into the scan's slot, which is empty at
 * the end.
 */
static TupleTableSlot *
NextGroupSlot(ScanState *node)
{
	AggregateScanState *state = (AggregateScanState *) node;

	for (;;)
	{
		const GroupEntry *entry;

		if (!state->is_done)
			MakeGroups(state);
		entry = value_groups_iterate(state->table.groups, &state->iterator);
		if (entry != NULL)
			return StoreGroup(state, entry->group);
		if (state->is_part)
		{
			ZbxhistEmptyGroups(&state->table);
			state->is_done = false;
		}
		else if (ZbxhistNextSpilled(state))
			value_groups_start_iterate(state->table.groups, &state->iterator);
		else
			return ExecClearTuple(node->ss_ScanTupleSlot);
	}
}

/*
 * ExecAggregate returns the next group for which HAVING holds.  ExecScan cannot do this:
 * during EvalPlanQual, in a subquery, it would return no group.
 */
static TupleTableSlot *
ExecAggregate(CustomScanState *node)
{
	ExprContext *econtext = node->ss.ps.ps_ExprContext;
	ProjectionInfo *projection = node->ss.ps.ps_ProjInfo;

	for (;;)
	{
		TupleTableSlot *slot;

		CHECK_FOR_INTERRUPTS();
		ResetExprContext(econtext);
		slot = NextGroupSlot(&node->ss);
		if (TupIsNull(slot))
			return projection != NULL ? ExecClearTuple(projection->pi_state.resultslot) :
				slot;
		econtext->ecxt_scantuple = slot;
		if (ExecQual(node->ss.ps.qual, econtext))
			return projection != NULL ? ExecProject(projection) : slot;
		InstrCountFiltered1(node, 1);
	}
}

/*
 * EndAggregate closes what is open.
 */
static void
EndAggregate(CustomScanState *node)
{
	AggregateScanState *state = (AggregateScanState *) node;
	ListCell   *lc;

	ExecClearTuple(node->ss.ss_ScanTupleSlot);
	if (state->scan != NULL)
		ZbxhistReportToLeader(state->scan);
	ZbxhistForgetSpilled(state);
	ZbxhistEndPackedGroups(state);
	foreach(lc, node->custom_ps)
		ExecEndNode(lfirst(lc));
}

/*
 * ReScanAggregate begins again, with the present values of parameters.  If all groups are
 * in memory and no value has changed, they are returned again.
 */
static void
ReScanAggregate(CustomScanState *node)
{
	AggregateScanState *state = (AggregateScanState *) node;
	ListCell   *lc;

	ExecClearTuple(node->ss.ss_ScanTupleSlot);
	if (state->is_done && !state->is_part && state->spilled == NULL &&
		(state->scan == NULL || state->scan->shared == NULL) &&
		node->ss.ps.chgParam == NULL)
	{
		value_groups_start_iterate(state->table.groups, &state->iterator);
		return;
	}
	foreach(lc, node->custom_ps)
	{
		PlanState  *plan = lfirst(lc);

		if (node->ss.ps.chgParam != NULL)
			UpdateChangedParamSet(plan, node->ss.ps.chgParam);
		/* if its parameters have changed, it rescans by itself */
		if (plan->chgParam == NULL)
			ExecReScan(plan);
	}
	state->is_done = false;
	state->input_number = 0;
	state->has_input = false;
	state->has_packed = false;
	ZbxhistForgetSpilled(state);
	ZbxhistEmptyGroups(&state->table);
}

/* ---- EXPLAIN ---- */

/*
 * ExplainGroupKeys shows the grouping keys, as Aggregate does.
 */
static void
ExplainGroupKeys(const AggregateScanState *state, List *ancestors,
				 ExplainState *es)
{
	CustomScan *plan = (CustomScan *) state->css.ss.ps.plan;
	int			nkeys = list_length(list_nth(state->private, AGGREGATE_KEYS));
	List	   *context = set_deparse_context_plan(es->deparse_cxt,
												   (Plan *) plan, ancestors);
	List	   *keys = NIL;

	for (int i = 0; i < nkeys; i++)
	{
		Node	   *expr = (Node *) list_nth_node(TargetEntry,
												  plan->custom_scan_tlist,
												  i)->expr;
		Var		   *var = makeVar(INDEX_VAR, i + 1, exprType(expr),
								  exprTypmod(expr), exprCollation(expr), 0);

		keys = lappend(keys, deparse_expression((Node *) var, context,
												es->verbose, true));
	}
	if (keys != NIL)
		ExplainPropertyList("Group Key", keys, es);
}

/*
 * ExplainAggregateConditions shows conditions on packed days.
 */
static void
ExplainAggregateConditions(const AggregateScanState *state, const char *label,
						   List *conditions, ExplainState *es)
{
	Oid			relid = linitial_oid(list_nth(state->private,
											  AGGREGATE_TABLES));
	List	   *context = deparse_context_for(get_rel_name(relid), relid);

	if (conditions != NIL)
		ExplainPropertyText(label,
							deparse_expression(ZbxhistAsExternal((Node *) make_ands_explicit(conditions)),
											   context, false, false), es);
}

/*
 * ExplainCounters shows what has been read, by all participants.
 */
static void
ExplainCounters(AggregateScanState *state, ExplainState *es)
{
	const ScanCounters *counters = state->counters;

	ExplainPropertyInteger("Days", NULL, counters->days, es);
	ExplainPropertyInteger("Segments From Statistics", NULL,
						   counters->segments_by_stats, es);
	if (state->filter != NULL)
		ExplainPropertyInteger("Segments Excluded", NULL,
							   counters->segments_excluded, es);
	ExplainPropertyInteger("Segments Decoded", NULL, counters->segments_read, es);
	ExplainPropertyInteger("Values Decoded", NULL, counters->values_decoded, es);
	if (counters->rows_made > 0)
		ExplainPropertyInteger("Packed Rows Made", NULL, counters->rows_made, es);
	ExplainPropertyInteger("Other Rows", NULL, counters->other_rows, es);
	ZbxhistExplainArchive(&counters->archive, es);
}

/*
 * ExplainAggregate shows the packed table and the conditions on it, and with
 * ANALYZE what was read.
 */
static void
ExplainAggregate(CustomScanState *node, List *ancestors, ExplainState *es)
{
	AggregateScanState *state = (AggregateScanState *) node;
	List	   *tables = list_nth(state->private, AGGREGATE_TABLES);

	ExplainGroupKeys(state, ancestors, es);
	if (state->role != AGGREGATE_COMBINE)
	{
		ExplainPropertyText("Packed Table",
							get_rel_name(linitial_oid(tables)), es);
		ExplainAggregateConditions(state, "Packed Cond",
								   list_nth(state->private, AGGREGATE_EXACT), es);
		ExplainAggregateConditions(state, "Packed Column Filter",
								   list_nth(state->private, AGGREGATE_FILTER), es);
		if (es->analyze && state->scan != NULL)
			ExplainCounters(state, es);
	}
	if (es->analyze && state->counters->groups_spilled > 0)
		ExplainPropertyInteger("Groups Spilled", NULL,
							   state->counters->groups_spilled, es);
}

/* ---- the node ---- */

static const CustomExecMethods aggregate_exec_methods = {
	.CustomName = "ZbxhistAggregate",
	.BeginCustomScan = BeginAggregate,
	.ExecCustomScan = ExecAggregate,
	.EndCustomScan = EndAggregate,
	.ReScanCustomScan = ReScanAggregate,
	.ExplainCustomScan = ExplainAggregate,
	.EstimateDSMCustomScan = ZbxhistEstimateAggregate,
	.InitializeDSMCustomScan = ZbxhistInitializeAggregate,
	.ReInitializeDSMCustomScan = ZbxhistReInitializeAggregate,
	.InitializeWorkerCustomScan = ZbxhistInitializeAggregateWorker,
	.ShutdownCustomScan = ZbxhistShutdownAggregate
};

const ScanNode zbxhist_aggregate_scan = {
	.methods = {"ZbxhistAggregate", create_scan_state},
	.state_size = sizeof(AggregateScanState),
	.exec_methods = &aggregate_exec_methods
};
