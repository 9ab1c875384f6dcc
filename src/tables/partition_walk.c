/*-------------------------------------------------------------------------
 *
 * partition_walk.c
 *	  The order in which partitions and packed days are read.
 *
 * They come in the order of their clocks, either way.  The set of them may
 * change between two steps: then the walk goes on in the new one from the
 * place where it last arrived.  A partition that could not be opened is no
 * such place, for the day that it has been packed into has the same clocks.
 *
 * While a day is being unpacked, it and its partition are there both, and are
 * walked to one after the other.
 *
 * A walk may also be over packed days alone that somebody has listed: whose
 * snapshot or lock sees to it that no others matter.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "binary_search.h"
#include "tables/partition_walk.h"

/*
 * GetPlace orders partitions and packed days by clock.
 */
static int64
GetPlace(const WalkStep *step)
{
	return step->from_clock * 2 + (step->is_day ? 1 : 0);
}

/*
 * GetStep sets step to a partition or packed day of that index; returns false
 * if there is none.
 */
static bool
GetStep(const PartitionWalk *walk, bool is_day, int index, WalkStep *step)
{
	if (index < 0 || index >= (is_day ? walk->ndays : walk->npartitions))
		return false;
	step->is_day = is_day;
	if (is_day)
	{
		step->relid = walk->days[index].relid;
		step->from_clock = walk->days[index].from_clock;
		step->to_clock = walk->days[index].to_clock;
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
 * FindNextOf sets step to the first partition or packed day behind the place where the
 * walk is; returns false if none has rows of its clocks.
 */
static bool
FindNextOf(const PartitionWalk *walk, bool is_day, WalkStep *step)
{
	int			n = is_day ? walk->ndays : walk->npartitions;
	int			i;

	find_first(i, n, GetStep(walk, is_day, i, step) &&
			   (walk->is_descending ?
				GetPlace(step) >= walk->place || step->from_clock > walk->last_clock :
				GetPlace(step) > walk->place && step->to_clock > walk->first_clock));
	return GetStep(walk, is_day, walk->is_descending ? i - 1 : i, step) &&
		step->from_clock <= walk->last_clock &&
		step->to_clock > walk->first_clock;
}

/*
 * ZbxhistBeginDayWalk begins a walk over those of the days, which must stay,
 * that may have rows of the range.
 */
void
ZbxhistBeginDayWalk(PartitionWalk *walk, const PackedDay *days, int ndays,
					const ItemRange *range)
{
	memset(walk, 0, sizeof(PartitionWalk));
	walk->days = days;
	walk->ndays = item_range_is_empty(range) ? 0 : ndays;
	walk->first_clock = position_clock(range->first);
	walk->last_clock = position_clock(range->last);
	walk->is_descending = range->is_descending;
	walk->place = walk->arrived = walk_beginning(walk);
}

/*
 * TakeSet has the walk go on in the present set, behind where it has arrived.
 */
static void
TakeSet(PartitionWalk *walk)
{
	PartitionSet *set = ZbxhistGetPartitions(walk->parent);

	walk->set = set;
	walk->generation = set->generation;
	walk->npartitions = set->npartitions;
	walk->partitions = set->partitions;
	walk->ndays = set->npacked_days;
	walk->days = set->packed_days;
	walk->place = walk->arrived;
}

/*
 * ZbxhistBeginWalk begins a walk over what may have rows of the range.
 */
void
ZbxhistBeginWalk(PartitionWalk *walk, Relation parent, const ItemRange *range)
{
	ZbxhistBeginDayWalk(walk, NULL, 0, range);
	walk->parent = parent;
	TakeSet(walk);
}

/*
 * ZbxhistWalkNext sets step to the next partition or packed day that may have
 * rows; returns false if there is none.  A caller that could open it says so by
 * ZbxhistWalkArrived.
 */
bool
ZbxhistWalkNext(PartitionWalk *walk, WalkStep *step)
{
	WalkStep	day;
	bool		has_partition;
	bool		has_day;

	if (walk->parent != NULL &&
		(!ZbxhistPartitionSetIsValid(walk->set) ||
		 walk->generation != walk->set->generation))
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
 * ZbxhistWalkArrived notes where the walk is.
 */
void
ZbxhistWalkArrived(PartitionWalk *walk, const WalkStep *step)
{
	walk->arrived = GetPlace(step);
}

/*
 * ZbxhistWalkKnows says whether relid is still what the walk has found: a
 * partition or packed day in the present set.
 */
bool
ZbxhistWalkKnows(const PartitionWalk *walk, Oid relid)
{
	PartitionSet *set = walk->set;

	if (walk->parent == NULL || ZbxhistPartitionSetIsValid(set))
		return true;
	set = ZbxhistGetPartitions(walk->parent);
	return partition_of(set, relid) != NULL ||
		packed_day_of(set, relid) != NULL;
}
