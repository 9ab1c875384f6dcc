/*-------------------------------------------------------------------------
 *
 * segment_times.c
 *	  Clocks and ns that segments share with others.
 *
 * segment_format.h shows what such a segment has instead of clocks and ns: all or some of
 * a vector's rows between its first and its last clock.  So a vector may be shared by
 * segments of any length.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "binary_search.h"
#include "format/segment_format.h"

/* which of a vector's rows between two clocks a segment has */
#define TIMES_EACH 0
#define TIMES_SOME 1			/* their number, and a bit for each follow */

/* The rows of a vector from a first clock up to a last one. */
static void
find_vector_rows(const SharedTimes *times, int64 first_clock, int64 last_clock,
				 int *from, int *n)
{
	int			end;

	find_first(*from, times->ntimes, times->clocks[*from] >= first_clock);
	find_first(end, times->ntimes, times->clocks[end] > last_clock);
	*n = Max(end - *from, 0);
}

/* Adds what stands for the clocks of n rows from `from` on. */
void
ZbxhistPutTimes(ByteBuffer *buffer, const SegmentRows *rows, int from, int n)
{
	const int64 *clocks = rows->columns[0].ints;
	uint64	   *flags;
	int			first,
				count,
				i;

	find_vector_rows(rows->shared, clocks[from], clocks[from + n - 1], &first,
					 &count);
	codec_put_byte(buffer, CLOCKS_SHARED);
	ZbxhistPutVarint(buffer, rows->shared->number);
	codec_put_byte(buffer, count == n ? TIMES_EACH : TIMES_SOME);
	if (count == n)
		return;
	Assert(rows->places != NULL && count > n);
	ZbxhistPutVarint(buffer, count);
	flags = palloc0(count * sizeof(uint64));
	for (i = from; i < from + n; i++)
		flags[rows->places[i] - first] = 1;
	ZbxhistPackBits(buffer, flags, count, 1);
	pfree(flags);
}

/*
 * Takes which of count rows of a vector the n rows of a segment are, to the
 * bytes' end; *places stays null if they are all.
 */
static bool
get_places(ByteReader *bytes, int n, int count, int **places)
{
	uint64	   *flags;
	uint64		written;
	uint8		form;
	int			found = 0;
	int			i;

	*places = NULL;
	if (!codec_get_byte(bytes, &form))
		return false;
	if (form == TIMES_EACH)
		return count == n && codec_left(bytes) == 0;
	if (form != TIMES_SOME || count <= n ||
		!ZbxhistGetVarint(bytes, &written) || written != count ||
		codec_left(bytes) != ((size_t) count + 7) / 8)
		return false;
	flags = palloc(count * sizeof(uint64));
	*places = palloc(n * sizeof(int));
	if (!ZbxhistUnpackBits(bytes, flags, count, 1))
		return false;
	for (i = 0; i < count; i++)
	{
		if (flags[i] == 0)
			continue;
		if (found == n)
			return false;
		(*places)[found++] = i;
	}
	pfree(flags);
	return found == n;
}

/* Copies n rows of a vector from `from` on, or those of them at places. */
static int64 *
copy_rows(const int64 *values, int from, int n, const int *places)
{
	int64	   *rows = palloc(n * sizeof(int64));
	int			i;

	if (places == NULL)
		memcpy(rows, values + from, n * sizeof(int64));
	else
		for (i = 0; i < n; i++)
			rows[i] = values[from + places[i]];
	return rows;
}

/* Are clocks sorted, and the first and the last one those of the segment? */
static bool
are_clocks_right(const int64 *clocks, const SegmentInfo *info)
{
	int			n = info->nrows;
	bool		is_sorted = true;
	int			i;

	for (i = 1; i < n; i++)
		is_sorted &= clocks[i - 1] <= clocks[i];
	return is_sorted && clocks[0] == info->first_clock &&
		clocks[n - 1] == info->last_clock;
}

/*
 * Finds the clocks and ns of a segment that shares them, unless they are there
 * already; in the current memory context.
 */
bool
ZbxhistGetTimes(TimesReader *times, const GroupReader *reader, int segment)
{
	const SegmentInfo *info = &reader->segments[segment];
	ByteReader	bytes = times->clocks;
	SharedTimes shared;
	uint64		number;
	uint8		flag;
	int			from,
				count;
	int		   *places;

	if (times->rows[0] != NULL)
		return true;
	if (reader->times == NULL ||
		!codec_get_byte(&bytes, &flag) || flag != CLOCKS_SHARED ||
		!ZbxhistGetVarint(&bytes, &number) ||
		!reader->times->find(reader->times, number, &shared))
		return false;
	find_vector_rows(&shared, info->first_clock, info->last_clock, &from,
					 &count);
	if (!get_places(&bytes, info->nrows, count, &places))
		return false;
	times->rows[1] = copy_rows(shared.ns, from, info->nrows, places);
	times->rows[0] = copy_rows(shared.clocks, from, info->nrows, places);
	return are_clocks_right(times->rows[0], info);
}

/* Does a segment share times?  If so, sets the number of the vector. */
bool
ZbxhistHasSharedTimes(const GroupReader *reader, int segment, uint64 *number)
{
	const SegmentInfo *info = &reader->segments[segment];
	const uint8 *data = reader->data + info->offset;
	ByteReader	bytes = {data + SEGMENT_CRC_LENGTH, data + info->length};
	uint8		flag;

	return ZbxhistSkipVarints(&bytes, reader->ncolumns - 1) &&
		codec_get_byte(&bytes, &flag) && flag == CLOCKS_SHARED &&
		ZbxhistGetVarint(&bytes, number);
}
