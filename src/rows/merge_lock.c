/*-------------------------------------------------------------------------
 *
 * merge_lock.c
 *	  Keeps looks for keys in a table of runs and merges of these apart.
 *
 * A scan by a dirty snapshot may miss rows that a merge writes anew meanwhile.
 * A merge holds the lock from before its first write until its transaction
 * ends.  A session that looks for keys takes it for the time of the look; if it
 * cannot have it at once, it looks a second time, see ingest/run_keys.c.  So
 * INSERTs never wait for a merge, and a merge waits for looks only, which wait
 * for nobody.  A session that changes rows writes runs anew as well, and holds
 * the lock until it commits, in a mode that others that change rows may have,
 * too.
 *
 * Merges and changes of rows keep each other away by another lock, taken before
 * that: a merge is left for later while somebody changes rows.
 *
 * The background workers that merge have locks, too, as long as they live: one for
 * each owner of tables in a database, and one of a few places in the server, so
 * that other workers have room.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_authid.h"
#include "catalog/pg_database.h"

#include "rows/merge_lock.h"
#include "rows/object_lock.h"

/*
 * ZbxhistTryLook takes the lock for a look; returns false if somebody merges.
 */
bool
ZbxhistTryLook(Oid runs)
{
	return try_object(runs, MERGE_LOCK, ShareLock);
}

/*
 * ZbxhistEndLook gives it back.
 */
void
ZbxhistEndLook(Oid runs)
{
	unlock_object(runs, MERGE_LOCK, ShareLock);
}

/*
 * ZbxhistLockMerge takes the lock for a merge, until the transaction ends.
 */
void
ZbxhistLockMerge(Oid runs)
{
	(void) lock_object(runs, MERGE_LOCK, ExclusiveLock);
}

/*
 * ZbxhistTryMerge says whether nobody else merges or changes rows, and keeps it so.
 */
bool
ZbxhistTryMerge(Oid runs)
{
	return try_object(runs, CHANGE_LOCK, ExclusiveLock);
}

/*
 * ZbxhistLockChange takes the locks for a change of rows, until the transaction
 * ends.
 */
void
ZbxhistLockChange(Oid runs)
{
	(void) lock_object(runs, CHANGE_LOCK, RowExclusiveLock);
	(void) lock_object(runs, MERGE_LOCK, RowExclusiveLock);
}

/* ---- workers ---- */

/*
 * SetWorkerTag makes the tag of a lock that a session has until it ends, in
 * whatever way: that is so with those that users have, not with others.
 */
static void
SetWorkerTag(LOCKTAG *tag, Oid database, Oid class, Oid object)
{
	SET_LOCKTAG_OBJECT(*tag, database, class, object, MERGER_LOCK);
	tag->locktag_lockmethodid = USER_LOCKMETHOD;
}

/*
 * TryTag takes a lock if nobody is in the way, and keeps it until the session ends, or
 * gives it back; returns false if somebody is.
 */
static bool
TryTag(const LOCKTAG *tag, LOCKMODE mode, bool keeps)
{
	if (LockAcquire(tag, mode, keeps, true) == LOCKACQUIRE_NOT_AVAIL)
		return false;
	if (!keeps)
		LockRelease(tag, mode, false);
	return true;
}

/*
 * TryWorker does so with the lock of the worker that merges the runs of a role's
 * tables, and with one of the places in the server, for which a database is not asked:
 * one of four workers that the server may have merges.
 */
static bool
TryWorker(Oid owner, LOCKMODE mode, bool keeps)
{
	LOCKTAG		tag;

	SetWorkerTag(&tag, MyDatabaseId, AuthIdRelationId, owner);
	if (!TryTag(&tag, mode, keeps))
		return false;
	for (int i = 0; i < Max(max_worker_processes / 4, 1); i++)
	{
		SetWorkerTag(&tag, InvalidOid, RelationRelationId, i);
		if (TryTag(&tag, mode, keeps))
			return true;
	}
	return false;
}

/*
 * ZbxhistTryMerger makes this session the one that merges the runs of a role's
 * tables, until it ends; returns false if another one is, or there is no place.
 */
bool
ZbxhistTryMerger(Oid owner)
{
	return TryWorker(owner, ExclusiveLock, true);
}

/*
 * ZbxhistWantsMerger says whether nobody merges the runs of a role's tables,
 * and there is a place for a worker that would.
 */
bool
ZbxhistWantsMerger(Oid owner)
{
	return TryWorker(owner, ShareLock, false);
}

/*
 * ZbxhistDatabaseIsWanted says whether a session wants to have the database for
 * itself: to drop, rename or copy it.  It waits five seconds for others to
 * leave.
 */
bool
ZbxhistDatabaseIsWanted(void)
{
	LOCKTAG		tag;

	SET_LOCKTAG_OBJECT(tag, InvalidOid, DatabaseRelationId, MyDatabaseId, 0);
	return !TryTag(&tag, RowExclusiveLock, false);
}
