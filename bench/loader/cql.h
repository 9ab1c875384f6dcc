#ifndef LOADER_CQL_H
#define LOADER_CQL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* opcodes and kinds of result of the native protocol, version 4 */
#define CQL_ERROR 0x00
#define CQL_STARTUP 0x01
#define CQL_READY 0x02
#define CQL_QUERY 0x07
#define CQL_RESULT 0x08
#define CQL_PREPARE 0x09
#define CQL_EXECUTE 0x0A
#define CQL_RESULT_ROWS 2

typedef struct CqlBuffer
{
	unsigned char *data;
	size_t		length;
	size_t		size;
} CqlBuffer;

/* a frame that has come, its body still in the connection's buffer */
typedef struct CqlFrame
{
	int			opcode;
	const unsigned char *body;
	const unsigned char *end;
} CqlFrame;

typedef struct CqlConnection
{
	int			socket;
	bool		is_open;
	CqlBuffer	out;
	CqlBuffer	in;
	size_t		consumed;		/* how much of in was handed out */
	int			error_code;		/* of the last ERROR frame */
	char		message[300];
} CqlConnection;

extern void cql_put_short(CqlBuffer *buffer, int number);
extern void cql_put_int(CqlBuffer *buffer, int32_t number);
extern void cql_put_long(CqlBuffer *buffer, int64_t number);
extern void cql_put(CqlBuffer *buffer, const void *bytes, size_t length);
extern void cql_put_string(CqlBuffer *buffer, const char *string);
extern void cql_put_long_string(CqlBuffer *buffer, const char *string);
extern size_t cql_begin_frame(CqlBuffer *buffer, int opcode, int stream);
extern void cql_end_frame(CqlBuffer *buffer, size_t start);

extern int	cql_get_short(CqlFrame *frame);
extern int32_t cql_get_int(CqlFrame *frame);
extern const unsigned char *cql_get_bytes(CqlFrame *frame, int *length);
extern void cql_skip_string(CqlFrame *frame);
extern int64_t cql_number(const unsigned char *bytes, int length);

extern bool cql_open(CqlConnection *connection, const char *host,
					 const char *port);
extern void cql_close(CqlConnection *connection);
extern bool cql_send(CqlConnection *connection);
extern bool cql_receive(CqlConnection *connection, CqlFrame *frame);

#endif							/* LOADER_CQL_H */
