/*-------------------------------------------------------------------------
 *
 * fdw_parallel.c
 *	  Parallel scans of packed days.
 *
 * The leader puts the list of days into shared memory, and each participant takes the
 * next day from there.  When a participant ends, it adds its counters there, for EXPLAIN.
 *
 * A worker may also run a whole scan, as a member of a Parallel Append or on the inner
 * side of a join.  PostgreSQL gives such a scan no shared memory, but it does add up the
 * instrumentation of the node over all workers.  Two of its fields are not used for a
 * foreign scan.  Each of them takes two of our counters.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/parallel.h"
#include "storage/shm_toc.h"

#include "fdw/fdw.h"
#include "fdw/fdw_scan.h"

/* where one of two counters in a count begins; both are exact up to 2^53 */
#define VALUES_LIMIT ((double) (UINT64CONST(1) << 35))
#define SEGMENTS_LIMIT ((double) (UINT64CONST(1) << 26))

/*
 * IsForeignScanParallelSafe says that workers may scan.
 */
static bool
IsForeignScanParallelSafe(PlannerInfo *root, RelOptInfo *rel,
						  RangeTblEntry *rte)
{
	return true;
}

/*
 * EstimateDSMForeignScan returns how much shared memory is needed.
 */
static Size
EstimateDSMForeignScan(ForeignScanState *node, ParallelContext *context)
{
	FdwScanState *state = node->fdw_state;

	return ZbxhistSizeOfSharedDays(state->scan);
}

/*
 * InitializeDSMForeignScan fills it, and makes the leader take its days from
 * there.
 */
static void
InitializeDSMForeignScan(ForeignScanState *node, ParallelContext *context,
						 void *coordinate)
{
	FdwScanState *state = node->fdw_state;

	ZbxhistShareDays(state->scan, coordinate);
}

/*
 * ReInitializeDSMForeignScan lets all days be taken again.
 */
static void
ReInitializeDSMForeignScan(ForeignScanState *node, ParallelContext *context,
						   void *coordinate)
{
	ZbxhistShareDaysAgain(coordinate);
}

/*
 * InitializeWorkerForeignScan makes a worker take its days from there.
 */
static void
InitializeWorkerForeignScan(ForeignScanState *node, shm_toc *toc,
							void *coordinate)
{
	FdwScanState *state = node->fdw_state;

	state->scan->shared = coordinate;
}

/*
 * ReportCounters adds what a worker has done in a scan of its own since it was
 * called last to the counts that the leader gets.
 */
static void
ReportCounters(ForeignScanState *node, FdwScanState *state)
{
	NodeInstrumentation *instrument = node->ss.ps.instrument;
	const ScanCounters *counters = &state->scan->open.counters;
	ScanCounters *reported = &state->reported;

	if (instrument == NULL)
		return;
	instrument->ntuples2 += (counters->days - reported->days) * VALUES_LIMIT +
		(counters->values_decoded - reported->values_decoded);
	instrument->nfiltered2 +=
		(counters->segments_read - reported->segments_read) * SEGMENTS_LIMIT +
		(counters->segments_skipped - reported->segments_skipped);
	*reported = *counters;
}

/*
 * ZbxhistAddReportedCounters adds to counters what workers have done in scans
 * of their own.
 */
void
ZbxhistAddReportedCounters(ForeignScanState *node, ScanCounters *counters)
{
	const NodeInstrumentation *instrument = node->ss.ps.instrument;

	if (instrument == NULL)
		return;
	counters->days += floor(instrument->ntuples2 / VALUES_LIMIT);
	counters->values_decoded += fmod(instrument->ntuples2, VALUES_LIMIT);
	counters->segments_read += floor(instrument->nfiltered2 / SEGMENTS_LIMIT);
	counters->segments_skipped += fmod(instrument->nfiltered2, SEGMENTS_LIMIT);
}

/*
 * ShutdownForeignScan adds what workers have done before the shared memory
 * goes.  A worker that has none reports what it has done itself.
 */
static void
ShutdownForeignScan(ForeignScanState *node)
{
	FdwScanState *state = node->fdw_state;

	if (state->scan == NULL)
		return;
	if (state->scan->shared == NULL && IsParallelWorker())
		ReportCounters(node, state);
	ZbxhistStopSharing(state->scan);
}

/*
 * ZbxhistFdwParallelInit sets the functions of parallel scans.
 */
void
ZbxhistFdwParallelInit(FdwRoutine *routine)
{
	routine->IsForeignScanParallelSafe = IsForeignScanParallelSafe;
	routine->EstimateDSMForeignScan = EstimateDSMForeignScan;
	routine->InitializeDSMForeignScan = InitializeDSMForeignScan;
	routine->ReInitializeDSMForeignScan = ReInitializeDSMForeignScan;
	routine->InitializeWorkerForeignScan = InitializeWorkerForeignScan;
	routine->ShutdownForeignScan = ShutdownForeignScan;
}
