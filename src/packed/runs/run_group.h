/*-------------------------------------------------------------------------
 *
 * run_group.h
 *	  One run of a day's table, and groups made of rows of runs.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_RUN_GROUP_H
#define ZBXHIST_RUN_GROUP_H

#include "packed/format/run.h"
#include "packed/values/day_decode.h"

/* a row of a run */
typedef struct RunRow
{
	const RunRows *rows;
	int			row;
} RunRow;

/*
 * reads a run's rows, or an item's, and returns whether there are any; raises XX001
 * if what it has to read for that is corrupt.  Allocates in the current context
 */
extern bool ZbxhistDecodeDayRun(Relation day, const DayLayout *layout,
								TupleTableSlot *slot, const DayGroup *place,
								const int64 *itemid, RunRows *rows);
extern const char *ZbxhistOpenRunGroup(Relation day, const DayLayout *layout,
									   DayGroup *group, const uint8 *data,
									   size_t length);

extern void ZbxhistGroupRunRows(Relation day, const DayLayout *layout,
								const RunRows *rows, DayGroup *group);
extern void ZbxhistGatherRows(const DayLayout *layout, const RunRow *rows,
							  int nrows, RunRows *result);
extern void ZbxhistMakeRunGroup(Relation day, const DayLayout *layout,
								const RunRow *rows, int nrows,
								DayGroup *group);

#endif							/* ZBXHIST_RUN_GROUP_H */
