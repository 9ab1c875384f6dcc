/*-------------------------------------------------------------------------
 *
 * day_private.h
 *	  A scan of a day's table, for those who find its groups.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_DAY_PRIVATE_H
#define ZBXHIST_DAY_PRIVATE_H

#include "access/genam.h"
#include "access/relscan.h"

#include "packed/day/day.h"
#include "packed/day/day_index.h"
#include "packed/runs/day_runs.h"

/* how far a scan for an item has come */
typedef enum ScanPhase
{
	SCAN_FIRST,					/* ascending: find the first group */
	SCAN_REST,					/* ascending: those that begin after it */
	SCAN_BACKWARD,				/* descending */
	SCAN_PAGE,					/* by looking through the only page */
	SCAN_RUNS,					/* groups made of runs */
	SCAN_HEAP,					/* all groups */
	SCAN_BLOCKS,				/* those in some blocks of the heap */
	SCAN_DONE
} ScanPhase;

struct DayScan
{
	Relation	day;
	const DayLayout *layout;
	Snapshot	snapshot;

	Relation	index;			/* opened when it is needed */
	IndexScanDesc index_scan;
	TableScanDesc table_scan;
	TableScanDesc block_scan;
	TupleTableSlot *slot;
	DayTimes   *times;			/* that segments share */
	DayRuns    *runs;			/* that the table holds; NULL: groups */
	int64		ntimes;			/* rows with some that were passed over */

	ScanPhase	phase;
	bool		has_one_page;	/* which is looked through */
	bool		is_started;		/* the index scan of this phase is */
	int64		itemid;
	int32		first_clock;
	int32		last_clock;
	bool		only_item;		/* other segments are not wanted */
	bool		is_reader;		/* places are not asked for, nor changed */
	bool		is_descending;
	DayGroup	past;			/* of SCAN_PAGE: the group before */
	bool		has_hint;
	int64		hint;			/* where a group found lately begins */
	GroupKeys	keys;

	MemoryContext context;		/* owns all this */
	MemoryContext group_context;	/* what belongs to the group */
};

#endif							/* ZBXHIST_DAY_PRIVATE_H */
