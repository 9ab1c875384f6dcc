/*-------------------------------------------------------------------------
 *
 * merge.h
 *	  What the files that merge late rows into a packed day share.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_MERGE_H
#define ZBXHIST_MERGE_H

#include "access/htup.h"

#include "packed/day/day.h"
#include "packed/day/day_write.h"
#include "rows/moving.h"

/* a row of the parent */
typedef struct LateRow
{
	int64		itemid;
	int64		position;
	HeapTuple	tuple;
	bool		is_added;		/* deleted there, to be written here */
} LateRow;

typedef struct MergeState
{
	int64		max_rows;
	Relation	parent;
	Relation	day;
	DayLayout  *layout;
	AttrNumber *attributes;		/* the parent's, by layout column */
	bool		has_key;		/* a key is there once */
	RowWalk		walk;

	/* the batch */
	LateRow    *rows;
	int			nrows;
	Size		nbytes;
	MemoryContext rows_context; /* owns their tuples */

	/* the group that is being written anew */
	DayScan    *scan;
	DayWriter  *writer;
	MemoryContext group_context;

	/* results */
	int64		merged;
	int64		removed;		/* the same row was in the day */
	int64		duplicates;		/* rows that stay */
} MergeState;

extern Datum ZbxhistLateValue(const MergeState *state, HeapTuple tuple,
							  int number, bool *isnull);
extern bool ZbxhistMergeGroup(MergeState *state, DayGroup *group,
							  LateRow *rows, int nrows, bool is_joined);

#endif							/* ZBXHIST_MERGE_H */
