/*-------------------------------------------------------------------------
 *
 * work_lock.c
 *	  Tells that it may be maintenance that has a table locked.
 *
 * An INSERT that has to look for a key in a table waits for a session that has
 * it ACCESS EXCLUSIVE, as it would in a plain table.  Maintenance has such a
 * lock for a moment, and asks for it for a bounded time, while it holds this
 * one.  So an INSERT sees that it waits for maintenance, and that its own
 * lock_timeout, of which a plain table would know nothing, must not end it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"

#include "tables/object_lock.h"
#include "tables/owned_table.h"
#include "tables/work_lock.h"

PG_FUNCTION_INFO_V1(zbxhist_lock_work);

/*
 * ZbxhistIsWorkedOn says whether maintenance, in another session, may have a
 * table locked.
 */
bool
ZbxhistIsWorkedOn(Oid relid)
{
	if (!try_object(relid, WORK_LOCK, ShareLock))
		return true;
	unlock_object(relid, WORK_LOCK, ShareLock);
	return false;
}

/*
 * zbxhist_lock_work(relation regclass) takes the lock until the end of the
 * transaction.
 */
Datum
zbxhist_lock_work(PG_FUNCTION_ARGS)
{
	Oid			relid = PG_GETARG_OID(0);

	ZbxhistRequireOwner(relid);
	(void) lock_object(relid, WORK_LOCK, ExclusiveLock);
	PG_RETURN_VOID();
}
