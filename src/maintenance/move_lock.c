/*-------------------------------------------------------------------------
 *
 * move_lock.c
 *	  Keeps statements that change rows and moves of rows apart.
 *
 * An UPDATE or DELETE that meets a row on its way from the parent to its
 * partition fails with 40001, see move.c: its snapshot shows the row at the
 * old place only.  Zabbix repeats a transaction after a deadlock, but not
 * after that, and an hour's trends would be lost.  So where rows can be on
 * their way at all, because the parent is not empty or a packed day is being
 * unpacked, such a statement takes the move lock of the parent in ROW
 * EXCLUSIVE when it is planned, that is before its snapshot is taken, and a
 * move takes it in SHARE: the one waits for the other's transaction, which for
 * a move is one batch of rows.  INSERT never takes it.
 *
 * 40001 is left for statements that are not planned anew, and for snapshots
 * older than the statement.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/lock.h"
#include "utils/rel.h"

#include "catalog/partition_set.h"
#include "maintenance/move_lock.h"

/* tells the move lock from other locks on the relation as an object */
#define MOVE_SUBOBJECT 2

/*
 * LockMoves takes the move lock until the end of the transaction.
 */
static void
LockMoves(Oid parent, LOCKMODE mode)
{
	LOCKTAG		tag;

	SET_LOCKTAG_OBJECT(tag, MyDatabaseId, RelationRelationId, parent,
					   MOVE_SUBOBJECT);
	(void) LockAcquire(&tag, mode, false, false);
}

/*
 * ZbxhistBeginMoving is called before rows of parent are moved.
 */
void
ZbxhistBeginMoving(Oid parent)
{
	LockMoves(parent, ShareLock);
}

/*
 * IsUnpacking says whether a packed day's rows are about to go to a partition.
 */
static bool
IsUnpacking(Relation parent)
{
	const PartitionSet *set = ZbxhistGetPartitionSet(parent);

	for (int i = 0; i < set->npacked_days; i++)
	{
		if (OidIsValid(set->packed_days[i].partition))
			return true;
	}
	return false;
}

/*
 * ZbxhistBeginChanging is called before rows of parent, which is locked, are
 * updated or deleted.
 */
void
ZbxhistBeginChanging(Relation parent)
{
	if (RelationGetNumberOfBlocks(parent) > 0 || IsUnpacking(parent))
		LockMoves(RelationGetRelid(parent), RowExclusiveLock);
}
