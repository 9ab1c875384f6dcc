/*-------------------------------------------------------------------------
 *
 * fdw_scan.h
 *	  The state of a foreign scan, for the parts that execute it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_FDW_SCAN_H
#define ZBXHIST_FDW_SCAN_H

#include "nodes/execnodes.h"

#include "packed/column_filter.h"
#include "packed/scan.h"

typedef struct FdwScanState
{
	Oid			parent;
	List	   *kinds;			/* of conditions */
	List	   *values;			/* ExprStates of theirs */
	bool		is_descending;

	bool	   *wanted;			/* by attribute */
	bool		wants_tid;
	bool		wants_tuple;	/* other system columns */

	ColumnFilter *filter;		/* of all conditions; NULL: there are none */
	PackedScan *scan;
	bool		has_started;	/* values have been evaluated */
	ScanCounters reported;		/* by a worker, to the leader */
	MemoryContext bounds_context;	/* owns the items */
} FdwScanState;

/* fdw_parallel.c */
extern void ZbxhistAddReportedCounters(ForeignScanState *node,
									   ScanCounters *counters);

#endif							/* ZBXHIST_FDW_SCAN_H */
