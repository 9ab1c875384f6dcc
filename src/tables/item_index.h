/*-------------------------------------------------------------------------
 *
 * item_index.h
 *	  Walks a table item by item in its index (itemid, clock).
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_ITEM_INDEX_H
#define ZBXHIST_ITEM_INDEX_H

#include "access/genam.h"
#include "access/skey.h"
#include "executor/tuptable.h"
#include "utils/relcache.h"

/* keys of a scan for one item's rows: itemid =, clock >=, clock < */
#define ITEM_SCAN_KEYS 3

extern bool ZbxhistHasOrder(Relation index, AttrNumber first,
							AttrNumber second);
extern Relation ZbxhistFindItemIndex(Relation rel);
extern bool ZbxhistHasItemIndex(Relation table);
extern bool ZbxhistNextItem(IndexScanDesc scan, TupleTableSlot *slot,
							bool is_first, int64 *itemid);
extern void ZbxhistInitItemKeys(ScanKey keys, int64 itemid, int64 from_clock,
								int64 to_clock);

#endif							/* ZBXHIST_ITEM_INDEX_H */
