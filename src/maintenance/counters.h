/*-------------------------------------------------------------------------
 *
 * counters.h
 *	  How many rows went which way, for all sessions.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_COUNTERS_H
#define ZBXHIST_COUNTERS_H

extern void ZbxhistCountersInit(void);
extern void ZbxhistCountersAdd(Oid parent, uint64 routed, uint64 kept);

#endif							/* ZBXHIST_COUNTERS_H */
