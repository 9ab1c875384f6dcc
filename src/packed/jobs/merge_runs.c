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
 * What one merge writes is a batch, see run_index.h.  Batches have levels: so many
 * of one level are merged at once that a row is written anew three times in an
 * hour of gigabytes, and that fewer than a hundred runs and batches are left.
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
#include "packed/day/run_index.h"
#include "packed/day/run_write.h"
#include "packed/jobs/damaged_runs.h"
#include "packed/jobs/merge_runs.h"
#include "rows/attempt.h"
#include "rows/merge_lock.h"

PG_FUNCTION_INFO_V1(zbxhist_merge_runs);

/* runs of statements that are merged at once, at most: all are in memory */
#define MAX_STORED_RUNS 512

/* batches of one level from which on they are merged */
#define MERGED_BATCHES 12

/* seconds in which rows may come late, without doubt */
#define LATE_SECONDS 30

/* rows that are written at once */
#define WRITTEN_ROWS (32 * 1024)

typedef struct RunMerge
{
	Relation	rel;
	DayLayout  *layout;
	RunIndexes	indexes;
	Snapshot	snapshot;
	int64	   *batches;		/* the newest first */
	int			nbatches;
	int			level;			/* of the batch to be written */
	DayGroup   *places;			/* of the runs to be merged */
	int			nplaces;
	int			max_places;
	int64		nrows;			/* that these have */
	int32		last_clock;		/* and the newest of these */
	void		(*between) (void);	/* called now and then, or NULL */
	MemoryContext pages_context;	/* reset with some pages */
} RunMerge;

/* ---- what there is ---- */

/*
 * AddRun chooses the run in a slot.  One that is out of line is a single row, and
 * one that is damaged stays as it is, for salvage().
 */
static void
AddRun(RunMerge *merge, TupleTableSlot *slot)
{
	HeapTuple	tuple = ExecFetchSlotHeapTuple(slot, false, NULL);
	DayGroup	place;

	memset(&place, 0, sizeof(place));
	if (!ZbxhistReadPlace(slot, &place) ||
		!ZbxhistHasPayload(merge->rel, slot) ||
		VARATT_IS_EXTERNAL(DatumGetPointer(slot->tts_values[DAY_ATTNUM_PAYLOAD - 1])) ||
		ZbxhistIsDamagedRun(RelationGetRelid(merge->rel), &slot->tts_tid,
							HeapTupleHeaderGetRawXmin(tuple->t_data)))
		return;
	if (merge->nplaces == merge->max_places)
	{
		merge->max_places *= 2;
		merge->places = repalloc_huge(merge->places,
									  merge->max_places * sizeof(DayGroup));
	}
	merge->places[merge->nplaces++] = place;
	merge->nrows += place.nrows;
	merge->last_clock = Max(merge->last_clock, place.last_clock);
}

/*
 * ChooseNothing begins with no runs.
 */
static void
ChooseNothing(RunMerge *merge)
{
	merge->nplaces = 0;
	merge->nrows = 0;
	merge->last_clock = PG_INT32_MIN;
}

/*
 * ChooseStored chooses the oldest runs of statements.
 */
static void
ChooseStored(RunMerge *merge)
{
	RunIndexScan *scan = ZbxhistBeginRunIndexScan(merge->rel,
												  merge->indexes.stored,
												  merge->snapshot);
	TupleTableSlot *slot;

	ChooseNothing(merge);
	ZbxhistRunsSince(scan, PG_INT32_MIN);
	while (merge->nplaces < MAX_STORED_RUNS &&
		   (slot = ZbxhistNextInRunIndex(scan)) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		AddRun(merge, slot);
	}
	ZbxhistEndRunIndexScan(scan);
	merge->level = 1;
}

/*
 * ListBatches lists the batches that the merge's snapshot sees.  Allocates in the
 * current context.
 */
static void
ListBatches(RunMerge *merge)
{
	RunIndexScan *scan = ZbxhistBeginRunIndexScan(merge->rel,
												  merge->indexes.merged,
												  merge->snapshot);
	int64		batch = PG_INT64_MAX;
	int			size = 64;

	merge->nbatches = 0;
	merge->batches = palloc(size * sizeof(int64));
	while (ZbxhistNextBatch(scan, &batch))
	{
		if (merge->nbatches == size)
		{
			size *= 2;
			merge->batches = repalloc_huge(merge->batches,
										   size * sizeof(int64));
		}
		merge->batches[merge->nbatches++] = batch;
	}
	ZbxhistEndRunIndexScan(scan);
}

/* ---- what is merged ---- */

/*
 * IsChosen says whether a batch is of a level and not newer than a clock.
 */
static inline bool
IsChosen(int64 batch, int level, int32 clock)
{
	return batch_level(batch) == level && batch_clock(batch) <= clock;
}

/*
 * CountBatches counts the batches of a level that are not newer than a clock.
 */
static int
CountBatches(const RunMerge *merge, int level, int32 clock)
{
	int			result = 0;

	for (int i = 0; i < merge->nbatches; i++)
		result += IsChosen(merge->batches[i], level, clock);
	return result;
}

/*
 * ChooseBatches chooses the runs of these batches.
 */
static void
ChooseBatches(RunMerge *merge, int level, int32 clock)
{
	RunIndexScan *scan = ZbxhistBeginRunIndexScan(merge->rel,
												  merge->indexes.merged,
												  merge->snapshot);
	TupleTableSlot *slot;

	ChooseNothing(merge);
	for (int i = 0; i < merge->nbatches; i++)
	{
		if (!IsChosen(merge->batches[i], level, clock))
			continue;
		ZbxhistRunsOfBatch(scan, merge->batches[i], PG_INT64_MIN);
		while ((slot = ZbxhistNextInRunIndex(scan)) != NULL)
		{
			CHECK_FOR_INTERRUPTS();
			AddRun(merge, slot);
		}
	}
	ZbxhistEndRunIndexScan(scan);
	merge->level = Min(level + 1, BATCH_MAX_LEVEL);
}

/*
 * ChooseRuns chooses the runs that are to be merged, if there are enough of one
 * level; of the first one enough says how many are.
 */
static bool
ChooseRuns(RunMerge *merge, int enough)
{
	int32		newest;
	int32		settled;

	ChooseStored(merge);
	if (merge->nplaces >= enough)
		return true;
	if (merge->nbatches == 0)
		return false;
	newest = Max(merge->last_clock, batch_clock(merge->batches[0]));
	settled = Max(newest, PG_INT32_MIN + LATE_SECONDS) - LATE_SECONDS;
	for (int level = 1; level <= BATCH_MAX_LEVEL; level++)
	{
		int32		clock = CountBatches(merge, level, PG_INT32_MAX) >= 2 * MERGED_BATCHES ?
			PG_INT32_MAX : settled;

		if (CountBatches(merge, level, clock) < MERGED_BATCHES)
			continue;
		ChooseBatches(merge, level, clock);
		if (merge->nplaces > 1)
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
	merge->max_places = 128;
	merge->places = palloc(merge->max_places * sizeof(DayGroup));
	ListBatches(merge);
	return ChooseRuns(merge, enough);
}

/*
 * NewBatch returns the number of the batch to be written.
 */
static int64
NewBatch(const RunMerge *merge)
{
	int			number = 0;

	for (int i = 0; i < merge->nbatches; i++)
	{
		if (batch_clock(merge->batches[i]) == merge->last_clock &&
			batch_level(merge->batches[i]) == merge->level)
			number = Max(number, batch_number(merge->batches[i]) + 1);
	}
	if (number > BATCH_MAX_NUMBER)
		ereport(ERROR,
				errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				errmsg("table \"%s\" has too many batches of runs",
					   RelationGetRelationName(merge->rel)));
	return make_batch(merge->last_clock, merge->level, number);
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
	int64		batch = NewBatch(merge);
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
		(void) ZbxhistWriteRuns(merge->rel, merge->indexes.merged, batch,
								&gathered, &row_bytes,
								GetCurrentCommandId(true), &written);
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
		merge.rel->rd_rel->relam == HEAP_TABLE_AM_OID &&
		ZbxhistRunIndexes(merge.rel, &merge.indexes))
	{
		merge.layout = ZbxhistDayLayout(merge.rel);
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
