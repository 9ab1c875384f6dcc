/*-------------------------------------------------------------------------
 *
 * clock_bounds.h
 *	  The clocks that the conditions of a query on a parent leave.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_CLOCK_BOUNDS_H
#define ZBXHIST_CLOCK_BOUNDS_H

#include "nodes/nodes.h"

#include "catalog/partition_set.h"

extern bool ZbxhistIsRouted(Relation rel);
extern void ZbxhistNarrowBounds(Node *quals, Index varno,
								AttrNumber clock_attnum,
								PartitionBounds *bounds);
extern bool ZbxhistOverlap(const PartitionBounds *a, const PartitionBounds *b);
extern bool ZbxhistHasPackedDay(const PartitionSet *set,
								const PartitionBounds *bounds);

#endif							/* ZBXHIST_CLOCK_BOUNDS_H */
