/*-------------------------------------------------------------------------
 *
 * shared.c
 *	  Shared times: round trips, and vectors that do not match the segments.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "format/segment_format.h"
#include "checks.h"
#include "rows.h"
#include "shim.h"

#define MAX_TIMES 3000
#define NUMBER 4711

static const PackedKind kinds[] = {PACKED_INT, PACKED_DOUBLE, PACKED_INT};

/* the vector that find() returns */
static SharedTimes vector;
static bool is_found = true;

static bool
find(TimesSource *source, uint64 number, SharedTimes *times)
{
	*times = vector;
	return is_found && number == NUMBER;
}

static TimesSource the_source =
{
	find
};

/* Makes a vector of n rows, some of which have the same clock. */
static void
make_vector(int n)
{
	int64	   *clocks = palloc(MAX_TIMES * sizeof(int64));
	int64	   *ns = palloc(MAX_TIMES * sizeof(int64));
	int64		clock = -5000;
	int			i;

	for (i = 0; i < n; i++)
	{
		clock += random_number() % 8 == 0 ? 0 : 60;
		clocks[i] = clock;
		ns[i] = random_number() % 1000000000;
	}
	vector.number = NUMBER;
	vector.ntimes = n;
	vector.clocks = clocks;
	vector.ns = ns;
}

/* Makes an item with the vector's times: all of them, or those of a pattern. */
static void
make_item(SegmentRows *rows, int64 itemid, int pattern)
{
	int		   *places = palloc(MAX_TIMES * sizeof(int));
	int			i;

	memset(rows, 0, sizeof(*rows));
	rows->itemid = itemid;
	rows->ncolumns = lengthof(kinds);
	rows->columns = make_columns(kinds, lengthof(kinds), MAX_TIMES);
	for (i = 0; i < vector.ntimes; i++)
	{
		int			row = rows->nrows;

		if ((pattern == 1 && i % 5 == 3) ||
			(pattern == 2 && i < vector.ntimes / 2) ||
			(pattern == 3 && random_number() % 3 > 0) ||
			(pattern == 4 && i != vector.ntimes / 2))
			continue;
		places[row] = i;
		rows->columns[0].ints[row] = vector.clocks[i];
		rows->columns[1].doubles[row] = random_number() % 1000000 / 10000.0;
		rows->columns[2].ints[row] = vector.ns[i];
		rows->nrows++;
	}
	rows->shared = &vector;
	rows->places = pattern == 0 ? NULL : places;
	rows->ns_column = 2;
}

/* Items that share times, with others between them, in groups of any size. */
static void
test_items(void)
{
	static const int counts[] = {1, 2, 63, 64, 288, 1440, MAX_TIMES};
	static const int sizes[] = {150, 1000, 8060};
	SegmentRows items[12];
	PackedSize	size;
	int			c,
				s,
				i;

	times_source = &the_source;
	for (c = 0; c < lengthof(counts); c++)
	{
		for (s = 0; s < lengthof(sizes); s++)
		{
			make_vector(counts[c]);
			for (i = 0; i < lengthof(items); i++)
			{
				make_item(&items[i], i, i % 6);
				if (i % 6 == 5)
					items[i].shared = NULL;
				if (items[i].nrows == 0)
					make_item(&items[i], i, 0);
			}
			report(round_trip(items, lengthof(items), 1, sizes[s], &size),
				   "shared", sizes[s], counts[c]);
			shim_reset();
		}
	}
	/* shared times are not in a segment */
	make_vector(288);
	for (i = 0; i < lengthof(items); i++)
		make_item(&items[i], i, 0);
	report(round_trip(items, lengthof(items), 1, 8060, &size), "shared", 1, 288);
	report(size.bytes < 12 * 288 * 3 ? NULL : "times take bytes", "shared", 1,
		   288);
	times_source = NULL;
	shim_reset();
}

/* A group of one item that shares the vector. */
static uint8 *
make_group(int pattern, size_t *length)
{
	GroupWriter *writer = ZbxhistCreateGroupWriter(lengthof(kinds), 1);
	SegmentRows rows;

	make_item(&rows, 1, pattern);
	(void) ZbxhistGroupAdd(writer, &rows, 0, 100000);
	return ZbxhistGroupFinish(writer, length);
}

/* Can the given columns of a group's only segment be decoded? */
static bool
is_good(const uint8 *data, size_t length, TimesSource *source, int wanted)
{
	bool		flags[] = {(wanted & 1) != 0, (wanted & 2) != 0, (wanted & 4) != 0};
	GroupReader reader;
	SegmentRows rows;

	if (!ZbxhistOpenGroup(&reader, data, length, lengthof(kinds)))
		return false;
	reader.times = source;
	return ZbxhistDecodeSegment(&reader, 0, flags, &rows);
}

/* Changes the vector after segments were made from it. */
static void
change_vector(int change)
{
	int64	   *clocks = unconstify(int64 *, vector.clocks);
	int			n = vector.ntimes;

	is_found = change != 1;
	switch (change)
	{
		case 2:					/* without its end */
			vector.ntimes--;
			break;
		case 3:
			vector.ntimes = 0;
			break;
		case 4:					/* one more, between the others */
			memmove(&clocks[n / 2 + 1], &clocks[n / 2],
					(n - n / 2) * sizeof(int64));
			vector.ntimes++;
			break;
		case 5:					/* other clocks */
			clocks[n - 1] += 60;
			break;
		case 6:					/* not sorted */
			clocks[n / 2] = clocks[n - 1];
			break;
		case 7:
			clocks[0] = PG_INT64_MIN;
			break;
	}
}

/*
 * If a vector is missing or has changed, times are damaged, and values are not.
 * A change of rows that a segment does not have cannot be noticed.
 */
static void
test_vectors(void)
{
	int			pattern,
				change,
				wanted;

	for (pattern = 0; pattern < 4; pattern++)
	{
		for (change = 0; change < 8; change++)
		{
			size_t		length;
			uint8	   *data;

			make_vector(100);
			data = make_group(pattern, &length);
			change_vector(change);
			for (wanted = 1; wanted < 8; wanted++)
			{
				bool		result = is_good(data, length, &the_source, wanted);

				if (pattern == 0 || change < 2 || wanted == 2)
					report(result == (change == 0 || wanted == 2) ? NULL :
						   "a wrong vector is not noticed", "vector", change,
						   wanted);
			}
			is_found = true;
			report(is_good(data, length, NULL, 1) ||
				   !is_good(data, length, NULL, 2) ?
				   "shared times from nowhere" : NULL, "vector", pattern, 100);
			shim_reset();
		}
	}
}

/* A group of vectors cannot be read as one of values, nor the reverse. */
static void
test_kinds(void)
{
	GroupWriter *writer = ZbxhistCreateTimesWriter();
	PackedKind	both[] = {PACKED_INT, PACKED_INT};
	SegmentRows rows = {NUMBER, 200, 2, make_columns(both, 2, 200)};
	GroupReader reader;
	SegmentRows decoded;
	size_t		length;
	uint8	   *data;
	uint64		number;
	int64		itemid = NUMBER;
	int			i;

	for (i = 0; i < 200; i++)
	{
		rows.columns[0].ints[i] = i * 60;
		rows.columns[1].ints[i] = random_number() % 1000000000;
	}
	(void) ZbxhistGroupAdd(writer, &rows, 0, 8060);
	data = ZbxhistGroupFinish(writer, &length);
	report(ZbxhistOpenGroup(&reader, data, length, 2) ?
		   "times are opened as values" : NULL, "kind", 0, 200);
	report(ZbxhistNewerFormat(&reader) != 0 ? "a newer format" : NULL, "kind", 1,
		   200);
	report(ZbxhistOpenTimes(&reader, data, length, &itemid) &&
		   reader.nsegments == 1 && !ZbxhistHasSharedTimes(&reader, 0, &number) &&
		   ZbxhistDecodeSegment(&reader, 0, NULL, &decoded) &&
		   memcmp(decoded.columns[1].ints, rows.columns[1].ints,
				  200 * sizeof(int64)) == 0 ? NULL : "times are not read",
		   "kind", 2, 200);
	make_vector(100);
	data = make_group(0, &length);
	report(ZbxhistOpenTimes(&reader, data, length, NULL) ?
		   "values are opened as times" : NULL, "kind", 3, 100);
	report(ZbxhistOpenGroup(&reader, data, length, lengthof(kinds)) &&
		   ZbxhistHasSharedTimes(&reader, 0, &number) && number == NUMBER ? NULL :
		   "a segment does not say what it shares", "kind", 4, 100);
	shim_reset();
}

void
test_shared(void)
{
	test_items();
	test_vectors();
	test_kinds();
}
