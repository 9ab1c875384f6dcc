/*-------------------------------------------------------------------------
 *
 * row_lock.h
 *	  Locks on single rows of packed days.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_ROW_LOCK_H
#define ZBXHIST_ROW_LOCK_H

#include "storage/lock.h"

/* what is locked, as heap has it for the modes of its rows */
#define ROW_LOCK_KEY_SHARE AccessShareLock
#define ROW_LOCK_SHARE RowShareLock
#define ROW_LOCK_NO_KEY_UPDATE ExclusiveLock
#define ROW_LOCK_UPDATE AccessExclusiveLock

/* a lock that has been taken for a row, or for all rows of a day */
typedef struct RowLock
{
	LOCKTAG		day;
	LOCKMODE	day_mode;
	bool		has_row;
	LOCKTAG		row;
	LOCKMODE	mode;
	bool		is_new;			/* the row was not locked before */
} RowLock;

extern void ZbxhistRowLockInit(void);
extern bool ZbxhistLockRow(Oid day, int64 itemid, int64 position,
						   LOCKMODE mode, bool waits);
extern void ZbxhistLockChangedRow(Oid day, int64 itemid, int64 position,
								  LOCKMODE mode, RowLock *lock);
extern void ZbxhistLockChangedRows(Oid day, RowLock *lock);
extern void ZbxhistUnlockRow(const RowLock *lock);

#endif							/* ZBXHIST_ROW_LOCK_H */
