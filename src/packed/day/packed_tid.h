/*-------------------------------------------------------------------------
 *
 * packed_tid.h
 *	  The ctid of a packed row: its clock in place of a block, its ordinal.
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
	ItemPointerSet(tid, (BlockNumber) id->clock, id->ordinal);
}

/*
 * get_packed_tid sets clock and ordinal of id to what tid says; returns false
 * if it is not one of a row.
 */
static inline bool
get_packed_tid(ItemPointer tid, PackedRowId *id)
{
	id->clock = (int32) ItemPointerGetBlockNumberNoCheck(tid);
	id->ordinal = ItemPointerGetOffsetNumberNoCheck(tid);
	return id->ordinal != 0;
}

/*
 * make_packed_tid makes a number of a row's clock and ordinal, which is what
 * its ctid says.  Numbers have the order of the rows of an item.
 */
static inline int64
make_packed_tid(const PackedRowId *id)
{
	return (int64) id->clock * (1 << 16) + id->ordinal;
}

#endif							/* ZBXHIST_PACKED_TID_H */
