/*-------------------------------------------------------------------------
 *
 * locked_partitions.h
 *	  Locks the partitions that a scan of ours may read.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_LOCKED_PARTITIONS_H
#define ZBXHIST_LOCKED_PARTITIONS_H

#include "utils/relcache.h"

#include "catalog/bounds.h"
#include "rows/item_range.h"

/* which partitions a scan has locked; all zero: none */
typedef struct LockedPartitions
{
	uint32		generation;		/* of the set that they are of */
	ClockRange	clocks;
} LockedPartitions;

extern void ZbxhistLockPartitions(Relation parent, const ItemRange *range,
								  LockedPartitions *locked);

#endif							/* ZBXHIST_LOCKED_PARTITIONS_H */
