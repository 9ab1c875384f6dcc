/*-------------------------------------------------------------------------
 *
 * day_conflicts.c
 *	  Conflicts of serializable transactions over packed days.
 *
 * PostgreSQL finds out that one serializable transaction has read what another changes by
 * its locks on the rows, pages and indexes that have been read, and by the transactions
 * in the headers of rows.  Neither follows a row that maintenance packs, merges or
 * unpacks, because the row is then stored anew by a transaction that is not serializable.
 * So the table zbxhist.packed_change stands for the rows of all packed days.  A
 * transaction that changes packed rows inserts a row there.  A serializable transaction
 * reads this table before it reads packed days.  So PostgreSQL finds the conflict with
 * changes that its snapshot does not see, and, by its lock on the table, with later ones.
 *
 * Three cases remain.  A day that has been packed since a transaction took its snapshot
 * may have been read as a partition by a transaction that has ended; so this transaction
 * cannot change it.  A day that is being unpacked will be changed as a partition; so a
 * transaction that reads the day also locks the whole partition.  A day that has been
 * unpacked since a transaction took its snapshot may have been changed as a partition
 * already; so this transaction cannot read it.  Maintenance makes sure that no
 * transaction is older than the partition.
 *
 * Transactions that are not serializable insert a row only if they have deleted rows:
 * maintenance subtracts these from the number of rows that it has noted for the day
 * (sql/maintenance/partition_steps.sql).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/parallel.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "storage/predicate.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "compat.h"
#include "packed/day_conflicts.h"
#include "tables/own_tables.h"
#include "tables/packed_days.h"
#include "tables/partition_set.h"

/*
 * ZbxhistRaiseChanged raises the error for rows that another transaction has changed.
 */
void
ZbxhistRaiseChanged(void)
{
	ereport(ERROR,
			errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
			errmsg("could not serialize access due to concurrent update"));
}

/*
 * ZbxhistRaiseSecondChange raises the error for rows that our own transaction has changed
 * already: another part of the statement, or a function that it calls.  Repeating the
 * transaction would not help.
 */
void
ZbxhistRaiseSecondChange(Relation day)
{
	ereport(ERROR,
			errcode(ERRCODE_TRIGGERED_DATA_CHANGE_VIOLATION),
			errmsg("rows of packed day \"%s\" are being changed by another part of the same statement",
				   RelationGetRelationName(day)),
			errhint("Change them in two statements."),
			errtable(day));
}

/*
 * RaiseConflict raises a serialization failure.
 */
static void
RaiseConflict(const char *detail)
{
	ereport(ERROR,
			errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
			errmsg("could not serialize access due to read/write dependencies among transactions"),
			errdetail_internal("%s", detail),
			errhint("The transaction might succeed if retried."));
}

/* ---- reading ---- */

/*
 * ReadChanges reads the table of changes by a snapshot; the rows themselves are not
 * needed.
 */
static void
ReadChanges(Snapshot snapshot)
{
	Relation	rel = ZbxhistOpenOwnTable("packed_change", AccessShareLock);
	TableScanDesc scan;
	TupleTableSlot *slot;

	if (rel == NULL)
		return;
	slot = table_slot_create(rel, NULL);
	scan = table_beginscan_compat(rel, snapshot);
	while (table_scan_getnextslot(scan, ForwardScanDirection, slot))
		CHECK_FOR_INTERRUPTS();
	table_endscan(scan);
	ExecDropSingleTupleTableSlot(slot);
	table_close(rel, NoLock);
}

/*
 * LockPartitions takes predicate locks on the partitions to which days of
 * parent are being unpacked.
 */
static void
LockPartitions(Relation parent, Snapshot snapshot)
{
	const PartitionSet *set = ZbxhistGetPartitions(parent);
	Oid		   *partitions = palloc(sizeof(Oid) * Max(set->npacked_days, 1));
	int			n = 0;

	/* opening them may rebuild the set */
	for (int i = 0; i < set->npacked_days; i++)
	{
		if (OidIsValid(set->packed_days[i].partition))
			partitions[n++] = set->packed_days[i].partition;
	}
	for (int i = 0; i < n; i++)
	{
		Relation	rel = try_table_open(partitions[i], AccessShareLock);

		if (rel == NULL)
			continue;
		PredicateLockRelation(rel, snapshot);
		table_close(rel, NoLock);
	}
	pfree(partitions);
}

/*
 * RefuseUnpacked raises an error if a day of parent has been unpacked by a
 * transaction that the snapshot does not see.
 */
static void
RefuseUnpacked(Relation parent, Snapshot snapshot)
{
	const PartitionSet *set = ZbxhistGetPartitions(parent);

	for (int i = 0; i < set->npacked_days; i++)
	{
		PackedDay	seen;

		if (set->packed_days[i].is_unpacked &&
			(!ZbxhistReadPackedDay(set->packed_days[i].relid, snapshot,
								   &seen) || !seen.is_unpacked))
			RaiseConflict("A day has been unpacked meanwhile.");
	}
}

/*
 * ZbxhistNotePackedRead is to be called before packed days of parent are read
 * by that snapshot.  Workers of a parallel query read what their leader has
 * noted.
 */
void
ZbxhistNotePackedRead(Relation parent, Snapshot snapshot)
{
	if (!IsolationIsSerializable() || IsParallelWorker() ||
		!IsMVCCSnapshot(snapshot))
		return;
	ReadChanges(snapshot);
	LockPartitions(parent, snapshot);
	RefuseUnpacked(parent, snapshot);
}

/* ---- changing ---- */

/*
 * ZbxhistCheckPackedChange is to be called before rows of a day are changed
 * that have been found by that snapshot.
 */
void
ZbxhistCheckPackedChange(Oid day, Snapshot snapshot)
{
	if (IsolationIsSerializable() && !ZbxhistWasPacked(day, snapshot))
		RaiseConflict("The day has been packed meanwhile.");
}

/*
 * ZbxhistNotePackedChange is to be called after rows of a day have been changed, of which
 * so many were removed.  The user, who only wants to change the parent, needs no
 * privileges for this insert.
 */
void
ZbxhistNotePackedChange(Oid day, int64 removed)
{
	OwnValue	change[] = {
		{"day", ObjectIdGetDatum(day)},
		{"removed", Int64GetDatum(removed)}
	};

	if (removed != 0 || IsolationIsSerializable())
		(void) ZbxhistStoreOwnRow("packed_change", change, lengthof(change));
}
