/*-------------------------------------------------------------------------
 *
 * reader.h
 *	  The rows of one item of a parent, from wherever they are.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_READER_H
#define ZBXHIST_READER_H

#include "executor/tuptable.h"
#include "utils/relcache.h"
#include "utils/snapshot.h"

#include "packed/column_filter.h"
#include "tables/item_range.h"
#include "tables/source.h"

typedef struct ItemReader ItemReader;

extern ItemReader *ZbxhistOpenReader(Relation parent, Snapshot snapshot,
									 bool keeps_sources);
extern void ZbxhistKeepSources(ItemReader *reader);
extern void ZbxhistReadsToEnd(ItemReader *reader);
extern void ZbxhistLeavePacked(ItemReader *reader);
extern void ZbxhistWantTids(ItemReader *reader);
extern void ZbxhistFilterPacked(ItemReader *reader,
								const ColumnFilter *filter);
extern uint64 ZbxhistCountSources(const ItemReader *reader);
extern const struct ScanCounters *ZbxhistCountPacked(const ItemReader *reader);
extern void ZbxhistReadItem(ItemReader *reader, const ItemRange *range);
extern void ZbxhistListItems(ItemReader *reader, const ItemRange *range,
							 ItemList *list);
extern bool ZbxhistFindItem(ItemReader *reader, const ItemRange *range,
							int64 first_itemid, int64 last_itemid, bool is_last,
							int64 *itemid);
extern bool ZbxhistReadNext(ItemReader *reader);
extern const struct SegmentInfo *ZbxhistPeekSegment(ItemReader *reader,
													struct SegmentStats *stats);
extern void ZbxhistSkipSegment(ItemReader *reader);
extern int64 ZbxhistReadPosition(const ItemReader *reader);
extern TupleTableSlot *ZbxhistReadSlot(ItemReader *reader);
extern Datum ZbxhistReadDatum(ItemReader *reader);
extern void ZbxhistCloseReader(ItemReader *reader);

#endif							/* ZBXHIST_READER_H */
