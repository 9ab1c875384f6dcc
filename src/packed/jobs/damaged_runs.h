/*-------------------------------------------------------------------------
 *
 * damaged_runs.h
 *	  Runs that cannot be read, which merges leave where they are.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_DAMAGED_RUNS_H
#define ZBXHIST_DAMAGED_RUNS_H

#include "packed/day/day.h"

extern bool ZbxhistIsDamagedRun(Relation rel, TupleTableSlot *slot);
extern int	ZbxhistNoteDamagedRuns(Relation rel, const DayLayout *layout,
								   Snapshot snapshot, const DayGroup *places,
								   int nplaces);

#endif							/* ZBXHIST_DAMAGED_RUNS_H */
