/*-------------------------------------------------------------------------
 *
 * day_write.c
 *	  Writes sorted rows into a day's table, as groups of segments.
 *
 * A group is filled until its row fills a page of the table.  If not all rows of an
 * item fit, they are divided between two groups, so that hardly any space is wasted.
 * Rows of one clock stay together: if these alone need more than a page, the group is
 * stored out of line.
 *
 * The caller takes the locks, and makes sure that the groups do not overlap those that
 * stay.
 *
 * Into a table that the same transaction has made, rows can be written frozen, so that
 * older snapshots see them, and past the shared buffers (day_pages.c).  There, items
 * with the same times share them (shared_items.c).  When such a group is changed later,
 * segments that are copied unchanged still share theirs.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/heaptoast.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/pg_am.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "compat.h"
#include "packed/day.h"
#include "packed/day_pages.h"
#include "packed/day_write.h"
#include "packed/shared_items.h"

/* of the columns besides payload, and its length word */
#define OWN_COLUMNS_SIZE	(8 + 4 + 4 + 8 + 4 + 4 + VARHDRSZ)

/* rows, and bytes of their values, that are collected before packing */
#define BUFFER_ROWS			ZBXHIST_MAX_SEGMENT_ROWS
#define BUFFER_BYTES		((size_t) 1024 * 1024)

/* what a row of shared times takes, about, if it has any ns */
#define TIMES_ROW_BYTES 4

struct DayWriter
{
	Relation	day;
	const DayLayout *layout;

	/* rows of one item that are not in the group yet */
	RowBuffer  *buffer;
	int			min_rows;		/* of the next */
	int			enough_rows;	/* packing begins with so many in the buffer */
	size_t		enough_bytes;	/* likewise */

	/* items before it that wait to share times; NULL: times are not shared */
	SharedItems *items;
	bool		is_begun;		/* rows of the item in the buffer were partly
								 * written */

	/* the group being filled */
	GroupWriter *group;
	size_t		page_limit;		/* what fits into a page */
	DayGroup	place;			/* not open */
	double		row_bytes;		/* bytes that a row took lately */

	/* shared times being written */
	GroupWriter *times;
	DayGroup	times_place;

	/* storing */
	EState	   *estate;
	ResultRelInfo *rri;
	TupleTableSlot *slot;
	DayPages   *pages;			/* of a new table; NULL: of another */
	CommandId	cid;

	uint64		nrows;
	uint64		nbytes;			/* of payload */
	MemoryContext context;		/* owns all this */
	MemoryContext scratch;		/* reset with each group */
};

/* ---- life of a writer ---- */

/*
 * ZbxhistRequireNewDay raises an error unless a day's table, which is to be
 * written frozen, is one that the current subtransaction has made.
 */
void
ZbxhistRequireNewDay(Relation day)
{
	if (day->rd_rel->relam != HEAP_TABLE_AM_OID ||
		day->rd_createSubid != GetCurrentSubTransactionId() ||
		RelationGetNumberOfBlocks(day) > 0)
		ereport(ERROR,
				errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				errmsg("table \"%s\" was not created in this transaction, or is not empty",
					   RelationGetRelationName(day)),
				errtable(day));
}

/*
 * PageLimit returns the bytes of payload with which a row fills a page.
 */
static size_t
PageLimit(Relation day)
{
	int			natts = RelationGetNumberOfAttributes(day);
	Size		header = MAXALIGN(SizeofHeapTupleHeader +
								  (natts > DAY_NUM_ATTRIBUTES ?
								   BITMAPLEN(natts) : 0));
	Size		room = Min(MaxHeapTupleSize,
						   (Size) RelationGetToastTupleTarget(day, TOAST_TUPLE_TARGET));

	if (room < header + OWN_COLUMNS_SIZE + TOAST_TUPLE_TARGET)
		room = MaxHeapTupleSize;
	return MAXALIGN_DOWN(room) - header - OWN_COLUMNS_SIZE;
}

/*
 * ZbxhistBeginDayWrite prepares for writing into a day's table, which the
 * caller has opened and locked; frozen only if it was made in the same
 * subtransaction.  Allocates below the current context.
 */
DayWriter *
ZbxhistBeginDayWrite(Relation day, const DayLayout *layout, bool is_frozen)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "zbxhist day writer",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	DayWriter  *writer = palloc0(sizeof(DayWriter));

	Assert(!is_frozen || day->rd_createSubid == GetCurrentSubTransactionId());
	writer->context = context;
	writer->scratch = AllocSetContextCreate(context, "zbxhist written group",
											ALLOCSET_DEFAULT_SIZES);
	writer->day = day;
	writer->layout = layout;
	writer->buffer = ZbxhistCreateRowBuffer(layout);
	if (is_frozen)
		writer->items = ZbxhistBeginSharedItems(layout);
	writer->times = ZbxhistCreateTimesWriter();
	writer->min_rows = writer->items != NULL ? SHARED_MAX_ROWS : BUFFER_ROWS;
	writer->enough_rows = writer->min_rows;
	writer->enough_bytes = BUFFER_BYTES;
	writer->group = ZbxhistCreateGroupWriter(layout->npacked,
											 ZbxhistStatsColumn(layout));
	writer->page_limit = PageLimit(day);
	writer->row_bytes = 8.0;
	writer->cid = GetCurrentCommandId(true);
	if (is_frozen)
		writer->pages = ZbxhistBeginDayPages(day);
	writer->slot = table_slot_create(day, NULL);
	writer->estate = CreateExecutorState();
	writer->rri = makeNode(ResultRelInfo);
	InitResultRelInfo(writer->rri, day, 0, NULL, 0);
	ExecOpenIndices(writer->rri, false);
	MemoryContextSwitchTo(old);
	return writer;
}

/*
 * ZbxhistDayPageLimit returns the bytes of a group that fills a page.
 */
size_t
ZbxhistDayPageLimit(const DayWriter *writer)
{
	return writer->page_limit;
}

/* ---- groups ---- */

/*
 * StoreRow inserts the row of a group, whose bytes are payload, into the table and
 * its indexes.  Logical replication does not publish it.
 */
static void
StoreRow(DayWriter *writer, const DayGroup *place, Datum payload)
{
	TupleTableSlot *slot = writer->slot;
	int			natts = slot->tts_tupleDescriptor->natts;

	ExecClearTuple(slot);
	memset(slot->tts_isnull, true, sizeof(bool) * natts);
	memset(slot->tts_isnull, false, sizeof(bool) * DAY_NUM_ATTRIBUTES);
	memset(slot->tts_values, 0, sizeof(Datum) * natts);
	slot->tts_values[DAY_ATTNUM_FIRST_ITEMID - 1] =
		Int64GetDatum(place->first_itemid);
	slot->tts_values[DAY_ATTNUM_FIRST_CLOCK - 1] =
		Int32GetDatum(place->first_clock);
	slot->tts_values[DAY_ATTNUM_LAST_ITEMID - 1] =
		Int64GetDatum(place->last_itemid);
	slot->tts_values[DAY_ATTNUM_LAST_CLOCK - 1] =
		Int32GetDatum(place->last_clock);
	slot->tts_values[DAY_ATTNUM_ROWS - 1] = Int32GetDatum(place->nrows);
	slot->tts_values[DAY_ATTNUM_PAYLOAD - 1] = payload;
	ExecStoreVirtualTuple(slot);

	slot->tts_tableOid = RelationGetRelid(writer->day);
	if (writer->pages != NULL)
		ZbxhistAddToDayPages(writer->pages, slot);
	else
		table_tuple_insert(writer->day, slot, writer->cid,
						   TABLE_INSERT_NO_LOGICAL, NULL);
	writer->estate->es_output_cid = writer->cid;
	(void) ExecInsertIndexTuplesCompat(writer->rri, slot, writer->estate);
	ResetPerTupleExprContext(writer->estate);
	ExecClearTuple(slot);
}

/*
 * FlushGroup stores a group, of values or of shared times, and begins a new one.
 */
static void
FlushGroup(DayWriter *writer, GroupWriter *group, DayGroup *place)
{
	MemoryContext old;
	uint8	   *data;
	size_t		length;
	struct varlena *payload;

	if (ZbxhistGroupNumSegments(group) == 0)
		return;
	CHECK_FOR_INTERRUPTS();
	old = MemoryContextSwitchTo(writer->scratch);
	data = ZbxhistGroupFinish(group, &length);
	payload = palloc(VARHDRSZ + length);
	SET_VARSIZE(payload, VARHDRSZ + length);
	memcpy(VARDATA(payload), data, length);
	StoreRow(writer, place, PointerGetDatum(payload));
	MemoryContextSwitchTo(old);
	MemoryContextReset(writer->scratch);

	writer->nrows += place->nrows;
	writer->nbytes += length;
	place->nrows = 0;
}

/*
 * NoteSegment notes that the group goes up to the end of a segment.
 */
static void
NoteSegment(DayWriter *writer, int64 itemid, int32 first_clock,
			int32 last_clock, int nrows)
{
	DayGroup   *place = &writer->place;

	if (place->nrows == 0)
	{
		place->first_itemid = itemid;
		place->first_clock = first_clock;
	}
	place->last_itemid = itemid;
	place->last_clock = last_clock;
	place->nrows += nrows;
}

/*
 * ZbxhistDeleteGroup deletes a group.  The caller has locked the table and
 * found the group by a snapshot taken after that; with crosscheck, the group
 * must also be visible to that snapshot, else it has been changed since.
 */
void
ZbxhistDeleteGroup(Relation day, ItemPointer tid, Snapshot crosscheck)
{
	TM_FailureData failure;

	if (table_tuple_delete_compat(day, tid, InvalidSnapshot, crosscheck,
								  &failure, false) != TM_Ok)
		ereport(ERROR,
				errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				errmsg("could not serialize access due to concurrent update"));
}

/* ---- packing the buffer ---- */

/*
 * RefuseRows raises the error for more rows of one clock than can be packed
 * together.
 */
static void
RefuseRows(const DayWriter *writer, const SegmentRows *rows, int row)
{
	ereport(ERROR,
			errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
			errmsg("values of item " INT64_FORMAT " at clock %d are too many or too long to be packed",
				   rows->itemid, (int) rows->columns[0].ints[row]),
			errtable(writer->day));
}

/*
 * RefuseInvalid raises an error if a value of the rows from first on is not valid for its
 * column's type, as may be in a damaged partition.  If it were packed, it could not be
 * read any more.
 */
static void
RefuseInvalid(DayWriter *writer, const SegmentRows *rows, int first, int count)
{
	for (int i = 1; i < rows->ncolumns; i++)
	{
		const LayoutColumn *column = writer->layout->packed[i];
		int			row = ZbxhistFindInvalid(&column->check, &rows->columns[i],
											 first, first + count);

		if (row < first + count)
			ereport(ERROR,
					errcode(ERRCODE_DATA_CORRUPTED),
					errmsg("values of item " INT64_FORMAT " at clock %d are corrupt and cannot be packed",
						   rows->itemid, (int) rows->columns[0].ints[row]),
					errdetail("Column \"%s\" has bytes that are no value of type %s.",
							  NameStr(column->name),
							  format_type_with_typemod(column->type,
													   column->typmod)),
					errtable(writer->day));
	}
}

/*
 * PackSome adds some of the rows from first on to the group, or stores the
 * group if none fit into it; returns their number.
 */
static int
PackSome(DayWriter *writer, const SegmentRows *rows, int first)
{
	const int64 *clocks = rows->columns[0].ints;
	size_t		used = ZbxhistGroupSize(writer->group);
	int			count;

	count = ZbxhistGroupAdd(writer->group, rows, first, writer->page_limit);
	if (count > 0)
	{
		RefuseInvalid(writer, rows, first, count);
		writer->row_bytes =
			(double) (ZbxhistGroupSize(writer->group) - used) / count;
		NoteSegment(writer, rows->itemid, (int32) clocks[first],
					(int32) clocks[first + count - 1], count);
	}
	else if (count < 0)
		RefuseRows(writer, rows, first);
	else
		FlushGroup(writer, writer->group, &writer->place);
	return count;
}

/*
 * WriteTimes writes times that items are going to share.  Small ones are in one page;
 * large ones continue in the next, so that no page is left half empty.
 */
static void
WriteTimes(DayWriter *writer, const SharedTimes *times)
{
	PackedColumn columns[] = {
		{.kind = PACKED_INT,.ints = unconstify(int64 *, times->clocks)},
		{.kind = PACKED_INT,.ints = unconstify(int64 *, times->ns)}
	};
	SegmentRows rows = {TIMES_ITEM + (int64) times->number, times->ntimes,
	lengthof(columns), columns};
	DayGroup   *place = &writer->times_place;
	size_t		size = (size_t) times->ntimes * TIMES_ROW_BYTES;
	int			nrests = 0;
	int			first = 0;

	if (size <= writer->page_limit / 2 &&
		ZbxhistGroupSize(writer->times) + size > writer->page_limit)
		FlushGroup(writer, writer->times, &writer->times_place);
	while (first < rows.nrows)
	{
		bool		is_empty = ZbxhistGroupNumSegments(writer->times) == 0;
		int			count = ZbxhistGroupAdd(writer->times, &rows, first,
											writer->page_limit);

		if (count < 0)
			RefuseRows(writer, &rows, first);
		if (count == 0)
		{
			FlushGroup(writer, writer->times, &writer->times_place);
			continue;
		}
		if (is_empty)
		{
			place->first_itemid = rows.itemid;
			place->first_clock = TIMES_CLOCK + (first == 0 ? 0 : ++nrests);
		}
		place->last_itemid = rows.itemid;
		place->last_clock = PG_INT32_MIN;
		first += count;
	}
}

/*
 * PackItems packs items that have waited to share their times; before the end, some may
 * go on waiting.
 */
static void
PackItems(DayWriter *writer, bool is_end)
{
	RowBuffer  *buffer;
	const SharedTimes *fresh;

	while (writer->items != NULL &&
		   (buffer = ZbxhistTakeItem(writer->items, is_end, &fresh)) != NULL)
	{
		int			first = 0;

		if (fresh != NULL)
			WriteTimes(writer, fresh);
		while (first < buffer->rows.nrows)
			first += PackSome(writer, &buffer->rows, first);
		ZbxhistReleaseItem(writer->items, buffer);
	}
}

/*
 * PackBuffer packs the buffer's rows, after those of the items before.  Unless
 * the item ends, the last ones stay there: those of the last clock, as there may
 * be more of it, and those that do not fill a group.
 */
static void
PackBuffer(DayWriter *writer, bool is_end)
{
	RowBuffer  *buffer = writer->buffer;
	SegmentRows rows = buffer->rows;
	int			first = 0;

	PackItems(writer, true);
	writer->is_begun = !is_end;
	if (!is_end)
	{
		const int64 *clocks = rows.columns[0].ints;
		int64		last_clock = clocks[rows.nrows - 1];

		while (rows.nrows > 0 && clocks[rows.nrows - 1] == last_clock)
			rows.nrows--;
	}
	while (first < rows.nrows)
	{
		if (!is_end && first > 0 &&
			ZbxhistGroupSize(writer->group) +
			(rows.nrows - first) * writer->row_bytes < writer->page_limit)
			break;
		first += PackSome(writer, &rows, first);
	}
	if (first > 0)
		ZbxhistRemoveRows(buffer, first);
	writer->enough_rows = Max(writer->min_rows, buffer->rows.nrows * 2);
	writer->enough_bytes = Max(BUFFER_BYTES, buffer->nbytes * 2);
}

/*
 * EndWrittenItem packs the buffer's rows, or lets them wait for items that may
 * have the same times, if they are all that the item has.
 */
static void
EndWrittenItem(DayWriter *writer)
{
	if (writer->items == NULL || writer->is_begun ||
		writer->buffer->rows.nrows == 0)
		PackBuffer(writer, true);
	else
	{
		writer->buffer = ZbxhistQueueItem(writer->items, writer->buffer);
		PackItems(writer, false);
	}
}

/* ---- what callers give ---- */

/*
 * ZbxhistDayWriteRow adds a row to *buffer and returns its number there; the
 * caller sets its columns besides clock before the next call.
 */
int
ZbxhistDayWriteRow(DayWriter *writer, int64 itemid, int32 clock,
				   RowBuffer **buffer)
{
	SegmentRows *rows = &writer->buffer->rows;

	if (rows->nrows == 0 || rows->itemid != itemid)
	{
		EndWrittenItem(writer);
		ZbxhistBeginRows(writer->buffer, itemid);
	}
	else if (rows->nrows >= writer->enough_rows ||
			 writer->buffer->nbytes >= writer->enough_bytes)
	{
		PackBuffer(writer, false);
		if (rows->nrows > 0 && rows->columns[0].ints[0] == clock &&
			(rows->nrows > ZBXHIST_MAX_CLOCK_ROWS ||
			 writer->buffer->nbytes > MaxAllocSize))
			RefuseRows(writer, rows, 0);
	}
	*buffer = writer->buffer;
	return ZbxhistAddRow(writer->buffer, clock);
}

/*
 * ZbxhistDayWriteTuple adds a row that is a tuple.
 */
void
ZbxhistDayWriteTuple(DayWriter *writer, TupleSource *source, int64 itemid,
					 int32 clock, HeapTuple tuple)
{
	RowBuffer  *buffer;
	int			row = ZbxhistDayWriteRow(writer, itemid, clock, &buffer);

	ZbxhistLoadTuple(source, tuple, buffer, row);
}

/*
 * ZbxhistDayWriteRows adds rows of a decoded segment.
 */
void
ZbxhistDayWriteRows(DayWriter *writer, const SegmentRows *rows, int first,
					int count)
{
	for (int i = first; i < first + count; i++)
	{
		RowBuffer  *buffer;
		int			row = ZbxhistDayWriteRow(writer, rows->itemid,
											 (int32) rows->columns[0].ints[i],
											 &buffer);

		ZbxhistCopyValues(buffer, row, rows, i);
	}
}

/*
 * ZbxhistDayWriteSegment adds a segment of another group as it is: to the group being
 * filled, if there is room for it, or to the next one.
 */
void
ZbxhistDayWriteSegment(DayWriter *writer, const GroupReader *reader,
					   int segment)
{
	const SegmentInfo *info = &reader->segments[segment];

	EndWrittenItem(writer);
	PackItems(writer, true);
	if (!ZbxhistGroupCopy(writer->group, reader, segment, writer->page_limit))
	{
		FlushGroup(writer, writer->group, &writer->place);
		if (!ZbxhistGroupCopy(writer->group, reader, segment, writer->page_limit))
			ZbxhistRaiseCorrupt(writer->day, info->itemid);
	}
	NoteSegment(writer, info->itemid, info->first_clock, info->last_clock,
				info->nrows);
}

/*
 * ZbxhistDayWriteStored stores a row of another day's table, with other bytes.
 */
void
ZbxhistDayWriteStored(DayWriter *writer, const DayGroup *group, Datum payload)
{
	StoreRow(writer, group, payload);
	writer->nrows += group->nrows;
}

/*
 * ZbxhistDayWriteBreak ends the group.
 */
void
ZbxhistDayWriteBreak(DayWriter *writer)
{
	EndWrittenItem(writer);
	PackItems(writer, true);
	FlushGroup(writer, writer->group, &writer->place);
}

/*
 * ZbxhistEndDayWrite writes what is left and returns how many bytes have been
 * written; nrows, if it is not NULL, is set to the number of rows.  Locks stay.
 */
uint64
ZbxhistEndDayWrite(DayWriter *writer, uint64 *nrows)
{
	uint64		nbytes;

	ZbxhistDayWriteBreak(writer);
	FlushGroup(writer, writer->times, &writer->times_place);
	if (nrows != NULL)
		*nrows = writer->nrows;
	nbytes = writer->nbytes;
	ExecCloseIndices(writer->rri);
	ExecDropSingleTupleTableSlot(writer->slot);
	FreeExecutorState(writer->estate);
	if (writer->pages != NULL)
		ZbxhistEndDayPages(writer->pages);
	MemoryContextDelete(writer->context);
	return nbytes;
}
