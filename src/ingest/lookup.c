/*-------------------------------------------------------------------------
 *
 * lookup.c
 *	  Looks for the keys of rows that the parent holds where else they may
 *	  be: in a partition that could not be written to, or in a packed day.
 *
 * The row is stored in the parent before its key is looked for, see probe.c.
 * What a partition that is being packed holds does not change meanwhile, so it
 * may be looked at in whatever way it is locked; when it is gone, its rows are
 * in a packed day, and the caller finds out by a new partition set.  So it does
 * when a packed day is gone: another one may have been written in its place.
 *
 * Packed days are looked at by lookup_day.c.
 *
 * Locks: ACCESS SHARE on what is looked at, until the transaction ends.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "miscadmin.h"
#include "storage/latch.h"
#include "storage/lmgr.h"
#include "utils/rel.h"
#include "utils/wait_event.h"

#include "ingest/lookup.h"
#include "ingest/probe.h"
#include "rows/work_lock.h"

/* between two looks whether maintenance has ended, in milliseconds */
#define LOCK_PAUSE 1

/*
 * ZbxhistLockForLookup locks a table so that keys can be looked up in it.  Who
 * has it ACCESS EXCLUSIVE is waited for, as by any INSERT into a plain table;
 * maintenance, which gives up soon itself, whatever lock_timeout is.  Who only
 * keeps writers out, such as CREATE INDEX, is not in the way; REINDEX is waited
 * for when the indexes are opened.
 */
void
ZbxhistLockForLookup(Oid relid)
{
	while (!ConditionalLockRelationOid(relid, AccessShareLock))
	{
		CHECK_FOR_INTERRUPTS();
		if (!ZbxhistIsWorkedOn(relid))
		{
			LockRelationOid(relid, AccessShareLock);
			return;
		}
		(void) WaitLatch(MyLatch,
						 WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
						 LOCK_PAUSE, PG_WAIT_EXTENSION);
		ResetLatch(MyLatch);
	}
}

/*
 * ZbxhistLockForInsert locks a table so that rows can be stored in it.  Returns
 * false if somebody keeps writers out, but not readers: then keys can be looked
 * up in it.
 */
bool
ZbxhistLockForInsert(Oid relid)
{
	if (ConditionalLockRelationOid(relid, RowExclusiveLock))
		return true;
	ZbxhistLockForLookup(relid);
	return ConditionalLockRelationOid(relid, RowExclusiveLock);
}

/*
 * ZbxhistCheckPartitionKeys raises 23505 if a key is in a partition.  Returns
 * false if there is no such table any more.
 */
bool
ZbxhistCheckPartitionKeys(Relation parent, Oid partition,
						  TupleTableSlot **slots, int nslots)
{
	Relation	rel;

	ZbxhistLockForLookup(partition);
	rel = try_table_open(partition, NoLock);
	if (rel == NULL)
		return false;
	ZbxhistRaiseChildDuplicates(rel, parent, slots, nslots);
	table_close(rel, NoLock);
	return true;
}

/*
 * KeyInTable says whether some unique index of rel has the slot's key.
 */
static bool
KeyInTable(Relation parent, Relation rel, TupleTableSlot *slot)
{
	KeyProbe   *probe = ZbxhistOpenChildProbe(rel, parent);
	ItemPointerData found;
	bool		result = ZbxhistProbeKey(probe, slot, false, &found);

	ZbxhistCloseProbe(probe);
	return result;
}

/*
 * ZbxhistKeyInPartition says whether the slot's key is in a partition, waiting
 * for another transaction that is about to insert it.
 */
bool
ZbxhistKeyInPartition(Relation parent, Oid partition, TupleTableSlot *slot)
{
	Relation	rel;
	bool		result;

	ZbxhistLockForLookup(partition);
	rel = try_table_open(partition, NoLock);
	if (rel == NULL)
		return false;
	result = KeyInTable(parent, rel, slot);
	table_close(rel, NoLock);
	return result;
}
