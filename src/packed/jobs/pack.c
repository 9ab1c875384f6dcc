/*-------------------------------------------------------------------------
 *
 * pack.c
 *	  Writes the rows of a partition into a day's table.
 *
 * The caller has created the day's table in the same transaction and stopped
 * writers of the partition (SHARE); it drops the partition when all is
 * written.  The rows are written frozen, that is for every snapshot there may
 * be, so every snapshot must see the same rows in the partition (settled.c).
 *
 * Rows are read in the order of the heap, as fast as the disk allows, and
 * sorted.
 *
 * Memory: maintenance_work_mem for the sort, and one group.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/pg_am.h"
#include "catalog/pg_class.h"
#include "commands/progress.h"
#include "fmgr.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/backend_progress.h"
#include "utils/builtins.h"
#include "utils/rel.h"

#include "catalog/owned_table.h"
#include "catalog/owner_rights.h"
#include "catalog/packed_table.h"
#include "catalog/partition_set.h"
#include "compat.h"
#include "compat_marks.h"
#include "packed/day/day_write.h"
#include "packed/day/settled.h"
#include "packed/jobs/kept_items.h"
#include "packed/jobs/row_sort.h"
#include "packed/values/row_map.h"
#include "result_row.h"
#include "rows/item_range.h"

PG_FUNCTION_INFO_V1(zbxhist_pack_rows);

/* rows between two looks at the progress */
#define PROGRESS_ROWS 65536

typedef struct PackState
{
	Relation	partition;
	Relation	day;
	DayLayout  *layout;
	SettledScan scan;			/* of the partition */

	/* columns of the partition: numbers less one, by packed column */
	int			itemid;
	int		   *sources;
	Datum	   *values;			/* of a row of the partition */
	bool	   *nulls;

	RowSort    *sort;
	StringInfoData record;
	uint64		nread;
	KeptItems	kept;
} PackState;

/* ---- rows ---- */

/*
 * SortHeapTuple gives a row of the partition to the sort.
 */
static void
SortHeapTuple(PackState *state, HeapTuple tuple)
{
	heap_deform_tuple(tuple, RelationGetDescr(state->partition),
					  state->values, state->nulls);
	if (state->nulls[state->itemid] || state->nulls[state->sources[0]])
		ereport(ERROR,
				errcode(ERRCODE_NOT_NULL_VIOLATION),
				errmsg("table \"%s\" has a row without item or clock",
					   RelationGetRelationName(state->partition)),
				errtable(state->partition));

	ZbxhistSortRow(state->sort, &state->record, state->layout,
				   DatumGetInt64(state->values[state->itemid]),
				   state->sources, state->values, state->nulls);
}

/*
 * WritePackedRow gives a sorted row to the writer.
 */
static void
WritePackedRow(DayWriter *writer, const SortedRow *sorted)
{
	RowBuffer  *buffer;
	int			row;

	row = ZbxhistDayWriteRow(writer, sorted->itemid,
							 position_clock(sorted->position), &buffer);
	ZbxhistDecodeRow(buffer, row, sorted->data);
}

/* ---- reading the partition ---- */

/*
 * ReadPage gives the rows of a page to the sort.  While it is pinned, nobody
 * moves rows within it.
 */
static void
ReadPage(PackState *state, BlockNumber block, BufferAccessStrategy strategy)
{
	Buffer		buffer = ReadBufferExtended(state->partition, MAIN_FORKNUM,
											block, RBM_NORMAL, strategy);
	Page		page = BufferGetPage(buffer);
	OffsetNumber offsets[MaxHeapTuplesPerPage];
	int			noffsets = ZbxhistSettledRows(&state->scan, buffer, offsets);
	HeapTupleData tuple;

	tuple.t_tableOid = RelationGetRelid(state->partition);
	for (int i = 0; i < noffsets; i++)
	{
		ItemId		item = PageGetItemId(page, offsets[i]);

		tuple.t_data = (HeapTupleHeader) PageGetItem(page, item);
		tuple.t_len = ItemIdGetLength(item);
		ItemPointerSet(&tuple.t_self, block, offsets[i]);
		SortHeapTuple(state, &tuple);
	}
	state->nread += noffsets;
	ReleaseBuffer(buffer);
}

/*
 * ReadPartition gives all rows to the sort.
 */
static void
ReadPartition(PackState *state)
{
	BlockNumber nblocks = RelationGetNumberOfBlocks(state->partition);
	BufferAccessStrategy strategy = GetAccessStrategy(BAS_BULKREAD);

	pgstat_progress_update_param(PROGRESS_COPY_BYTES_TOTAL,
								 (int64) nblocks * BLCKSZ);
	ZbxhistBeginSettledScan(&state->scan, state->partition);
	for (BlockNumber block = 0; block < nblocks; block++)
	{
		CHECK_FOR_INTERRUPTS();
		ReadPage(state, block, strategy);
		pgstat_progress_update_param(PROGRESS_COPY_BYTES_PROCESSED,
									 (int64) (block + 1) * BLCKSZ);
	}
	FreeAccessStrategy(strategy);
}

/* ---- the function ---- */

/*
 * FindSources finds the partition's columns by the names of the day's; both
 * must have the same.
 */
static void
FindSources(PackState *state)
{
	TupleDesc	desc = RelationGetDescr(state->partition);
	const DayLayout *layout = state->layout;
	int			nfound = 0;

	state->sources = palloc(sizeof(int) * layout->npacked);
	state->values = palloc(sizeof(Datum) * desc->natts);
	state->nulls = palloc(sizeof(bool) * desc->natts);
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);
		const LayoutColumn *column = NULL;

		if (att->attisdropped)
			continue;
		for (int j = 0; j < layout->ncolumns; j++)
		{
			if (strcmp(NameStr(layout->columns[j].name),
					   NameStr(att->attname)) == 0 &&
				layout->columns[j].type == att->atttypid)
				column = &layout->columns[j];
		}
		if (column == NULL)
			ereport(ERROR,
					errcode(ERRCODE_DATATYPE_MISMATCH),
					errmsg("packed day \"%s\" has no column \"%s\" of type %s",
						   RelationGetRelationName(state->day),
						   NameStr(att->attname),
						   format_type_be(att->atttypid)),
					errtable(state->day));
		if (column->packed < 0)
			state->itemid = i;
		else
			state->sources[column->packed] = i;
		nfound++;
	}
	if (nfound != layout->ncolumns)
		ereport(ERROR,
				errcode(ERRCODE_DATATYPE_MISMATCH),
				errmsg("table \"%s\" lacks columns of packed day \"%s\"",
					   RelationGetRelationName(state->partition),
					   RelationGetRelationName(state->day)),
				errtable(state->partition));
}

/*
 * ReadRenamed returns which of the partition's columns packed days have under
 * another name.
 */
static const List *
ReadRenamed(Oid partition)
{
	Oid			relid = ZbxhistInheritedParent(partition);
	Relation	parent;
	const List *result;

	if (!OidIsValid(relid))
		return NIL;
	parent = table_open(relid, AccessShareLock);
	result = ZbxhistGetPartitions(parent)->renamed;
	table_close(parent, NoLock);
	return result;
}

/*
 * OpenTables opens both tables and makes sure that they are what the caller
 * has promised.
 */
static void
OpenTables(PackState *state, Oid partition, Oid day)
{
	const char *reason;

	state->partition = ZbxhistOpenOwnedTable(partition, ShareLock);
	state->day = ZbxhistOpenOwnedTable(day, RowExclusiveLock);
	state->layout = ZbxhistDayLayout(state->day);
	ZbxhistRenameColumns(state->layout, ReadRenamed(partition));
	if (state->partition->rd_rel->relam != HEAP_TABLE_AM_OID ||
		state->day->rd_rel->relam != HEAP_TABLE_AM_OID)
		ereport(ERROR,
				errcode(ERRCODE_WRONG_OBJECT_TYPE),
				errmsg("only tables with access method \"heap\" can be packed"));
	reason = ZbxhistWhyNotPackable(RelationGetDescr(state->partition));
	if (reason != NULL)
		ereport(ERROR,
				errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				errmsg("table \"%s\" cannot be packed: %s",
					   RelationGetRelationName(state->partition), reason),
				errtable(state->partition));
	if (state->day->rd_createSubid != GetCurrentSubTransactionId() ||
		RelationGetNumberOfBlocks(state->day) > 0)
		ereport(ERROR,
				errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				errmsg("table \"%s\" was not created in this transaction, or is not empty",
					   RelationGetRelationName(state->day)),
				errtable(state->day));
	FindSources(state);
}

/*
 * WritePackedDay writes the sorted rows of items that are kept; returns the
 * bytes that they take.
 */
static uint64
WritePackedDay(PackState *state)
{
	DayWriter  *writer = ZbxhistBeginDayWrite(state->day, state->layout, true);
	SortedRow	row;
	uint64		nrows = 0;
	uint64		nbytes;

	ZbxhistRowSortPerform(state->sort);
	while (ZbxhistRowSortNext(state->sort, &row))
	{
		CHECK_FOR_INTERRUPTS();
		if (!ZbxhistKeepsRows(&state->kept, row.itemid, 1))
			continue;
		WritePackedRow(writer, &row);
		if (++nrows % PROGRESS_ROWS == 0)
			pgstat_progress_update_param(PROGRESS_COPY_TUPLES_PROCESSED,
										 (int64) nrows);
	}
	nbytes = ZbxhistEndDayWrite(writer, &nrows);
	if (nrows + state->kept.nleft_out != state->nread)
		elog(ERROR, "packed " UINT64_FORMAT " rows of " UINT64_FORMAT,
			 nrows, state->nread);
	return nbytes;
}

/*
 * zbxhist_pack_rows(partition, day, items) writes the rows of the partition into
 * the day's table; see sql/packed/pack.sql.
 */
Datum
zbxhist_pack_rows(PG_FUNCTION_ARGS)
{
	PackState  *state = palloc0(sizeof(PackState));
	Datum		values[3];
	bool		nulls[3] = {false};
	OwnerRights before;

	ZbxhistGetKeptItems(fcinfo, 2, &state->kept);
	OpenTables(state, PG_GETARG_OID(0), PG_GETARG_OID(1));
	ZbxhistTakeOwnerRights(&before, state->day->rd_rel->relowner);
	pgstat_progress_start_command(PROGRESS_COMMAND_COPY,
								  RelationGetRelid(state->partition));
	initStringInfo(&state->record);
	state->sort = ZbxhistBeginRowSort((Size) maintenance_work_mem * 1024);
	ReadPartition(state);
	/* snapshots of standby servers may be older than any of ours */
	log_snapshot_conflict(state->day, state->scan.newest);
	values[1] = Int64GetDatum((int64) WritePackedDay(state));
	values[0] = Int64GetDatum((int64) (state->nread - state->kept.nleft_out));
	values[2] = Int64GetDatum((int64) state->kept.nleft_out);
	ZbxhistEndRowSort(state->sort);
	pgstat_progress_end_command();
	ZbxhistGiveBackRights(&before);

	table_close(state->day, NoLock);
	table_close(state->partition, NoLock);
	return result_row(fcinfo, values, nulls);
}
