/*-------------------------------------------------------------------------
 *
 * clock_keys.h
 *	  Grouping keys that rise or fall with the clock.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_CLOCK_KEYS_H
#define ZBXHIST_CLOCK_KEYS_H

#include "nodes/primnodes.h"

extern bool ZbxhistFollowsClock(Node *key, Index varno, AttrNumber clock,
								List **breaks);
extern double ZbxhistCountResults(Node *expr, AttrNumber clock, double nclocks);

#endif							/* ZBXHIST_CLOCK_KEYS_H */
