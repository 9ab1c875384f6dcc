/*-------------------------------------------------------------------------
 *
 * ordered_append.h
 *	  Reads partitions one after the other where their order is wanted.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_ORDERED_APPEND_H
#define ZBXHIST_ORDERED_APPEND_H

#include "nodes/pathnodes.h"

#include "access/attnum.h"
#include "nodes/parsenodes.h"

/* how the clocks of some children of a parent follow one another */
typedef struct TableOrder
{
	AttrNumber	clock_attnum;	/* 0: they do not */
	Oid			packed;			/* the foreign table of packed days, which is
								 * the first of them, or InvalidOid */
	int64		packed_end;		/* the next one's first clock */
} TableOrder;

extern void ZbxhistMarkOrdered(RangeTblEntry *rte, List *tables,
							   bool has_parent, const TableOrder *order);
extern void ZbxhistConsiderOrderedAppend(PlannerInfo *root, RelOptInfo *rel, Index rti,
										 RangeTblEntry *rte);

#endif							/* ZBXHIST_ORDERED_APPEND_H */
