/*-------------------------------------------------------------------------
 *
 * run_keys.h
 *	  Keys of rows, looked for in a table of runs.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_RUN_KEYS_H
#define ZBXHIST_RUN_KEYS_H

#include "ingest/run_table.h"
#include "packed/day/run_write.h"

/* keys of rows, sorted by itemid and position */
typedef struct RunKeys
{
	int			nrows;
	int64	   *itemids;
	int64	   *positions;
	int32		first_clock;	/* the least */
	int32		last_clock;		/* the greatest */
} RunKeys;

extern int	ZbxhistFindInRuns(Relation runs, RunTable *table,
							  const RunKeys *keys, const WrittenRun *own,
							  int nown);
extern void ZbxhistRememberKeys(RunTable *table, const RunKeys *keys,
								const WrittenRun *run, TransactionId xmin);
extern bool ZbxhistRunsHaveKey(Relation parent, Relation runs, int64 itemid,
							   int32 clock, int32 ns);

#endif							/* ZBXHIST_RUN_KEYS_H */
