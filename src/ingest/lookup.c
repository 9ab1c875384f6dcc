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
 * Locks: ACCESS SHARE on what is looked at, until the transaction ends.  Who
 * locks us out is passed over, but for packing, which is soon over itself.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/rel.h"

#include "ingest/lookup.h"
#include "ingest/probe.h"
#include "packed/jobs/packing.h"

/* a lock that is held for a moment only, as by VACUUM, is waited for */
#define LOCK_TRIES 5
#define LOCK_PAUSE_US 1000

/*
 * ZbxhistLockForLookup locks a table so that keys can be looked up in it;
 * returns false if somebody locks us out.  Who only keeps writers out, such as
 * CREATE INDEX, is not in the way; REINDEX is waited for when the indexes are
 * opened, as any insert into a plain table would.
 */
bool
ZbxhistLockForLookup(Oid relid)
{
	int			tries = 0;

	while (!ConditionalLockRelationOid(relid, AccessShareLock))
	{
		CHECK_FOR_INTERRUPTS();
		if (!ZbxhistIsBeingPacked(relid) && ++tries >= LOCK_TRIES)
			return false;
		pg_usleep(LOCK_PAUSE_US);
	}
	return true;
}

/*
 * ZbxhistCheckPartitionKeys raises 23505 if a key is in a partition, which is
 * passed over if it is locked away from us.  Returns false if there is no such
 * table any more.
 */
bool
ZbxhistCheckPartitionKeys(Relation parent, Oid partition,
						  TupleTableSlot **slots, int nslots)
{
	Relation	rel;

	if (!ZbxhistLockForLookup(partition))
		return true;
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
	Relation	rel = try_table_open(partition, AccessShareLock);
	bool		result;

	if (rel == NULL)
		return false;
	result = KeyInTable(parent, rel, slot);
	table_close(rel, NoLock);
	return result;
}
