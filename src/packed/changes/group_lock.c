/*-------------------------------------------------------------------------
 *
 * group_lock.c
 *	  Locks on groups whose rows are to be changed.
 *
 * A change of a row writes its group anew.  So a
 * session that is going to change one locks the group's row in the day's table
 * first, as UPDATE of a table does: changes of other groups go on beside.  Once
 * it has the lock, the newest version of the group is what its latest snapshot
 * sees, and stays so.
 *
 * A session that has changed a group may want any of its rows.  To wait for
 * that session is left to the caller, which first gives back what it has locked
 * for this row only.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/multixact.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "utils/rel.h"

#include "packed/changes/day_modify.h"
#include "packed/changes/group_lock.h"

/*
 * NoteHolder notes the transaction that is in the way of a lock on the row in
 * slot.
 */
static void
NoteHolder(DayModify *modify, TupleTableSlot *slot)
{
	const BufferHeapTupleTableSlot *held = (BufferHeapTupleTableSlot *) slot;
	const HeapTupleHeader header = held->base.tuple->t_data;

	LockBuffer(held->buffer, BUFFER_LOCK_SHARE);
	modify->holder = HeapTupleHeaderGetRawXmax(header);
	modify->holder_mask = header->t_infomask;
	LockBuffer(held->buffer, BUFFER_LOCK_UNLOCK);
}

/*
 * LockGroup locks the group at tid, if that can be had at once.
 */
static TM_Result
LockGroup(DayModify *modify, ItemPointer tid)
{
	TupleTableSlot *slot = table_slot_create(modify->day, NULL);
	TM_FailureData failure;
	TM_Result	result = table_tuple_lock(modify->day, tid, modify->newest,
										  slot, GetCurrentCommandId(false),
										  LockTupleExclusive, LockWaitSkip, 0,
										  &failure);

	if (result == TM_WouldBlock)
		NoteHolder(modify, slot);
	ExecDropSingleTupleTableSlot(slot);
	return result;
}

/*
 * LockNext locks the group of the newest version that its scan finds next; found
 * becomes whether there is one.
 */
static TM_Result
LockNext(DayModify *modify, bool *found)
{
	DayGroup   *group = &modify->locked;
	TM_Result	result = TM_Ok;

	CHECK_FOR_INTERRUPTS();
	modify->has_locked = false;
	*found = ZbxhistDayScanNext(modify->current, group);
	if (*found)
		result = LockGroup(modify, &group->tid);
	modify->has_locked = *found && result == TM_Ok;
	return result;
}

/*
 * TryGroups locks the groups of the newest version that have rows of a range, or the first
 * one, and returns false, having locked some of them at most, if somebody is in the
 * way.
 */
static bool
TryGroups(DayModify *modify, const ItemRange *range, bool only_first)
{
	TM_Result	result;
	bool		found;

	ZbxhistFlushDayChanges(RelationGetRelid(modify->day), modify);
	for (;;)
	{
		CHECK_FOR_INTERRUPTS();
		ZbxhistOpenNewest(modify);
		ZbxhistDayScanItem(modify->current, range);
		do
			result = LockNext(modify, &found);
		while (found && result == TM_Ok && !only_first);
		if (result == TM_Ok)
			return true;
		/* it has been written anew since the snapshot */
		ZbxhistCloseNewest(modify);
		if (result == TM_WouldBlock)
			return false;
	}
}

/*
 * ZbxhistTryRange locks all groups that have rows of a range; see TryGroups.
 */
bool
ZbxhistTryRange(DayModify *modify, const ItemRange *range)
{
	return TryGroups(modify, range, false);
}

/*
 * ZbxhistTryRow locks the one group that has rows of an item and clock; see TryGroups.
 */
bool
ZbxhistTryRow(DayModify *modify, int64 itemid, int32 clock)
{
	ItemRange	range = {.itemid = itemid,.is_descending = true};

	if (modify->newest != NULL && modify->has_locked &&
		ZbxhistInGroup(&modify->locked, itemid, clock))
		return true;
	range.first = make_position(clock, PG_INT32_MIN);
	range.last = make_position(clock, PG_INT32_MAX);
	return TryGroups(modify, &range, true);
}

/*
 * Await waits for the end of a transaction that is not ours.
 */
static void
Await(TransactionId xid)
{
	if (TransactionIdIsNormal(xid) &&
		!TransactionIdIsCurrentTransactionId(xid))
		XactLockTableWait(xid, NULL, NULL, XLTW_None);
}

/*
 * ZbxhistAwaitGroup waits for the transactions that were in the way of a lock.
 */
void
ZbxhistAwaitGroup(const DayModify *modify)
{
	MultiXactMember *members;
	int			nmembers;

	if (modify->holder_mask & HEAP_XMAX_INVALID)
		return;
	if (!(modify->holder_mask & HEAP_XMAX_IS_MULTI))
	{
		Await(modify->holder);
		return;
	}
	nmembers = GetMultiXactIdMembers(modify->holder, &members, false,
									 HEAP_XMAX_IS_LOCKED_ONLY(modify->holder_mask));
	for (int i = 0; i < nmembers; i++)
		Await(members[i].xid);
	if (nmembers > 0)
		pfree(members);
}
