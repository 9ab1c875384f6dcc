/*-------------------------------------------------------------------------
 *
 * move_lock.c
 *	  Makes statements that change rows wait for moves of rows, and moves for them.
 *
 * An UPDATE, DELETE or SELECT ...  FOR UPDATE that finds a row which is being moved from
 * one table of a parent to another fails with 40001 (see move.c), because its snapshot
 * has the row only in the old table.  Zabbix repeats a transaction after a deadlock, but
 * not after 40001, so an hour's trends would be lost.  Therefore a move and such
 * statements wait for each other's transaction.  A move's transaction is one batch of
 * rows.
 *
 * Most statements need no code for this.  For an inheritance parent PostgreSQL locks all
 * children in ROW SHARE or ROW EXCLUSIVE before the statement takes its snapshot.  So a
 * move locks one of the children, the gate, in EXCLUSIVE, which does not conflict with
 * SELECT.  No INSERT needs the gate: it is the foreign table of packed days or, if there
 * is none, the partition furthest in the future (rows for that one are stored in the
 * parent meanwhile, see batch_flush.c).
 *
 * A statement that has been running since before the gate was created has not
 * locked it.  While there may be such, a move first waits for the transactions
 * that have locked the parent for changes.
 *
 * Statements that are run table by table (change.c), and functions that change rows
 * themselves, do not lock the gate.  They take the move lock of the parent in ROW
 * EXCLUSIVE before their snapshot, and a move takes it in SHARE.
 *
 * No session waits for one of these locks while it holds the other: a move that cannot
 * get both releases the one that it has.
 *
 * 40001 remains possible if the snapshot is older than the statement: at REPEATABLE READ.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "storage/lock.h"
#include "utils/rel.h"

#include "tables/move_lock.h"
#include "tables/object_lock.h"
#include "tables/partition_set.h"
#include "tables/policy.h"

/* a move that others get ahead of that often is left for later */
#define MAX_TRIES 20

/* ---- the move lock ---- */

/*
 * ZbxhistBeginChanging takes the move lock for changes until the end of the
 * transaction, waiting for a move.  It is called before rows of parent, which
 * is locked, are changed by a statement that locks no gate.  Returns whether
 * the transaction did not hold it before, so that a snapshot that it has by now
 * may be older than the end of a move.
 */
bool
ZbxhistBeginChanging(Oid parent)
{
	return lock_object(parent, MOVE_LOCK, RowExclusiveLock);
}

/* ---- the gate ---- */

/*
 * ChooseGate returns the child of parent that a move locks, or InvalidOid if it has none.
 * Sets is_settled to whether every running statement that changes the parent's rows has
 * locked it.
 */
static Oid
ChooseGate(Oid parent, bool *is_settled)
{
	Relation	rel = table_open(parent, AccessShareLock);
	const PartitionSet *set = ZbxhistGetPartitions(rel);
	Oid			result = InvalidOid;

	*is_settled = true;
	/* a day is packed only when all transactions see the packed table */
	if (set->npacked_days > 0 && OidIsValid(set->packed))
		result = set->packed;
	else if (set->npartitions > 0)
	{
		result = set->partitions[set->npartitions - 1].relid;
		*is_settled = ZbxhistPartitionIsSettled(parent, result);
	}
	table_close(rel, NoLock);
	return result;
}

/*
 * Contains says whether a list, which ends with an invalid entry, has vxid.
 */
static bool
Contains(const VirtualTransactionId *list, VirtualTransactionId vxid)
{
	for (; VirtualTransactionIdIsValid(*list); list++)
	{
		if (VirtualTransactionIdEquals(*list, vxid))
			return true;
	}
	return false;
}

/*
 * WaitForOlderChanges waits for the transactions that have locked parent for
 * changes or inserts.  VACUUM, ANALYZE and the building of indexes may take
 * long, and change nothing.
 */
static void
WaitForOlderChanges(Oid parent)
{
	LOCKTAG		tag;
	VirtualTransactionId *lockers;
	VirtualTransactionId *others;

	SET_LOCKTAG_RELATION(tag, MyDatabaseId, parent);
	lockers = GetLockConflicts(&tag, ExclusiveLock, NULL);
	others = GetLockConflicts(&tag, ShareUpdateExclusiveLock, NULL);
	for (; VirtualTransactionIdIsValid(*lockers); lockers++)
	{
		if (!Contains(others, *lockers))
			(void) VirtualXactLock(*lockers, true);
	}
}

/*
 * LockGate locks the gate of a parent and returns it, or InvalidOid if there
 * is none, when every statement that changes the parent's rows has to lock it.
 */
static Oid
LockGate(Oid parent)
{
	Oid			locked = InvalidOid;
	Oid			waited_for = InvalidOid;

	for (;;)
	{
		bool		is_settled;
		Oid			gate = ChooseGate(parent, &is_settled);

		if (gate == locked)
			return gate;
		if (OidIsValid(locked))
			UnlockRelationOid(locked, ExclusiveLock);
		locked = InvalidOid;
		if (is_settled || gate == waited_for)
		{
			/* this processes invalidations */
			LockRelationOid(gate, ExclusiveLock);
			locked = gate;
		}
		else
		{
			WaitForOlderChanges(parent);
			waited_for = gate;
		}
	}
}

/* ---- moving ---- */

/*
 * ZbxhistBeginMoving is called before rows of parent are moved, by a session
 * that holds no lock that a statement which changes rows would wait for.
 */
void
ZbxhistBeginMoving(Oid parent)
{
	for (int i = 0; i < MAX_TRIES; i++)
	{
		Oid			gate = LockGate(parent);

		if (try_object(parent, MOVE_LOCK, ShareLock))
			return;
		if (OidIsValid(gate))
			UnlockRelationOid(gate, ExclusiveLock);
		/* waits for transactions that hold it for changes */
		(void) lock_object(parent, MOVE_LOCK, ShareLock);
		unlock_object(parent, MOVE_LOCK, ShareLock);
	}
	ereport(ERROR,
			errcode(ERRCODE_LOCK_NOT_AVAILABLE),
			errmsg("could not lock rows of table with OID %u because they are being changed",
				   parent));
}
