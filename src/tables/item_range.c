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
 * ZbxhistMakeEmpty makes range one without rows.
 */
void
ZbxhistMakeEmpty(ItemRange *range)
{
	range->first = PG_INT64_MAX;
	range->last = PG_INT64_MIN;
}

/*
 * ZbxhistStartAt leaves the rows before position out.
 */
void
ZbxhistStartAt(ItemRange *range, int64 position)
{
	range->first = Max(range->first, position);
}

/*
 * ZbxhistEndAt leaves the rows after position out.
 */
void
ZbxhistEndAt(ItemRange *range, int64 position)
{
	range->last = Min(range->last, position);
}

/*
 * ZbxhistEndBefore leaves the rows from position on out.
 */
void
ZbxhistEndBefore(ItemRange *range, int64 position)
{
	if (position == PG_INT64_MIN)
		ZbxhistMakeEmpty(range);
	else
		ZbxhistEndAt(range, position - 1);
}
