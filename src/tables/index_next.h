/*-------------------------------------------------------------------------
 *
 * index_next.h
 *		The next row of an index scan that outlives the caller's memory.
 *
 * A btree scan allocates its list of dead rows when it finds the first one, in the
 * context that is current then (btgettuple in nbtree.c), and uses it until the scan moves
 * on or ends.  Here scans are asked for rows in contexts that are reset earlier: the
 * executor's context for a row of a foreign table, or that of a group.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_INDEX_NEXT_H
#define ZBXHIST_INDEX_NEXT_H

#include "access/genam.h"
#include "access/sdir.h"
#include "executor/tuptable.h"
#include "utils/memutils.h"

/*
 * index_next puts the scan's next row into the slot; returns false at the end.
 * What the index allocates lives as long as the scan.
 */
static inline bool
index_next(IndexScanDesc scan, ScanDirection direction, TupleTableSlot *slot)
{
	MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(scan));
	bool		found = index_getnext_slot(scan, direction, slot);

	MemoryContextSwitchTo(old);
	return found;
}

#endif							/* ZBXHIST_INDEX_NEXT_H */
