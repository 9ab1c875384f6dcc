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
#include "catalog/pg_am.h"
#include "catalog/pg_class.h"
#include "commands/progress.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/backend_progress.h"
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
	TupleSource source;			/* of the partition's rows */
	RowSort    *sort;
	uint64		nread;
	KeptItems	kept;
} PackState;

/*
 * SortHeapTuple gives a row of the partition to the sort.
 */
static void
SortHeapTuple(void *arg, HeapTuple tuple)
{
	PackState  *state = arg;
	int64		itemid;
	int64		position;

	if (!ZbxhistReadKey(&state->source, tuple, &itemid, &position))
		ereport(ERROR,
				errcode(ERRCODE_NOT_NULL_VIOLATION),
				errmsg("table \"%s\" has a row without item or clock",
					   RelationGetRelationName(state->partition)),
				errtable(state->partition));
	ZbxhistSortRow(state->sort, itemid, position, tuple);
	if (++state->nread % PROGRESS_ROWS == 0)
		pgstat_progress_update_param(PROGRESS_COPY_BYTES_PROCESSED,
									 (int64) ItemPointerGetBlockNumber(&tuple->t_self) * BLCKSZ);
}

/* ---- the function ---- */

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
	if (state->partition->rd_rel->relam != HEAP_TABLE_AM_OID)
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
	ZbxhistRequireNewDay(state->day);
	if (!ZbxhistInitTupleSource(&state->source, state->layout,
								RelationGetDescr(state->partition)))
		ereport(ERROR,
				errcode(ERRCODE_DATATYPE_MISMATCH),
				errmsg("table \"%s\" and packed day \"%s\" have different columns",
					   RelationGetRelationName(state->partition),
					   RelationGetRelationName(state->day)),
				errtable(state->partition));
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
		ZbxhistDayWriteTuple(writer, &state->source, row.itemid,
							 position_clock(row.position), &row.tuple);
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
	TransactionId newest;

	ZbxhistGetKeptItems(fcinfo, 2, &state->kept);
	OpenTables(state, PG_GETARG_OID(0), PG_GETARG_OID(1));
	ZbxhistTakeOwnerRights(&before, state->day->rd_rel->relowner);
	pgstat_progress_start_command(PROGRESS_COMMAND_COPY,
								  RelationGetRelid(state->partition));
	pgstat_progress_update_param(PROGRESS_COPY_BYTES_TOTAL,
								 (int64) RelationGetNumberOfBlocks(state->partition) * BLCKSZ);
	state->sort = ZbxhistBeginRowSort((Size) maintenance_work_mem * 1024);
	newest = ZbxhistReadSettled(state->partition, SortHeapTuple, state);
	/* snapshots of standby servers may be older than any of ours */
	log_snapshot_conflict(state->day, newest);
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
