/*-------------------------------------------------------------------------
 *
 * source.c
 *	  A packed day as a source of an item's rows.
 *
 * The rows come in the parent's row type, in either direction.  A row is good
 * until the next one is asked for.
 *
 * Locks: the caller has locked the day's table.  Everything is allocated in a
 * context of the source's own, below the current one when it is opened.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/memutils.h"
#include "utils/rel.h"

#include "catalog/columns.h"
#include "packed/day/day_reader.h"
#include "rows/source.h"

typedef struct PackedSource
{
	ItemSource	base;			/* must be first */
	DayReaderSpec spec;
	ScanCounters counters;
	DayReader  *reader;
	bool		has_statistics; /* they are of the parent's values */
	MemoryContext row_context;	/* owns values of the row */
	MemoryContext context;		/* owns all this */
} PackedSource;

static void StartPackedSource(ItemSource *base, const ItemRange *range);
static bool NextOfPackedSource(ItemSource *base);
static bool PeekSegment(ItemSource *base, const SegmentInfo **segment,
						SegmentStats *stats);
static void SkipSegment(ItemSource *base);
static void ClosePackedSource(ItemSource *base);

static const ItemSourceMethods packed_methods = {
	.start = StartPackedSource,
	.next = NextOfPackedSource,
	.peek_segment = PeekSegment,
	.skip_segment = SkipSegment,
	.close = ClosePackedSource
};

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
 * ZbxhistOpenPackedSource makes a source of a day's table, whose reference it
 * takes over.  The parent and the snapshot must stay as long as the source is
 * open.  release is the lock to be given up with the day, or NoLock.
 */
ItemSource *
ZbxhistOpenPackedSource(Relation day, Relation parent, Snapshot snapshot,
						LOCKMODE release)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "zbxhist packed source",
												  ALLOCSET_SMALL_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	PackedSource *source = palloc0(sizeof(PackedSource));

	source->base.methods = &packed_methods;
	source->base.rel = day;
	source->base.slot = MakeSingleTupleTableSlot(RelationGetDescr(parent),
												 &TTSOpsVirtual);
	memset(source->base.slot->tts_isnull, true,
		   sizeof(bool) * RelationGetDescr(parent)->natts);
	source->spec.table = parent;
	source->spec.snapshot = snapshot;
	source->spec.wants_position = true;
	source->spec.release = release;
	source->spec.counters = &source->counters;
	source->context = context;
	source->row_context = AllocSetContextCreate(context, "zbxhist packed row",
												ALLOCSET_SMALL_SIZES);
	source->reader = ZbxhistOpenDayReader(day, &source->spec);
	source->has_statistics = HasStatistics(source->reader->layout, parent);
	MemoryContextSwitchTo(old);
	return &source->base;
}

/*
 * ZbxhistMovePackedSource makes a source that ZbxhistOpenPackedSource has made
 * one of another day, whose reference it takes over.  Returns false, having
 * done nothing, if that has other columns.
 */
bool
ZbxhistMovePackedSource(ItemSource *base, Relation day)
{
	PackedSource *source = (PackedSource *) base;

	Assert(base->methods == &packed_methods);
	if (!ZbxhistMoveDayReader(source->reader, day))
		return false;
	base->rel = day;
	base->has_row = false;
	return true;
}

/*
 * ZbxhistPackedSourceHasRead says whether pages of the day had to be read into
 * shared buffers since the source was started.
 */
bool
ZbxhistPackedSourceHasRead(const ItemSource *base)
{
	Assert(base->methods == &packed_methods);
	return ((const PackedSource *) base)->reader->has_read;
}

/*
 * ClosePackedSource is the method "close".
 */
static void
ClosePackedSource(ItemSource *base)
{
	PackedSource *source = (PackedSource *) base;

	ExecDropSingleTupleTableSlot(base->slot);
	ZbxhistCloseDayReader(source->reader);
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
	ZbxhistDayReaderStart(source->reader, range);
}

/*
 * NextOfPackedSource is the method "next".
 */
static bool
NextOfPackedSource(ItemSource *base)
{
	PackedSource *source = (PackedSource *) base;
	DayReader  *reader = source->reader;
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
	base->position = ZbxhistDayReaderPosition(reader);
	return true;
}

/*
 * PeekSegment is the method "peek_segment".
 */
static bool
PeekSegment(ItemSource *base, const SegmentInfo **segment,
			SegmentStats *stats)
{
	PackedSource *source = (PackedSource *) base;
	DayReader  *reader = source->reader;
	const SegmentInfo *info;

	*segment = NULL;
	if (reader->row < reader->last_row)
		return true;
	info = ZbxhistDayReaderFind(reader);
	if (info == NULL || !source->has_statistics ||
		!ZbxhistIsWithinRange(info, &reader->range))
		return info != NULL;
	if (!ZbxhistReadStats(&reader->group.reader, reader->segment, stats) ||
		(stats->is_set &&
		 stats->kind != reader->layout->columns[reader->layout->value].kind))
		ZbxhistRaiseCorrupt(reader->rel, info->itemid);
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
	ZbxhistDayReaderSkip(((PackedSource *) base)->reader);
}
