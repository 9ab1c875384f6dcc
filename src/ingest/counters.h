/*-------------------------------------------------------------------------
 *
 * counters.h
 *	  How many rows went which way, for all sessions.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_COUNTERS_H
#define ZBXHIST_COUNTERS_H

struct InsertStats;

extern void ZbxhistCountersInit(void);
extern void ZbxhistCountersAdd(Oid parent, const struct InsertStats *stats);

#endif							/* ZBXHIST_COUNTERS_H */
