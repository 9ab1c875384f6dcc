/*-------------------------------------------------------------------------
 *
 * clock_bounds.h
 *	  Finds the range of clocks that the conditions of a query allow.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_CLOCK_BOUNDS_H
#define ZBXHIST_CLOCK_BOUNDS_H

#include "nodes/primnodes.h"

#include "tables/partition_set.h"

extern bool ZbxhistIsRouted(Relation rel);
extern List *ZbxhistAddParts(List *parts, Node *quals, BoolExprType kind);
extern bool ZbxhistHasOr(Node *quals);
extern bool ZbxhistHasPackedDay(const PartitionSet *set,
								const ClockRange *bounds);

#endif							/* ZBXHIST_CLOCK_BOUNDS_H */
