/*
 * loader.c
 *		Sends what Zabbix's history syncers send, and measures it.
 *
 * Each connection has a thread.  The threads take batches from one stream
 * (stream.c), as Zabbix's syncers take them from the history cache.  The
 * warm-up uses the same connections and stream, so the first statements of a
 * connection are not measured.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "offline.h"
#include "options.h"
#include "syncer.h"

/* shared by the threads of a phase */
typedef struct Phase
{
	const Options *options;
	const Stream *stream;
	long		next_batch;		/* incremented atomically */
	long		first_batch;
	long		end_batch;		/* the first batch after this phase */
	double		started;
	double		seconds;		/* 0: no limit but end_batch */
	double		rate;			/* values per second, 0: no waiting */
} Phase;

typedef struct Thread
{
	pthread_t	id;
	Phase	   *phase;
	Syncer		syncer;
} Thread;

/* set by SIGINT and SIGTERM: finish the batches under way, then report */
static volatile sig_atomic_t stop_requested = 0;

/* Asks the threads to end. */
static void
request_stop(int signal_number)
{
	(void) signal_number;
	stop_requested = 1;
}

/* Ends the program. */
static void __attribute__((noreturn))
fail(const char *message)
{
	fprintf(stderr, "loader: %s\n", message);
	exit(1);
}

/* Sleeps until a point of wall clock time. */
static void
sleep_until(double when)
{
	struct timespec until;

	until.tv_sec = (time_t) when;
	until.tv_nsec = (long) ((when - (double) until.tv_sec) * 1e9);
	clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &until, NULL);
}

/* When a batch is due: now, or according to the offered rate. */
static double
batch_due(const Phase *phase, long batch)
{
	long		index = batch - phase->first_batch;

	if (phase->rate <= 0)
		return syncer_now();
	return phase->started +
		index * phase->stream->options.batch / phase->rate;
}

/* Takes the next batch; false if the phase is over. */
static bool
take_batch(Phase *phase, long *batch)
{
	*batch = __atomic_fetch_add(&phase->next_batch, 1, __ATOMIC_RELAXED);
	if (*batch >= phase->end_batch || stop_requested)
		return false;
	if (phase->seconds <= 0)
		return true;
	return batch_due(phase, *batch) < phase->started + phase->seconds;
}

/* A thread: batch after batch. */
static void *
run_syncer(void *argument)
{
	Thread	   *thread = argument;
	Phase	   *phase = thread->phase;
	Syncer	   *syncer = &thread->syncer;
	long		batch;

	while (take_batch(phase, &batch))
	{
		double		due = batch_due(phase, batch);

		syncer->count = stream_batch(phase->stream, batch, syncer->values);
		if (phase->rate > 0)
			sleep_until(due);
		syncer_write(syncer, due);
	}
	return NULL;
}

/* Runs one phase on all connections; returns how long it took. */
static double
run_phase(Thread *threads, Phase *phase)
{
	int			connections = phase->options->connections;

	phase->next_batch = phase->first_batch;
	phase->started = syncer_now();
	for (int i = 0; i < connections; i++)
	{
		threads[i].phase = phase;
		if (pthread_create(&threads[i].id, NULL, run_syncer, &threads[i]) != 0)
			fail("could not start a thread");
	}
	for (int i = 0; i < connections; i++)
		pthread_join(threads[i].id, NULL);
	return syncer_now() - phase->started;
}

/* The number of batches for a number of values. */
static long
batches_for(const Stream *stream, long values)
{
	long		passes = values / stream->options.items;
	long		rest = values % stream->options.items;

	return passes * stream->batches_per_pass +
		(rest + stream->options.batch - 1) / stream->options.batch;
}

/* Prints the server's processes or threads of the connections, if known. */
static void
print_pids(const Thread *threads, int connections)
{
	const char *separator = "";

	printf("\"pids\": [");
	for (int i = 0; i < connections; i++)
	{
		if (threads[i].syncer.server_pid == 0)
			continue;
		printf("%s%d", separator, threads[i].syncer.server_pid);
		separator = ", ";
	}
	printf("]");
}

/* With --handshake: waits until the caller has read its counters. */
static void
wait_for_caller(const Options *options)
{
	char		line[16];

	fflush(stdout);
	if (options->handshake && fgets(line, sizeof(line), stdin) == NULL)
		fail("the caller went away");
}

/* Prints the number of failed statements by SQLSTATE. */
static void
print_errors(const Counts *counts)
{
	printf("\"failed\": {");
	for (int i = 0; i < SYNCER_MAX_STATES && counts->errors[i].count > 0; i++)
		printf("%s\"%s\": %ld", i > 0 ? ", " : "",
			   counts->errors[i].sqlstate, counts->errors[i].count);
	printf("}");
}

/* Prints the result as one line of JSON. */
static void
print_result(const Thread *threads, int connections, double seconds)
{
	Counts	   *total = calloc(1, sizeof(Counts));

	if (total == NULL)
		fail("out of memory");
	for (int i = 0; i < connections; i++)
		counts_merge(total, &threads[i].syncer.counts);
	printf("{\"event\": \"done\", \"values\": %ld, \"seconds\": %.6f, "
		   "\"values_per_second\": %.1f, \"batches\": %ld, "
		   "\"statements\": %ld, \"duplicates\": %ld, \"lost\": %ld, ",
		   total->values, seconds, total->values / seconds, total->batches,
		   total->statements, total->duplicates, total->lost);
	print_errors(total);
	printf(", ");
	print_pids(threads, connections);
	printf(", \"insert_ms\": ");
	histogram_print_json(&total->insert, stdout);
	printf(", \"batch_ms\": ");
	histogram_print_json(&total->batch, stdout);
	printf("}\n");
	free(total);
}

/* Writes a line for each statement. */
static void
write_csv(const char *path, const Thread *threads, int connections)
{
	FILE	   *file = fopen(path, "w");

	if (file == NULL)
		fail("could not create the CSV file");
	fputs("connection,start,latency_ms,rows,delay_ms,sqlstate\n", file);
	for (int i = 0; i < connections; i++)
	{
		const Syncer *syncer = &threads[i].syncer;

		for (long s = 0; s < syncer->sample_count; s++)
			fprintf(file, "%d,%.6f,%.3f,%d,%.3f,%s\n", i,
					syncer->samples[s].start,
					syncer->samples[s].latency * 1e3,
					syncer->samples[s].rows, syncer->samples[s].delay * 1e3,
					syncer->samples[s].sqlstate);
	}
	if (fclose(file) != 0)
		fail("could not write the CSV file");
}

/* Connects all syncers. */
static Thread *
connect_syncers(const Options *options)
{
	Thread	   *threads = calloc(options->connections, sizeof(Thread));

	if (threads == NULL)
		fail("out of memory");
	for (int i = 0; i < options->connections; i++)
		syncer_init(&threads[i].syncer, options->driver, options->dsn,
					options->stream.batch);
	return threads;
}

/* Runs the warm-up, then resets its counts. */
static void
warm_up(Thread *threads, Phase *phase)
{
	const Options *options = phase->options;

	run_phase(threads, phase);
	for (int i = 0; i < options->connections; i++)
	{
		syncer_reset_counts(&threads[i].syncer);
		threads[i].syncer.is_sampling = options->csv != NULL;
	}
	if (!options->handshake)
		return;
	printf("{\"event\": \"ready\", ");
	print_pids(threads, options->connections);
	printf("}\n");
	wait_for_caller(options);
}

/*
 * Runs a number of batches, with the pauses of the options; returns the time
 * without the pauses.
 */
static double
run_batches(Thread *threads, Phase *phase, long end_batch)
{
	long		step = phase->options->pause_passes *
		phase->stream->batches_per_pass;
	double		seconds = 0;

	while (step > 0 && phase->first_batch + step < end_batch && !stop_requested)
	{
		phase->end_batch = phase->first_batch + step;
		seconds += run_phase(threads, phase);
		phase->first_batch = phase->end_batch;
		printf("{\"event\": \"pause\"}\n");
		wait_for_caller(phase->options);
	}
	phase->end_batch = end_batch;
	return seconds + run_phase(threads, phase);
}

/* Runs and reports the measured part. */
static void
measure(Thread *threads, Phase *phase, long end_batch)
{
	const Options *options = phase->options;
	double		seconds;

	phase->seconds = options->seconds;
	phase->rate = options->rate;
	seconds = run_batches(threads, phase, end_batch);
	print_result(threads, options->connections, seconds);
	wait_for_caller(options);
	if (options->csv != NULL)
		write_csv(options->csv, threads, options->connections);
}

/* Warm-up and measured run, from one connect to one disconnect. */
static void
run(const Options *options, const Stream *stream)
{
	Thread	   *threads = connect_syncers(options);
	Phase		phase = {.options = options, .stream = stream};

	phase.first_batch = options->first_pass * stream->batches_per_pass;
	phase.end_batch = phase.first_batch + batches_for(stream, options->warmup);
	warm_up(threads, &phase);
	phase.first_batch = phase.end_batch;
	measure(threads, &phase, options->values > 0 ?
			phase.first_batch + batches_for(stream, options->values) : INT64_MAX);
	for (int i = 0; i < options->connections; i++)
		syncer_close(&threads[i].syncer);
	free(threads);
}

/* Reads all rows from the server, and prints their digest. */
static void
read_back(const Options *options)
{
	const Driver *driver = options->driver;
	Syncer		syncer;
	Digest		digest = {0};

	syncer_init(&syncer, driver, options->dsn, 1);
	for (int type = 0; type < VALUE_TYPES; type++)
		if (stream_has_type(&options->stream, type) &&
			!driver->read_back(syncer.connection, type, &digest))
			fail(driver->message(syncer.connection));
	digest_print(&digest);
	syncer_close(&syncer);
}

int
main(int argc, char **argv)
{
	Options		options;
	Stream		stream;

	options_parse(argc, argv, &options);
	stream_init(&stream, &options.stream);
	signal(SIGINT, request_stop);
	signal(SIGTERM, request_stop);
	if (options.copy)
		offline_copy(&options, &stream);
	else if (options.digest)
		offline_digest(&options, &stream);
	else if (options.read_back)
		read_back(&options);
	else
		run(&options, &stream);
	free(stream.order);
	return 0;
}
