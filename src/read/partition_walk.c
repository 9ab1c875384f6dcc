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
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "read/partition_walk.h"

/*
 * get_place orders partitions and packed days by clock.
 */
static inline int64
get_place(const PartitionBounds *bounds, bool is_day)
{
	return bounds->from_clock * 2 + (is_day ? 1 : 0);
}

/*
 * FindNextOf returns the index of the first of n bounds that comes after the
 * place where the walk is; -1 or n if there is none.
 */
static int
FindNextOf(const PartitionWalk *walk, const PartitionBounds *bounds, int n,
		   bool is_day)
{
	int			step = walk->is_descending ? -1 : 1;
	int			next = walk->is_descending ? n - 1 : 0;

	while (walk->has_begun && next >= 0 && next < n &&
		   (walk->is_descending ?
			get_place(&bounds[next], is_day) >= walk->place :
			get_place(&bounds[next], is_day) <= walk->place))
		next += step;
	return next;
}

/*
 * FindNext finds what follows the place where the walk is in the present set.
 */
static void
FindNext(PartitionWalk *walk)
{
	PartitionSet *set = ZbxhistGetPartitions(walk->parent);

	walk->set = set;
	walk->next = FindNextOf(walk, set->partitions, set->npartitions, false);
	walk->next_day = walk->skips_days ? -1 :
		FindNextOf(walk, set->packed_days, set->npacked_days, true);
	walk->generation = set->generation;
}

/*
 * ZbxhistBeginWalk begins a walk over what may have rows of the range.
 */
void
ZbxhistBeginWalk(PartitionWalk *walk, Relation parent, const ItemRange *range)
{
	walk->parent = parent;
	walk->first_clock = position_clock(range->first);
	walk->last_clock = position_clock(range->last);
	walk->is_descending = range->is_descending;
	walk->has_begun = false;
	FindNext(walk);
}

/*
 * ChooseNext says which comes first, the next partition or the next packed
 * day; returns NULL if there is neither.
 */
static const PartitionBounds *
ChooseNext(const PartitionWalk *walk, bool *is_day)
{
	const PartitionSet *set = walk->set;
	const PartitionBounds *partition = NULL;
	const PartitionBounds *day = NULL;

	if (walk->next >= 0 && walk->next < set->npartitions)
		partition = &set->partitions[walk->next];
	if (walk->next_day >= 0 && walk->next_day < set->npacked_days)
		day = &set->packed_days[walk->next_day];
	if (partition == NULL || day == NULL)
		*is_day = day != NULL;
	else
		*is_day = (get_place(day, true) < get_place(partition, false)) !=
			walk->is_descending;
	return *is_day ? day : partition;
}

/*
 * ZbxhistWalkNext copies the next partition or packed day that may have rows;
 * returns false if there is none.  Whoever could open it says so by
 * ZbxhistWalkArrived.
 */
bool
ZbxhistWalkNext(PartitionWalk *walk, PartitionBounds *bounds, bool *is_day)
{
	int			step = walk->is_descending ? -1 : 1;
	const PartitionBounds *next;

	if (!ZbxhistPartitionSetIsValid(walk->set) ||
		walk->generation != walk->set->generation)
		FindNext(walk);
	while ((next = ChooseNext(walk, is_day)) != NULL)
	{
		*bounds = *next;
		if (*is_day)
			walk->next_day += step;
		else
			walk->next += step;
		if (bounds->to_clock > walk->first_clock &&
			bounds->from_clock <= walk->last_clock)
			return true;
	}
	return false;
}

/*
 * ZbxhistWalkArrived notes where the walk is.
 */
void
ZbxhistWalkArrived(PartitionWalk *walk, const PartitionBounds *bounds,
				   bool is_day)
{
	walk->place = get_place(bounds, is_day);
	walk->has_begun = true;
}

/*
 * ZbxhistWalkKnows says whether relid is a partition or packed day in the
 * present set.
 */
bool
ZbxhistWalkKnows(PartitionWalk *walk, Oid relid)
{
	PartitionSet *set = ZbxhistGetPartitions(walk->parent);

	for (int i = 0; i < set->npartitions; i++)
	{
		if (set->partitions[i].relid == relid)
			return true;
	}
	for (int i = 0; i < set->npacked_days; i++)
	{
		if (set->packed_days[i].relid == relid)
			return true;
	}
	return false;
}
