/*-------------------------------------------------------------------------
 *
 * day_reader.c
 *	  The rows of one packed day, segment by segment.
 *
 * A reader is started for a range of one item's rows, which come in the order of (clock,
 * ns) in either direction.  Or it is started for all items or a range of items; then rows
 * come in no useful order.  It may be started again.  A segment is decoded when its first
 * row is requested, and of that only the columns that are needed.
 *
 * Locks: the caller has locked the day's table.  Memory: a reader has a
 * context of its own below the one that is current when it is opened, and one
 * in that for the current segment.  Scans belong to the resource owner of
 * that moment.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "binary_search.h"
#include "packed/day_reader.h"

/* ---- opening ---- */

/*
 * WantPosition adds clock and ns to the packed columns that are wanted.
 */
static void
WantPosition(const DayLayout *layout, bool *wanted)
{
	wanted[0] = true;
	if (layout->ns >= 0)
		wanted[layout->columns[layout->ns].packed] = true;
}

/*
 * SetWantedPacked says which packed columns have to be decoded.
 */
static void
SetWantedPacked(DayReader *reader)
{
	int			npacked = reader->layout->npacked;

	reader->wanted = palloc0(sizeof(bool) * npacked);
	ZbxhistAddPackedWanted(reader->map, reader->wanted);
	if (reader->spec->wants_row_id || reader->spec->wants_position)
		WantPosition(reader->layout, reader->wanted);

	reader->wanted_partly = palloc(sizeof(bool) * npacked);
	memcpy(reader->wanted_partly, reader->wanted, sizeof(bool) * npacked);
	WantPosition(reader->layout, reader->wanted_partly);
}

/*
 * ZbxhistOpenDayReader makes a reader of a day's table, whose reference it
 * takes over.
 */
DayReader *
ZbxhistOpenDayReader(Relation day, const DayReaderSpec *spec)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "zbxhist packed day",
												  ALLOCSET_SMALL_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	DayReader  *reader = palloc0(sizeof(DayReader));

	reader->context = context;
	reader->decoded = -1;
	reader->segment_context = AllocSetContextCreate(context,
													"zbxhist segment",
													ALLOCSET_DEFAULT_SIZES);
	reader->spec = spec;
	reader->rel = day;
	reader->layout = ZbxhistDayLayout(day);
	ZbxhistMarkReplaced(reader->layout, spec->table);
	reader->map = ZbxhistCreateRowMap(day, reader->layout, spec->table,
									  spec->wanted);
	SetWantedPacked(reader);
	reader->scan = ZbxhistBeginDayScan(day, reader->layout, spec->snapshot);
	ZbxhistDayScanOnlyItem(reader->scan, spec->archive);
	ZbxhistDayScanCount(reader->scan, &spec->counters->archive);
	spec->counters->days++;
	MemoryContextSwitchTo(old);
	return reader;
}

/*
 * ZbxhistCloseDayReader closes the table, keeping its lock unless that is to be
 * released, and frees the reader.
 */
void
ZbxhistCloseDayReader(DayReader *reader)
{
	ZbxhistEndDayScan(reader->scan);
	table_close(reader->rel, reader->spec->release);
	MemoryContextDelete(reader->context);
}

/* ---- starting ---- */

/*
 * Rewind forgets the current segment, so that the next row is the first of a
 * segment.
 */
static void
Rewind(DayReader *reader)
{
	reader->row = -1;
	reader->first_row = 0;
	reader->last_row = -1;
}

/*
 * ZbxhistMoveDayReader moves a reader to another day's table, whose reference it takes
 * over, if that has the same columns.  Otherwise it returns false and does nothing.
 */
bool
ZbxhistMoveDayReader(DayReader *reader, Relation day)
{
	if (!ZbxhistLayoutSuits(reader->layout, day))
		return false;
	ZbxhistMoveDayScan(reader->scan, day);
	table_close(reader->rel, reader->spec->release);
	reader->rel = day;
	Rewind(reader);
	reader->has_group = false;
	reader->is_last_group = true;
	reader->spec->counters->days++;
	return true;
}

/*
 * FindSegmentOfItem returns the first segment of the group whose item is not
 * before itemid; nsegments if there is none.
 */
static int
FindSegmentOfItem(const GroupReader *group, int64 itemid)
{
	int			i;

	find_first(i, group->nsegments, group->segments[i].itemid >= itemid);
	return i;
}

/*
 * EnterGroup goes to the first segment that may be read of the group, in the
 * direction of the range.
 */
static void
EnterGroup(DayReader *reader)
{
	const GroupReader *group = &reader->group.reader;
	int64		last_itemid = reader->is_whole ? reader->last_itemid :
		reader->range.itemid;

	reader->has_group = true;
	if (!reader->range.is_descending)
		reader->segment = FindSegmentOfItem(group, reader->range.itemid);
	else if (last_itemid == PG_INT64_MAX)
		reader->segment = group->nsegments - 1;
	else
		reader->segment = FindSegmentOfItem(group, last_itemid + 1) - 1;
}

/*
 * HoldsRange says whether the current group has all rows of a range: others begin
 * before or end after it.
 */
static bool
HoldsRange(const DayReader *reader, const ItemRange *range)
{
	const DayGroup *group = &reader->group;
	int64		itemid = range->itemid;

	if (!reader->has_group || item_range_is_empty(range) ||
		itemid < group->first_itemid || itemid > group->last_itemid)
		return false;
	return (itemid > group->first_itemid ||
			position_clock(range->first) >= group->first_clock) &&
		(itemid < group->last_itemid ||
		 position_clock(range->last) <= group->last_clock);
}

/*
 * ZbxhistDayReaderStart begins with the rows of an item.  A reader of many
 * items in their order often finds the next one in the same group; a search for
 * clocks of an item, in the segment that is decoded already.
 */
void
ZbxhistDayReaderStart(DayReader *reader, const ItemRange *range)
{
	bool		is_same = HoldsRange(reader, range);

	Rewind(reader);
	reader->range = *range;
	reader->is_whole = false;
	reader->is_last_group = is_same;
	if (is_same)
	{
		/* otherwise the numbers of segments have changed */
		if (!reader->group.reader.is_whole)
			reader->decoded = -1;
		ZbxhistDayScanWhole(reader->scan, &reader->group);
		EnterGroup(reader);
	}
	else
	{
		reader->has_group = false;
		ZbxhistDayScanItem(reader->scan, range);
	}
}

/*
 * SetWhole says that rows of several items are asked for, between the positions
 * of a range.
 */
static void
SetWhole(DayReader *reader, const ItemRange *range, int64 first_itemid,
		 int64 last_itemid)
{
	Rewind(reader);
	reader->range = *range;
	reader->range.itemid = first_itemid;
	reader->range.is_descending = false;
	reader->last_itemid = last_itemid;
	reader->is_whole = true;
	reader->is_last_group = false;
	reader->has_group = false;
}

/*
 * ZbxhistDayReaderStartWhole begins with the rows of all items between two, which
 * are included, between two positions, which are those of range.
 */
void
ZbxhistDayReaderStartWhole(DayReader *reader, const ItemRange *range,
						   int64 first_itemid, int64 last_itemid)
{
	SetWhole(reader, range, first_itemid, last_itemid);
	ZbxhistDayScanItems(reader->scan, first_itemid, last_itemid);
}

/*
 * ZbxhistDayReaderStartBlocks begins with all rows of some blocks of the
 * day's table.
 */
void
ZbxhistDayReaderStartBlocks(DayReader *reader, BlockNumber first,
							BlockNumber last)
{
	ItemRange	range;

	ZbxhistWholeItem(&range, 0);
	SetWhole(reader, &range, PG_INT64_MIN, PG_INT64_MAX);
	ZbxhistDayScanBlocks(reader->scan, first, last);
}

/* ---- segments ---- */

/*
 * IsItemInRange says whether an item is asked for.
 */
static inline bool
IsItemInRange(const DayReader *reader, int64 itemid)
{
	return reader->is_whole ?
		itemid >= reader->range.itemid && itemid <= reader->last_itemid :
		itemid == reader->range.itemid;
}

/*
 * IsInRange says whether a segment may have rows that are asked for.
 */
static bool
IsInRange(const DayReader *reader, const SegmentInfo *info)
{
	return IsItemInRange(reader, info->itemid) &&
		info->last_clock >= position_clock(reader->range.first) &&
		info->first_clock <= position_clock(reader->range.last);
}

/*
 * FindInGroup goes to the group's next segment in the range; returns NULL if
 * it has no more.
 */
static const SegmentInfo *
FindInGroup(DayReader *reader)
{
	const GroupReader *group = &reader->group.reader;

	while (reader->segment >= 0 && reader->segment < group->nsegments)
	{
		const SegmentInfo *info = &group->segments[reader->segment];

		if (IsInRange(reader, info))
			return info;
		if (!IsItemInRange(reader, info->itemid))
			return NULL;
		reader->spec->counters->segments_skipped++;
		reader->segment += reader->range.is_descending ? -1 : 1;
	}
	return NULL;
}

/*
 * NextReaderGroup goes to the next group; returns false if there is none.
 */
static bool
NextReaderGroup(DayReader *reader)
{
	reader->decoded = -1;
	reader->has_group = ZbxhistDayScanNext(reader->scan, &reader->group);
	return reader->has_group;
}

/*
 * EndsInGroup says whether the current group is known to be the last one of the item,
 * because another item follows in it.  Then it stays the current one.
 */
static bool
EndsInGroup(const DayReader *reader)
{
	if (reader->is_whole || !reader->has_group)
		return false;
	return reader->range.is_descending ?
		reader->range.itemid > reader->group.first_itemid :
		reader->range.itemid < reader->group.last_itemid;
}

/*
 * ZbxhistDayReaderFind returns the segment that would be decoded next, or NULL
 * if there is none; valid until the next call.
 */
const SegmentInfo *
ZbxhistDayReaderFind(DayReader *reader)
{
	const SegmentInfo *info;

	for (;;)
	{
		if (reader->has_group && (info = FindInGroup(reader)) != NULL)
			return info;
		CHECK_FOR_INTERRUPTS();
		if (reader->is_last_group || EndsInGroup(reader))
			return NULL;
		if (!NextReaderGroup(reader))
		{
			reader->is_last_group = true;
			return NULL;
		}
		EnterGroup(reader);
	}
}

/*
 * ZbxhistDayReaderStats reads the statistics of the segment that has been found.
 */
void
ZbxhistDayReaderStats(const DayReader *reader, const SegmentInfo *info,
					  SegmentStats *stats)
{
	const DayLayout *layout = reader->layout;

	memset(stats, 0, sizeof(SegmentStats));
	if (layout->value < 0)
		return;
	if (!ZbxhistReadStats(&reader->group.reader, reader->segment, stats) ||
		(stats->is_set && stats->kind != layout->columns[layout->value].kind))
		ZbxhistRaiseCorrupt(reader->rel, info->itemid);
}

/*
 * HasFilter says whether rows may be left out that do not pass.
 */
static inline bool
HasFilter(const DayReader *reader)
{
	return reader->spec->filter != NULL && reader->spec->filter->conditions != NIL;
}

/*
 * JudgeFound says whether rows of the segment that has been found may pass the filter.
 */
static FilterVerdict
JudgeFound(const DayReader *reader, const SegmentInfo *info)
{
	SegmentStats stats;

	if (!HasFilter(reader))
		return FILTER_ALL;
	ZbxhistDayReaderStats(reader, info, &stats);
	return ZbxhistJudgeSegment(reader->spec->filter, reader->map, reader->layout, info,
							   &stats);
}

/*
 * ZbxhistDayReaderSkip passes over the segment that has been found.
 */
void
ZbxhistDayReaderSkip(DayReader *reader)
{
	reader->segment += reader->range.is_descending ? -1 : 1;
}

/*
 * GetDecodedPosition returns where a row of the decoded segment is.
 */
static inline int64
GetDecodedPosition(const DayReader *reader, int row)
{
	int32		clock = (int32) reader->rows.columns[0].ints[row];
	const PackedColumn *ns = reader->ns;

	if (ns == NULL || (ns->nulls != NULL && ns->nulls[row]))
		return make_position(clock, 0);
	return make_position(clock, (int32) ns->ints[row]);
}

/*
 * FindRowFromPosition returns the first row of the segment that is not before
 * a position.
 */
static int
FindRowFromPosition(const DayReader *reader, int64 position)
{
	int			i;

	find_first(i, reader->rows.nrows, GetDecodedPosition(reader,
														 i) >= position);
	return i;
}

/*
 * ZbxhistIsWithinRange says whether all rows of a segment are in a range.
 */
bool
ZbxhistIsWithinRange(const SegmentInfo *info, const ItemRange *range)
{
	return make_position(info->first_clock, PG_INT32_MIN) >= range->first &&
		make_position(info->last_clock, PG_INT32_MAX) <= range->last;
}

/*
 * DecodeInRange decodes the segment that has been found, partly if some of its
 * rows are not in the range.
 */
static void
DecodeInRange(DayReader *reader, bool is_partly)
{
	ScanCounters *counters = reader->spec->counters;
	MemoryContext old;

	ZbxhistDayScanLoad(reader->scan, &reader->group);
	reader->decoded = -1;
	MemoryContextReset(reader->segment_context);
	old = MemoryContextSwitchTo(reader->segment_context);
	ZbxhistDecodeDaySegment(reader->rel, reader->layout,
							&reader->group.reader, reader->segment,
							is_partly ? reader->wanted_partly : reader->wanted,
							&reader->rows);
	if (HasFilter(reader))
		reader->marks = palloc(sizeof(bool) * Max(reader->rows.nrows, 1));
	MemoryContextSwitchTo(old);
	counters->segments_read++;
	counters->values_decoded += reader->rows.nrows;
	reader->decoded = reader->segment;
	reader->is_decoded_partly = is_partly;
	ZbxhistMapSegment(reader->map, &reader->rows);
}

/*
 * ZbxhistDayReaderEnter decodes the segment that has been found, unless that is done, and
 * goes before the first of its rows that are in the range and may pass the filter, by
 * which the segment has been judged.
 */
void
ZbxhistDayReaderEnter(DayReader *reader, const SegmentInfo *info, FilterVerdict verdict)
{
	const ItemRange *range = &reader->range;
	bool		is_partly = !ZbxhistIsWithinRange(info, range);

	if (reader->decoded != reader->segment ||
		(is_partly && !reader->is_decoded_partly))
		DecodeInRange(reader, is_partly);
	if (reader->layout->ns >= 0)
		reader->ns = &reader->rows.columns[reader->layout->columns[reader->layout->ns].packed];
	reader->first_row = is_partly ? FindRowFromPosition(reader,
														range->first) : 0;
	reader->last_row = !is_partly || range->last == PG_INT64_MAX ?
		reader->rows.nrows - 1 : FindRowFromPosition(reader,
													 range->last + 1) - 1;
	reader->offsets.first = -1;
	reader->passes = NULL;
	if (verdict == FILTER_SOME && HasFilter(reader) &&
		ZbxhistMarkPassing(reader->spec->filter, reader->map, &reader->rows,
						   reader->first_row, reader->last_row, reader->marks))
		reader->passes = reader->marks;
	reader->row = range->is_descending ? reader->last_row + 1 : reader->first_row - 1;
}

/*
 * ZbxhistDayReaderNextSegment goes to the first row of the next segment that
 * has rows in the range; returns false if there is none.
 */
bool
ZbxhistDayReaderNextSegment(DayReader *reader)
{
	const SegmentInfo *info;

	while ((info = ZbxhistDayReaderFind(reader)) != NULL)
	{
		FilterVerdict verdict = JudgeFound(reader, info);

		if (verdict == FILTER_NONE)
		{
			reader->spec->counters->segments_skipped++;
			ZbxhistDayReaderSkip(reader);
			continue;
		}
		ZbxhistDayReaderEnter(reader, info, verdict);
		ZbxhistDayReaderSkip(reader);
		if (next_in_segment(reader))
			return true;
	}
	Rewind(reader);
	return false;
}

/* ---- items ---- */

/*
 * HoldsItem says whether the current group has segments before and after an item.
 */
static bool
HoldsItem(const DayReader *reader, int64 itemid)
{
	return reader->has_group && reader->group.reader.is_whole &&
		itemid >= reader->group.first_itemid && itemid <= reader->group.last_itemid;
}

/*
 * ZbxhistDayReaderFindItem finds the first of the items between two, which are included,
 * or the last, that may have rows between the positions of a range; returns false if there
 * is none.  It ends what was started.  The next item of many is mostly in the same group.
 * The first or last of all items, of any clock, begins or ends a group, which need not be
 * opened then.
 */
bool
ZbxhistDayReaderFindItem(DayReader *reader, const ItemRange *range, int64 first_itemid,
						 int64 last_itemid, bool is_last, int64 *itemid)
{
	const SegmentInfo *info = NULL;
	bool		has_group = HoldsItem(reader, is_last ? last_itemid : first_itemid);
	bool		is_end = range->first == PG_INT64_MIN && range->last == PG_INT64_MAX &&
		(is_last ? last_itemid == PG_INT64_MAX : first_itemid == PG_INT64_MIN);

	SetWhole(reader, range, first_itemid, last_itemid);
	reader->range.is_descending = is_last;
	if (has_group)
	{
		reader->is_last_group = true;
		EnterGroup(reader);
		info = ZbxhistDayReaderFind(reader);
	}
	if (info == NULL)
	{
		reader->has_group = false;
		reader->is_last_group = false;
		ZbxhistDayScanItemsInOrder(reader->scan, first_itemid, last_itemid,
								   is_last);
		if (is_end)
		{
			Datum		payload;
			bool		found = ZbxhistDayScanNextPlace(reader->scan, &reader->group,
														&payload);

			*itemid = is_last ? reader->group.last_itemid : reader->group.first_itemid;
			reader->is_last_group = true;
			return found;
		}
		info = ZbxhistDayReaderFind(reader);
	}
	if (info != NULL)
		*itemid = info->itemid;
	reader->is_last_group = true;
	return info != NULL;
}

/* ---- the row ---- */

/*
 * ZbxhistDayReaderPosition returns where the present row is; the reader's
 * wants_position must be set.
 */
int64
ZbxhistDayReaderPosition(const DayReader *reader)
{
	return GetDecodedPosition(reader, reader->row);
}

/*
 * ZbxhistDayReaderRowId returns the name of the present row; the reader's
 * wants_row_id must be set.
 */
void
ZbxhistDayReaderRowId(DayReader *reader, PackedRowId *id)
{
	MemoryContext old = MemoryContextSwitchTo(reader->segment_context);

	id->itemid = reader->rows.itemid;
	id->clock = (int32) reader->rows.columns[0].ints[reader->row];
	id->offset = ZbxhistRowOffset(&reader->offsets, reader->layout,
								  &reader->rows, reader->row);
	MemoryContextSwitchTo(old);
}
