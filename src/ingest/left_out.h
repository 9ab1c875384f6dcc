/*-------------------------------------------------------------------------
 *
 * left_out.h
 *	  Rows that are not stored, because the policy leaves their clocks out.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_LEFT_OUT_H
#define ZBXHIST_LEFT_OUT_H

#include "access/htup.h"
#include "utils/relcache.h"

#include "tables/bounds.h"
#include "tables/partition_set.h"

/* so many items of a statement are told by themselves */
#define ZBXHIST_MAX_LEFT_OUT_ITEMS 32

/* rows of an item, or of those for which there is no place */
typedef struct LeftOutItem
{
	int64		itemid;			/* 0: of several, or of none */
	int64		nrows;
	int32		first_clock;
	int32		last_clock;
} LeftOutItem;

/* what a statement leaves out */
typedef struct LeftOut
{
	ClockRange	limits;			/* clocks that are stored */
	bool		keeps_rows;		/* keep the rows for a day */
	int			nitems;
	LeftOutItem items[ZBXHIST_MAX_LEFT_OUT_ITEMS];
} LeftOut;

extern void ZbxhistSetClockLimits(LeftOut *left_out, const PartitionSet *set);
extern void ZbxhistLeaveOut(LeftOut *left_out, Relation parent,
							HeapTuple tuple, int64 itemid, int32 clock);
extern void ZbxhistNoteLeftOut(LeftOut *left_out, Oid parent);

#endif							/* ZBXHIST_LEFT_OUT_H */
