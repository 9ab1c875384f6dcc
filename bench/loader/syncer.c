/*
 * syncer.c
 *		One history syncer: a connection, and a batch at a time through it.
 *
 * Follows Zabbix 6.0 and 7.0 step by step.  A batch is one transaction with
 * an INSERT a value type.  23505: roll back, look the batch's keys up outside
 * a transaction, leave out those found and write the rest once more.  40P01
 * or a lost connection: connect anew and replay the whole transaction.
 * Anything else: the batch is lost.
 */
#include "syncer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SQLSTATE_DUPLICATE "23505"
#define SQLSTATE_DEADLOCK "40P01"
#define SQLSTATE_NONE "00000"
#define SQLSTATE_CONNECTION "08006"

/* how often a connection is tried, 0.2 s apart, before the run is given up */
#define MAX_CONNECT_ATTEMPTS 300

typedef enum Outcome
{
	OUTCOME_COMMITTED,
	OUTCOME_DUPLICATE,
	OUTCOME_RETRY,				/* deadlock or lost connection */
	OUTCOME_LOST
} Outcome;

/* Ends the program: the benchmark cannot go on. */
static void __attribute__((noreturn))
fail(const char *what, const char *message)
{
	fprintf(stderr, "loader: %s: %s\n", what, message);
	exit(1);
}

/* Wall clock time in seconds: comparable between programs. */
double
syncer_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec + now.tv_nsec * 1e-9;
}

/* Sends one set-up statement, which must succeed. */
static void
set_up(PGconn *connection, const char *sql)
{
	PGresult   *result = PQexec(connection, sql);
	ExecStatusType status = PQresultStatus(result);

	if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
		fail(sql, PQerrorMessage(connection));
	PQclear(result);
}

/* Connects as Zabbix does, its session settings included. */
static bool
try_connect(Syncer *syncer)
{
	syncer->connection = PQconnectdb(syncer->dsn);
	if (PQstatus(syncer->connection) != CONNECTION_OK)
		return false;
	set_up(syncer->connection, "set escape_string_warning to off");
	set_up(syncer->connection, "set extra_float_digits to 3");
	set_up(syncer->connection, "show standard_conforming_strings");
	set_up(syncer->connection, "show default_transaction_read_only");
	set_up(syncer->connection, "select pg_is_in_recovery()");
	set_up(syncer->connection, "set bytea_output=escape");
	syncer->backend_pid = PQbackendPID(syncer->connection);
	return true;
}

/* Connects, and keeps trying: a server that restarts is waited for. */
static void
syncer_connect(Syncer *syncer)
{
	struct timespec pause = {.tv_nsec = 200000000};

	for (int attempt = 0; attempt < MAX_CONNECT_ATTEMPTS; attempt++)
	{
		if (try_connect(syncer))
			return;
		if (attempt + 1 < MAX_CONNECT_ATTEMPTS)
			PQfinish(syncer->connection);
		nanosleep(&pause, NULL);
	}
	fail("could not connect", PQerrorMessage(syncer->connection));
}

/* Prepares a syncer and connects it. */
void
syncer_init(Syncer *syncer, const char *dsn, int batch)
{
	memset(syncer, 0, sizeof(*syncer));
	syncer->dsn = dsn;
	syncer->values = malloc(sizeof(Value) * batch);
	if (syncer->values == NULL)
		fail("loader", "out of memory");
	text_reset(&syncer->text);
	syncer_connect(syncer);
}

/* Forgets what was counted: the warm-up is over. */
void
syncer_reset_counts(Syncer *syncer)
{
	memset(&syncer->counts, 0, sizeof(syncer->counts));
	syncer->sample_count = 0;
}

/* Disconnects. */
void
syncer_close(Syncer *syncer)
{
	PQfinish(syncer->connection);
	free(syncer->values);
	free(syncer->text.data);
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

/* Adds what another syncer counted. */
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

/*
 * Runs the text that lies ready; returns the SQLSTATE.  Like Zabbix it wants
 * PGRES_COMMAND_OK of a command: a rewrite into a SELECT would be an error.
 */
static const char *
execute(Syncer *syncer, const char *sql, char *sqlstate)
{
	PGresult   *result = PQexec(syncer->connection, sql);
	const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);

	if (PQresultStatus(result) == PGRES_COMMAND_OK)
		state = SQLSTATE_NONE;
	else if (PQstatus(syncer->connection) != CONNECTION_OK)
		state = SQLSTATE_CONNECTION;
	else if (state == NULL)
		state = "XX000";
	strncpy(sqlstate, state, 5);
	sqlstate[5] = '\0';
	if (strcmp(state, SQLSTATE_NONE) != 0)
	{
		count_error(&syncer->counts, sqlstate, 1);
		if (strcmp(state, SQLSTATE_DUPLICATE) != 0)
			fprintf(stderr, "loader: %s", PQerrorMessage(syncer->connection));
	}
	PQclear(result);
	return sqlstate;
}

/* What Zabbix does about an SQLSTATE. */
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
		char		sqlstate[6];
		double		start;
		double		latency;
		int			rows;

		from = text_insert(&syncer->text, type, syncer->values, syncer->count,
						   from, &rows);
		if (rows == 0)
			continue;
		start = syncer_now();
		execute(syncer, syncer->text.data, sqlstate);
		latency = syncer_now() - start;
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
	char		sqlstate[6];
	Outcome		outcome;

	outcome = outcome_of(execute(syncer, "begin;", sqlstate));
	for (int type = 0; type < VALUE_TYPES && outcome == OUTCOME_COMMITTED;
		 type++)
		outcome = write_type(syncer, type);
	if (outcome == OUTCOME_COMMITTED)
		return outcome_of(execute(syncer, "commit;", sqlstate));
	if (PQstatus(syncer->connection) == CONNECTION_OK)
		execute(syncer, "rollback;", sqlstate);
	return outcome;
}

/* Marks the value of the batch that has this key; items are sorted. */
static void
mark_duplicate(Syncer *syncer, long itemid, int clock, int ns)
{
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

/* Looks up which of the batch's values of one type are stored already. */
static void
find_duplicates(Syncer *syncer, ValueType type)
{
	PGresult   *result;

	text_select_keys(&syncer->text, type, syncer->values, syncer->count);
	if (syncer->text.length == 0)
		return;
	result = PQexec(syncer->connection, syncer->text.data);
	if (PQresultStatus(result) != PGRES_TUPLES_OK)
		fprintf(stderr, "loader: %s", PQerrorMessage(syncer->connection));
	for (int i = 0; i < PQntuples(result); i++)
		mark_duplicate(syncer, atol(PQgetvalue(result, i, 0)),
					   atoi(PQgetvalue(result, i, 1)),
					   atoi(PQgetvalue(result, i, 2)));
	PQclear(result);
}

/* Writes the batch without the duplicates, once. */
static Outcome
write_without_duplicates(Syncer *syncer)
{
	for (int type = 0; type < VALUE_TYPES; type++)
		find_duplicates(syncer, type);
	return write_transaction(syncer);
}

/* Connects anew after a deadlock or a lost connection. */
static void
reconnect(Syncer *syncer)
{
	PQfinish(syncer->connection);
	syncer_connect(syncer);
}

/* Counts what became of the batch. */
static void
count_batch(Syncer *syncer, Outcome outcome)
{
	long		duplicates = 0;

	for (int i = 0; i < syncer->count; i++)
		duplicates += syncer->values[i].is_duplicate;
	syncer->counts.batches++;
	syncer->counts.duplicates += duplicates;
	if (outcome == OUTCOME_COMMITTED)
		syncer->counts.values += syncer->count - duplicates;
	else
		syncer->counts.lost += syncer->count - duplicates;
}

/* Writes syncer->values, whatever it takes; "due" is when that should start. */
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
