/*-------------------------------------------------------------------------
 *
 * moved_rows.c
 *	  Packed rows that go to the parent when they are updated.
 *
 * A day that was packed before an ALTER TABLE has no place for what the table's
 * columns hold now.  A row of it that is updated is deleted from the day, and
 * its new version is stored in the parent, where late rows of such a day stay,
 * too.  For the user it stays in the same table, so no triggers fire but those
 * of the UPDATE.
 *
 * Locks: ROW EXCLUSIVE on the parent, until the transaction ends.  Allocates in
 * the context that is current when it begins.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "utils/rel.h"

#include "catalog/packed_table.h"
#include "catalog/partition_set.h"
#include "packed/changes/moved_rows.h"
#include "rows/stray.h"
#include "rows/target.h"

struct MovedRows
{
	Relation	parent;			/* owned by target */
	InsertTarget *target;
	TupleTableSlot *slot;
};

/*
 * ZbxhistBeginMovedRows prepares for rows as the foreign table has them.
 */
MovedRows *
ZbxhistBeginMovedRows(Relation table)
{
	MovedRows  *moved = palloc0(sizeof(MovedRows));

	moved->parent = table_open(ZbxhistForeignParent(table), RowExclusiveLock);
	moved->target = ZbxhistOpenTarget(moved->parent, RelationGetDescr(table),
									  TARGET_MOVE, CurrentMemoryContext);
	moved->slot = MakeSingleTupleTableSlot(RelationGetDescr(table),
										   &TTSOpsHeapTuple);
	return moved;
}

/*
 * NoteIfStray tells other sessions of a row whose day is being unpacked: it is in
 * the parent, and belongs to the partition.
 */
static void
NoteIfStray(Relation parent, int32 clock)
{
	const PackedDay *day =
		ZbxhistFindPackedDay(ZbxhistGetPartitionSet(parent), clock);

	if (day == NULL || OidIsValid(day->partition))
		ZbxhistNoteStray(parent);
}

/*
 * ZbxhistMoveRow stores the new version of a row of a clock, which the caller has
 * deleted from its day, in the parent, as by command cid.
 */
void
ZbxhistMoveRow(MovedRows *moved, int32 clock, TupleTableSlot *slot,
			   CommandId cid)
{
	NoteIfStray(moved->parent, clock);
	ExecCopySlot(moved->slot, slot);
	ZbxhistInsertRows(moved->target, &moved->slot, 1, cid);
	ExecClearTuple(moved->slot);
}

/*
 * ZbxhistEndMovedRows closes the parent.
 */
void
ZbxhistEndMovedRows(MovedRows *moved)
{
	ExecDropSingleTupleTableSlot(moved->slot);
	ZbxhistCloseTarget(moved->target);
	pfree(moved);
}
