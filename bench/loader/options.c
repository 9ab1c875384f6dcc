/*
 * options.c
 *		The command line.
 */
#include "options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage_text[] =
"loader sends what Zabbix's history syncers send, and measures it.\n"
"\n"
"  --driver=NAME        postgres or mariadb (postgres)\n"
"  --dsn=STRING         libpq connection string; mariadb: SOCKET:DATABASE\n"
"  --connections=N      syncers, each with a connection of its own (1)\n"
"  --values=N           values to send, rounded up to a whole batch\n"
"  --seconds=N          or how long to send\n"
"  --rate=N             offer N values a second (open loop); 0: as fast as it goes (0)\n"
"  --warmup=N           values sent first and not counted (0)\n"
"\n"
"  --items=N            monitored items (30000)\n"
"  --batch=N            values a batch, at most 1000 in Zabbix (1000)\n"
"  --mix=NAME           float, uint, str, text, log, or zabbix: all of them (float)\n"
"  --first-itemid=N     the first item's id (100000)\n"
"  --clock=N            simulated time of the stream's first pass over the items\n"
"  --step=N             simulated seconds a pass over all items takes (60)\n"
"  --spread=N           spread the clocks of a batch over so many seconds back, as proxies do (1)\n"
"  --first-pass=N       start at this pass of the stream (0)\n"
"  --seed=N             another stream (1)\n"
"\n"
"  --csv=FILE           a line a statement: start, latency, rows, due to commit, SQLSTATE\n"
"  --handshake          print {\"event\": \"ready\"} after the warm-up and {\"event\": \"done\"}\n"
"                       after the run, and wait for a line on standard input after each\n"
"  --pause-passes=N     with --handshake: print {\"event\": \"pause\"} after each N passes of\n"
"                       the run but the last, and wait for a line there, too\n"
"  --digest             no server: print rows and checksum of --values of the stream\n"
"  --read-back          print rows and checksum of what is stored\n"
"  --copy               no server: write float values to standard output as COPY text,\n"
"                       sorted by item\n"
"  --by-pass            with --copy: in the order of time instead\n"
"\n"
"SIGINT or SIGTERM ends the run early, with its result.\n";

enum
{
	OPT_DSN = 256, OPT_CONNECTIONS, OPT_VALUES, OPT_SECONDS, OPT_RATE,
	OPT_WARMUP, OPT_ITEMS, OPT_BATCH, OPT_MIX, OPT_FIRST_ITEMID, OPT_CLOCK,
	OPT_STEP, OPT_FIRST_PASS, OPT_SEED, OPT_CSV, OPT_HANDSHAKE,
	OPT_COPY, OPT_BY_PASS, OPT_DRIVER, OPT_DIGEST, OPT_READ_BACK,
	OPT_PAUSE_PASSES, OPT_SPREAD, OPT_HELP
};

static const struct option long_options[] = {
	{"dsn", required_argument, NULL, OPT_DSN},
	{"connections", required_argument, NULL, OPT_CONNECTIONS},
	{"values", required_argument, NULL, OPT_VALUES},
	{"seconds", required_argument, NULL, OPT_SECONDS},
	{"rate", required_argument, NULL, OPT_RATE},
	{"warmup", required_argument, NULL, OPT_WARMUP},
	{"items", required_argument, NULL, OPT_ITEMS},
	{"batch", required_argument, NULL, OPT_BATCH},
	{"mix", required_argument, NULL, OPT_MIX},
	{"first-itemid", required_argument, NULL, OPT_FIRST_ITEMID},
	{"clock", required_argument, NULL, OPT_CLOCK},
	{"step", required_argument, NULL, OPT_STEP},
	{"spread", required_argument, NULL, OPT_SPREAD},
	{"first-pass", required_argument, NULL, OPT_FIRST_PASS},
	{"seed", required_argument, NULL, OPT_SEED},
	{"csv", required_argument, NULL, OPT_CSV},
	{"handshake", no_argument, NULL, OPT_HANDSHAKE},
	{"copy", no_argument, NULL, OPT_COPY},
	{"by-pass", no_argument, NULL, OPT_BY_PASS},
	{"driver", required_argument, NULL, OPT_DRIVER},
	{"digest", no_argument, NULL, OPT_DIGEST},
	{"read-back", no_argument, NULL, OPT_READ_BACK},
	{"pause-passes", required_argument, NULL, OPT_PAUSE_PASSES},
	{"help", no_argument, NULL, OPT_HELP},
	{NULL, 0, NULL, 0}
};

/* Ends the program because of a wrong option. */
static void __attribute__((noreturn))
fail(const char *message)
{
	fprintf(stderr, "loader: %s\nTry \"loader --help\".\n", message);
	exit(2);
}

/* Reads a whole number. */
static long
parse_number(const char *string)
{
	char	   *end;
	long		number = strtol(string, &end, 10);

	if (*string == '\0' || *end != '\0')
		fail("an option needs a whole number");
	return number;
}

static const char *const mix_names[] = {
	[MIX_FLOAT] = "float", [MIX_STR] = "str", [MIX_LOG] = "log",
	[MIX_UINT] = "uint", [MIX_TEXT] = "text", [MIX_ZABBIX] = "zabbix"
};

/* Reads the name of a mix of value types. */
static Mix
parse_mix(const char *name)
{
	for (int mix = 0; mix <= MIX_ZABBIX; mix++)
		if (strcmp(name, mix_names[mix]) == 0)
			return (Mix) mix;
	fail("there is no --mix of that name");
}

/* Sets an option of the stream; false if it is none. */
static bool
parse_stream_option(int option, StreamOptions *stream)
{
	switch (option)
	{
		case OPT_ITEMS:
			stream->items = parse_number(optarg);
			return true;
		case OPT_BATCH:
			stream->batch = parse_number(optarg);
			return true;
		case OPT_MIX:
			stream->mix = parse_mix(optarg);
			return true;
		case OPT_FIRST_ITEMID:
			stream->first_itemid = parse_number(optarg);
			return true;
		case OPT_CLOCK:
			stream->clock = parse_number(optarg);
			return true;
		case OPT_STEP:
			stream->step = parse_number(optarg);
			return true;
		case OPT_SPREAD:
			stream->spread = parse_number(optarg);
			return true;
		case OPT_SEED:
			stream->seed = parse_number(optarg);
			return true;
		default:
			return false;
	}
}

/* Finds a driver. */
static const Driver *
parse_driver(const char *name)
{
	const Driver *driver = driver_by_name(name);

	if (driver == NULL)
		fail("there is no driver of that name, or it was not built");
	return driver;
}

/* Sets an option that chooses what is done; false if it is none. */
static bool
parse_mode_option(int option, Options *options)
{
	switch (option)
	{
		case OPT_HANDSHAKE:
			options->handshake = true;
			return true;
		case OPT_PAUSE_PASSES:
			options->pause_passes = parse_number(optarg);
			return true;
		case OPT_COPY:
			options->copy = true;
			return true;
		case OPT_BY_PASS:
			options->by_pass = true;
			return true;
		case OPT_DIGEST:
			options->digest = true;
			return true;
		case OPT_READ_BACK:
			options->read_back = true;
			return true;
		case OPT_HELP:
			fputs(usage_text, stdout);
			exit(0);
		default:
			return false;
	}
}

/* Sets an option of the run. */
static void
parse_run_option(int option, Options *options)
{
	switch (option)
	{
		case OPT_DSN:
			options->dsn = optarg;
			break;
		case OPT_CSV:
			options->csv = optarg;
			break;
		case OPT_CONNECTIONS:
			options->connections = parse_number(optarg);
			break;
		case OPT_VALUES:
			options->values = parse_number(optarg);
			break;
		case OPT_SECONDS:
			options->seconds = atof(optarg);
			break;
		case OPT_RATE:
			options->rate = atof(optarg);
			break;
		case OPT_WARMUP:
			options->warmup = parse_number(optarg);
			break;
		case OPT_FIRST_PASS:
			options->first_pass = parse_number(optarg);
			break;
		case OPT_DRIVER:
			options->driver = parse_driver(optarg);
			break;
		default:
			fail("unrecognized option");
	}
}

/* Ends the program if a value is out of range, or an option lacks another one. */
static void
check_options(const Options *options)
{
	const StreamOptions *stream = &options->stream;

	if (stream->items < 1 || stream->batch < 1 || stream->step < 1 ||
		stream->spread < 1 || options->connections < 1)
		fail("items, batch, step, spread and connections are at least 1");
	if (options->values <= 0 && options->seconds <= 0 && !options->read_back)
		fail("--values or --seconds must be given");
	if ((options->copy || options->digest) && options->values <= 0)
		fail("--copy and --digest need --values");
	if (options->pause_passes < 0 ||
		(options->pause_passes > 0 && (options->values <= 0 || !options->handshake)))
		fail("--pause-passes needs --values and --handshake");
}

/* Reads the command line; ends the program if it is wrong. */
void
options_parse(int argc, char **argv, Options *options)
{
	int			option;

	*options = (Options)
	{
		.stream =
		{
			.seed = 1, .items = 30000, .first_itemid = 100000,
				.clock = 1795219200, .step = 60, .spread = 1,
				.batch = 1000, .mix = MIX_FLOAT
		},
			.driver = &driver_postgres, .dsn = "", .connections = 1
	};
	while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1)
	{
		if (!parse_stream_option(option, &options->stream) &&
			!parse_mode_option(option, options))
			parse_run_option(option, options);
	}
	if (optind < argc)
		fail("unexpected argument");
	check_options(options);
}
