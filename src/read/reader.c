/*-------------------------------------------------------------------------
 *
 * reader.c
 *	  Reads the rows of one item of a parent in the order of their clocks.
 *
 * Partitions and packed days do not overlap, so they are read one after the other.  The
 * rows of the parent itself, and of children that are neither, are merged with them.  A
 * partition is opened when the rows before it have been read, so if a caller stops early,
 * the other partitions are not opened.  The parent itself is usually empty, which its
 * size shows at once.
 *
 * Locks: the caller has locked the parent.  Each partition is locked when it is reached,
 * until the transaction ends, as a table in a query is.  If it is gone by then, it was
 * dropped by retention, and has no rows, or it was packed, and the packed day is read
 * instead.  Packed days are locked by open_days.c.  The foreign table that stands for all
 * of them is locked from the beginning, so that its columns do not change.  A snapshot sees
 * a moved row in one place only, no matter when the places are opened.
 *
 * Memory is in a context of the reader's, below the current one when it was
 * opened; relations and scans belong to the resource owner of that moment.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "access/tupconvert.h"
#include "access/xact.h"
#include "catalog/pg_class.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "storage/predicate.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "compat.h"
#include "ingest/frame.h"
#include "packed/archive.h"
#include "packed/day_conflicts.h"
#include "packed/open_days.h"
#include "read/reader.h"
#include "tables/kept_tables.h"
#include "tables/partition_set.h"

/* a source, and how its rows become rows of the parent */
typedef struct OpenSource
{
	ItemSource *source;
	Oid			relid;			/* InvalidOid: packed days, whose rows are of
								 * the parent's row type */
	bool		is_behind;		/* the next row must be fetched first */
	TupleConversionMap *map;	/* NULL: same columns at the same places, none
								 * added without rewriting the table */
	TupleTableSlot *converted;	/* the row as converted by map */
} OpenSource;

/*
 * has_row says whether a source has a row that has not been returned yet, fetching it if
 * necessary.
 */
static inline bool
has_row(OpenSource *open)
{
	if (open->is_behind)
	{
		open->source->methods->next(open->source);
		open->is_behind = false;
	}
	return open->source->has_row;
}

struct ItemReader
{
	Relation	parent;			/* borrowed */
	PartitionSet *set;
	Snapshot	snapshot;
	ItemReaderSpec spec;
	bool		is_in_change;	/* rows may be added while it reads */
	uint64		nopened;		/* tables read, packed days not counted */
	ItemRange	range;

	List	   *fixed;			/* of OpenSource: the parent and such */
	KeptTables	kept;			/* of OpenSource: partitions read before */
	OpenSource *packed;			/* packed days, one at a time; NULL: none yet */
	OpenDays   *days;			/* those of packed */
	OpenSource *partition;		/* being read, maybe packed, or NULL */
	OpenSource *current;		/* whose row was read last, or NULL */
	PartitionWalk walk;			/* over partitions and packed days */
	bool		has_found;		/* it has found one that may have rows */

	/* for more items of the same clocks */
	PartitionWalk start;		/* behind partitions that are empty */
	bool		has_start;

	MemoryContext context;		/* owns all this */
};

/* ---- the rows of one table as rows of its parent ---- */

/*
 * OpenSourceOf makes a source of an opened and locked table.
 */
static OpenSource *
OpenSourceOf(Relation rel, Relation parent, Snapshot snapshot)
{
	OpenSource *open = palloc0(sizeof(OpenSource));

	open->relid = RelationGetRelid(rel);
	open->map = convert_tuples_by_name(RelationGetDescr(rel),
									   RelationGetDescr(parent));
	if (open->map != NULL)
		open->converted = MakeSingleTupleTableSlot(RelationGetDescr(parent),
												   &TTSOpsVirtual);
	open->source = ZbxhistOpenHeapSource(rel, snapshot);
	return open;
}

/*
 * StartSource begins to read a range.
 */
static void
StartSource(OpenSource *open, const ItemRange *range)
{
	open->source->methods->start(open->source, range);
	open->is_behind = true;
}

/*
 * GetSourceSlot returns the present row with the parent's columns; it is valid until the
 * source goes on.
 */
static TupleTableSlot *
GetSourceSlot(OpenSource *open)
{
	if (open->map == NULL)
		return open->source->slot;
	execute_attr_map_slot(open->map->attrMap, open->source->slot, open->converted);
	open->converted->tts_tid = open->source->slot->tts_tid;
	return open->converted;
}

/*
 * CloseSource closes and frees one.
 */
static void
CloseSource(OpenSource *open)
{
	if (open->converted != NULL)
		ExecDropSingleTupleTableSlot(open->converted);
	if (open->map != NULL)
		free_conversion_map(open->map);
	open->source->methods->close(open->source);
	pfree(open);
}

/* ---- sources ---- */

/*
 * AddReaderSource makes a source of an opened and locked table.
 */
static OpenSource *
AddReaderSource(ItemReader *reader, Relation rel)
{
	MemoryContext old = MemoryContextSwitchTo(reader->context);
	OpenSource *open = OpenSourceOf(rel, reader->parent, reader->snapshot);

	reader->nopened++;
	MemoryContextSwitchTo(old);
	return open;
}

/*
 * EnterPackedDay enters the packed day that the walk has reached, and returns the source
 * of packed days; NULL if the day is gone.
 */
static OpenSource *
EnterPackedDay(ItemReader *reader, const WalkStep *step)
{
	if (reader->packed == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(reader->context);
		ItemSource *source = ZbxhistOpenPackedSource(reader->parent,
													 reader->snapshot,
													 AccessShareLock);

		reader->packed = palloc0(sizeof(OpenSource));
		reader->packed->source = source;
		reader->days = ZbxhistSourceDays(source);
		reader->days->spec.wants_row_id = reader->spec.wants_tids;
		reader->days->spec.filter = reader->spec.filter;
		reader->days->walk = &reader->walk;
		reader->days->range = &reader->range;
		reader->days->reads_all = reader->spec.reads_all;
		ZbxhistRestartArchive(reader->days->spec.archive, reader->spec.reads_all);
		MemoryContextSwitchTo(old);
	}
	reader->days->keeps_days = reader->spec.keeps_sources;
	return ZbxhistEnterDay(reader->days, &reader->walk, step) ?
		reader->packed : NULL;
}

/*
 * OpenOther opens a child that is not a partition; its rows may be of any
 * time.
 */
static Relation
OpenOther(ItemReader *reader, Oid relid)
{
	Relation	rel = try_table_open(relid, AccessShareLock);

	if (rel != NULL && rel->rd_rel->relkind != RELKIND_RELATION)
		ereport(ERROR,
				errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				errmsg("cannot read child \"%s\" of table \"%s\"",
					   RelationGetRelationName(rel),
					   RelationGetRelationName(reader->parent)),
				errdetail("It is not an ordinary table."),
				errhint("Use SELECT."),
				errtable(rel));
	return rel;
}

/*
 * HasRows says whether a table may have rows.  A table without blocks has none for any
 * snapshot.  A serializable transaction relies on that, so it takes its predicate lock
 * before the size is read.  A statement that changes rows may add rows that the snapshot
 * of a cursor in it sees.
 */
static bool
HasRows(const ItemReader *reader, Relation rel)
{
	if (reader->is_in_change || RelationGetNumberOfBlocks(rel) > 0)
		return true;
	PredicateLockRelation(rel, reader->snapshot);
	return RelationGetNumberOfBlocks(rel) > 0;
}

/*
 * OpenFixedSources opens what is read besides partitions.
 */
static void
OpenFixedSources(ItemReader *reader)
{
	PartitionSet *set = reader->set;
	int			nothers = set->nothers;
	Oid		   *others;

	if (HasRows(reader, reader->parent))
		reader->fixed = lappend(reader->fixed,
								AddReaderSource(reader,
												table_open(RelationGetRelid(reader->parent),
														   NoLock)));

	if (nothers == 0)
		return;
	others = palloc(sizeof(Oid) * nothers);
	memcpy(others, set->others, sizeof(Oid) * nothers);
	for (int i = 0; i < nothers; i++)
	{
		Relation	rel = OpenOther(reader, others[i]);

		if (rel != NULL)
			reader->fixed = lappend(reader->fixed, AddReaderSource(reader,
																   rel));
	}
	pfree(others);
}

/*
 * ZbxhistOpenReader makes a reader of parent, which the caller has opened and
 * locked and keeps so.
 */
ItemReader *
ZbxhistOpenReader(Relation parent, Snapshot snapshot, const ItemReaderSpec *spec)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "zbxhist item reader",
												  ALLOCSET_SMALL_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	ItemReader *reader = palloc0(sizeof(ItemReader));

	reader->context = context;
	reader->parent = parent;
	reader->set = ZbxhistGetPartitions(parent);
	reader->snapshot = snapshot;
	reader->spec = *spec;
	reader->is_in_change = ZbxhistIsInChange();
	ZbxhistMakeEmpty(&reader->range);
	if (OidIsValid(reader->set->packed))
	{
		LockRelationOid(reader->set->packed, AccessShareLock);
		ZbxhistNotePackedRead(parent, snapshot);
	}
	OpenFixedSources(reader);
	MemoryContextSwitchTo(old);
	return reader;
}

/* ---- partition after partition ---- */

/*
 * IsFixedTable says whether a table is read besides partitions: one to which a
 * day was being unpacked has become a partition since.
 */
static bool
IsFixedTable(const ItemReader *reader, Oid relid)
{
	ListCell   *lc;

	foreach(lc, reader->fixed)
	{
		if (((OpenSource *) lfirst(lc))->relid == relid)
			return true;
	}
	return false;
}

/*
 * OpenPartitionTable opens the table of a partition; returns NULL if it is not
 * one any more.
 */
static Relation
OpenPartitionTable(ItemReader *reader, Oid relid)
{
	Relation	rel = try_table_open(relid, AccessShareLock);

	/* locking processed invalidations */
	if (rel != NULL && !ZbxhistWalkKnows(&reader->walk, relid))
	{
		table_close(rel, NoLock);
		return NULL;
	}
	return rel;
}

/*
 * IsWithoutRows says whether a partition has no rows for any snapshot, and locks it; if
 * false, it must be opened.  A serializable transaction opens each, to take its predicate
 * lock.
 */
static bool
IsWithoutRows(ItemReader *reader, Oid relid)
{
	return !reader->is_in_change && !IsolationIsSerializable() &&
		ZbxhistLockIfEmpty(relid, AccessShareLock) &&
		ZbxhistWalkKnows(&reader->walk, relid);
}

/*
 * OpenPartition opens the partition that the walk has reached, or finds it among those
 * that are open; returns NULL if it is gone, read already, or empty.
 */
static OpenSource *
OpenPartition(ItemReader *reader, const WalkStep *step)
{
	Oid			relid = step->relid;
	OpenSource *open = ZbxhistFindKept(&reader->kept, relid);
	Relation	rel;

	if (open != NULL)
		return open;
	if (IsFixedTable(reader, relid) || IsWithoutRows(reader, relid))
	{
		ZbxhistWalkArrived(&reader->walk, step);
		return NULL;
	}
	rel = OpenPartitionTable(reader, relid);
	if (rel == NULL)
		return NULL;
	if (!HasRows(reader, rel))
	{
		/* so that a restarted walk skips it */
		ZbxhistWalkArrived(&reader->walk, step);
		table_close(rel, NoLock);
		return NULL;
	}
	open = AddReaderSource(reader, rel);
	if (reader->spec.keeps_sources)
	{
		MemoryContext old = MemoryContextSwitchTo(reader->context);

		ZbxhistKeepTable(&reader->kept, relid, open);
		MemoryContextSwitchTo(old);
	}
	return open;
}

/*
 * LeavePartition leaves the current partition or packed day, and closes a
 * partition unless sources are kept open.
 */
static void
LeavePartition(ItemReader *reader)
{
	OpenSource *open = reader->partition;

	reader->partition = NULL;
	if (open == NULL)
		return;
	if (open == reader->packed)
		ZbxhistLeaveDay(reader->days);
	else if (!reader->spec.keeps_sources)
		CloseSource(open);
}

/*
 * StartNext begins to read the table that the walk has reached.  If a partition ends
 * before the range does, its rows need not be compared with the range's end.
 */
static void
StartNext(ItemReader *reader, const WalkStep *step)
{
	ItemRange	range = reader->range;

	if (step->is_day)
		ZbxhistLimitToStep(step, &range);
	else
	{
		int32		first_clock = (int32) Max(step->from_clock, PG_INT32_MIN);
		int32		last_clock = (int32) Min(step->to_clock - 1, PG_INT32_MAX);

		if (range.first <= make_position(first_clock, PG_INT32_MIN))
			range.first = PG_INT64_MIN;
		if (range.last >= make_position(last_clock, PG_INT32_MAX))
			range.last = PG_INT64_MAX;
	}
	StartSource(reader->partition, &range);
}

/*
 * BeginWalk begins the walk of an item.  Partitions without blocks stay empty for the
 * snapshot.  So if several items are read, the walk of the next one skips the leading
 * empty partitions, such as future hours.  If the set has changed meanwhile, the walk
 * begins with the first one of the new set.
 */
static void
BeginWalk(ItemReader *reader)
{
	const ItemRange *range = &reader->range;
	const PartitionWalk *start = &reader->start;

	reader->has_found = false;
	if (reader->has_start && start->is_descending == range->is_descending &&
		start->first_clock == position_clock(range->first) &&
		start->last_clock == position_clock(range->last))
		reader->walk = *start;
	else
		ZbxhistBeginWalk(&reader->walk, reader->parent, range, false);
}

/*
 * NextStep goes on with the walk, and remembers where it has found nothing yet.
 */
static bool
NextStep(ItemReader *reader, WalkStep *step)
{
	if (reader->spec.keeps_sources && !reader->has_found)
	{
		reader->start = reader->walk;
		reader->start.arrived = walk_beginning(&reader->walk);
		reader->has_start = true;
	}
	return ZbxhistWalkNext(&reader->walk, step);
}

/*
 * GoToNext leaves the partition that has been read and sets step to the next one; returns
 * false if there is none.  If one is gone, the new set may have another in its place.
 */
static bool
GoToNext(ItemReader *reader, WalkStep *step)
{
	LeavePartition(reader);
	while (NextStep(reader, step))
	{
		CHECK_FOR_INTERRUPTS();
		if (step->is_day && reader->spec.leaves_packed)
		{
			ZbxhistWalkArrived(&reader->walk, step);
			continue;
		}
		reader->partition = step->is_day ? EnterPackedDay(reader, step) :
			OpenPartition(reader, step);
		if (reader->partition == NULL)
			continue;
		ZbxhistWalkArrived(&reader->walk, step);
		reader->has_found = true;
		return true;
	}
	return false;
}

/*
 * OpenNext goes to the next partition and begins to read it.
 */
static bool
OpenNext(ItemReader *reader, WalkStep *step)
{
	if (!GoToNext(reader, step))
		return false;
	StartNext(reader, step);
	return true;
}

/*
 * NextPartition goes to the next row of partitions, in the current one or another.
 */
static void
NextPartition(ItemReader *reader)
{
	WalkStep	step;

	while (reader->partition == NULL || !has_row(reader->partition))
	{
		if (!OpenNext(reader, &step))
			return;
	}
}

/*
 * ZbxhistKeepSources lets a reader keep its sources open from one item to the
 * next from now on.
 */
void
ZbxhistKeepSources(ItemReader *reader)
{
	LeavePartition(reader);
	reader->current = NULL;
	reader->spec.keeps_sources = true;
}

/*
 * ZbxhistCountSources returns how many tables have been read.
 */
uint64
ZbxhistCountSources(const ItemReader *reader)
{
	return reader->nopened +
		(reader->days == NULL ? 0 : reader->days->counters.days);
}

/*
 * ZbxhistCountPacked returns what has been read of packed days; it is valid as long as
 * the reader.
 */
const ScanCounters *
ZbxhistCountPacked(const ItemReader *reader)
{
	static const ScanCounters none = {0};

	return reader->days == NULL ? &none : &reader->days->counters;
}

/* ---- reading ---- */

/*
 * ZbxhistReadItem begins to read a range of an item.
 */
void
ZbxhistReadItem(ItemReader *reader, const ItemRange *range)
{
	ListCell   *lc;

	LeavePartition(reader);
	reader->current = NULL;
	reader->range = *range;
	reader->kept.hint = 0;
	if (item_range_is_empty(range))
		return;

	BeginWalk(reader);
	if (reader->days != NULL)
		ZbxhistRestartDays(reader->days);
	foreach(lc, reader->fixed)
		StartSource(lfirst(lc), &reader->range);
}

/*
 * LeaveRow is called when the row returned last has been used.
 */
static inline void
LeaveRow(ItemReader *reader)
{
	if (reader->current != NULL)
		reader->current->is_behind = true;
	reader->current = NULL;
}

/*
 * IsRowBefore says whether a's row comes before b's, which may be NULL.
 */
static bool
IsRowBefore(const ItemReader *reader, const OpenSource *a, const OpenSource *b)
{
	if (b == NULL)
		return true;
	return reader->range.is_descending ?
		a->source->position > b->source->position :
		a->source->position < b->source->position;
}

/*
 * ZbxhistReadNext goes to the next row; returns false when there is none.
 */
bool
ZbxhistReadNext(ItemReader *reader)
{
	ListCell   *lc;

	if (item_range_is_empty(&reader->range))
		return false;
	LeaveRow(reader);
	NextPartition(reader);

	reader->current = reader->partition;
	foreach(lc, reader->fixed)
	{
		OpenSource *open = lfirst(lc);

		if (has_row(open) && IsRowBefore(reader, open, reader->current))
			reader->current = open;
	}
	return reader->current != NULL;
}

/*
 * ZbxhistListItems makes list a list of the items from list->first on that may
 * have rows between the clocks of range, or of as many of them as it holds.
 */
void
ZbxhistListItems(ItemReader *reader, const ItemRange *range, ItemList *list)
{
	WalkStep	step;
	ListCell   *lc;

	list->nitems = 0;
	list->last = PG_INT64_MAX;
	ZbxhistReadItem(reader, range);
	if (item_range_is_empty(range))
		return;
	foreach(lc, reader->fixed)
	{
		ItemSource *source = ((OpenSource *) lfirst(lc))->source;

		source->methods->list_items(source, range, list->is_descending ?
									PG_INT32_MAX : PG_INT32_MIN, list);
	}
	while (OpenNext(reader, &step))
	{
		ItemSource *source = reader->partition->source;
		ItemRange	part = *range;
		int64		clock = list->is_descending ? step.to_clock - 1 :
			step.from_clock;

		ZbxhistLimitToStep(&step, &part);
		source->methods->list_items(source, &part, (int32)
									Max(Min(clock, PG_INT32_MAX), PG_INT32_MIN),
									list);
	}
	ZbxhistSortItemList(list);
}

/*
 * FindInSource moves one end of a range of items to the first, or the last, of which the
 * source may have rows; returns false if there is none.
 */
static bool
FindInSource(const OpenSource *open, const ItemRange *range, int64 *first_itemid,
			 int64 *last_itemid, bool is_last)
{
	int64		itemid;

	if (!open->source->methods->find_item(open->source, range, *first_itemid,
										  *last_itemid, is_last, &itemid))
		return false;
	if (is_last)
		*first_itemid = itemid;
	else
		*last_itemid = itemid;
	return true;
}

/*
 * ZbxhistFindItem finds the first of the items between two, which are included, or the
 * last, that may have rows between the clocks of range; returns false if there is none.
 * The search ends when the nearest possible item is found.
 */
bool
ZbxhistFindItem(ItemReader *reader, const ItemRange *range, int64 first_itemid,
				int64 last_itemid, bool is_last, int64 *itemid)
{
	bool		found = false;
	WalkStep	step;
	ListCell   *lc;

	LeavePartition(reader);
	reader->current = NULL;
	reader->range = *range;
	reader->kept.hint = 0;
	if (item_range_is_empty(range) || first_itemid > last_itemid)
		return false;
	BeginWalk(reader);
	if (reader->days != NULL)
		ZbxhistRestartDays(reader->days);
	foreach(lc, reader->fixed)
		found |= FindInSource(lfirst(lc), range, &first_itemid, &last_itemid, is_last);
	while (!(found && first_itemid == last_itemid) && GoToNext(reader, &step))
		found |= FindInSource(reader->partition, range, &first_itemid, &last_itemid,
							  is_last);
	*itemid = is_last ? first_itemid : last_itemid;
	return found;
}

/* ---- segments ---- */

/*
 * FindSegment finds the segment that the current partition, or one after it,
 * continues with; NULL if it does not continue with a whole one.
 */
static const SegmentInfo *
FindSegment(ItemReader *reader, SegmentStats *stats)
{
	const SegmentInfo *segment;
	WalkStep	step;

	do
	{
		OpenSource *open = reader->partition;

		if (open == NULL)
			continue;
		if (!open->is_behind || open->source->methods->peek_segment == NULL)
			return NULL;
		if (open->source->methods->peek_segment(open->source, &segment, stats))
			return segment;
	} while (OpenNext(reader, &step));
	return NULL;
}

/*
 * ZbxhistPeekSegment returns the segment whose rows come next, all of them and
 * no others in between, and its statistics; NULL if there is none.  Valid until
 * the next call.
 */
const SegmentInfo *
ZbxhistPeekSegment(ItemReader *reader, SegmentStats *stats)
{
	const SegmentInfo *segment;
	ListCell   *lc;

	if (item_range_is_empty(&reader->range) || reader->range.is_descending)
		return NULL;
	LeaveRow(reader);
	segment = FindSegment(reader, stats);
	if (segment == NULL)
		return NULL;
	foreach(lc, reader->fixed)
	{
		OpenSource *open = lfirst(lc);

		if (has_row(open) &&
			position_clock(open->source->position) <= segment->last_clock)
			return NULL;
	}
	return segment;
}

/*
 * ZbxhistSkipSegment passes over the segment that has been peeked at.
 */
void
ZbxhistSkipSegment(ItemReader *reader)
{
	reader->partition->source->methods->skip_segment(reader->partition->source);
}

/* ---- the row ---- */

/*
 * ZbxhistReadPosition returns where the row read last is.
 */
int64
ZbxhistReadPosition(const ItemReader *reader)
{
	return reader->current->source->position;
}

/*
 * ZbxhistReadSlot returns the row read last with the parent's columns; it is
 * valid until the next one is read.
 */
TupleTableSlot *
ZbxhistReadSlot(ItemReader *reader)
{
	return GetSourceSlot(reader->current);
}

/*
 * ZbxhistReadDatum returns the row read last as a value of the parent's row
 * type, palloc'd in the current context.
 */
Datum
ZbxhistReadDatum(ItemReader *reader)
{
	TupleTableSlot *slot = ZbxhistReadSlot(reader);
	bool		should_free;
	HeapTuple	tuple = ExecFetchSlotHeapTuple(slot, false, &should_free);
	Datum		result = heap_copy_tuple_as_datum(tuple,
												  RelationGetDescr(reader->parent));

	if (should_free)
		heap_freetuple(tuple);
	return result;
}

/* ---- ending ---- */

/*
 * ZbxhistCloseReader closes all that the reader has opened; locks stay.
 */
void
ZbxhistCloseReader(ItemReader *reader)
{
	ListCell   *lc;

	LeavePartition(reader);
	foreach(lc, reader->fixed)
		CloseSource(lfirst(lc));
	foreach(lc, reader->kept.readers)
		CloseSource(lfirst(lc));
	if (reader->packed != NULL)
		CloseSource(reader->packed);
	MemoryContextDelete(reader->context);
}
