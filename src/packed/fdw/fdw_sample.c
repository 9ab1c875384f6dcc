/*-------------------------------------------------------------------------
 *
 * fdw_sample.c
 *	  How many rows tables of runs have, and of how many items packed days' rows
 *	  are, by a few pages.
 *
 * The catalog of packed days says how many rows each day has, but nobody counts
 * what runs have.  Of how many items they are says the newest packed day, whose
 * groups' directories know, or the newest table of runs.  What was found is kept
 * for the session; a table of runs is looked at again when it has grown.
 *
 * A table that cannot be locked at once is left out, and so are damaged groups:
 * they are reported to whoever wants their rows.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "access/tableam.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "catalog/statistics_row.h"
#include "compat.h"
#include "packed/day/archived_group.h"
#include "packed/fdw/fdw_sample.h"
#include "packed/format/run.h"
#include "packed/format/segment.h"
#include "packed/values/layout.h"
#include "rows/item_sample.h"

/* seconds between two rows of an item, if nothing is known */
#define USUAL_DELAY 60.0

/* a table of runs is looked at again when it has so much more pages */
#define GROWTH 1.25

/* the pages of a day's table that are looked at */
typedef struct DaySample
{
	ItemSample	items;
	bool		has_runs;
	int			ncolumns;		/* of a segment or run */
	bool		wants_items;
	int64		last_itemid;	/* of the group that was read last */
} DaySample;

/* ---- groups and runs ---- */

/*
 * AddItemRows adds rows of an item, which follow each other, to a sample.
 */
static void
AddItemRows(ItemSample *sample, double nrows, int64 first_clock, int64 last_clock)
{
	sample->nrows += nrows;
	sample->nsteps += nrows - 1;
	sample->seconds += (double) last_clock - first_clock;
}

/*
 * AddGroup adds the rows that a group's directory knows of; returns false if there
 * is none that can be read.
 */
static bool
AddGroup(DaySample *sample, struct varlena *payload)
{
	GroupReader reader;
	const uint8 *data = (const uint8 *) VARDATA_ANY(payload);
	size_t		length = VARSIZE_ANY_EXHDR(payload);
	size_t		nhere = length;

	if (ZbxhistIsArchived(payload))
		data = ZbxhistArchivedDirectory(payload, &nhere, &length);
	if (!ZbxhistOpenDirectory(&reader, data, nhere, length, sample->ncolumns, NULL))
		return false;
	for (int i = 0; i < reader.nsegments; i++)
	{
		const SegmentInfo *info = &reader.segments[i];

		AddItemRows(&sample->items, info->nrows, info->first_clock, info->last_clock);
		if (i > 0 && info->itemid != info[-1].itemid)
			sample->items.nitems++;
	}
	/* the next group may go on with the last item */
	sample->items.nitems += reader.first_itemid == reader.last_itemid ? 0 : 0.5;
	return true;
}

/*
 * AddRun does the same for a run.
 */
static bool
AddRun(DaySample *sample, struct varlena *payload)
{
	bool	   *wanted = palloc0(sizeof(bool) * sample->ncolumns);
	RunRows		rows;
	const int64 *clocks;
	int			first = 0;

	if (!ZbxhistDecodeRun((const uint8 *) VARDATA_ANY(payload),
						  VARSIZE_ANY_EXHDR(payload), sample->ncolumns, wanted,
						  NULL, &rows))
		return false;
	clocks = rows.columns[0].ints;
	for (int i = 1; i <= rows.nrows; i++)
	{
		if (i < rows.nrows && rows.itemids[i] == rows.itemids[first])
			continue;
		AddItemRows(&sample->items, i - first, clocks[first], clocks[i - 1]);
		first = i;
	}
	return true;
}

/*
 * AddPage adds what a snapshot sees of a page of a day's table, of which scan is, and
 * returns how many rows it has.  The first item that is found becomes a bound.
 */
static double
AddPage(DaySample *sample, TableScanDesc scan, TupleTableSlot *slot)
{
	double		result = 0;
	bool		is_first = true;

	while (table_scan_getnextslot_tidrange(scan, ForwardScanDirection, slot))
	{
		struct varlena *payload;

		slot_getallattrs(slot);
		result += Max(DatumGetInt32(slot->tts_values[DAY_ATTNUM_ROWS - 1]), 0);
		if (!sample->wants_items)
			continue;
		payload = PG_DETOAST_DATUM_PACKED(slot->tts_values[DAY_ATTNUM_PAYLOAD - 1]);
		if (sample->has_runs ? !AddRun(sample, payload) : !AddGroup(sample, payload))
			continue;
		if (is_first)
			sample->items.bounds[sample->items.nbounds++] =
				DatumGetInt64(slot->tts_values[DAY_ATTNUM_FIRST_ITEMID - 1]);
		sample->last_itemid =
			DatumGetInt64(slot->tts_values[DAY_ATTNUM_LAST_ITEMID - 1]);
		is_first = false;
	}
	return result;
}

/* ---- tables ---- */

/*
 * SamplePages looks at a few of a table's pages and returns how many rows each has.
 */
static double
SamplePages(DaySample *sample, Relation day, BlockNumber nblocks)
{
	/* in parallel mode no other one can be had */
	Snapshot	snapshot = RegisterSnapshot(ActiveSnapshotSet() ?
											GetActiveSnapshot() :
											GetLatestSnapshot());
	TupleTableSlot *slot = table_slot_create(day, NULL);
	TableScanDesc scan = NULL;
	int			npages = 0;
	double		nrows = 0;

	for (int i = 0; i < SAMPLED_PAGES; i++)
	{
		BlockNumber block = sampled_block(i, nblocks);
		ItemPointerData first;
		ItemPointerData last;

		if (i > 0 && block == sampled_block(i - 1, nblocks))
			continue;
		ItemPointerSet(&first, block, FirstOffsetNumber);
		ItemPointerSet(&last, block, MaxOffsetNumber);
		if (scan == NULL)
			scan = table_beginscan_tidrange_compat(day, snapshot, &first, &last);
		else
			table_rescan_tidrange(scan, &first, &last);
		nrows += AddPage(sample, scan, slot);
		npages++;
	}
	table_endscan(scan);
	ExecDropSingleTupleTableSlot(slot);
	UnregisterSnapshot(snapshot);
	return nrows / npages;
}

/*
 * SampleDay looks at an open table, unless it is done already and it has not grown.
 */
static void
SampleDay(const PackedDay *day, Relation rel, bool wants_items,
		  MemberStatistics *known, ItemSample *items)
{
	DaySample	sample = {.has_runs = day->has_runs,.wants_items = wants_items};
	BlockNumber nblocks = RelationGetNumberOfBlocks(rel);
	TupleDesc	desc = RelationGetDescr(rel);
	MemoryContext context;
	MemoryContext old;

	if (nblocks == 0 || (!wants_items && known->nblocks > 0 &&
						 nblocks >= known->nblocks &&
						 nblocks <= known->nblocks * GROWTH))
		return;
	for (int i = day->has_runs ? RUN_NUM_ATTRIBUTES : DAY_NUM_ATTRIBUTES;
		 i < desc->natts; i++)
		sample.ncolumns += TupleDescAttr(desc, i)->attisdropped ? 0 : 1;
	/* without itemid */
	sample.ncolumns--;
	context = AllocSetContextCreate(CurrentMemoryContext, "zbxhist sample",
									ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(context);
	known->rows_per_block = SamplePages(&sample, rel, nblocks);
	known->nblocks = nblocks;
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
	if (sample.items.nbounds > 0 && !sample.has_runs)
		sample.items.bounds[sample.items.nbounds++] = sample.last_itemid;
	ZbxhistSortBounds(&sample.items);
	*items = sample.items;
}

/*
 * LookAtDay looks at a day's table, and returns what is known of it, and its size;
 * NULL if it cannot be locked at once, or has been dropped.
 */
static MemberStatistics *
LookAtDay(const PackedDay *day, bool wants_items, ItemSample *items,
		  BlockNumber *nblocks)
{
	MemberStatistics *known = ZbxhistFindStatistics(day->relid);
	Relation	rel;

	memset(items, 0, sizeof(ItemSample));
	if (known == NULL || !ConditionalLockRelationOid(day->relid, AccessShareLock))
		return NULL;
	rel = try_table_open(day->relid, NoLock);
	if (rel == NULL)
	{
		UnlockRelationOid(day->relid, AccessShareLock);
		return NULL;
	}
	SampleDay(day, rel, wants_items, known, items);
	*nblocks = RelationGetNumberOfBlocks(rel);
	table_close(rel, AccessShareLock);
	return known;
}

/*
 * ZbxhistEstimateRuns fills in about how many rows tables of runs have, but for hours
 * to come.
 */
void
ZbxhistEstimateRuns(PackedDay *days, int ndays)
{
	pg_time_t	now = timestamptz_to_time_t(GetCurrentTimestamp());

	for (int i = 0; i < ndays; i++)
	{
		const MemberStatistics *known;
		BlockNumber nblocks;
		ItemSample	items;

		CHECK_FOR_INTERRUPTS();
		if (!days[i].has_runs || days[i].from_clock > now)
			continue;
		known = LookAtDay(&days[i], false, &items, &nblocks);
		days[i].nrows = known == NULL ? 0 :
			(int64) (known->rows_per_block * nblocks);
	}
}

/*
 * FindSampledDay returns the day that says of which items packed days' rows are: the
 * newest one that has any, of runs only if there is no other; NULL if there is none.
 */
static const PackedDay *
FindSampledDay(const PackedDay *days, int ndays)
{
	const PackedDay *result = NULL;

	for (int i = ndays - 1; i >= 0; i--)
	{
		if (days[i].nrows > 0 && !days[i].has_runs)
			return &days[i];
		if (days[i].nrows > 0 && result == NULL)
			result = &days[i];
	}
	return result;
}

/*
 * ZbxhistSampleItems finds out of which items the rows of a packed table are, once for
 * each day that says it.
 */
void
ZbxhistSampleItems(Oid packed, const PackedDay *days, int ndays)
{
	MemberStatistics *known = ZbxhistFindStatistics(packed);
	const PackedDay *day = FindSampledDay(days, ndays);
	pg_time_t	now = timestamptz_to_time_t(GetCurrentTimestamp());
	double		seconds;
	BlockNumber nblocks;
	ItemSample	sample;

	if (known == NULL || day == NULL || known->day == day->relid ||
		LookAtDay(day, true, &sample, &nblocks) == NULL)
		return;
	seconds = Min(day->to_clock, now) - day->from_clock;
	known->nitems = ZbxhistCountSampledItems(&sample, day->nrows, seconds);
	if (known->nitems == 0)
		known->nitems = Max(day->nrows * USUAL_DELAY / Max(seconds, USUAL_DELAY), 1);
	ZbxhistSetStatisticsRow(&known->items, INT8OID, known->nitems, sample.bounds,
							sample.nbounds);
	known->day = day->relid;
}
