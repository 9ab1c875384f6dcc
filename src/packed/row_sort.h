/*-------------------------------------------------------------------------
 *
 * row_sort.h
 *	  Sorts any number of rows by item and position, in bounded memory.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_ROW_SORT_H
#define ZBXHIST_ROW_SORT_H

#include "access/htup.h"

typedef struct RowSort RowSort;

/* a row: its place in the order, and its tuple, of which only the data counts */
typedef struct SortedRow
{
	int64		itemid;
	int64		position;		/* see tables/item_range.h */
	HeapTupleData tuple;
} SortedRow;

extern RowSort *ZbxhistBeginRowSort(Size memory);
extern void ZbxhistSortRow(RowSort *sort, int64 itemid, int64 position,
						   HeapTuple tuple);
extern void ZbxhistRowSortPerform(RowSort *sort);
extern bool ZbxhistRowSortNext(RowSort *sort, SortedRow *row);
extern void ZbxhistEndRowSort(RowSort *sort);

#endif							/* ZBXHIST_ROW_SORT_H */
