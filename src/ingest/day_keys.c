/*-------------------------------------------------------------------------
 *
 * day_keys.c
 *	  Looks for keys in a packed day.
 *
 * A session that looks here has stored a row with that key in the parent.  The parent's
 * unique index prevents others from storing or merging the same key until this
 * transaction ends.  So if a fresh snapshot does not see the key in the day, nobody will
 * put it there.  If it sees the key, another transaction may be deleting it, and is
 * waited for.
 *
 * Only tables with keys on itemid, clock and ns are packed.  If a parent gets another
 * unique key when days are packed already, that key is not looked for.
 *
 * No INSERT waits for another server: archived groups are assumed not to have the key.
 *
 * A day that is damaged, or that somebody has altered, must not fail an INSERT: groups
 * that cannot be read are assumed not to have the key.  The row stays in the parent until
 * maintenance merges it or finds it to be a duplicate.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "access/xact.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "format/row_compare.h"
#include "ingest/day_keys.h"
#include "ingest/key_match.h"
#include "ingest/key_number.h"
#include "packed/day.h"
#include "packed/day_changes.h"
#include "tables/partition_set.h"

typedef struct DayKeys
{
	KeyHolder	base;			/* must be first */
	Relation	parent;
	const KeyRows *rows;
	Oid			key;			/* the index of the key, or InvalidOid */
	TupleTableSlot *row;		/* that is looked for */
	MemoryContext row_context;	/* reset for each row */
	MemoryContext context;		/* owns all this */

	/* the look under way */
	const DayLayout *layout;
	DayScan    *scan;
} DayKeys;

/*
 * IsKeyOfDays says whether days have all columns of a key of the parent as itemid,
 * clock and ns.
 */
static bool
IsKeyOfDays(Relation parent, const TableKey *key)
{
	const PartitionSet *set = ZbxhistGetPartitions(parent);
	TupleDesc	desc = RelationGetDescr(parent);

	if (!ZbxhistIsPlainKey(key))
		return false;
	for (int i = 0; i < key->info->ii_NumIndexKeyAttrs; i++)
	{
		AttrNumber	attnum = key->info->ii_IndexAttrNumbers[i];
		const char *name = attnum <= 0 ? "" :
			ZbxhistNameInDays(set, NameStr(TupleDescAttr(desc, attnum - 1)->attname));

		if (strcmp(name, "itemid") != 0 && strcmp(name, "clock") != 0 &&
			strcmp(name, "ns") != 0)
			return false;
	}
	return true;
}

/*
 * FindKeyIndex returns the parent's unique index to which two rows of the
 * same itemid, clock and ns are duplicates, or InvalidOid.
 */
static Oid
FindKeyIndex(Relation parent)
{
	ListCell   *lc;

	foreach(lc, ZbxhistReadKeys(parent, true))
	{
		TableKey   *key = lfirst(lc);

		if (IsKeyOfDays(parent, key))
			return key->index;
	}
	return InvalidOid;
}

/*
 * LookForKey looks for the key of a row: it decodes the clocks of the segment that may
 * have it, and the other columns of the key.  Rows that the statement itself is about to
 * delete do not count.
 */
static KeyState
LookForKey(DayKeys *place, FoundKey *found)
{
	const PartitionSet *set = ZbxhistGetPartitions(place->parent);
	const DayLayout *layout = place->layout;
	Relation	day = place->base.rel;
	const GroupReader *reader;
	DayGroup	group;
	SegmentRows rows;
	bool	   *wanted;
	int64		itemid;
	int64		ns;
	int32		clock;
	int64		position;
	int			segment;
	int			before = 0;

	found->key = found->index = place->key;
	if (!ZbxhistGetKeyNumber(set, set->itemid_attnum, "itemid", place->row,
							 &itemid) ||
		!ZbxhistGetKeyClock(set, place->row, &clock))
		return KEY_FREE;
	if (!ZbxhistGetKeyNumber(set, set->ns_attnum, "ns", place->row, &ns))
		ns = 0;
	if (ns != (int32) ns ||
		!ZbxhistDayScanRow(place->scan, itemid, clock, &group))
		return KEY_FREE;
	position = make_position(clock, layout->ns < 0 ? 0 : (int32) ns);
	reader = &group.reader;
	segment = ZbxhistFindSegment(reader, itemid, clock);
	if (segment == reader->nsegments ||
		reader->segments[segment].itemid != itemid ||
		reader->segments[segment].first_clock > clock)
		return KEY_FREE;

	for (int i = 0; i < segment; i++)
		before += reader->segments[i].nrows;
	wanted = palloc0(sizeof(bool) * layout->npacked);
	wanted[0] = true;
	if (layout->ns >= 0)
		wanted[layout->columns[layout->ns].packed] = true;
	ZbxhistDecodeDaySegment(day, layout, reader, segment, wanted, &rows);
	for (int row = ZbxhistFirstOfClock(&rows, clock);
		 row < rows.nrows && rows.columns[0].ints[row] == clock; row++)
	{
		if (ZbxhistRowPosition(layout, &rows, row) != position ||
			ZbxhistIsBeingDeleted(RelationGetRelid(day), &group.tid,
								  before + row))
			continue;
		found->tid = group.tid;
		return ZbxhistStateOfRow(day, found);
	}
	return KEY_FREE;
}

/*
 * LookInDay is the method "look".  It looks by a fresh snapshot.
 */
static KeyState
LookInDay(KeyHolder *base, FoundKey *found)
{
	DayKeys    *place = (DayKeys *) base;
	KeyState	result = KEY_FREE;
	Snapshot	snapshot;

	if (!OidIsValid(place->key))
		return KEY_FREE;
	snapshot = RegisterSnapshot(GetLatestSnapshot());
	/* rows that this command itself has deleted do not count */
	snapshot->curcid = GetCurrentCommandId(false) + 1;
	place->layout = ZbxhistDayLayout(base->rel);
	place->scan = ZbxhistBeginDayScan(base->rel, place->layout, snapshot);
	ZbxhistDayScanFrom(place->scan, NULL, true);
	for (; found->row < base->nrows; found->row++)
	{
		MemoryContext old = MemoryContextSwitchTo(place->row_context);

		CHECK_FOR_INTERRUPTS();
		ExecStoreHeapTuple(place->rows->tuples[found->row], place->row, false);
		result = LookForKey(place, found);
		MemoryContextSwitchTo(old);
		MemoryContextReset(place->row_context);
		if (result != KEY_FREE)
			break;
	}
	ExecClearTuple(place->row);
	ZbxhistEndDayScan(place->scan);
	UnregisterSnapshot(snapshot);
	return result;
}

/*
 * CloseDayKeys is the method "close".
 */
static void
CloseDayKeys(KeyHolder *base)
{
	DayKeys    *place = (DayKeys *) base;

	ExecDropSingleTupleTableSlot(place->row);
	MemoryContextDelete(place->context);
}

/*
 * ZbxhistOpenDayKeys opens a packed day to look for keys of rows of the parent; the
 * caller has locked both.  The rows are not copied.
 */
KeyHolder *
ZbxhistOpenDayKeys(Relation day, Relation parent, const KeyRows *rows)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "zbxhist keys of a day",
												  ALLOCSET_SMALL_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	DayKeys    *place = palloc0(sizeof(DayKeys));

	place->context = context;
	place->row_context = AllocSetContextCreate(context, "zbxhist key of a day",
											   ALLOCSET_SMALL_SIZES);
	place->base.rel = day;
	place->base.nrows = rows->ntuples;
	place->base.may_be_damaged = true;
	place->base.look = LookInDay;
	place->base.close = CloseDayKeys;
	place->parent = parent;
	place->rows = rows;
	place->key = FindKeyIndex(parent);
	place->row = MakeSingleTupleTableSlot(rows->desc, &TTSOpsHeapTuple);
	MemoryContextSwitchTo(old);
	return &place->base;
}
