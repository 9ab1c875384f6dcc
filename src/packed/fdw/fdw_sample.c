/*-------------------------------------------------------------------------
 *
 * fdw_sample.c
 *	  Of how many items packed days' rows are, by a few pages.
 *
 * The catalog of packed days says how many rows each day has.  Of how many items
 * they are says the newest one, whose groups' directories know.  What was found is
 * kept for the session.
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
#include "packed/format/segment.h"
#include "packed/values/layout.h"
#include "rows/item_sample.h"

/* seconds between two rows of an item, if nothing is known */
#define USUAL_DELAY 60.0

/* the pages of a day's table that are looked at */
typedef struct DaySample
{
	ItemSample	items;
	int			ncolumns;		/* of a segment */
	int64		last_itemid;	/* of the group that was read last */
} DaySample;

/* ---- groups ---- */

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
 * AddPage adds what a snapshot sees of a page of a day's table, of which scan is.  The
 * first item that is found becomes a bound.
 */
static void
AddPage(DaySample *sample, TableScanDesc scan, TupleTableSlot *slot)
{
	bool		is_first = true;

	while (table_scan_getnextslot_tidrange(scan, ForwardScanDirection, slot))
	{
		struct varlena *payload;

		slot_getallattrs(slot);
		payload = PG_DETOAST_DATUM_PACKED(slot->tts_values[DAY_ATTNUM_PAYLOAD - 1]);
		if (!AddGroup(sample, payload))
			continue;
		if (is_first)
			sample->items.bounds[sample->items.nbounds++] =
				DatumGetInt64(slot->tts_values[DAY_ATTNUM_FIRST_ITEMID - 1]);
		sample->last_itemid =
			DatumGetInt64(slot->tts_values[DAY_ATTNUM_LAST_ITEMID - 1]);
		is_first = false;
	}
}

/* ---- tables ---- */

/*
 * SamplePages looks at a few of a table's pages.
 */
static void
SamplePages(DaySample *sample, Relation day, BlockNumber nblocks)
{
	/* in parallel mode no other one can be had */
	Snapshot	snapshot = RegisterSnapshot(ActiveSnapshotSet() ?
											GetActiveSnapshot() :
											GetLatestSnapshot());
	TupleTableSlot *slot = table_slot_create(day, NULL);
	TableScanDesc scan = NULL;

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
		AddPage(sample, scan, slot);
	}
	table_endscan(scan);
	ExecDropSingleTupleTableSlot(slot);
	UnregisterSnapshot(snapshot);
}

/*
 * SampleDay looks at an open table.
 */
static void
SampleDay(Relation rel, ItemSample *items)
{
	DaySample	sample = {0};
	BlockNumber nblocks = RelationGetNumberOfBlocks(rel);
	TupleDesc	desc = RelationGetDescr(rel);
	MemoryContext context;
	MemoryContext old;

	if (nblocks == 0)
		return;
	for (int i = DAY_NUM_ATTRIBUTES; i < desc->natts; i++)
		sample.ncolumns += TupleDescAttr(desc, i)->attisdropped ? 0 : 1;
	/* without itemid */
	sample.ncolumns--;
	context = AllocSetContextCreate(CurrentMemoryContext, "zbxhist sample",
									ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(context);
	SamplePages(&sample, rel, nblocks);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
	if (sample.items.nbounds > 0)
		sample.items.bounds[sample.items.nbounds++] = sample.last_itemid;
	ZbxhistSortBounds(&sample.items);
	*items = sample.items;
}

/*
 * LookAtDay looks at a day's table; returns false if it cannot be locked at once, or has
 * been dropped.
 */
static bool
LookAtDay(const PackedDay *day, ItemSample *items)
{
	Relation	rel;

	memset(items, 0, sizeof(ItemSample));
	if (!ConditionalLockRelationOid(day->relid, AccessShareLock))
		return false;
	rel = try_table_open(day->relid, NoLock);
	if (rel == NULL)
	{
		UnlockRelationOid(day->relid, AccessShareLock);
		return false;
	}
	SampleDay(rel, items);
	table_close(rel, AccessShareLock);
	return true;
}

/*
 * FindSampledDay returns the day that says of which items packed days' rows are: the
 * newest one that has any; NULL if there is none.
 */
static const PackedDay *
FindSampledDay(const PackedDay *days, int ndays)
{
	for (int i = ndays - 1; i >= 0; i--)
	{
		if (days[i].nrows > 0)
			return &days[i];
	}
	return NULL;
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
	ItemSample	sample;

	if (known == NULL || day == NULL || known->day == day->relid ||
		!LookAtDay(day, &sample))
		return;
	seconds = Min(day->to_clock, now) - day->from_clock;
	known->nitems = ZbxhistCountSampledItems(&sample, day->nrows, seconds);
	if (known->nitems == 0)
		known->nitems = Max(day->nrows * USUAL_DELAY / Max(seconds, USUAL_DELAY), 1);
	ZbxhistSetStatisticsRow(&known->items, INT8OID, known->nitems, sample.bounds,
							sample.nbounds);
	known->day = day->relid;
}
