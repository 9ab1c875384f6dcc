/*-------------------------------------------------------------------------
 *
 * run_group.c
 *	  One run of a day's table, and groups made of rows of runs.
 *
 * Such a group has no bytes: its reader has the rows of its segments.  Strings
 * stay where the runs have them.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/rel.h"

#include "packed/runs/run_group.h"
#include "packed/values/row_compare.h"
#include "packed/values/unsigned_numeric.h"

/* bytes of a row in a run, about, for the counters of bytes */
#define RUN_ROW_BYTES 10

/* ---- one run ---- */

/*
 * GetBytes returns a run's bytes, which slot has, in memory.  Allocates in the
 * current context.
 */
static struct varlena *
GetBytes(Relation day, TupleTableSlot *slot)
{
	if (!ZbxhistHasPayload(day, slot))
		ZbxhistRaiseCorruptRun(day, &slot->tts_tid, "damaged row");
	return pg_detoast_datum_packed((struct varlena *)
								   DatumGetPointer(slot->tts_values[DAY_ATTNUM_PAYLOAD - 1]));
}

/*
 * HasRightPlace says whether rows of a run are what its row says of them: all of
 * them, or those of an item.
 */
static bool
HasRightPlace(const DayGroup *place, const RunRows *rows)
{
	const int64 *clocks = rows->columns[0].ints;
	int64		first = clocks[0];
	int64		last = clocks[0];

	for (int i = 1; i < rows->nrows; i++)
	{
		first = Min(first, clocks[i]);
		last = Max(last, clocks[i]);
	}
	if (place->nrows != rows->nall)
		return false;
	if (rows->nrows < rows->nall)
		return place->first_clock <= first && place->last_clock >= last;
	return place->first_clock == first && place->last_clock == last &&
		place->first_itemid == rows->itemids[0] &&
		place->last_itemid == rows->itemids[rows->nall - 1];
}

/*
 * WhyNotRun decodes the bytes of a run, all rows or, unless itemid is NULL, an item's,
 * of which there may be none, and returns what prevents that, or NULL.  Of values only
 * the kind is looked at.  Allocates in the current context.
 */
static const char *
WhyNotRun(const DayLayout *layout, const DayGroup *place, const uint8 *data,
		  size_t length, const int64 *itemid, RunRows *rows)
{
	int			newer;

	if (!ZbxhistDecodeRun(data, length, layout->npacked, NULL, itemid, rows))
	{
		newer = ZbxhistNewerRunFormat(data, length);
		return newer == 0 ? "the run cannot be decoded" :
			psprintf("format %d, which is newer than those that are known",
					 newer);
	}
	for (int i = 1; i < rows->ncolumns; i++)
	{
		if (!packed_kind_is_right(layout->packed[i], &rows->columns[i]))
			return psprintf("values of column \"%s\" have another type",
							NameStr(layout->packed[i]->name));
	}
	return rows->nrows == 0 || HasRightPlace(place, rows) ? NULL :
		"the row does not agree with the run";
}

/*
 * ZbxhistDecodeDayRun decodes the run in slot, whose place has been read: all rows
 * or, unless itemid is NULL, an item's; returns whether there are any.
 */
bool
ZbxhistDecodeDayRun(Relation day, const DayLayout *layout,
					TupleTableSlot *slot, const DayGroup *place,
					const int64 *itemid, RunRows *rows)
{
	struct varlena *bytes = GetBytes(day, slot);
	const char *problem =
		WhyNotRun(layout, place, (uint8 *) VARDATA_ANY(bytes),
				  VARSIZE_ANY_EXHDR(bytes), itemid, rows);

	if (problem != NULL)
		ZbxhistRaiseCorruptRun(day, &slot->tts_tid, problem);
	return rows->nrows > 0;
}

/* ---- a group ---- */

/*
 * KindOfColumn returns the kind of a column of several runs: numerics are
 * bytes if one of them is.
 */
static PackedKind
KindOfColumn(const RunRow *rows, int nrows, int column)
{
	PackedKind	kind = rows[0].rows->columns[column].kind;

	for (int i = 1; i < nrows; i++)
	{
		if (rows[i].rows != rows[i - 1].rows &&
			rows[i].rows->columns[column].kind != kind)
			return PACKED_BYTES;
	}
	return kind;
}

/*
 * CopyNulls says which rows of a column are null.
 */
static void
CopyNulls(PackedColumn *target, const RunRow *rows, int nrows, int column)
{
	for (int i = 0; i < nrows; i++)
	{
		const bool *nulls = rows[i].rows->columns[column].nulls;

		if (nulls == NULL || !nulls[rows[i].row])
			continue;
		if (target->nulls == NULL)
			target->nulls = palloc0(nrows * sizeof(bool));
		target->nulls[i] = true;
	}
}

/*
 * CopyColumns makes columns of rows of several runs, in the current context; bytes stay
 * where they are.
 */
static PackedColumn *
CopyColumns(const DayLayout *layout, const RunRow *rows, int nrows)
{
	PackedColumn *result = palloc0(layout->npacked * sizeof(PackedColumn));

	for (int column = 0; column < layout->npacked; column++)
	{
		PackedColumn *target = &result[column];

		target->kind = KindOfColumn(rows, nrows, column);
		CopyNulls(target, rows, nrows, column);
		target->values = palloc(nrows * packed_value_size(target->kind));
		for (int i = 0; i < nrows; i++)
		{
			const PackedColumn *source = &rows[i].rows->columns[column];

			/* numbers of any kind: their bits */
			if (target->kind != PACKED_BYTES)
				target->ints[i] = source->ints[rows[i].row];
			else
				target->bytes[i] =
					ZbxhistValueBytes(source, rows[i].row,
									  source->kind == PACKED_BYTES ? NULL :
									  palloc(UNSIGNED_IMAGE_SIZE));
		}
	}
	return result;
}

/*
 * ZbxhistGatherRows makes rows to be written of those of several runs, sorted by
 * item and time.  Allocates in the current context; the runs must stay as long.
 */
void
ZbxhistGatherRows(const DayLayout *layout, const RunRow *rows, int nrows,
				  RunRows *result)
{
	result->nrows = nrows;
	result->itemids = palloc(nrows * sizeof(int64));
	for (int i = 0; i < nrows; i++)
		result->itemids[i] = rows[i].rows->itemids[rows[i].row];
	result->ncolumns = layout->npacked;
	result->columns = CopyColumns(layout, rows, nrows);
}

/*
 * ClockOfRow returns the clock of a row.
 */
static inline int64
ClockOfRow(const RunRow *row)
{
	return row->rows->columns[0].ints[row->row];
}

/*
 * CountSegment returns how many of the rows, the first of all, are a segment:
 * they are of one item, and end with a clock.
 */
static int
CountSegment(Relation day, const RunRow *rows, int nrows)
{
	int64		itemid = rows->rows->itemids[rows->row];
	int			nclock = 0;
	int			end = 0;
	int			i;

	for (i = 0; i < nrows && rows[i].rows->itemids[rows[i].row] == itemid; i++)
	{
		if (i > 0 && ClockOfRow(&rows[i]) != ClockOfRow(&rows[i - 1]))
		{
			nclock = 0;
			end = i;
		}
		if (end > 0 && i >= ZBXHIST_MAX_SEGMENT_ROWS)
			return end;
		if (++nclock > ZBXHIST_MAX_CLOCK_ROWS)
			ereport(ERROR,
					errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					errmsg("item " INT64_FORMAT " has more than %d values of clock " INT64_FORMAT " in \"%s\"",
						   itemid, ZBXHIST_MAX_CLOCK_ROWS,
						   ClockOfRow(&rows[i]),
						   RelationGetRelationName(day)),
					errtable(day));
	}
	return i;
}

/*
 * MakeSegment makes a segment of rows.
 */
static void
MakeSegment(const DayLayout *layout, const RunRow *rows, int nrows,
			SegmentRows *segment, SegmentInfo *info)
{
	segment->itemid = rows->rows->itemids[rows->row];
	segment->nrows = nrows;
	segment->ncolumns = layout->npacked;
	segment->columns = CopyColumns(layout, rows, nrows);
	info->itemid = segment->itemid;
	info->first_clock = (int32) ClockOfRow(&rows[0]);
	info->last_clock = (int32) ClockOfRow(&rows[nrows - 1]);
	info->nrows = nrows;
	info->length = nrows * RUN_ROW_BYTES;
}

/*
 * ZbxhistMakeRunGroup makes a group of rows, of which there are some, sorted by
 * item and time.  Allocates in the current context; the runs must stay as long.
 */
void
ZbxhistMakeRunGroup(Relation day, const DayLayout *layout, const RunRow *rows,
					int nrows, DayGroup *group)
{
	GroupReader *reader = &group->reader;
	SegmentRows *segments = palloc0(nrows * sizeof(SegmentRows));
	int			first = 0;

	memset(reader, 0, sizeof(GroupReader));
	reader->segments = palloc0(nrows * sizeof(SegmentInfo));
	while (first < nrows)
	{
		int			n = CountSegment(day, rows + first, nrows - first);

		MakeSegment(layout, rows + first, n, &segments[reader->nsegments],
					&reader->segments[reader->nsegments]);
		reader->nsegments++;
		first += n;
	}
	reader->decoded = segments;
	reader->ncolumns = layout->npacked;
	reader->length = nrows * RUN_ROW_BYTES;
	reader->is_whole = true;
	reader->first_itemid = group->first_itemid = segments[0].itemid;
	reader->first_clock = group->first_clock = reader->segments[0].first_clock;
	reader->last_itemid = group->last_itemid =
		segments[reader->nsegments - 1].itemid;
	reader->last_clock = group->last_clock =
		reader->segments[reader->nsegments - 1].last_clock;
	group->nrows = nrows;
}

/*
 * ZbxhistGroupRunRows makes a group of all rows of a run.  Allocates in the
 * current context, and the rows must stay as long.
 */
void
ZbxhistGroupRunRows(Relation day, const DayLayout *layout,
					const RunRows *rows, DayGroup *group)
{
	RunRow	   *all = palloc(rows->nrows * sizeof(RunRow));

	for (int i = 0; i < rows->nrows; i++)
	{
		all[i].rows = rows;
		all[i].row = i;
	}
	ZbxhistMakeRunGroup(day, layout, all, rows->nrows, group);
}

/*
 * ZbxhistOpenRunGroup makes a group of a run's bytes, whose place it has; returns
 * what prevents that, or NULL.  Allocates in the current context.
 */
const char *
ZbxhistOpenRunGroup(Relation day, const DayLayout *layout, DayGroup *group,
					const uint8 *data, size_t length)
{
	RunRows    *rows = palloc(sizeof(RunRows));
	const char *problem = WhyNotRun(layout, group, data, length, NULL, rows);

	if (problem == NULL)
		ZbxhistGroupRunRows(day, layout, rows, group);
	return problem;
}
