/*-------------------------------------------------------------------------
 *
 * round_trip.c
 *	  Packs and unpacks difficult data of every kind.
 *
 * The data is always the same, so a failure can be repeated.  Damaged bytes are
 * tested in damage.c.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "format/codec.h"
#include "checks.h"
#include "rows.h"
#include "shim.h"

#define PAGE 8060

/* numbers of rows at which the encoding changes */
static const int row_counts[] = {
	1, 2, 3, 4, 7, 8, 9, 31, 63, 64, 65, 127, 255, 288, 1000, 4095, 4096, 4097,
	9000
};

static uint64 state = UINT64CONST(88172645463325252);
static int	ntests = 0;
static int	nfailed = 0;

uint64
random_number(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

/* Counts a test, and prints the error if there is one. */
void
report(const char *error, const char *what, int detail, int nrows)
{
	ntests++;
	if (error == NULL)
		return;
	nfailed++;
	(void) printf("# %s %d, %d rows: %s\n", what, detail, nrows, error);
}

static double
double_of(uint64 bits)
{
	double		value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

/* ----------------------------------------------------------------- integers */

/* The value of row i in a pattern; patterns are numbered from 0 to 102. */
static uint64
pattern(int number, int i)
{
	if (number < 65)			/* every width */
		return number == 0 ? 0 : random_number() >> (64 - number);
	switch (number)
	{
		case 65:
			return (uint64) PG_INT64_MIN;
		case 66:
			return (uint64) PG_INT64_MAX;
		case 67:
			return PG_UINT64_MAX;
		case 68:				/* from the least integer to the greatest */
			return i % 2 == 0 ? (uint64) PG_INT64_MIN : (uint64) PG_INT64_MAX;
		case 69:
			return i % 2 == 0 ? 0 : PG_UINT64_MAX;
		case 70:				/* wraps around */
			return PG_UINT64_MAX - 50 + i;
		case 71:
			return (uint64) PG_INT64_MAX - 50 + i;
		case 72:				/* steps of half the range */
			return (uint64) i << 63;
		case 73:
			return (uint64) i << 62;
		case 74:				/* the same step */
			return UINT64CONST(0xDEADBEEF00000000) + (uint64) i * 300;
		case 75:
			return 0 - (uint64) i * 300;
		case 76:				/* with gaps */
			return (uint64) (i + i / 50 * 7) * 300;
		case 77:				/* with jitter */
			return (uint64) i * 300 + random_number() % 3;
		case 78:				/* an outlier at each end */
			return i == 0 ? (uint64) PG_INT64_MIN : 7;
		case 79:
			return i == 63 ? PG_UINT64_MAX : i % 8;
		case 80:				/* some outliers */
			return random_number() % 20 == 0 ? random_number() : 100 + i % 4;
		case 81:
			return random_number() % 3 == 0 ? random_number() : 100 + i % 4;
		case 82:				/* growing faster and faster */
			return (uint64) i * i * i;
		case 83:
			return (uint64) i * i * UINT64CONST(0x100000000000);
		case 84:				/* a few far apart */
			return random_number() % 3 * UINT64CONST(0x123456789ABCDEF);
		case 85:
			return random_number() % 256 * UINT64CONST(0x123456789ABCDEF);
		case 86:
			return random_number() % 257 * UINT64CONST(0x123456789ABCDEF);
		case 87:				/* a common factor */
			return random_number() % 1000 * 1000000;
		case 88:
			return (random_number() % 1000 - 500) * (UINT64CONST(1) << 50);
		case 89:
			return (random_number() % 3) * (uint64) PG_INT64_MAX;
		case 90:				/* around zero, both signs */
			return random_number() % 201 - 100;
		case 91:				/* runs */
			return (uint64) (i / 40) * 1000003;
		case 92:				/* a counter with a reset */
			return i < 100 ? UINT64CONST(5000000000) + i * 77 : (uint64) i * 77;
		case 93:				/* around a straight line: rising, falling */
			return 1000 + (uint64) i * 65536 + random_number() % 65536;
		case 94:
			return 0 - (uint64) i * 777 - random_number() % 1000;
		case 95:				/* steep, up to the limit and beyond it */
			return (uint64) i * (UINT64CONST(1) << 34) + random_number() % 65536;
		case 96:
			return (uint64) i * (UINT64CONST(1) << 46) +
				random_number() % (UINT64CONST(1) << 45);
		case 97:				/* wraps around to zero */
			return PG_UINT64_MAX - 30000 + (uint64) i * 300 +
				random_number() % 400;
		case 98:				/* two lines, and a jump */
			return (uint64) i * (i < 150 ? 100 : 200) + random_number() % 100;
		case 99:
			return (uint64) i * 1000 + random_number() % 1000 +
				(i == 77 ? UINT64CONST(1) << 60 : 0);
		default:				/* random */
			return random_number() << random_number() % 64;
	}
}

/* Packs a column of each pattern, as signed and as unsigned. */
static void
test_integers(void)
{
	PackedKind	kinds[] = {PACKED_INT, PACKED_INT, PACKED_UNSIGNED};
	int			number,
				c,
				i;

	for (number = 0; number <= 102; number++)
	{
		for (c = 0; c < lengthof(row_counts); c++)
		{
			int			n = row_counts[c];
			SegmentRows rows = {-number, n, 3, make_columns(kinds, 3, n)};
			PackedSize	size;

			for (i = 0; i < n; i++)
			{
				rows.columns[0].ints[i] = i / (number % 5 + 1);
				rows.columns[1].ints[i] = pattern(number, i);
				rows.columns[2].unsigneds[i] = rows.columns[1].ints[i];
			}
			report(round_trip(&rows, 1, 2, PAGE, &size), "integers", number, n);
			if (size.bytes > 1000 + (size_t) n * 26)
				report("more than the values themselves", "integers", number, n);
			shim_reset();
		}
	}
}

/* ------------------------------------------------------------------ doubles */

/* Doubles that are hard to encode. */
static const uint64 special_bits[] = {
	0, UINT64CONST(0x8000000000000000), /* zeros */
	UINT64CONST(0x7FF0000000000000), UINT64CONST(0xFFF0000000000000),	/* infinities */
	UINT64CONST(0x7FF8000000000000), UINT64CONST(0xFFF8000000000000),	/* quiet NaNs */
	UINT64CONST(0x7FF0000000000001), UINT64CONST(0xFFFFFFFFFFFFFFFF),	/* others */
	UINT64CONST(0x7FF4DEADBEEF0001),
	1, UINT64CONST(0x800FFFFFFFFFFFFF), UINT64CONST(0x000FFFFFFFFFFFFF),	/* subnormal */
	UINT64CONST(0x0010000000000000), UINT64CONST(0x7FEFFFFFFFFFFFFF),	/* extremes */
	UINT64CONST(0xFFEFFFFFFFFFFFFF), UINT64CONST(0x4340000000000000),	/* 2^53 */
	UINT64CONST(0x4320000000000000), UINT64CONST(0xC31FFFFFFFFFFFFF)	/* 2^51, -2^51 */
};

/* The value of row i in a pattern; patterns are numbered from 0 to 60. */
static double
double_pattern(int number, int i)
{
	if (number < 20)			/* decimals */
		return (double) (random_number() % 1000000) / pow(10, number);
	if (number < 40)
		return -50 + round(random_number() % 100 + i * 0.01) * pow(10, number - 30);
	switch (number)
	{
		case 40:
			return double_of(special_bits[i % lengthof(special_bits)]);
		case 41:
			return double_of(random_number());
		case 42:
			return i % 10 == 0 ?
				double_of(special_bits[random_number() % lengthof(special_bits)]) :
				(random_number() % 1000) / 100.0;
		case 43:
			return (float) (random_number() % 100000) / 3.0f;
		case 44:
			return random_number() / 18446744073709551616.0;
		case 45:				/* sums of decimals are no decimals */
			return nextafter(i / 1000.0, random_number() % 2 == 0 ? 1e9 : -1e9);
		case 46:
			return i * 0.1;
		case 47:
			return M_PI;
		case 48:
			return -0.0;
		case 49:
			return i % 2 == 0 ? 0.0 : -0.0;
		case 50:
			return sin(i * 0.01);
		case 51:
			return double_of(random_number() % 4096);
		case 52:
			return (double) ((INT64CONST(1) << 51) - 5 + i);
		case 53:
			return -(double) ((INT64CONST(1) << 53) - 5 + i);
		case 54:
			return 1e300 * (i + 1);
		case 55:
			return double_of(UINT64CONST(0x7FF8000000000000) + random_number() % 99);
		default:
			return ldexp((double) random_number(), (int) (random_number() % 2000) - 1000);
	}
}

static void
test_doubles(void)
{
	PackedKind	kinds[] = {PACKED_INT, PACKED_DOUBLE};
	int			number,
				c,
				i;

	for (number = 0; number <= 60; number++)
	{
		for (c = 0; c < lengthof(row_counts); c++)
		{
			int			n = row_counts[c];
			SegmentRows rows = {number, n, 2, make_columns(kinds, 2, n)};
			PackedSize	size;

			for (i = 0; i < n; i++)
			{
				rows.columns[0].ints[i] = PG_INT32_MAX - n + i;
				rows.columns[1].doubles[i] = double_pattern(number, i);
			}
			report(round_trip(&rows, 1, 1, PAGE, &size), "doubles", number, n);
			if (size.bytes > 1000 + (size_t) n * 9)
				report("more than the values themselves", "doubles", number, n);
			shim_reset();
		}
	}
}

/* ------------------------------------------------------------------ strings */

/* Makes the string of row i in a pattern; patterns are numbered from 0 to 11. */
static void
make_string(PackedBytes *string, int number, int i)
{
	static const uint32 lengths[] = {0, 5, 10, 30, 30, 1, 40, 100, 3, 2500, 0, 70000};
	char	   *data;
	uint32		length = lengths[number];
	uint32		at;

	if (number == 10)
		length = i % 50 == 7 ? 100000 : i % 3;
	if (number == 11)
		length = i % 8 == 0 ? length : 10;
	data = palloc(length + 1);
	for (at = 0; at < length; at++)
		data[at] = number % 3 == 0 ? (char) random_number() :
			number % 3 == 1 ? 'a' + (i % 7 + at) % 26 : 'a' + at % 5;
	if (number >= 6 && length > 10)
		data[random_number() % 10] = 0;
	string->data = length == 0 && i % 2 == 0 ? NULL : data;
	string->len = length;
}

static void
test_strings(void)
{
	PackedKind	kinds[] = {PACKED_INT, PACKED_BYTES};
	int			number,
				c,
				i;

	for (number = 0; number < 12; number++)
	{
		for (c = 0; c < 14; c++)
		{
			int			n = row_counts[c];
			SegmentRows rows = {number, n, 2, make_columns(kinds, 2, n)};
			PackedSize	size;

			for (i = 0; i < n; i++)
			{
				rows.columns[0].ints[i] = PG_INT32_MIN + i * 60;
				make_string(&rows.columns[1].bytes[i], number, i);
			}
			report(round_trip(&rows, 1, 1, number == 11 ? 100000 : PAGE, &size),
				   "strings", number, n);
			shim_reset();
		}
	}
}

/* -------------------------------------------------------------------- nulls */

/* Is row i null in a pattern? */
static bool
null_pattern(int number, int i, int n)
{
	switch (number)
	{
		case 0:
			return true;
		case 1:
			return false;
		case 2:
			return i % 2 == 0;
		case 3:
			return i < n / 2;
		case 4:
			return i != n / 2;
		case 5:
			return i == n - 1;
		default:
			return random_number() % 5 == 0;
	}
}

static void
test_nulls(void)
{
	PackedKind	kinds[] = {PACKED_INT, PACKED_INT, PACKED_DOUBLE,
	PACKED_UNSIGNED, PACKED_BYTES};
	int			number,
				c,
				i,
				k;

	for (number = 0; number < 7; number++)
	{
		for (c = 0; c < lengthof(row_counts); c++)
		{
			int			n = row_counts[c];
			SegmentRows rows = {number, n, 5, make_columns(kinds, 5, n)};
			PackedSize	size;

			for (k = 1; k < 5; k++)
				rows.columns[k].nulls = palloc(n * sizeof(bool));
			for (i = 0; i < n; i++)
			{
				rows.columns[0].ints[i] = i;
				rows.columns[1].ints[i] = random_number();
				rows.columns[2].doubles[i] = random_number() % 1000 / 10.0;
				rows.columns[3].unsigneds[i] = random_number();
				make_string(&rows.columns[4].bytes[i], 2, i);
				for (k = 1; k < 5; k++)
					rows.columns[k].nulls[i] = null_pattern(number, i, n);
			}
			report(round_trip(&rows, 1, number % 2 + 2, PAGE, &size), "nulls",
				   number, n);
			shim_reset();
		}
	}
}

/* --------------------------------------------------------------- statistics */

/* Statistics of three doubles, the last of which may be null. */
static void
test_double_stats(void)
{
	static const struct
	{
		double		values[3];
		bool		is_set;
		double		min;
		double		max;
		double		sum;
	}			cases[] = {
		{{1.5, -2.25, 4}, true, -2.25, 4, 3.25},
		{{0.1, 0.2, 0.3}, true, 0.1, 0.3, 0.1 + 0.2 + 0.3},
		{{0.0, -0.0, -0.0}, true, -0.0, -0.0, 0.0},
		{{-0.0, -0.0, -0.0}, true, -0.0, -0.0, -0.0},
		{{1e308, 1e308, 0}, false},
		{{1, NAN, 2}, false},
		{{1, INFINITY, 2}, false},
		{{-INFINITY, INFINITY, 2}, false}
	};
	int			i;

	for (i = 0; i < lengthof(cases); i++)
	{
		double		values[3];
		PackedColumn column = {.kind = PACKED_DOUBLE,.doubles = values};
		SegmentStats stats;

		memcpy(values, cases[i].values, sizeof(values));
		ZbxhistComputeStats(&column, 0, 3, &stats);
		report(stats.is_set == cases[i].is_set &&
			   stats.count == (stats.is_set ? 3 : 0) &&
			   codec_bits(stats.min_double) == codec_bits(cases[i].min) &&
			   codec_bits(stats.max_double) == codec_bits(cases[i].max) &&
			   codec_bits(stats.sum_double) == codec_bits(cases[i].sum) ?
			   NULL : "wrong statistics", "doubles", i, 3);
	}
}

/* Sums of unsigned integers have 128 bits; nulls are not counted. */
static void
test_other_stats(void)
{
	uint64		values[4] = {PG_UINT64_MAX, 7, PG_UINT64_MAX, PG_UINT64_MAX};
	bool		nulls[4] = {false, true, false, false};
	PackedColumn column = {PACKED_UNSIGNED, nulls,.unsigneds = values};
	SegmentStats stats;

	ZbxhistComputeStats(&column, 0, 4, &stats);
	report(stats.is_set && stats.kind == PACKED_UNSIGNED && stats.count == 3 &&
		   stats.min_unsigned == PG_UINT64_MAX && stats.sum_high == 2 &&
		   stats.sum_low == PG_UINT64_MAX - 2 ? NULL : "wrong statistics",
		   "unsigned", 0, 4);
	nulls[1] = false;
	ZbxhistComputeStats(&column, 1, 2, &stats);
	report(stats.count == 2 && stats.min_unsigned == 7 &&
		   stats.max_unsigned == PG_UINT64_MAX && stats.sum_high == 1 &&
		   stats.sum_low == 6 ? NULL : "wrong statistics", "unsigned", 1, 2);
	nulls[0] = true;
	ZbxhistComputeStats(&column, 0, 1, &stats);
	report(stats.is_set && stats.count == 0 && stats.min_unsigned == 0 ? NULL :
		   "statistics of nothing", "unsigned", 2, 1);
	column.kind = PACKED_INT;
	column.ints = (int64 *) values;
	ZbxhistComputeStats(&column, 0, 4, &stats);
	report(stats.is_set ? "statistics of what has none" : NULL, "int", 0, 4);
}

/* ------------------------------------------------------------------- groups */

/* Items and groups of many sizes, and clocks that many rows have. */
static void
test_groups(void)
{
	static const int sizes[] = {1, 64, 100, 150, 300, 1000, 8060, 20000};
	PackedKind	kinds[] = {PACKED_INT, PACKED_INT, PACKED_DOUBLE};
	SegmentRows items[50] = {{0}};
	PackedSize	size;
	int			s,
				k,
				i;

	for (s = 0; s < lengthof(sizes); s++)
	{
		for (k = 0; k < lengthof(items); k++)
		{
			int			n = row_counts[random_number() % 16];
			int64		clock = 0;

			items[k].itemid = (int64) k * k * k - 5;
			items[k].nrows = n;
			items[k].ncolumns = 3;
			items[k].columns = make_columns(kinds, 3, n);
			for (i = 0; i < n; i++)
			{
				clock += random_number() % 3 == 0 ? 0 : (k % 7 + 1) * 10;
				items[k].columns[0].ints[i] = clock;
				items[k].columns[1].ints[i] = random_number() % 1000000000;
				items[k].columns[2].doubles[i] = (i % 100) / 10.0;
			}
		}
		report(round_trip(items, lengthof(items), 2, sizes[s], &size), "groups",
			   sizes[s], 0);
		/* all but the last one */
		if (sizes[s] == PAGE && size.bytes < (size.ngroups - 1) * (PAGE - 200))
			report("groups are not full", "groups", size.ngroups, 0);
		shim_reset();
	}
}

/* One clock has as many rows as are allowed, then one more. */
static void
test_limits(void)
{
	PackedKind	kinds[] = {PACKED_INT, PACKED_INT, PACKED_BYTES};
	int			n = ZBXHIST_MAX_CLOCK_ROWS;
	SegmentRows rows = {1, n, 3, make_columns(kinds, 3, n + 1)};
	PackedSize	size;
	GroupWriter *writer;
	int			i;

	for (i = 0; i < n; i++)
		rows.columns[1].ints[i] = random_number() % 1000000000;
	report(round_trip(&rows, 1, -1, PAGE, &size), "one clock", 0, n);
	if (size.nsegments != 1)
		report("rows of one clock are split", "one clock", 0, n);

	rows.nrows = n + 1;
	writer = ZbxhistCreateGroupWriter(3, -1);
	if (ZbxhistGroupAdd(writer, &rows, 0, PAGE) != -1)
		report("too many rows are not refused", "one clock", 0, n + 1);

	/* strings that are too long together; only their lengths are made */
	rows.nrows = 1000;
	for (i = 0; i < rows.nrows; i++)
	{
		rows.columns[2].bytes[i].data = "";
		rows.columns[2].bytes[i].len = 1024 * 1024;
	}
	if (ZbxhistGroupAdd(writer, &rows, 0, PAGE) != -1)
		report("too long strings are not refused", "one clock", 0, 1000);
	ntests += 3;
	shim_reset();
}

int
main(void)
{
	test_integers();
	test_doubles();
	test_strings();
	test_nulls();
	test_double_stats();
	test_other_stats();
	test_groups();
	test_limits();
	test_damage();
	test_shared();
	test_rests();
	(void) printf("# %d round trips and damages, %d wrong\n", ntests, nfailed);
	return nfailed > 0;
}
