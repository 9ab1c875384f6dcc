/*-------------------------------------------------------------------------
 *
 * row_sort.h
 *	  Sorts any number of rows by item and position, in bounded memory.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_ROW_SORT_H
#define ZBXHIST_ROW_SORT_H

typedef struct RowSort RowSort;

/* a row: its place in the order, and bytes that only the caller knows */
typedef struct SortedRow
{
	int64		itemid;
	int64		position;		/* see rows/item_range.h */
	const char *data;
	uint32		length;
} SortedRow;

extern RowSort *ZbxhistBeginRowSort(Size memory);
extern void ZbxhistRowSortAdd(RowSort *sort, const SortedRow *row);
extern void ZbxhistRowSortPerform(RowSort *sort);
extern bool ZbxhistRowSortNext(RowSort *sort, SortedRow *row);
extern void ZbxhistEndRowSort(RowSort *sort);

#endif							/* ZBXHIST_ROW_SORT_H */
