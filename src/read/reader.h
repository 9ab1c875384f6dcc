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

/* what is wanted of a reader */
typedef struct ItemReaderSpec
{
	bool		keeps_sources;	/* sources stay open for further items */
	bool		reads_all;		/* all rows of each range will be read, so
								 * archived ones can be fetched together */
	bool		leaves_packed;	/* packed days are left out */
	bool		wants_tids;		/* slots have the rows' ctids, too */
	const ColumnFilter *filter; /* leaves out packed rows; NULL: none.  It
								 * must stay allocated, and the caller checks
								 * all rows */
} ItemReaderSpec;

extern ItemReader *ZbxhistOpenReader(Relation parent, Snapshot snapshot,
									 const ItemReaderSpec *spec);
extern void ZbxhistKeepSources(ItemReader *reader);
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
