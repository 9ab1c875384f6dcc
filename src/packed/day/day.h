/*-------------------------------------------------------------------------
 *
 * day.h
 *	  A day's table: finds, writes and changes groups of segments.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_DAY_H
#define ZBXHIST_DAY_H

#include "access/genam.h"
#include "utils/snapshot.h"

#include "compat.h"
#include "packed/day/layout.h"
#include "rows/item_range.h"

/* ---- reading: groups in the order of (itemid, clock) ---- */

typedef struct DayScan DayScan;

/* a group that has been found, good until the next one */
typedef struct DayGroup
{
	ItemPointerData tid;
	int64		first_itemid;
	int32		first_clock;
	int64		last_itemid;
	int32		last_clock;
	int32		nrows;
	GroupReader reader;			/* open; its bytes are the scan's */
} DayGroup;

/* what was read of tables of runs; shown by EXPLAIN */
typedef struct RunCounters
{
	uint64		runs;			/* that were looked into */
	uint64		rows;			/* of them that were decoded */
} RunCounters;

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
extern void ZbxhistDayScanCount(DayScan *scan, RunCounters *counters);
extern void ZbxhistDayScanItem(DayScan *scan, const ItemRange *range);

/* of a group found last: just the item's segments, or all of them again */
extern void ZbxhistDayScanOnlyItem(DayScan *scan);
extern void ZbxhistDayScanWhole(DayScan *scan, DayGroup *group);

/* all groups, in the order of the heap */
extern void ZbxhistDayScanAll(DayScan *scan);
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
extern TimesSource *ZbxhistDayScanTimes(const DayScan *scan);
extern TransactionId ZbxhistDayScanXmin(DayScan *scan);
extern TransactionId ZbxhistDeletedBy(TupleTableSlot *slot);
extern TransactionId ZbxhistDayScanXmax(DayScan *scan);
extern TransactionId ZbxhistDayScanXmaxOf(DayScan *scan, int row);
extern void ZbxhistEndDayScan(DayScan *scan);

/* day_decode.c: whether what is stored can be trusted */
extern bool ZbxhistReadPlace(TupleTableSlot *slot, DayGroup *group);
extern bool ZbxhistComesAfter(const DayGroup *a, const DayGroup *b,
							  bool is_descending);
extern bool ZbxhistHasPayload(Relation day, TupleTableSlot *slot);
extern bool ZbxhistGroupHasRightPlace(const DayGroup *group);
extern bool ZbxhistGroupHasRightCount(const DayGroup *group);

/*
 * decodes a segment of a group for its layout's columns; raises XX001 if it
 * is corrupt.  Allocates in the current context
 */
extern void ZbxhistDecodeDaySegment(Relation day, const DayLayout *layout,
									const GroupReader *reader, int segment,
									const bool *wanted, SegmentRows *rows);

extern const char *ZbxhistWhyNotDecoded(const DayLayout *layout,
										const GroupReader *reader,
										int segment, SegmentRows *rows);
extern void ZbxhistRequireKnown(Relation day, const LayoutColumn *column);
extern int	ZbxhistFindWrong(const LayoutColumn *column,
							 const SegmentRows *rows, int first);

/* raises XX001 naming the day's table and the item */
pg_noreturn extern void ZbxhistRaiseCorrupt(Relation day, int64 itemid);
pg_noreturn extern void ZbxhistRaiseNotOpened(Relation day, int64 itemid,
											  const GroupReader *reader);
pg_noreturn extern void ZbxhistRaiseCorruptRun(Relation day, ItemPointer tid,
											   const char *problem);
extern const char *ZbxhistWhyNotOpened(const GroupReader *reader);

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

extern DayTimes *ZbxhistBeginDayTimes(Relation day, Snapshot snapshot);
extern DayTimes *ZbxhistBeginCarefulTimes(Relation day, Snapshot snapshot);
extern void ZbxhistLendScan(DayTimes *times, IndexScanDesc scan, bool is_idle,
							bool has_one_page);
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

/* ---- changing rows ---- */

/* a row by its item, clock, and what tells it from others of these */
typedef struct PackedRowId
{
	int64		itemid;
	int32		clock;
	uint16		offset;			/* see row_offset.c */
} PackedRowId;

typedef struct DayModify DayModify;

/* how a row is that a snapshot sees, by now */
typedef enum RowState
{
	ROW_SAME,
	ROW_CHANGED,				/* another transaction has updated it */
	ROW_GONE
} RowState;

/*
 * Changes are collected while rows come in any order, and written when many
 * are there and at the end.  They lock the day against other changes until
 * the transaction ends.  Rows are those that the snapshot sees, or, with a position,
 * the only one there is now; what is returned says how they were, and only those that were
 * the same are changed (above READ COMMITTED any other is 40001).  The slot has the columns of the
 * day by name and type, as ZbxhistDayTakesRows() says.
 */
extern DayModify *ZbxhistBeginDayModify(Relation day, Relation parent,
										Snapshot snapshot);
extern RowState ZbxhistDayDeleteRow(DayModify *modify, const PackedRowId *id,
									const int64 *position);
extern bool ZbxhistDayTakesRows(DayModify *modify, TupleDesc desc);
extern RowState ZbxhistDayUpdateRow(DayModify *modify, const PackedRowId *id,
									const int64 *position,
									TupleTableSlot *slot);
extern uint64 ZbxhistDayDeleteRange(DayModify *modify, const ItemRange *range);
extern void ZbxhistEndDayModify(DayModify *modify);
extern void ZbxhistFlushDayChanges(Oid day);

#endif							/* ZBXHIST_DAY_H */
