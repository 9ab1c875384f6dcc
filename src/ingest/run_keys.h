/*-------------------------------------------------------------------------
 *
 * run_keys.h
 *	  Keys of rows, looked for in a table of runs.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_RUN_KEYS_H
#define ZBXHIST_RUN_KEYS_H

#include "ingest/run_key_cache.h"
#include "ingest/run_table.h"

extern int	ZbxhistFindInRuns(Relation runs, RunTable *table,
							  const RunKeys *keys, const WrittenRun *own,
							  int nown);
extern bool ZbxhistRunsHaveKey(Relation parent, Relation runs, int64 itemid,
							   int32 clock, int32 ns);

#endif							/* ZBXHIST_RUN_KEYS_H */
