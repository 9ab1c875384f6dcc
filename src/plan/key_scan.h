/*-------------------------------------------------------------------------
 *
 * key_scan.h
 *	  Plans and executes SELECT of rows by a list of their keys.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_KEY_SCAN_H
#define ZBXHIST_KEY_SCAN_H

#include "nodes/pathnodes.h"
#include "nodes/parsenodes.h"

#include "custom_scan.h"
#include "plan/key_query.h"

extern const ScanNode zbxhist_key_scan;

extern void ZbxhistMarkKeyScan(RangeTblEntry *rte, const KeyQuery *query);
extern void ZbxhistConsiderKeyScan(PlannerInfo *root, RelOptInfo *rel, Index rti,
								   RangeTblEntry *rte);

#endif							/* ZBXHIST_KEY_SCAN_H */
