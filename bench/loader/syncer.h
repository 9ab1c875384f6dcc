#ifndef LOADER_SYNCER_H
#define LOADER_SYNCER_H

#include "driver.h"
#include "histogram.h"
#include "stream.h"

/* number of SQLSTATEs that are counted apart */
#define SYNCER_MAX_STATES 16

typedef struct ErrorCount
{
	char		sqlstate[SQLSTATE_SIZE];
	long		count;
} ErrorCount;

/* one INSERT, for the CSV */
typedef struct Sample
{
	double		start;			/* seconds since 1970 */
	double		latency;		/* seconds the statement took */
	double		delay;			/* seconds from when it was due to the commit */
	int			rows;
	char		sqlstate[SQLSTATE_SIZE];
} Sample;

/* counts of a syncer */
typedef struct Counts
{
	long		values;			/* committed */
	long		duplicates;		/* left out, because they were stored already */
	long		lost;			/* in batches that were given up, as Zabbix does */
	long		statements;		/* INSERTs sent */
	long		batches;
	ErrorCount	errors[SYNCER_MAX_STATES];
	Histogram	insert;			/* latency of the INSERT statements */
	Histogram	batch;			/* from due (or begun) to committed */
} Counts;

typedef struct Syncer
{
	const Driver *driver;
	const char *dsn;
	void	   *connection;
	int			server_pid;		/* the server's process or thread; 0 if not known */
	Value	   *values;
	int			count;
	Counts		counts;
	bool		is_sampling;
	Sample	   *samples;
	long		sample_count;
	long		sample_size;
	long		first_of_batch; /* the first sample of this batch */
} Syncer;

extern double syncer_now(void);
extern void syncer_init(Syncer *syncer, const Driver *driver, const char *dsn,
						int batch);
extern void syncer_reset_counts(Syncer *syncer);
extern void syncer_write(Syncer *syncer, double due);
extern void syncer_close(Syncer *syncer);
extern void counts_merge(Counts *into, const Counts *from);

#endif							/* LOADER_SYNCER_H */
