/*-------------------------------------------------------------------------
 *
 * fdw_explain.c
 *	  What EXPLAIN says of scans of packed days.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "commands/explain.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/ruleutils.h"

#include "compat.h"
#include "fdw/fdw.h"
#include "fdw/fdw_plan.h"
#include "fdw/fdw_scan.h"

/*
 * as_external is the mutator that turns the executor's parameters in an expression into
 * external ones.  The nodes that set them are not known here, and PostgreSQL would raise
 * an error when it cannot find them.
 */
static Node *
as_external(Node *node, void *context)
{
	Param	   *param;

	if (node == NULL)
		return NULL;
	if (!IsA(node, Param))
		return expression_tree_mutator(node, as_external, context);
	param = copyObject((Param *) node);
	param->paramkind = PARAM_EXTERN;
	return (Node *) param;
}

/*
 * ZbxhistAsExternal returns a copy of an expression with external parameters.
 */
Node *
ZbxhistAsExternal(Node *expr)
{
	return as_external(expr, NULL);
}

/*
 * ExplainScanConditions shows the conditions that decide what is read.  Values
 * that other nodes give are shown as $0 and so on.
 */
static void
ExplainScanConditions(ForeignScanState *node, ExplainState *es)
{
	ForeignScan *plan = (ForeignScan *) node->ss.ps.plan;
	bool		with_names = shows_table_names(es);
	Node	   *conditions;
	List	   *context;

	if (plan->fdw_recheck_quals == NIL)
		return;
	context = set_deparse_context_plan(es->deparse_cxt, (Plan *) plan, NIL);
	conditions = ZbxhistAsExternal((Node *) make_ands_explicit(plan->fdw_recheck_quals));
	ExplainPropertyText("Packed Cond",
						deparse_expression(conditions, context, with_names, false),
						es);
}

/*
 * ZbxhistExplainArchive shows how many groups of archived days have been fetched, if
 * any, and their bytes.
 */
void
ZbxhistExplainArchive(const ArchiveCounters *counters, ExplainState *es)
{
	if (counters->ngroups > 0)
	{
		ExplainPropertyInteger("Archived Groups", NULL,
							   counters->ngroups, es);
		ExplainPropertyInteger("Archived Bytes", NULL,
							   counters->nbytes, es);
	}
}

/*
 * ZbxhistExplainPacked shows what has been read of packed days.
 */
void
ZbxhistExplainPacked(const ScanCounters *counters, ExplainState *es)
{
	ExplainPropertyInteger("Days", NULL, counters->days, es);
	ExplainPropertyInteger("Segments Read", NULL, counters->segments_read, es);
	ExplainPropertyInteger("Segments Skipped", NULL, counters->segments_skipped,
						   es);
	ExplainPropertyInteger("Values Decoded", NULL, counters->values_decoded, es);
	ZbxhistExplainArchive(&counters->archive, es);
}

/*
 * ExplainForeignScan shows the conditions, and with ANALYZE what was read.
 */
static void
ExplainForeignScan(ForeignScanState *node, ExplainState *es)
{
	FdwScanState *state = node->fdw_state;
	ScanCounters counters;

	ExplainScanConditions(node, es);
	if (!es->analyze || state == NULL || state->scan == NULL)
		return;
	counters = state->scan->open.counters;
	ZbxhistAddReportedCounters(node, &counters);
	ZbxhistExplainPacked(&counters, es);
}

/*
 * ZbxhistFdwExplainInit sets the functions of EXPLAIN.
 */
void
ZbxhistFdwExplainInit(FdwRoutine *routine)
{
	routine->ExplainForeignScan = ExplainForeignScan;
	routine->ExplainDirectModify = ExplainScanConditions;
}
