/*-------------------------------------------------------------------------
 *
 * merge_runs.c
 *	  Writes many runs of a table as fewer, larger ones.
 *
 * A reader of an item looks into each run that may have it.  So the runs of
 * many statements are sorted together and written as full pages, of which each
 * has few items, and the old ones are deleted, in one transaction: a snapshot
 * sees the ones or the others.
 *
 * What one merge writes is a batch, see run_index.h.  Batches have levels: so many
 * of one level are merged at once that a row is written anew three times in an
 * hour of gigabytes, and that fewer than a hundred runs and batches are left.
 * Large ones are merged bit by bit, each a transaction of its own: the first items
 * of all, then the next ones, which are added to what has been written.  In
 * between each item is either here or there, small runs are merged, and the space of
 * what is gone can be used again.
 *
 * Sessions that store rows look for their keys in whatever overlaps with them
 * in time, so large batches that have just been written are left alone for a
 * while.
 *
 * A reader pays for each batch, a merge for each row.  So fewer batches are
 * merged where they are small, and an hour of not too many rows that is over
 * becomes one batch, once, of the highest level.  What comes late is merged as
 * before.
 *
 * A run that cannot be read stays where it is, and must not keep all others from being
 * merged.  A session that has met one remembers it, and says so in the log; verify()
 * and salvage() find it.
 *
 * Locks: SHARE UPDATE EXCLUSIVE on the table, only if it can be had at once, in
 * the way of packing and VACUUM, but of no INSERT; then, in the same way, the
 * lock that changes of rows hold, and the merge lock.  Until the transaction
 * ends INSERTs look twice for their keys; one whose key is in a run that is
 * being merged waits for that, since it may be rolled back, and no other does.
 * Memory: a page's rows of each batch, and those of some new pages.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/detoast.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/pg_am.h"
#include "datatype/timestamp.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "catalog/owned_table.h"
#include "catalog/packed_days.h"
#include "make_room.h"
#include "packed/day/day_write.h"
#include "packed/jobs/merge_runs.h"
#include "packed/runs/day_runs.h"
#include "packed/runs/run_group.h"
#include "packed/runs/run_id.h"
#include "packed/runs/run_index.h"
#include "packed/runs/run_write.h"
#include "rows/attempt.h"
#include "rows/merge_lock.h"

PG_FUNCTION_INFO_V1(zbxhist_merge_runs);

/* runs of statements that are merged at once, at most, and about so many rows: all are
 * in memory */
#define MAX_STORED_RUNS 512
#define MAX_STORED_ROWS (1024 * 1024)

/* batches of one level from which on they are merged */
#define MERGED_BATCHES 12

/* ... and if all of them together have no more rows */
#define SMALL_BATCHES 4
#define SMALL_ROWS (24 * 1024)

/* seconds after its end in which an hour becomes one batch: from, to; and so many
 * times the rows of a merge that it has at most */
#define CLOSED_AFTER 60
#define CLOSED_BEFORE SECS_PER_DAY
#define CLOSED_MERGES 2

/* seconds in which rows may come late, without doubt */
#define LATE_SECONDS 30

/* rows that are written at once, and bytes of a row, about */
#define WRITTEN_ROWS (32 * 1024)
#define ROW_BYTES 8

/* a batch */
typedef struct RunBatch
{
	int64		number;
	int64		last_itemid;
} RunBatch;

typedef struct RunMerge
{
	Relation	rel;
	DayLayout  *layout;
	RunIndexes	indexes;
	Snapshot	snapshot;
	RunBatch   *batches;		/* the newest first */
	int			nbatches;
	int64		batch;			/* to be written */
	int			enough_rows;	/* of batches; the next merge goes on */
	int64		end_itemid;		/* of rows that this merge writes */
	DayGroup   *places;			/* of the runs to be merged */
	int			nplaces;
	int			max_places;
	int32		last_clock;		/* of these */
	int64		nrows;			/* that these count as */
	int64		nmerged;		/* of which rows have been taken */
	void		(*between) (void);	/* called now and then, or NULL */
	MemoryContext pages_context;	/* reset with some pages */
} RunMerge;

/* ---- runs that cannot be read ---- */

/* a run that is looked at, which slot has */
typedef struct RunCheck
{
	const RunMerge *merge;
	TupleTableSlot *slot;
} RunCheck;

static HTAB *damaged_runs = NULL;	/* of RunId */

/*
 * IsDamagedRun says whether this session has met the run in a slot and
 * could not read it.
 */
static bool
IsDamagedRun(Relation rel, TupleTableSlot *slot)
{
	RunId		id;

	if (damaged_runs == NULL)
		return false;
	id = slot_run_id(rel, slot);
	return hash_search(damaged_runs, &id, HASH_FIND, NULL) != NULL;
}

/*
 * CheckRun raises an error if the run cannot be read.
 */
static void
CheckRun(void *arg)
{
	RunCheck   *check = arg;
	DayGroup	place;
	RunRows		rows;

	if (ZbxhistReadPlace(check->slot, &place))
		(void) ZbxhistDecodeDayRun(check->merge->rel, check->merge->layout,
								   check->slot, &place, NULL, &rows);
}

/*
 * KeepDamagedRun remembers a run, and says why in the log.
 */
static void
KeepDamagedRun(const RunCheck *check, const ErrorData *error)
{
	Relation	rel = check->merge->rel;
	RunId		id = slot_run_id(rel, check->slot);
	HASHCTL		control = {.keysize = sizeof(RunId),.entrysize = sizeof(RunId)};

	if (damaged_runs == NULL)
		damaged_runs = hash_create("zbxhist damaged runs", 64, &control,
								   HASH_ELEM | HASH_BLOBS);
	(void) hash_search(damaged_runs, &id, HASH_ENTER, NULL);
	ereport(LOG,
			errcode(error->sqlerrcode),
			errmsg("a run of \"%s\" is not merged with others: %s",
				   RelationGetRelationName(rel), error->message));
}

/*
 * NoteDamagedRuns looks for chosen runs that cannot be read, and returns how many
 * there are.  The slot must not get its page in the attempt, which gives that back.
 */
static int
NoteDamagedRuns(const RunMerge *merge)
{
	RunCheck	check = {merge, table_slot_create(merge->rel, NULL)};
	int			result = 0;

	for (int i = 0; i < merge->nplaces; i++)
	{
		MemoryContext old = MemoryContextSwitchTo(merge->pages_context);
		ErrorData  *error;

		CHECK_FOR_INTERRUPTS();
		if (table_tuple_fetch_row_version(merge->rel, &merge->places[i].tid,
										  merge->snapshot, check.slot) &&
			(error = ZbxhistAttempt(CheckRun, &check)) != NULL)
		{
			KeepDamagedRun(&check, error);
			result++;
		}
		ExecClearTuple(check.slot);
		MemoryContextSwitchTo(old);
		MemoryContextReset(merge->pages_context);
	}
	ExecDropSingleTupleTableSlot(check.slot);
	return result;
}

/* ---- what there is ---- */

/*
 * SizeOfRun returns how many rows a run counts as: one that is out of line, which
 * is a single row, as those that its bytes would have room for.
 */
static int64
SizeOfRun(TupleTableSlot *slot, const DayGroup *place)
{
	Datum		payload = slot->tts_values[DAY_ATTNUM_PAYLOAD - 1];

	return VARATT_IS_EXTERNAL(DatumGetPointer(payload)) ?
		Max(toast_datum_size(payload) / ROW_BYTES, 1) : place->nrows;
}

/*
 * ChooseRun chooses the run in a slot.  One that is damaged stays as it is, for
 * salvage().
 */
static void
ChooseRun(RunMerge *merge, TupleTableSlot *slot)
{
	DayGroup	place;

	memset(&place, 0, sizeof(place));
	if (!ZbxhistReadPlace(slot, &place) ||
		!ZbxhistHasPayload(merge->rel, slot) ||
		IsDamagedRun(merge->rel, slot))
		return;
	make_room(merge->places, merge->nplaces, merge->max_places);
	merge->places[merge->nplaces++] = place;
	merge->nrows += SizeOfRun(slot, &place);
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
	merge->end_itemid = NO_END_ITEM;
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
	while (merge->nplaces < MAX_STORED_RUNS && merge->nrows < MAX_STORED_ROWS &&
		   (slot = ZbxhistNextInRunIndex(scan)) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		ChooseRun(merge, slot);
	}
	ZbxhistEndRunIndexScan(scan);
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
	RunBatch	batch = {PG_INT64_MAX, 0};
	int			size = 0;

	merge->nbatches = 0;
	merge->batches = NULL;
	while (ZbxhistNextBatch(scan, NO_BATCH, &batch.number, &batch.last_itemid))
	{
		CHECK_FOR_INTERRUPTS();
		make_room(merge->batches, merge->nbatches, size);
		merge->batches[merge->nbatches++] = batch;
	}
	ZbxhistEndRunIndexScan(scan);
}

/* ---- what is merged ---- */

/*
 * NewBatch returns a number for a batch.
 */
static int64
NewBatch(const RunMerge *merge, int32 last_clock, int level)
{
	int			number = 0;

	for (int i = 0; i < merge->nbatches; i++)
	{
		int64		other = merge->batches[i].number;

		if (batch_clock(other) == last_clock && batch_level(other) == level)
			number = Max(number, batch_number(other) + 1);
	}
	if (number > BATCH_MAX_NUMBER)
		ereport(ERROR,
				errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				errmsg("table \"%s\" has too many batches of runs",
					   RelationGetRelationName(merge->rel)));
	return make_batch(last_clock, level, number);
}

/*
 * IsChosen says whether a batch is of a level and not newer than a clock.
 */
static inline bool
IsChosen(const RunBatch *batch, int level, int32 clock)
{
	return batch_level(batch->number) == level &&
		batch_clock(batch->number) <= clock;
}

/*
 * CountBatches counts the batches of a level that are not newer than a clock.
 */
static int
CountBatches(const RunMerge *merge, int level, int32 clock)
{
	int			result = 0;

	for (int i = 0; i < merge->nbatches; i++)
		result += IsChosen(&merge->batches[i], level, clock);
	return result;
}

/*
 * ChooseBatch chooses the first runs of a batch, so many that they have some rows;
 * what is before their last item, if there may be more, is to be merged.
 */
static void
ChooseBatch(RunMerge *merge, RunIndexScan *scan, int64 batch, int64 enough)
{
	int			first = merge->nplaces;
	int64		before = merge->nrows;
	TupleTableSlot *slot;

	ZbxhistRunsOfBatch(scan, batch, PG_INT64_MIN, PG_INT64_MAX);
	while ((slot = ZbxhistNextInRunIndex(scan)) != NULL)
	{
		const DayGroup *place;

		CHECK_FOR_INTERRUPTS();
		ChooseRun(merge, slot);
		if (merge->nplaces == first)
			continue;
		place = &merge->places[merge->nplaces - 1];
		if (merge->nrows - before < enough ||
			place->last_itemid == merge->places[first].first_itemid)
			continue;
		merge->end_itemid = Min(merge->end_itemid, place->last_itemid);
		break;
	}
}

/*
 * ChooseBatches chooses runs, of each so many that they have some rows, of the
 * batches of a level that are not newer than a clock and have no items up to one;
 * returns the newest clock that they may have.
 */
static int32
ChooseBatches(RunMerge *merge, int level, int32 clock, const int64 *after,
			  int64 enough)
{
	RunIndexScan *scan = ZbxhistBeginRunIndexScan(merge->rel,
												  merge->indexes.merged,
												  merge->snapshot);
	int32		newest = PG_INT32_MIN;

	ChooseNothing(merge);
	for (int i = 0; i < merge->nbatches; i++)
	{
		int64		number = merge->batches[i].number;
		int			first = merge->nplaces;
		int64		end_itemid = merge->end_itemid;

		if (!IsChosen(&merge->batches[i], level, clock))
			continue;
		ChooseBatch(merge, scan, number, enough);
		if (merge->nplaces == first)
			continue;
		if (after != NULL && merge->places[first].first_itemid <= *after)
		{
			merge->nplaces = first;
			merge->end_itemid = end_itemid;
		}
		else
			newest = Max(newest, batch_clock(number));
	}
	ZbxhistEndRunIndexScan(scan);
	return newest;
}

/*
 * ChooseRest chooses what is left of batches of a level by the merge before: those
 * that are not newer than one of the next level, and have later items only.  Whatever
 * these are, they can be added to it.
 */
static bool
ChooseRest(RunMerge *merge, int level)
{
	for (int i = 0; i < merge->nbatches; i++)
	{
		const RunBatch *batch = &merge->batches[i];
		int			nbatches = CountBatches(merge, level,
											batch_clock(batch->number));

		if (batch_level(batch->number) != level + 1 || nbatches == 0)
			continue;
		(void) ChooseBatches(merge, level, batch_clock(batch->number),
							 &batch->last_itemid,
							 merge->enough_rows / nbatches);
		merge->batch = batch->number;
		if (merge->nplaces > 0)
			return true;
	}
	return false;
}

/*
 * ChooseLevel chooses the batches of a level if there are enough, or what is left of
 * them.
 */
static bool
ChooseLevel(RunMerge *merge, int level, int32 settled)
{
	int			nall = CountBatches(merge, level, PG_INT32_MAX);
	int32		clock = nall >= 2 * MERGED_BATCHES ? PG_INT32_MAX : settled;
	int			nbatches = CountBatches(merge, level, clock);
	bool		are_few = nbatches < MERGED_BATCHES;
	int32		newest;

	if (ChooseRest(merge, level))
		return true;
	if (are_few)
	{
		/* a session that looks for keys in small ones does not wait for long */
		clock = PG_INT32_MAX;
		nbatches = nall;
	}
	if (nbatches < SMALL_BATCHES)
		return false;
	newest = ChooseBatches(merge, level, clock, NULL,
						   are_few ? SMALL_ROWS : merge->enough_rows / nbatches);
	if (are_few && merge->nrows >= SMALL_ROWS)
		return false;
	if (merge->nplaces > 1)
		merge->batch = NewBatch(merge, newest, level + 1);
	return merge->nplaces > 1;
}

/*
 * MayClose says whether the hour has ended some time ago, and has not become one
 * batch yet.
 */
static bool
MayClose(const RunMerge *merge)
{
	pg_time_t	now = timestamptz_to_time_t(GetCurrentTimestamp());
	PackedDay	day;

	for (int i = 0; i < merge->nbatches; i++)
	{
		if (batch_level(merge->batches[i].number) == BATCH_MAX_LEVEL)
			return false;
	}
	return ZbxhistReadPackedDay(RelationGetRelid(merge->rel), merge->snapshot,
								&day) &&
		now >= day.to_clock + CLOSED_AFTER && now < day.to_clock + CLOSED_BEFORE;
}

/*
 * ChooseAll chooses all batches besides the runs that are chosen already, if these
 * are all there are of statements, and all have not too many rows.
 */
static bool
ChooseAll(RunMerge *merge)
{
	RunIndexScan *scan = ZbxhistBeginRunIndexScan(merge->rel,
												  merge->indexes.merged,
												  merge->snapshot);
	int64		most = (int64) merge->enough_rows * CLOSED_MERGES;
	bool		is_one = merge->nplaces == 0 && merge->nbatches == 1;

	for (int i = 0; i < merge->nbatches && merge->nrows <= most; i++)
		ChooseBatch(merge, scan, merge->batches[i].number, most);
	ZbxhistEndRunIndexScan(scan);
	/* a batch that has more ends with an item */
	if (is_one || merge->nplaces < 2 || merge->nrows > most ||
		merge->end_itemid != NO_END_ITEM)
		return false;
	merge->batch = NewBatch(merge, merge->last_clock, BATCH_MAX_LEVEL);
	return true;
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
	if (merge->nplaces >= enough || merge->nrows >= MAX_STORED_ROWS)
	{
		merge->batch = NewBatch(merge, merge->last_clock, 1);
		return true;
	}
	if (MayClose(merge) && ChooseAll(merge))
		return true;
	if (merge->nbatches == 0)
		return false;
	newest = Max(merge->last_clock, batch_clock(merge->batches[0].number));
	settled = Max(newest, PG_INT32_MIN + LATE_SECONDS) - LATE_SECONDS;
	for (int level = 1; level < BATCH_MAX_LEVEL; level++)
	{
		if (ChooseLevel(merge, level, settled))
			return true;
	}
	return false;
}

/*
 * FindRunsToMerge finds the runs that are to be merged, by a snapshot of now;
 * returns false if there are none.  Allocates in the current context.
 */
static bool
FindRunsToMerge(RunMerge *merge, int enough)
{
	merge->max_places = 0;
	merge->places = NULL;
	ListBatches(merge);
	return ChooseRuns(merge, enough);
}

/* ---- merging ---- */

/*
 * WriteSome writes some rows into a batch.
 */
static void
WriteSome(RunMerge *merge, int64 batch, const RunRow *rows, int nrows,
		  double *row_bytes)
{
	WrittenRun *written;
	RunRows		gathered;

	ZbxhistGatherRows(merge->layout, rows, nrows, &gathered);
	(void) ZbxhistWriteRuns(merge->rel, batch, &gathered, row_bytes,
							GetCurrentCommandId(true), &written);
	MemoryContextReset(merge->pages_context);
}

/*
 * WriteRows writes rows of the chosen runs, sorted, up to the end, and returns their
 * number.
 */
static int64
WriteRows(RunMerge *merge, DayRuns *runs)
{
	MemoryContext old = MemoryContextSwitchTo(merge->pages_context);
	double		row_bytes = ROW_BYTES;
	int64		nwritten = 0;
	const RunRow *rows;
	int			nrows;

	while ((nrows = ZbxhistNextRowsOfRuns(runs, WRITTEN_ROWS,
										  merge->end_itemid, &rows)) > 0)
	{
		CHECK_FOR_INTERRUPTS();
		if (merge->between != NULL)
			merge->between();
		WriteSome(merge, merge->batch, rows, nrows, &row_bytes);
		nwritten += nrows;
	}
	MemoryContextSwitchTo(old);
	return nwritten;
}

/*
 * WriteRest writes the rows of a run anew that have not been taken, in its batch, and
 * returns their number.
 */
static int
WriteRest(RunMerge *merge, const Run *run)
{
	MemoryContext old = MemoryContextSwitchTo(merge->pages_context);
	TupleTableSlot *slot = table_slot_create(merge->rel, NULL);
	int			nrows = run->end - run->next;
	RunRow	   *rows = palloc(nrows * sizeof(RunRow));
	ItemPointerData tid = run->place.tid;
	double		row_bytes = ROW_BYTES;
	int64		batch;

	for (int i = 0; i < nrows; i++)
	{
		rows[i].rows = &run->rows;
		rows[i].row = run->next + i;
	}
	if (!table_tuple_fetch_row_version(merge->rel, &tid, merge->snapshot,
									   slot))
		elog(ERROR, "run to be merged is not there");
	batch = ZbxhistRunBatch(slot);
	ExecDropSingleTupleTableSlot(slot);
	WriteSome(merge, batch, rows, nrows, &row_bytes);
	MemoryContextSwitchTo(old);
	return nrows;
}

/*
 * MergePlaces writes rows of the chosen runs anew and deletes these.
 */
static void
MergePlaces(void *arg)
{
	RunMerge   *merge = arg;
	DayRuns    *runs = ZbxhistBeginDayRuns(merge->rel, merge->layout,
										   merge->snapshot);
	int64		nwritten;
	int64		nrows = 0;
	const Run  *run;

	ZbxhistListRuns(runs, merge->places, merge->nplaces);
	ZbxhistRunsOfItems(runs, PG_INT64_MIN, PG_INT64_MAX);
	nwritten = WriteRows(merge, runs);
	for (int i = 0; (run = ZbxhistBegunRun(runs, i)) != NULL; i++)
	{
		ItemPointerData tid = run->place.tid;

		CHECK_FOR_INTERRUPTS();
		if (run->next == 0)
			continue;
		merge->nmerged++;
		if (run->next < run->end)
			nwritten += WriteRest(merge, run);
		nrows += run->place.nrows;
		ZbxhistDeleteGroup(merge->rel, &tid, InvalidSnapshot);
	}
	if (nwritten != nrows)
		elog(ERROR, "merged " INT64_FORMAT " of " INT64_FORMAT " rows of runs",
			 nwritten, nrows);
	ZbxhistEndDayRuns(runs);
}

/*
 * MergeChosen merges the chosen runs; returns false, and has done nothing, if some
 * cannot be read, which are known by now.
 */
static bool
MergeChosen(RunMerge *merge)
{
	ErrorData  *error;

	merge->pages_context = AllocSetContextCreate(CurrentMemoryContext,
												 "zbxhist merged runs",
												 ALLOCSET_DEFAULT_SIZES);
	merge->nmerged = 0;
	ZbxhistLockMerge(RelationGetRelid(merge->rel));
	error = ZbxhistAttempt(MergePlaces, merge);
	if (error != NULL)
	{
		if (NoteDamagedRuns(merge) == 0)
			ReThrowError(error);
		return false;
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
	found = FindRunsToMerge(merge, enough);
	if (found && (!ConditionalLockRelation(merge->rel,
										   ShareUpdateExclusiveLock) ||
				  !ZbxhistTryMerge(RelationGetRelid(merge->rel))))
	{
		UnregisterSnapshot(merge->snapshot);
		return -1;
	}
	UnregisterSnapshot(merge->snapshot);
	if (!found)
		return 0;

	merge->snapshot = RegisterSnapshot(GetLatestSnapshot());
	do
		found = FindRunsToMerge(merge, enough);
	while (found && !MergeChosen(merge));
	UnregisterSnapshot(merge->snapshot);
	return found ? merge->nmerged : 0;
}

/*
 * ZbxhistMergeRuns merges runs of a table that belongs to the user, if there are
 * enough of one level, and about so many rows of batches; returns their number, 0
 * if there are not, or -1 if it has to be tried again later.  Now and then between
 * is called, if it is not NULL.
 */
int64
ZbxhistMergeRuns(Oid relid, int enough, int rows, void (*between) (void))
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "zbxhist merge of runs",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	RunMerge	merge = {.rel = ZbxhistOpenOwnedTable(relid, AccessShareLock),
	.enough_rows = rows,.between = between};
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
 * zbxhist_merge_runs(runs, enough, batch_rows) is for SQL, see sql/packed/repack.sql.
 */
Datum
zbxhist_merge_runs(PG_FUNCTION_ARGS)
{
	int32		enough = PG_GETARG_INT32(1);

	PG_RETURN_INT64(ZbxhistMergeRuns(PG_GETARG_OID(0), Max(enough, 2),
									 PG_GETARG_INT32(2), NULL));
}
