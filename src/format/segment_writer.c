/*-------------------------------------------------------------------------
 *
 * segment_writer.c
 *	  Writes groups of segments.
 *
 * Segments come in the order of item and clock.  How many rows of an item fit into the
 * rest of a group is known only when they have been encoded.  The first guess is based on
 * the size of the rows before; a few more follow.
 *
 * A writer and what it holds stay in the memory context in which it was made;
 * a finished group is in the caller's.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "format/segment_format.h"

/* with less space left in a group, no part of an item's rows is added */
#define MIN_PART_SIZE 128

/* a part of an item's rows may leave this unused */
#define GOOD_WASTE 12

/* estimated bytes of a segment besides its rows, and how wrong that may be */
#define SEGMENT_OVERHEAD 40
#define OVERHEAD_ERROR 3

/* guesses at how many rows fit */
#define MAX_GUESSES 6

/* a directory with one segment more is not longer than that */
#define MAX_DIRECTORY(length) ((length) * 32 + 127)

/* a segment holds no more bytes of strings than this and one clock's */
#define SOFT_MAX_BYTES (256 * 1024)

/* a segment that may be added */
typedef struct Trial
{
	SegmentInfo info;
	ByteBuffer	bytes;
	ByteBuffer	stats;
	size_t		growth;			/* of the directory's numbers */
} Trial;

struct GroupWriter
{
	int			ncolumns;
	int			stats_column;	/* -1: none */
	uint8		kind;			/* GROUP_ */
	Directory	directory;
	ByteBuffer	segments;
	Trial		trials[2];
	double		row_size;		/* what a row more took lately */
};

/* Makes an empty writer for rows of so many columns besides itemid. */
GroupWriter *
ZbxhistCreateGroupWriter(int ncolumns, int stats_column)
{
	GroupWriter *writer = palloc0(sizeof(GroupWriter));
	int			i;

	writer->ncolumns = ncolumns;
	writer->stats_column = stats_column;
	writer->row_size = 8;
	ZbxhistInitDirectory(&writer->directory);
	ZbxhistInitBuffer(&writer->segments, 8192);
	for (i = 0; i < lengthof(writer->trials); i++)
	{
		ZbxhistInitBuffer(&writer->trials[i].bytes, 8192);
		ZbxhistInitBuffer(&writer->trials[i].stats, 64);
	}
	return writer;
}

/* Makes an empty writer for vectors, whose number is their rows' itemid. */
GroupWriter *
ZbxhistCreateTimesWriter(void)
{
	GroupWriter *writer = ZbxhistCreateGroupWriter(TIMES_COLUMNS, -1);

	writer->kind = GROUP_TIMES;
	return writer;
}

/*
 * The size of the group with what has been added.  The numbers before the
 * directory count as what they take with one segment more, at most.
 */
size_t
ZbxhistGroupSize(const GroupWriter *writer)
{
	size_t		length = ZbxhistDirectoryLength(&writer->directory);

	return GROUP_FIXED_LENGTH + codec_varint_length(writer->ncolumns) +
		codec_varint_length(writer->directory.nsegments + 1) +
		codec_varint_length(MAX_DIRECTORY(length)) +
		length + writer->segments.length;
}

/* How many segments have been added. */
int
ZbxhistGroupNumSegments(const GroupWriter *writer)
{
	return writer->directory.nsegments;
}

/* Encodes n rows. */
static void
try_rows(const GroupWriter *writer, Trial *trial, const SegmentRows *rows,
		 int from, int n)
{
	SegmentInfo *info = &trial->info;
	SegmentStats stats = {0};

	memset(info, 0, sizeof(*info));
	info->itemid = rows->itemid;
	info->first_clock = rows->columns[0].ints[from];
	info->last_clock = rows->columns[0].ints[from + n - 1];
	info->nrows = n;
	if (writer->stats_column >= 0)
		ZbxhistComputeStats(&rows->columns[writer->stats_column], from, n,
							&stats);
	trial->bytes.length = 0;
	ZbxhistEncodeRows(&trial->bytes, rows, from, n, writer->stats_column,
					  &stats);
	info->length = trial->bytes.length;
	trial->stats.length = 0;
	ZbxhistPutStats(&trial->stats, &stats, n);
	trial->growth = ZbxhistDirectoryGrowth(&writer->directory, info);
}

/* What a trial would add to the group. */
static size_t
size_of(const Trial *trial)
{
	return trial->bytes.length + trial->stats.length + trial->growth;
}

/* Adds a trial to the group. */
static void
add_trial(GroupWriter *writer, const Trial *trial)
{
	ZbxhistPutBytes(&writer->segments, trial->bytes.data,
					trial->bytes.length);
	ZbxhistDirectoryAdd(&writer->directory, &trial->info, &trial->stats);
}

/* Is the row before `row` the last one of its clock? */
static bool
is_boundary(const SegmentRows *rows, int from, int row)
{
	const int64 *clocks = rows->columns[0].ints;

	return row == rows->nrows || row == from || clocks[row] != clocks[row - 1];
}

/* The most rows up to n that do not split a clock; 0 if there are none. */
static int
round_down(const SegmentRows *rows, int from, int n)
{
	while (!is_boundary(rows, from, from + n))
		n--;
	return n;
}

/* The fewest rows from n on that do not split a clock. */
static int
round_up(const SegmentRows *rows, int from, int n)
{
	while (!is_boundary(rows, from, from + n))
		n++;
	return n;
}

/* The bytes of a row's strings. */
static size_t
string_bytes(const SegmentRows *rows, int row)
{
	size_t		total = 0;
	int			i;

	for (i = 1; i < rows->ncolumns; i++)
	{
		const PackedColumn *column = &rows->columns[i];

		if (column->kind == PACKED_BYTES &&
			(column->nulls == NULL || !column->nulls[row]))
			total += column->bytes[row].len;
	}
	return total;
}

/* Is any of the columns one of strings? */
static bool
has_strings(const SegmentRows *rows)
{
	int			i;

	for (i = 1; i < rows->ncolumns; i++)
		if (rows->columns[i].kind == PACKED_BYTES)
			return true;
	return false;
}

/*
 * Rows that may be in one segment, of which the first clock has `first`; 0 if
 * those of that clock are too many or too long.
 */
static int
count_allowed(const SegmentRows *rows, int from, int first)
{
	int			limit = Min(ZBXHIST_MAX_SEGMENT_ROWS, rows->nrows - from);
	size_t		total = 0;
	int			n;

	if (first > ZBXHIST_MAX_CLOCK_ROWS)
		return 0;
	if (!has_strings(rows))
		return Max(first, round_down(rows, from, limit));
	for (n = 0; n < first; n++)
		total += string_bytes(rows, from + n);
	if (total > CODEC_MAX_BYTES)
		return 0;
	while (n < limit)
	{
		total += string_bytes(rows, from + n);
		if (total > SOFT_MAX_BYTES)
			break;
		n++;
	}
	return Max(first, round_down(rows, from, n));
}

/* What a row of a trial takes, without its part of the overhead. */
static double
row_size_of(const Trial *trial)
{
	double		size = size_of(trial);

	return Max(size - SEGMENT_OVERHEAD, size / 8) / trial->info.nrows;
}

/*
 * The next guess at how many rows fit into room, after a trial; more than
 * fits, less than too_many.  Returns 0 if there is nothing between them.
 */
static int
guess(const SegmentRows *rows, int from, const Trial *trial, size_t room,
	  int fits, int too_many)
{
	double		more = (double) room - size_of(trial) - OVERHEAD_ERROR;
	int			n;

	n = trial->info.nrows + (int) floor(more / row_size_of(trial));
	n = Max(fits + 1, Min(too_many - 1, n));
	n = round_down(rows, from, n);
	if (n <= fits)
		n = round_up(rows, from, fits + 1);
	return n < too_many ? n : 0;
}

/*
 * Finds how many rows fit into room, at most allowed.  Returns the trial of
 * them, or null if there is none.
 */
static Trial *
fit_rows(GroupWriter *writer, const SegmentRows *rows, int from, int first,
		 int allowed, size_t room)
{
	Trial	   *best = NULL;
	int			too_many = allowed + 1;
	double		left = Max((double) room - SEGMENT_OVERHEAD, 0);
	int			n = Min(allowed, left / writer->row_size);
	int			i;

	n = Max(first, round_down(rows, from, n));
	for (i = 0; i < MAX_GUESSES && n > 0; i++)
	{
		Trial	   *trial = &writer->trials[best == &writer->trials[0]];

		try_rows(writer, trial, rows, from, n);
		writer->row_size = Max(row_size_of(trial), 0.01);
		if (size_of(trial) <= room)
			best = trial;
		else
			too_many = n;
		if (best == trial &&
			(n == allowed ||
			 room - size_of(best) < Max(GOOD_WASTE, writer->row_size)))
			break;
		n = guess(rows, from, trial, room, best == NULL ? 0 : best->info.nrows,
				  too_many);
	}
	return best;
}

/*
 * Adds rows of one item from row `from` on, as many as fit, but at least
 * those of one clock if the group is empty.  Rows of one clock are never
 * split: the last of the rows given must be the last one of its clock.
 *
 * The group does not become larger than max_size unless it has but one
 * segment, of one clock.  Returns how many rows have been added; 0 means that
 * the group should be finished first; -1 that the rows of one clock cannot be
 * packed, because they are too many or too long.
 */
int
ZbxhistGroupAdd(GroupWriter *writer, const SegmentRows *rows, int from,
				size_t max_size)
{
	size_t		size = ZbxhistGroupSize(writer);
	size_t		room = size < max_size ? max_size - size : 0;
	int			first = round_up(rows, from, 1);
	int			allowed = count_allowed(rows, from, first);
	Trial	   *trial;

	Assert(rows->ncolumns == writer->ncolumns && from < rows->nrows);
	if (allowed == 0)
		return -1;
	if (writer->directory.nsegments > 0 && room < MIN_PART_SIZE / 2)
		return 0;
	trial = fit_rows(writer, rows, from, first, allowed, room);
	if (trial == NULL && writer->directory.nsegments == 0)
	{
		trial = &writer->trials[0];
		try_rows(writer, trial, rows, from, first);
	}
	if (trial == NULL ||
		(writer->directory.nsegments > 0 && (int) trial->info.nrows < allowed &&
		 size_of(trial) < MIN_PART_SIZE))
		return 0;
	add_trial(writer, trial);
	return trial->info.nrows;
}

/*
 * Adds a segment of another group as it is.  Returns false, having added nothing, if
 * the group is not empty and would become larger than max_size, or if the segment's
 * statistics are damaged.  The caller has verified the segment's checksum.  If it has
 * shared times, this group must find the same vector by their number.
 */
bool
ZbxhistGroupCopy(GroupWriter *writer, const GroupReader *reader, int segment,
				 size_t max_size)
{
	Trial	   *trial = &writer->trials[0];

	Assert(reader->ncolumns == writer->ncolumns);
	trial->info = reader->segments[segment];
	trial->bytes.length = 0;
	ZbxhistPutBytes(&trial->bytes, reader->data + trial->info.offset,
					trial->info.length);
	trial->stats.length = 0;
	if (!ZbxhistCopyStats(&trial->stats, reader, segment))
		return false;
	trial->growth = ZbxhistDirectoryGrowth(&writer->directory, &trial->info);
	if (writer->directory.nsegments > 0 &&
		ZbxhistGroupSize(writer) + size_of(trial) > max_size)
		return false;
	add_trial(writer, trial);
	return true;
}

/*
 * Returns the bytes of the group in the current memory context, and begins a
 * new group.  Something must have been added.
 */
uint8 *
ZbxhistGroupFinish(GroupWriter *writer, size_t *length)
{
	ByteBuffer	group;

	Assert(writer->directory.nsegments > 0);
	ZbxhistInitBuffer(&group, ZbxhistGroupSize(writer));
	group_put_head(ZbxhistExtendBuffer(&group, GROUP_FIXED_LENGTH), writer->kind);
	ZbxhistPutVarint(&group, writer->ncolumns);
	ZbxhistPutVarint(&group, writer->directory.nsegments);
	ZbxhistPutVarint(&group, ZbxhistDirectoryLength(&writer->directory));
	ZbxhistPutDirectory(&group, &writer->directory);
	codec_store32(group.data + GROUP_CRC_OFFSET,
				  ZbxhistGroupChecksum(group.data, group.length));
	ZbxhistPutBytes(&group, writer->segments.data, writer->segments.length);

	ZbxhistResetDirectory(&writer->directory);
	writer->segments.length = 0;
	*length = group.length;
	return group.data;
}
