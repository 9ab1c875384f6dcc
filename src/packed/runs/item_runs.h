/*-------------------------------------------------------------------------
 *
 * item_runs.h
 *	  One item's rows in a table of runs.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_ITEM_RUNS_H
#define ZBXHIST_ITEM_RUNS_H

#include "packed/runs/run_read.h"
#include "rows/item_range.h"

typedef struct ItemRuns ItemRuns;

extern ItemRuns *ZbxhistBeginItemRuns(Relation day, const DayLayout *layout,
									  Snapshot snapshot,
									  RunCounters *counters);
extern void ZbxhistMoveItemRuns(ItemRuns *items, Relation day);
extern void ZbxhistEndItemRuns(ItemRuns *items);

/*
 * rows of an item in a range, of which only the clocks count: all of them, or,
 * if it is descending, the newest first, some after others, each of a clock with all
 * others of that
 */
extern void ZbxhistStartItemRuns(ItemRuns *items, const ItemRange *range);
extern int	ZbxhistNextOfItemRuns(ItemRuns *items, RunRow **rows);

#endif							/* ZBXHIST_ITEM_RUNS_H */
