/*-------------------------------------------------------------------------
 *
 * usage_tables.c
 *	  How much of one table is each item's.
 *
 * Of a packed day only the directories are read, and the clocks of segments
 * that the range cuts in two; no values.  An ordinary table is read as a whole
 * up to SAMPLE_BLOCKS blocks; of a larger one as many are read, at random, the
 * same each time.
 *
 * Locks: the caller has locked the table.  Memory: a group of segments.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/detoast.h"
#include "access/htup_details.h"
#include "access/tableam.h"
#include "catalog/pg_type.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/fmgrprotos.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/sampling.h"

#include "catalog/columns.h"
#include "compat.h"
#include "packed/day/day.h"
#include "read/usage_tables.h"

/* of an ordinary table; 64 MB */
#define SAMPLE_BLOCKS 8192

/*
 * TableBytes returns what a table takes on the disk, with indexes and values
 * stored out of line.
 */
static double
TableBytes(Relation rel)
{
	return (double) DatumGetInt64(DirectFunctionCall1(pg_total_relation_size,
													  ObjectIdGetDatum(RelationGetRelid(rel))));
}

/* ---- packed days ---- */

/*
 * CountRows returns how many rows of a segment are in the range.
 */
static uint32
CountRows(const UsageSums *sums, Relation day, const DayLayout *layout,
		  const GroupReader *reader, int segment)
{
	const SegmentInfo *info = &reader->segments[segment];
	bool	   *wanted;
	SegmentRows rows;
	uint32		result = 0;

	if (info->first_clock >= sums->from_clock &&
		info->last_clock < sums->to_clock)
		return info->nrows;
	if (info->last_clock < sums->from_clock ||
		info->first_clock >= sums->to_clock)
		return 0;
	wanted = palloc0(sizeof(bool) * layout->npacked);
	wanted[0] = true;
	ZbxhistDecodeDaySegment(day, layout, reader, segment, wanted, &rows);
	for (int i = 0; i < rows.nrows; i++)
	{
		int64		clock = rows.columns[0].ints[i];

		if (clock >= sums->from_clock && clock < sums->to_clock)
			result++;
	}
	return result;
}

/*
 * ZbxhistAddDayUsage adds a packed day to the sums.
 */
void
ZbxhistAddDayUsage(UsageSums *sums, Relation day, Snapshot snapshot)
{
	DayLayout  *layout = ZbxhistDayLayout(day);
	DayScan    *scan = ZbxhistBeginDayScan(day, layout, snapshot);
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "zbxhist usage of a group",
												  ALLOCSET_DEFAULT_SIZES);
	DayGroup	group;

	ZbxhistDayScanAll(scan);
	while (ZbxhistDayScanNext(scan, &group))
	{
		MemoryContext old = MemoryContextSwitchTo(context);

		CHECK_FOR_INTERRUPTS();
		for (int i = 0; i < group.reader.nsegments; i++)
		{
			const SegmentInfo *info = &group.reader.segments[i];
			uint32		nrows = CountRows(sums, day, layout, &group.reader, i);

			sums->nbytes += info->length;
			if (nrows > 0)
				ZbxhistAddUsage(sums, info->itemid, nrows,
								(double) info->length * nrows / info->nrows);
		}
		MemoryContextSwitchTo(old);
		MemoryContextReset(context);
	}
	ZbxhistEndDayScan(scan);
	MemoryContextDelete(context);
	ZbxhistEndUsageOf(sums, TableBytes(day), 1, true);
}

/* ---- ordinary tables ---- */

/*
 * RowBytes returns the length of a row with what is stored out of line.
 */
static double
RowBytes(TupleTableSlot *slot)
{
	bool		should_free;
	HeapTuple	tuple = ExecFetchSlotHeapTuple(slot, false, &should_free);
	double		result = tuple->t_len;

	if (HeapTupleHasExternal(tuple))
	{
		slot_getallattrs(slot);
		for (int i = 0; i < slot->tts_tupleDescriptor->natts; i++)
		{
			Form_pg_attribute att = TupleDescAttr(slot->tts_tupleDescriptor, i);

			if (!slot->tts_isnull[i] && att->attlen == -1 &&
				VARATT_IS_EXTERNAL_ONDISK(DatumGetPointer(slot->tts_values[i])))
				result += toast_datum_size(slot->tts_values[i]);
		}
	}
	if (should_free)
		heap_freetuple(tuple);
	return result;
}

/* the columns that rows are counted by; 0: there is none */
typedef struct UsageColumns
{
	AttrNumber	itemid;
	AttrNumber	clock;
} UsageColumns;

/*
 * AddRow adds a row.
 */
static void
AddRow(UsageSums *sums, const UsageColumns *columns, TupleTableSlot *slot)
{
	bool		no_item;
	bool		no_clock;
	Datum		itemid = slot_getattr(slot, columns->itemid, &no_item);
	Datum		clock = slot_getattr(slot, columns->clock, &no_clock);
	double		nbytes = RowBytes(slot);

	sums->nbytes += nbytes;
	if (!no_item && !no_clock && DatumGetInt32(clock) >= sums->from_clock &&
		DatumGetInt32(clock) < sums->to_clock)
		ZbxhistAddUsage(sums, DatumGetInt64(itemid), 1, nbytes);
}

/*
 * ReadAll adds all rows of a table.
 */
static void
ReadAll(UsageSums *sums, const UsageColumns *columns, Relation rel,
		Snapshot snapshot, TupleTableSlot *slot)
{
	TableScanDesc scan = table_beginscan_compat(rel, snapshot);

	while (table_scan_getnextslot(scan, ForwardScanDirection, slot))
	{
		CHECK_FOR_INTERRUPTS();
		AddRow(sums, columns, slot);
	}
	table_endscan(scan);
}

/*
 * ReadSample adds the rows of some of a table's blocks.
 */
static void
ReadSample(UsageSums *sums, const UsageColumns *columns, Relation rel,
		   Snapshot snapshot, TupleTableSlot *slot, BlockNumber nblocks)
{
	BlockSamplerData sampler;
	TableScanDesc scan = NULL;

	BlockSampler_Init(&sampler, nblocks, SAMPLE_BLOCKS, 1);
	while (BlockSampler_HasMore(&sampler))
	{
		BlockNumber block = BlockSampler_Next(&sampler);
		ItemPointerData first;
		ItemPointerData last;

		CHECK_FOR_INTERRUPTS();
		ItemPointerSet(&first, block, FirstOffsetNumber);
		ItemPointerSet(&last, block, MaxOffsetNumber);
		if (scan == NULL)
			scan = table_beginscan_tidrange_compat(rel, snapshot, &first, &last);
		else
			table_rescan_tidrange(scan, &first, &last);
		while (table_scan_getnextslot_tidrange(scan, ForwardScanDirection,
											   slot))
			AddRow(sums, columns, slot);
	}
	table_endscan(scan);
}

/*
 * ZbxhistAddTableUsage adds an ordinary table to the sums.
 */
void
ZbxhistAddTableUsage(UsageSums *sums, Relation rel, Snapshot snapshot)
{
	BlockNumber nblocks = RelationGetNumberOfBlocks(rel);
	UsageColumns columns;
	TupleTableSlot *slot;
	bool		is_whole = nblocks <= SAMPLE_BLOCKS ||
		rel->rd_tableam->scan_set_tidrange == NULL;

	columns.itemid = ZbxhistFindColumn(RelationGetDescr(rel), "itemid", INT8OID);
	columns.clock = ZbxhistFindColumn(RelationGetDescr(rel), "clock", INT4OID);
	if (nblocks == 0 || columns.itemid == InvalidAttrNumber ||
		columns.clock == InvalidAttrNumber)
		return;
	slot = table_slot_create(rel, NULL);
	if (is_whole)
		ReadAll(sums, &columns, rel, snapshot, slot);
	else
	{
		ReadSample(sums, &columns, rel, snapshot, slot, nblocks);
		sums->is_exact = false;
	}
	ExecDropSingleTupleTableSlot(slot);
	ZbxhistEndUsageOf(sums, TableBytes(rel),
					  is_whole ? 1 : (double) SAMPLE_BLOCKS / nblocks, false);
}
