/*-------------------------------------------------------------------------
 *
 * row_lock.c
 *	  Locks on single rows of packed days.
 *
 * Rows of packed days have no place of their own that could be marked as
 * locked, so a lock of PostgreSQL's table of locks stands for a row, by its
 * key: those whose keys have the same hash share one.  They conflict as locks
 * on the rows of a table do.  A session that locks or changes a row holds it
 * until its transaction ends.
 *
 * There is not room for many.  A session that has taken its share locks the
 * day's rows as a whole, by another lock, which all others have in a weaker
 * mode:
 *
 *	ROW SHARE		to change rows that are locked one by one
 *	ROW EXCLUSIVE	to lock rows one by one
 *	SHARE			to change rows that are not locked: in the way of sessions that
 *					lock some.  Others that change them are found by the day's groups
 *	EXCLUSIVE		to lock all of them
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "common/hashfn.h"

#include "packed/changes/row_lock.h"
#include "rows/object_lock.h"

/* rows that a transaction locks one by one, at most */
#define MAX_ROW_LOCKS (4 * max_locks_per_xact)

static int	nlocks = 0;			/* of this transaction */

/*
 * SetRowTag makes the tag of a row's lock: that of a place in the day's table
 * which it hardly has.
 */
static void
SetRowTag(LOCKTAG *tag, Oid day, int64 itemid, int64 position)
{
	int64		key[2] = {itemid, position};
	uint64		hash = hash_bytes_extended((const unsigned char *) key,
										   sizeof(key), 0);

	SET_LOCKTAG_TUPLE(*tag, MyDatabaseId, day, (uint32) hash,
					  (uint16) (hash >> 32));
}

/*
 * LockOne locks a row, until the transaction ends, having locked the day's in one
 * mode; or, if there is no room for that, all of these in another.  Returns false if
 * that is not to be waited for and cannot be had.
 */
static bool
LockOne(Oid day, int64 itemid, int64 position, LOCKMODE mode,
		LOCKMODE one_by_one, LOCKMODE all, bool waits, RowLock *lock)
{
	LockAcquireResult result;

	lock->has_row = nlocks < MAX_ROW_LOCKS;
	lock->day_mode = lock->has_row ? one_by_one : all;
	lock->mode = mode;
	set_object_tag(&lock->day, day, ROWS_LOCK);
	SetRowTag(&lock->row, day, itemid, position);
	result = LockAcquire(&lock->day, lock->day_mode, false, !waits);
	if (result == LOCKACQUIRE_NOT_AVAIL || !lock->has_row)
		return result != LOCKACQUIRE_NOT_AVAIL;
	result = LockAcquire(&lock->row, mode, false, !waits);
	lock->is_new = result == LOCKACQUIRE_OK;
	nlocks += lock->is_new;
	return result != LOCKACQUIRE_NOT_AVAIL;
}

/*
 * ZbxhistLockRow locks a row for SELECT FOR UPDATE and its like; returns false if
 * somebody else's lock or change is not to be waited for.
 */
bool
ZbxhistLockRow(Oid day, int64 itemid, int64 position, LOCKMODE mode,
			   bool waits)
{
	RowLock		lock;

	return LockOne(day, itemid, position, mode, RowExclusiveLock,
				   ExclusiveLock, waits, &lock);
}

/*
 * ZbxhistLockChangedRow locks a row that is to be changed.
 */
void
ZbxhistLockChangedRow(Oid day, int64 itemid, int64 position, LOCKMODE mode,
					  RowLock *lock)
{
	(void) LockOne(day, itemid, position, mode, RowShareLock, ShareLock, true,
				   lock);
}

/*
 * ZbxhistLockChangedRows is called before any rows of a day are changed: it
 * waits for the sessions that have locked some.
 */
void
ZbxhistLockChangedRows(Oid day, RowLock *lock)
{
	lock->has_row = false;
	lock->day_mode = ShareLock;
	set_object_tag(&lock->day, day, ROWS_LOCK);
	(void) LockAcquire(&lock->day, lock->day_mode, false, false);
}

/*
 * ZbxhistUnlockRow gives back what has just been locked, but for what was before.
 */
void
ZbxhistUnlockRow(const RowLock *lock)
{
	if (lock->has_row)
	{
		(void) LockRelease(&lock->row, lock->mode, false);
		nlocks -= lock->is_new;
	}
	(void) LockRelease(&lock->day, lock->day_mode, false);
}

/*
 * ForgetLocks is told of the end of a transaction.
 */
static void
ForgetLocks(XactEvent event, void *arg)
{
	if (event == XACT_EVENT_COMMIT || event == XACT_EVENT_ABORT ||
		event == XACT_EVENT_PREPARE)
		nlocks = 0;
}

/*
 * ZbxhistRowLockInit is called once.
 */
void
ZbxhistRowLockInit(void)
{
	RegisterXactCallback(ForgetLocks, NULL);
}
