/*-------------------------------------------------------------------------
 *
 * stray.c
 *	  Knows for which partitions no row can be in the parent.
 *
 * A parent that already had rows when it was set up keeps them until they expire.
 * Looking up each new key in its index would cost a fifth of an INSERT, and find
 * nothing.  So maintenance verifies that none of these rows is in the range of today's
 * partition (sql/maintenance/row_steps.sql), and notes that in zbxhist.partition_state.
 *
 * That stays true until somebody puts a row there that belongs to a partition, a stray:
 * RETURNING, ON CONFLICT, routing switched off, a partition that is locked, the apply of
 * logical replication.  Such a writer takes the strays lock of the
 * parent in ROW EXCLUSIVE until its transaction ends, and leaves a mark in
 * zbxhist.stray_mark, before it stores the row.  A session that has stored a row in a
 * partition tries the lock in SHARE for a moment, without waiting: if somebody holds it,
 * or a mark is there, the keys are looked up in the parent.  So of two sessions that
 * store the same key, one in the parent and one in the partition, one sees the other, as
 * ingest/key_look.c says.  If the lock was free, the other session stores its row later
 * and will find ours, or it has committed, and its mark is there.
 *
 * Verification takes the lock in SHARE until its transaction ends, so no stray is being
 * stored, and removes the marks.  Reading a large parent takes longer than a writer may
 * wait for the lock.  So it is done in a second transaction, without the lock.  A session
 * that stores a stray meanwhile leaves a mark, and if there are marks at the end, the
 * verification is void.
 *
 * A session that disables the trigger and loads rows leaves no mark, but a new version of
 * the trigger's row in pg_trigger.  So verification notes the version that it saw.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "fmgr.h"
#include "storage/lock.h"
#include "utils/inval.h"
#include "utils/rel.h"

#include "tables/object_lock.h"
#include "tables/own_tables.h"
#include "tables/owned_table.h"
#include "tables/partition_set.h"
#include "tables/stray.h"

PG_FUNCTION_INFO_V1(zbxhist_lock_strays);

/*
 * ZbxhistNoteStray is to be called before a row that belongs to a partition
 * is stored in the parent.
 */
void
ZbxhistNoteStray(Relation parent)
{
	Oid			relid = RelationGetRelid(parent);
	OwnValue	mark = {"parent", ObjectIdGetDatum(relid)};

	(void) lock_object(relid, STRAYS_LOCK, RowExclusiveLock);
	AcceptInvalidationMessages();
	if (!ZbxhistGetStrayState(parent)->has_marks &&
		ZbxhistStoreOwnRow("stray_mark", &mark, 1))
		CacheInvalidateRelcacheByRelid(relid);
}

/*
 * ZbxhistNoteStrayOnce does the same for the first such row of a
 * statement.
 */
void
ZbxhistNoteStrayOnce(Relation parent, bool *is_noted)
{
	if (*is_noted)
		return;
	ZbxhistNoteStray(parent);
	*is_noted = true;
}

/*
 * ZbxhistHasNoStrays says whether the parent surely has no rows of a partition with which
 * the caller's rows could collide.  It must be called after the caller's own row is
 * stored in the partition.
 */
bool
ZbxhistHasNoStrays(Relation parent, Oid partition)
{
	const PartitionBounds *bounds;
	Oid			relid = RelationGetRelid(parent);

	bounds = partition_of(ZbxhistGetStrayState(parent), partition);
	if (bounds == NULL || !bounds->is_verified ||
		!try_object(relid, STRAYS_LOCK, ShareLock))
		return false;
	unlock_object(relid, STRAYS_LOCK, ShareLock);

	/* now the marks of committed transactions are visible */
	AcceptInvalidationMessages();
	bounds = partition_of(ZbxhistGetStrayState(parent), partition);
	return bounds != NULL && bounds->is_verified;
}

/*
 * zbxhist_lock_strays(parent regclass) prevents that strays are stored until the end of
 * the transaction.  Waits for sessions that are storing some.
 */
Datum
zbxhist_lock_strays(PG_FUNCTION_ARGS)
{
	Oid			parent = PG_GETARG_OID(0);

	ZbxhistRequireOwner(parent);
	(void) lock_object(parent, STRAYS_LOCK, ShareLock);
	PG_RETURN_VOID();
}
