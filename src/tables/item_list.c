/*-------------------------------------------------------------------------
 *
 * item_list.c
 *	  The items that have rows somewhere, in bounded memory.
 *
 * A search for items goes through one table after the other and adds each item that it
 * finds, maybe several times.  With it comes a clock: a bound which no row of the item in
 * that table exceeds (or falls below), or the clock of one of its rows.  When the list
 * reaches work_mem it keeps its lowest items and drops the others.  The same search, with
 * first set to the item after its last one, then gives the next items.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "tables/item_list.h"

/* items that a list has place for at first */
#define FIRST_SIZE 1024

/*
 * ZbxhistInitItemList makes an empty list for all items, in the current context.
 */
void
ZbxhistInitItemList(ItemList *list, bool is_descending)
{
	Size		most = Min((Size) work_mem * 1024, MaxAllocSize) / sizeof(ListedItem);

	list->is_descending = is_descending;
	list->first = PG_INT64_MIN;
	list->last = PG_INT64_MAX;
	list->nitems = 0;
	list->size = FIRST_SIZE;
	list->max_size = (int) Max(most, FIRST_SIZE);
	list->items = palloc(sizeof(ListedItem) * list->size);
}

/*
 * compare_listed_items orders them by their numbers.
 */
static int
compare_listed_items(const void *a, const void *b)
{
	int64		left = ((const ListedItem *) a)->itemid;
	int64		right = ((const ListedItem *) b)->itemid;

	return left < right ? -1 : left > right;
}

/*
 * AddClock merges into an item what another table tells about its rows.
 */
static inline void
AddClock(const ItemList *list, ListedItem *item, int32 clock, bool is_exact)
{
	if (item->clock == clock)
		item->is_exact |= is_exact;
	else if ((clock > item->clock) == list->is_descending)
	{
		item->clock = clock;
		item->is_exact = is_exact;
	}
}

/*
 * ZbxhistSortItemList sorts the list and leaves each item once.
 */
void
ZbxhistSortItemList(ItemList *list)
{
	ListedItem *items = list->items;
	int			nunique = 0;

	qsort(items, list->nitems, sizeof(ListedItem), compare_listed_items);
	for (int i = 0; i < list->nitems; i++)
	{
		ListedItem *previous = &items[nunique - 1];

		if (nunique > 0 && previous->itemid == items[i].itemid)
			AddClock(list, previous, items[i].clock, items[i].is_exact);
		else
			items[nunique++] = items[i];
	}
	list->nitems = nunique;
}

/*
 * MakePlace makes room for at least one more item in a full list.
 */
static void
MakePlace(ItemList *list)
{
	ZbxhistSortItemList(list);
	if (list->nitems <= list->size / 2)
		return;
	if (list->size < list->max_size)
	{
		list->size = Min(list->size * 2, list->max_size);
		list->items = repalloc(list->items, sizeof(ListedItem) * list->size);
		return;
	}
	list->nitems = list->size / 2;
	list->last = list->items[list->nitems - 1].itemid;
}

/*
 * ZbxhistAddItem adds an item, if it is wanted.
 */
void
ZbxhistAddItem(ItemList *list, int64 itemid, int32 clock, bool is_exact)
{
	ListedItem *previous = &list->items[list->nitems - 1];

	if (itemid < list->first || itemid > list->last)
		return;
	if (list->nitems > 0 && previous->itemid == itemid)
	{
		AddClock(list, previous, clock, is_exact);
		return;
	}
	if (list->nitems == list->size)
	{
		MakePlace(list);
		if (itemid > list->last)
			return;
	}
	list->items[list->nitems].itemid = itemid;
	list->items[list->nitems].clock = clock;
	list->items[list->nitems].is_exact = is_exact;
	list->nitems++;
}
