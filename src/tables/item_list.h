/*-------------------------------------------------------------------------
 *
 * item_list.h
 *	  The items that have rows somewhere, in bounded memory.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_ITEM_LIST_H
#define ZBXHIST_ITEM_LIST_H

typedef struct ListedItem
{
	int64		itemid;
	int32		clock;			/* none of its rows is newer; or older */
	bool		is_exact;		/* one of its rows has that clock */
} ListedItem;

typedef struct ItemList
{
	bool		is_descending;	/* clock is of the newest rows */
	int64		first;			/* items before that are not wanted */
	int64		last;			/* nor those after it */
	int			nitems;
	int			size;			/* of items */
	int			max_size;		/* that memory allows */
	ListedItem *items;
} ItemList;

extern void ZbxhistInitItemList(ItemList *list, bool is_descending);
extern void ZbxhistAddItem(ItemList *list, int64 itemid, int32 clock,
						   bool is_exact);
extern void ZbxhistSortItemList(ItemList *list);

#endif							/* ZBXHIST_ITEM_LIST_H */
