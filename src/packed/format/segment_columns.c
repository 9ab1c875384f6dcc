/*-------------------------------------------------------------------------
 *
 * segment_columns.c
 *	  Rows of a segment as bytes, column by column.
 *
 * segment_format.h shows the bytes.  Values of rows in which the column is
 * null are left out; they come back as zeros.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "packed/format/segment_format.h"

/* Do statistics say what the smallest of a column's unsigned numbers is? */
static inline bool
has_smallest(const SegmentStats *stats, PackedKind kind)
{
	return kind == PACKED_UNSIGNED && stats->is_set && stats->count > 0 &&
		stats->kind == PACKED_UNSIGNED;
}

/* ---------------------------------------------------------------- writing */

/* The size of a value in the array of a kind. */
static size_t
size_of_kind(PackedKind kind)
{
	return kind == PACKED_BYTES ? sizeof(PackedBytes) : sizeof(uint64);
}

/* The array that belongs to a column's kind. */
static void *
array_of(const PackedColumn *column)
{
	switch (column->kind)
	{
		case PACKED_INT:
			return column->ints;
		case PACKED_DOUBLE:
			return column->doubles;
		case PACKED_UNSIGNED:
			return column->unsigneds;
		case PACKED_BYTES:
			return column->bytes;
	}
	return NULL;
}

/* Adds an array of values of a kind. */
static void
put_values(ByteBuffer *buffer, PackedKind kind, const void *values, int n)
{
	if (kind == PACKED_BYTES)
		ZbxhistEncodeBytes(buffer, values, n);
	else if (kind == PACKED_DOUBLE)
		ZbxhistEncodeDoubles(buffer, values, n);
	else
		ZbxhistEncodeIntegers(buffer, values, n);
}

/* Counts the nulls among some values. */
static int
count_nulls(const bool *nulls, int n)
{
	int			count = 0;
	int			i;

	if (nulls != NULL)
		for (i = 0; i < n; i++)
			count += nulls[i];
	return count;
}

/* Adds the stream that says which values are null, with its length. */
static void
put_nulls(ByteBuffer *buffer, const bool *nulls, int n)
{
	uint64	   *flags = palloc(n * sizeof(uint64));
	ByteBuffer	stream;
	int			i;

	for (i = 0; i < n; i++)
		flags[i] = nulls[i];
	ZbxhistInitBuffer(&stream, 64);
	ZbxhistEncodeIntegers(&stream, flags, n);
	ZbxhistPutVarint(buffer, stream.length);
	ZbxhistPutBytes(buffer, stream.data, stream.length);
	pfree(stream.data);
	pfree(flags);
}

/* Adds the values that are not null. */
static void
put_others(ByteBuffer *buffer, PackedKind kind, const char *values,
		   const bool *nulls, int n)
{
	size_t		size = size_of_kind(kind);
	char	   *others = palloc(n * size);
	int			count = 0;
	int			i;

	for (i = 0; i < n; i++)
	{
		if (!nulls[i])
			memcpy(others + count++ * size, values + i * size, size);
	}
	put_values(buffer, kind, others, count);
	pfree(others);
}

/* Adds values, some of which may be null. */
static void
put_nullable(ByteBuffer *buffer, PackedKind kind, uint8 flags,
			 const void *values, const bool *nulls, int n)
{
	if (count_nulls(nulls, n) == 0)
	{
		codec_put_byte(buffer, kind | flags);
		put_values(buffer, kind, values, n);
		return;
	}
	codec_put_byte(buffer, kind | flags | COLUMN_NULLS);
	put_nulls(buffer, nulls, n);
	put_others(buffer, kind, values, nulls, n);
}

/*
 * Adds a column: rows from `from` on.  stats are those of the column, or null
 * if it has none.
 */
static void
put_column(ByteBuffer *buffer, const PackedColumn *column, int from, int n,
		   const SegmentStats *stats)
{
	const char *values = array_of(column);
	const bool *nulls = column->nulls == NULL ? NULL : column->nulls + from;
	uint64	   *distances;
	int			i;

	values += from * size_of_kind(column->kind);
	if (stats == NULL || !has_smallest(stats, column->kind))
	{
		put_nullable(buffer, column->kind, 0, values, nulls, n);
		return;
	}
	distances = palloc(n * sizeof(uint64));
	for (i = 0; i < n; i++)
		distances[i] = column->unsigneds[from + i] - stats->min_unsigned;
	put_nullable(buffer, column->kind, COLUMN_FROM_MIN, distances, nulls, n);
	pfree(distances);
}

/* Adds the column of clocks, less the first one. */
static void
put_clocks(ByteBuffer *buffer, const int64 *clocks, int n)
{
	uint64	   *seconds = palloc(n * sizeof(uint64));
	int			i;

	for (i = 0; i < n; i++)
		seconds[i] = (uint64) clocks[i] - (uint64) clocks[0];
	ZbxhistEncodeIntegers(buffer, seconds, n);
	pfree(seconds);
}

/*
 * Adds a segment of n rows from `from` on, with its checksum; stats are those
 * of stats_column (-1: none has any).
 */
void
ZbxhistEncodeRows(ByteBuffer *buffer, const SegmentRows *rows, int from, int n,
				  int stats_column, const SegmentStats *stats)
{
	size_t		start = buffer->length;
	ByteBuffer	columns;
	int			i;

	ZbxhistInitBuffer(&columns, 1024);
	(void) ZbxhistExtendBuffer(buffer, SEGMENT_CRC_LENGTH);
	for (i = 0; i < rows->ncolumns; i++)
	{
		size_t		begin = columns.length;

		if (rows->shared != NULL && i == 0)
			ZbxhistPutTimes(&columns, rows, from, n);
		else if (rows->shared != NULL && i == rows->ns_column)
			codec_put_byte(&columns, PACKED_INT | COLUMN_SHARED);
		else if (i == 0)
			put_clocks(&columns, rows->columns[0].ints + from, n);
		else
			put_column(&columns, &rows->columns[i], from, n,
					   i == stats_column ? stats : NULL);
		if (i < rows->ncolumns - 1)
			ZbxhistPutVarint(buffer, columns.length - begin);
	}
	ZbxhistPutBytes(buffer, columns.data, columns.length);
	pfree(columns.data);
	codec_store32(buffer->data + start,
				  ZbxhistSegmentChecksum(buffer->data + start,
										 buffer->length - start));
}

/* ---------------------------------------------------------------- reading */

/* Takes values of a kind into an array. */
static bool
get_values(ByteReader *reader, PackedKind kind, void *values, int n)
{
	if (kind == PACKED_BYTES)
		return ZbxhistDecodeBytes(reader, values, n);
	if (kind == PACKED_DOUBLE)
		return ZbxhistDecodeDoubles(reader, values, n);
	return ZbxhistDecodeIntegers(reader, values, n);
}

/* Makes the array of a column. */
static void *
make_array(PackedColumn *column, int n)
{
	void	   *array = palloc(n * size_of_kind(column->kind));

	switch (column->kind)
	{
		case PACKED_INT:
			column->ints = array;
			break;
		case PACKED_DOUBLE:
			column->doubles = array;
			break;
		case PACKED_UNSIGNED:
			column->unsigneds = array;
			break;
		case PACKED_BYTES:
			column->bytes = array;
			break;
	}
	return array;
}

/* Takes the stream that says which values are null. */
static bool
get_nulls(ByteReader *reader, PackedColumn *column, int n)
{
	ByteReader	stream;
	uint64	   *flags;
	uint64		all = 0;
	bool		result;
	int			i;

	if (!codec_get_part(reader, &stream))
		return false;
	flags = palloc(n * sizeof(uint64));
	column->nulls = palloc(n * sizeof(bool));
	result = ZbxhistDecodeIntegers(&stream, flags, n);
	for (i = 0; result && i < n; i++)
	{
		all |= flags[i];
		column->nulls[i] = (flags[i] & 1) != 0;
	}
	pfree(flags);
	return result && all <= 1 && codec_left(&stream) == 0;
}

/* Moves the values that are not null to their rows, the last one first. */
static void
spread(char *values, size_t size, const bool *nulls, int n, int count)
{
	int			i;

	for (i = n - 1; i >= 0; i--)
	{
		if (nulls[i])
			memset(values + i * size, 0, size);
		else if (--count != i)
			memcpy(values + i * size, values + count * size, size);
	}
}

/* Adds what all numbers have been written less. */
static void
add_smallest(uint64 *values, int n, uint64 smallest)
{
	int			i;

	for (i = 0; i < n; i++)
		values[i] += smallest;
}

/*
 * Takes a column's byte of flags, and the statistics if the column needs
 * them, which they must suit.
 */
static bool
get_flags(ByteReader *bytes, const GroupReader *reader, int segment,
		  PackedColumn *column, uint8 *flags, SegmentStats *stats)
{
	if (!codec_get_byte(bytes, flags) || (*flags & ~COLUMN_ALL) != 0)
		return false;
	column->kind = *flags & COLUMN_KIND;
	if (column->kind < PACKED_INT || column->kind > PACKED_BYTES)
		return false;
	return (*flags & COLUMN_FROM_MIN) == 0 ||
		(ZbxhistReadStats(reader, segment, stats) &&
		 has_smallest(stats, column->kind));
}

/* Takes a column of the segment's rows, to the end of the bytes. */
static bool
get_column(ByteReader *bytes, PackedColumn *column, const GroupReader *reader,
		   int segment, TimesReader *times)
{
	int			n = reader->segments[segment].nrows;
	int			count = n;
	uint8		flags;
	SegmentStats stats;
	void	   *values;

	if (!get_flags(bytes, reader, segment, column, &flags, &stats))
		return false;
	if ((flags & COLUMN_SHARED) != 0)
	{
		if (flags != (PACKED_INT | COLUMN_SHARED) || codec_left(bytes) != 0 ||
			!ZbxhistGetTimes(times, reader, segment))
			return false;
		column->ints = times->rows[1];
		return true;
	}
	if ((flags & COLUMN_NULLS) != 0)
	{
		if (!get_nulls(bytes, column, n))
			return false;
		count -= count_nulls(column->nulls, n);
	}
	values = make_array(column, n);
	if (!get_values(bytes, column->kind, values, count) ||
		codec_left(bytes) != 0)
		return false;
	if ((flags & COLUMN_FROM_MIN) != 0)
		add_smallest(values, count, stats.min_unsigned);
	if (count < n)
		spread(values, size_of_kind(column->kind), column->nulls, n, count);
	return true;
}

/* Makes clocks of the seconds since the first one; they must be sorted. */
static bool
restore_clocks(int64 *clocks, const SegmentInfo *info)
{
	int64		last = (int64) info->last_clock - info->first_clock;
	bool		is_sorted = true;
	int			i;

	if (clocks[0] != 0 || clocks[info->nrows - 1] != last)
		return false;
	for (i = 1; i < (int) info->nrows; i++)
		is_sorted &= clocks[i - 1] <= clocks[i];
	/* between the first and the last one, all of them are in range then */
	if (!is_sorted)
		return false;
	for (i = 0; i < (int) info->nrows; i++)
		clocks[i] += info->first_clock;
	return true;
}

/* Takes the column of clocks, to the bytes' end. */
static bool
get_clocks(ByteReader *bytes, PackedColumn *column, const GroupReader *reader,
		   int segment, TimesReader *times)
{
	const SegmentInfo *info = &reader->segments[segment];

	column->kind = PACKED_INT;
	if (codec_left(bytes) > 0 && *bytes->next == CLOCKS_SHARED)
	{
		if (!ZbxhistGetTimes(times, reader, segment))
			return false;
		column->ints = times->rows[0];
		return true;
	}
	return ZbxhistDecodeIntegers(bytes, make_array(column, info->nrows),
								 info->nrows) &&
		codec_left(bytes) == 0 && restore_clocks(column->ints, info);
}

/*
 * Takes a segment's rows: the columns that are wanted, or all if wanted is
 * null.  Arrays are made in the current memory context; those of other
 * columns stay null.  The checksum is the caller's business.
 */
bool
ZbxhistDecodeRows(ByteReader *bytes, const GroupReader *reader, int segment,
				  const bool *wanted, SegmentRows *rows)
{
	ByteReader	lengths = *bytes;
	TimesReader times = {{0}};
	uint64		length = 0;
	int			i;

	/* lengths come first, then the columns */
	for (i = 0; i < rows->ncolumns - 1; i++)
		if (!ZbxhistGetVarint(bytes, &length))
			return false;
	for (i = 0; i < rows->ncolumns; i++)
	{
		ByteReader	column = *bytes;

		if (i < rows->ncolumns - 1)
		{
			if (!ZbxhistGetVarint(&lengths, &length) ||
				length > codec_left(bytes))
				return false;
			column.end = column.next + length;
			bytes->next = column.end;
		}
		if (i == 0)
			times.clocks = column;
		if (wanted != NULL && !wanted[i])
			continue;
		if (!(i == 0 ? get_clocks(&column, &rows->columns[0], reader, segment,
								  &times) :
			  get_column(&column, &rows->columns[i], reader, segment, &times)))
			return false;
	}
	return true;
}
