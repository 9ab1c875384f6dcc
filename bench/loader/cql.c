/*
 * cql.c
 *		As much of Cassandra's native protocol, version 4, as the loader needs.
 *
 * Requests are collected in connection->out, told apart by a stream number,
 * and sent together; answers come in any order.  That is what the drivers'
 * asynchronous calls do, without their threads.  A frame that was received
 * is valid until the next call of cql_receive().
 */
#include "cql.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define HEADER_SIZE 9
#define REQUEST_VERSION 0x04
#define RECEIVE_SIZE 65536

/* Makes room for so many bytes more. */
static void
reserve(CqlBuffer *buffer, size_t more)
{
	if (buffer->length + more <= buffer->size)
		return;
	buffer->size = (buffer->length + more) * 2;
	buffer->data = realloc(buffer->data, buffer->size);
	if (buffer->data == NULL)
	{
		fprintf(stderr, "loader: out of memory\n");
		exit(1);
	}
}

/* Appends bytes as they are. */
void
cql_put(CqlBuffer *buffer, const void *bytes, size_t length)
{
	reserve(buffer, length);
	memcpy(buffer->data + buffer->length, bytes, length);
	buffer->length += length;
}

/* Appends the low bytes of a number, highest first. */
static void
put_number(CqlBuffer *buffer, uint64_t number, int size)
{
	reserve(buffer, size);
	for (int shift = (size - 1) * 8; shift >= 0; shift -= 8)
		buffer->data[buffer->length++] = (unsigned char) (number >> shift);
}

/* Appends a [short]. */
void
cql_put_short(CqlBuffer *buffer, int number)
{
	put_number(buffer, (uint64_t) number, 2);
}

/* Appends an [int]. */
void
cql_put_int(CqlBuffer *buffer, int32_t number)
{
	put_number(buffer, (uint64_t) number, 4);
}

/* Appends a [long]. */
void
cql_put_long(CqlBuffer *buffer, int64_t number)
{
	put_number(buffer, (uint64_t) number, 8);
}

/* Appends a [string]. */
void
cql_put_string(CqlBuffer *buffer, const char *string)
{
	cql_put_short(buffer, (int) strlen(string));
	cql_put(buffer, string, strlen(string));
}

/* Appends a [long string], which is also how [bytes] look. */
void
cql_put_long_string(CqlBuffer *buffer, const char *string)
{
	cql_put_int(buffer, (int32_t) strlen(string));
	cql_put(buffer, string, strlen(string));
}

/* Begins a request; returns what cql_end_frame() needs. */
size_t
cql_begin_frame(CqlBuffer *buffer, int opcode, int stream)
{
	size_t		start = buffer->length;

	put_number(buffer, REQUEST_VERSION, 1);
	put_number(buffer, 0, 1);
	put_number(buffer, (uint64_t) stream, 2);
	put_number(buffer, (uint64_t) opcode, 1);
	cql_put_int(buffer, 0);
	return start;
}

/* Ends a request: its length is known now. */
void
cql_end_frame(CqlBuffer *buffer, size_t start)
{
	size_t		end = buffer->length;

	buffer->length = start + HEADER_SIZE - 4;
	cql_put_int(buffer, (int32_t) (end - start - HEADER_SIZE));
	buffer->length = end;
}

/* A number of so many bytes, highest first, with its sign. */
int64_t
cql_number(const unsigned char *bytes, int length)
{
	uint64_t	number = length > 0 && (bytes[0] & 0x80) ? UINT64_MAX : 0;

	for (int i = 0; i < length; i++)
		number = number << 8 | bytes[i];
	return (int64_t) number;
}

/* Takes so many bytes off a frame; ends the program if it has them not. */
static const unsigned char *
take(CqlFrame *frame, int length)
{
	const unsigned char *bytes = frame->body;

	if (length > frame->end - frame->body)
	{
		fprintf(stderr, "loader: the server sent a broken frame\n");
		exit(1);
	}
	frame->body += length;
	return bytes;
}

/* Takes a [short]. */
int
cql_get_short(CqlFrame *frame)
{
	return (int) (cql_number(take(frame, 2), 2) & 0xffff);
}

/* Takes an [int]. */
int32_t
cql_get_int(CqlFrame *frame)
{
	return (int32_t) cql_number(take(frame, 4), 4);
}

/* Takes [bytes]; their length is negative when they are null. */
const unsigned char *
cql_get_bytes(CqlFrame *frame, int *length)
{
	*length = cql_get_int(frame);
	return *length > 0 ? take(frame, *length) : frame->body;
}

/* Passes a [string] by. */
void
cql_skip_string(CqlFrame *frame)
{
	take(frame, cql_get_short(frame));
}

/* Remembers what went wrong with the connection, and that it is lost. */
static bool
lost(CqlConnection *connection, const char *message)
{
	snprintf(connection->message, sizeof(connection->message), "%s\n", message);
	connection->is_open = false;
	return false;
}

/* Sends all requests that were collected. */
bool
cql_send(CqlConnection *connection)
{
	size_t		sent = 0;

	while (sent < connection->out.length)
	{
		ssize_t		count = send(connection->socket,
								 connection->out.data + sent,
								 connection->out.length - sent, MSG_NOSIGNAL);

		if (count < 0 && errno == EINTR)
			continue;
		if (count <= 0)
			return lost(connection, strerror(errno));
		sent += (size_t) count;
	}
	connection->out.length = 0;
	return true;
}

/* Waits until so many bytes have come that were not handed out yet. */
static bool
fill(CqlConnection *connection, size_t wanted)
{
	CqlBuffer  *in = &connection->in;

	while (in->length - connection->consumed < wanted)
	{
		ssize_t		count;

		if (connection->consumed > 0)
		{
			memmove(in->data, in->data + connection->consumed,
					in->length - connection->consumed);
			in->length -= connection->consumed;
			connection->consumed = 0;
		}
		reserve(in, wanted + RECEIVE_SIZE);
		count = recv(connection->socket, in->data + in->length,
					 in->size - in->length, 0);
		if (count < 0 && errno == EINTR)
			continue;
		if (count <= 0)
			return lost(connection, count < 0 ? strerror(errno) :
						"the server closed the connection");
		in->length += (size_t) count;
	}
	return true;
}

/* Keeps the code and the text of an ERROR frame. */
static void
keep_error(CqlConnection *connection, CqlFrame frame)
{
	int			length;

	connection->error_code = cql_get_int(&frame);
	length = cql_get_short(&frame);
	snprintf(connection->message, sizeof(connection->message),
			 "error 0x%04x: %.*s\n", (unsigned) connection->error_code, length,
			 (const char *) take(&frame, length));
}

/* Waits for the next answer; false when the connection is lost. */
bool
cql_receive(CqlConnection *connection, CqlFrame *frame)
{
	const unsigned char *header;
	size_t		length;

	if (!fill(connection, HEADER_SIZE))
		return false;
	header = connection->in.data + connection->consumed;
	length = (size_t) cql_number(header + 5, 4);
	if (!fill(connection, HEADER_SIZE + length))
		return false;
	header = connection->in.data + connection->consumed;
	frame->opcode = header[4];
	frame->body = header + HEADER_SIZE;
	frame->end = frame->body + length;
	connection->consumed += HEADER_SIZE + length;
	if (frame->opcode == CQL_ERROR)
		keep_error(connection, *frame);
	return true;
}

/* Opens the socket. */
static int
open_socket(const char *host, const char *port)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
	struct addrinfo *addresses;
	int			file;
	int			on = 1;

	if (getaddrinfo(host, port, &hints, &addresses) != 0)
		return -1;
	file = socket(addresses->ai_family, SOCK_STREAM, 0);
	if (file >= 0 &&
		connect(file, addresses->ai_addr, addresses->ai_addrlen) != 0)
	{
		close(file);
		file = -1;
	}
	freeaddrinfo(addresses);
	if (file >= 0)
		setsockopt(file, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	return file;
}

/* Connects, without authentication. */
bool
cql_open(CqlConnection *connection, const char *host, const char *port)
{
	CqlFrame	frame;
	size_t		start;

	memset(connection, 0, sizeof(*connection));
	connection->socket = open_socket(host, port);
	if (connection->socket < 0)
		return lost(connection, strerror(errno));
	connection->is_open = true;
	start = cql_begin_frame(&connection->out, CQL_STARTUP, 0);
	cql_put_short(&connection->out, 1);
	cql_put_string(&connection->out, "CQL_VERSION");
	cql_put_string(&connection->out, "3.0.0");
	cql_end_frame(&connection->out, start);
	return cql_send(connection) && cql_receive(connection, &frame) &&
		(frame.opcode == CQL_READY ||
		 lost(connection, "the server wants more than STARTUP"));
}

/* Disconnects. */
void
cql_close(CqlConnection *connection)
{
	if (connection->socket >= 0)
		close(connection->socket);
	free(connection->out.data);
	free(connection->in.data);
}
