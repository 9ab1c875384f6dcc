/*-------------------------------------------------------------------------
 *
 * pack.c
 *	  Writes the rows of a partition, or those of packed days, into the table
 *	  of a new packed day.
 *
 * The caller has created the day's table in the same transaction and locked writers out
 * of the partition (SHARE).  It drops the partition when all is written.  The rows are
 * written frozen, so every snapshot sees them.  Therefore every snapshot must see the
 * same rows in the partition (settled.c).
 *
 * Rows are read in the order of the heap, as fast as the disk allows, and
 * sorted.
 *
 * Memory: maintenance_work_mem for the sort, and one group.
 *
 * Repacking writes the rows of a day to a new table that replaces the old one
 * (sql/packed/repack.sql).  Merges and deletes leave dead groups and pages that are not
 * full; in the new table all pages are full.  Compacting does the same with several days
 * of different clocks: their segments are merged in the order of item and clock.
 *
 * All segments are encoded anew, so that an item has as few of them as possible.
 *
 * Nanoseconds may be rounded meanwhile (policy time_precision), because random
 * ones take more space than values.  An item's rows keep their order, and their
 * keys differ as before.
 *
 * The new groups are written frozen, so every snapshot must see the same groups in the
 * old days (settled.c).  The old days are not locked against changes while they are read,
 * so that no change has to wait.  The caller locks them at the end for a moment, and
 * compares their versions (settled.c) to make sure that nothing was changed.
 *
 * Then the new table is read back: the number of rows and their checksum must be the
 * same.
 *
 * Locks: ACCESS SHARE on the old days.  Memory: a group of each day, and one
 * segment.  After each piece of work repacking sleeps as long as that took, so that it
 * uses at most half of the disk's time.
 *
 * Packing and repacking may leave out values of items that Zabbix has deleted.  The
 * caller names the items to keep.  An empty list keeps all of them: it is more likely a
 * mistake than a Zabbix without items.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_am.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "commands/progress.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/latch.h"
#include "utils/array.h"
#include "utils/backend_progress.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"

#include "compat.h"
#include "compat_marks.h"
#include "format/row_compare.h"
#include "format/row_map.h"
#include "packed/day_stream.h"
#include "packed/day_write.h"
#include "packed/row_sort.h"
#include "packed/settled.h"
#include "result_row.h"
#include "tables/item_range.h"
#include "tables/owned_table.h"
#include "tables/owner_rights.h"
#include "tables/packed_days.h"
#include "tables/packed_table.h"
#include "tables/partition_set.h"

PG_FUNCTION_INFO_V1(zbxhist_pack_rows);
PG_FUNCTION_INFO_V1(zbxhist_repack_rows);

/* ---- items whose rows are written ---- */

typedef struct KeptItems
{
	const int64 *items;			/* sorted */
	int			nitems;			/* 0: all are kept */
	int			next;			/* the first that is not before the last one */
	uint64		nleft_out;		/* rows that were not written */
} KeptItems;

/*
 * GetKeptItems reads the items to keep from an argument, a sorted array.
 */
static void
GetKeptItems(FunctionCallInfo fcinfo, int argument, KeptItems *kept)
{
	ArrayType  *array;

	memset(kept, 0, sizeof(*kept));
	array = PG_GETARG_ARRAYTYPE_P(argument);
	if (ARR_HASNULL(array) || ARR_NDIM(array) > 1 ||
		ARR_ELEMTYPE(array) != INT8OID)
		ereport(ERROR,
				errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("items must be an array of bigint without nulls"));
	if (ARR_NDIM(array) == 0)
		return;
	kept->items = (const int64 *) ARR_DATA_PTR(array);
	kept->nitems = ARR_DIMS(array)[0];
	for (int i = 1; i < kept->nitems; i++)
	{
		if (kept->items[i - 1] >= kept->items[i])
			ereport(ERROR,
					errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					errmsg("items must be sorted"));
	}
}

/*
 * KeepsRows says whether an item's rows, of which there are nrows now,
 * are to be written; otherwise counts them.  Items come in their order.
 */
static bool
KeepsRows(KeptItems *kept, int64 itemid, uint64 nrows)
{
	if (kept->nitems == 0)
		return true;
	while (kept->next < kept->nitems && kept->items[kept->next] < itemid)
		kept->next++;
	if (kept->next < kept->nitems && kept->items[kept->next] == itemid)
		return true;
	kept->nleft_out += nrows;
	return false;
}

/* ---- rows of a partition ---- */

/* rows between two reports of the progress */
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
 * SortHeapTuple passes a row of the partition to the sort.
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

/* ---- packing ---- */

/*
 * ReadRenamed returns which of the partition's columns packed days have under
 * another name.  The partition set does not have them if there is no day yet.
 */
static const List *
ReadRenamed(Oid partition)
{
	Oid			relid = ZbxhistInheritedParent(partition);
	List	   *renamed = NIL;
	List	   *new_columns;
	Relation	parent;
	Oid			packed;

	if (!OidIsValid(relid))
		return NIL;
	parent = table_open(relid, AccessShareLock);
	packed = ZbxhistGetPartitions(parent)->packed;
	if (OidIsValid(packed))
		ZbxhistReadPackedColumns(packed, &new_columns, &renamed);
	table_close(parent, NoLock);
	return renamed;
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
		if (!KeepsRows(&state->kept, row.itemid, 1))
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

	GetKeptItems(fcinfo, 2, &state->kept);
	OpenTables(state, PG_GETARG_OID(0), PG_GETARG_OID(1));
	ZbxhistTakeOwnerRights(&before, state->day->rd_rel->relowner);
	pgstat_progress_start_command(PROGRESS_COMMAND_COPY,
								  RelationGetRelid(state->partition));
	pgstat_progress_update_param(PROGRESS_COPY_BYTES_TOTAL,
								 (int64) RelationGetNumberOfBlocks(state->partition) * BLCKSZ);
	state->sort = ZbxhistBeginRowSort((Size) maintenance_work_mem * 1024);
	newest = ZbxhistReadSettled(state->partition, SortHeapTuple, state);
	/* a standby may have a snapshot older than all of ours */
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

/* ---- rows of packed days ---- */

/* bytes between two pauses */
#define PAUSE_BYTES ((uint64) 4 * 1024 * 1024)

/* an old day */
typedef struct OldDay
{
	Relation	rel;
	DayLayout  *layout;
	DayStream  *stream;
	DayVersion	version;
} OldDay;

typedef struct RepackState
{
	OldDay	   *days;
	int			ndays;
	Relation	new_day;
	DayLayout  *layout;
	DayWriter  *writer;

	/* where what has been written ends */
	bool		has_last;
	int64		last_itemid;
	int32		last_clock;

	KeptItems	kept;
	int64		precision;		/* ns that times are rounded to, 0: as they
								 * are */

	/* what has been read, of items that are kept, and rounded */
	uint64		nrows;
	uint64		checksum;

	/* pauses */
	TimestampTz began;			/* work since the last one */
	uint64		nbytes;
	uint64		paused_at;		/* bytes at the last one */
	MemoryContext segment_context;	/* reset with each segment */
} RepackState;

/* ---- pauses ---- */

/*
 * Pause sleeps as long as the work since the last pause took.
 */
static void
Pause(RepackState *state)
{
	long		took = TimestampDifferenceMilliseconds(state->began,
													   GetCurrentTimestamp());

	state->paused_at = state->nbytes;
	if (took > 0)
	{
		(void) WaitLatch(MyLatch,
						 WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
						 Min(took, 2000), PG_WAIT_EXTENSION);
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
	}
	state->began = GetCurrentTimestamp();
}

/*
 * NoteBytes counts bytes that have been read.
 */
static void
NoteBytes(void *arg, uint64 nbytes)
{
	RepackState *state = arg;

	state->nbytes += nbytes;
	pgstat_progress_update_param(PROGRESS_COPY_BYTES_PROCESSED,
								 (int64) state->nbytes);
	if (state->nbytes - state->paused_at >= PAUSE_BYTES)
		Pause(state);
}

/* ---- segments ---- */

/*
 * NextSegmentDay returns the day whose segment is the next one, NULL if all
 * have come to their end.
 */
static OldDay *
NextSegmentDay(const RepackState *state)
{
	OldDay	   *result = NULL;
	const SegmentInfo *first = NULL;

	for (int i = 0; i < state->ndays; i++)
	{
		const SegmentInfo *info = day_stream_segment(state->days[i].stream);

		if (info != NULL &&
			(first == NULL ||
			 compare_places(info->itemid, info->first_clock, first->itemid,
							first->first_clock) < 0))
		{
			first = info;
			result = &state->days[i];
		}
	}
	return result;
}

/*
 * RoundTimes rounds the nanoseconds of an item's rows, which are in the order of time,
 * down to multiples of precision.  A row that would get the time of the row before, or an
 * earlier one, gets the next nanosecond instead.  That is never later than its own time,
 * because the row before was earlier and has not become later.
 */
static void
RoundTimes(const DayLayout *layout, int64 precision, SegmentRows *rows)
{
	const PackedColumn *column = &rows->columns[layout->columns[layout->ns].packed];
	const int64 *clocks = rows->columns[0].ints;
	int64	   *ns = column->ints;
	int64		before = 0;		/* ns of the last row before rounding */

	/* such rows have no key */
	if (column->nulls != NULL)
		return;

	for (int i = 0; i < rows->nrows; i++)
	{
		int64		exact = ns[i];
		bool		follows = i > 0 && clocks[i] == clocks[i - 1] &&
			exact > before;

		if (exact > 0)
			ns[i] -= exact % precision;
		if (follows && ns[i] <= ns[i - 1])
			ns[i] = ns[i - 1] + 1;
		before = exact;
	}
}

/*
 * RepackSegment writes the current segment of a day.
 */
static void
RepackSegment(RepackState *state, OldDay *day)
{
	const DayStream *stream = day->stream;
	const SegmentInfo *info = day_stream_segment(stream);
	MemoryContext old = MemoryContextSwitchTo(state->segment_context);
	SegmentRows rows;

	if (state->has_last && state->last_itemid == info->itemid &&
		state->last_clock >= info->first_clock)
		ZbxhistRaiseCorrupt(day->rel, info->itemid);
	ZbxhistDecodeDaySegment(day->rel, day->layout, &stream->group.reader,
							stream->segment, NULL, &rows);
	if (state->precision > 0)
		RoundTimes(day->layout, state->precision, &rows);
	state->nrows += rows.nrows;
	state->checksum += ZbxhistHashRows(&rows);
	ZbxhistDayWriteRows(state->writer, &rows, 0, rows.nrows);
	state->has_last = true;
	state->last_itemid = info->itemid;
	state->last_clock = info->last_clock;
	MemoryContextSwitchTo(old);
	MemoryContextReset(state->segment_context);
}

/*
 * WriteKeptSegments writes all segments of items that are kept; returns the
 * bytes that they take.
 */
static uint64
WriteKeptSegments(RepackState *state)
{
	OldDay	   *day;

	state->writer = ZbxhistBeginDayWrite(state->new_day, state->layout, true);
	while ((day = NextSegmentDay(state)) != NULL)
	{
		int64		ngroups = day->stream->ngroups;
		uint64		before = day->stream->nbytes;

		if (KeepsRows(&state->kept,
					  day_stream_segment(day->stream)->itemid,
					  day_stream_segment(day->stream)->nrows))
			RepackSegment(state, day);
		ZbxhistDayStreamNext(day->stream);
		if (day->stream->ngroups == ngroups)
			continue;
		NoteBytes(state, day->stream->nbytes - before);
		pgstat_progress_update_param(PROGRESS_COPY_TUPLES_PROCESSED,
									 (int64) state->nrows);
	}
	return ZbxhistEndDayWrite(state->writer, NULL);
}

/* ---- repacking ---- */

/*
 * OpenOldDay opens and locks a day, notes its version, and adds the bytes of
 * its groups to *nbytes.
 */
static void
OpenOldDay(RepackState *state, OldDay *day, Oid relid, uint64 *nbytes)
{
	day->rel = ZbxhistOpenOwnedTable(relid, AccessShareLock);
	day->layout = ZbxhistDayLayout(day->rel);
	if (day->rel->rd_rel->relam != HEAP_TABLE_AM_OID ||
		!ZbxhistLayoutSuits(state->layout, day->rel))
		ereport(ERROR,
				errcode(ERRCODE_DATATYPE_MISMATCH),
				errmsg("packed days \"%s\" and \"%s\" have different columns or access methods",
					   RelationGetRelationName(day->rel),
					   RelationGetRelationName(state->new_day)),
				errtable(day->rel));
	ZbxhistReadDayVersion(day->rel, &day->version);
	*nbytes += day->version.nbytes;
}

/*
 * GetTimePrecision returns the precision to which times are to be rounded, 0 if they are
 * not.
 */
static int64
GetTimePrecision(const DayLayout *layout, int64 precision)
{
	if (precision <= 1)
		return 0;
	if (layout->ns < 0 || layout->columns[layout->ns].kind != PACKED_INT)
		ereport(ERROR,
				errcode(ERRCODE_UNDEFINED_COLUMN),
				errmsg("there is no column \"ns\" of type integer to be rounded"));
	return precision;
}

/*
 * OpenSources opens the tables and makes sure that they are what the caller has
 * promised.
 */
static void
OpenSources(RepackState *state, ArrayType *relids, Oid new_day)
{
	Datum	   *values;
	uint64		nbytes = 0;

	if (ARR_HASNULL(relids))
		ereport(ERROR,
				errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				errmsg("packed days must not be null"));
	state->new_day = ZbxhistOpenOwnedTable(new_day, RowExclusiveLock);
	state->layout = ZbxhistDayLayout(state->new_day);
	ZbxhistRequireNewDay(state->new_day);
	deconstruct_array(relids, REGCLASSOID, sizeof(Oid), true, TYPALIGN_INT,
					  &values, NULL, &state->ndays);
	state->days = palloc0(sizeof(OldDay) * Max(state->ndays, 1));
	for (int i = 0; i < state->ndays; i++)
		OpenOldDay(state, &state->days[i], DatumGetObjectId(values[i]),
				   &nbytes);
	pgstat_progress_start_command(PROGRESS_COMMAND_COPY,
								  state->ndays > 0 ?
								  RelationGetRelid(state->days[0].rel) :
								  InvalidOid);
	/* read back what was written */
	pgstat_progress_update_param(PROGRESS_COPY_BYTES_TOTAL,
								 (int64) nbytes * 2);
}

/*
 * RaiseMissing raises the error for a day whose index does not have all groups,
 * unless others have been stored or deleted meanwhile.
 */
static void
RaiseMissing(const OldDay *day)
{
	DayVersion	now;

	ZbxhistReadDayVersion(day->rel, &now);
	if (now.number != day->version.number)
		ereport(ERROR,
				errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				errmsg("packed day \"%s\" has been changed meanwhile",
					   RelationGetRelationName(day->rel)),
				errhint("Repeat the call."),
				errtable(day->rel));
	ereport(ERROR,
			errcode(ERRCODE_INDEX_CORRUPTED),
			errmsg("the index of packed day \"%s\" has " INT64_FORMAT " of " INT64_FORMAT " groups",
				   RelationGetRelationName(day->rel), day->stream->ngroups,
				   now.ngroups),
			errhint("REINDEX TABLE %s;",
					ZbxhistQualifiedName(RelationGetRelid(day->rel))),
			errtable(day->rel));
}

/*
 * CloseOldDay makes sure that all groups have been read and closes the day.
 */
static void
CloseOldDay(OldDay *day)
{
	if (ZbxhistDayScanNumRows(day->stream->scan, day->stream->ngroups) !=
		day->version.ngroups)
		RaiseMissing(day);
	ZbxhistCloseDayStream(day->stream);
	table_close(day->rel, NoLock);
}

/*
 * RepackDays writes the rows of all days; returns the bytes that they take.
 */
static uint64
RepackDays(RepackState *state)
{
	Snapshot	snapshot = RegisterSnapshot(GetLatestSnapshot());
	uint64		nbytes;

	state->segment_context = AllocSetContextCreate(CurrentMemoryContext,
												   "zbxhist repacked segment",
												   ALLOCSET_DEFAULT_SIZES);
	state->began = GetCurrentTimestamp();
	for (int i = 0; i < state->ndays; i++)
		state->days[i].stream = ZbxhistOpenDayStream(state->days[i].rel,
													 state->days[i].layout,
													 snapshot);
	nbytes = WriteKeptSegments(state);
	for (int i = 0; i < state->ndays; i++)
		CloseOldDay(&state->days[i]);
	UnregisterSnapshot(snapshot);
	ZbxhistVerifyWritten(state->new_day, state->layout, state->nrows,
						 state->checksum, NoteBytes, state);
	return nbytes;
}

/*
 * GetVersions returns the versions of the old days as an array.
 */
static Datum
GetVersions(const RepackState *state)
{
	Datum	   *values = palloc(sizeof(Datum) * Max(state->ndays, 1));

	for (int i = 0; i < state->ndays; i++)
		values[i] = Int64GetDatum((int64) state->days[i].version.number);
	return PointerGetDatum(construct_array(values, state->ndays, INT8OID,
										   sizeof(int64), FLOAT8PASSBYVAL,
										   TYPALIGN_DOUBLE));
}

/*
 * zbxhist_repack_rows(days, new_day, items, precision) writes the rows of days into the
 * table of another one; see sql/packed/repack.sql.
 */
Datum
zbxhist_repack_rows(PG_FUNCTION_ARGS)
{
	RepackState *state = palloc0(sizeof(RepackState));
	Datum		values[4];
	bool		nulls[4] = {false};
	OwnerRights before;

	GetKeptItems(fcinfo, 2, &state->kept);
	OpenSources(state, PG_GETARG_ARRAYTYPE_P(0), PG_GETARG_OID(1));
	state->precision = GetTimePrecision(state->layout, PG_GETARG_INT32(3));
	ZbxhistTakeOwnerRights(&before, state->new_day->rd_rel->relowner);
	values[1] = Int64GetDatum((int64) RepackDays(state));
	values[0] = Int64GetDatum((int64) state->nrows);
	values[2] = GetVersions(state);
	values[3] = Int64GetDatum((int64) state->kept.nleft_out);
	pgstat_progress_end_command();
	ZbxhistGiveBackRights(&before);
	table_close(state->new_day, NoLock);
	return result_row(fcinfo, values, nulls);
}
