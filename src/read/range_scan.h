/*-------------------------------------------------------------------------
 *
 * range_scan.h
 *	  The function range in FROM, read as it is asked for.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_RANGE_SCAN_H
#define ZBXHIST_RANGE_SCAN_H

#include "nodes/pathnodes.h"

#include "custom_scan.h"

extern const ScanNode zbxhist_range_scan;

extern void ZbxhistConsiderRangeScan(PlannerInfo *root, RelOptInfo *rel, Index rti,
									 RangeTblEntry *rte);

#endif							/* ZBXHIST_RANGE_SCAN_H */
