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

#include "plan/item_query.h"

extern void ZbxhistMarkItemScan(RangeTblEntry *rte, const ItemQuery *query);
extern void ZbxhistConsiderItemScan(PlannerInfo *root, RelOptInfo *rel, Index rti,
									RangeTblEntry *rte);
extern void ZbxhistItemScanInit(void);

#endif							/* ZBXHIST_ITEM_SCAN_H */
