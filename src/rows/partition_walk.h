/*-------------------------------------------------------------------------
 *
 * partition_walk.h
 *	  The order in which partitions and packed days are read.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_PARTITION_WALK_H
#define ZBXHIST_PARTITION_WALK_H

#include "utils/relcache.h"

#include "catalog/partition_set.h"
#include "rows/item_range.h"

/* a partition or packed day */
typedef struct WalkStep
{
	Oid			relid;
	int64		from_clock;
	int64		to_clock;
	bool		is_day;
	bool		has_runs;		/* the day's table is one of runs */
} WalkStep;

typedef struct PartitionWalk
{
	Relation	parent;			/* NULL: the days below are all, and stay */
	PartitionSet *set;
	uint32		generation;		/* of the set that these are of */
	int			npartitions;
	const PartitionBounds *partitions;
	int			ndays;
	const PackedDay *days;
	int64		first_clock;	/* of those that are wanted */
	int64		last_clock;
	bool		is_descending;
	int			next;			/* index of a partition; -1 or npartitions:
								 * none */
	int			next_day;		/* index of a packed day, likewise */
	int64		place;			/* of the one arrived at last */
	bool		has_begun;		/* place is set */
} PartitionWalk;

extern void ZbxhistBeginWalk(PartitionWalk *walk, Relation parent,
							 const ItemRange *range);
extern void ZbxhistBeginDayWalk(PartitionWalk *walk, const PackedDay *days,
								int ndays, const ItemRange *range);
extern bool ZbxhistWalkNext(PartitionWalk *walk, WalkStep *step);
extern void ZbxhistWalkArrived(PartitionWalk *walk, const WalkStep *step);
extern bool ZbxhistWalkKnows(const PartitionWalk *walk, Oid relid);

#endif							/* ZBXHIST_PARTITION_WALK_H */
