/*-------------------------------------------------------------------------
 *
 * row_offset.c
 *	  The number in a ctid that tells rows of one item and clock apart.
 *
 * The number is computed from a row's ns.  So a row keeps its ctid when other rows of
 * its second change, and a DELETE by a ctid from an earlier statement finds that
 * row or none.  Two rows whose ns differ by a multiple of 65,535, or rows with the same
 * key where no unique index forbids that, would have the same number.  Then the first row
 * has it, and each other row gets a number that no row of the second has; such a row
 * may get another number when rows of its second are deleted.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "format/row_compare.h"
#include "format/row_offset.h"
#include "tables/item_range.h"

/* 1 to this */
#define MAX_OFFSET PG_UINT16_MAX

/* makes any ns a positive number; ns 0 has the first offset */
#define NS_SHIFT (INT64CONST(32769) * MAX_OFFSET)

/*
 * OwnOffset returns the number that a row's ns gives it.
 */
static inline uint16
OwnOffset(const DayLayout *layout, const SegmentRows *rows, int row)
{
	int64		ns = position_ns(ZbxhistRowPosition(layout, rows, row));

	return (uint16) ((ns + NS_SHIFT) % MAX_OFFSET + 1);
}

/*
 * SetOffsets gives all rows of a clock their numbers.  If several have the same, the
 * first one keeps it, and the others get free numbers.
 */
static void
SetOffsets(RowOffsets *offsets, const DayLayout *layout,
		   const SegmentRows *rows)
{
	uint8		taken[(MAX_OFFSET + 1) / 8] = {0};
	int			next = 1;

	for (int i = 0; i < offsets->nrows; i++)
	{
		uint16		offset = OwnOffset(layout, rows, offsets->first + i);

		offsets->offsets[i] = taken[offset / 8] & (1 << offset % 8) ? 0 : offset;
		taken[offset / 8] |= 1 << offset % 8;
	}
	for (int i = 0; i < offsets->nrows; i++)
	{
		if (offsets->offsets[i] != 0)
			continue;
		while (taken[next / 8] & (1 << next % 8))
			next++;
		offsets->offsets[i] = (uint16) next++;
	}
}

/*
 * FindRowsOfClock finds all rows of a row's clock, unless these are those that
 * were found last.  Allocates in the current context.
 */
static void
FindRowsOfClock(RowOffsets *offsets, const DayLayout *layout,
				const SegmentRows *rows, int row)
{
	const int64 *clocks = rows->columns[0].ints;
	int			end = row + 1;

	if (offsets->first >= 0 && clocks[offsets->first] == clocks[row])
		return;
	offsets->first = row;
	while (offsets->first > 0 && clocks[offsets->first - 1] == clocks[row])
		offsets->first--;
	while (end < rows->nrows && clocks[end] == clocks[row])
		end++;
	offsets->nrows = end - offsets->first;
	if (offsets->nrows == 1)
		return;
	if (offsets->nrows > MAX_OFFSET)
		ereport(ERROR,
				errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				errmsg("item " INT64_FORMAT " has more than %d rows of one second",
					   rows->itemid, MAX_OFFSET));
	offsets->offsets = palloc(sizeof(uint16) * offsets->nrows);
	SetOffsets(offsets, layout, rows);
}

/*
 * ZbxhistRowOffset returns the number of a row, from 1 on.  All of its clock must
 * be there, with clock and ns.  Allocates what is kept for the next row in the
 * current context.
 */
uint16
ZbxhistRowOffset(RowOffsets *offsets, const DayLayout *layout,
				 const SegmentRows *rows, int row)
{
	FindRowsOfClock(offsets, layout, rows, row);
	return offsets->nrows == 1 ? OwnOffset(layout, rows, row) :
		offsets->offsets[row - offsets->first];
}

/*
 * ZbxhistRowAtOffset returns the row with a number, of those of a clock, of which
 * first is one; -1 if there is none.  Allocates as ZbxhistRowOffset does.
 */
int
ZbxhistRowAtOffset(RowOffsets *offsets, const DayLayout *layout,
				   const SegmentRows *rows, int first, uint16 offset)
{
	FindRowsOfClock(offsets, layout, rows, first);
	for (int i = 0; i < offsets->nrows; i++)
	{
		int			row = offsets->first + i;

		if (ZbxhistRowOffset(offsets, layout, rows, row) == offset)
			return row;
	}
	return -1;
}
