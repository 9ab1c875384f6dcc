/*-------------------------------------------------------------------------
 *
 * run_read.h
 *	  Runs that are read, and kept in memory.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_RUN_READ_H
#define ZBXHIST_RUN_READ_H

#include "executor/tuptable.h"
#include "utils/snapshot.h"

#include "packed/runs/run_group.h"

/* what was read of tables of runs, and of archives; shown by EXPLAIN */
typedef struct RunCounters
{
	uint64		runs;			/* that were looked into */
	uint64		rows;			/* of them that were decoded */
	uint64		archived_groups;	/* that were fetched */
	uint64		archived_bytes; /* of these */
} RunCounters;

/* a run that the snapshot sees */
typedef struct Run
{
	DayGroup	place;			/* without its reader */
	int			nasked;			/* how many items were looked for in it */
	MemoryContext context;		/* owns rows; NULL: they are not kept */
	Size		nbytes;			/* that they take */
	RunRows		rows;
	int			next;			/* the row of a merge that comes next */
	int			end;			/* and where they end */
} Run;

/* where runs are read from, and what those take that are kept */
typedef struct RunSource
{
	Relation	day;
	const DayLayout *layout;
	Snapshot	snapshot;
	RunCounters *counters;		/* NULL: nobody wants to know */
	TupleTableSlot *slot;		/* for the reader of a run */
	MemoryContext context;		/* of those that are kept */
	Size		nbytes;			/* that they take */
} RunSource;

extern void ZbxhistInitRunSource(RunSource *source, Relation day,
								 const DayLayout *layout, Snapshot snapshot,
								 MemoryContext context);
extern void ZbxhistEndRunSource(RunSource *source);
extern void ZbxhistListAllRuns(RunSource *source, Run **runs, int *nruns);

extern bool ZbxhistHasRoomForRuns(const RunSource *source);
extern TupleTableSlot *ZbxhistFetchRun(RunSource *source, Run *run);
extern void ZbxhistKeepRun(RunSource *source, Run *run, TupleTableSlot *slot);
extern void ZbxhistCountRun(RunSource *source, int nrows);
extern void ZbxhistForgetRun(RunSource *source, Run *run);

extern int	ZbxhistFindInRun(const RunRows *rows, int64 itemid, int64 clock);

#endif							/* ZBXHIST_RUN_READ_H */
