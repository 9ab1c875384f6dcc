/*-------------------------------------------------------------------------
 *
 * item_ends.h
 *	  The items of a table with the clocks of their newest or oldest rows.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_ITEM_ENDS_H
#define ZBXHIST_ITEM_ENDS_H

#include "utils/relcache.h"
#include "utils/snapshot.h"

#include "rows/item_list.h"
#include "rows/item_range.h"

extern void ZbxhistListItemEnds(Relation rel, Relation index, Snapshot snapshot,
								const ItemRange *range, ItemList *list);

#endif							/* ZBXHIST_ITEM_ENDS_H */
