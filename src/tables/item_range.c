/*-------------------------------------------------------------------------
 *
 * item_range.c
 *	  Makes ranges of positions without overflow of int8.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "tables/item_range.h"

/*
 * ZbxhistWholeItem sets range to all rows of an item, oldest first.
 */
void
ZbxhistWholeItem(ItemRange *range, int64 itemid)
{
	range->itemid = itemid;
	range->first = PG_INT64_MIN;
	range->last = PG_INT64_MAX;
	range->is_descending = false;
}

/*
 * ZbxhistMakeEmpty makes range empty.
 */
void
ZbxhistMakeEmpty(ItemRange *range)
{
	range->first = PG_INT64_MAX;
	range->last = PG_INT64_MIN;
}

/*
 * ZbxhistStartAt excludes the rows before position.
 */
void
ZbxhistStartAt(ItemRange *range, int64 position)
{
	range->first = Max(range->first, position);
}

/*
 * ZbxhistEndAt excludes the rows after position.
 */
void
ZbxhistEndAt(ItemRange *range, int64 position)
{
	range->last = Min(range->last, position);
}

/*
 * ZbxhistEndBefore excludes the rows from position on.
 */
void
ZbxhistEndBefore(ItemRange *range, int64 position)
{
	if (position == PG_INT64_MIN)
		ZbxhistMakeEmpty(range);
	else
		ZbxhistEndAt(range, position - 1);
}
