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

extern void ZbxhistRowLockInit(void);
extern bool ZbxhistLockRow(Oid day, int64 itemid, int64 position,
						   LOCKMODE mode, bool waits);
extern void ZbxhistLockChangedRow(Oid day, int64 itemid, int64 position,
								  LOCKMODE mode);
extern void ZbxhistLockChangedRows(Oid day);

#endif							/* ZBXHIST_ROW_LOCK_H */
