/*-------------------------------------------------------------------------
 *
 * range_scan.c
 *	  Plans and executes the function range in FROM without materialising it.
 *
 * The executor puts all rows of a function in FROM into a tuplestore before
 * it gives the first one out.  A call of zbxhist.range that is all of an
 * entry of FROM becomes a custom scan instead, whose rows are read as they are
 * asked for: no row is copied, and whoever stops early has not read the rest.
 *
 * The planner asks the function's support function first, which is how the
 * library comes to be loaded in time.  The scan has no relation of its own:
 * its columns are those of custom_scan_tlist, and the call's arguments are
 * custom_exprs.  A query that changes or locks rows, or WITH ORDINALITY, is
 * left to the executor's way; so rows are never fetched again for a recheck.
 *
 * Locks, privileges and the snapshot are those of row_set.c, which opens the
 * parent when the first row is asked for.  What it opens is in the query's
 * memory context and is closed with the scan, or by the resource owner.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_class.h"
#include "commands/explain.h"
#include "executor/executor.h"
#include "fmgr.h"
#include "nodes/extensible.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/supportnodes.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/restrictinfo.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/typcache.h"

#include "compat.h"
#include "custom_scan.h"
#include "guc.h"
#include "read/parent.h"
#include "read/range_scan.h"
#include "read/row_set.h"
#include "read/stand_in.h"

typedef struct RangeScanState
{
	CustomScanState css;		/* must be first */
	FuncExpr   *call;			/* the plan's */
	FmgrInfo	function;
	List	   *arguments;		/* of ExprState */
	ItemRange	range;
	RowSet		set;
	bool		is_open;		/* set is */
} RangeScanState;

/* ---- planning ---- */

/*
 * GetCall returns the call of range that a function in FROM consists of, or
 * NULL if it is something else.
 */
static FuncExpr *
GetCall(RangeTblEntry *rte)
{
	RangeTblFunction *function;
	FuncExpr   *call;

	if (rte->rtekind != RTE_FUNCTION || rte->funcordinality ||
		list_length(rte->functions) != 1)
		return NULL;
	function = linitial_node(RangeTblFunction, rte->functions);
	call = (FuncExpr *) function->funcexpr;
	if (call == NULL || !IsA(call, FuncExpr) ||
		!OidIsValid(get_func_support(call->funcid)) ||
		!ZbxhistIsRange(call->funcid))
		return NULL;
	return call;
}

/*
 * GetParent returns the table whose row type the call's first argument has,
 * or InvalidOid.
 */
static Oid
GetParent(const FuncExpr *call)
{
	Oid			relid = get_typ_typrelid(exprType(linitial(call->args)));

	if (!OidIsValid(relid) || get_rel_relkind(relid) != RELKIND_RELATION)
		return InvalidOid;
	return relid;
}

/*
 * NeedsWholeRow says whether the query wants rows as one value.
 */
static bool
NeedsWholeRow(RelOptInfo *rel)
{
	Bitmapset  *attrs = NULL;
	ListCell   *lc;

	pull_varattnos((Node *) rel->reltarget->exprs, rel->relid, &attrs);
	foreach(lc, rel->baserestrictinfo)
		pull_varattnos((Node *) lfirst_node(RestrictInfo, lc)->clause,
					   rel->relid, &attrs);
	return bms_is_member(InvalidAttrNumber - FirstLowInvalidHeapAttributeNumber,
						 attrs);
}

/*
 * BuildScanList returns the scan's target list: all columns of the parent in their
 * places, nulls for those that were dropped, and, if it is needed, the whole row.
 */
static List *
BuildScanList(RelOptInfo *rel, Oid rowtype)
{
	TupleDesc	desc = lookup_rowtype_tupdesc(rowtype, -1);
	List	   *result = ZbxhistListColumns(desc, rel->relid);

	ReleaseTupleDesc(desc);
	if (NeedsWholeRow(rel))
		result = lappend(result,
						 makeTargetEntry((Expr *) makeVar(rel->relid,
														  InvalidAttrNumber,
														  rowtype, -1,
														  InvalidOid, 0),
										 list_length(result) + 1, NULL, false));
	return result;
}

static const CustomExecMethods range_exec_methods;

const ScanNode zbxhist_range_scan = {
	.methods = {"ZbxhistRange", create_scan_state},
	.state_size = sizeof(RangeScanState),
	.exec_methods = &range_exec_methods
};

/*
 * PlanRange makes the plan of the path.
 */
static Plan *
PlanRange(PlannerInfo *root, RelOptInfo *rel, CustomPath *path, List *tlist,
		  List *clauses, List *custom_plans)
{
	FuncExpr   *call = linitial_node(FuncExpr, path->custom_private);
	CustomScan *scan = makeNode(CustomScan);

	scan->scan.plan.targetlist = tlist;
	scan->scan.plan.qual = extract_actual_clauses(clauses, false);
	scan->flags = path->flags;
	scan->custom_scan_tlist =
		BuildScanList(rel, exprType(linitial(call->args)));
	scan->custom_exprs = copyObject(call->args);
	scan->custom_private = list_make1(call);
	scan->methods = &zbxhist_range_scan.methods;

	/* a plan that is kept ends with a change of the table */
	root->glob->relationOids = lappend_oid(root->glob->relationOids,
										   GetParent(call));
	return &scan->scan.plan;
}

static const CustomPathMethods range_path_methods = {
	.CustomName = "ZbxhistRange",
	.PlanCustomPath = PlanRange
};

/*
 * ZbxhistConsiderRangeScan adds a path: what the executor's way
 * costs without the copying.
 */
void
ZbxhistConsiderRangeScan(PlannerInfo *root, RelOptInfo *rel, Index rti,
						 RangeTblEntry *rte)
{
	FuncExpr   *call;
	Path	   *function_path;
	CustomPath *path;

	if (!zbxhist_enable_range_scan || rel->pathlist == NIL ||
		root->rowMarks != NIL ||
		(call = GetCall(rte)) == NULL || !OidIsValid(GetParent(call)))
		return;

	function_path = linitial(rel->pathlist);
	if (function_path->pathtype != T_FunctionScan)
		return;					/* no rows, the planner has found */
	path = make_scan_path(rel, function_path->param_info, &range_path_methods,
						  list_make1(call));
	path->path.parallel_safe = function_path->parallel_safe;
	path->path.rows = function_path->rows;
	path->path.startup_cost = 0;
	path->path.total_cost = function_path->total_cost * 0.8;
	add_path(rel, &path->path);
}

PG_FUNCTION_INFO_V1(zbxhist_range_support);

/*
 * zbxhist_range_support is the support function of range: it
 * tells the planner a max_rows that it can know.
 */
Datum
zbxhist_range_support(PG_FUNCTION_ARGS)
{
	SupportRequestRows *request = (SupportRequestRows *) PG_GETARG_POINTER(0);
	FuncExpr   *call;
	Const	   *rows;

	if (!IsA(request, SupportRequestRows) || request->root == NULL ||
		!IsA(request->node, FuncExpr))
		PG_RETURN_POINTER(NULL);
	call = (FuncExpr *) request->node;
	if (list_length(call->args) <= RANGE_MAX_ROWS_ARGUMENT)
		PG_RETURN_POINTER(NULL);
	rows = (Const *) estimate_expression_value(request->root,
											   list_nth(call->args,
														RANGE_MAX_ROWS_ARGUMENT));
	if (!IsA(rows, Const) || rows->constisnull ||
		DatumGetInt64(rows->constvalue) > 1000)
		PG_RETURN_POINTER(NULL);
	request->rows = Max(DatumGetInt64(rows->constvalue), 1);
	PG_RETURN_POINTER(request);
}

/* ---- execution ---- */

/*
 * BeginRange prepares the call's arguments.
 */
static void
BeginRange(CustomScanState *node, EState *estate, int eflags)
{
	RangeScanState *state = (RangeScanState *) node;
	CustomScan *scan = (CustomScan *) node->ss.ps.plan;

	state->call = linitial_node(FuncExpr, scan->custom_private);
	check_function_execute(state->call->funcid);
	InvokeFunctionExecuteHook(state->call->funcid);
	fmgr_info(state->call->funcid, &state->function);
	fmgr_info_set_expr((Node *) state->call, &state->function);
	state->arguments = ExecInitExprList(scan->custom_exprs, &node->ss.ps);
}

/*
 * CheckColumns raises an error unless the parent has the columns that the
 * plan expects.
 */
static void
CheckColumns(const RangeScanState *state)
{
	TupleDesc	expected =
		state->css.ss.ss_ScanTupleSlot->tts_tupleDescriptor;
	TupleDesc	desc = RelationGetDescr(state->set.parent);

	for (int i = 0; i < desc->natts; i++)
	{
		if (i >= expected->natts ||
			(!TupleDescAttr(desc, i)->attisdropped &&
			 TupleDescAttr(desc, i)->atttypid !=
			 TupleDescAttr(expected, i)->atttypid))
			ereport(ERROR,
					errcode(ERRCODE_DATATYPE_MISMATCH),
					errmsg("table \"%s\" has changed since the query was planned",
						   RelationGetRelationName(state->set.parent)),
					errtable(state->set.parent));
	}
}

/*
 * OpenRange evaluates the arguments and opens the rows.
 */
static void
OpenRange(RangeScanState *state)
{
	LOCAL_FCINFO(fcinfo, FUNC_MAX_ARGS);
	ExprContext *econtext = state->css.ss.ps.ps_ExprContext;
	uint64		max_rows;
	MemoryContext old;
	ListCell   *lc;

	InitFunctionCallInfoData(*fcinfo, &state->function, 0,
							 state->call->inputcollid, NULL, NULL);
	foreach(lc, state->arguments)
	{
		NullableDatum *argument = &fcinfo->args[fcinfo->nargs++];

		argument->value = ExecEvalExprSwitchContext(lfirst(lc), econtext,
													&argument->isnull);
	}
	old = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
	ZbxhistGetRange(fcinfo, &state->range);
	max_rows = ZbxhistRangeMaxRows(fcinfo);

	MemoryContextSwitchTo(state->css.ss.ps.state->es_query_cxt);
	ZbxhistOpenRowSet(&state->set, ZbxhistRowTypeParent(fcinfo),
					  &state->range, 1, max_rows);
	MemoryContextSwitchTo(old);
	state->is_open = true;
	CheckColumns(state);
}

/*
 * NextRange puts the next row into the scan's slot, which is empty at the
 * end.  Values stay where they are until the next one is read.
 */
static TupleTableSlot *
NextRange(ScanState *node)
{
	RangeScanState *state = (RangeScanState *) node;
	TupleTableSlot *slot = node->ss_ScanTupleSlot;
	int			natts;

	if (!state->is_open)
		OpenRange(state);
	ExecClearTuple(slot);
	if (!ZbxhistNextRow(&state->set))
		return slot;
	natts = RelationGetDescr(state->set.parent)->natts;
	if (natts < slot->tts_tupleDescriptor->natts)
	{
		MemoryContext old =
			MemoryContextSwitchTo(node->ps.ps_ExprContext->ecxt_per_tuple_memory);

		slot->tts_values[natts] = ZbxhistReadDatum(state->set.reader);
		slot->tts_isnull[natts] = false;
		MemoryContextSwitchTo(old);
	}
	return fill_read(state->set.reader, slot, natts);
}

/*
 * ExecRange gives out the next row that passes the conditions.
 */
static TupleTableSlot *
ExecRange(CustomScanState *node)
{
	return ExecScan(&node->ss, NextRange, recheck_nothing);
}

/*
 * EndRange closes what is open.
 */
static void
EndRange(CustomScanState *node)
{
	RangeScanState *state = (RangeScanState *) node;

	ExecClearTuple(node->ss.ss_ScanTupleSlot);
	if (state->is_open)
		ZbxhistCloseRowSet(&state->set);
	state->is_open = false;
}

/*
 * ReScanRange begins anew, with the arguments of then.
 */
static void
ReScanRange(CustomScanState *node)
{
	EndRange(node);
	ExecScanReScan(&node->ss);
}

/*
 * ExplainRange names the table.
 */
static void
ExplainRange(CustomScanState *node, List *ancestors, ExplainState *es)
{
	const RangeScanState *state = (const RangeScanState *) node;

	ExplainPropertyText("Table", get_rel_name(GetParent(state->call)), es);
}

static const CustomExecMethods range_exec_methods = {
	.CustomName = "ZbxhistRange",
	.BeginCustomScan = BeginRange,
	.ExecCustomScan = ExecRange,
	.EndCustomScan = EndRange,
	.ReScanCustomScan = ReScanRange,
	.ExplainCustomScan = ExplainRange
};
