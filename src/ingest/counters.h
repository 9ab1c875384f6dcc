/*-------------------------------------------------------------------------
 *
 * counters.h
 *	  Counts rows by their path, for all sessions.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_COUNTERS_H
#define ZBXHIST_COUNTERS_H

#include "ingest/path.h"

/* what became of a statement's rows */
typedef struct InsertStats
{
	InsertPath	path;			/* how they came here */
	uint64		routed;			/* stored in partitions */
	uint64		kept;			/* stored in the parent */
	uint64		left_out;		/* not stored because of their clocks */
	uint64		flushes;		/* times the buffer was written */
} InsertStats;

extern void ZbxhistCountersInit(void);
extern void ZbxhistCountersAdd(Oid parent, const InsertStats *stats);

#endif							/* ZBXHIST_COUNTERS_H */
