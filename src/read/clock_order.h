/*-------------------------------------------------------------------------
 *
 * clock_order.h
 *	  Plans rows of a parent in the order of their clocks.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_CLOCK_ORDER_H
#define ZBXHIST_CLOCK_ORDER_H

#include "nodes/pathnodes.h"

extern List *ZbxhistListTables(PlannerInfo *root, RelOptInfo *rel);
extern void ZbxhistConsiderClockOrder(PlannerInfo *root, RelOptInfo *rel,
									  RangeTblEntry *rte);

#endif							/* ZBXHIST_CLOCK_ORDER_H */
