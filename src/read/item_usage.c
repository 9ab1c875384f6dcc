/*-------------------------------------------------------------------------
 *
 * item_usage.c
 *	  SQL function item_usage: the items that take most of a parent.
 *
 * Of each table is found what the rows or segments of an item take.  The whole
 * of the table, with its indexes and what is free in its pages, is divided in
 * that proportion, so that the items' bytes add up to the disk's.
 *
 * Of a packed day only the directories are read, and the clocks of segments
 * that the range cuts in two; no values.  An ordinary table is read as a whole
 * up to SAMPLE_BLOCKS blocks; of a larger one as many are read, at random, the
 * same each time.
 *
 * The tables of a parent are visited as a reader of one item visits them
 * (reader.c), each once.
 *
 * Locks: ACCESS SHARE on the parent, its packed table and each table while it
 * is read; those of partitions last until the transaction ends.  Memory: an
 * entry for each item, and a group of segments.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/detoast.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/tableam.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "executor/tuptable.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "utils/fmgrprotos.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/sampling.h"
#include "utils/snapmgr.h"
#include "utils/tuplestore.h"

#include "catalog/columns.h"
#include "catalog/partition_set.h"
#include "compat.h"
#include "packed/changes/day_conflicts.h"
#include "packed/day/day.h"
#include "packed/day/scan.h"
#include "read/parent.h"
#include "rows/partition_walk.h"

PG_FUNCTION_INFO_V1(zbxhist_item_usage);

/* of an ordinary table; 64 MB */
#define SAMPLE_BLOCKS 8192

/* what an item takes of some tables */
typedef struct UsagePart
{
	double		nrows;
	double		nbytes;
} UsagePart;

typedef struct ItemUsage
{
	int64		itemid;			/* hash key - must be first */
	UsagePart	packed;
	UsagePart	heap;

	/* of the table in hand */
	UsagePart	found;			/* nbytes: those of rows or segments alone */
	struct ItemUsage *next;		/* whose is found, too */
} ItemUsage;

typedef struct UsageSums
{
	HTAB	   *items;
	ItemUsage  *last;			/* that something was added to */
	int64		from_clock;		/* rows that count */
	int64		to_clock;		/* the first that does not */
	bool		is_exact;		/* no table has been sampled */
	double		total;			/* bytes of all items */

	/* of the table in hand */
	ItemUsage  *found;			/* list of those that have rows in it */
	double		nbytes;			/* of all rows, also those that do not count */
} UsageSums;

/* ---- sums ---- */

/*
 * InitUsage makes sums of no table, for rows with from_clock <= clock <
 * to_clock.
 */
static void
InitUsage(UsageSums *sums, int64 from_clock, int64 to_clock)
{
	HASHCTL		control = {0};

	memset(sums, 0, sizeof(*sums));
	control.keysize = sizeof(int64);
	control.entrysize = sizeof(ItemUsage);
	control.hcxt = CurrentMemoryContext;
	sums->items = hash_create("zbxhist item usage", 1024, &control,
							  HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	sums->from_clock = from_clock;
	sums->to_clock = to_clock;
	sums->is_exact = true;
}

/*
 * FindItem returns an item's entry, and has it among those of the table in
 * hand.
 */
static ItemUsage *
FindItem(UsageSums *sums, int64 itemid)
{
	bool		found;
	ItemUsage  *item;

	if (sums->last != NULL && sums->last->itemid == itemid)
		return sums->last;
	item = hash_search(sums->items, &itemid, HASH_ENTER, &found);
	if (!found)
		memset((char *) item + sizeof(int64), 0,
			   sizeof(ItemUsage) - sizeof(int64));
	if (item->found.nrows == 0)
	{
		item->next = sums->found;
		sums->found = item;
	}
	sums->last = item;
	return item;
}

/*
 * AddUsage adds rows of the table in hand that count, and their bytes.
 */
static void
AddUsage(UsageSums *sums, int64 itemid, double nrows, double nbytes)
{
	ItemUsage  *item = FindItem(sums, itemid);

	item->found.nrows += nrows;
	item->found.nbytes += nbytes;
}

/*
 * EndUsageOf takes what has been added for the table in hand, which has
 * so many bytes, into the sums.  Only a fraction of its rows was read.
 */
static void
EndUsageOf(UsageSums *sums, double table_bytes, double fraction,
		   bool is_packed)
{
	ItemUsage  *item = sums->found;

	while (item != NULL)
	{
		ItemUsage  *next = item->next;
		UsagePart  *part = is_packed ? &item->packed : &item->heap;
		double		nbytes = item->found.nbytes * table_bytes / sums->nbytes;

		part->nrows += item->found.nrows / fraction;
		part->nbytes += nbytes;
		sums->total += nbytes;
		memset(&item->found, 0, sizeof(item->found));
		item->next = NULL;
		item = next;
	}
	sums->found = NULL;
	sums->last = NULL;
	sums->nbytes = 0;
}

/* ---- a table ---- */

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
 * AddDayUsage adds a packed day to the sums.
 */
static void
AddDayUsage(UsageSums *sums, Relation day, Snapshot snapshot)
{
	DayLayout  *layout = ZbxhistDayLayout(day);
	DayScan    *scan = ZbxhistBeginDayScan(day, layout, snapshot);
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "zbxhist usage of a group",
												  ALLOCSET_DEFAULT_SIZES);
	double		nbytes = TableBytes(day);
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
				AddUsage(sums, info->itemid, nrows,
						 (double) info->length * nrows / info->nrows);
		}
		MemoryContextSwitchTo(old);
		MemoryContextReset(context);
	}
	ZbxhistEndDayScan(scan);
	MemoryContextDelete(context);

	/* the segments of an archived day are elsewhere */
	if (nbytes < sums->nbytes)
		nbytes += sums->nbytes;
	EndUsageOf(sums, nbytes, 1, true);
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
		AddUsage(sums, DatumGetInt64(itemid), 1, nbytes);
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
 * AddTableUsage adds an ordinary table to the sums.
 */
static void
AddTableUsage(UsageSums *sums, Relation rel, Snapshot snapshot)
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
	EndUsageOf(sums, TableBytes(rel),
			   is_whole ? 1 : (double) SAMPLE_BLOCKS / nblocks, false);
}

/* ---- the parent's tables ---- */

/*
 * AddOtherTables adds the parent itself, and children that are no partitions.
 */
static void
AddOtherTables(UsageSums *sums, Relation parent, Snapshot snapshot)
{
	PartitionSet *set = ZbxhistGetPartitions(parent);
	int			nothers = set->nothers;
	Oid		   *others = palloc(sizeof(Oid) * (nothers + 1));

	if (nothers > 0)
		memcpy(others, set->others, sizeof(Oid) * nothers);
	AddTableUsage(sums, parent, snapshot);
	for (int i = 0; i < nothers; i++)
	{
		Relation	rel = try_relation_open(others[i], AccessShareLock);

		if (rel == NULL)
			continue;
		if (rel->rd_rel->relkind == RELKIND_RELATION)
			AddTableUsage(sums, rel, snapshot);
		relation_close(rel, NoLock);
	}
}

/*
 * AddStep adds a partition or packed day, if it still is one.
 */
static void
AddStep(UsageSums *sums, PartitionWalk *walk, const WalkStep *step,
		Snapshot snapshot)
{
	Relation	rel = step->is_day ?
		ZbxhistOpenDay(step->relid, AccessShareLock) :
		try_table_open(step->relid, AccessShareLock);

	if (rel == NULL)
		return;
	if (!ZbxhistWalkKnows(walk, step->relid))
	{
		table_close(rel, NoLock);
		return;
	}
	if (step->is_day)
		AddDayUsage(sums, rel, snapshot);
	else
		AddTableUsage(sums, rel, snapshot);
	ZbxhistWalkArrived(walk, step);
	/* of hundreds of days; the lock on the packed table keeps them */
	table_close(rel, step->is_day ? AccessShareLock : NoLock);
}

/*
 * AddTables adds all tables of a parent that may have rows of the range.
 */
static void
AddTables(UsageSums *sums, Relation parent, Snapshot snapshot)
{
	PartitionSet *set = ZbxhistGetPartitions(parent);
	ItemRange	range;
	PartitionWalk walk = {0};
	WalkStep	step;

	if (OidIsValid(set->packed))
	{
		LockRelationOid(set->packed, AccessShareLock);
		ZbxhistNotePackedRead(parent, snapshot);
	}
	AddOtherTables(sums, parent, snapshot);
	ZbxhistWholeItem(&range, 0);
	ZbxhistStartAt(&range, make_position(sums->from_clock, PG_INT32_MIN));
	if (sums->to_clock <= PG_INT32_MAX)
		ZbxhistEndBefore(&range, make_position(sums->to_clock, PG_INT32_MIN));
	ZbxhistBeginWalk(&walk, parent, &range);
	while (ZbxhistWalkNext(&walk, &step))
	{
		CHECK_FOR_INTERRUPTS();
		AddStep(sums, &walk, &step, snapshot);
	}
}

/* ---- the function ---- */

/*
 * PutItems adds a row to the result for each item.
 */
static void
PutItems(ReturnSetInfo *rsinfo, const UsageSums *sums)
{
	const ItemUsage *item;
	HASH_SEQ_STATUS status;

	hash_seq_init(&status, sums->items);
	while ((item = hash_seq_search(&status)) != NULL)
	{
		Datum		values[7];
		bool		nulls[7] = {false};

		values[0] = Int64GetDatum(item->itemid);
		values[1] = Int64GetDatum((int64) rint(item->packed.nrows));
		values[2] = Int64GetDatum((int64) rint(item->packed.nbytes));
		values[3] = Int64GetDatum((int64) rint(item->heap.nrows));
		values[4] = Int64GetDatum((int64) rint(item->heap.nbytes));
		values[5] = BoolGetDatum(sums->is_exact);
		values[6] = Int64GetDatum((int64) rint(sums->total));
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values,
							 nulls);
	}
}

/*
 * GetClock returns an argument that is a clock, within what a column of clocks
 * can have and the first after it; outer if it is null.
 */
static int64
GetClock(FunctionCallInfo fcinfo, int argument, int64 outer)
{
	if (PG_ARGISNULL(argument))
		return outer;
	return Max(PG_INT32_MIN, Min((int64) PG_INT32_MAX + 1,
								 PG_GETARG_INT64(argument)));
}

/*
 * zbxhist_item_usage(parent, from_clock, to_clock, max_items) returns what items
 * take; the largest ones are chosen by sql/operate/usage.sql.
 */
Datum
zbxhist_item_usage(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	UsageSums	sums;
	Relation	parent;
	Snapshot	snapshot;

	(void) ZbxhistToLimit("max_items", PG_ARGISNULL(3), PG_GETARG_INT32(3));
	if (PG_ARGISNULL(0))
		ereport(ERROR,
				errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				errmsg("argument \"%s\" must not be null", "parent"),
				errhint("SELECT parent FROM zbxhist.parents;"));
	InitMaterializedSRF(fcinfo, 0);
	InitUsage(&sums, GetClock(fcinfo, 1, PG_INT32_MIN),
			  GetClock(fcinfo, 2, (int64) PG_INT32_MAX + 1));
	if (sums.from_clock > sums.to_clock)
		ereport(ERROR,
				errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("range of time ends before it begins"));
	parent = ZbxhistOpenParent(PG_GETARG_OID(0), AccessShareLock, ACL_SELECT);
	snapshot = RegisterSnapshot(GetActiveSnapshot());
	if (sums.from_clock < sums.to_clock)
		AddTables(&sums, parent, snapshot);
	UnregisterSnapshot(snapshot);
	table_close(parent, NoLock);
	PutItems(rsinfo, &sums);
	return (Datum) 0;
}
