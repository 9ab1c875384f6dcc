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

#include "catalog/partition_set.h"

extern bool ZbxhistIsItemQuery(const Query *query, Index rti, Relation parent,
							   const PartitionSet *set, bool *is_descending);
extern void ZbxhistMarkItemScan(RangeTblEntry *rte, bool is_descending);
extern void ZbxhistConsiderItemScan(PlannerInfo *root, RelOptInfo *rel, Index rti,
									RangeTblEntry *rte);
extern void ZbxhistItemScanInit(void);

#endif							/* ZBXHIST_ITEM_SCAN_H */
