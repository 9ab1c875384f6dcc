/*-------------------------------------------------------------------------
 *
 * partition_walk.c
 *	  The order in which partitions and packed days are read.
 *
 * They are read in the order of their clocks, in either direction.  If the set changes
 * between two steps, the walk continues in the new set at the clock that it has reached.
 * A partition that could not be opened does not count as reached, because it may have
 * been packed into a day of the same clocks.
 *
 * Packed days may be repacked or compacted before a walk has reached them or after it has
 * left them.  So the walk goes by clocks: of a day that has replaced several, only the
 * clocks that have not been reached are read.  All snapshots see the same rows in the old
 * and the new days.  A day that is gone without a replacement was dropped by retention,
 * and has no rows.
 *
 * While a day is being unpacked, the day and its partition exist, and the walk visits
 * both.  The rows are not moved before all transactions have ended that do not know of
 * the partition.
 *
 * A walk may also be over packed days alone, where a query's plan has the
 * partitions, and locks on them.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "binary_search.h"
#include "tables/partition_walk.h"

/* no index is known: search all */
#define ANYWHERE (-2)

/*
 * GetPlace orders partitions and packed days by clock.
 */
static int64
GetPlace(const WalkStep *step)
{
	return step->from_clock * 2 + (step->is_day ? 1 : 0);
}

/*
 * GetStep sets step to a partition or packed day of that index, or to what is left of
 * the day, maybe nothing; returns false if there is none.
 */
static bool
GetStep(const PartitionWalk *walk, bool is_day, int index, WalkStep *step)
{
	if (index < 0 || index >= (is_day ? walk->ndays : walk->npartitions))
		return false;
	step->is_day = is_day;
	step->is_part = false;
	if (is_day)
	{
		const PackedDay *day = &walk->days[index];

		step->relid = day->relid;
		step->from_clock = Max(day->from_clock, walk->from_clock);
		step->to_clock = Min(day->to_clock, walk->to_clock);
		step->is_part = step->from_clock > day->from_clock ||
			step->to_clock < day->to_clock;
	}
	else
	{
		step->relid = walk->partitions[index].relid;
		step->from_clock = walk->partitions[index].from_clock;
		step->to_clock = walk->partitions[index].to_clock;
	}
	return true;
}

/*
 * IsAhead says whether a walk has not reached a step, or a part of it, in its direction.
 */
static bool
IsAhead(const PartitionWalk *walk, const WalkStep *step)
{
	return walk->is_descending ?
		GetPlace(step) < walk->place && step->from_clock <= walk->last_clock &&
		(!step->is_day || step->from_clock < walk->to_clock) :
		GetPlace(step) > walk->place && step->to_clock > walk->first_clock &&
		(!step->is_day || step->to_clock > walk->from_clock);
}

/*
 * FindNextOf sets step to the first partition or packed day after the clock that the walk
 * has reached; returns false if there is none within the walk's clocks.
 */
static bool
FindNextOf(PartitionWalk *walk, bool is_day, WalkStep *step)
{
	int		   *next = &walk->next[is_day];
	int			n = is_day ? walk->ndays : walk->npartitions;
	int			i;

	if (*next == ANYWHERE)
	{
		find_first(i, n, GetStep(walk, is_day, i, step) &&
				   IsAhead(walk, step) != walk->is_descending);
		*next = walk->is_descending ? i - 1 : i;
	}
	while (GetStep(walk, is_day, *next, step) && !IsAhead(walk, step))
		*next += walk->is_descending ? -1 : 1;
	return *next >= 0 && *next < n &&
		step->from_clock <= walk->last_clock &&
		step->to_clock > walk->first_clock &&
		step->from_clock < step->to_clock;
}

/*
 * TakeSet continues the walk in the present set, after the clock that it has reached.
 */
static void
TakeSet(PartitionWalk *walk)
{
	PartitionSet *set = ZbxhistGetPartitions(walk->parent);

	walk->set = set;
	walk->generation = set->generation;
	walk->npartitions = walk->is_of_days ? 0 : set->npartitions;
	walk->partitions = set->partitions;
	walk->ndays = set->npacked_days;
	walk->days = set->packed_days;
	walk->place = walk->arrived;
	walk->next[0] = walk->next[1] = ANYWHERE;
}

/*
 * ZbxhistBeginWalk begins a walk over the partitions and packed days, or the packed
 * days alone, that may have rows of the range.
 */
void
ZbxhistBeginWalk(PartitionWalk *walk, Relation parent, const ItemRange *range,
				 bool is_of_days)
{
	memset(walk, 0, sizeof(PartitionWalk));
	walk->parent = parent;
	walk->is_of_days = is_of_days;
	walk->first_clock = position_clock(range->first);
	walk->last_clock = position_clock(range->last);
	walk->from_clock = PG_INT64_MIN;
	walk->to_clock = item_range_is_empty(range) ? PG_INT64_MIN : PG_INT64_MAX;
	walk->is_descending = range->is_descending;
	walk->arrived = walk_beginning(walk);
	TakeSet(walk);
}

/*
 * ZbxhistWalkBetween limits a walk over packed days that has begun to some clocks.
 */
void
ZbxhistWalkBetween(PartitionWalk *walk, int64 from_clock, int64 to_clock)
{
	walk->from_clock = from_clock;
	walk->to_clock = to_clock;
}

/*
 * ZbxhistWalkNext sets step to the next partition or packed day that may have rows;
 * returns false if there is none.  A caller that could open it calls ZbxhistWalkArrived.
 */
bool
ZbxhistWalkNext(PartitionWalk *walk, WalkStep *step)
{
	WalkStep	day;
	bool		has_partition;
	bool		has_day;

	if (!ZbxhistPartitionSetIsValid(walk->set) ||
		walk->generation != walk->set->generation)
		TakeSet(walk);
	has_partition = FindNextOf(walk, false, step);
	has_day = FindNextOf(walk, true, &day);
	if (has_day &&
		(!has_partition ||
		 (GetPlace(&day) < GetPlace(step)) != walk->is_descending))
		*step = day;
	if (has_partition || has_day)
		walk->place = GetPlace(step);
	return has_partition || has_day;
}

/*
 * ZbxhistWalkArrived notes that the walk has reached a step.
 */
void
ZbxhistWalkArrived(PartitionWalk *walk, const WalkStep *step)
{
	walk->arrived = GetPlace(step);
	if (!step->is_day)
		return;
	if (walk->is_descending)
		walk->to_clock = step->from_clock;
	else
		walk->from_clock = step->to_clock;
}

/*
 * ZbxhistWalkKnows says whether relid is still what the walk has found: a
 * partition or packed day in the present set.
 */
bool
ZbxhistWalkKnows(const PartitionWalk *walk, Oid relid)
{
	PartitionSet *set = walk->set;

	if (ZbxhistPartitionSetIsValid(set))
		return true;
	set = ZbxhistGetPartitions(walk->parent);
	return partition_of(set, relid) != NULL ||
		packed_day_of(set, relid) != NULL;
}

/*
 * ZbxhistLimitToStep limits the wanted range to that of the step, if the step is only a
 * part of a day.
 */
void
ZbxhistLimitToStep(const WalkStep *step, ItemRange *range)
{
	if (!step->is_part)
		return;
	if (step->from_clock > PG_INT32_MIN)
		ZbxhistStartAt(range, make_position((int32) step->from_clock,
											PG_INT32_MIN));
	if (step->to_clock <= PG_INT32_MAX)
		ZbxhistEndAt(range, make_position((int32) (step->to_clock - 1),
										  PG_INT32_MAX));
}
