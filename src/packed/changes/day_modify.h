/*-------------------------------------------------------------------------
 *
 * day_modify.h
 *	  What the files that change rows of a packed day share.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_DAY_MODIFY_H
#define ZBXHIST_DAY_MODIFY_H

#include "access/htup.h"
#include "lib/ilist.h"
#include "utils/resowner.h"

#include "packed/changes/modify.h"
#include "packed/values/row_offset.h"

/* where a row is */
typedef struct RowPlace
{
	ItemPointerData tid;		/* of its group */
	int			row;			/* its number in that */
} RowPlace;

/* a change of a row of the newest version */
typedef struct RowChange
{
	int64		itemid;			/* where its group begins */
	int32		clock;
	RowPlace	place;
	int			nrows;			/* from there on, if they are deleted */
	int			number;			/* the first change of a row counts */
	HeapTuple	tuple;			/* of the layout's columns; NULL: delete */
} RowChange;

struct DayModify
{
	Relation	day;
	DayLayout  *layout;
	bool		is_altered;		/* the packed table has other columns by now */
	Snapshot	snapshot;		/* the caller's */
	DayScan    *seen;			/* by that snapshot */
	Snapshot	newest;			/* NULL: is yet to be taken */
	DayScan    *current;		/* by the newest */

	/*
	 * the group of the newest version that was locked last (group_lock.c),
	 * which current has found last
	 */
	bool		has_locked;
	DayGroup	locked;
	TransactionId holder;		/* was in the way; or a multixact */
	uint16		holder_mask;	/* which of both, as in the group's row */

	/* the group in which rows were named last */
	bool		has_group;
	bool		is_same;		/* the newest version is the same group */
	DayGroup	group;			/* as seen by the snapshot */
	int			segment;		/* of it, that is in rows; or -1 */
	SegmentRows rows;			/* in seen_context */
	RowOffsets	offsets;		/* of some of them */

	RowChange  *changes;
	int			nchanges;
	int			max_changes;	/* that there is room for */
	Size		nbytes;			/* of their tuples */
	int64		nremoved;		/* rows deleted so far */
	AttrNumber *attributes;		/* of its rows, by layout column */

	SubTransactionId subid;		/* that it began in */
	ResourceOwner owner;		/* of its snapshots */
	dlist_node	node;			/* in open_modifies */
	MemoryContextCallback unlink;

	MemoryContext context;		/* owns all this */
	MemoryContext changes_context;	/* owns tuples */
	MemoryContext scratch;		/* reset when changes are written */
	MemoryContext seen_context; /* reset with modify->segment */
	MemoryContext segment_context;	/* reset with each segment */
};

/* day_modify.c */
extern bool ZbxhistInGroup(const DayGroup *group, int64 itemid, int32 clock);
extern void ZbxhistAddDelete(DayModify *modify, const DayGroup *group,
							 int segment, int row, int nrows);
extern void ZbxhistOpenNewest(DayModify *modify);
extern void ZbxhistCloseNewest(DayModify *modify);
extern void ZbxhistFlushChanges(DayModify *modify);

#endif							/* ZBXHIST_DAY_MODIFY_H */
