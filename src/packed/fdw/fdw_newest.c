/*-------------------------------------------------------------------------
 *
 * fdw_newest.c
 *	  A packed row as it is now.
 *
 * A session that has locked a row, or its day, reads it once more by a fresh
 * snapshot: another transaction may have changed it while the lock was waited
 * for.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "executor/tuptable.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "catalog/packed_days.h"
#include "packed/changes/day_conflicts.h"
#include "packed/changes/modify.h"
#include "packed/day/open_days.h"
#include "packed/fdw/fdw_newest.h"
#include "packed/values/row_offset.h"
#include "rows/row_type.h"

/*
 * FindRowOfSecond looks for the row among those that a reader has of its
 * second.
 */
static RowState
FindRowOfSecond(DayReader *reader, const RowKey *key, TupleTableSlot *seen,
				int64 position, TupleTableSlot *newest)
{
	Relation	table = reader->spec->table;
	TupleTableSlot *row = MakeSingleTupleTableSlot(RelationGetDescr(table),
												   &TTSOpsVirtual);
	RowState	result = ROW_GONE;
	bool		has_several = false;

	ExecClearTuple(newest);
	while (result != ROW_SAME && day_reader_next(reader))
	{
		PackedRowId id;

		ExecClearTuple(row);
		ZbxhistMapRow(reader->map, reader->row, row->tts_values,
					  row->tts_isnull);
		ExecStoreVirtualTuple(row);
		if (seen != NULL && ZbxhistSameValues(row, seen))
			result = ROW_SAME;
		else if (ZbxhistGetPosition(key, row) == position)
		{
			has_several = result == ROW_CHANGED;
			result = ROW_CHANGED;
			ExecCopySlot(newest, row);
			ZbxhistDayReaderRowId(reader, &id);
			set_packed_tid(&newest->tts_tid, &id);
			newest->tts_tableOid = RelationGetRelid(table);
		}
	}
	/* which of them it was nobody knows */
	if (result == ROW_CHANGED && has_several)
		ZbxhistRaiseChanged();
	ExecDropSingleTupleTableSlot(row);
	return result;
}

/*
 * MayBeElsewhere says whether a row that a day has not any more may be in
 * another table: of a day that has been unpacked, or as one of other columns.
 */
static bool
MayBeElsewhere(const DayReader *reader)
{
	AttrNumber *attributes = palloc(sizeof(AttrNumber) *
									reader->layout->ncolumns);

	return ZbxhistDayIsUnpacked(RelationGetRelid(reader->rel)) ||
		!ZbxhistFindLayout(reader->layout,
						   RelationGetDescr(reader->spec->table), attributes);
}

/*
 * ZbxhistReadNewest reads a row as it is now, which the caller has locked.  It is the
 * same as seen, unless that is NULL; or what has its key by now goes to newest; or
 * it is gone.
 */
RowState
ZbxhistReadNewest(Relation table, Oid day, const RowKey *key,
				  TupleTableSlot *seen, int64 itemid, int64 position,
				  TupleTableSlot *newest)
{
	Relation	rel = ZbxhistOpenDay(day, AccessShareLock);
	ScanCounters counters = {0};
	DayReaderSpec spec = {.table = table,.wants_row_id = true,
	.release = AccessShareLock,.counters = &counters};
	DayReader  *reader;
	ItemRange	range;
	RowState	result;

	if (rel == NULL)
		ZbxhistRaiseChanged();
	spec.snapshot = RegisterSnapshot(GetLatestSnapshot());
	reader = ZbxhistOpenDayReader(rel, &spec);
	ZbxhistWholeItem(&range, itemid);
	ZbxhistStartAt(&range, make_position(position_clock(position), PG_INT32_MIN));
	ZbxhistEndAt(&range, make_position(position_clock(position), PG_INT32_MAX));
	ZbxhistDayReaderStart(reader, &range);
	result = FindRowOfSecond(reader, key, seen, position, newest);
	if (result != ROW_SAME &&
		(IsolationUsesXactSnapshot() ||
		 (result == ROW_GONE && MayBeElsewhere(reader))))
		ZbxhistRaiseChanged();
	ZbxhistCloseDayReader(reader);
	UnregisterSnapshot(spec.snapshot);
	return result;
}
