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

#include "tables/item_range.h"
#include "tables/partition_set.h"

/* a partition or packed day */
typedef struct WalkStep
{
	Oid			relid;
	int64		from_clock;		/* for a day, the part to be read */
	int64		to_clock;
	bool		is_day;
	bool		is_part;		/* a day has rows of other clocks, too */
} WalkStep;

typedef struct PartitionWalk
{
	Relation	parent;
	bool		is_of_days;		/* walks over packed days only */
	PartitionSet *set;
	uint32		generation;		/* generation of the partition set */
	int			npartitions;
	const PartitionBounds *partitions;
	int			ndays;
	const PackedDay *days;
	int64		first_clock;	/* of those to be read */
	int64		last_clock;
	int64		from_clock;		/* of days, what has not been arrived at; the */
	int64		to_clock;		/* first clock after that */
	bool		is_descending;
	int64		place;			/* place of the one found last, see GetPlace */
	int64		arrived;		/* place of the one arrived at last */
	int			next[2];		/* index of the partition, and of the day, at
								 * which to look for the next one */
} PartitionWalk;

/*
 * walk_beginning returns the place before all others of a walk.
 */
static inline int64
walk_beginning(const PartitionWalk *walk)
{
	return walk->is_descending ? PG_INT64_MAX : PG_INT64_MIN;
}

extern void ZbxhistBeginWalk(PartitionWalk *walk, Relation parent,
							 const ItemRange *range, bool is_of_days);
extern void ZbxhistWalkBetween(PartitionWalk *walk, int64 from_clock,
							   int64 to_clock);
extern bool ZbxhistWalkNext(PartitionWalk *walk, WalkStep *step);
extern void ZbxhistWalkArrived(PartitionWalk *walk, const WalkStep *step);
extern bool ZbxhistWalkKnows(const PartitionWalk *walk, Oid relid);
extern void ZbxhistLimitToStep(const WalkStep *step, ItemRange *range);

#endif							/* ZBXHIST_PARTITION_WALK_H */
