/*-------------------------------------------------------------------------
 *
 * row_offset.h
 *	  What tells rows of one item and clock apart, in their ctids.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_ROW_OFFSET_H
#define ZBXHIST_ROW_OFFSET_H

#include "packed/day/layout.h"

/* of consecutive rows of one item and clock, in the order of ns */
typedef struct RowOffsets
{
	int			first;			/* their first row, or -1: none yet */
	int			nrows;
	uint16	   *offsets;
} RowOffsets;

extern uint16 ZbxhistRowOffset(RowOffsets *offsets, const DayLayout *layout,
							   const SegmentRows *rows, int row);
extern int	ZbxhistRowAtOffset(RowOffsets *offsets, const DayLayout *layout,
							   const SegmentRows *rows, int first,
							   uint16 offset);

#endif							/* ZBXHIST_ROW_OFFSET_H */
