/*-------------------------------------------------------------------------
 *
 * source.h
 *	  One place where rows of an item are: a table, read in clock order.
 *
 * A kind of storage is a table of functions.  The reader (reader.c) merges sources and
 * knows only these functions.  So a new kind of partition needs a new set of functions,
 * and a line where sources are opened.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_SOURCE_H
#define ZBXHIST_SOURCE_H

#include "executor/tuptable.h"
#include "utils/relcache.h"
#include "utils/snapshot.h"

#include "tables/item_list.h"
#include "tables/item_range.h"

struct ItemSource;
struct SegmentInfo;
struct SegmentStats;

typedef struct ItemSourceMethods
{
	/* begins with the rows of a range; may be called again for another */
	void		(*start) (struct ItemSource *source, const ItemRange *range);

	/* goes to the next row and sets slot and position; false at the end */
	bool		(*next) (struct ItemSource *source);

	/*
	 * adds to list the items that may have rows between the clocks of range,
	 * which none of them has after clock, or before, or with the clock of the
	 * outermost row; ends what was started
	 */
	void		(*list_items) (struct ItemSource *source,
							   const ItemRange *range, int32 clock,
							   ItemList *list);

	/*
	 * sets *itemid to the first of the items between two, both included, or
	 * to the last, that may have rows between the clocks of range; false if
	 * there is none; ends what was started
	 */
	bool		(*find_item) (struct ItemSource *source, const ItemRange *range,
							  int64 first_itemid, int64 last_itemid,
							  bool is_last, int64 *itemid);

	/*
	 * Optional, for ranges that are not descending.  When the row that next
	 * would go to begins a segment all of whose rows are in the range, and
	 * whose values have statistics, sets *segment to it, which skip_segment
	 * passes over, and *stats; NULL otherwise.  Returns false when there are
	 * no more rows.
	 */
	bool		(*peek_segment) (struct ItemSource *source,
								 const struct SegmentInfo **segment,
								 struct SegmentStats *stats);
	void		(*skip_segment) (struct ItemSource *source);

	/* closes the table, keeping its lock, and frees the source */
	void		(*close) (struct ItemSource *source);
} ItemSourceMethods;

typedef struct ItemSource
{
	const ItemSourceMethods *methods;
	Relation	rel;			/* open and locked */
	TupleTableSlot *slot;		/* the row, in the table's own row type */
	int64		position;		/* of the row */
	bool		has_row;		/* slot and position are set */
} ItemSource;

extern ItemSource *ZbxhistOpenHeapSource(Relation rel, Snapshot snapshot);

#endif							/* ZBXHIST_SOURCE_H */
