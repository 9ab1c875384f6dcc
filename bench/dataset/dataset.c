/*
 * dataset.c
 *		Writes the values of monitored items as COPY text, in the order of time.
 *
 * Each item has a value every "interval" seconds, at the item's own second of
 * the interval, as Zabbix's pollers have it; items that depend on a master all
 * have the master's second and ns.  Every value is a pure function
 * of item and pass, so that a data set can be written day by day, and is the
 * same for every store.  Columns are those of Zabbix's tables, in their order.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_ITEMID 100000

/* of so many items in a row the first ones depend on masters */
typedef struct Masters
{
	int			items;
	int			dependents[10];	/* of each master; 0: there are no more */
} Masters;

static const Masters no_masters = {1, {0}};
static const Masters ten_a_master = {15, {10}};

/*
 * As in the templates of Zabbix 7.0, see "bench/run shared-times": of 100 items
 * 62 are dependent, 19 of them on a master of 50 or more, 25 of 20 to 49.
 */
static const Masters templates_masters = {
	320, {60, 45, 35, 18, 16, 8, 7, 5, 4}
};

typedef struct Options
{
	long		items;
	long		passes;
	long		first_pass;
	long		interval;
	long		clock;			/* of the first pass */
	bool		is_ns_constant;
	const Masters *masters;
} Options;

/* values as somebody has measured them, one file's lines */
typedef struct Series
{
	char	  **lines;
	long		count;
} Series;

static const char usage_text[] =
"dataset KIND [OPTION...] [SERIES...] writes COPY text for one of Zabbix's tables.\n"
"\n"
"  decimal              history: any number from 0 to 100 with 4 decimals\n"
"  series               history: the lines of the files SERIES, round and round\n"
"  counter              history_uint: counters that grow by 16 to 1 million a value\n"
"  state                history_str: a short text that seldom changes\n"
"  text                 history_text: some lines of program output\n"
"  log                  history_log: lines of a log\n"
"\n"
"  --items=N            (1000)\n"
"  --passes=N           values an item (288)\n"
"  --first-pass=N       go on there (0)\n"
"  --interval=N         seconds between two values of an item (300)\n"
"  --clock=N            time of pass 0 (1795132800)\n"
"  --ns-constant        ns is 0, as with many senders, instead of random\n"
"  --dependents         10 of 15 items depend on a master, and have its clock and ns\n"
"  --templates          198 of 320 items depend on masters, 4 to 60 on each\n";

static Series *series_list;
static int	series_count;

/* splitmix64's finaliser: a good 64 bit mix without state. */
static uint64_t
hash(uint64_t x)
{
	x += 0x9e3779b97f4a7c15ULL;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
	return x ^ (x >> 31);
}

/* Ends the program. */
static void __attribute__((noreturn))
fail(const char *what)
{
	fprintf(stderr, "dataset: %s\n%s", what, usage_text);
	exit(2);
}

/* Reads one series; its lines are kept for good. */
static void
read_series(const char *path, Series *series)
{
	FILE	   *file = fopen(path, "r");
	char	   *line = NULL;
	size_t		size = 0;
	ssize_t		length;

	if (file == NULL)
	{
		fprintf(stderr, "dataset: could not open \"%s\": %s\n", path,
				strerror(errno));
		exit(1);
	}
	series->lines = NULL;
	series->count = 0;
	while ((length = getline(&line, &size, file)) > 0)
	{
		if (line[length - 1] == '\n')
			line[length - 1] = '\0';
		if (series->count % 1024 == 0)
			series->lines = realloc(series->lines, sizeof(char *) *
									(series->count + 1024));
		if (series->lines == NULL)
			fail("out of memory");
		series->lines[series->count++] = strdup(line);
	}
	free(line);
	fclose(file);
	if (series->count == 0)
		fail("a series is empty");
}

/* Any number from 0 to 100 with 4 decimals. */
static void
write_decimal(long item, long pass, uint64_t random)
{
	unsigned	number = random % 1000000;

	(void) item;
	(void) pass;
	printf("%u.%04u", number / 10000, number % 10000);
}

/* An item follows one series from a place of its own. */
static void
write_series(long item, long pass, uint64_t random)
{
	const Series *series = &series_list[item % series_count];

	(void) random;
	fputs(series->lines[(hash(item) % series->count + pass) % series->count],
		  stdout);
}

/*
 * A counter grows by "slope" a value on average, by twice that at most; a
 * quarter of the items each counts events, packets, and few or many bytes.
 */
static void
write_counter(long item, long pass, uint64_t random)
{
	static const uint64_t slopes[] = {16, 1024, 65536, 1048576};
	uint64_t	slope = slopes[item % 4];

	printf("%" PRIu64, hash(item) % 1000000000 + pass * slope + random % slope);
}

/* A state holds for 16 values, then another one may follow. */
static void
write_state(long item, long pass, uint64_t random)
{
	static const char *const states[] = {
		"running", "running, degraded", "stopped", "starting up",
		"no route to host", "not supported"
	};

	(void) random;
	printf("service node%ld is %s", item % 97,
		   states[hash(item * 1000003 + pass / 16) % 6]);
}

/* Some lines of program output. */
static void
write_text(long item, long pass, uint64_t random)
{
	int			lines = 1 + random % 12;

	for (int i = 0; i < lines; i++)
		printf("eth%d: rx %" PRIu64 " tx %" PRIu64 " errors 0 dropped 0 mtu 1500\\n",
			   i, hash(item) % 1000000000 + pass * 123456 + hash(random + i) % 65536,
			   hash(item + 1) % 1000000000 + pass * 65432 + hash(random - i) % 65536);
}

/* What a log has between clock and ns: timestamp to logeventid. */
static void
write_log(long item, long pass, uint64_t random)
{
	(void) item;
	(void) pass;
	printf("0\t\t%d\thost sshd[%d]: Accepted publickey for user%d from "
		   "192.0.2.%d port %d ssh2\t0", (int) (random % 5),
		   (int) (random % 32768), (int) (random / 32768 % 50),
		   (int) (random / 65536 % 254), (int) (1024 + random / 77777 % 60000));
}

typedef void (*Writer) (long item, long pass, uint64_t random);

typedef struct Kind
{
	const char *name;
	Writer		write;
} Kind;

static const Kind kinds[] = {
	{"decimal", write_decimal},
	{"series", write_series},
	{"counter", write_counter},
	{"state", write_state},
	{"text", write_text},
	{"log", write_log},
};

/* Finds what writes a kind's values. */
static Writer
writer_of(const char *name)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(kinds[i].name, name) == 0)
			return kinds[i].write;
	fail("unrecognized kind");
}

/* Whose clock and ns an item has. */
static long
master_of(const Options *options, long item)
{
	const Masters *masters = options->masters;
	long		place = item % masters->items;
	long		first = 0;

	for (int i = 0; masters->dependents[i] > 0; i++)
	{
		if (place < first + masters->dependents[i])
			return item - place + first;
		first += masters->dependents[i];
	}
	return item;
}

/* Writes one row. */
static void
write_row(const Options *options, Writer writer, long item, long pass)
{
	long		master = master_of(options, item);
	uint64_t	ns = hash(hash(master + 1) + pass);

	printf("%ld\t%ld\t", FIRST_ITEMID + item, options->clock +
		   pass * options->interval + master % options->interval);
	writer(item, pass, hash(hash(hash(item + 1) + pass)));
	printf("\t%d\n",
		   options->is_ns_constant ? 0 : (int) (ns % 1000000000));
}

/* Writes the rows of a second: its masters' items. */
static void
write_second(const Options *options, Writer writer, long second, long pass)
{
	for (long item = second; item < options->items; item += options->interval)
		for (long next = item;
			 next < options->items && master_of(options, next) == item; next++)
			write_row(options, writer, next, pass);
}

/* Writes all rows: pass after pass, second after second. */
static void
write_rows(const Options *options, Writer writer)
{
	for (long pass = 0; pass < options->passes; pass++)
		for (long second = 0; second < options->interval; second++)
			write_second(options, writer, second, options->first_pass + pass);
	if (fflush(stdout) != 0 || ferror(stdout))
	{
		fprintf(stderr, "dataset: could not write: %s\n", strerror(errno));
		exit(1);
	}
}

/* Reads the options; the kind and the series' files stay in argv. */
static void
parse_options(int argc, char **argv, Options *options)
{
	static const struct option long_options[] = {
		{"items", required_argument, NULL, 'i'},
		{"passes", required_argument, NULL, 'p'},
		{"first-pass", required_argument, NULL, 'f'},
		{"interval", required_argument, NULL, 's'},
		{"clock", required_argument, NULL, 'c'},
		{"ns-constant", no_argument, NULL, 'n'},
		{"dependents", no_argument, NULL, 'd'},
		{"templates", no_argument, NULL, 't'},
		{NULL, 0, NULL, 0}
	};
	int			option;

	while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1)
	{
		long	   *number = option == 'i' ? &options->items :
			option == 'p' ? &options->passes :
			option == 'f' ? &options->first_pass :
			option == 's' ? &options->interval :
			option == 'c' ? &options->clock : NULL;

		if (option == 'n')
			options->is_ns_constant = true;
		else if (option == 'd')
			options->masters = &ten_a_master;
		else if (option == 't')
			options->masters = &templates_masters;
		else if (number != NULL)
			*number = atol(optarg);
		else
			fail("unrecognized option");
	}
	if (options->items < 1 || options->passes < 0 || options->interval < 1)
		fail("items and interval are at least 1");
}

int
main(int argc, char **argv)
{
	Options		options = {
		.items = 1000, .passes = 288, .interval = 300, .clock = 1795132800,
		.masters = &no_masters
	};
	Writer		writer;

	parse_options(argc, argv, &options);
	if (optind >= argc)
		fail("a kind is needed");
	writer = writer_of(argv[optind]);
	series_count = argc - optind - 1;
	series_list = calloc(series_count + 1, sizeof(Series));
	if (series_list == NULL)
		fail("out of memory");
	for (int i = 0; i < series_count; i++)
		read_series(argv[optind + 1 + i], &series_list[i]);
	if (writer == write_series && series_count == 0)
		fail("series needs files");
	write_rows(&options, writer);
	return 0;
}
