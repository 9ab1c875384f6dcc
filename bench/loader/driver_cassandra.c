/*
 * driver_cassandra.c
 *		Cassandra: prepared INSERTs, asynchronous or one by one.
 *
 * "cassandra" does as the documentation advises: prepared statements, many
 * requests under way, and no multi-partition batches, so every value of a
 * batch is a request of its own, all of them are sent before the first answer
 * is awaited.  "cassandra-sync" waits for each answer, as HistoryGluon did.
 * The target is HOST:PORT/KEYSPACE.
 *
 * Cassandra has neither transactions nor duplicates: a second INSERT of a key
 * replaces the first, and a batch that failed in part can be sent again.
 */
#include "driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cql.h"
#include "text.h"

#define CONSISTENCY_ONE 1
#define FLAG_VALUES 0x01
#define FLAG_PAGE_SIZE 0x04
#define FLAG_PAGING_STATE 0x08
#define PAGE_SIZE 5000

/* of a result's metadata */
#define METADATA_GLOBAL_TABLE 0x01
#define METADATA_MORE_PAGES 0x02

/* errors that a repetition cannot cure: of syntax, rights, configuration */
#define ERROR_FIRST_FINAL 0x2000
#define ERROR_LAST_FINAL 0x2400
#define ERROR_UNPREPARED 0x2500

#define SECONDS_A_DAY 86400
#define MAX_ID 64

typedef struct TypeTable
{
	const char *table;
	const char *more;			/* columns after "value" */
	int			more_count;
} TypeTable;

static const TypeTable tables[VALUE_TYPES] = {
	[VALUE_FLOAT] = {"history", "", 0},
	[VALUE_STR] = {"history_str", "", 0},
	[VALUE_LOG] = {"history_log", ",timestamp,severity,source,logeventid", 4},
	[VALUE_UINT] = {"history_uint", "", 0},
	[VALUE_TEXT] = {"history_text", "", 0},
};

typedef struct Cassandra
{
	CqlConnection cql;
	char		keyspace[64];
	bool		one_by_one;
	unsigned char ids[VALUE_TYPES][MAX_ID];
	int			id_lengths[VALUE_TYPES];
	CqlBuffer	requests;
	size_t	   *ends;			/* where each request ends */
	int			count;			/* of requests */
	ValueType	type;			/* of all of them */
	bool		is_unprepared;	/* the server has forgotten the statement */
	int			capacity;
} Cassandra;

/* why the last connect of this thread failed */
static __thread char connect_message[512];

/* Splits HOST:PORT/KEYSPACE, and connects. */
static bool
open_target(Cassandra *cassandra, const char *target)
{
	char		host[128];
	char		port[16];

	if (sscanf(target, "%127[^:]:%15[^/]/%63s", host, port,
			   cassandra->keyspace) != 3)
	{
		cassandra->cql.socket = -1;
		strcpy(cassandra->cql.message, "the target is HOST:PORT/KEYSPACE\n");
		return false;
	}
	return cql_open(&cassandra->cql, host, port);
}

static void
cassandra_disconnect(void *connection)
{
	Cassandra  *cassandra = connection;

	cql_close(&cassandra->cql);
	free(cassandra->requests.data);
	free(cassandra->ends);
	free(cassandra);
}

static void *
cassandra_connect(const char *target, int *server_pid)
{
	Cassandra  *cassandra = calloc(1, sizeof(Cassandra));

	*server_pid = 0;
	if (open_target(cassandra, target))
		return cassandra;
	snprintf(connect_message, sizeof(connect_message), "%s",
			 cassandra->cql.message);
	cassandra_disconnect(cassandra);
	return NULL;
}

static void *
cassandra_connect_sync(const char *target, int *server_pid)
{
	Cassandra  *cassandra = cassandra_connect(target, server_pid);

	if (cassandra != NULL)
		cassandra->one_by_one = true;
	return cassandra;
}

static bool
cassandra_is_connected(void *connection)
{
	return ((Cassandra *) connection)->cql.is_open;
}

static const char *
cassandra_message(void *connection)
{
	if (connection == NULL)
		return connect_message;
	return ((Cassandra *) connection)->cql.message;
}

/* There are no transactions. */
static void
cassandra_command(void *connection, Command command, char *sqlstate)
{
	(void) connection;
	(void) command;
	strcpy(sqlstate, SQLSTATE_NONE);
}

/* Prepares a type's INSERT once a connection; false when it is refused. */
static bool
prepare_type(Cassandra *cassandra, ValueType type)
{
	CqlConnection *cql = &cassandra->cql;
	CqlFrame	frame;
	char		text[300];
	size_t		start;

	if (cassandra->id_lengths[type] > 0)
		return true;
	snprintf(text, sizeof(text), "INSERT INTO %s.%s (itemid,day,clock,ns,value%s)"
			 " VALUES (?,?,?,?,?%s)", cassandra->keyspace, tables[type].table,
			 tables[type].more, tables[type].more_count > 0 ? ",?,?,?,?" : "");
	start = cql_begin_frame(&cql->out, CQL_PREPARE, 0);
	cql_put_long_string(&cql->out, text);
	cql_end_frame(&cql->out, start);
	if (!cql_send(cql) || !cql_receive(cql, &frame) ||
		frame.opcode != CQL_RESULT)
		return false;
	cql_get_int(&frame);		/* the kind: prepared */
	cassandra->id_lengths[type] = cql_get_short(&frame);
	memcpy(cassandra->ids[type], frame.body, cassandra->id_lengths[type]);
	return true;
}

/* Appends a value as [bytes] of an int. */
static void
put_int_value(CqlBuffer *buffer, int number)
{
	cql_put_int(buffer, 4);
	cql_put_int(buffer, number);
}

/* Appends what follows ns. */
static void
put_value(CqlBuffer *buffer, const Value *value)
{
	char		string[TEXT_MAX_STRING];
	double		number;
	int64_t		bits;

	switch (value->type)
	{
		case VALUE_FLOAT:
			number = value_double(value);
			memcpy(&bits, &number, sizeof(bits));
			cql_put_int(buffer, 8);
			cql_put_long(buffer, bits);
			return;
		case VALUE_UINT:		/* a varint, with a zero for the sign */
			cql_put_int(buffer, 9);
			cql_put(buffer, "", 1);
			cql_put_long(buffer, (int64_t) value_uint(value));
			return;
		default:
			string[value_string(value, string)] = '\0';
			cql_put_long_string(buffer, string);
	}
	if (value->type != VALUE_LOG)
		return;
	put_int_value(buffer, value->clock);
	put_int_value(buffer, value_severity(value));
	cql_put_long_string(buffer, "");
	put_int_value(buffer, 0);
}

/* Appends the request that stores one value. */
static void
put_request(Cassandra *cassandra, const Value *value)
{
	CqlBuffer  *buffer = &cassandra->requests;
	ValueType	type = value->type;
	size_t		start = cql_begin_frame(buffer, CQL_EXECUTE, cassandra->count);

	cql_put_short(buffer, cassandra->id_lengths[type]);
	cql_put(buffer, cassandra->ids[type], cassandra->id_lengths[type]);
	cql_put_short(buffer, CONSISTENCY_ONE);
	cql_put(buffer, &(unsigned char) {FLAG_VALUES}, 1);
	cql_put_short(buffer, 5 + tables[type].more_count);
	cql_put_int(buffer, 8);
	cql_put_long(buffer, value->itemid);
	put_int_value(buffer, value->clock / SECONDS_A_DAY);
	put_int_value(buffer, value->clock);
	put_int_value(buffer, value->ns);
	put_value(buffer, value);
	cql_end_frame(buffer, start);
	cassandra->ends[cassandra->count++] = buffer->length;
}

static int
cassandra_prepare_insert(void *connection, ValueType type, const Value *values,
						 int count, int from, int *rows)
{
	Cassandra  *cassandra = connection;

	if (count > cassandra->capacity)
	{
		cassandra->capacity = count;
		cassandra->ends = realloc(cassandra->ends, sizeof(size_t) * count);
	}
	cassandra->requests.length = 0;
	cassandra->count = 0;
	cassandra->type = type;
	for (int i = from; i < count; i++)
	{
		if (values[i].type != type)
			continue;
		if (!prepare_type(cassandra, type))
		{
			*rows = count;		/* send_insert() reports it: nothing to send */
			return count;
		}
		put_request(cassandra, &values[i]);
	}
	*rows = cassandra->count;
	return count;
}

/* What an answer means, as an SQLSTATE. */
static const char *
answer_state(Cassandra *cassandra, const CqlFrame *frame)
{
	if (frame->opcode == CQL_RESULT)
		return SQLSTATE_NONE;
	if (cassandra->cql.error_code == ERROR_UNPREPARED)
		cassandra->is_unprepared = true;
	if (cassandra->cql.error_code >= ERROR_FIRST_FINAL &&
		cassandra->cql.error_code <= ERROR_LAST_FINAL)
		return SQLSTATE_OTHER;
	return SQLSTATE_DEADLOCK;	/* overload, a timeout: send it all again */
}

/* Sends the requests from first to before, and waits for their answers. */
static void
exchange(Cassandra *cassandra, int first, int before, char *sqlstate)
{
	CqlConnection *cql = &cassandra->cql;
	size_t		start = first > 0 ? cassandra->ends[first - 1] : 0;
	CqlFrame	frame;

	cql_put(&cql->out, cassandra->requests.data + start,
			cassandra->ends[before - 1] - start);
	if (!cql_send(cql))
		strcpy(sqlstate, SQLSTATE_CONNECTION);
	for (int i = first; i < before && cql->is_open; i++)
	{
		const char *state = SQLSTATE_CONNECTION;

		if (cql_receive(cql, &frame))
			state = answer_state(cassandra, &frame);
		if (strcmp(state, SQLSTATE_NONE) != 0)
			strcpy(sqlstate, state);
	}
}

/* Sends all requests, and waits for their answers. */
static void
exchange_all(Cassandra *cassandra, char *sqlstate)
{
	int			step = cassandra->one_by_one ? 1 : cassandra->count;

	strcpy(sqlstate, cassandra->count > 0 ? SQLSTATE_NONE : SQLSTATE_OTHER);
	for (int i = 0; i < cassandra->count; i += step)
		exchange(cassandra, i, i + step, sqlstate);
}

/*
 * A server forgets prepared statements, for one when any table is made.  As
 * every driver does we prepare the statement again, which gets the same id.
 */
static void
cassandra_send_insert(void *connection, char *sqlstate)
{
	Cassandra  *cassandra = connection;

	exchange_all(cassandra, sqlstate);
	if (!cassandra->is_unprepared)
		return;
	cassandra->is_unprepared = false;
	cassandra->id_lengths[cassandra->type] = 0;
	if (prepare_type(cassandra, cassandra->type))
		exchange_all(cassandra, sqlstate);
}

/* There are no duplicates. */
static void
cassandra_find_keys(void *connection, ValueType type, const Value *values,
					int count, KeyCallback callback, void *argument)
{
	(void) connection;
	(void) type;
	(void) values;
	(void) count;
	(void) callback;
	(void) argument;
}

/* Asks for a page of all rows of a type; state: of the page before. */
static bool
send_page_query(Cassandra *cassandra, ValueType type, const CqlBuffer *state)
{
	CqlBuffer  *out = &cassandra->cql.out;
	unsigned char flags = FLAG_PAGE_SIZE;
	char		text[200];
	size_t		start = cql_begin_frame(out, CQL_QUERY, 0);

	if (state->length > 0)
		flags |= FLAG_PAGING_STATE;
	snprintf(text, sizeof(text), "SELECT itemid,clock,ns,value%s FROM %s.%s",
			 type == VALUE_LOG ? ",timestamp,severity" : "",
			 cassandra->keyspace, tables[type].table);
	cql_put_long_string(out, text);
	cql_put_short(out, CONSISTENCY_ONE);
	cql_put(out, &flags, 1);
	cql_put_int(out, PAGE_SIZE);
	if (state->length > 0)
	{
		cql_put_int(out, (int32_t) state->length);
		cql_put(out, state->data, state->length);
	}
	cql_end_frame(out, start);
	return cql_send(&cassandra->cql);
}

/* Reads a result's metadata; keeps the paging state; the number of columns. */
static int
get_metadata(CqlFrame *frame, CqlBuffer *state)
{
	int			flags = cql_get_int(frame);
	int			columns = cql_get_int(frame);

	state->length = 0;
	if (flags & METADATA_MORE_PAGES)
	{
		int			length;
		const unsigned char *bytes = cql_get_bytes(frame, &length);

		cql_put(state, bytes, (size_t) length);
	}
	if (flags & METADATA_GLOBAL_TABLE)
	{
		cql_skip_string(frame);
		cql_skip_string(frame);
	}
	for (int i = 0; i < columns; i++)
	{
		cql_skip_string(frame); /* its name */
		cql_get_short(frame);	/* its type, which we know */
	}
	return columns;
}

/* Adds a row's value to its hash. */
static uint64_t
hash_value(uint64_t hash, ValueType type, const unsigned char *bytes,
		   int length)
{
	int64_t		bits;
	double		number;

	if (type == VALUE_UINT)
		return digest_uint(hash, (uint64_t) cql_number(bytes, length));
	if (type != VALUE_FLOAT)
		return digest_string(hash, (const char *) bytes, (size_t) length);
	bits = cql_number(bytes, length);
	memcpy(&number, &bits, sizeof(number));
	return digest_float(hash, number);
}

/* Adds a row to the digest. */
static void
digest_row(CqlFrame *frame, ValueType type, int columns, Digest *digest)
{
	int64_t		key[3];
	uint64_t	hash;
	const unsigned char *bytes;
	int			length;

	for (int i = 0; i < 3; i++)
	{
		bytes = cql_get_bytes(frame, &length);
		key[i] = cql_number(bytes, length);
	}
	hash = digest_key(type, (long) key[0], (int) key[1], (int) key[2]);
	bytes = cql_get_bytes(frame, &length);
	hash = hash_value(hash, type, bytes, length);
	for (int i = 4; i < columns; i++)
	{
		bytes = cql_get_bytes(frame, &length);
		hash = digest_uint(hash, (uint64_t) cql_number(bytes, length));
	}
	digest_add(digest, hash);
}

/* Reads one page into the digest; false when something is wrong. */
static bool
read_page(Cassandra *cassandra, ValueType type, CqlBuffer *state,
		  Digest *digest)
{
	CqlFrame	frame;
	int			columns;
	int			rows;

	if (!send_page_query(cassandra, type, state) ||
		!cql_receive(&cassandra->cql, &frame) || frame.opcode != CQL_RESULT ||
		cql_get_int(&frame) != CQL_RESULT_ROWS)
		return false;
	columns = get_metadata(&frame, state);
	rows = cql_get_int(&frame);
	for (int i = 0; i < rows; i++)
		digest_row(&frame, type, columns, digest);
	return true;
}

static bool
cassandra_read_back(void *connection, ValueType type, Digest *digest)
{
	CqlBuffer	state = {0};
	bool		done;

	do
		done = read_page(connection, type, &state, digest);
	while (done && state.length > 0);
	free(state.data);
	return done;
}

const Driver driver_cassandra = {
	.name = "cassandra",
	.connect = cassandra_connect,
	.disconnect = cassandra_disconnect,
	.is_connected = cassandra_is_connected,
	.message = cassandra_message,
	.command = cassandra_command,
	.prepare_insert = cassandra_prepare_insert,
	.send_insert = cassandra_send_insert,
	.find_keys = cassandra_find_keys,
	.read_back = cassandra_read_back
};

const Driver driver_cassandra_sync = {
	.name = "cassandra-sync",
	.connect = cassandra_connect_sync,
	.disconnect = cassandra_disconnect,
	.is_connected = cassandra_is_connected,
	.message = cassandra_message,
	.command = cassandra_command,
	.prepare_insert = cassandra_prepare_insert,
	.send_insert = cassandra_send_insert,
	.find_keys = cassandra_find_keys,
	.read_back = cassandra_read_back
};
