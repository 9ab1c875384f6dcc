/*-------------------------------------------------------------------------
 *
 * fdw_explain.c
 *	  What EXPLAIN says of scans of packed days.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "commands/explain.h"
#include "executor/executor.h"
#include "nodes/makefuncs.h"
#include "utils/ruleutils.h"

#include "compat.h"
#include "packed/fdw.h"
#include "packed/fdw_scan.h"

/*
 * ExplainConditions shows the conditions that decide what is read.  Values
 * that come from elsewhere are shown as $0 and so on.
 */
static void
ExplainConditions(ForeignScanState *node, ExplainState *es)
{
	ForeignScan *plan = (ForeignScan *) node->ss.ps.plan;
	bool		with_names = es->verbose || list_length(es->rtable) > 1;
	List	   *context;

	if (plan->fdw_recheck_quals == NIL)
		return;
	context = set_deparse_context_plan(es->deparse_cxt, (Plan *) plan, NIL);
	ExplainPropertyText("Packed Cond",
						deparse_expression((Node *) make_ands_explicit(plan->fdw_recheck_quals),
										   context, with_names, false),
						es);
}

/*
 * ExplainForeignScan shows the conditions, and with ANALYZE what was read.
 */
static void
ExplainForeignScan(ForeignScanState *node, ExplainState *es)
{
	FdwScanState *state = node->fdw_state;
	ScanCounters counters;

	ExplainConditions(node, es);
	if (!es->analyze || state == NULL || state->scan == NULL)
		return;
	counters = state->scan->counters;
	counters.days += state->parallel.days;
	counters.segments_read += state->parallel.segments_read;
	counters.segments_skipped += state->parallel.segments_skipped;
	counters.values_decoded += state->parallel.values_decoded;
	ExplainPropertyInteger("Days", NULL, counters.days, es);
	ExplainPropertyInteger("Segments Read", NULL, counters.segments_read, es);
	ExplainPropertyInteger("Segments Skipped", NULL, counters.segments_skipped,
						   es);
	ExplainPropertyInteger("Values Decoded", NULL, counters.values_decoded, es);
}

/*
 * ExplainDirectModify shows the conditions.
 */
static void
ExplainDirectModify(ForeignScanState *node, ExplainState *es)
{
	ExplainConditions(node, es);
}

/*
 * ZbxhistFdwExplainInit sets the functions of EXPLAIN.
 */
void
ZbxhistFdwExplainInit(FdwRoutine *routine)
{
	routine->ExplainForeignScan = ExplainForeignScan;
	routine->ExplainDirectModify = ExplainDirectModify;
}
