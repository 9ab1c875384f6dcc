/*-------------------------------------------------------------------------
 *
 * day.h
 *	  A day's table: finds its groups of segments.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_DAY_H
#define ZBXHIST_DAY_H

#include "access/genam.h"

#include "format/day_decode.h"
#include "packed/archive.h"
#include "tables/item_range.h"

/* ---- reading: groups in the order of (itemid, clock) ---- */

typedef struct DayScan DayScan;

/* where groups begin */
typedef struct DayPlace
{
	bool		is_end;			/* after all of them */
	int64		itemid;
	int32		clock;
} DayPlace;

/* one item's groups that overlap the range, by the index; both directions */
extern DayScan *ZbxhistBeginDayScan(Relation day, const DayLayout *layout,
									Snapshot snapshot);
extern void ZbxhistMoveDayScan(DayScan *scan, Relation day);
extern void ZbxhistDayScanCount(DayScan *scan, ArchiveCounters *counters);
extern void ZbxhistDayScanFrom(DayScan *scan, ArchiveReader *archive,
							   bool is_here);
extern void ZbxhistDayScanItem(DayScan *scan, const ItemRange *range);

/* of a group found last: just the item's segments, or all of them again */
extern void ZbxhistDayScanOnlyItem(DayScan *scan, ArchiveReader *archive);
extern void ZbxhistDayScanLoad(DayScan *scan, DayGroup *group);
extern void ZbxhistDayScanWhole(DayScan *scan, DayGroup *group);

/* all groups, in the order of the heap */
extern void ZbxhistDayScanAll(DayScan *scan);

/* those that may have rows of the items between two */
extern void ZbxhistDayScanItemsInOrder(DayScan *scan, int64 first_itemid,
									   int64 last_itemid, bool is_descending);
extern void ZbxhistDayScanItems(DayScan *scan, int64 first_itemid,
								int64 last_itemid);
extern void ZbxhistDayScanBlocks(DayScan *scan, BlockNumber first,
								 BlockNumber last);
extern bool ZbxhistDayScanNext(DayScan *scan, DayGroup *group);

/* all groups, in the order of the index, without opening them */
extern void ZbxhistDayScanPlaces(DayScan *scan);
extern bool ZbxhistDayScanNextPlace(DayScan *scan, DayGroup *group,
									Datum *payload);
extern bool ZbxhistDayScanRow(DayScan *scan, int64 itemid, int32 clock,
							  DayGroup *group);
extern bool ZbxhistDayScanTarget(DayScan *scan, int64 itemid, int32 clock,
								 DayGroup *group, DayPlace *end);
extern int64 ZbxhistDayScanNumRows(const DayScan *scan, int64 ngroups);
extern TransactionId ZbxhistDayScanXmax(DayScan *scan);
extern void ZbxhistEndDayScan(DayScan *scan);

/* ---- day_times.c: clocks and ns that segments share ---- */

/*
 * A day's table has rows with vectors of them besides those with groups of
 * values.  Vectors have numbers from 1 on.  A row's key is that of its first
 * vector's number, in items that nobody has, and a clock that no day has, for
 * as long as there are clocks; of rows that continue a vector the clock is by
 * one more each.  Its number of rows is 0, and its last clock before all days.
 *
 * Such rows are written with the table, and never changed or deleted.
 */
typedef struct DayTimes DayTimes;

/* the item of vector 0, and the greatest number */
#define TIMES_ITEM INT64CONST(0x7FFFFFFE00000000)
#define TIMES_MAX_NUMBER PG_UINT32_MAX

/* the clock of rows that begin with the beginning of a vector */
#define TIMES_CLOCK (PG_INT32_MAX - 0xFFFF)

extern DayTimes *ZbxhistBeginDayTimes(Relation day, Snapshot snapshot,
									  bool is_careful);
extern void ZbxhistLendScan(DayTimes *times, IndexScanDesc scan, bool is_idle);
extern void ZbxhistMoveDayTimes(DayTimes *times, Relation day);
extern void ZbxhistEndDayTimes(DayTimes *times);
extern TimesSource *ZbxhistTimesSource(DayTimes *times);
extern const char *ZbxhistWhyNotTimes(const DayGroup *place,
									  const uint8 *data, size_t length);

/*
 * whether a row, of which the place has been read, has shared times
 */
static inline bool
ZbxhistHoldsTimes(const DayGroup *group)
{
	return group->nrows == 0;
}

/*
 * whether a place, as the index has it, is that of such a row
 */
static inline bool
ZbxhistIsPlaceOfTimes(int64 itemid, int32 clock)
{
	return itemid > TIMES_ITEM && itemid <= TIMES_ITEM + TIMES_MAX_NUMBER &&
		clock >= TIMES_CLOCK;
}

#endif							/* ZBXHIST_DAY_H */
