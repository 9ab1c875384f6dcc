/*-------------------------------------------------------------------------
 *
 * open_days.h
 *	  The packed days that a query reads, one after the other.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_OPEN_DAYS_H
#define ZBXHIST_OPEN_DAYS_H

#include "packed/day_reader.h"
#include "tables/kept_tables.h"
#include "tables/partition_walk.h"
#include "tables/source.h"

/* all zeros but for what ZbxhistInitOpenDays sets, and what is noted here */
typedef struct OpenDays
{
	DayReaderSpec spec;			/* what the caller needs */
	LOCKMODE	lockmode;
	Snapshot	snapshot;		/* spec's, to begin with */
	List	   *fresh;			/* of Snapshot, each for a day */
	bool		looks_again;	/* takes a new snapshot for each day, to find
								 * rows to be changed */
	bool		keeps_days;		/* open, for more items to come; may be set
								 * while none is current */
	ScanCounters counters;

	DayReader  *reader;			/* of the current day, or NULL */
	DayReader  *idle;			/* of one that has been left, or NULL */
	KeptTables	kept;			/* of DayReader: of days that are kept open */

	/* what is read, for archived groups that will be next; NULL: nobody knows */
	const PartitionWalk *walk;
	const ItemRange *range;		/* of the current item */
	int			nitems;			/* items of each day; 0: just that one */
	const int64 *items;			/* sorted */
	bool		reads_all;		/* reads to the end */

	MemoryContext context;		/* owns readers */
} OpenDays;

extern void ZbxhistInitOpenDays(OpenDays *days, Relation table,
								Snapshot snapshot, LOCKMODE lockmode);
extern void ZbxhistLookAgainInDays(OpenDays *days);
extern void ZbxhistRestartDays(OpenDays *days);
extern bool ZbxhistEnterDay(OpenDays *days, const PartitionWalk *walk,
							const WalkStep *step);
extern void ZbxhistLeaveDay(OpenDays *days);
extern void ZbxhistCloseDays(OpenDays *days);
extern Relation ZbxhistOpenDay(Oid relid, LOCKMODE lockmode);

/* source.c: days as a source of an item's rows */
extern ItemSource *ZbxhistOpenPackedSource(Relation parent, Snapshot snapshot,
										   LOCKMODE lockmode);
extern OpenDays *ZbxhistSourceDays(ItemSource *base);

#endif							/* ZBXHIST_OPEN_DAYS_H */
