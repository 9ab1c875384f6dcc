/*-------------------------------------------------------------------------
 *
 * day_runs.h
 *	  A day's table that holds runs: their rows as groups of segments.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_DAY_RUNS_H
#define ZBXHIST_DAY_RUNS_H

#include "packed/runs/run_read.h"
#include "rows/item_range.h"

typedef struct DayRuns DayRuns;

extern DayRuns *ZbxhistBeginDayRuns(Relation day, const DayLayout *layout,
									Snapshot snapshot);
extern void ZbxhistMoveDayRuns(DayRuns *runs, Relation day);
extern void ZbxhistCountDayRuns(DayRuns *runs, RunCounters *counters);
extern void ZbxhistEndDayRuns(DayRuns *runs);

/* groups of one item's rows in a range of clocks, or of rows of the items between
 * two in their order */
extern void ZbxhistRunsOfItem(DayRuns *runs, const ItemRange *range);
extern void ZbxhistRunsOfItems(DayRuns *runs, int64 first_itemid,
							   int64 last_itemid);
extern bool ZbxhistNextOfRuns(DayRuns *runs, DayGroup *group);
extern int	ZbxhistNumRuns(const DayRuns *runs);

/*
 * rows of some runs, without groups, before an item, or all of them
 */
#define NO_END_ITEM PG_INT64_MAX

extern void ZbxhistListRuns(DayRuns *runs, const DayGroup *places,
							int nplaces);
extern int	ZbxhistNextRowsOfRuns(DayRuns *runs, int nwanted,
								  int64 end_itemid, const RunRow **rows);
extern const Run *ZbxhistBegunRun(const DayRuns *runs, int i);

/* where a row of a group is stored */
typedef struct RunPlace
{
	ItemPointerData tid;		/* of the run */
	int			row;			/* its number in that */
} RunPlace;

/* of a row, by its number, of the group that was made last */
extern void ZbxhistRunOfRow(const DayRuns *runs, int row, RunPlace *place);
extern TransactionId ZbxhistRunXmax(const DayRuns *runs, int row);

/* the rows of the one run in slot, whose place group has */
extern void ZbxhistGroupOfRun(DayRuns *runs, TupleTableSlot *slot,
							  DayGroup *group);

#endif							/* ZBXHIST_DAY_RUNS_H */
