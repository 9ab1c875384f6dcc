/*-------------------------------------------------------------------------
 *
 * merge_runs.h
 *	  Writes many runs of a table as fewer, larger ones.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_MERGE_RUNS_H
#define ZBXHIST_MERGE_RUNS_H

/* batches of small runs from which on they are merged */
#define MERGED_STATEMENTS 48

/* rows of larger ones that are merged in one transaction */
#define MERGED_ROWS (128 * 1024)

extern int64 ZbxhistMergeRuns(Oid relid, int enough, int rows,
							  void (*between) (void));

#endif							/* ZBXHIST_MERGE_RUNS_H */
