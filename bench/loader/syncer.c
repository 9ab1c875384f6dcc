/*
 * syncer.c
 *		One history syncer: a connection that stores batches.
 *
 * Follows Zabbix 6.0 and 7.0 step by step.  A batch is one transaction with an
 * INSERT for each value type.  After 23505 it is rolled back, the batch's keys
 * are looked up outside a transaction, and the batch is written again without
 * the values found.  After 40P01 or a lost connection the syncer reconnects and
 * repeats the whole transaction.  After any other error the batch is lost.
 */
#include "syncer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* attempts to connect, 0.2 s apart, before the program ends */
#define MAX_CONNECT_ATTEMPTS 300

typedef enum Outcome
{
	OUTCOME_COMMITTED,
	OUTCOME_DUPLICATE,
	OUTCOME_RETRY,				/* deadlock or lost connection */
	OUTCOME_LOST
} Outcome;

/* Ends the program with an error. */
static void __attribute__((noreturn))
fail(const char *what, const char *message)
{
	fprintf(stderr, "loader: %s: %s\n", what, message);
	exit(1);
}

/* Seconds since 1970, the same for all programs. */
double
syncer_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec + now.tv_nsec * 1e-9;
}

/* Connects; tries again while the server restarts. */
static void
syncer_connect(Syncer *syncer)
{
	struct timespec pause = {.tv_nsec = 200000000};

	for (int attempt = 0; attempt < MAX_CONNECT_ATTEMPTS; attempt++)
	{
		syncer->connection = syncer->driver->connect(syncer->dsn,
													 &syncer->server_pid);
		if (syncer->connection != NULL)
			return;
		nanosleep(&pause, NULL);
	}
	fail("could not connect", syncer->driver->message(NULL));
}

/* Prepares a syncer and connects it. */
void
syncer_init(Syncer *syncer, const Driver *driver, const char *dsn, int batch)
{
	memset(syncer, 0, sizeof(*syncer));
	syncer->driver = driver;
	syncer->dsn = dsn;
	syncer->values = malloc(sizeof(Value) * batch);
	if (syncer->values == NULL)
		fail("loader", "out of memory");
	syncer_connect(syncer);
}

/* Resets all counts but those of errors, after the warm-up. */
void
syncer_reset_counts(Syncer *syncer)
{
	Counts		kept = {.lost = syncer->counts.lost};

	memcpy(kept.errors, syncer->counts.errors, sizeof(kept.errors));
	syncer->counts = kept;
	syncer->sample_count = 0;
}

/* Disconnects. */
void
syncer_close(Syncer *syncer)
{
	syncer->driver->disconnect(syncer->connection);
	free(syncer->values);
	free(syncer->samples);
}

/* Counts errors of one SQLSTATE. */
static void
count_error(Counts *counts, const char *sqlstate, long count)
{
	for (int i = 0; i < SYNCER_MAX_STATES; i++)
	{
		ErrorCount *error = &counts->errors[i];

		if (error->count == 0)
			strcpy(error->sqlstate, sqlstate);
		if (strcmp(error->sqlstate, sqlstate) == 0)
		{
			error->count += count;
			return;
		}
	}
	fail("loader", "too many kinds of error");
}

/* Adds the counts of another syncer. */
void
counts_merge(Counts *into, const Counts *from)
{
	into->values += from->values;
	into->duplicates += from->duplicates;
	into->lost += from->lost;
	into->statements += from->statements;
	into->batches += from->batches;
	for (int i = 0; i < SYNCER_MAX_STATES && from->errors[i].count > 0; i++)
		count_error(into, from->errors[i].sqlstate, from->errors[i].count);
	histogram_merge(&into->insert, &from->insert);
	histogram_merge(&into->batch, &from->batch);
}

/* Keeps one statement for the CSV. */
static void
add_sample(Syncer *syncer, double start, double latency, int rows,
		   const char *sqlstate)
{
	Sample	   *sample;

	if (!syncer->is_sampling)
		return;
	if (syncer->sample_count == syncer->sample_size)
	{
		syncer->sample_size = syncer->sample_size * 2 + 1024;
		syncer->samples = realloc(syncer->samples,
								  sizeof(Sample) * syncer->sample_size);
		if (syncer->samples == NULL)
			fail("loader", "out of memory");
	}
	sample = &syncer->samples[syncer->sample_count++];
	sample->start = start;
	sample->latency = latency;
	sample->delay = latency;
	sample->rows = rows;
	strcpy(sample->sqlstate, sqlstate);
}

/* Counts the result of a request, and prints unexpected errors. */
static void
note_state(Syncer *syncer, const char *sqlstate)
{
	if (strcmp(sqlstate, SQLSTATE_NONE) == 0)
		return;
	count_error(&syncer->counts, sqlstate, 1);
	if (strcmp(sqlstate, SQLSTATE_DUPLICATE) != 0)
		fprintf(stderr, "loader: %s",
				syncer->driver->message(syncer->connection));
}

/* Runs a command; returns its SQLSTATE, which stays in sqlstate. */
static const char *
run_command(Syncer *syncer, Command command, char *sqlstate)
{
	syncer->driver->command(syncer->connection, command, sqlstate);
	note_state(syncer, sqlstate);
	return sqlstate;
}

/* What Zabbix does after an SQLSTATE. */
static Outcome
outcome_of(const char *sqlstate)
{
	if (strcmp(sqlstate, SQLSTATE_NONE) == 0)
		return OUTCOME_COMMITTED;
	if (strcmp(sqlstate, SQLSTATE_DUPLICATE) == 0)
		return OUTCOME_DUPLICATE;
	if (strcmp(sqlstate, SQLSTATE_DEADLOCK) == 0 ||
		strcmp(sqlstate, SQLSTATE_CONNECTION) == 0)
		return OUTCOME_RETRY;
	return OUTCOME_LOST;
}

/* Writes the batch's values of one type, in as many statements as needed. */
static Outcome
write_type(Syncer *syncer, ValueType type)
{
	int			from = 0;

	while (from < syncer->count)
	{
		char		sqlstate[SQLSTATE_SIZE];
		double		start;
		double		latency;
		int			rows;

		from = syncer->driver->prepare_insert(syncer->connection, type,
											  syncer->values, syncer->count,
											  from, &rows);
		if (rows == 0)
			continue;
		start = syncer_now();
		syncer->driver->send_insert(syncer->connection, sqlstate);
		latency = syncer_now() - start;
		note_state(syncer, sqlstate);
		syncer->counts.statements++;
		histogram_add(&syncer->counts.insert, latency);
		add_sample(syncer, start, latency, rows, sqlstate);
		if (outcome_of(sqlstate) != OUTCOME_COMMITTED)
			return outcome_of(sqlstate);
	}
	return OUTCOME_COMMITTED;
}

/* Writes the batch as one transaction. */
static Outcome
write_transaction(Syncer *syncer)
{
	char		sqlstate[SQLSTATE_SIZE];
	Outcome		outcome;

	outcome = outcome_of(run_command(syncer, COMMAND_BEGIN, sqlstate));
	for (int type = 0; type < VALUE_TYPES && outcome == OUTCOME_COMMITTED;
		 type++)
		outcome = write_type(syncer, type);
	if (outcome == OUTCOME_COMMITTED)
		return outcome_of(run_command(syncer, COMMAND_COMMIT, sqlstate));
	if (syncer->driver->is_connected(syncer->connection))
		run_command(syncer, COMMAND_ROLLBACK, sqlstate);
	return outcome;
}

/* Marks the value of the batch that has this key; items are sorted. */
static void
mark_duplicate(void *argument, long itemid, int clock, int ns)
{
	Syncer	   *syncer = argument;
	int			low = 0;
	int			high = syncer->count;

	while (low < high)
	{
		int			middle = (low + high) / 2;

		if (syncer->values[middle].itemid < itemid)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < syncer->count && syncer->values[low].itemid == itemid &&
		syncer->values[low].clock == clock && syncer->values[low].ns == ns)
		syncer->values[low].is_duplicate = true;
}

/* Writes the batch without the duplicates, once. */
static Outcome
write_without_duplicates(Syncer *syncer)
{
	for (int type = 0; type < VALUE_TYPES; type++)
		syncer->driver->find_keys(syncer->connection, type, syncer->values,
								  syncer->count, mark_duplicate, syncer);
	return write_transaction(syncer);
}

/* Reconnects after a deadlock or a lost connection. */
static void
reconnect(Syncer *syncer)
{
	syncer->driver->disconnect(syncer->connection);
	syncer_connect(syncer);
}

/* Counts the result of the batch. */
static void
count_batch(Syncer *syncer, Outcome outcome)
{
	long		duplicates = 0;

	for (int i = 0; i < syncer->count; i++)
		duplicates += syncer->values[i].is_duplicate;
	syncer->counts.batches++;
	syncer->counts.duplicates += duplicates;
	if (outcome != OUTCOME_COMMITTED)
	{
		syncer->counts.lost += syncer->count - duplicates;
		return;
	}
	syncer->counts.values += syncer->count - duplicates;
}

/* Writes syncer->values, with all repetitions; "due" is when it should begin. */
void
syncer_write(Syncer *syncer, double due)
{
	Outcome		outcome;
	double		delay;

	syncer->first_of_batch = syncer->sample_count;
	while ((outcome = write_transaction(syncer)) == OUTCOME_RETRY)
		reconnect(syncer);
	if (outcome == OUTCOME_DUPLICATE)
		outcome = write_without_duplicates(syncer);
	count_batch(syncer, outcome);
	delay = syncer_now() - due;
	histogram_add(&syncer->counts.batch, delay);
	for (long i = syncer->first_of_batch; i < syncer->sample_count; i++)
		syncer->samples[i].delay = delay;
}
