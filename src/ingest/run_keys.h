/*-------------------------------------------------------------------------
 *
 * run_keys.h
 *	  Keys of rows, looked for in a table of runs.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_RUN_KEYS_H
#define ZBXHIST_RUN_KEYS_H

#include "storage/itemptr.h"

#include "ingest/run_table.h"

/* keys of rows, sorted by itemid and position */
typedef struct RunKeys
{
	int			nrows;
	int64	   *itemids;
	int64	   *positions;
	int32		first_clock;	/* the least */
	int32		last_clock;		/* the greatest */
} RunKeys;

/* runs that the caller has just stored, whose keys do not count */
typedef struct OwnRuns
{
	int			nruns;
	ItemPointerData *tids;
} OwnRuns;

extern int	ZbxhistFindInRuns(Relation runs, RunTable *table,
							  const RunKeys *keys, const OwnRuns *own);
extern void ZbxhistRememberKeys(RunTable *table, const RunKeys *keys,
								int first, int count, ItemPointer tid,
								TransactionId xmin);
extern bool ZbxhistRunsHaveKey(Relation parent, Relation runs, int64 itemid,
							   int32 clock, int32 ns);

#endif							/* ZBXHIST_RUN_KEYS_H */
