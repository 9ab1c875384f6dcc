/*-------------------------------------------------------------------------
 *
 * group_lock.h
 *	  Locks on groups whose rows are to be changed.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_GROUP_LOCK_H
#define ZBXHIST_GROUP_LOCK_H

#include "packed/day/day.h"

extern bool ZbxhistTryRow(DayModify *modify, int64 itemid, int32 clock);
extern bool ZbxhistTryRange(DayModify *modify, const ItemRange *range);
extern void ZbxhistAwaitGroup(const DayModify *modify);

#endif							/* ZBXHIST_GROUP_LOCK_H */
