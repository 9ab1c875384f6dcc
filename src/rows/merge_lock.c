/*-------------------------------------------------------------------------
 *
 * merge_lock.c
 *	  Keeps looks for keys in a table of runs and merges of these apart.
 *
 * A scan by a dirty snapshot may miss rows that a merge writes anew meanwhile.
 * A merge holds the lock from before its first write until its transaction
 * ends.  Who looks takes it for the time of the look; if he cannot have it at
 * once, he looks a second time, see ingest/run_keys.c.  So INSERTs never wait for a
 * merge, and a merge waits for looks only, which wait for nobody.
 *
 * A second lock is held by the one worker that merges a table's runs, as long as
 * it lives, in a transaction or not.  Only locks of PostgreSQL's other kind, as
 * pg_advisory_lock() has them, are given back when a process ends.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "rows/merge_lock.h"
#include "rows/object_lock.h"

/*
 * ZbxhistTryLook takes the lock for a look; returns false if somebody merges.
 */
bool
ZbxhistTryLook(Oid runs)
{
	LOCKTAG		tag;

	set_object_tag(&tag, runs, MERGE_LOCK);
	return LockAcquire(&tag, ShareLock, false, true) != LOCKACQUIRE_NOT_AVAIL;
}

/*
 * ZbxhistEndLook gives it back.
 */
void
ZbxhistEndLook(Oid runs)
{
	LOCKTAG		tag;

	set_object_tag(&tag, runs, MERGE_LOCK);
	LockRelease(&tag, ShareLock, false);
}

/*
 * ZbxhistLockMerge takes the lock for a merge, until the transaction ends.
 */
void
ZbxhistLockMerge(Oid runs)
{
	LOCKTAG		tag;

	set_object_tag(&tag, runs, MERGE_LOCK);
	(void) LockAcquire(&tag, ExclusiveLock, false, false);
}

/*
 * SetMergerTag makes the tag of the lock of the worker that merges a table's runs.
 */
static void
SetMergerTag(LOCKTAG *tag, Oid runs)
{
	set_object_tag(tag, runs, MERGER_LOCK);
	tag->locktag_lockmethodid = USER_LOCKMETHOD;
}

/*
 * ZbxhistTryMerger makes this session the one that merges a table's runs, until
 * it ends; returns false if another one is.
 */
bool
ZbxhistTryMerger(Oid runs)
{
	LOCKTAG		tag;

	SetMergerTag(&tag, runs);
	return LockAcquire(&tag, ExclusiveLock, true, true) != LOCKACQUIRE_NOT_AVAIL;
}

/*
 * ZbxhistHasMerger says whether a session merges a table's runs.
 */
bool
ZbxhistHasMerger(Oid runs)
{
	LOCKTAG		tag;

	SetMergerTag(&tag, runs);
	if (LockAcquire(&tag, ShareLock, false, true) == LOCKACQUIRE_NOT_AVAIL)
		return true;
	LockRelease(&tag, ShareLock, false);
	return false;
}
