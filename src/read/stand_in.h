/*-------------------------------------------------------------------------
 *
 * stand_in.h
 *	  Tables that take a parent's place in a query.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_STAND_IN_H
#define ZBXHIST_STAND_IN_H

#include "nodes/parsenodes.h"
#include "utils/relcache.h"

#include "tables/partition_set.h"

extern ClockRange ZbxhistBoundsInWhere(const Query *query, Index rti,
									   AttrNumber clock_attnum);
extern bool ZbxhistMayStandIn(const Query *query, const RangeTblEntry *rte,
							  Relation parent);
extern bool ZbxhistLockStandIn(Relation parent, const PartitionSet *set,
							   Oid relid, LOCKMODE mode);
extern void ZbxhistDropEntry(Query *query, Index rti);
extern bool ZbxhistIsEmpty(Relation rel);
extern bool ZbxhistAskLocked(Oid relid, bool (*question) (Relation rel));

#endif							/* ZBXHIST_STAND_IN_H */
