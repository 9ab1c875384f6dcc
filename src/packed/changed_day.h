/*-------------------------------------------------------------------------
 *
 * changed_day.h
 *	  A packed day of which a statement changes rows.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_CHANGED_DAY_H
#define ZBXHIST_CHANGED_DAY_H

#include "utils/hsearch.h"

#include "format/row_offset.h"
#include "packed/day.h"
#include "tables/packed_days.h"

/* changes of a group, a row of the day's table */
typedef struct ChangedGroup
{
	ItemPointerData tid;		/* hash key - must be first */
	int64		itemid;			/* where it begins */
	int32		clock;
	int			nrows;
	int			ndeleted;
	int			nupdated;
	uint8	   *deleted;		/* bits of its rows; NULL: none is changed */
	uint8	   *updated;		/* likewise; never of a row that is deleted */
} ChangedGroup;

typedef struct ChangedDay
{
	PackedDay	day;
	int			number;			/* among the statement's */
	DayLayout  *layout;
	bool		is_altered;		/* the columns of the packed table were
								 * changed since */
	AttrNumber *attributes;		/* of its rows, by layout column */
	HTAB	   *groups;			/* of ChangedGroup */
	MemoryContext context;		/* owns them */

	/* while it is open; rel is NULL otherwise */
	Relation	rel;
	bool		looks_again;	/* finds the current version of rows */
	Snapshot	fresh;			/* with this snapshot; NULL: the statement's */
	DayScan    *scan;
	TupleTableSlot *slot;		/* of its table */
	ChangedGroup *group;		/* the group found last, or NULL */
	DayGroup	found;			/* the same, open */
	int			segment;		/* its segment that is decoded in rows, or -1 */
	SegmentRows rows;			/* in segment_context */
	RowOffsets	offsets;		/* of some of them */
	MemoryContext segment_context;
} ChangedDay;

/* a row that is changed has its bit set */
#define row_is_in(bits, row) (((bits)[(row) / 8] & (1 << (row) % 8)) != 0)

/* write_changes.c: new versions of rows, sorted by group and row */
typedef struct RowUpdates RowUpdates;

extern RowUpdates *ZbxhistBeginRowUpdates(Relation table);
extern void ZbxhistAddRowUpdate(RowUpdates *updates, const ChangedDay *day,
								int row, TupleTableSlot *slot);
extern void ZbxhistEndRowUpdates(RowUpdates *updates);
extern void ZbxhistWriteChangedDay(ChangedDay *day, RowUpdates *updates);

/* changed_day.c */
extern bool ZbxhistFindChangedGroup(ChangedDay *day, int64 itemid, int32 clock);
extern void ZbxhistDecodeChangedSegment(ChangedDay *day, int segment);
extern bool ZbxhistMarkRow(ChangedDay *day, int row, bool is_update);

#endif							/* ZBXHIST_CHANGED_DAY_H */
