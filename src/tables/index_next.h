/*-------------------------------------------------------------------------
 *
 * index_next.h
 *		The next row of an index scan that outlives the caller's memory.
 *
 * A btree remembers the rows it has found dead in memory that it allocates
 * where the first is found, in the current context (btgettuple in
 * nbtree.c), and looks at it until the scan moves on or ends.  Here scans are
 * asked for rows in contexts that are reset meanwhile: a row's, as the executor
 * has it for foreign tables, or a group's.
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
