/*-------------------------------------------------------------------------
 *
 * moving.c
 *	  What all moves of a table's rows to another place have in common.
 *
 * The parent may have terabytes of other rows, and no index begins with clock; but there
 * is one on (itemid, clock).  So the walk goes from item to item and reads the wanted
 * clocks of each: two index descents for each item, however many rows it has.  Without
 * such an index the whole table is read.
 *
 * Locks are the caller's.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/tableam.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "compat.h"
#include "tables/columns.h"
#include "tables/index_next.h"
#include "tables/item_index.h"
#include "tables/moving.h"
#include "tables/owned_table.h"

/*
 * ZbxhistRequireClock raises an error unless a table has clocks of Zabbix's type.
 */
void
ZbxhistRequireClock(Relation rel)
{
	if (ZbxhistFindColumn(RelationGetDescr(rel), "clock", INT4OID) ==
		InvalidAttrNumber)
		ereport(ERROR,
				errcode(ERRCODE_UNDEFINED_COLUMN),
				errmsg("table \"%s\" has no column \"clock\" of type integer",
					   RelationGetRelationName(rel)),
				errtable(rel));
}

/*
 * ZbxhistOpenForMoving opens a table, which must have clocks if has_clock, if
 * the user owns it; the lock lasts until the transaction ends.
 */
Relation
ZbxhistOpenForMoving(Oid relid, LOCKMODE lockmode, bool has_clock)
{
	Relation	rel = ZbxhistOpenOwnedTable(relid, lockmode);

	if (has_clock)
		ZbxhistRequireClock(rel);
	return rel;
}

/*
 * ZbxhistDeleteMoved deletes a row and marks it as moved; returns false if another
 * transaction has changed it meanwhile.
 */
bool
ZbxhistDeleteMoved(Relation source, ItemPointer tid, Snapshot snapshot)
{
	TM_FailureData failure;

	return table_tuple_delete_compat(source, tid, snapshot, InvalidSnapshot,
									 &failure, true) == TM_Ok;
}

/* ---- finding the rows ---- */

/*
 * WalkItem visits the rows of one item with the wanted clocks; returns false if the
 * visitor wants to stop.
 */
static bool
WalkItem(const RowWalk *walk, IndexScanDesc scan, TupleTableSlot *slot,
		 int64 itemid)
{
	ScanKeyData keys[ITEM_SCAN_KEYS];

	ZbxhistInitItemKeys(keys, itemid, walk->from_clock, walk->to_clock);
	index_rescan(scan, keys, lengthof(keys), NULL, 0);
	while (index_next(scan, walk->is_backward ? BackwardScanDirection :
					  ForwardScanDirection, slot))
	{
		CHECK_FOR_INTERRUPTS();
		if (!walk->visit(walk->state, slot))
			return false;
		if (walk->is_of_ends)
			break;
	}
	return true;
}

/*
 * WalkByItems visits rows item by item, beginning after *itemid unless is_first.  Returns
 * true at the end of the items; else *itemid is the item to continue with.
 */
static bool
WalkByItems(const RowWalk *walk, Relation index, bool is_first, int64 *itemid)
{
	IndexScanDesc items = index_beginscan_compat(walk->source, index,
												 walk->snapshot, 1);
	IndexScanDesc rows = index_beginscan_compat(walk->source, index,
												walk->snapshot, ITEM_SCAN_KEYS);
	TupleTableSlot *slot = table_slot_create(walk->source, NULL);
	bool		done = false;

	for (;;)
	{
		CHECK_FOR_INTERRUPTS();
		if (!ZbxhistNextItem(items, slot, is_first, itemid))
		{
			done = true;
			break;
		}
		is_first = false;
		if (!WalkItem(walk, rows, slot, *itemid))
		{
			*itemid -= 1;		/* the next call moves its other rows */
			break;
		}
	}
	ExecDropSingleTupleTableSlot(slot);
	index_endscan(rows);
	index_endscan(items);
	return done;
}

/*
 * IsToBeMoved says whether the row in slot has one of the wanted clocks.
 */
static bool
IsToBeMoved(const RowWalk *walk, TupleTableSlot *slot, AttrNumber attnum)
{
	bool		isnull;
	int32		clock;

	if (walk->is_of_all)
		return true;
	clock = DatumGetInt32(slot_getattr(slot, attnum, &isnull));
	return !isnull && clock >= walk->from_clock && clock < walk->to_clock;
}

/*
 * WalkTable visits rows of a table without a suitable index.  Returns true at
 * its end.
 */
static bool
WalkTable(const RowWalk *walk)
{
	AttrNumber	attnum = get_attnum(RelationGetRelid(walk->source), "clock");
	TableScanDesc scan = table_beginscan_compat(walk->source, walk->snapshot);
	TupleTableSlot *slot = table_slot_create(walk->source, NULL);
	bool		done = true;

	while (done && table_scan_getnextslot(scan, ForwardScanDirection, slot))
	{
		CHECK_FOR_INTERRUPTS();
		if (IsToBeMoved(walk, slot, attnum))
			done = walk->visit(walk->state, slot);
	}
	ExecDropSingleTupleTableSlot(slot);
	table_endscan(scan);
	return done;
}

/*
 * ZbxhistWalkRows visits the rows of the source with the wanted clocks, by its index on
 * (itemid, clock) if there is one.  Returns true at the end; if the visitor stops it
 * before and there is an index, *itemid is the item to continue with.
 */
bool
ZbxhistWalkRows(const RowWalk *walk, Relation index, bool is_first,
				int64 *itemid)
{
	return index != NULL ? WalkByItems(walk, index, is_first, itemid) :
		WalkTable(walk);
}
