/*-------------------------------------------------------------------------
 *
 * heap_source.c
 *	  An ordinary table as a source of an item's rows.
 *
 * The index on (itemid, clock, ns), Zabbix's primary key, gives the rows in
 * their order.  Tables from before Zabbix 6.0 have an index on (itemid,
 * clock) only: there the rows of one second are collected and sorted.  Without
 * any such index the table is read as a whole, and all its rows of the item
 * are collected and sorted.
 *
 * Locks: the caller has locked the table; the index is locked here, and both
 * locks last until the transaction ends.  Everything is allocated in a context
 * of the source's own, below the current one when it is opened.  Scans and
 * relations belong to the current resource owner, which closes them on error.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relscan.h"
#include "access/skey.h"
#include "access/stratnum.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/transam.h"
#include "catalog/pg_index.h"
#include "catalog/pg_opfamily.h"
#include "catalog/pg_type.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "storage/predicate.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "compat.h"
#include "tables/columns.h"
#include "tables/index_next.h"
#include "tables/item_index.h"
#include "tables/source.h"

/* keys of an index scan: the item, the first and the last position */
#define NUM_KEYS 3

/* seconds in which the newest rows of items are looked for first, and at most */
#define FIRST_REACH 60
#define MAX_REACH 86400

typedef struct CollectedRow
{
	int64		position;
	HeapTuple	tuple;
} CollectedRow;

typedef struct HeapSource
{
	ItemSource	base;			/* must be first */
	Snapshot	snapshot;
	ItemRange	range;
	AttrNumber	itemid_attnum;
	AttrNumber	clock_attnum;
	AttrNumber	ns_attnum;		/* 0: the table has none */
	bool		has_clocks;		/* none is null */

	/* the scan; index is NULL for one of the whole table */
	Relation	index;
	bool		is_ordered;		/* the index gives the order */
	IndexScanDesc index_scan;
	TableScanDesc table_scan;
	TupleTableSlot *scan_slot;
	bool		is_ahead;		/* scan_slot has the next second's first row */
	bool		is_at_end;		/* the scan has ended */
	ScanKeyData bounds[2][2];	/* members of row comparisons */

	/* where the next item's newest rows probably are */
	int32		front;			/* clock of the last item's first row */
	int32		reach;			/* seconds to look before it; 0: not known,
								 * -1: never */
	bool		is_first;		/* the item's next row is its first */
	int64		rest;			/* first position of the part of the range
								 * that is read later */
	bool		has_rest;

	/* rows waiting to be returned, unless is_ordered */
	CollectedRow *rows;
	int			nrows;
	int			max_rows;
	int			next_row;
	MemoryContext rows_context; /* owns their tuples */

	MemoryContext context;		/* owns all this */
} HeapSource;

static void StartHeapSource(ItemSource *base, const ItemRange *range);
static bool NextOfHeapSource(ItemSource *base);
static void ListHeapItems(ItemSource *base, const ItemRange *range,
						  int32 clock,
						  ItemList *list);
static bool FindHeapItem(ItemSource *base, const ItemRange *range,
						 int64 first_itemid, int64 last_itemid, bool is_last,
						 int64 *itemid);
static void CloseHeapSource(ItemSource *base);

static const ItemSourceMethods heap_methods = {
	.start = StartHeapSource,
	.next = NextOfHeapSource,
	.list_items = ListHeapItems,
	.find_item = FindHeapItem,
	.close = CloseHeapSource
};

/* ---- opening ---- */

/*
 * IsUsableIndex says whether an index begins with the columns itemid and
 * clock, and holds every row that the snapshot sees.
 */
static bool
IsUsableIndex(const HeapSource *source, Relation index)
{
	Form_pg_index form = index->rd_index;

	if (!ZbxhistHasOrder(index, source->itemid_attnum, source->clock_attnum))
		return false;
	/* as the planner does: rows that a HOT chain hid from the index */
	return !form->indcheckxmin ||
		TransactionIdPrecedes(HeapTupleHeaderGetXmin(index->rd_indextuple->t_data),
							  TransactionXmin);
}

/*
 * GivesOrder says whether a usable index has the whole order.  ns must not be
 * null, because a row comparison does not find nulls.
 */
static bool
GivesOrder(const HeapSource *source, Relation index)
{
	TupleDesc	desc = RelationGetDescr(source->base.rel);

	if (source->ns_attnum == InvalidAttrNumber)
		return true;
	return index->rd_index->indnkeyatts >= 3 &&
		index->rd_index->indkey.values[2] == source->ns_attnum &&
		index->rd_opfamily[2] == INTEGER_BTREE_FAM_OID &&
		index->rd_indoption[2] == 0 &&
		has_no_nulls(desc, source->ns_attnum);
}

/*
 * OpenItemIndex opens the best index there is.
 */
static void
OpenItemIndex(HeapSource *source)
{
	List	   *indexes = RelationGetIndexList(source->base.rel);
	ListCell   *lc;

	foreach(lc, indexes)
	{
		Relation	index = index_open(lfirst_oid(lc), AccessShareLock);
		bool		is_usable = IsUsableIndex(source, index);
		bool		is_ordered = is_usable && GivesOrder(source, index);

		if (!is_usable || (source->index != NULL && !is_ordered))
		{
			index_close(index, NoLock);
			continue;
		}
		if (source->index != NULL)
			index_close(source->index, NoLock);
		source->index = index;
		source->is_ordered = is_ordered;
		if (is_ordered)
			break;
	}
	list_free(indexes);
}

/*
 * ZbxhistOpenHeapSource makes a source of rel, which has the columns of a
 * parent and whose reference it takes over.  The snapshot must stay registered
 * as long as the source is open.
 */
ItemSource *
ZbxhistOpenHeapSource(Relation rel, Snapshot snapshot)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "zbxhist heap source",
												  ALLOCSET_SMALL_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	HeapSource *source = palloc0(sizeof(HeapSource));

	source->base.methods = &heap_methods;
	source->base.rel = rel;
	source->context = context;
	source->snapshot = snapshot;
	source->itemid_attnum = get_attnum(RelationGetRelid(rel), "itemid");
	source->clock_attnum = ZbxhistFindColumn(RelationGetDescr(rel), "clock",
											 INT4OID);
	source->ns_attnum = ZbxhistFindColumn(RelationGetDescr(rel), "ns", INT4OID);
	source->has_clocks = source->clock_attnum != InvalidAttrNumber &&
		has_no_nulls(RelationGetDescr(rel), source->clock_attnum);
	source->scan_slot = table_slot_create(rel, NULL);
	OpenItemIndex(source);

	if (source->is_ordered)
		source->base.slot = source->scan_slot;
	else
	{
		source->base.slot = MakeSingleTupleTableSlot(RelationGetDescr(rel),
													 &TTSOpsHeapTuple);
		source->rows_context = AllocSetContextCreate(context,
													 "zbxhist collected rows",
													 ALLOCSET_DEFAULT_SIZES);
	}
	if (source->index != NULL)
		source->index_scan = index_beginscan_compat(rel, source->index,
													snapshot, NUM_KEYS);
	MemoryContextSwitchTo(old);
	return &source->base;
}

/*
 * CloseHeapSource is the method "close".
 */
static void
CloseHeapSource(ItemSource *base)
{
	HeapSource *source = (HeapSource *) base;

	if (source->base.slot != source->scan_slot)
		ExecDropSingleTupleTableSlot(source->base.slot);
	ExecDropSingleTupleTableSlot(source->scan_slot);
	if (source->index_scan != NULL)
		index_endscan(source->index_scan);
	if (source->table_scan != NULL)
		table_endscan(source->table_scan);
	if (source->index != NULL)
		index_close(source->index, NoLock);
	table_close(base->rel, NoLock);
	MemoryContextDelete(source->context);
}

/* ---- starting a scan ---- */

/*
 * InitRowKey makes key the comparison (clock, ns) >= or <= position.
 */
static void
InitRowKey(ScanKey key, ScanKey members, StrategyNumber strategy,
		   int64 position)
{
	ScanKeyEntryInitialize(&members[0], SK_ROW_MEMBER, 2, strategy,
						   INT4OID, InvalidOid, F_BTINT4CMP,
						   Int32GetDatum(position_clock(position)));
	ScanKeyEntryInitialize(&members[1], SK_ROW_MEMBER | SK_ROW_END, 3,
						   strategy, INT4OID, InvalidOid, F_BTINT4CMP,
						   Int32GetDatum(position_ns(position)));
	memset(key, 0, sizeof(*key));
	key->sk_flags = SK_ROW_HEADER;
	key->sk_attno = 2;
	key->sk_strategy = strategy;
	key->sk_argument = PointerGetDatum(members);
}

/*
 * StartIndexScan begins at the range's first row, or at its last.  An index without ns
 * also gives rows of the first and the last second that are out of the range.  If there
 * is no bound, the scan key of the item is there twice, which the index reduces to one
 * (rows are compared with each key).
 */
static void
StartIndexScan(HeapSource *source)
{
	const ItemRange *range = &source->range;
	ScanKeyData keys[NUM_KEYS];

	ScanKeyInit(&keys[0], 1, BTEqualStrategyNumber, F_INT8EQ,
				Int64GetDatum(range->itemid));
	if (source->is_ordered && source->ns_attnum != InvalidAttrNumber)
	{
		bool		has_first = range->first != PG_INT64_MIN ||
			!source->has_clocks;
		bool		has_last = range->last != PG_INT64_MAX ||
			!source->has_clocks;
		int			n = 1;

		if (!has_first)
			keys[n++] = keys[0];
		if (!has_last)
			keys[n++] = keys[0];
		if (has_first)
			InitRowKey(&keys[n++], source->bounds[0],
					   BTGreaterEqualStrategyNumber, range->first);
		if (has_last)
			InitRowKey(&keys[n++], source->bounds[1],
					   BTLessEqualStrategyNumber, range->last);
	}
	else
	{
		ScanKeyInit(&keys[1], 2, BTGreaterEqualStrategyNumber, F_INT4GE,
					Int32GetDatum(position_clock(range->first)));
		ScanKeyInit(&keys[2], 2, BTLessEqualStrategyNumber, F_INT4LE,
					Int32GetDatum(position_clock(range->last)));
	}
	index_rescan(source->index_scan, keys, NUM_KEYS, NULL, 0);
}

/*
 * LeaveRest begins with the newest rows of a range and leaves the rest for later.  A scan
 * reads all entries of its range in an index page, even if only one row is requested.
 * Items that are read one after the other mostly have their newest rows at about the same
 * time.
 */
static void
LeaveRest(HeapSource *source)
{
	ItemRange  *range = &source->range;
	int64		first;

	source->has_rest = false;
	source->is_first = true;
	if (!range->is_descending || source->index == NULL || source->reach <= 0)
		return;
	first = make_position((int32) Max((int64) source->front - source->reach,
									  PG_INT32_MIN), PG_INT32_MIN);
	if (first <= range->first || first > range->last)
		return;
	source->rest = range->first;
	source->has_rest = true;
	range->first = first;
}

/*
 * TakeRest continues with the rest of the range; returns false if there is none.
 */
static bool
TakeRest(HeapSource *source)
{
	MemoryContext old;

	if (!source->has_rest)
		return false;
	source->has_rest = false;
	source->range.last = source->range.first - 1;
	source->range.first = source->rest;
	source->reach = source->reach < MAX_REACH ? source->reach * 2 : -1;
	/* restarting it may allocate memory that it keeps */
	old = MemoryContextSwitchTo(source->context);
	StartIndexScan(source);
	MemoryContextSwitchTo(old);
	return true;
}

/*
 * NoteFront notes the position of a row if it is the item's first.
 */
static inline void
NoteFront(HeapSource *source, int64 position)
{
	if (!source->is_first)
		return;
	source->is_first = false;
	source->front = position_clock(position);
	if (source->reach == 0)
		source->reach = FIRST_REACH;
}

/*
 * StartHeapSource is the method "start".
 */
static void
StartHeapSource(ItemSource *base, const ItemRange *range)
{
	HeapSource *source = (HeapSource *) base;
	MemoryContext old = MemoryContextSwitchTo(source->context);

	ExecClearTuple(source->base.slot);
	source->base.has_row = false;
	source->range = *range;
	source->is_ahead = false;
	source->is_at_end = false;
	source->nrows = 0;
	source->next_row = 0;
	LeaveRest(source);
	if (source->index_scan != NULL)
		StartIndexScan(source);
	else if (source->table_scan != NULL)
		table_rescan(source->table_scan, NULL);
	else
		source->table_scan = table_beginscan_compat(source->base.rel,
													source->snapshot);
	MemoryContextSwitchTo(old);
}

/* ---- reading ---- */

/*
 * GetSlotPosition returns where the row in slot is.
 */
static inline int64
GetSlotPosition(const HeapSource *source, TupleTableSlot *slot)
{
	int32		clock;
	int32		ns = 0;

	/* both in one comparison, because this runs for every row */
	slot_getsomeattrs(slot, Max(source->clock_attnum, source->ns_attnum));
	clock = DatumGetInt32(slot->tts_values[source->clock_attnum - 1]);
	if (source->ns_attnum != InvalidAttrNumber &&
		!slot->tts_isnull[source->ns_attnum - 1])
		ns = DatumGetInt32(slot->tts_values[source->ns_attnum - 1]);
	return make_position(clock, ns);
}

/*
 * BelongsToItem says whether a row of the whole table has the item and a
 * clock.
 */
static bool
BelongsToItem(const HeapSource *source, TupleTableSlot *slot)
{
	bool		isnull;
	Datum		itemid = slot_getattr(slot, source->itemid_attnum, &isnull);

	if (isnull || DatumGetInt64(itemid) != source->range.itemid)
		return false;
	(void) slot_getattr(slot, source->clock_attnum, &isnull);
	return !isnull;
}

/*
 * FetchRow puts the scan's next row that is in the range into scan_slot.
 */
static bool
FetchRow(HeapSource *source, int64 *position)
{
	TupleTableSlot *slot = source->scan_slot;

	while (!source->is_at_end)
	{
		CHECK_FOR_INTERRUPTS();
		if (source->index_scan == NULL)
			source->is_at_end = !table_scan_getnextslot(source->table_scan,
														ForwardScanDirection,
														slot);
		else
			source->is_at_end = !index_next(source->index_scan,
											source->range.is_descending ?
											BackwardScanDirection :
											ForwardScanDirection, slot);
		if (source->is_at_end)
		{
			source->is_at_end = !TakeRest(source);
			continue;
		}
		if (source->index_scan == NULL && !BelongsToItem(source, slot))
			continue;
		*position = GetSlotPosition(source, slot);
		if (*position >= source->range.first && *position <= source->range.last)
		{
			NoteFront(source, *position);
			return true;
		}
	}
	return false;
}

/*
 * compare_collected orders rows by position, oldest first.
 */
static int
compare_collected(const void *a, const void *b)
{
	const CollectedRow *left = a;
	const CollectedRow *right = b;

	if (left->position != right->position)
		return left->position < right->position ? -1 : 1;
	return ItemPointerCompare(&left->tuple->t_self, &right->tuple->t_self);
}

/*
 * AddCollected keeps a copy of the row in scan_slot.
 */
static void
AddCollected(HeapSource *source, int64 position)
{
	MemoryContext old;

	if (source->nrows == source->max_rows)
	{
		source->max_rows = Max(source->max_rows * 2, 64);
		source->rows = source->rows == NULL ?
			MemoryContextAlloc(source->context,
							   sizeof(CollectedRow) * source->max_rows) :
			repalloc_huge(source->rows,
						  sizeof(CollectedRow) * source->max_rows);
	}
	old = MemoryContextSwitchTo(source->rows_context);
	source->rows[source->nrows].position = position;
	source->rows[source->nrows].tuple =
		ExecCopySlotHeapTuple(source->scan_slot);
	source->nrows++;
	MemoryContextSwitchTo(old);
}

/*
 * CollectRows collects and sorts the rows of the next second, or all rows if
 * there is no index.  Returns false at the end.
 */
static bool
CollectRows(HeapSource *source)
{
	int64		position;

	ExecClearTuple(source->base.slot);
	MemoryContextReset(source->rows_context);
	source->nrows = 0;
	source->next_row = 0;
	if (source->is_ahead)
		position = GetSlotPosition(source, source->scan_slot);
	else if (!FetchRow(source, &position))
		return false;

	do
	{
		AddCollected(source, position);
		source->is_ahead = FetchRow(source, &position);
	} while (source->is_ahead &&
			 (source->index == NULL ||
			  position_clock(position) ==
			  position_clock(source->rows[0].position)));

	qsort(source->rows, source->nrows, sizeof(CollectedRow),
		  compare_collected);
	return true;
}

/*
 * NextCollected returns the next collected row.
 */
static bool
NextCollected(HeapSource *source)
{
	CollectedRow *row;

	if (source->next_row == source->nrows && !CollectRows(source))
		return false;
	row = source->range.is_descending ?
		&source->rows[source->nrows - 1 - source->next_row] :
		&source->rows[source->next_row];
	source->next_row++;
	source->base.position = row->position;
	ExecStoreHeapTuple(row->tuple, source->base.slot, false);
	return true;
}

/*
 * NextOfHeapSource is the method "next".
 */
static bool
NextOfHeapSource(ItemSource *base)
{
	HeapSource *source = (HeapSource *) base;
	MemoryContext old = MemoryContextSwitchTo(source->context);

	base->has_row = source->is_ordered ? FetchRow(source, &base->position) :
		NextCollected(source);
	if (!base->has_row)
		ExecClearTuple(base->slot);
	MemoryContextSwitchTo(old);
	return base->has_row;
}

/* ---- items ---- */

/*
 * EndHeapScan ends what has been started.
 */
static void
EndHeapScan(HeapSource *source)
{
	ExecClearTuple(source->base.slot);
	ExecClearTuple(source->scan_slot);
	source->base.has_row = false;
	source->is_at_end = true;
	source->has_rest = false;
}

/*
 * FindItemByRows looks for the first or last item between two by reading all rows, because
 * there is no index.
 */
static bool
FindItemByRows(HeapSource *source, int64 first_itemid, int64 last_itemid, bool is_last,
			   int64 *itemid)
{
	TableScanDesc scan = table_beginscan_compat(source->base.rel, source->snapshot);
	bool		found = false;

	while (table_scan_getnextslot(scan, ForwardScanDirection, source->scan_slot))
	{
		bool		isnull;
		int64		item = DatumGetInt64(slot_getattr(source->scan_slot,
													  source->itemid_attnum, &isnull));

		CHECK_FOR_INTERRUPTS();
		if (isnull || item < first_itemid || item > last_itemid ||
			(found && (item > *itemid) != is_last))
			continue;
		*itemid = item;
		found = true;
	}
	table_endscan(scan);
	return found;
}

/*
 * FindItemByIndex looks for it in the index.
 */
static bool
FindItemByIndex(HeapSource *source, int64 first_itemid, int64 last_itemid, bool is_last,
				int64 *itemid)
{
	ScanKeyData keys[NUM_KEYS];
	bool		isnull;

	ScanKeyInit(&keys[0], 1, BTGreaterEqualStrategyNumber, F_INT8GE,
				Int64GetDatum(first_itemid));
	ScanKeyInit(&keys[1], 1, BTLessEqualStrategyNumber, F_INT8LE,
				Int64GetDatum(last_itemid));
	keys[2] = keys[1];
	index_rescan(source->index_scan, keys, NUM_KEYS, NULL, 0);
	if (!index_next(source->index_scan,
					is_last ? BackwardScanDirection : ForwardScanDirection,
					source->scan_slot))
		return false;
	*itemid = DatumGetInt64(slot_getattr(source->scan_slot, source->itemid_attnum,
										 &isnull));
	return true;
}

/*
 * ListByIndex finds one item after the other in the index.
 */
static void
ListByIndex(HeapSource *source, int32 clock, ItemList *list)
{
	int64		itemid = list->first;

	while (FindItemByIndex(source, itemid, list->last, false, &itemid))
	{
		CHECK_FOR_INTERRUPTS();
		ZbxhistAddItem(list, itemid, clock, false);
		/* a full list drops its last items */
		if (itemid >= list->last)
			break;
		itemid++;
	}
}

/*
 * ListByRows looks at all rows, without an index.
 */
static void
ListByRows(HeapSource *source, const ItemRange *range, ItemList *list)
{
	TableScanDesc scan = table_beginscan_compat(source->base.rel, source->snapshot);
	TupleTableSlot *slot = source->scan_slot;

	while (table_scan_getnextslot(scan, ForwardScanDirection, slot))
	{
		bool		isnull;
		bool		is_item_null;
		int32		clock = DatumGetInt32(slot_getattr(slot,
													   source->clock_attnum,
													   &isnull));
		Datum		itemid = slot_getattr(slot, source->itemid_attnum,
										  &is_item_null);

		CHECK_FOR_INTERRUPTS();
		if (!isnull && !is_item_null &&
			clock >= position_clock(range->first) &&
			clock <= position_clock(range->last))
			ZbxhistAddItem(list, DatumGetInt64(itemid), clock, true);
	}
	table_endscan(scan);
}

/*
 * ListHeapItems is the method "list_items".  A serializable transaction relies on there
 * being no others.
 */
static void
ListHeapItems(ItemSource *base, const ItemRange *range, int32 clock,
			  ItemList *list)
{
	HeapSource *source = (HeapSource *) base;
	MemoryContext old = MemoryContextSwitchTo(source->context);

	PredicateLockRelation(base->rel, source->snapshot);
	EndHeapScan(source);
	if (source->index != NULL)
		ListByIndex(source, clock, list);
	else
		ListByRows(source, range, list);
	MemoryContextSwitchTo(old);
}

/*
 * FindHeapItem is the method "find_item".
 */
static bool
FindHeapItem(ItemSource *base, const ItemRange *range, int64 first_itemid,
			 int64 last_itemid, bool is_last, int64 *itemid)
{
	HeapSource *source = (HeapSource *) base;
	MemoryContext old = MemoryContextSwitchTo(source->context);
	bool		found;

	EndHeapScan(source);
	found = source->index != NULL ?
		FindItemByIndex(source, first_itemid, last_itemid, is_last, itemid) :
		FindItemByRows(source, first_itemid, last_itemid, is_last, itemid);
	ExecClearTuple(source->scan_slot);
	MemoryContextSwitchTo(old);
	return found;
}
