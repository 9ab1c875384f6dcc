#ifndef LOADER_OPTIONS_H
#define LOADER_OPTIONS_H

#include <stdbool.h>

#include "driver.h"
#include "stream.h"

typedef struct Options
{
	StreamOptions stream;
	const Driver *driver;
	const char *dsn;
	const char *csv;			/* file for a line per statement, or NULL */
	int			connections;
	long		values;			/* to send, 0: no limit */
	double		seconds;		/* to run, 0: no limit */
	double		rate;			/* values per second offered, 0: closed loop */
	long		warmup;			/* values sent before anything is counted */
	long		first_pass;		/* where in the stream to start */
	bool		digest;			/* print the digest of the stream instead */
	bool		read_back;		/* print the digest of the stored rows instead */
	bool		copy;			/* write COPY text to stdout instead */
	bool		by_pass;		/* in the order of time, not item by item */
	bool		handshake;		/* wait for a line on stdin around the run */
	long		pause_passes;	/* and after so many passes of it, 0: never */
} Options;

extern void options_parse(int argc, char **argv, Options *options);

#endif							/* LOADER_OPTIONS_H */
