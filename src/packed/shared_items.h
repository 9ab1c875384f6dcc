/*-------------------------------------------------------------------------
 *
 * shared_items.h
 *	  Finds items with the same times while a packed day is written.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_SHARED_ITEMS_H
#define ZBXHIST_SHARED_ITEMS_H

#include "format/row_buffer.h"

/* rows of an item whose times are compared with others', at most */
#define SHARED_MAX_ROWS 10000

typedef struct SharedItems SharedItems;

extern SharedItems *ZbxhistBeginSharedItems(const DayLayout *layout);
extern RowBuffer *ZbxhistQueueItem(SharedItems *items, RowBuffer *buffer);
extern RowBuffer *ZbxhistTakeItem(SharedItems *items, bool is_end,
								  const SharedTimes **fresh);
extern void ZbxhistReleaseItem(SharedItems *items, RowBuffer *buffer);

#endif							/* ZBXHIST_SHARED_ITEMS_H */
