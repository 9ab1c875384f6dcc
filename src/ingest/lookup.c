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
 * A packed day is read with a fresh snapshot: its rows come from the parent or
 * from a partition, in transactions that lock out who inserts the same key
 * there.  While a day is being unpacked, its rows are in the day or, for newer
 * snapshots, in a partition that nobody else writes to; who finds the key
 * neither in the one nor then in the other has missed nothing.
 *
 * Locks: ACCESS SHARE on what is looked at, until the transaction ends.  Who
 * locks us out is passed over, but for packing, which is soon over itself.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/table.h"
#include "catalog/index.h"
#include "catalog/pg_index.h"
#include "miscadmin.h"
#include "nodes/pg_list.h"
#include "storage/lmgr.h"
#include "utils/inval.h"
#include "utils/rel.h"

#include "catalog/partition_set.h"
#include "ingest/lookup.h"
#include "ingest/probe.h"
#include "maintenance/packing.h"
#include "packed/day.h"

/* a lock that is held for a moment only, as by VACUUM, is waited for */
#define LOCK_TRIES 5
#define LOCK_PAUSE_US 1000

/*
 * LockForLookup locks a table so that keys can be looked up in it; returns
 * false if somebody locks us out.  Who only keeps writers out, such as CREATE
 * INDEX, is not in the way; REINDEX is waited for when the indexes are opened,
 * as any insert into a plain table would.
 */
static bool
LockForLookup(Oid relid)
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

	if (!LockForLookup(partition))
		return true;
	rel = try_table_open(partition, NoLock);
	if (rel == NULL)
		return false;
	ZbxhistRaiseDuplicates(rel, RelationGetDescr(parent), slots, nslots);
	table_close(rel, NoLock);
	return true;
}

/*
 * KeyInTable says whether some unique index of rel has the slot's key.
 */
static bool
KeyInTable(Relation parent, Relation rel, TupleTableSlot *slot)
{
	KeyProbe   *probe = ZbxhistOpenProbe(rel, RelationGetDescr(parent));
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

/*
 * FindKeyIndex returns the parent's unique index, or InvalidOid.  What else
 * may be unique keeps a table from being packed.
 */
static Oid
FindKeyIndex(Relation parent)
{
	List	   *indexes = RelationGetIndexList(parent);
	Oid			result = InvalidOid;
	ListCell   *lc;

	foreach(lc, indexes)
	{
		Relation	index = index_open(lfirst_oid(lc), AccessShareLock);

		if (index->rd_index->indisunique && index->rd_index->indimmediate)
			result = RelationGetRelid(index);
		index_close(index, NoLock);
		if (OidIsValid(result))
			break;
	}
	list_free(indexes);
	return result;
}

/*
 * HasKey says whether a packed day has the slot's key; *is_gone is set if there
 * is no such table any more.
 */
static bool
HasKey(Relation parent, Oid day, TupleTableSlot *slot, bool *is_gone)
{
	PartitionSet *set = ZbxhistGetPartitionSet(parent);
	bool		isnull;
	bool		result;
	int64		itemid;
	int32		clock;
	int32		ns = 0;
	Relation	rel;

	*is_gone = false;
	if (set->itemid_attnum == InvalidAttrNumber || !LockForLookup(day))
		return false;
	itemid = DatumGetInt64(slot_getattr(slot, set->itemid_attnum, &isnull));
	clock = DatumGetInt32(slot_getattr(slot, set->clock_attnum, &isnull));
	if (set->ns_attnum != InvalidAttrNumber)
		ns = DatumGetInt32(slot_getattr(slot, set->ns_attnum, &isnull));
	rel = try_table_open(day, NoLock);
	*is_gone = rel == NULL;
	if (*is_gone)
		return false;
	result = ZbxhistDayHasKey(rel, itemid, clock, ns);
	table_close(rel, NoLock);
	return result;
}

/*
 * ZbxhistKeyInDay says whether the slot's key is in a packed day, or in the
 * partition that it is being unpacked to; *is_gone is set if there is no such
 * day any more.
 */
bool
ZbxhistKeyInDay(Relation parent, const PartitionBounds *day,
				TupleTableSlot *slot, bool *is_gone)
{
	Oid			partition = day->partition;

	*is_gone = false;
	if (!OidIsValid(FindKeyIndex(parent)))
		return false;
	return HasKey(parent, day->relid, slot, is_gone) ||
		(OidIsValid(partition) &&
		 ZbxhistKeyInPartition(parent, partition, slot));
}

/*
 * ZbxhistCheckDayKey raises the unique violation that the parent's own index
 * would if the slot's key is in a packed day.  Returns false if there is no
 * such day any more.
 */
bool
ZbxhistCheckDayKey(Relation parent, const PartitionBounds *day,
				   TupleTableSlot *slot)
{
	Relation	index;
	IndexInfo  *info;
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];
	char	   *key;
	bool		is_gone;

	if (!ZbxhistKeyInDay(parent, day, slot, &is_gone))
		return !is_gone;
	index = index_open(FindKeyIndex(parent), AccessShareLock);
	info = BuildIndexInfo(index);
	for (int i = 0; i < info->ii_NumIndexAttrs; i++)
		values[i] = slot_getattr(slot, info->ii_IndexAttrNumbers[i],
								 &isnull[i]);
	key = BuildIndexValueDescription(index, values, isnull);
	ereport(ERROR,
			errcode(ERRCODE_UNIQUE_VIOLATION),
			errmsg("duplicate key value violates unique constraint \"%s\"",
				   RelationGetRelationName(index)),
			key ? errdetail("Key %s already exists.", key) : 0,
			errtableconstraint(parent, RelationGetRelationName(index)));
	return true;				/* keep compiler quiet */
}
