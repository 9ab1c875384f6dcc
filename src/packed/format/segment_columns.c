/*-------------------------------------------------------------------------
 *
 * segment_columns.c
 *	  Rows of a segment as bytes, column by column.
 *
 * segment_format.h shows the bytes.
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
		ZbxhistPutColumn(buffer, column->kind, 0,
						 ZbxhistColumnValues(column, from), nulls, n);
		return;
	}
	distances = palloc(n * sizeof(uint64));
	for (i = 0; i < n; i++)
		distances[i] = column->unsigneds[from + i] - stats->min_unsigned;
	ZbxhistPutColumn(buffer, column->kind, COLUMN_FROM_MIN, distances, nulls,
					 n);
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

/* Takes a column of the segment's rows, to the end of the bytes. */
static bool
get_segment_column(ByteReader *bytes, PackedColumn *column,
				   const GroupReader *reader,
				   int segment, TimesReader *times)
{
	uint64		smallest = 0;
	uint8		flags;
	SegmentStats stats;

	if (!ZbxhistGetColumnFlags(bytes, column, &flags, COLUMN_ALL))
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
	return ZbxhistGetColumn(bytes, column, flags,
							codec_all(reader->segments[segment].nrows),
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
								 codec_all(info->nrows)) &&
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

		if (!ZbxhistNextColumn(&lengths, bytes, i == rows->ncolumns - 1, &part))
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
