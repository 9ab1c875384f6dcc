/*-------------------------------------------------------------------------
 *
 * item_scan.h
 *	  Plans and executes SELECT of an item's newest or oldest rows.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_ITEM_SCAN_H
#define ZBXHIST_ITEM_SCAN_H

#include "nodes/pathnodes.h"
#include "nodes/parsenodes.h"

#include "custom_scan.h"
#include "plan/item_query.h"

extern const ScanNode zbxhist_item_scan;

extern void ZbxhistMarkItemScan(RangeTblEntry *rte, const ItemQuery *query);
extern void ZbxhistConsiderItemScan(PlannerInfo *root, RelOptInfo *rel, Index rti,
									RangeTblEntry *rte);

#endif							/* ZBXHIST_ITEM_SCAN_H */
