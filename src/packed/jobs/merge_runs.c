/*-------------------------------------------------------------------------
 *
 * merge_runs.c
 *	  Writes many runs of a table as fewer, larger ones.
 *
 * Who reads an item looks into each run that may have it.  So the runs of many
 * statements are sorted together and written as full pages, of which each has
 * few items, and the old ones are deleted, in one transaction: a snapshot sees
 * the ones or the others.
 *
 * What one merge writes is a batch: runs of one transaction, no two of which have
 * items in common but for those that go on from one page to the next.  What a
 * statement stores is one as well, if it fills its pages.  Batches have levels,
 * by their size; so many of one level are merged at once that a row is written
 * anew three times in an hour of gigabytes, and that fewer than a hundred batches
 * are left.
 *
 * Those who store rows look for their keys in whatever overlaps with them in
 * time, so large batches that have just been written are left alone for a while.
 *
 * Locks: SHARE UPDATE EXCLUSIVE on the table, only if it can be had at once, in
 * the way of those who change rows, pack or VACUUM, but of no INSERT; then the
 * merge lock.  Memory: a page's rows of each batch, and those of some new pages.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/pg_am.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "catalog/owned_table.h"
#include "packed/day/day_runs.h"
#include "packed/day/day_write.h"
#include "packed/day/run_write.h"
#include "packed/jobs/damaged_runs.h"
#include "packed/jobs/merge_runs.h"
#include "rows/attempt.h"
#include "rows/merge_lock.h"

PG_FUNCTION_INFO_V1(zbxhist_merge_runs);

/* a batch of level 0 has fewer bytes, and one of the next level so many times more */
#define LEVEL_BYTES ((Size) 64 * 1024)
#define LEVEL_FACTOR 16
#define MAX_LEVEL 3

/* bytes that a row counts at least: decoding takes time, however few they are */
#define ROW_BYTES 4

/* larger batches of one level from which on they are merged */
#define MERGED_BATCHES 12

/* seconds in which rows may come late, without doubt */
#define LATE_SECONDS 30

/* rows that are written at once */
#define WRITTEN_ROWS (32 * 1024)

/* a run that is there for good */
typedef struct SettledRun
{
	TransactionId xmin;
	Size		nbytes;
	DayGroup	place;			/* without its reader */
} SettledRun;

/* runs of one transaction */
typedef struct RunBatch
{
	int			first;			/* of the list, and their number */
	int			nruns;
	int			weight;			/* how many of them a reader looks into */
	int			level;
	int32		last_clock;
} RunBatch;

typedef struct RunMerge
{
	Relation	rel;
	DayLayout  *layout;
	Oid			index;
	Snapshot	snapshot;
	SettledRun *runs;			/* sorted by transaction and item */
	int			nruns;
	RunBatch   *batches;
	int			nbatches;
	DayGroup   *places;			/* of the runs to be merged */
	int			nplaces;
	int64		nrows;			/* that these have */
	void		(*between) (void);	/* called now and then, or NULL */
	MemoryContext pages_context;	/* reset with some pages */
} RunMerge;

/* ---- runs ---- */

/*
 * AddRun adds the run in a slot to the list.  One that is out of line is a single
 * row, and one that is damaged stays as it is, for salvage().
 */
static void
AddRun(RunMerge *merge, TupleTableSlot *slot, int *capacity)
{
	HeapTuple	tuple = ExecFetchSlotHeapTuple(slot, false, NULL);
	SettledRun *run;
	bool		isnull;
	Datum		bytes = slot_getattr(slot, DAY_ATTNUM_PAYLOAD, &isnull);

	if (isnull || VARATT_IS_EXTERNAL(DatumGetPointer(bytes)))
		return;
	if (merge->nruns == *capacity)
	{
		*capacity *= 2;
		merge->runs = repalloc_huge(merge->runs,
									*capacity * sizeof(SettledRun));
	}
	run = &merge->runs[merge->nruns];
	memset(run, 0, sizeof(SettledRun));
	if (!ZbxhistReadPlace(slot, &run->place) ||
		ZbxhistIsDamagedRun(RelationGetRelid(merge->rel), &slot->tts_tid,
							HeapTupleHeaderGetRawXmin(tuple->t_data)))
		return;
	run->xmin = HeapTupleHeaderGetRawXmin(tuple->t_data);
	run->nbytes = Max(tuple->t_len, (Size) run->place.nrows * ROW_BYTES);
	merge->nruns++;
}

/*
 * compare_runs orders runs by transaction, then by item.
 */
static int
compare_runs(const void *a, const void *b)
{
	const SettledRun *x = a;
	const SettledRun *y = b;

	if (x->xmin != y->xmin)
		return x->xmin < y->xmin ? -1 : 1;
	if (x->place.first_itemid != y->place.first_itemid)
		return x->place.first_itemid < y->place.first_itemid ? -1 : 1;
	if (x->place.last_itemid != y->place.last_itemid)
		return x->place.last_itemid < y->place.last_itemid ? -1 : 1;
	return 0;
}

/*
 * ListRuns lists the runs that the merge's snapshot sees.  Allocates in the
 * current context.
 */
static void
ListRuns(RunMerge *merge)
{
	TupleTableSlot *slot = table_slot_create(merge->rel, NULL);
	TableScanDesc scan = table_beginscan(merge->rel, merge->snapshot, 0, NULL);
	int			capacity = 256;

	merge->nruns = 0;
	merge->runs = palloc(capacity * sizeof(SettledRun));
	while (table_scan_getnextslot(scan, ForwardScanDirection, slot))
	{
		CHECK_FOR_INTERRUPTS();
		AddRun(merge, slot, &capacity);
	}
	table_endscan(scan);
	ExecDropSingleTupleTableSlot(slot);
	qsort(merge->runs, merge->nruns, sizeof(SettledRun), compare_runs);
}

/* ---- batches ---- */

/*
 * GetLevel returns the level of a batch of that size.
 */
static int
GetLevel(Size nbytes)
{
	int			level = 0;

	for (Size limit = LEVEL_BYTES; nbytes >= limit && level < MAX_LEVEL;
		 limit *= LEVEL_FACTOR)
		level++;
	return level;
}

/*
 * ReadBatch describes the runs of one transaction, which begin at first.  If they
 * have items in common, or hardly fill their pages, each counts.
 */
static void
ReadBatch(const RunMerge *merge, int first, RunBatch *batch)
{
	bool		is_sorted = true;
	Size		nbytes = 0;
	int			i;

	batch->first = first;
	batch->last_clock = PG_INT32_MIN;
	for (i = first; i < merge->nruns &&
		 merge->runs[i].xmin == merge->runs[first].xmin; i++)
	{
		const DayGroup *place = &merge->runs[i].place;

		is_sorted &= i == first ||
			merge->runs[i - 1].place.last_itemid <= place->first_itemid;
		nbytes += merge->runs[i].nbytes;
		batch->last_clock = Max(batch->last_clock, place->last_clock);
	}
	batch->nruns = i - first;
	batch->weight = batch->nruns;
	batch->level = 0;
	if (is_sorted && nbytes >= (Size) batch->nruns * (BLCKSZ / 4))
	{
		batch->weight = 1;
		batch->level = GetLevel(nbytes);
	}
}

/*
 * ReadBatches finds the batches of the runs.  Allocates in the current context.
 */
static void
ReadBatches(RunMerge *merge)
{
	merge->batches = palloc_extended(Max(merge->nruns, 1) * sizeof(RunBatch),
									 MCXT_ALLOC_HUGE);
	merge->nbatches = 0;
	for (int i = 0; i < merge->nruns;)
	{
		RunBatch   *batch = &merge->batches[merge->nbatches++];

		ReadBatch(merge, i, batch);
		i += batch->nruns;
	}
}

/*
 * ChooseBatches chooses the batches of a level whose rows are not later than a
 * clock; returns their weight.
 */
static int
ChooseBatches(RunMerge *merge, int level, int32 clock)
{
	int			weight = 0;

	merge->nplaces = 0;
	merge->nrows = 0;
	for (int i = 0; i < merge->nbatches; i++)
	{
		const RunBatch *batch = &merge->batches[i];

		if (batch->level != level || batch->last_clock > clock)
			continue;
		weight += batch->weight;
		for (int j = batch->first; j < batch->first + batch->nruns; j++)
		{
			merge->places[merge->nplaces++] = merge->runs[j].place;
			merge->nrows += merge->runs[j].place.nrows;
		}
	}
	return weight;
}

/*
 * ChooseRuns chooses the runs that are to be merged, if there are enough of one
 * level; of the first one enough says how many are.  Allocates in the current context.
 */
static bool
ChooseRuns(RunMerge *merge, int enough)
{
	int32		newest = PG_INT32_MIN;

	for (int i = 0; i < merge->nbatches; i++)
		newest = Max(newest, merge->batches[i].last_clock);
	newest = Max(newest, PG_INT32_MIN + LATE_SECONDS);
	merge->places = palloc_extended(Max(merge->nruns, 1) * sizeof(DayGroup),
									MCXT_ALLOC_HUGE);
	if (ChooseBatches(merge, 0, PG_INT32_MAX) >= enough && merge->nplaces > 1)
		return true;
	for (int level = 1; level <= MAX_LEVEL; level++)
	{
		if (ChooseBatches(merge, level, PG_INT32_MAX) >= 2 * MERGED_BATCHES ||
			ChooseBatches(merge, level,
						  newest - LATE_SECONDS) >= MERGED_BATCHES)
			return true;
	}
	return false;
}

/*
 * FindRuns finds the runs that are to be merged, by a snapshot of now; returns
 * false if there are none.  Allocates in the current context.
 */
static bool
FindRuns(RunMerge *merge, int enough)
{
	ListRuns(merge);
	ReadBatches(merge);
	return ChooseRuns(merge, enough);
}

/* ---- merging ---- */

/*
 * WriteRows writes the rows of the chosen runs, sorted.
 */
static void
WriteRows(void *arg)
{
	RunMerge   *merge = arg;
	DayRuns    *runs = ZbxhistBeginDayRuns(merge->rel, merge->layout,
										   merge->snapshot);
	MemoryContext old = MemoryContextSwitchTo(merge->pages_context);
	double		row_bytes = 8.0;
	int64		nwritten = 0;
	const RunRow *rows;
	WrittenRun *written;
	RunRows		gathered;
	int			nrows;

	ZbxhistListRuns(runs, merge->places, merge->nplaces);
	ZbxhistRunsOfAll(runs);
	while ((nrows = ZbxhistNextRowsOfRuns(runs, WRITTEN_ROWS, &rows)) > 0)
	{
		CHECK_FOR_INTERRUPTS();
		if (merge->between != NULL)
			merge->between();
		ZbxhistGatherRows(merge->layout, rows, nrows, &gathered);
		(void) ZbxhistWriteRuns(merge->rel, merge->index, &gathered,
								&row_bytes, GetCurrentCommandId(true),
								&written);
		nwritten += nrows;
		MemoryContextReset(merge->pages_context);
	}
	MemoryContextSwitchTo(old);
	ZbxhistEndDayRuns(runs);
	if (nwritten != merge->nrows)
		elog(ERROR, "merged " INT64_FORMAT " of " INT64_FORMAT " rows of runs",
			 nwritten, merge->nrows);
}

/*
 * MergeChosen writes the rows of the chosen runs anew and deletes these; returns
 * false, and has done nothing, if some cannot be read, which are known by now.
 */
static bool
MergeChosen(RunMerge *merge)
{
	ErrorData  *error;

	merge->pages_context = AllocSetContextCreate(CurrentMemoryContext,
												 "zbxhist merged runs",
												 ALLOCSET_DEFAULT_SIZES);
	ZbxhistLockMerge(RelationGetRelid(merge->rel));
	error = ZbxhistAttempt(WriteRows, merge);
	if (error != NULL)
	{
		if (ZbxhistNoteDamagedRuns(merge->rel, merge->layout, merge->snapshot,
								   merge->places, merge->nplaces) == 0)
			ReThrowError(error);
		return false;
	}
	for (int i = 0; i < merge->nplaces; i++)
	{
		CHECK_FOR_INTERRUPTS();
		ZbxhistDeleteGroup(merge->rel, &merge->places[i].tid, InvalidSnapshot);
	}
	MemoryContextDelete(merge->pages_context);
	return true;
}

/*
 * MergeLevel merges the runs of one level, if there are enough; returns their
 * number, or -1 if somebody else has the table's lock.  Nobody has it for
 * nothing: the lock is taken when it is known that there are.
 */
static int64
MergeLevel(RunMerge *merge, int enough)
{
	bool		found;

	merge->snapshot = RegisterSnapshot(GetLatestSnapshot());
	found = FindRuns(merge, enough);
	if (found && !ConditionalLockRelation(merge->rel,
										  ShareUpdateExclusiveLock))
	{
		UnregisterSnapshot(merge->snapshot);
		return -1;
	}
	UnregisterSnapshot(merge->snapshot);
	if (!found)
		return 0;

	merge->snapshot = RegisterSnapshot(GetLatestSnapshot());
	do
		found = FindRuns(merge, enough);
	while (found && !MergeChosen(merge));
	UnregisterSnapshot(merge->snapshot);
	return found ? merge->nplaces : 0;
}

/*
 * ZbxhistMergeRuns merges runs of a table that belongs to the user, if there are
 * enough of one level; returns their number, 0 if there are not, or -1 if it
 * has to be tried again later.  Now and then between is called, if it is not NULL.
 */
int64
ZbxhistMergeRuns(Oid relid, int enough, void (*between) (void))
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "zbxhist merge of runs",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	RunMerge	merge = {.rel = ZbxhistOpenOwnedTable(relid, AccessShareLock),
	.between = between};
	int64		result = 0;

	if (ZbxhistHasRuns(merge.rel) &&
		merge.rel->rd_rel->relam == HEAP_TABLE_AM_OID)
	{
		merge.layout = ZbxhistDayLayout(merge.rel);
		merge.index = ZbxhistRunIndex(merge.rel);
		if (OidIsValid(merge.index))
			result = MergeLevel(&merge, enough);
	}
	table_close(merge.rel, NoLock);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
	return result;
}

/*
 * zbxhist_merge_runs(runs, enough) is for SQL, see sql/packed/merge_runs.sql.
 */
Datum
zbxhist_merge_runs(PG_FUNCTION_ARGS)
{
	int32		enough = PG_GETARG_INT32(1);

	PG_RETURN_INT64(ZbxhistMergeRuns(PG_GETARG_OID(0), Max(enough, 2), NULL));
}
