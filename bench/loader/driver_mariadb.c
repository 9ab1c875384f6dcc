/*
 * driver_mariadb.c
 *		Sends statements to MariaDB as Zabbix does: by the C client, with the
 *		same text as for PostgreSQL.  Error codes become PostgreSQL's SQLSTATEs.
 *
 * The target is SOCKET:DATABASE.  The session differs from Zabbix's in one
 * setting, NO_BACKSLASH_ESCAPES, so strings are written as for PostgreSQL.
 */
#include "driver.h"

#include <mysql.h>
#include <mysqld_error.h>
#include <errmsg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

/* of the benchmark's private server, without a password */
#define USER "root"

typedef struct Mariadb
{
	MYSQL	   *connection;
	bool		is_connected;
	Text		text;
} Mariadb;

/* why the last connect of this thread failed */
static __thread char connect_message[512];

static const char *const command_texts[] = {
	[COMMAND_BEGIN] = "begin;",
	[COMMAND_COMMIT] = "commit;",
	[COMMAND_ROLLBACK] = "rollback;"
};

/* The thread id in the server; 0 if it is not known. */
static int
thread_id(MYSQL *connection)
{
	MYSQL_RES  *result;
	MYSQL_ROW	row;
	int			id = 0;

	if (mysql_query(connection, "select tid from information_schema.processlist"
					" where id=connection_id()") != 0)
		return 0;
	result = mysql_store_result(connection);
	if (result != NULL && (row = mysql_fetch_row(result)) != NULL)
		id = atoi(row[0]);
	mysql_free_result(result);
	return id;
}

/* Connects and sets up the session. */
static bool
open_session(MYSQL *connection, const char *target)
{
	const char *colon = strrchr(target, ':');
	char		socket[256];

	if (colon == NULL)
		return false;
	snprintf(socket, sizeof(socket), "%.*s", (int) (colon - target), target);
	return mysql_real_connect(connection, NULL, USER, NULL, colon + 1, 0,
							  socket, CLIENT_MULTI_STATEMENTS) != NULL &&
		mysql_set_character_set(connection, "utf8mb4") == 0 &&
		mysql_autocommit(connection, 1) == 0 &&
		mysql_query(connection, "set session sql_mode="
					"concat(@@sql_mode,',NO_BACKSLASH_ESCAPES')") == 0;
}

static void *
mariadb_open(const char *target, int *server_pid)
{
	MYSQL	   *connection = mysql_init(NULL);
	Mariadb    *mariadb;

	if (!open_session(connection, target))
	{
		snprintf(connect_message, sizeof(connect_message), "%s\n",
				 mysql_error(connection));
		mysql_close(connection);
		return NULL;
	}
	mariadb = calloc(1, sizeof(Mariadb));
	mariadb->connection = connection;
	mariadb->is_connected = true;
	text_reset(&mariadb->text);
	*server_pid = thread_id(connection);
	return mariadb;
}

static void
mariadb_disconnect(void *connection)
{
	Mariadb    *mariadb = connection;

	mysql_close(mariadb->connection);
	free(mariadb->text.data);
	free(mariadb);
}

static bool
mariadb_is_connected(void *connection)
{
	return ((Mariadb *) connection)->is_connected;
}

static const char *
mariadb_message(void *connection)
{
	static __thread char line[600];

	if (connection == NULL)
		return connect_message;
	snprintf(line, sizeof(line), "%s\n",
			 mysql_error(((Mariadb *) connection)->connection));
	return line;
}

/* PostgreSQL's SQLSTATE for the server's last error. */
static const char *
translated_state(Mariadb *mariadb)
{
	switch (mysql_errno(mariadb->connection))
	{
		case 0:
			return SQLSTATE_NONE;
		case ER_DUP_ENTRY:
			return SQLSTATE_DUPLICATE;
		case ER_LOCK_DEADLOCK:
		case ER_LOCK_WAIT_TIMEOUT:
			return SQLSTATE_DEADLOCK;
		case CR_SERVER_GONE_ERROR:
		case CR_SERVER_LOST:
			mariadb->is_connected = false;
			return SQLSTATE_CONNECTION;
		default:
			return mysql_sqlstate(mariadb->connection);
	}
}

/* Runs a text, which returns no rows. */
static void
execute(Mariadb *mariadb, const char *sql, size_t length, char *sqlstate)
{
	mysql_real_query(mariadb->connection, sql, length);
	snprintf(sqlstate, SQLSTATE_SIZE, "%s", translated_state(mariadb));
}

static void
mariadb_command(void *connection, Command command, char *sqlstate)
{
	execute(connection, command_texts[command],
			strlen(command_texts[command]), sqlstate);
}

static int
mariadb_prepare_insert(void *connection, ValueType type, const Value *values,
					   int count, int from, int *rows)
{
	return text_insert(&((Mariadb *) connection)->text, type, values, count,
					   from, rows);
}

static void
mariadb_send_insert(void *connection, char *sqlstate)
{
	Mariadb    *mariadb = connection;

	/* without the newline, which would be a second, empty statement */
	execute(mariadb, mariadb->text.data, mariadb->text.length - 2, sqlstate);
}

/* Sends the prepared text; rows are received one by one. */
static MYSQL_RES *
query(Mariadb *mariadb)
{
	if (mysql_real_query(mariadb->connection, mariadb->text.data,
						 mariadb->text.length) != 0)
	{
		fprintf(stderr, "loader: %s\n", mysql_error(mariadb->connection));
		return NULL;
	}
	return mysql_use_result(mariadb->connection);
}

static void
mariadb_find_keys(void *connection, ValueType type, const Value *values,
				  int count, KeyCallback callback, void *argument)
{
	Mariadb    *mariadb = connection;
	MYSQL_RES  *result;
	MYSQL_ROW	row;

	text_select_keys(&mariadb->text, type, values, count);
	if (mariadb->text.length == 0 || (result = query(mariadb)) == NULL)
		return;
	while ((row = mysql_fetch_row(result)) != NULL)
		callback(argument, atol(row[0]), atoi(row[1]), atoi(row[2]));
	mysql_free_result(result);
}

static bool
mariadb_read_back(void *connection, ValueType type, Digest *digest)
{
	Mariadb    *mariadb = connection;
	MYSQL_RES  *result;
	MYSQL_ROW	row;

	text_select_all(&mariadb->text, type);
	result = query(mariadb);
	if (result == NULL)
		return false;
	while ((row = mysql_fetch_row(result)) != NULL)
		digest_fields(digest, type, row, mysql_fetch_lengths(result));
	mysql_free_result(result);
	return mysql_errno(mariadb->connection) == 0;
}

const Driver driver_mariadb = {
	.name = "mariadb",
	.connect = mariadb_open,
	.disconnect = mariadb_disconnect,
	.is_connected = mariadb_is_connected,
	.message = mariadb_message,
	.command = mariadb_command,
	.prepare_insert = mariadb_prepare_insert,
	.send_insert = mariadb_send_insert,
	.find_keys = mariadb_find_keys,
	.read_back = mariadb_read_back
};
