/*-------------------------------------------------------------------------
 *
 * item_path.h
 *	  Plans SELECT of rows of items.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_ITEM_PATH_H
#define ZBXHIST_ITEM_PATH_H

#include "nodes/parsenodes.h"
#include "nodes/pathnodes.h"

#include "read/item_query.h"

extern void ZbxhistMarkItemScan(RangeTblEntry *rte, const ItemQuery *query);
extern bool ZbxhistGetItemMark(const RangeTblEntry *rte, ItemQuery *query);
extern void ZbxhistConsiderItemScan(PlannerInfo *root, RelOptInfo *rel, Index rti,
									RangeTblEntry *rte);
extern Path *ZbxhistWithoutPacked(const RelOptInfo *rel);

#endif							/* ZBXHIST_ITEM_PATH_H */
