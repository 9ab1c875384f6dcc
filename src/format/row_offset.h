/*-------------------------------------------------------------------------
 *
 * row_offset.h
 *	  The number in a ctid that tells rows of one item and clock apart.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_ROW_OFFSET_H
#define ZBXHIST_ROW_OFFSET_H

#include "storage/itemptr.h"

#include "format/layout.h"

/* a row by its item, clock, and what tells it from others of these */
typedef struct PackedRowId
{
	int64		itemid;
	int32		clock;
	uint16		offset;			/* see row_offset.c */
} PackedRowId;

/* of consecutive rows of one item and clock, in the order of ns */
typedef struct RowOffsets
{
	int			first;			/* their first row, or -1: not known yet */
	int			nrows;
	uint16	   *offsets;
} RowOffsets;

extern uint16 ZbxhistRowOffset(RowOffsets *offsets, const DayLayout *layout,
							   const SegmentRows *rows, int row);
extern int	ZbxhistRowAtOffset(RowOffsets *offsets, const DayLayout *layout,
							   const SegmentRows *rows, int first,
							   uint16 offset);

/* ---- the ctid of a packed row: its clock in place of a block ---- */

/*
 * set_packed_tid sets tid to that of a row.
 */
static inline void
set_packed_tid(ItemPointer tid, const PackedRowId *id)
{
	ItemPointerSet(tid, (BlockNumber) id->clock, id->offset);
}

/*
 * get_packed_tid sets clock and offset of id to what tid says; returns false
 * if it is not one of a row.
 */
static inline bool
get_packed_tid(ItemPointer tid, PackedRowId *id)
{
	id->clock = (int32) ItemPointerGetBlockNumberNoCheck(tid);
	id->offset = ItemPointerGetOffsetNumberNoCheck(tid);
	return id->offset != 0;
}

/*
 * make_packed_tid makes a number of a row's clock and offset, which is what
 * its ctid says.  Numbers of different clocks have the order of these.
 */
static inline int64
make_packed_tid(const PackedRowId *id)
{
	return (int64) id->clock * (1 << 16) + id->offset;
}

#endif							/* ZBXHIST_ROW_OFFSET_H */
