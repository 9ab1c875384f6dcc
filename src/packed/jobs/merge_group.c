/*-------------------------------------------------------------------------
 *
 * merge_group.c
 *	  Adds late rows to a group of a packed day.
 *
 * Of the group only the segments concerned are encoded anew.
 *
 * A row whose key is in the day already is deleted if it is the same row, else
 * it stays in the parent: two values for a key are for people.  So do rows
 * past the number of one item and clock that a day can hold.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "miscadmin.h"
#include "nodes/pg_list.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "packed/jobs/merge.h"
#include "packed/values/row_compare.h"

/* late rows of one segment's item, as a segment has them */
typedef struct LateRows
{
	LateRow    *rows;
	int			nrows;
	RowBuffer  *buffer;
} LateRows;

/* a segment of the group, and what is added to it */
typedef struct MergePart
{
	int			segment;		/* -1: there is none yet */
	SegmentRows decoded;		/* unless late is empty */
	LateRows	late;
	int32		clock;			/* of which rows are counted; if nclock > 0 */
	int			nclock;
} MergePart;

/* ---- late rows ---- */

/*
 * ZbxhistLateValue returns the value of the parent's column that is the day's
 * column number.
 */
Datum
ZbxhistLateValue(const MergeState *state, HeapTuple tuple, int number,
				 bool *isnull)
{
	return heap_getattr(tuple, state->attributes[number],
						RelationGetDescr(state->parent), isnull);
}

/*
 * LoadRows fills the buffer of late with its rows, which are of one item.
 */
static void
LoadRows(MergeState *state, LateRows *late)
{
	const DayLayout *layout = state->layout;

	late->buffer = ZbxhistCreateRowBuffer(layout);
	ZbxhistBeginRows(late->buffer, late->rows[0].itemid);
	for (int i = 0; i < late->nrows; i++)
	{
		int			row = ZbxhistAddRow(late->buffer,
										position_clock(late->rows[i].position));

		for (int j = 0; j < layout->ncolumns; j++)
		{
			bool		isnull;
			Datum		value;

			if (layout->columns[j].packed <= 0)
				continue;
			value = ZbxhistLateValue(state, late->rows[i].tuple, j, &isnull);
			ZbxhistSetDatum(late->buffer, row, layout->columns[j].packed,
							value, isnull);
		}
	}
}

/*
 * FindKey returns the number of the row at a position in a decoded segment,
 * or -1.
 */
static int
FindKey(const MergeState *state, const SegmentRows *rows, int64 position)
{
	int32		clock = position_clock(position);

	for (int i = ZbxhistFirstOfClock(rows, clock);
		 i < rows->nrows && rows->columns[0].ints[i] == clock; i++)
	{
		if (ZbxhistRowPosition(state->layout, rows, i) == position)
			return i;
	}
	return -1;
}

/*
 * IsFull says whether the part has as many rows of a clock as there can be.
 * Clocks come in their order.
 */
static bool
IsFull(MergePart *part, int32 clock)
{
	const SegmentRows *rows = &part->decoded;

	if (part->nclock == 0 || part->clock != clock)
	{
		part->clock = clock;
		part->nclock = 0;
		for (int i = part->segment < 0 ? rows->nrows :
			 ZbxhistFirstOfClock(rows, clock);
			 i < rows->nrows && rows->columns[0].ints[i] == clock; i++)
			part->nclock++;
	}
	return part->nclock == ZBXHIST_MAX_CLOCK_ROWS;
}

/*
 * TakeRow takes the row number of part out of the parent, unless it has to
 * stay there.
 */
static void
TakeRow(MergeState *state, MergePart *part, int number)
{
	LateRow    *row = &part->late.rows[number];
	int			existing = -1;

	if (state->has_key && part->segment >= 0)
		existing = FindKey(state, &part->decoded, row->position);
	if (existing >= 0 &&
		!ZbxhistSameRow(&part->decoded, existing,
						&part->late.buffer->rows, number))
	{
		state->duplicates++;
		return;
	}
	if (existing < 0 && IsFull(part, position_clock(row->position)))
	{
		state->duplicates++;
		return;
	}
	if (!ZbxhistDeleteMoved(state->parent, &row->tuple->t_self,
							state->walk.snapshot))
		return;
	if (existing >= 0)
		state->removed++;
	else
	{
		row->is_added = true;
		part->nclock++;
		state->merged++;
	}
}

/* ---- a group ---- */

/*
 * MakePart begins the part of a segment, or of an item without one, with the
 * late rows that belong to it.
 */
static MergePart *
MakePart(MergeState *state, const GroupReader *reader, int segment,
		 LateRow *rows, int nrows)
{
	MergePart  *part = palloc0(sizeof(MergePart));

	part->segment = segment;
	part->late.rows = rows;
	part->late.nrows = nrows;
	if (nrows == 0)
		return part;
	if (segment >= 0)
		ZbxhistDecodeDaySegment(state->day, state->layout, reader, segment,
								NULL, &part->decoded);
	LoadRows(state, &part->late);
	for (int i = 0; i < nrows; i++)
	{
		CHECK_FOR_INTERRUPTS();
		TakeRow(state, part, i);
	}
	return part;
}

/*
 * CountOfSegment returns how many of the late rows, which come after those of
 * the segments before, go to a segment: those of its item up to its end, or
 * all of the item if it is the last one of it.
 */
static int
CountOfSegment(const GroupReader *reader, int segment, const LateRow *rows,
			   int nrows)
{
	const SegmentInfo *info = &reader->segments[segment];
	bool		is_last = segment + 1 == reader->nsegments ||
		reader->segments[segment + 1].itemid != info->itemid;
	int			count = 0;

	while (count < nrows && rows[count].itemid == info->itemid &&
		   (is_last || position_clock(rows[count].position) <= info->last_clock))
		count++;
	return count;
}

/*
 * CountOfItem returns how many rows the first one's item has.
 */
static int
CountOfItem(const LateRow *rows, int nrows)
{
	int			count = 0;

	while (count < nrows && rows[count].itemid == rows[0].itemid)
		count++;
	return count;
}

/*
 * DivideGroup returns the parts of a group with its late rows, in order.
 */
static List *
DivideGroup(MergeState *state, const GroupReader *reader, LateRow *rows,
			int nrows)
{
	List	   *parts = NIL;
	int			segment = 0;
	int			next = 0;

	while (segment < reader->nsegments || next < nrows)
	{
		int			count;

		if (segment < reader->nsegments &&
			(next == nrows ||
			 reader->segments[segment].itemid <= rows[next].itemid))
		{
			count = CountOfSegment(reader, segment, &rows[next], nrows - next);
			parts = lappend(parts, MakePart(state, reader, segment++,
											&rows[next], count));
		}
		else
		{
			count = CountOfItem(&rows[next], nrows - next);
			parts = lappend(parts, MakePart(state, reader, -1, &rows[next],
											count));
		}
		next += count;
	}
	return parts;
}

/*
 * WritePart writes a segment with what is added to it.
 */
static void
WritePart(MergeState *state, const GroupReader *reader, MergePart *part)
{
	SegmentRows *rows = &part->decoded;
	SegmentRows *added = part->late.buffer ? &part->late.buffer->rows : NULL;
	bool		has_added = false;
	int			next = 0;

	for (int i = 0; i < part->late.nrows; i++)
		has_added |= part->late.rows[i].is_added;
	if (!has_added && part->segment >= 0)
	{
		ZbxhistDayWriteSegment(state->writer, reader, part->segment);
		return;
	}
	for (int i = 0; i < part->late.nrows; i++)
	{
		int64		position = part->late.rows[i].position;

		if (!part->late.rows[i].is_added)
			continue;
		while (next < rows->nrows &&
			   ZbxhistRowPosition(state->layout, rows, next) <= position)
			ZbxhistDayWriteRows(state->writer, rows, next++, 1);
		ZbxhistDayWriteRows(state->writer, added, i, 1);
	}
	if (next < rows->nrows)
		ZbxhistDayWriteRows(state->writer, rows, next, rows->nrows - next);
}

/*
 * ZbxhistMergeGroup adds late rows to a group, or makes the first ones of a day
 * that is empty.  The group is written anew if rows are added or it is joined
 * with what has been written before it; returns whether it is.  The caller
 * ends the last one.
 */
bool
ZbxhistMergeGroup(MergeState *state, DayGroup *group, LateRow *rows, int nrows,
				  bool is_joined)
{
	MemoryContext old = MemoryContextSwitchTo(state->group_context);
	static const GroupReader empty;
	const GroupReader *reader = group != NULL ? &group->reader : &empty;
	int64		merged = state->merged;
	List	   *parts = DivideGroup(state, reader, rows, nrows);
	bool		is_written = is_joined || state->merged > merged;
	ListCell   *lc;

	if (is_written)
	{
		if (group != NULL)
			ZbxhistDeleteGroup(state->day, &group->tid, InvalidSnapshot);
		foreach(lc, parts)
			WritePart(state, reader, lfirst(lc));
	}
	MemoryContextSwitchTo(old);
	MemoryContextReset(state->group_context);
	return is_written;
}
