/*-------------------------------------------------------------------------
 *
 * reader.c
 *	  Reads the rows of one item of a parent in the order of their clocks.
 *
 * Partitions do not overlap, so their rows follow each other; with them are
 * merged the rows that are in the parent itself and in children that are not
 * partitions.  A partition is opened when the rows before it have been read,
 * so whoever stops early has not touched the rest.  The usual parent is
 * empty, which its size tells at once.
 *
 * Locks: the caller has locked the parent.  Each partition is locked when it
 * is reached and stays so until the transaction ends, as a table in a query
 * does; one that has been dropped by then is passed over, and so is one that
 * is found, when locked, not to be a partition any more.  A snapshot sees a
 * moved row in one place only, whenever that place is opened.
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
#include "catalog/pg_class.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/predicate.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "catalog/partition_set.h"
#include "read/reader.h"

/* a source, and how its rows become rows of the parent */
typedef struct OpenSource
{
	ItemSource *source;
	Oid			relid;
	bool		is_converted;	/* rows go through converted */
	TupleConversionMap *map;	/* NULL: same columns at the same places */
	TupleTableSlot *converted;
} OpenSource;

struct ItemReader
{
	Relation	parent;			/* borrowed */
	PartitionSet *set;
	Snapshot	snapshot;
	LOCKMODE	lockmode;		/* for partitions */
	bool		keeps_sources;	/* for more items to come */
	ItemRange	range;

	List	   *fixed;			/* of OpenSource: the parent and such */
	List	   *kept;			/* of OpenSource: partitions read before */
	int			kept_hint;		/* where in kept the next one probably is */
	OpenSource *partition;		/* being read, or NULL */
	OpenSource *current;		/* whose row was read last, or NULL */

	/* the partition to be opened next */
	uint32		generation;		/* of the set that next is of */
	int			next;			/* its index, -1 or npartitions: none */
	int64		from_clock;		/* of the one opened last */
	bool		has_begun;		/* from_clock is set */

	MemoryContext context;		/* owns all this */
};

/* ---- sources ---- */

/*
 * NeedsConversion says whether tuples of a table cannot be handed out as
 * tuples of the parent: other places of the columns, or columns that were
 * added without rewriting the table.
 */
static bool
NeedsConversion(OpenSource *open, TupleDesc desc)
{
	return open->map != NULL ||
		(desc->constr != NULL && desc->constr->missing != NULL);
}

/*
 * AddSource makes a source of an opened and locked table.
 */
static OpenSource *
AddSource(ItemReader *reader, Relation rel)
{
	MemoryContext old = MemoryContextSwitchTo(reader->context);
	OpenSource *open = palloc0(sizeof(OpenSource));

	open->relid = RelationGetRelid(rel);
	open->map = convert_tuples_by_name(RelationGetDescr(rel),
									   RelationGetDescr(reader->parent));
	open->is_converted = NeedsConversion(open, RelationGetDescr(rel));
	if (open->is_converted)
		open->converted =
			MakeSingleTupleTableSlot(RelationGetDescr(reader->parent),
									 &TTSOpsVirtual);
	open->source = ZbxhistOpenHeapSource(rel, reader->snapshot);
	MemoryContextSwitchTo(old);
	return open;
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

/*
 * StartSource begins to read the range and goes to its first row.
 */
static void
StartSource(ItemReader *reader, OpenSource *open)
{
	open->source->methods->start(open->source, &reader->range);
	open->source->methods->next(open->source);
}

/*
 * OpenOther opens a child that is not a partition; its rows may be of any
 * time.
 */
static Relation
OpenOther(ItemReader *reader, Oid relid)
{
	Relation	rel = try_table_open(relid, reader->lockmode);

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
 * OpenFixedSources opens what is read besides partitions.  A parent without
 * blocks has no rows for anyone; that nobody adds one is what a serializable
 * transaction then relies on.
 */
static void
OpenFixedSources(ItemReader *reader)
{
	PartitionSet *set = reader->set;
	int			nothers = set->nothers;
	Oid		   *others;

	if (RelationGetNumberOfBlocks(reader->parent) > 0)
		reader->fixed = lappend(reader->fixed,
								AddSource(reader,
										  table_open(RelationGetRelid(reader->parent),
													 NoLock)));
	else
		PredicateLockRelation(reader->parent, reader->snapshot);

	if (nothers == 0)
		return;
	others = palloc(sizeof(Oid) * nothers);
	memcpy(others, set->others, sizeof(Oid) * nothers);
	for (int i = 0; i < nothers; i++)
	{
		Relation	rel = OpenOther(reader, others[i]);

		if (rel != NULL)
			reader->fixed = lappend(reader->fixed, AddSource(reader, rel));
	}
	pfree(others);
}

/*
 * ZbxhistOpenReader makes a reader of parent, which the caller has opened and
 * locked and keeps so.  lockmode is taken on partitions.  A reader that is to
 * read many items keeps the partitions open from one to the next.
 */
ItemReader *
ZbxhistOpenReader(Relation parent, Snapshot snapshot, LOCKMODE lockmode,
				  bool keeps_sources)
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
	reader->lockmode = lockmode;
	reader->keeps_sources = keeps_sources;
	ZbxhistMakeEmpty(&reader->range);
	OpenFixedSources(reader);
	MemoryContextSwitchTo(old);
	return reader;
}

/*
 * ZbxhistCloseReader closes all that the reader has opened; locks stay.
 */
void
ZbxhistCloseReader(ItemReader *reader)
{
	ListCell   *lc;

	foreach(lc, reader->fixed)
		CloseSource(lfirst(lc));
	foreach(lc, reader->kept)
		CloseSource(lfirst(lc));
	if (reader->partition != NULL && !reader->keeps_sources)
		CloseSource(reader->partition);
	MemoryContextDelete(reader->context);
}

/* ---- partition after partition ---- */

/*
 * FindNext sets next to the partition that follows the one opened last in the
 * present set.
 */
static void
FindNext(ItemReader *reader)
{
	PartitionSet *set = ZbxhistGetPartitions(reader->parent);
	bool		descending = reader->range.is_descending;
	int			step = descending ? -1 : 1;
	int			next = descending ? set->npartitions - 1 : 0;

	while (reader->has_begun && next >= 0 && next < set->npartitions &&
		   (descending ?
			set->partitions[next].from_clock >= reader->from_clock :
			set->partitions[next].from_clock <= reader->from_clock))
		next += step;
	reader->next = next;
	reader->generation = set->generation;
}

/*
 * TakeNext copies the next partition that the range allows; returns false if
 * there is none.
 */
static bool
TakeNext(ItemReader *reader, PartitionBounds *bounds)
{
	PartitionSet *set = reader->set;
	int64		first = position_clock(reader->range.first);
	int64		last = position_clock(reader->range.last);
	int			step = reader->range.is_descending ? -1 : 1;

	if (!ZbxhistPartitionSetIsValid(set) ||
		reader->generation != set->generation)
		FindNext(reader);
	while (reader->next >= 0 && reader->next < set->npartitions)
	{
		*bounds = set->partitions[reader->next];
		reader->next += step;
		reader->from_clock = bounds->from_clock;
		reader->has_begun = true;
		if (bounds->to_clock > first && bounds->from_clock <= last)
			return true;
	}
	return false;
}

/*
 * IsPartition says whether relid is a partition in the present set.
 */
static bool
IsPartition(ItemReader *reader, Oid relid)
{
	PartitionSet *set = ZbxhistGetPartitions(reader->parent);

	for (int i = 0; i < set->npartitions; i++)
	{
		if (set->partitions[i].relid == relid)
			return true;
	}
	return false;
}

/*
 * FindKept returns a partition that is open already, or NULL.  One item after
 * the other reads them in the same order.
 */
static OpenSource *
FindKept(ItemReader *reader, Oid relid)
{
	int			nkept = list_length(reader->kept);

	for (int i = 0; i < nkept; i++)
	{
		int			place = (reader->kept_hint + i) % nkept;
		OpenSource *open = list_nth(reader->kept, place);

		if (open->relid == relid)
		{
			reader->kept_hint = place + 1;
			return open;
		}
	}
	return NULL;
}

/*
 * OpenPartition opens a partition, or finds it among those that are open;
 * returns NULL if it is not there any more.
 */
static OpenSource *
OpenPartition(ItemReader *reader, Oid relid)
{
	OpenSource *open = FindKept(reader, relid);
	Relation	rel;

	if (open != NULL)
		return open;
	rel = try_table_open(relid, reader->lockmode);
	if (rel == NULL)
		return NULL;
	/* the lock took in what happened meanwhile */
	if (!ZbxhistPartitionSetIsValid(reader->set) &&
		!IsPartition(reader, relid))
	{
		table_close(rel, NoLock);
		return NULL;
	}
	open = AddSource(reader, rel);
	if (reader->keeps_sources)
	{
		MemoryContext old = MemoryContextSwitchTo(reader->context);

		reader->kept = lappend(reader->kept, open);
		MemoryContextSwitchTo(old);
	}
	return open;
}

/*
 * NextPartition leaves the partition that has been read and goes to the first
 * row of the next one that has any.
 */
static void
NextPartition(ItemReader *reader)
{
	PartitionBounds bounds;

	while (reader->partition == NULL || !reader->partition->source->has_row)
	{
		CHECK_FOR_INTERRUPTS();
		if (reader->partition != NULL && !reader->keeps_sources)
			CloseSource(reader->partition);
		reader->partition = NULL;
		if (!TakeNext(reader, &bounds))
			return;
		reader->partition = OpenPartition(reader, bounds.relid);
		if (reader->partition != NULL)
			StartSource(reader, reader->partition);
	}
}

/* ---- reading ---- */

/*
 * ZbxhistReadItem begins to read a range of an item.
 */
void
ZbxhistReadItem(ItemReader *reader, const ItemRange *range)
{
	ListCell   *lc;

	if (reader->partition != NULL && !reader->keeps_sources)
		CloseSource(reader->partition);
	reader->partition = NULL;
	reader->current = NULL;
	reader->range = *range;
	reader->has_begun = false;
	reader->kept_hint = 0;
	if (item_range_is_empty(range))
		return;

	FindNext(reader);
	foreach(lc, reader->fixed)
		StartSource(reader, lfirst(lc));
	NextPartition(reader);
}

/*
 * IsBefore says whether a's row comes before b's, which may be NULL.
 */
static bool
IsBefore(const ItemReader *reader, const OpenSource *a, const OpenSource *b)
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
	if (reader->current != NULL)
		reader->current->source->methods->next(reader->current->source);
	reader->current = NULL;
	NextPartition(reader);

	reader->current = reader->partition;
	foreach(lc, reader->fixed)
	{
		OpenSource *open = lfirst(lc);

		if (open->source->has_row && IsBefore(reader, open, reader->current))
			reader->current = open;
	}
	return reader->current != NULL;
}

/*
 * ZbxhistReadPosition returns where the row read last is.
 */
int64
ZbxhistReadPosition(const ItemReader *reader)
{
	return reader->current->source->position;
}

/*
 * ZbxhistReadSource returns the source of the row read last, whose slot has
 * the row in its table's own row type.
 */
ItemSource *
ZbxhistReadSource(const ItemReader *reader)
{
	return reader->current->source;
}

/*
 * ZbxhistReadSlot returns the row read last with the parent's columns; it is
 * good until the next one is read.
 */
TupleTableSlot *
ZbxhistReadSlot(ItemReader *reader)
{
	OpenSource *open = reader->current;
	TupleTableSlot *slot = open->source->slot;
	int			natts = RelationGetDescr(reader->parent)->natts;

	if (!open->is_converted)
		return slot;
	if (open->map != NULL)
		return execute_attr_map_slot(open->map->attrMap, slot,
									 open->converted);
	slot_getallattrs(slot);
	ExecClearTuple(open->converted);
	memcpy(open->converted->tts_values, slot->tts_values,
		   sizeof(Datum) * natts);
	memcpy(open->converted->tts_isnull, slot->tts_isnull,
		   sizeof(bool) * natts);
	return ExecStoreVirtualTuple(open->converted);
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
