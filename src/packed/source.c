/*-------------------------------------------------------------------------
 *
 * source.c
 *	  Packed days as a source of an item's rows, one day at a time.
 *
 * The rows come in the parent's row type, in either direction.  A row is valid until the
 * next one is requested.  The rows are those of the day that the caller has entered
 * (open_days.c).
 *
 * Everything is allocated in a context of the source's own, below the current
 * one when it is opened.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/memutils.h"
#include "utils/rel.h"

#include "format/row_offset.h"
#include "packed/open_days.h"
#include "tables/columns.h"

typedef struct PackedSource
{
	ItemSource	base;			/* must be first */
	OpenDays	days;
	bool		has_statistics; /* they belong to the parent */
	MemoryContext row_context;	/* owns values of the row */
	MemoryContext context;		/* owns all this */
} PackedSource;

/*
 * HasStatistics says whether the statistics of a day's segments are those of
 * the parent's column "value", which may have got another type since.
 */
static bool
HasStatistics(const DayLayout *layout, Relation parent)
{
	Form_pg_attribute att = ZbxhistFindAttribute(RelationGetDescr(parent),
												 "value");
	const LayoutColumn *column;

	if (att == NULL || layout->value < 0)
		return false;
	column = &layout->columns[layout->value];
	return strcmp(NameStr(column->name), "value") == 0 &&
		column->type == att->atttypid && column->typmod == att->atttypmod;
}

/*
 * ClosePackedSource is the method "close".
 */
static void
ClosePackedSource(ItemSource *base)
{
	PackedSource *source = (PackedSource *) base;

	ExecDropSingleTupleTableSlot(base->slot);
	ZbxhistCloseDays(&source->days);
	MemoryContextDelete(source->context);
}

/*
 * StartPackedSource is the method "start".
 */
static void
StartPackedSource(ItemSource *base, const ItemRange *range)
{
	PackedSource *source = (PackedSource *) base;

	ExecClearTuple(base->slot);
	base->has_row = false;
	base->rel = source->days.reader->rel;
	source->has_statistics = HasStatistics(source->days.reader->layout,
										   source->days.spec.table);
	ZbxhistDayReaderStart(source->days.reader, range);
}

/*
 * NextOfPackedSource is the method "next".
 */
static bool
NextOfPackedSource(ItemSource *base)
{
	PackedSource *source = (PackedSource *) base;
	DayReader  *reader = source->days.reader;
	MemoryContext old;

	ExecClearTuple(base->slot);
	base->has_row = day_reader_next(reader);
	if (!base->has_row)
		return false;
	MemoryContextReset(source->row_context);
	old = MemoryContextSwitchTo(source->row_context);
	ZbxhistMapRow(reader->map, reader->row, base->slot->tts_values,
				  base->slot->tts_isnull);
	MemoryContextSwitchTo(old);
	ExecStoreVirtualTuple(base->slot);
	if (source->days.spec.wants_row_id)
	{
		PackedRowId id;

		ZbxhistDayReaderRowId(reader, &id);
		set_packed_tid(&base->slot->tts_tid, &id);
	}
	base->position = ZbxhistDayReaderPosition(reader);
	return true;
}

/*
 * ListDayItems is the method "list_items".  Segments say their clocks.
 */
static void
ListDayItems(ItemSource *base, const ItemRange *range, int32 clock,
			 ItemList *list)
{
	DayReader  *reader = ((PackedSource *) base)->days.reader;
	const SegmentInfo *info;

	ZbxhistDayReaderStartWhole(reader, range, PG_INT64_MIN, PG_INT64_MAX);
	while ((info = ZbxhistDayReaderFind(reader)) != NULL)
	{
		int32		end = list->is_descending ? info->last_clock :
			info->first_clock;

		ZbxhistAddItem(list, info->itemid, end,
					   end >= position_clock(range->first) &&
					   end <= position_clock(range->last));
		ZbxhistDayReaderSkip(reader);
	}
}

/*
 * FindDayItem is the method "find_item".
 */
static bool
FindDayItem(ItemSource *base, const ItemRange *range, int64 first_itemid,
			int64 last_itemid, bool is_last, int64 *itemid)
{
	return ZbxhistDayReaderFindItem(((PackedSource *) base)->days.reader, range,
									first_itemid, last_itemid, is_last, itemid);
}

/*
 * PeekSegment is the method "peek_segment".
 */
static bool
PeekSegment(ItemSource *base, const SegmentInfo **segment,
			SegmentStats *stats)
{
	PackedSource *source = (PackedSource *) base;
	DayReader  *reader = source->days.reader;
	const SegmentInfo *info;

	*segment = NULL;
	if (reader->row < reader->last_row)
		return true;
	info = ZbxhistDayReaderFind(reader);
	if (info == NULL || !ZbxhistIsWithinRange(info, &reader->range) ||
		!source->has_statistics)
		return info != NULL;
	ZbxhistDayReaderStats(reader, info, stats);
	if (stats->is_set)
		*segment = info;
	return true;
}

/*
 * SkipSegment is the method "skip_segment".
 */
static void
SkipSegment(ItemSource *base)
{
	ZbxhistDayReaderSkip(((PackedSource *) base)->days.reader);
}

static const ItemSourceMethods packed_methods = {
	.start = StartPackedSource,
	.next = NextOfPackedSource,
	.list_items = ListDayItems,
	.find_item = FindDayItem,
	.peek_segment = PeekSegment,
	.skip_segment = SkipSegment,
	.close = ClosePackedSource
};

/*
 * ZbxhistOpenPackedSource makes a source of a parent's days, which are locked
 * in lockmode until they are left.  The parent and the snapshot must stay as long as the source is open.
 */
ItemSource *
ZbxhistOpenPackedSource(Relation parent, Snapshot snapshot, LOCKMODE lockmode)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "zbxhist packed source",
												  ALLOCSET_SMALL_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	PackedSource *source = palloc0(sizeof(PackedSource));

	source->base.methods = &packed_methods;
	source->base.slot = MakeSingleTupleTableSlot(RelationGetDescr(parent),
												 &TTSOpsVirtual);
	memset(source->base.slot->tts_isnull, true,
		   sizeof(bool) * RelationGetDescr(parent)->natts);
	ZbxhistInitOpenDays(&source->days, parent, snapshot, lockmode);
	source->days.spec.wants_position = true;
	source->context = context;
	source->row_context = AllocSetContextCreate(context, "zbxhist packed row",
												ALLOCSET_SMALL_SIZES);
	MemoryContextSwitchTo(old);
	return &source->base;
}

/*
 * ZbxhistSourceDays returns the days of a source that ZbxhistOpenPackedSource
 * has made; the source is started again for each that is entered.
 */
OpenDays *
ZbxhistSourceDays(ItemSource *base)
{
	Assert(base->methods == &packed_methods);
	return &((PackedSource *) base)->days;
}
