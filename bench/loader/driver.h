#ifndef LOADER_DRIVER_H
#define LOADER_DRIVER_H

#include <stdbool.h>

#include "digest.h"
#include "stream.h"

/* SQLSTATEs that the syncer handles; drivers translate their server's errors */
#define SQLSTATE_NONE "00000"
#define SQLSTATE_DUPLICATE "23505"
#define SQLSTATE_DEADLOCK "40P01"
#define SQLSTATE_CONNECTION "08006"
#define SQLSTATE_OTHER "XX000"
#define SQLSTATE_SIZE 6

typedef enum Command
{
	COMMAND_BEGIN,
	COMMAND_COMMIT,
	COMMAND_ROLLBACK
} Command;

/* Called for each key that is stored already. */
typedef void (*KeyCallback) (void *argument, long itemid, int clock, int ns);

/*
 * The functions for one kind of server.  A connection belongs to one thread.
 * A function that sets a sqlstate keeps the server's text for message().
 */
typedef struct Driver
{
	const char *name;

	/* A connection to target, or NULL; *server_pid is its backend, 0 if unknown. */
	void	   *(*connect) (const char *target, int *server_pid);
	void		(*disconnect) (void *connection);
	bool		(*is_connected) (void *connection);

	/* The server's last message; with NULL that of a failed connect. */
	const char *(*message) (void *connection);

	void		(*command) (void *connection, Command command, char *sqlstate);

	/* Prepares the next INSERT of a type, as text_insert() does. */
	int			(*prepare_insert) (void *connection, ValueType type,
								   const Value *values, int count, int from,
								   int *rows);
	/* Sends it and waits for the result; this time is the latency. */
	void		(*send_insert) (void *connection, char *sqlstate);

	/* Looks up which values of a type are stored. */
	void		(*find_keys) (void *connection, ValueType type,
							  const Value *values, int count,
							  KeyCallback callback, void *argument);

	/* Reads all rows of a type; false if that failed. */
	bool		(*read_back) (void *connection, ValueType type, Digest *digest);
} Driver;

extern const Driver driver_postgres;
#ifdef HAVE_MARIADB
extern const Driver driver_mariadb;
#endif

extern const Driver *driver_by_name(const char *name);

#endif							/* LOADER_DRIVER_H */
