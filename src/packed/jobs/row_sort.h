/*-------------------------------------------------------------------------
 *
 * row_sort.h
 *	  Sorts any number of rows by item and position, in bounded memory.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_ROW_SORT_H
#define ZBXHIST_ROW_SORT_H

#include "lib/stringinfo.h"

#include "packed/values/row_buffer.h"

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
extern void ZbxhistRowSortPerform(RowSort *sort);
extern bool ZbxhistRowSortNext(RowSort *sort, SortedRow *row);
extern void ZbxhistEndRowSort(RowSort *sort);
extern void ZbxhistSortRow(RowSort *sort, StringInfo record,
						   const DayLayout *layout, int64 itemid,
						   const int *sources, const Datum *values,
						   const bool *nulls);
extern void ZbxhistDecodeRow(RowBuffer *buffer, int row, const char *data);

#endif							/* ZBXHIST_ROW_SORT_H */
