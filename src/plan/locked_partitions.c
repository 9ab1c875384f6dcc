/*-------------------------------------------------------------------------
 *
 * locked_partitions.c
 *	  Locks the partitions that a scan of ours may read.
 *
 * Scans that stand for a parent (item_scan.c, key_scan.c) lock all partitions that
 * may have their rows before they read the first one, so that none is dropped
 * while a cursor is open.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "storage/lmgr.h"

#include "catalog/partition_set.h"
#include "plan/locked_partitions.h"

/* how often partitions are looked for that have come meanwhile */
#define MAX_LOOKS 10

/*
 * ZbxhistLockPartitions locks the partitions that may have rows of a range, unless it
 * has done so before.  A lock takes in what has happened meanwhile, so then it
 * looks again, but not for ever: the reader copes with whatever happens.
 */
void
ZbxhistLockPartitions(Relation parent, const ItemRange *range,
					  LockedPartitions *locked)
{
	ClockRange	bounds = {
		.from_clock = position_clock(range->first),
		.to_clock = (int64) position_clock(range->last) + 1
	};

	if (item_range_is_empty(range))
		return;
	for (int attempt = 0; attempt < MAX_LOOKS; attempt++)
	{
		PartitionSet *set = ZbxhistGetPartitions(parent);

		if (set->generation == locked->generation &&
			bounds.from_clock >= locked->clocks.from_clock &&
			bounds.to_clock <= locked->clocks.to_clock)
			break;
		for (int i = 0; i < set->npartitions &&
			 ZbxhistPartitionSetIsValid(set); i++)
		{
			if (clocks_overlap(&set->partitions[i], &bounds))
				LockRelationOid(set->partitions[i].relid, AccessShareLock);
		}
		locked->generation = set->generation;
		locked->clocks = bounds;
		if (ZbxhistPartitionSetIsValid(set))
			break;
	}
}
