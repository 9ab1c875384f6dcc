/*-------------------------------------------------------------------------
 *
 * packed_tid.h
 *	  The ctid of a packed row: its clock in place of a block, and what its
 *	  ns makes (row_offset.c).
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_PACKED_TID_H
#define ZBXHIST_PACKED_TID_H

#include "storage/itemptr.h"

#include "packed/day/day.h"

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

#endif							/* ZBXHIST_PACKED_TID_H */
