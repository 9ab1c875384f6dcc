/*-------------------------------------------------------------------------
 *
 * current_group.c
 *	  The group of the newest version that has a row to be changed.
 *
 * Mostly it is the one that was locked last, and is still there.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "packed/changes/day_modify.h"

/*
 * ZbxhistInGroup says whether rows of an item and clock belong to the group.
 */
bool
ZbxhistInGroup(const DayGroup *group, int64 itemid, int32 clock)
{
	if (itemid == group->first_itemid && clock < group->first_clock)
		return false;
	if (itemid == group->last_itemid && clock > group->last_clock)
		return false;
	return itemid >= group->first_itemid && itemid <= group->last_itemid;
}

/*
 * ZbxhistFindCurrent finds the group of the newest version, which is open, that has
 * rows of an item and clock.  It is good until current, or this, is asked again.
 * Returns false if there is none.
 */
bool
ZbxhistFindCurrent(DayModify *modify, int64 itemid, int32 clock,
				   DayGroup *group)
{
	if (modify->has_locked &&
		ZbxhistInGroup(&modify->locked, itemid, clock))
	{
		*group = modify->locked;
		return true;
	}
	/* the scan goes on, and what it had found is not valid any more */
	modify->has_locked = false;
	return ZbxhistDayScanRow(modify->current, itemid, clock, group);
}
