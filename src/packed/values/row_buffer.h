/*-------------------------------------------------------------------------
 *
 * row_buffer.h
 *	  Rows of one item, column by column, on their way into segments.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_ROW_BUFFER_H
#define ZBXHIST_ROW_BUFFER_H

#include "access/htup.h"

#include "packed/values/layout.h"

typedef struct RowBuffer
{
	const DayLayout *layout;
	SegmentRows rows;			/* sorted by clock, as they were added */
	int			max_rows;		/* that the arrays have room for */
	size_t		nbytes;			/* of values that are bytes */
	MemoryContext context;		/* owns the arrays */
	MemoryContext bytes_context;	/* owns the bytes */
} RowBuffer;

extern RowBuffer *ZbxhistCreateRowBuffer(const DayLayout *layout);
extern void ZbxhistFreeRowBuffer(RowBuffer *buffer);
extern void ZbxhistBeginRows(RowBuffer *buffer, int64 itemid);

/* adding a row: its clock, then each other column */
extern int	ZbxhistAddRow(RowBuffer *buffer, int32 clock);
extern int	ZbxhistAddAnyRow(RowBuffer *buffer, int32 clock);
extern void ZbxhistSetNull(RowBuffer *buffer, int row, int column);
extern void ZbxhistSetInt(RowBuffer *buffer, int row, int column,
						  int64 value);
extern void ZbxhistSetBytes(RowBuffer *buffer, int row, int column,
							const char *data, uint32 length);
extern void ZbxhistSetUnsigned(RowBuffer *buffer, int row, int column,
							   uint64 value);
extern void ZbxhistSetDatum(RowBuffer *buffer, int row, int column,
							Datum value, bool isnull);
extern void ZbxhistSetTuple(RowBuffer *buffer, int row, HeapTuple tuple);
extern void ZbxhistCopyValues(RowBuffer *buffer, int row,
							  const SegmentRows *from, int from_row);
extern void ZbxhistRemoveRows(RowBuffer *buffer, int count);

#endif							/* ZBXHIST_ROW_BUFFER_H */
