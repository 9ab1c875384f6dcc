/*-------------------------------------------------------------------------
 *
 * sorted_row.h
 *	  The values of a row on its way through the sort.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_SORTED_ROW_H
#define ZBXHIST_SORTED_ROW_H

#include "lib/stringinfo.h"

#include "packed/jobs/row_sort.h"
#include "packed/values/row_buffer.h"

extern void ZbxhistSortRow(RowSort *sort, StringInfo record,
						   const DayLayout *layout, int64 itemid,
						   const int *sources, const Datum *values,
						   const bool *nulls);
extern void ZbxhistDecodeRow(RowBuffer *buffer, int row, const char *data);

#endif							/* ZBXHIST_SORTED_ROW_H */
