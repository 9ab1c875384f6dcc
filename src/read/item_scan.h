/*-------------------------------------------------------------------------
 *
 * item_scan.h
 *	  Executes SELECT of the newest or oldest rows of items.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_ITEM_SCAN_H
#define ZBXHIST_ITEM_SCAN_H

#include "custom_scan.h"
#include "read/item_query.h"
#include "tables/bounds.h"
#include "tables/item_range.h"

/* members of the plan's custom_private */
typedef enum ItemScanPrivate
{
	ITEM_CONDS,					/* IntList: kinds of the conditions whose
								 * values custom_exprs begin with; then come
								 * the keys of intervals, and the conditions
								 * as a whole, for EXPLAIN */
	ITEM_QUERY,					/* IntList, see below */
	ITEM_RANGES					/* Const, or NULL; see ItemQuery */
} ItemScanPrivate;

/* members of ITEM_QUERY */
enum ItemQueryPart
{
	QUERY_IS_DESCENDING,
	QUERY_IS_OF_EACH,
	QUERY_IS_OF_INTERVALS,
	QUERY_HAS_NS,
	QUERY_NKEYS,
	QUERY_IS_BY_KEY,
	QUERY_ITEMS_DESCENDING,
	QUERY_READS_ALL,			/* no LIMIT or the like */
	QUERY_LEAVES_PACKED			/* rows of packed days are read elsewhere */
};

/* which partitions a scan has locked; all zero: none */
typedef struct LockedPartitions
{
	uint32		generation;		/* generation of the partition set */
	ClockRange	clocks;
} LockedPartitions;

extern void ZbxhistLockScannedPartitions(Relation parent, const ItemRange *range,
										 LockedPartitions *locked);

/* the same node, for EXPLAIN under two names */
extern const ScanNode zbxhist_item_scan;
extern const ScanNode zbxhist_key_scan;

/*
 * read_item_numbers fills in what such a list of numbers says.
 */
static inline void
read_item_numbers(const List *numbers, ItemQuery *query)
{
	query->is_descending = list_nth_int(numbers, QUERY_IS_DESCENDING);
	query->is_of_each = list_nth_int(numbers, QUERY_IS_OF_EACH);
	query->is_of_intervals = list_nth_int(numbers, QUERY_IS_OF_INTERVALS);
	query->has_ns = list_nth_int(numbers, QUERY_HAS_NS);
	query->is_by_key = list_nth_int(numbers, QUERY_IS_BY_KEY);
	query->items_descending = list_nth_int(numbers, QUERY_ITEMS_DESCENDING);
}

#endif							/* ZBXHIST_ITEM_SCAN_H */
