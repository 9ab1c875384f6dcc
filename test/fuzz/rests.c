/*-------------------------------------------------------------------------
 *
 * rests.c
 *	  The rests of sums of doubles: which segments have one, that it is exact,
 *	  and what a reader does with rests that no writer makes.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "format/exact_sum.h"
#include "format/segment_format.h"
#include "checks.h"
#include "rows.h"
#include "shim.h"

#define MAX_VALUES 4096
#define MAX_PARTS 64

static double values[MAX_VALUES];

/* ---- which segments have one ---- */

/* Adds a number to a sum of parts that do not overlap (Shewchuk). */
static int
grow(double *parts, int nparts, double number)
{
	int			n = 0;
	int			i;

	for (i = 0; i < nparts; i++)
	{
		double		lost = add_exactly(&number, parts[i]);

		if (lost != 0)
			parts[n++] = lost;
	}
	if (number != 0)
		parts[n++] = number;
	return n;
}

/* Is sum plus rest exactly the sum of the values? */
static bool
is_exact(const SegmentStats *stats, int n)
{
	double		parts[MAX_PARTS];
	int			nparts = 0;
	int			i;

	for (i = 0; i < n; i++)
		nparts = grow(parts, nparts, values[i]);
	nparts = grow(parts, nparts, -stats->sum_double);
	nparts = grow(parts, nparts, -stats->rest_double);
	return nparts == 0;
}

/* Value i of a pattern. */
static double
make_value(int pattern, int i)
{
	uint64		random = random_number();

	switch (pattern)
	{
		case 0:					/* integers */
			return (double) (random % 1000);
		case 1:					/* decimals */
			return (random % 1000000) / 10000.0;
		case 2:					/* random, of one magnitude */
			return 1 + random / 18446744073709551616.0;
		case 3:					/* most of the sum cancels out */
			return (i % 3 == 0 ? 1e16 : i % 3 == 1 ? 0.25 : -1e16);
		case 4:
			return (i % 3 == 0 ? 1e308 : i % 3 == 1 ? -1e308 : 1);
		case 5:					/* last digits far below those of the sum */
			return i == 7 ? 1e-300 : (double) (random % 1000);
		case 6:					/* close to 0 */
			return codec_double(random % 100000);
		case 7:
			return -0.0;
		case 8:					/* of very different magnitudes */
			return ldexp((double) random, (int) (random % 1000) - 500);
		default:
			return i == 5 ? (pattern == 9 ? NAN : -INFINITY) : 1.5;
	}
}

/* Statistics of n values of a pattern. */
static SegmentStats
make_stats(int pattern, int n)
{
	PackedColumn column = {.kind = PACKED_DOUBLE,.doubles = values};
	SegmentStats stats;
	int			i;

	for (i = 0; i < n; i++)
		values[i] = make_value(pattern, i);
	ZbxhistComputeStats(&column, 0, n, &stats);
	return stats;
}

/* Are statistics the same after they were written and read? */
static bool
come_back(const SegmentStats *stats, int n)
{
	ByteBuffer	buffer;
	ByteReader	reader;
	SegmentStats again;

	ZbxhistInitBuffer(&buffer, 64);
	ZbxhistPutStats(&buffer, stats, n);
	reader.next = buffer.data;
	reader.end = buffer.data + buffer.length;
	if (!ZbxhistGetStats(&reader, &again, n) || reader.next != reader.end ||
		memcmp(&again, stats, sizeof(again)) != 0)
		return false;
	reader.next = buffer.data;
	return ZbxhistSkipStats(&reader) && reader.next == reader.end;
}

/* Segments of each pattern: if there is a rest, it is exact. */
static void
test_values(void)
{
	static const int counts[] = {1, 31, 32, 288, 1440, MAX_VALUES};
	int			pattern,
				c;

	for (pattern = 0; pattern < 11; pattern++)
	{
		for (c = 0; c < lengthof(counts); c++)
		{
			int			n = counts[c];
			SegmentStats stats = make_stats(pattern, n);

			report(come_back(&stats, n) ? NULL : "statistics have changed",
				   "rest", pattern, n);
			report(stats.has_rest == (pattern < 8 && n >= 288) ||
				   (n < 288 && pattern < 8) ? NULL : "a rest too many or too few",
				   "rest", pattern, n);
			report(n < 32 && stats.has_rest ? "a rest of few values" : NULL,
				   "rest", pattern, n);
			report(!stats.has_rest || is_exact(&stats, n) ? NULL :
				   "a rest is not exact", "rest", pattern, n);
		}
	}
	shim_reset();
}

/* Rests and sums of any size are read as they were written. */
static void
test_forms(void)
{
	int			i;

	for (i = 0; i < 20000; i++)
	{
		SegmentStats stats = {true, PACKED_DOUBLE, 4000};
		int			exponent = (int) (random_number() % 2040) - 1060;

		stats.sum_double = ldexp(random_number() % 3 == 0 ? 1 :
								 1 + random_number() / 2e19, exponent);
		stats.rest_double = ldexp((double) (int64) random_number(),
								  exponent - (int) (random_number() % 200));
		stats.min_double = stats.max_double = i % 2 == 0 ? 0.25 : stats.sum_double;
		stats.has_rest = true;
		if (i % 7 == 0)
			stats.rest_double = rint(ldexp(stats.rest_double, 40 - exponent));
		if (!isfinite(stats.rest_double) || !isfinite(stats.sum_double))
			continue;
		stats.rest_double += 0.0;
		report(come_back(&stats, 4000) ? NULL : "statistics have changed",
			   "form", exponent, i);
	}
	shim_reset();
}

/* ---- rests that no writer makes ---- */

/* Statistics of forty doubles: some that no writer makes, and some that are allowed. */
static void
test_bytes(void)
{
	static const struct
	{
		const char *bytes;
		int			length;
		bool		is_good;
	}			forged[] = {
		{"\x03\x02\x02\x02\x00", 5, true},	/* without */
		{"\x04\x03\x02\x02\x02\x00", 6, true},	/* 0 */
		{"\x0C\x02\x03\x02\x02\x02\x00", 7, true},	/* 1, scaled */
		{"\xFC\x01\x03\x02\x02\x02\x00", 7, true},
		{"\x08\x00\x00\x00\x00\x00\x00\xF0\x3F\x03\x02\x02\x02\x00", 14, true},
		{"\x08\x00\x00\x00\x00\x00\x00\xF0\x7F\x03\x02\x02\x02\x00", 14, false},
		{"\x08\x00\x00\x00\x00\x00\x00\xF8\xFF\x03\x02\x02\x02\x00", 14, false},
		{"\x08\x00\x00\x00\x00\x00\x00\xF0", 8, false},
		{"\x04\x04\x03\x02\x02\x02\x00", 7, false}, /* two of them */
		{"\x04\x00", 2, false}, /* of nothing */
		{"\x04\x0A", 2, false}, /* of nulls */
		{"\x04\x01\x02\x02\x00", 5, false}, /* of unsigneds */
		{"\x04", 1, false},
		{"\x0C\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x03\x03\x02\x02\x02\x00", 16,
		false},					/* no number */
		{"\x0C\xFE\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01\x02"
			"\x00\x00\x00\x00\x00\x00\xE0\x7F\x00\x00\x00\x00\x00\x00\xE0\x7F"
		"\x00\x00\x00\x00\x00\x00\xE0\x7F", 36, false}	/* beyond the range */
	};
	int			i;

	for (i = 0; i < lengthof(forged); i++)
	{
		uint8	   *bytes = palloc(forged[i].length);
		ByteReader	reader = {bytes, bytes + forged[i].length};
		SegmentStats stats;

		memcpy(bytes, forged[i].bytes, forged[i].length);
		report(ZbxhistGetStats(&reader, &stats, 40) == forged[i].is_good ?
			   NULL : "bad statistics are read, or good ones not", "forged", i, 40);
	}
	shim_reset();
}

void
test_rests(void)
{
	test_values();
	test_forms();
	test_bytes();
}
