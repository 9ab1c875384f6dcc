/*-------------------------------------------------------------------------
 *
 * work_lock.c
 *	  Lets INSERTs know that maintenance has locked a table.
 *
 * An INSERT that has to look for a key in a table waits for a session that has locked it
 * ACCESS EXCLUSIVE, as with a plain table.  Maintenance takes such a lock for a moment
 * and waits for it for a bounded time.  Meanwhile it holds the work lock.  So an INSERT
 * knows when it waits for maintenance.  Then its lock_timeout must not end it, because
 * with a plain table it would not wait at all.
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
