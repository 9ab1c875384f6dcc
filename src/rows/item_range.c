/*-------------------------------------------------------------------------
 *
 * item_range.c
 *	  Makes ranges of positions without running over the ends of int8.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/timestamp.h"

#include "rows/item_range.h"

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
 * ZbxhistStartAfter leaves the rows up to position out.
 */
void
ZbxhistStartAfter(ItemRange *range, int64 position)
{
	if (position == PG_INT64_MAX)
		ZbxhistMakeEmpty(range);
	else
		ZbxhistStartAt(range, position + 1);
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

/*
 * ZbxhistTimePosition converts a point in time; returns false if it has no
 * position, which is then set to the nearest end: a time before all clocks
 * has the first position, one after all clocks the last.
 */
bool
ZbxhistTimePosition(TimestampTz moment, int64 *position)
{
	const int64 epoch = ((int64) (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE)) *
		SECS_PER_DAY;
	int64		seconds = moment / USECS_PER_SEC;
	int64		micros = moment % USECS_PER_SEC;

	if (micros < 0)
	{
		seconds--;
		micros += USECS_PER_SEC;
	}
	seconds += epoch;
	if (TIMESTAMP_IS_NOBEGIN(moment) || seconds < PG_INT32_MIN)
		*position = PG_INT64_MIN;
	else if (TIMESTAMP_IS_NOEND(moment) || seconds > PG_INT32_MAX)
		*position = PG_INT64_MAX;
	else
	{
		*position = make_position((int32) seconds, (int32) (micros * 1000));
		return true;
	}
	return false;
}
