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

#include "format/layout.h"

typedef struct RowBuffer
{
	const DayLayout *layout;
	SegmentRows rows;			/* sorted by clock, as they were added */
	int			max_rows;		/* capacity of the arrays */
	size_t		nbytes;			/* of byte values */
	MemoryContext context;		/* owns the arrays */
	MemoryContext bytes_context;	/* owns the bytes */
} RowBuffer;

/* tuples that have a day's columns, in some order */
typedef struct TupleSource
{
	const DayLayout *layout;
	TupleDesc	desc;
	AttrNumber *attributes;		/* of desc, by columns of the layout */
	Datum	   *values;			/* of a tuple */
	bool	   *nulls;
} TupleSource;

extern RowBuffer *ZbxhistCreateRowBuffer(const DayLayout *layout);
extern void ZbxhistBeginRows(RowBuffer *buffer, int64 itemid);

/* adding a row: its clock, then each other column */
extern int	ZbxhistAddRow(RowBuffer *buffer, int32 clock);
extern void ZbxhistSetRow(RowBuffer *buffer, int row,
						  const AttrNumber *attributes, const Datum *values,
						  const bool *nulls);

/* rows of tuples */
extern bool ZbxhistInitTupleSource(TupleSource *source,
								   const DayLayout *layout, TupleDesc desc);
extern bool ZbxhistReadKey(const TupleSource *source, HeapTuple tuple,
						   int64 *itemid, int64 *position);
extern void ZbxhistLoadTuple(TupleSource *source, HeapTuple tuple,
							 RowBuffer *buffer, int row);
extern void ZbxhistCopyValues(RowBuffer *buffer, int row,
							  const SegmentRows *from, int from_row);
extern void ZbxhistRemoveRows(RowBuffer *buffer, int count);

#endif							/* ZBXHIST_ROW_BUFFER_H */
