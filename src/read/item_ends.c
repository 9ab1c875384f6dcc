/*-------------------------------------------------------------------------
 *
 * item_ends.c
 *	  The items of a table with the clocks of their newest or oldest rows.
 *
 * The index on (itemid, clock) is walked from item to item, backwards for the
 * newest rows: what comes before all rows of an item is the newest row of the item
 * before it.  So one descent of the index finds an item and its clock, and the
 * table itself is looked at only where the visibility map does not say that
 * all see the row.
 *
 * A scan takes all that its keys leave in a page of the index, though one row is
 * asked for.  So where items are numbered one after the other, the next one is
 * looked for first with rows of about the last one's clock.
 *
 * Locks are the caller's.  Everything is allocated in the current context, and
 * freed at the end.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/relscan.h"
#include "access/skey.h"
#include "access/stratnum.h"
#include "access/tableam.h"
#include "access/visibilitymap.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/fmgroids.h"

#include "compat.h"
#include "read/item_ends.h"

/* keys of the scan */
#define NUM_KEYS 2

/* seconds around the last item's clock in which the next one's is expected */
#define FIRST_REACH 60

typedef struct ItemWalk
{
	Relation	rel;
	IndexScanDesc scan;
	TupleTableSlot *slot;
	Buffer		map;			/* pinned page of the visibility map */
	bool		is_descending;

	/* the row found last */
	int64		itemid;
	int32		clock;

	/* where the next one is expected */
	bool		is_dense;		/* beside the last one, as that one was */
	int64		reach;			/* seconds from clock */
} ItemWalk;

/*
 * FindRow finds the first visible row in the direction of the walk of a scan that
 * is to be started with keys.
 */
static bool
FindRow(ItemWalk *walk, ScanKey keys)
{
	IndexScanDesc scan = walk->scan;
	ScanDirection direction = walk->is_descending ? BackwardScanDirection :
		ForwardScanDirection;
	ItemPointer tid;
	bool		isnull;

	index_rescan(scan, keys, NUM_KEYS, NULL, 0);
	while ((tid = index_getnext_tid(scan, direction)) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		if (!VM_ALL_VISIBLE(walk->rel, ItemPointerGetBlockNumber(tid),
							&walk->map) &&
			!index_fetch_heap(scan, walk->slot))
			continue;
		walk->itemid = DatumGetInt64(index_getattr(scan->xs_itup, 1,
												   scan->xs_itupdesc, &isnull));
		walk->clock = DatumGetInt32(index_getattr(scan->xs_itup, 2,
												  scan->xs_itupdesc, &isnull));
		return true;
	}
	return false;
}

/*
 * FindBetween finds the first row of items between two.
 */
static bool
FindBetween(ItemWalk *walk, int64 from, int64 to)
{
	ScanKeyData keys[NUM_KEYS];

	ScanKeyInit(&keys[0], 1, BTGreaterEqualStrategyNumber, F_INT8GE,
				Int64GetDatum(from));
	ScanKeyInit(&keys[1], 1, BTLessEqualStrategyNumber, F_INT8LE,
				Int64GetDatum(to));
	return FindRow(walk, keys);
}

/*
 * FindInItem finds the first row of an item whose clock is not before another,
 * or not after it.
 */
static bool
FindInItem(ItemWalk *walk, int64 itemid, bool is_before, int32 clock)
{
	ScanKeyData keys[NUM_KEYS];

	ScanKeyInit(&keys[0], 1, BTEqualStrategyNumber, F_INT8EQ,
				Int64GetDatum(itemid));
	if (is_before)
		ScanKeyInit(&keys[1], 2, BTLessEqualStrategyNumber, F_INT4LE,
					Int32GetDatum(clock));
	else
		ScanKeyInit(&keys[1], 2, BTGreaterEqualStrategyNumber, F_INT4GE,
					Int32GetDatum(clock));
	return FindRow(walk, keys);
}

/*
 * FindNear finds the next item where it is expected.
 */
static bool
FindNear(ItemWalk *walk, int64 next)
{
	int64		clock = walk->is_descending ?
		Max(walk->clock - walk->reach, PG_INT32_MIN) :
		Min(walk->clock + walk->reach, PG_INT32_MAX);

	return walk->is_dense &&
		FindInItem(walk, next, !walk->is_descending, (int32) clock);
}

/*
 * FindNext finds the next item from next to end, which is the first of all if
 * next is not beside one.
 */
static bool
FindNext(ItemWalk *walk, int64 next, int64 end)
{
	if (FindNear(walk, next))
		return true;
	if (!(walk->is_descending ? FindBetween(walk, end, next) :
		  FindBetween(walk, next, end)))
		return false;
	/* it was there, but its clock was not */
	if (walk->is_dense && walk->itemid == next)
		walk->reach *= 2;
	walk->is_dense = walk->itemid == next;
	return true;
}

/*
 * AddFound adds the item found, if it has rows in the range, with the clock of
 * the outermost one of these.  The walk's place stays.
 */
static void
AddFound(ItemWalk *walk, const ItemRange *range, ItemList *list)
{
	int32		first = position_clock(range->first);
	int32		last = position_clock(range->last);
	int32		clock = walk->clock;

	if (walk->is_descending ? clock > last : clock < first)
		(void) FindInItem(walk, walk->itemid, walk->is_descending,
						  walk->is_descending ? last : first);
	if (walk->clock >= first && walk->clock <= last)
		ZbxhistAddItem(list, walk->itemid, walk->clock, true);
	walk->clock = clock;
}

/*
 * WalkItems walks from item to item.  A list that is full does without its last
 * items: there a walk forward ends.
 */
static void
WalkItems(ItemWalk *walk, const ItemRange *range, ItemList *list)
{
	int64		next = walk->is_descending ? list->last : list->first;

	while (FindNext(walk, next,
					walk->is_descending ? list->first : list->last))
	{
		CHECK_FOR_INTERRUPTS();
		AddFound(walk, range, list);
		/* the list may have become full, and end before this item */
		if (walk->is_descending ? walk->itemid <= list->first :
			walk->itemid >= list->last)
			return;
		next = walk->is_descending ? walk->itemid - 1 : walk->itemid + 1;
	}
}

/*
 * ZbxhistListItemEnds adds to list the items that have rows between the clocks
 * of range, with the clock of the newest row of each, or of the oldest.
 * The snapshot sees all of its rows by the index, which begins with (itemid, clock); no
 * clock is null.
 */
void
ZbxhistListItemEnds(Relation rel, Relation index, Snapshot snapshot,
					const ItemRange *range, ItemList *list)
{
	ItemWalk   *walk = palloc0(sizeof(ItemWalk));

	walk->rel = rel;
	walk->scan = index_beginscan_compat(rel, index, snapshot, NUM_KEYS);
	walk->scan->xs_want_itup = true;
	walk->slot = table_slot_create(rel, NULL);
	walk->map = InvalidBuffer;
	walk->is_descending = list->is_descending;
	walk->reach = FIRST_REACH;
	WalkItems(walk, range, list);
	if (BufferIsValid(walk->map))
		ReleaseBuffer(walk->map);
	ExecDropSingleTupleTableSlot(walk->slot);
	index_endscan(walk->scan);
	pfree(walk);
}
