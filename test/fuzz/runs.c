/*-------------------------------------------------------------------------
 *
 * runs.c
 *	  Runs are written and read, and what reading makes of damaged ones.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>
#include <time.h>

#include "utils/memutils.h"

#include "packed/format/run.h"
#include "checks.h"
#include "rows.h"
#include "shim.h"

#define NCOLUMNS 5

static const PackedKind kinds[NCOLUMNS] = {
	PACKED_INT, PACKED_INT, PACKED_DOUBLE, PACKED_UNSIGNED, PACKED_BYTES
};

/* how rows look */
typedef enum Shape
{
	SHAPE_ZABBIX,				/* as a server writes them */
	SHAPE_SAME,					/* all alike but for their itemids */
	SHAPE_SHARED,				/* many have the time of the row before */
	SHAPE_MERGED,				/* some rows of each item, one after the other */
	SHAPE_EXTREME,				/* any bits at all */
	NSHAPES
} Shape;

/* A number of the extremes, or any. */
static uint64
extreme_number(void)
{
	static const uint64 numbers[] = {
		0, 1, PG_INT64_MAX, (uint64) PG_INT64_MIN, PG_UINT64_MAX
	};
	uint64		which = random_number() % 8;

	return which < lengthof(numbers) ? numbers[which] : random_number();
}

static int
compare_numbers(const void *a, const void *b)
{
	int64		x = *(const int64 *) a;
	int64		y = *(const int64 *) b;

	return (x > y) - (x < y);
}

/* Fills the sorted itemids of rows. */
static void
make_itemids(RunRows *rows, Shape shape)
{
	int			i;

	rows->itemids = palloc(rows->nrows * sizeof(int64));
	for (i = 0; i < rows->nrows; i++)
		rows->itemids[i] = shape == SHAPE_EXTREME ? (int64) extreme_number() :
			10000 + (int64) (random_number() %
							 (shape == SHAPE_MERGED ? rows->nrows / 7 + 1 : 30000));
	qsort(rows->itemids, rows->nrows, sizeof(int64), compare_numbers);
}

/* Fills the clock and ns of a row. */
static void
make_time(RunRows *rows, int i, Shape shape)
{
	int64	   *clocks = rows->columns[0].ints;
	int64	   *ns = rows->columns[1].ints;
	bool		is_same_item = i > 0 && rows->itemids[i] == rows->itemids[i - 1];

	if (i > 0 && (shape == SHAPE_SAME ||
				  (shape == SHAPE_SHARED && random_number() % 4 > 0)))
	{
		clocks[i] = clocks[i - 1];
		ns[i] = ns[i - 1];
		return;
	}
	clocks[i] = shape == SHAPE_EXTREME ? (int32) extreme_number() :
		1700000000 + (int64) (random_number() % 3);
	ns[i] = shape == SHAPE_EXTREME ? (int64) extreme_number() :
		(int64) (random_number() % 1000000000);
	if (is_same_item && clocks[i] <= clocks[i - 1])
	{
		clocks[i] = clocks[i - 1];
		ns[i] = Max(ns[i], ns[i - 1]);
	}
}

/* Fills the values of a row. */
static void
make_values(RunRows *rows, int i, Shape shape)
{
	static const char letters[] = "any bytes\0that there are, and some more";
	PackedBytes *bytes = &rows->columns[4].bytes[i];
	uint64		number = shape == SHAPE_EXTREME ? extreme_number() :
		shape == SHAPE_SAME ? 7 : random_number() % 1000000;

	rows->columns[3].unsigneds[i] = number;
	rows->columns[2].doubles[i] = number / 100.0;
	if (shape == SHAPE_EXTREME)
		memcpy(&rows->columns[2].doubles[i], &number, sizeof(number));
	if (shape == SHAPE_EXTREME && i % 5 == 0)
		rows->columns[2].doubles[i] = i % 2 == 0 ? NAN : -0.0;
	bytes->data = letters;
	bytes->len = shape == SHAPE_SAME ? 9 : random_number() % sizeof(letters);
}

/* Makes n rows; with nulls in all columns but the clock, if is_nullable. */
static void
make_rows(RunRows *rows, int n, Shape shape, bool is_nullable)
{
	int			i,
				column;

	rows->nrows = n;
	rows->ncolumns = NCOLUMNS;
	rows->columns = make_columns(kinds, NCOLUMNS, n);
	make_itemids(rows, shape);
	for (i = 0; i < n; i++)
	{
		make_time(rows, i, shape);
		make_values(rows, i, shape);
	}
	for (column = 2; is_nullable && column < NCOLUMNS; column++)
	{
		rows->columns[column].nulls = palloc(n * sizeof(bool));
		for (i = 0; i < n; i++)
			rows->columns[column].nulls[i] = random_number() % column == 0;
	}
}

/* Compares what was read with the rows from `from` on. */
static const char *
compare_run(const RunRows *rows, int from, const RunRows *read)
{
	int			i,
				column;

	for (i = 0; i < read->nrows; i++)
	{
		if (rows->itemids[from + i] != read->itemids[i])
			return "an itemid has changed";
		for (column = 0; column < rows->ncolumns; column++)
			if (!same_value(&rows->columns[column], from + i,
							&read->columns[column], i))
				return "a value has changed";
	}
	return NULL;
}

/* Compares the keys alone. */
static const char *
compare_keys(const RunRows *rows, int from, int n, const uint8 *data,
			 size_t length)
{
	static const bool wanted[NCOLUMNS] = {true, true};
	static const bool none[NCOLUMNS] = {false};
	RunRows		keys;
	size_t		size = n * sizeof(int64);

	if (!ZbxhistDecodeRun(data, length, rows->ncolumns, wanted, NULL, &keys))
		return "keys cannot be read";
	if (keys.nrows != n || keys.nall != n ||
		memcmp(keys.itemids, rows->itemids + from, size) != 0 ||
		memcmp(keys.columns[0].ints, rows->columns[0].ints + from, size) != 0 ||
		memcmp(keys.columns[1].ints, rows->columns[1].ints + from, size) != 0)
		return "keys have changed";
	if (!ZbxhistDecodeRun(data, length, rows->ncolumns, none, NULL, &keys) ||
		keys.columns[0].ints == NULL || keys.columns[1].ints != NULL)
		return "keys without ns cannot be read";
	return NULL;
}

/* Reads the rows of one item, of which some may be in the run. */
static const char *
compare_item(const RunRows *rows, int from, int n, int64 itemid,
			 const uint8 *data, size_t length)
{
	RunRows		read;
	int			first = from;
	int			end;

	while (first < from + n && rows->itemids[first] < itemid)
		first++;
	for (end = first; end < from + n && rows->itemids[end] == itemid;)
		end++;
	if (!ZbxhistDecodeRun(data, length, rows->ncolumns, NULL, &itemid, &read))
		return "an item's rows cannot be read";
	if (read.nall != n || read.nrows != end - first ||
		(read.nrows > 0 && read.first != first - from))
		return "an item's rows are others";
	return compare_run(rows, first, &read);
}

/* Reads some items: the first, the last, and about twenty that may be there. */
static const char *
compare_items(const RunRows *rows, int from, int n, const uint8 *data,
			  size_t length)
{
	const char *error = NULL;
	int			step = n / 20 + 1;
	int			i;

	for (i = from; i < from + n && error == NULL; i += step)
	{
		error = compare_item(rows, from, n, rows->itemids[i], data, length);
		/* these may wrap around */
		if (error == NULL)
			error = compare_item(rows, from, n,
								 (int64) ((uint64) rows->itemids[i] + 1),
								 data, length);
		if (error == NULL)
			error = compare_item(rows, from, n,
								 (int64) ((uint64) rows->itemids[i] - 1),
								 data, length);
	}
	if (error == NULL)
		error = compare_item(rows, from, n, rows->itemids[from + n - 1], data,
							 length);
	return error;
}

/* Writes rows as runs of up to max_size, reads these and compares. */
static const char *
run_trip(const RunRows *rows, size_t max_size)
{
	int			from = 0;

	while (from < rows->nrows)
	{
		uint8	   *data;
		size_t		length;
		int			n = ZbxhistEncodeRun(rows, from, max_size, &data, &length);
		RunRows		read;
		const char *error;

		if (n < 1 || n > rows->nrows - from)
			return "no row is written, or too many";
		if (length > max_size && n > 1)
			return "a run is too large";
		if (!ZbxhistDecodeRun(data, length, rows->ncolumns, NULL, NULL, &read) ||
			read.nrows != n)
			return "a run cannot be read";
		error = compare_run(rows, from, &read);
		if (error == NULL)
			error = compare_keys(rows, from, n, data, length);
		if (error == NULL)
			error = compare_items(rows, from, n, data, length);
		if (error != NULL)
			return error;
		from += n;
	}
	return NULL;
}

static void
test_round_trips(void)
{
	static const int counts[] = {1, 2, 10, 1000, 5000, RUN_MAX_ROWS + 3};
	static const size_t sizes[] = {1, 500, 8160, MaxAllocSize};
	int			i,
				j;

	for (i = 0; i < lengthof(counts) * NSHAPES * 2; i++)
	{
		int			n = counts[i / 2 / NSHAPES];
		RunRows		rows;

		make_rows(&rows, n, i / 2 % NSHAPES, i % 2 == 1);
		for (j = 0; j < lengthof(sizes); j++)
		{
			if (n > sizes[j] || (n > 5000 && sizes[j] < MaxAllocSize))
				continue;
			report(run_trip(&rows, sizes[j]), "run", i, n);
		}
		shim_reset();
	}
}

/* Every bit that is damaged, and every end that is missing, is noticed. */
static void
test_damaged_runs(void)
{
	RunRows		rows;
	RunRows		read;
	uint8	   *data,
			   *copy;
	size_t		length,
				i;

	make_rows(&rows, 40, SHAPE_SHARED, true);
	(void) ZbxhistEncodeRun(&rows, 0, MaxAllocSize, &data, &length);
	copy = malloc(length);
	memcpy(copy, data, length);
	for (i = 0; i < length * 8; i++)
	{
		copy[i / 8] ^= 1 << i % 8;
		report(ZbxhistDecodeRun(copy, length, NCOLUMNS, NULL, NULL, &read) ||
			   ZbxhistDecodeRun(copy, length, NCOLUMNS, NULL, &rows.itemids[17],
								&read) ?
			   "damage is not noticed" : NULL, "bit of a run", i, 0);
		copy[i / 8] ^= 1 << i % 8;
	}
	for (i = 0; i < length; i++)
	{
		uint8	   *part = malloc(i + 1);

		memcpy(part, copy, i);
		report(ZbxhistDecodeRun(part, i, NCOLUMNS, NULL, NULL, &read) ||
			   ZbxhistDecodeRun(part, i, NCOLUMNS, NULL, &rows.itemids[17],
								&read) ?
			   "a run without its end is read" : NULL, "length of a run", i, 0);
		free(part);
	}
	for (i = 0; i < 8; i++)
		report(ZbxhistDecodeRun(copy, length, i, NULL, NULL, &read) == (i == NCOLUMNS) ?
			   NULL : "the number of columns does not count", "columns", i, 0);
	copy[2] = 5;
	report(ZbxhistNewerRunFormat(copy, length) == 5 &&
		   ZbxhistNewerRunFormat(data, length) == 0 ? NULL :
		   "a newer format is not told", "version of a run", 0, 0);
	free(copy);
	shim_reset();
}

/* Rows that are not sorted are not read. */
static void
test_run_order(void)
{
	int			i;

	for (i = 0; i < 3; i++)
	{
		RunRows		rows;
		RunRows		read;
		uint8	   *data;
		size_t		length;
		bool		is_read;

		make_rows(&rows, 3, SHAPE_SAME, false);
		memset(rows.itemids, 0, 3 * sizeof(int64));
		rows.itemids[1] = i == 1 ? -1 : 0;
		rows.columns[0].ints[1] += i == 2 ? -1 : 0;
		(void) ZbxhistEncodeRun(&rows, 0, MaxAllocSize, &data, &length);
		is_read = ZbxhistDecodeRun(data, length, NCOLUMNS, NULL, NULL, &read);
		report(is_read == (i == 0) ? NULL : "the order does not count",
			   "order of a run", i, 3);
		shim_reset();
	}
}

/* A large string is alone, and does not make the runs of others small. */
static void
test_large_row(void)
{
	static const int counts[] = {50, 1, 49};
	RunRows		rows;
	size_t		large = 1024 * 1024;
	int			from = 0;
	int			i;

	make_rows(&rows, 100, SHAPE_SAME, false);
	rows.columns[4].bytes[50].data = palloc0(large);
	rows.columns[4].bytes[50].len = large;
	for (i = 0; i < lengthof(counts); i++)
	{
		uint8	   *data;
		size_t		length;
		int			n = ZbxhistEncodeRun(&rows, from, 8160, &data, &length);

		report(n == counts[i] ? NULL : "it is not alone", "large row", i, n);
		from += n;
	}
	report(run_trip(&rows, 8160), "large row", 0, 100);
	shim_reset();
}

/* Prints what a statement of so many floats comes to. */
static void
show_size(int n)
{
	clock_t		start;
	RunRows		rows;
	uint8	   *data;
	size_t		length;
	size_t		total = 0;
	int			from,
				i;

	make_rows(&rows, n, SHAPE_ZABBIX, false);
	rows.ncolumns = 3;
	for (i = 0; i < n; i++)
		rows.columns[2].doubles[i] = rows.itemids[i] % 5 == 0 ?
			(double) (random_number() % 3) :
			rows.itemids[i] % 5 == 1 ? random_number() % 1000000000 * 4096.0 :
			(double) (random_number() % 1000000) / 10000;
	start = clock();
	for (from = 0; from < n; total += length)
		from += ZbxhistEncodeRun(&rows, from, 8160, &data, &length);
	(void) printf("# a statement of %d floats: %.2f bytes a value, %.0f ns\n",
				  n, (double) total / n,
				  (double) (clock() - start) / CLOCKS_PER_SEC * 1e9 / n);
	shim_reset();
}

void
test_runs(void)
{
	test_round_trips();
	test_damaged_runs();
	test_run_order();
	test_large_row();
	show_size(10);
	show_size(100);
	show_size(1000);
}
