/*-------------------------------------------------------------------------
 *
 * segment_directory.c
 *	  The directory of a group: describes its segments and says where they are.
 *
 * A search for an item has to read all of it, in each day anew.  So each number of the
 * segments is stored as its distance from the least one, in a fixed number of bits.  That
 * is quick to read and takes few bits, because the numbers of neighbours are similar.
 * Statistics follow, and are read only if they are asked for.
 *
 * The size of a directory follows from the least and the greatest number of each column,
 * so a writer knows it in advance.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "format/segment_format.h"

/* the columns; of itemid, what a segment's is more than the one before */
enum
{
	NUMBER_STEP,
	NUMBER_CLOCK,				/* more than the least integer */
	NUMBER_SECONDS,				/* to the last clock */
	NUMBER_ROWS,
	NUMBER_LENGTH
};

StaticAssertDecl(NUMBER_LENGTH + 1 == DIRECTORY_NUMBERS,
				 "columns of a directory");

/* ---------------------------------------------------------------- writing */

/* Makes an empty directory. */
void
ZbxhistInitDirectory(Directory *directory)
{
	memset(directory, 0, sizeof(*directory));
	ZbxhistInitBuffer(&directory->numbers, 1024);
	ZbxhistInitBuffer(&directory->stats, 1024);
}

/* Makes it empty again. */
void
ZbxhistResetDirectory(Directory *directory)
{
	directory->nsegments = 0;
	directory->numbers.length = 0;
	directory->stats.length = 0;
}

/* The numbers in a column; the first segment has no step. */
static inline int
count_numbers(int nsegments, int column)
{
	return nsegments - (column == NUMBER_STEP);
}

/* Bytes of the directory but for the statistics. */
static size_t
numbers_length(int nsegments, int64 itemid, const NumberRange *ranges)
{
	size_t		length;
	int			i;

	if (nsegments == 0)
		return 0;
	length = codec_varint_length(codec_zigzag(itemid));
	for (i = 0; i < DIRECTORY_NUMBERS; i++)
	{
		int			n = count_numbers(nsegments, i);
		int			width = codec_width(ranges[i].greatest - ranges[i].least);

		if (n > 0)
			length += codec_varint_length(ranges[i].least) + 1 +
				((size_t) n * width + 7) / 8;
	}
	return length;
}

/* The numbers of a segment that comes after the others. */
static void
take_numbers(const Directory *directory, const SegmentInfo *info,
			 uint64 *numbers)
{
	numbers[NUMBER_STEP] = (uint64) info->itemid -
		(uint64) directory->last_itemid;
	numbers[NUMBER_CLOCK] = (int64) info->first_clock - PG_INT32_MIN;
	numbers[NUMBER_SECONDS] = (int64) info->last_clock - info->first_clock;
	numbers[NUMBER_ROWS] = info->nrows;
	numbers[NUMBER_LENGTH] = info->length;
}

/* The ranges with those numbers added. */
static void
extend_ranges(const Directory *directory, const uint64 *numbers,
			  NumberRange *ranges)
{
	int			i;

	for (i = 0; i < DIRECTORY_NUMBERS; i++)
	{
		if (count_numbers(directory->nsegments, i) <= 0)
			ranges[i].least = ranges[i].greatest = numbers[i];
		else
		{
			ranges[i].least = Min(directory->ranges[i].least, numbers[i]);
			ranges[i].greatest = Max(directory->ranges[i].greatest, numbers[i]);
		}
	}
}

/* Bytes of the directory. */
size_t
ZbxhistDirectoryLength(const Directory *directory)
{
	return numbers_length(directory->nsegments, directory->first_itemid,
						  directory->ranges) + directory->stats.length;
}

/* What a segment would add to that, besides its statistics. */
size_t
ZbxhistDirectoryGrowth(const Directory *directory, const SegmentInfo *info)
{
	uint64		numbers[DIRECTORY_NUMBERS];
	NumberRange ranges[DIRECTORY_NUMBERS];
	int64		itemid = directory->nsegments == 0 ? info->itemid :
		directory->first_itemid;

	take_numbers(directory, info, numbers);
	extend_ranges(directory, numbers, ranges);
	return numbers_length(directory->nsegments + 1, itemid, ranges) +
		directory->stats.length - ZbxhistDirectoryLength(directory);
}

/* Adds a segment with its statistics, as ZbxhistPutStats has written them. */
void
ZbxhistDirectoryAdd(Directory *directory, const SegmentInfo *info,
					const ByteBuffer *stats)
{
	uint64		numbers[DIRECTORY_NUMBERS];

	take_numbers(directory, info, numbers);
	extend_ranges(directory, numbers, directory->ranges);
	if (directory->nsegments == 0)
		directory->first_itemid = info->itemid;
	directory->last_itemid = info->itemid;
	directory->nsegments++;
	ZbxhistPutBytes(&directory->numbers, numbers, sizeof(numbers));
	ZbxhistPutBytes(&directory->stats, stats->data, stats->length);
}

/* Writes a column; work has room for its numbers. */
static void
put_directory_column(ByteBuffer *buffer, const Directory *directory,
					 int column,
					 uint64 *work)
{
	const NumberRange *range = &directory->ranges[column];
	const uint64 *numbers = (const uint64 *) directory->numbers.data + column;
	int			n = count_numbers(directory->nsegments, column);
	int			width = codec_width(range->greatest - range->least);
	int			i;

	if (n == 0)
		return;
	if (column == NUMBER_STEP)
		numbers += DIRECTORY_NUMBERS;
	for (i = 0; i < n; i++)
		work[i] = numbers[(size_t) i * DIRECTORY_NUMBERS] - range->least;
	ZbxhistPutVarint(buffer, range->least);
	codec_put_byte(buffer, width);
	ZbxhistPackBits(buffer, work, n, width);
}

/* Writes a directory, which is not empty. */
void
ZbxhistPutDirectory(ByteBuffer *buffer, const Directory *directory)
{
	uint64	   *work = palloc(directory->nsegments * sizeof(uint64));
	int			i;

	codec_put_signed(buffer, directory->first_itemid);
	for (i = 0; i < DIRECTORY_NUMBERS; i++)
		put_directory_column(buffer, directory, i, work);
	ZbxhistPutBytes(buffer, directory->stats.data, directory->stats.length);
	pfree(work);
}

/* ---------------------------------------------------------------- reading */

/* a column of numbers */
typedef struct NumberReader
{
	const uint8 *data;
	const uint8 *end;			/* of what may be looked at */
	uint64		least;
	int			width;
} NumberReader;

/* Takes a column of n numbers; all up to end may be looked at. */
static bool
get_directory_column(ByteReader *bytes, NumberReader *column, int n,
					 const uint8 *end)
{
	size_t		length;
	uint8		width;

	memset(column, 0, sizeof(*column));
	if (n == 0)
		return true;
	if (!ZbxhistGetVarint(bytes, &column->least) ||
		!codec_get_byte(bytes, &width) || width > 64)
		return false;
	length = ((size_t) n * width + 7) / 8;
	if (length > codec_left(bytes))
		return false;
	column->data = bytes->next;
	column->end = end;
	column->width = width;
	bytes->next += length;
	return true;
}

/* The number i of a column. */
static inline uint64
get_number(const NumberReader *column, int i)
{
	return column->width == 0 ? column->least : column->least +
		ZbxhistUnpackOne(column->data, column->end, column->width, i);
}

/* All n numbers of a column, less the least. */
static uint64 *
get_distances(const NumberReader *column, int n)
{
	ByteReader	bytes = {column->data, column->end};
	uint64	   *distances = palloc0(sizeof(uint64) * (n + 1));

	if (column->width > 0)
		(void) ZbxhistUnpackBits(&bytes, distances, n,
								 column->width);
	return distances;
}

/*
 * Fills in segment i, except itemid and offset; room is the number of bytes that are
 * left.
 */
static bool
make_info(const NumberReader *columns, int i, uint32 room, SegmentInfo *info)
{
	uint64		clock = get_number(&columns[NUMBER_CLOCK], i);
	uint64		seconds = get_number(&columns[NUMBER_SECONDS], i);
	uint64		nrows = get_number(&columns[NUMBER_ROWS], i);
	uint64		length = get_number(&columns[NUMBER_LENGTH], i);
	int64		first_clock;

	if (clock > PG_UINT32_MAX)
		return false;
	first_clock = (int64) clock + PG_INT32_MIN;
	if (seconds > PG_INT32_MAX - first_clock ||
		nrows < 1 || nrows > (seconds == 0 ? ZBXHIST_MAX_CLOCK_ROWS :
							  ZBXHIST_MAX_SEGMENT_ROWS) ||
		length < SEGMENT_CRC_LENGTH || length > room)
		return false;
	info->first_clock = first_clock;
	info->last_clock = first_clock + seconds;
	info->nrows = nrows;
	info->length = length;
	return true;
}

/* Is a segment, whose itemid is that of the one before, not after it? */
static inline bool
overlaps(const GroupReader *reader, int nsegments, const SegmentInfo *info)
{
	const SegmentInfo *last = &reader->segments[nsegments - 1];

	return nsegments > 0 && last->itemid == info->itemid &&
		last->last_clock >= info->first_clock;
}

/*
 * Makes segments of the columns, those of an item or all if item is null.
 * They must be sorted and fill the group from offset on.
 */
static bool
make_segments(GroupReader *reader, const NumberReader *columns, uint64 itemid,
			  uint32 offset, const int64 *item)
{
	int			n = reader->nsegments;

	/* these of every segment: one is where those before it end */
	const uint64 *steps = get_distances(&columns[NUMBER_STEP], n - 1);
	const uint64 *lengths = get_distances(&columns[NUMBER_LENGTH], n);
	uint64		least_step = columns[NUMBER_STEP].least;
	uint64		least_length = columns[NUMBER_LENGTH].least;
	int			nsegments = 0;
	uint64		length;
	int			i;

	reader->first_itemid = (int64) itemid;
	for (i = 0; i < n; i++, offset += length)
	{
		uint64		step = i == 0 ? 0 : steps[i - 1] + least_step;
		SegmentInfo *info = &reader->segments[nsegments];

		if ((int64) (itemid + step) < (int64) itemid)
			return false;
		itemid += step;
		length = lengths[i] + least_length;
		if (length > reader->length - offset)
			return false;
		if (item != NULL && (int64) itemid != *item && i > 0 && i < n - 1)
			continue;
		if (!make_info(columns, i, reader->length - offset, info))
			return false;
		info->itemid = (int64) itemid;
		info->offset = offset;
		if (i == 0)
			reader->first_clock = info->first_clock;
		reader->last_clock = info->last_clock;
		if (item != NULL && (int64) itemid != *item)
			continue;
		if (overlaps(reader, nsegments, info))
			return false;
		if (nsegments++ == 0)
			reader->first_segment = i;
	}
	reader->last_itemid = (int64) itemid;
	reader->nsegments = nsegments;
	return offset == reader->length;
}

/*
 * Takes the directory of a group whose segments begin at offset, in the
 * current memory context: what it says of an item, or all if item is null.
 * Length and number of segments must be there, of which each needs a byte of
 * statistics.
 */
bool
ZbxhistGetDirectory(ByteReader *bytes, GroupReader *reader, uint32 offset,
					const int64 *item)
{
	NumberReader columns[DIRECTORY_NUMBERS];
	uint64		itemid;
	int			i;

	if (!codec_get_signed(bytes, &itemid))
		return false;
	for (i = 0; i < DIRECTORY_NUMBERS; i++)
		if (!get_directory_column(bytes, &columns[i],
								  count_numbers(reader->nsegments, i),
								  reader->data + reader->nhere))
			return false;
	reader->segments = palloc(sizeof(SegmentInfo) * (reader->nsegments + 1));
	reader->stats = palloc(sizeof(StatsReader));
	reader->stats->first = reader->stats->next = bytes->next;
	reader->stats->end = bytes->end;
	reader->stats->segment = 0;
	return make_segments(reader, columns, itemid, offset, item);
}

/* Goes to the statistics of a segment. */
static bool
find_stats(const GroupReader *reader, int segment, ByteReader *bytes)
{
	StatsReader *stats = reader->stats;

	segment += reader->first_segment;
	if (segment < stats->segment)
	{
		stats->next = stats->first;
		stats->segment = 0;
	}
	bytes->next = stats->next;
	bytes->end = stats->end;
	while (stats->segment < segment)
	{
		if (!ZbxhistSkipStats(bytes))
			return false;
		stats->next = bytes->next;
		stats->segment++;
	}
	return true;
}

/*
 * Reads the statistics of a segment.  Returns false if they are not what
 * writing could have written.
 */
bool
ZbxhistReadStats(const GroupReader *reader, int segment, SegmentStats *stats)
{
	ByteReader	bytes;

	return find_stats(reader, segment, &bytes) &&
		ZbxhistGetStats(&bytes, stats, reader->segments[segment].nrows);
}

/*
 * Appends the statistics of a segment as they are; returns false likewise.
 */
bool
ZbxhistCopyStats(ByteBuffer *buffer, const GroupReader *reader, int segment)
{
	ByteReader	bytes;
	const uint8 *first;

	if (!find_stats(reader, segment, &bytes))
		return false;
	first = bytes.next;
	if (!ZbxhistSkipStats(&bytes))
		return false;
	ZbxhistPutBytes(buffer, first, bytes.next - first);
	return true;
}
