/*-------------------------------------------------------------------------
 *
 * rows.c
 *	  Packs rows, unpacks and compares them bit by bit.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <time.h>

#include "utils/memutils.h"

#include "format/segment.h"
#include "rows.h"

/* position in the packed items while groups are read */
typedef struct Cursor
{
	const SegmentRows *items;
	int			nitems;
	int			item;
	int			row;
	int			stats_column;
} Cursor;

TimesSource *times_source = NULL;

static double
seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return now.tv_sec + now.tv_nsec * 1e-9;
}

/* Makes columns with all their arrays, but no nulls. */
PackedColumn *
make_columns(const PackedKind *kinds, int ncolumns, int nrows)
{
	PackedColumn *columns = palloc0(ncolumns * sizeof(PackedColumn));
	int			i;

	for (i = 0; i < ncolumns; i++)
	{
		columns[i].kind = kinds[i];
		if (kinds[i] == PACKED_INT)
			columns[i].ints = palloc0(nrows * sizeof(int64));
		else if (kinds[i] == PACKED_DOUBLE)
			columns[i].doubles = palloc0(nrows * sizeof(double));
		else if (kinds[i] == PACKED_UNSIGNED)
			columns[i].unsigneds = palloc0(nrows * sizeof(uint64));
		else
			columns[i].bytes = palloc0(nrows * sizeof(PackedBytes));
	}
	return columns;
}

/* Are two values the same, bit by bit? */
bool
same_value(const PackedColumn *a, int row_a, const PackedColumn *b, int row_b)
{
	bool		is_null = a->nulls != NULL && a->nulls[row_a];

	if (a->kind != b->kind ||
		is_null != (b->nulls != NULL && b->nulls[row_b]))
		return false;
	if (is_null)
		return true;
	switch (a->kind)
	{
		case PACKED_INT:
			return a->ints[row_a] == b->ints[row_b];
		case PACKED_DOUBLE:
			return memcmp(&a->doubles[row_a], &b->doubles[row_b],
						  sizeof(double)) == 0;
		case PACKED_UNSIGNED:
			return a->unsigneds[row_a] == b->unsigneds[row_b];
		case PACKED_BYTES:
			return a->bytes[row_a].len == b->bytes[row_b].len &&
				(a->bytes[row_a].len == 0 ||
				 memcmp(a->bytes[row_a].data, b->bytes[row_b].data,
						a->bytes[row_a].len) == 0);
	}
	return false;
}

/* Compares the rows of a segment with those at the cursor; moves it. */
static const char *
compare_rows(Cursor *cursor, const SegmentRows *rows, const bool *wanted)
{
	const SegmentRows *item = &cursor->items[cursor->item];
	int			i,
				column;

	if (rows->itemid != item->itemid ||
		rows->nrows > item->nrows - cursor->row ||
		rows->ncolumns != item->ncolumns)
		return "a segment is of other rows";
	for (column = 0; column < rows->ncolumns; column++)
	{
		if (!wanted[column])
			continue;
		for (i = 0; i < rows->nrows; i++)
			if (!same_value(&item->columns[column], cursor->row + i,
							&rows->columns[column], i))
				return "a value has changed";
	}
	return NULL;
}

/* Compares the statistics of a segment with those of the packed rows. */
static const char *
compare_stats(const Cursor *cursor, const GroupReader *reader, int segment)
{
	const SegmentRows *item = &cursor->items[cursor->item];
	SegmentStats stats;
	SegmentStats stored;

	if (!ZbxhistReadStats(reader, segment, &stored))
		return "statistics cannot be read";
	if (cursor->stats_column < 0)
		return stored.is_set ? "statistics from nowhere" : NULL;
	ZbxhistComputeStats(&item->columns[cursor->stats_column], cursor->row,
						reader->segments[segment].nrows, &stats);
	if (memcmp(&stats, &stored, sizeof(stats)) != 0)
		return "statistics have changed";
	return NULL;
}

/* Reads a segment, all columns and then some of them, and moves the cursor. */
static const char *
check_segment(Cursor *cursor, const GroupReader *reader, int segment,
			  PackedSize *size)
{
	const SegmentInfo *info = &reader->segments[segment];
	bool		wanted[64];
	SegmentRows rows;
	const char *error;
	double		start = seconds();
	int			i;

	if (!ZbxhistDecodeSegment(reader, segment, NULL, &rows))
		return "a segment cannot be decoded";
	size->decode_seconds += seconds() - start;
	memset(wanted, true, sizeof(wanted));
	error = compare_rows(cursor, &rows, wanted);
	if (error == NULL)
		error = compare_stats(cursor, reader, segment);
	if (error != NULL)
		return error;

	if (rows.columns[0].ints[0] != info->first_clock ||
		rows.columns[0].ints[rows.nrows - 1] != info->last_clock)
		return "the directory has other clocks";
	if (ZbxhistFindSegment(reader, info->itemid, info->first_clock) != segment ||
		ZbxhistFindSegment(reader, info->itemid, info->last_clock) != segment)
		return "a segment is not found";

	for (i = 0; i < reader->ncolumns; i++)
		wanted[i] = (i + segment) % 2 == 0;
	if (!ZbxhistDecodeSegment(reader, segment, wanted, &rows))
		return "some columns of a segment cannot be decoded";
	error = compare_rows(cursor, &rows, wanted);
	cursor->row += info->nrows;
	if (cursor->row == cursor->items[cursor->item].nrows)
	{
		cursor->item++;
		cursor->row = 0;
	}
	return error;
}

/* Are the entries of a segment in two directories equal? */
static bool
same_segment(const SegmentInfo *a, const SegmentInfo *b)
{
	return a->itemid == b->itemid && a->first_clock == b->first_clock &&
		a->last_clock == b->last_clock && a->nrows == b->nrows &&
		a->offset == b->offset && a->length == b->length;
}

/* Opens a group for the item of a segment; all of its segments must be found. */
static const char *
check_item(const GroupReader *reader, int segment, const uint8 *data,
		   size_t length)
{
	int64		itemid = reader->segments[segment].itemid;
	GroupReader item;
	int			first = segment;
	int			i;

	while (first > 0 && reader->segments[first - 1].itemid == itemid)
		first--;
	if (!ZbxhistOpenDirectory(&item, data, length, length, reader->ncolumns,
							  &itemid))
		return "a group cannot be opened for an item";
	if (item.first_itemid != reader->segments[0].itemid ||
		item.first_clock != reader->segments[0].first_clock ||
		item.last_itemid != reader->segments[reader->nsegments - 1].itemid ||
		item.last_clock != reader->segments[reader->nsegments - 1].last_clock)
		return "a group for an item begins or ends elsewhere";
	for (i = 0; i < item.nsegments; i++)
	{
		SegmentStats stats[2];

		if (!same_segment(&item.segments[i], &reader->segments[first + i]) ||
			!ZbxhistReadStats(&item, i, &stats[0]) ||
			!ZbxhistReadStats(reader, first + i, &stats[1]) ||
			memcmp(&stats[0], &stats[1], sizeof(SegmentStats)) != 0)
			return "a segment of an item is another one";
	}
	if (first + i <= segment || (first + i < reader->nsegments &&
								 reader->segments[first + i].itemid == itemid))
		return "segments of an item are missing";
	return NULL;
}

/* Copies the segments of a group into a new one, which must have the same bytes. */
static const char *
check_copy(const GroupReader *reader, int stats_column, const uint8 *data,
		   size_t length)
{
	GroupWriter *writer = ZbxhistCreateGroupWriter(reader->ncolumns,
												   stats_column);
	size_t		copied_length;
	uint8	   *copied;
	bool		is_same;
	int			i;

	for (i = 0; i < reader->nsegments; i++)
		if (!ZbxhistGroupCopy(writer, reader, i, MaxAllocSize))
			return "a segment cannot be copied";
	copied = ZbxhistGroupFinish(writer, &copied_length);
	is_same = copied_length == length && memcmp(copied, data, length) == 0;
	pfree(copied);
	return is_same ? NULL : "a copied group is another one";
}

/* Reads a group, compares what it has, and moves the cursor. */
static const char *
check_group(Cursor *cursor, const uint8 *data, size_t length,
			PackedSize *size)
{
	int			ncolumns = cursor->items[0].ncolumns;
	GroupReader reader;
	const char *error = NULL;
	double		start = seconds();
	int			i;

	if (!ZbxhistOpenGroup(&reader, data, length, ncolumns))
		return "a group cannot be opened";
	size->decode_seconds += seconds() - start;
	reader.times = times_source;
	if (ZbxhistFindSegment(&reader, PG_INT64_MIN, PG_INT32_MIN) != 0)
		return "the first segment is not found";
	for (i = 0; i < reader.nsegments && error == NULL; i++)
	{
		if (cursor->item == cursor->nitems)
			return "there are too many segments";
		error = check_segment(cursor, &reader, i, size);
		if (error == NULL && i % 7 == 0)
			error = check_item(&reader, i, data, length);
	}
	size->nsegments += reader.nsegments;
	size->bytes += length;
	size->ngroups++;
	if (reader.nsegments > 1 ||
		reader.segments[0].first_clock < reader.segments[0].last_clock)
		size->largest = Max(size->largest, length);
	if (error == NULL)
		error = check_copy(&reader, cursor->stats_column, data, length);
	return error;
}

/* Ends the group, reads it and compares. */
static const char *
finish_group(Cursor *cursor, GroupWriter *writer, PackedSize *size)
{
	size_t		at_most = ZbxhistGroupSize(writer);
	size_t		length;
	uint8	   *data = ZbxhistGroupFinish(writer, &length);
	const char *error;

	if (length > at_most)
		return "the group is larger than was said";
	error = check_group(cursor, data, length, size);
	pfree(data);
	return error;
}

/*
 * Packs items into groups of up to max_size, unpacks them and compares.
 * Returns null if all rows are the same and no group is too large, else an
 * error.
 */
const char *
round_trip(const SegmentRows *items, int nitems, int stats_column,
		   size_t max_size, PackedSize *size)
{
	GroupWriter *writer = ZbxhistCreateGroupWriter(items[0].ncolumns,
												   stats_column);
	Cursor		cursor = {items, nitems, 0, 0, stats_column};
	const char *error = NULL;
	int			i;

	memset(size, 0, sizeof(*size));
	for (i = 0; i < nitems && error == NULL; i++)
	{
		int			from = 0;

		while (from < items[i].nrows && error == NULL)
		{
			double		start = seconds();
			int			added = ZbxhistGroupAdd(writer, &items[i], from, max_size);

			size->encode_seconds += seconds() - start;
			if (added < 0)
				return "rows are refused";
			from += added;
			if (added == 0)
				error = finish_group(&cursor, writer, size);
		}
	}
	if (error == NULL)
		error = finish_group(&cursor, writer, size);
	if (error == NULL && (cursor.item != nitems || cursor.row != 0))
		return "rows are missing";
	if (error == NULL && size->largest > max_size)
		return "a group is too large";
	return error;
}
