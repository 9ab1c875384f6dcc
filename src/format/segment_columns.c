/*-------------------------------------------------------------------------
 *
 * segment_columns.c
 *	  Rows of a segment as bytes, column by column.
 *
 * segment_format.h describes the bytes.  Nulls are left out of a column's values; they
 * are decoded as zeros.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "format/segment_format.h"

/* Do statistics say what the smallest of a column's unsigned numbers is? */
static inline bool
has_smallest(const SegmentStats *stats, PackedKind kind)
{
	return kind == PACKED_UNSIGNED && stats->is_set && stats->count > 0 &&
		stats->kind == PACKED_UNSIGNED;
}

/* The checksum of a segment, which it begins with. */
pg_crc32c
ZbxhistSegmentChecksum(const uint8 *data, size_t length)
{
	pg_crc32c	crc;

	INIT_CRC32C(crc);
	COMP_CRC32C(crc, data + SEGMENT_CRC_LENGTH, length - SEGMENT_CRC_LENGTH);
	FIN_CRC32C(crc);
	return crc;
}

/* ---------------------------------------------------------------- writing */

/* A column's values from a row on. */
static const void *
values_from(const PackedColumn *column, int from)
{
	return (const char *) column->values +
		from * packed_value_size(column->kind);
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

/* Adds a stream that says of each row whether its value is null, with its length. */
static void
put_nulls(ByteBuffer *buffer, const bool *nulls, int n)
{
	uint64	   *numbers = palloc(n * sizeof(uint64));
	ByteBuffer	stream;
	int			i;

	for (i = 0; i < n; i++)
		numbers[i] = nulls[i];
	ZbxhistInitBuffer(&stream, 64);
	ZbxhistEncodeIntegers(&stream, numbers, n);
	ZbxhistPutVarint(buffer, stream.length);
	ZbxhistPutBytes(buffer, stream.data, stream.length);
	pfree(stream.data);
	pfree(numbers);
}

/* Adds the values that are not null. */
static void
put_others(ByteBuffer *buffer, PackedKind kind, const char *values,
		   const bool *nulls, int n)
{
	size_t		size = packed_value_size(kind);
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

/* Adds a column: values, some of which may be null, and its byte of flags. */
static void
put_column(ByteBuffer *buffer, PackedKind kind, uint8 flags,
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
put_segment_column(ByteBuffer *buffer, const PackedColumn *column, int from,
				   int n,
				   const SegmentStats *stats)
{
	const bool *nulls = column->nulls == NULL ? NULL : column->nulls + from;
	uint64	   *distances;
	int			i;

	if (stats == NULL || !has_smallest(stats, column->kind))
	{
		put_column(buffer, column->kind, 0, values_from(column, from), nulls, n);
		return;
	}
	distances = palloc(n * sizeof(uint64));
	for (i = 0; i < n; i++)
		distances[i] = column->unsigneds[from + i] - stats->min_unsigned;
	put_column(buffer, column->kind, COLUMN_FROM_MIN, distances, nulls, n);
	pfree(distances);
}

/* Adds the column of clocks, less the first one. */
static void
put_segment_clocks(ByteBuffer *buffer, const int64 *clocks, int n)
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
			put_segment_clocks(&columns, rows->columns[0].ints + from, n);
		else
			put_segment_column(&columns, &rows->columns[i], from, n,
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

/*
 * Takes the bytes of the next column, whose length, unless it is the last one, comes
 * next in lengths.
 */
static bool
next_column(ByteReader *lengths, ByteReader *columns, bool is_last,
			ByteReader *column)
{
	uint64		length = codec_left(columns);

	if (!is_last && (!ZbxhistGetVarint(lengths, &length) ||
					 length > codec_left(columns)))
		return false;
	column->next = columns->next;
	column->end = columns->next += length;
	return true;
}

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

/*
 * Takes what put_nulls() has added, and says how many values are null; returns NULL if
 * it is not that.
 */
static bool *
get_nulls(ByteReader *reader, int n, int *count)
{
	uint64	   *numbers = palloc(n * sizeof(uint64));
	bool	   *nulls = palloc(n * sizeof(bool));
	uint64		all = 0;
	ByteReader	stream;
	bool		result;
	int			i;

	*count = 0;
	result = codec_get_part(reader, &stream) &&
		ZbxhistDecodeIntegers(&stream, numbers, n) && codec_left(&stream) == 0;
	for (i = 0; result && i < n; i++)
	{
		all |= numbers[i];
		nulls[i] = numbers[i] != 0;
		*count += nulls[i];
	}
	pfree(numbers);
	return result && all <= 1 ? nulls : NULL;
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

/* Adds to all numbers what was subtracted when they were written. */
static void
add_smallest(uint64 *values, int n, uint64 smallest)
{
	int			i;

	for (i = 0; i < n; i++)
		values[i] += smallest;
}

/*
 * Takes n rows of a column, whose byte of flags has been read, to the end of the
 * bytes, into arrays in the current memory context.  smallest was subtracted from
 * all numbers.  The column's kind is set.
 */
static bool
get_column(ByteReader *reader, PackedColumn *column, uint8 flags, int n,
		   uint64 smallest)
{
	size_t		size = packed_value_size(column->kind);
	int			nnulls = 0;
	void	   *values;

	if ((flags & COLUMN_NULLS) != 0 &&
		(column->nulls = get_nulls(reader, n, &nnulls)) == NULL)
		return false;
	values = column->values = palloc(n * size);
	if (!get_values(reader, column->kind, values, n - nnulls) ||
		codec_left(reader) != 0)
		return false;
	if (smallest != 0)
		add_smallest(values, n - nnulls, smallest);
	if (nnulls > 0)
		spread(values, size, column->nulls, n, n - nnulls);
	return true;
}

/* Takes a column of the segment's rows, to the end of the bytes. */
static bool
get_segment_column(ByteReader *bytes, PackedColumn *column,
				   const GroupReader *reader,
				   int segment, TimesReader *times)
{
	uint64		smallest = 0;
	uint8		flags;
	SegmentStats stats;

	if (!codec_get_byte(bytes, &flags) || (flags & ~COLUMN_ALL) != 0)
		return false;
	column->kind = flags & COLUMN_KIND;
	if (column->kind < PACKED_INT || column->kind > PACKED_BYTES)
		return false;
	if ((flags & COLUMN_SHARED) != 0)
	{
		if (flags != (PACKED_INT | COLUMN_SHARED) || codec_left(bytes) != 0 ||
			!ZbxhistGetTimes(times, reader, segment))
			return false;
		column->ints = times->rows[1];
		return true;
	}
	if ((flags & COLUMN_FROM_MIN) != 0)
	{
		if (!ZbxhistReadStats(reader, segment, &stats) ||
			!has_smallest(&stats, column->kind))
			return false;
		smallest = stats.min_unsigned;
	}
	return get_column(bytes, column, flags, reader->segments[segment].nrows,
					  smallest);
}

/* Makes clocks of the seconds since the first one; they must be sorted. */
static bool
restore_clocks(int64 *clocks, const SegmentInfo *info)
{
	int64		last = (int64) info->last_clock - info->first_clock;
	uint64		all = last;
	int			i;

	if (clocks[0] != 0 || clocks[info->nrows - 1] != last)
		return false;
	/* sorted and up to the last one: no second and no step needs a bit more */
	for (i = 1; i < (int) info->nrows; i++)
		all |= clocks[i] | ((uint64) clocks[i] - (uint64) clocks[i - 1]);
	if (all > PG_UINT32_MAX)
		return false;
	for (i = 0; i < (int) info->nrows; i++)
		clocks[i] += info->first_clock;
	return true;
}

/* Takes the column of clocks, to the bytes' end. */
static bool
get_segment_clocks(ByteReader *bytes, PackedColumn *column,
				   const GroupReader *reader,
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
	column->ints = palloc(info->nrows * sizeof(int64));
	return ZbxhistDecodeIntegers(bytes, (uint64 *) column->ints,
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
	int			i;

	if (!ZbxhistSkipVarints(bytes, rows->ncolumns - 1))
		return false;
	for (i = 0; i < rows->ncolumns; i++)
	{
		PackedColumn *column = &rows->columns[i];
		ByteReader	part;

		if (!next_column(&lengths, bytes, i == rows->ncolumns - 1, &part))
			return false;
		if (i == 0)
			times.clocks = part;
		if (wanted != NULL && !wanted[i])
			continue;
		if (!(i == 0 ? get_segment_clocks(&part, column, reader, segment, &times) :
			  get_segment_column(&part, column, reader, segment, &times)))
			return false;
	}
	return true;
}
