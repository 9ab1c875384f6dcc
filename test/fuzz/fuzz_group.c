/*-------------------------------------------------------------------------
 *
 * fuzz_group.c
 *	  Reads random bytes as a group (libFuzzer).
 *
 * The first byte is the number of columns.  What can be decoded is packed
 * again, and must come back the same.  Checksums are off (include).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "format/segment.h"
#include "rows.h"
#include "shim.h"

extern int	LLVMFuzzerTestOneInput(const uint8 *data, size_t size);

/* most memory that decoding a small input may take */
#define MAX_MEMORY ((size_t) 640 * 1024 * 1024)

/* strings longer than this are not packed again */
#define MAX_STRINGS (1024 * 1024)

static volatile uint8 sink;

/* most rows of a vector */
#define MAX_TIMES 5000

/* the segment whose times are asked for */
static const SegmentInfo *decoded;

/*
 * Makes a vector for a number.  The number decides how many clocks it has, and
 * whether they go from the segment's first to its last or are not sorted.  Some
 * are not found.
 */
static bool
find_times(TimesSource *source, uint64 number, SharedTimes *times)
{
	int			n = number % MAX_TIMES;
	int64	   *clocks = palloc((n + 1) * sizeof(int64));
	int64		span = (int64) decoded->last_clock - decoded->first_clock;
	int			i;

	for (i = 0; i < n; i++)
		clocks[i] = number % 11 == 3 ? (int64) (number * i % 1000003) :
			decoded->first_clock + (n > 1 ? span * i / (n - 1) : 0);
	times->number = number;
	times->ntimes = n;
	times->clocks = clocks;
	times->ns = clocks;
	return number % 13 != 5;
}

/* Touches every byte of the strings; returns their length. */
static size_t
touch_strings(const SegmentRows *rows)
{
	size_t		total = 0;
	int			i,
				row;

	for (i = 0; i < rows->ncolumns; i++)
	{
		if (rows->columns[i].kind != PACKED_BYTES)
			continue;
		for (row = 0; row < rows->nrows && total <= MAX_STRINGS; row++)
		{
			const PackedBytes *string = &rows->columns[i].bytes[row];
			uint32		at;

			for (at = 0; at < string->len; at += 512)
				sink = string->data[at];
			if (string->len > 0)
				sink = string->data[string->len - 1];
			total += string->len;
		}
	}
	return total;
}

/* Packs the decoded rows again and compares. */
static void
check_again(const SegmentRows *rows, int stats_column)
{
	PackedSize	size;
	const char *error = round_trip(rows, 1, stats_column, 8060, &size);

	if (error != NULL)
	{
		(void) fprintf(stderr, "%s\n", error);
		abort();
	}
}

int
LLVMFuzzerTestOneInput(const uint8 *data, size_t size)
{
	TimesSource source = {find_times};
	int64		item = 1;
	GroupReader reader;
	int			i;

	if (size < 1)
		return 0;
	if (ZbxhistOpenGroup(&reader, data + 1, size - 1, data[0] % 16 + 1))
	{
		for (i = 0; i < reader.nsegments; i++)
		{
			SegmentRows rows;
			SegmentStats stats;
			uint64		number;

			reader.times = (data[0] & 16) == 0 ? &source : NULL;
			decoded = &reader.segments[i];
			(void) ZbxhistHasSharedTimes(&reader, i, &number);
			(void) ZbxhistReadStats(&reader, reader.nsegments - 1 - i, &stats);
			if (ZbxhistReadStats(&reader, i, &stats) && stats.has_rest &&
				!isfinite(stats.rest_double))
				abort();
			(void) ZbxhistFindSegment(&reader, reader.segments[i].itemid, 0);
			if (ZbxhistDecodeSegment(&reader, i, NULL, &rows) &&
				touch_strings(&rows) <= MAX_STRINGS)
				check_again(&rows, rows.ncolumns - 1);
		}
	}
	/* of one item or all; with what follows the directory, or without */
	if (ZbxhistOpenDirectory(&reader, data + 1, size - 1,
							 size - 1 + (data[0] & 32), data[0] % 16 + 1,
							 (data[0] & 64) == 0 ? &item : NULL))
	{
		SegmentStats stats;

		for (i = 0; i < reader.nsegments; i++)
			(void) ZbxhistReadStats(&reader, i, &stats);
	}
	if (ZbxhistOpenTimes(&reader, data + 1, size - 1, NULL))
	{
		for (i = 0; i < reader.nsegments; i++)
		{
			SegmentRows rows;

			if (ZbxhistDecodeSegment(&reader, i, NULL, &rows))
				check_again(&rows, -1);
		}
	}
	if (shim_peak() > MAX_MEMORY)
		abort();
	shim_reset();
	return 0;
}
