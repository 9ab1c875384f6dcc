/*-------------------------------------------------------------------------
 *
 * sizes.c
 *	  Prints the size of packed values, and how long packing takes.
 *
 * Groups are as large as a page has room for; "on disk" counts whole pages.
 * An item has 288 values a day, one in five minutes.  Usage:
 *
 *		sizes DIRECTORY			with a file of values for each series
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <dirent.h>
#include <math.h>

#include "format/segment.h"
#include "rows.h"
#include "shim.h"

#define PAGE 8092
#define DAY 288
#define MAX_DAYS 512

/* how a series is made */
typedef enum Series
{
	DECIMALS, WALK, FULL_PRECISION, CONSTANT_DOUBLE, STATES, COUNTER, GAUGE,
	STEADY_COUNTER, TICKS, STRINGS, LINES, FROM_FILE
} Series;

static const char *const names[] = {
	"4 decimals, random", "4 decimals, walk", "doubles, random",
	"doubles, constant", "uint, 0 or 1", "uint, counter of bytes",
	"uint, gauge", "uint, steady counter", "uint, clock ticks",
	"strings, repeated", "log lines"
};

static const PackedKind kinds[] = {
	PACKED_DOUBLE, PACKED_DOUBLE, PACKED_DOUBLE, PACKED_DOUBLE,
	PACKED_UNSIGNED, PACKED_UNSIGNED, PACKED_UNSIGNED, PACKED_UNSIGNED,
	PACKED_UNSIGNED, PACKED_BYTES, PACKED_BYTES, PACKED_DOUBLE
};

static uint64 state = UINT64CONST(88172645463325252);

static uint64
random_number(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

/* Makes a value of a series; *last is the one before. */
static void
make_value(Series series, PackedColumn *column, int row, double *last)
{
	char		line[120];

	switch (series)
	{
		case DECIMALS:
			column->doubles[row] = (random_number() % 1000000) / 10000.0;
			break;
		case WALK:
			*last += ((double) (random_number() % 2001) - 1000) / 10000;
			column->doubles[row] = round(*last * 10000) / 10000;
			break;
		case FULL_PRECISION:
			column->doubles[row] = random_number() / 18446744073709551616.0;
			break;
		case CONSTANT_DOUBLE:
			column->doubles[row] = 3.14159;
			break;
		case STATES:
			column->unsigneds[row] = random_number() % 20 > 0;
			break;
		case COUNTER:
			*last += random_number() % 40000;
			column->unsigneds[row] = UINT64CONST(123456789012) + *last;
			break;
		case GAUGE:
			column->unsigneds[row] = (4096 + random_number() % 800) * 4096;
			break;
		case STEADY_COUNTER:
			column->unsigneds[row] = UINT64CONST(123456789) +
				(row + 1) * UINT64CONST(65536) + random_number() % 65536;
			break;
		case TICKS:
			column->unsigneds[row] = UINT64CONST(900000000) + row * 30000;
			break;
		case STRINGS:
			column->bytes[row].data = random_number() % 30 > 0 ?
				"Running, no error has been found" : "Stopped";
			column->bytes[row].len = strlen(column->bytes[row].data);
			break;
		default:
			column->bytes[row].len =
				snprintf(line, sizeof(line), "sshd[%d]: Accepted publickey for "
						 "user%d from 10.1.%d.%d port %d ssh2",
						 (int) (random_number() % 30000),
						 (int) (random_number() % 40),
						 (int) (random_number() % 4),
						 (int) (random_number() % 256),
						 (int) (random_number() % 60000));
			column->bytes[row].data = memcpy(palloc(sizeof(line)), line,
											 sizeof(line));
	}
}

/* Makes a day of an item, which has a value at the same second of each five minutes. */
static void
make_day(SegmentRows *rows, Series series, int item, const double *values,
		 int n, bool has_ns)
{
	PackedKind	column_kinds[] = {PACKED_INT, PACKED_INT, kinds[series]};
	double		last = 50;
	int			i;

	memset(rows, 0, sizeof(*rows));
	rows->itemid = 30000 + item;
	rows->nrows = n;
	rows->ncolumns = 3;
	rows->columns = make_columns(column_kinds, 3, n);
	for (i = 0; i < n; i++)
	{
		rows->columns[0].ints[i] = 1700006400 + item * 7 % 300 +
			(int64) i * 86400 / n;
		rows->columns[1].ints[i] = has_ns ? random_number() % 1000000000 : 0;
		if (values != NULL)
			rows->columns[2].doubles[i] = values[i];
		else
			make_value(series, &rows->columns[2], i, &last);
	}
}

/* Packs days and prints a line. */
static int
print_sizes(const char *name, const SegmentRows *days, int ndays, bool has_ns)
{
	PackedSize	size;
	const char *error = round_trip(days, ndays, 2, PAGE, &size);
	double		nrows = 0;
	int			i;

	for (i = 0; i < ndays; i++)
		nrows += days[i].nrows;
	(void) printf("# %-28s %-8s %7.2f %7.2f %7.0f %7.0f\n", name,
				  has_ns ? "random" : "constant", size.bytes / nrows,
				  size.ngroups * 8192.0 / nrows,
				  size.encode_seconds * 1e9 / nrows,
				  size.decode_seconds * 1e9 / nrows);
	if (error != NULL)
		(void) printf("# %s\n", error);
	return error != NULL;
}

/* Packs a day of many items of a made-up series, n values of each. */
static int
measure_series(const char *name, Series series, int n, bool has_ns)
{
	static SegmentRows days[300];
	int			result;
	int			i;

	for (i = 0; i < lengthof(days); i++)
		make_day(&days[i], series, i, NULL, n, has_ns);
	result = print_sizes(name, days, lengthof(days), has_ns);
	shim_reset();
	return result;
}

/* Reads a file of values into days; returns how many. */
static int
read_days(const char *path, SegmentRows *days, int ndays, bool has_ns)
{
	FILE	   *file = fopen(path, "r");
	double		values[DAY];
	char		line[100];
	int			n = 0;

	while (file != NULL && ndays < MAX_DAYS &&
		   fgets(line, sizeof(line), file) != NULL)
	{
		char	   *end;

		values[n] = strtod(line, &end);
		if (end == line)
			break;
		if (++n == DAY)
		{
			make_day(&days[ndays], FROM_FILE, ndays, values, n, has_ns);
			ndays++;
			n = 0;
		}
	}
	if (file != NULL)
		(void) fclose(file);
	return ndays;
}

/* Packs the series of all files in a directory, whole days only. */
static int
measure_directory(const char *path, bool has_ns, bool is_verbose)
{
	static SegmentRows days[MAX_DAYS];
	struct dirent *entry;
	DIR		   *directory = opendir(path);
	char		file[1100];
	int			ndays = 0;
	int			before = 0;
	int			result;

	while (directory != NULL && (entry = readdir(directory)) != NULL)
	{
		if (strstr(entry->d_name, ".txt") == NULL)
			continue;
		(void) snprintf(file, sizeof(file), "%s/%s", path, entry->d_name);
		ndays = read_days(file, days, ndays, has_ns);
		if (is_verbose && ndays > before)
			(void) print_sizes(entry->d_name, days + before, ndays - before,
							   has_ns);
		before = ndays;
	}
	if (directory != NULL)
		(void) closedir(directory);
	if (ndays == 0)
		return 0;
	result = print_sizes("metrics of servers", days, ndays, has_ns);
	shim_reset();
	return result;
}

int
main(int argc, char **argv)
{
	int			failed = 0;
	int			series;

	(void) printf("# %-28s %-8s %15s %15s\n", "", "", "bytes a value",
				  "ns a value");
	(void) printf("# %-28s %-8s %7s %7s %7s %7s\n", "values", "ns",
				  "groups", "on disk", "packing", "reading");
	for (series = DECIMALS; series < FROM_FILE; series++)
	{
		failed += measure_series(names[series], series, DAY, true);
		failed += measure_series(names[series], series, DAY, false);
	}
	failed += measure_series("4 decimals, one a minute", DECIMALS, 1440, true);
	failed += measure_series("4 decimals, one an hour", DECIMALS, 24, true);
	failed += measure_series("4 decimals, one a day", DECIMALS, 1, true);
	if (argc > 1)
	{
		failed += measure_directory(argv[1], true, argc > 2);
		failed += measure_directory(argv[1], false, false);
	}
	return failed > 0;
}
