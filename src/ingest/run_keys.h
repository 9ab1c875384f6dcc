/*-------------------------------------------------------------------------
 *
 * run_keys.h
 *	  Keys of rows, looked for in a table of runs.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_RUN_KEYS_H
#define ZBXHIST_RUN_KEYS_H

#include "ingest/key_look.h"
#include "ingest/run_key_filter.h"
#include "ingest/run_table.h"
#include "packed/runs/run_write.h"

extern int	ZbxhistFindInRuns(Relation runs, RunTable *table,
							  const RunKeys *keys, const WrittenRun *own,
							  int nown);
extern KeyState ZbxhistLookInRuns(Relation runs, Relation parent, int64 itemid,
								  int32 clock, int32 ns, Snapshot snapshot,
								  FoundKey *found);

#endif							/* ZBXHIST_RUN_KEYS_H */
