/*
 * driver_postgres.c
 *		Sends statements to PostgreSQL as Zabbix does: by libpq, one at a time.
 */
#include "driver.h"

#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

typedef struct Postgres
{
	PGconn	   *connection;
	Text		text;
} Postgres;

/* why the last connect of this thread failed */
static __thread char connect_message[512];

/* Zabbix's session settings, and what it asks at the beginning. */
static const char *const set_up[] = {
	"set escape_string_warning to off",
	"set extra_float_digits to 3",
	"show standard_conforming_strings",
	"show default_transaction_read_only",
	"select pg_is_in_recovery()",
	"set bytea_output=escape"
};

static const char *const command_texts[] = {
	[COMMAND_BEGIN] = "begin;",
	[COMMAND_COMMIT] = "commit;",
	[COMMAND_ROLLBACK] = "rollback;"
};

/* Sends Zabbix's settings; false if one is refused. */
static bool
send_set_up(PGconn *connection)
{
	bool		done = PQstatus(connection) == CONNECTION_OK;

	for (size_t i = 0; i < sizeof(set_up) / sizeof(set_up[0]) && done; i++)
	{
		PGresult   *result = PQexec(connection, set_up[i]);
		ExecStatusType status = PQresultStatus(result);

		done = status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
		PQclear(result);
	}
	return done;
}

static void *
postgres_connect(const char *target, int *server_pid)
{
	PGconn	   *connection = PQconnectdb(target);
	Postgres   *postgres;

	if (!send_set_up(connection))
	{
		snprintf(connect_message, sizeof(connect_message), "%s",
				 PQerrorMessage(connection));
		PQfinish(connection);
		return NULL;
	}
	postgres = calloc(1, sizeof(Postgres));
	postgres->connection = connection;
	text_reset(&postgres->text);
	*server_pid = PQbackendPID(connection);
	return postgres;
}

static void
postgres_disconnect(void *connection)
{
	Postgres   *postgres = connection;

	PQfinish(postgres->connection);
	free(postgres->text.data);
	free(postgres);
}

static bool
postgres_is_connected(void *connection)
{
	return PQstatus(((Postgres *) connection)->connection) == CONNECTION_OK;
}

static const char *
postgres_message(void *connection)
{
	if (connection == NULL)
		return connect_message;
	return PQerrorMessage(((Postgres *) connection)->connection);
}

/*
 * Runs a command and sets the SQLSTATE.  Like Zabbix it expects
 * PGRES_COMMAND_OK, so a command rewritten as a SELECT is an error.
 */
static void
execute(Postgres *postgres, const char *sql, char *sqlstate)
{
	PGresult   *result = PQexec(postgres->connection, sql);
	const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);

	if (PQresultStatus(result) == PGRES_COMMAND_OK)
		state = SQLSTATE_NONE;
	else if (PQstatus(postgres->connection) != CONNECTION_OK)
		state = SQLSTATE_CONNECTION;
	else if (state == NULL)
		state = SQLSTATE_OTHER;
	snprintf(sqlstate, SQLSTATE_SIZE, "%s", state);
	PQclear(result);
}

static void
postgres_command(void *connection, Command command, char *sqlstate)
{
	execute(connection, command_texts[command], sqlstate);
}

static int
postgres_prepare_insert(void *connection, ValueType type, const Value *values,
						int count, int from, int *rows)
{
	return text_insert(&((Postgres *) connection)->text, type, values, count,
					   from, rows);
}

static void
postgres_send_insert(void *connection, char *sqlstate)
{
	execute(connection, ((Postgres *) connection)->text.data, sqlstate);
}

static void
postgres_find_keys(void *connection, ValueType type, const Value *values,
				   int count, KeyCallback callback, void *argument)
{
	Postgres   *postgres = connection;
	PGresult   *result;

	text_select_keys(&postgres->text, type, values, count);
	if (postgres->text.length == 0)
		return;
	result = PQexec(postgres->connection, postgres->text.data);
	if (PQresultStatus(result) != PGRES_TUPLES_OK)
		fprintf(stderr, "loader: %s", PQerrorMessage(postgres->connection));
	for (int i = 0; i < PQntuples(result); i++)
		callback(argument, atol(PQgetvalue(result, i, 0)),
				 atoi(PQgetvalue(result, i, 1)),
				 atoi(PQgetvalue(result, i, 2)));
	PQclear(result);
}

/* Adds the one row of a result in single-row mode. */
static void
digest_row(const PGresult *result, ValueType type, Digest *digest)
{
	char	   *fields[6];
	size_t		lengths[6];

	for (int i = 0; i < PQnfields(result); i++)
	{
		fields[i] = PQgetvalue(result, 0, i);
		lengths[i] = PQgetlength(result, 0, i);
	}
	digest_fields(digest, type, fields, lengths);
}

static bool
postgres_read_back(void *connection, ValueType type, Digest *digest)
{
	Postgres   *postgres = connection;
	PGresult   *result;
	bool		done = true;

	text_select_all(&postgres->text, type);
	if (PQsendQuery(postgres->connection, postgres->text.data) == 0)
		return false;
	PQsetSingleRowMode(postgres->connection);
	while ((result = PQgetResult(postgres->connection)) != NULL)
	{
		if (PQresultStatus(result) == PGRES_SINGLE_TUPLE)
			digest_row(result, type, digest);
		else
			done = done && PQresultStatus(result) == PGRES_TUPLES_OK;
		PQclear(result);
	}
	return done;
}

const Driver driver_postgres = {
	.name = "postgres",
	.connect = postgres_connect,
	.disconnect = postgres_disconnect,
	.is_connected = postgres_is_connected,
	.message = postgres_message,
	.command = postgres_command,
	.prepare_insert = postgres_prepare_insert,
	.send_insert = postgres_send_insert,
	.find_keys = postgres_find_keys,
	.read_back = postgres_read_back
};
