/*-------------------------------------------------------------------------
 *
 * item_range.h
 *	  Which rows of one item are asked for.
 *
 * A row's time is (clock, ns), both int4.  A position has both in one int64, which sorts
 * in the same order.  So all bounds are inclusive, and are compared by one comparison.  A
 * table without ns has 0 for it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_ITEM_RANGE_H
#define ZBXHIST_ITEM_RANGE_H

typedef struct ItemRange
{
	int64		itemid;
	int64		first;			/* position, included */
	int64		last;			/* position, included; before first: no rows */
	bool		is_descending;	/* newest first */
} ItemRange;

/*
 * make_position packs a clock and its nanoseconds.
 */
static inline int64
make_position(int32 clock, int32 ns)
{
	return (int64) (((uint64) (int64) clock << 32) |
					((uint32) ns ^ ((uint32) 1 << 31)));
}

/*
 * position_clock returns the clock of a position.
 */
static inline int32
position_clock(int64 position)
{
	return (int32) ((uint64) position >> 32);
}

/*
 * position_ns returns the nanoseconds of a position.
 */
static inline int32
position_ns(int64 position)
{
	return (int32) ((uint32) position ^ ((uint32) 1 << 31));
}

/*
 * compare_places compares two rows by item, then by position, or by a clock
 * in its place.
 */
static inline int
compare_places(int64 itemid, int64 position, int64 other_itemid,
			   int64 other_position)
{
	if (itemid != other_itemid)
		return itemid < other_itemid ? -1 : 1;
	return position < other_position ? -1 : position > other_position;
}

/*
 * compare_itemids orders items for qsort and bsearch.
 */
static inline int
compare_itemids(const void *a, const void *b)
{
	int64		left = *(const int64 *) a;
	int64		right = *(const int64 *) b;

	return left < right ? -1 : left > right;
}

extern void ZbxhistWholeItem(ItemRange *range, int64 itemid);
extern void ZbxhistStartAt(ItemRange *range, int64 position);
extern void ZbxhistEndAt(ItemRange *range, int64 position);
extern void ZbxhistEndBefore(ItemRange *range, int64 position);
extern void ZbxhistMakeEmpty(ItemRange *range);

#define item_range_is_empty(range) ((range)->first > (range)->last)

#endif							/* ZBXHIST_ITEM_RANGE_H */
