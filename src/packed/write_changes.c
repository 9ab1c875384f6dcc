/*-------------------------------------------------------------------------
 *
 * write_changes.c
 *	  Writes groups of a packed day anew, with a statement's changes.
 *
 * A changed group is deleted, and its remaining rows are written to one or more new
 * groups.  Segments without changed rows are copied as they are.  Small groups are not
 * joined with their neighbours.
 *
 * New versions of rows are sorted by group and row, in work_mem.  Two bitmaps for each
 * group say which of its rows are deleted and updated.
 *
 * Locks: the day's table is locked against other changes (day_changes.c).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/tableam.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/tuplesort.h"

#include "compat.h"
#include "packed/changed_day.h"
#include "packed/day_conflicts.h"
#include "packed/day_write.h"

/* ---- new versions of rows ---- */

struct RowUpdates
{
	Tuplesortstate *sort;
	bool		is_sorted;
	TupleTableSlot *slot;		/* the table's columns, and its place */
	TupleTableSlot *given;		/* the same, of a row that is added */
};

/*
 * ZbxhistBeginRowUpdates prepares for rows of the packed table.
 */
RowUpdates *
ZbxhistBeginRowUpdates(Relation table)
{
	RowUpdates *updates = palloc0(sizeof(RowUpdates));
	TupleDesc	columns = RelationGetDescr(table);
	TupleDesc	desc = CreateTemplateTupleDesc(columns->natts + 2);
	AttrNumber	keys[] = {columns->natts + 1, columns->natts + 2};
	Oid			operators[] = {Int8LessOperator, Int4LessOperator};
	Oid			collations[] = {InvalidOid, InvalidOid};
	bool		nulls_first[] = {false, false};

	for (int i = 1; i <= columns->natts; i++)
		TupleDescCopyEntry(desc, i, columns, i);
	TupleDescInitEntry(desc, keys[0], "group", INT8OID, -1, 0);
	TupleDescInitEntry(desc, keys[1], "row", INT4OID, -1, 0);
	TupleDescFinalize(desc);
	updates->slot = MakeSingleTupleTableSlot(desc, &TTSOpsMinimalTuple);
	updates->given = MakeSingleTupleTableSlot(desc, &TTSOpsVirtual);
	updates->sort = tuplesort_begin_heap(desc, lengthof(keys), keys, operators,
										 collations, nulls_first, work_mem,
										 NULL, TUPLESORT_NONE);
	return updates;
}

/*
 * ZbxhistAddRowUpdate adds the new version of a row, given by its number in the group
 * that was found last.
 */
void
ZbxhistAddRowUpdate(RowUpdates *updates, const ChangedDay *day, int row,
					TupleTableSlot *slot)
{
	TupleTableSlot *given = ExecClearTuple(updates->given);
	int			natts = given->tts_tupleDescriptor->natts - 2;
	const ItemPointerData *tid = &day->group->tid;

	slot_getallattrs(slot);
	memcpy(given->tts_values, slot->tts_values, natts * sizeof(Datum));
	memcpy(given->tts_isnull, slot->tts_isnull, natts * sizeof(bool));
	given->tts_values[natts] =
		Int64GetDatum((int64) day->number << 48 |
					  (int64) ItemPointerGetBlockNumber(tid) << 16 |
					  ItemPointerGetOffsetNumber(tid));
	given->tts_values[natts + 1] = Int32GetDatum(row);
	given->tts_isnull[natts] = given->tts_isnull[natts + 1] = false;
	tuplesort_puttupleslot(updates->sort, ExecStoreVirtualTuple(given));
}

/*
 * NextRowUpdate returns the next row in the order of days, their groups, and rows
 * of these.
 */
static TupleTableSlot *
NextRowUpdate(RowUpdates *updates)
{
	if (!updates->is_sorted)
		tuplesort_performsort(updates->sort);
	updates->is_sorted = true;
	if (!tuplesort_gettupleslot(updates->sort, true, false, updates->slot, NULL))
		elog(ERROR, "row of a packed day to be updated is missing");
	slot_getallattrs(updates->slot);
	return updates->slot;
}

/*
 * ZbxhistEndRowUpdates closes temporary files.
 */
void
ZbxhistEndRowUpdates(RowUpdates *updates)
{
	ExecDropSingleTupleTableSlot(updates->slot);
	ExecDropSingleTupleTableSlot(updates->given);
	tuplesort_end(updates->sort);
}

/* ---- groups ---- */

/*
 * WriteChangedSegment writes the remaining rows of a segment of the group found last;
 * first is the number of its first row there.
 */
static void
WriteChangedSegment(ChangedDay *day, DayWriter *writer, int segment, int first,
					RowUpdates *updates)
{
	const ChangedGroup *group = day->group;
	MemoryContext old = MemoryContextSwitchTo(day->segment_context);
	SegmentRows rows;

	ZbxhistDecodeDaySegment(day->rel, day->layout, &day->found.reader, segment,
							NULL, &rows);
	for (int i = 0; i < rows.nrows; i++)
	{
		if (row_is_in(group->updated, first + i))
		{
			TupleTableSlot *slot = NextRowUpdate(updates);
			RowBuffer  *buffer;
			int			row = ZbxhistDayWriteRow(writer, rows.itemid,
												 (int32) rows.columns[0].ints[i],
												 &buffer);

			ZbxhistSetRow(buffer, row, day->attributes, slot->tts_values,
						  slot->tts_isnull);
		}
		else if (!row_is_in(group->deleted, first + i))
			ZbxhistDayWriteRows(writer, &rows, i, 1);
	}
	MemoryContextSwitchTo(old);
	MemoryContextReset(day->segment_context);
}

/*
 * CountRows counts those of a group's rows, from one on, that are in a bit map.
 */
static int
CountRows(const uint8 *rows, int first, int nrows)
{
	int			end = first + nrows;
	int			count = 0;
	int			row = first;

	/* whole bytes at once: of many thousand rows mostly one has changed */
	for (; row < end && row % BITS_PER_BYTE != 0; row++)
		count += row_is_in(rows, row);
	count += pg_popcount((const char *) &rows[row / BITS_PER_BYTE],
						 (end - row) / BITS_PER_BYTE);
	for (row += (end - row) / BITS_PER_BYTE * BITS_PER_BYTE; row < end; row++)
		count += row_is_in(rows, row);
	return count;
}

/*
 * WriteChangedGroup deletes a group and writes its remaining rows.
 */
static void
WriteChangedGroup(ChangedDay *day, DayWriter *writer, ChangedGroup *group,
				  RowUpdates *updates)
{
	const GroupReader *reader = &day->found.reader;
	int			row = 0;

	/* a function may have changed the row since it was found */
	day->group = NULL;
	if (!ZbxhistFindChangedGroup(day, group->itemid, group->clock) ||
		day->group != group)
		ZbxhistRaiseSecondChange(day->rel);
	ZbxhistDeleteGroup(day->rel, &group->tid, InvalidSnapshot);
	if (group->ndeleted == group->nrows)
		return;
	for (int i = 0; i < reader->nsegments; i++)
	{
		int			nrows = reader->segments[i].nrows;
		int			ndeleted = CountRows(group->deleted, row, nrows);

		if (ndeleted + CountRows(group->updated, row, nrows) == 0)
			ZbxhistDayWriteSegment(writer, reader, i);
		else if (ndeleted < nrows)
			WriteChangedSegment(day, writer, i, row, updates);
		row += nrows;
	}
	ZbxhistDayWriteBreak(writer);
}

/*
 * compare_groups orders groups by where they are.
 */
static int
compare_groups(const void *a, const void *b)
{
	return ItemPointerCompare(&(*(ChangedGroup *const *) a)->tid,
							  &(*(ChangedGroup *const *) b)->tid);
}

/*
 * ZbxhistWriteChangedDay writes the changes of a day, which is open.
 */
void
ZbxhistWriteChangedDay(ChangedDay *day, RowUpdates *updates)
{
	ChangedGroup **groups =
		palloc(sizeof(ChangedGroup *) * Max(hash_get_num_entries(day->groups), 1));
	int			ngroups = 0;
	int64		nremoved = 0;
	HASH_SEQ_STATUS status;
	ChangedGroup *group;
	DayWriter  *writer;

	hash_seq_init(&status, day->groups);
	while ((group = hash_seq_search(&status)) != NULL)
	{
		if (group->ndeleted + group->nupdated > 0)
			groups[ngroups++] = group;
	}
	if (ngroups > 0)
	{
		qsort(groups, ngroups, sizeof(ChangedGroup *), compare_groups);
		day->segment = -1;
		MemoryContextReset(day->segment_context);
		writer = ZbxhistBeginDayWrite(day->rel, day->layout, false);
		for (int i = 0; i < ngroups; i++)
		{
			CHECK_FOR_INTERRUPTS();
			WriteChangedGroup(day, writer, groups[i], updates);
			nremoved += groups[i]->ndeleted;
			pfree(groups[i]->deleted);
		}
		(void) ZbxhistEndDayWrite(writer, NULL);
	}
	ZbxhistNotePackedChange(day->day.relid, nremoved);
	pfree(groups);
}
