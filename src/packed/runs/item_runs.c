/*-------------------------------------------------------------------------
 *
 * item_runs.c
 *	  One item's rows in a table of runs.
 *
 * Any run of a statement may have the item; there are few, which are listed
 * once, as far as they are asked for.  Of each batch one or two runs may, which are found by its index, with
 * what the session knows of the batches as a guess (known_batches.c).  Both are
 * read from the newest on, so that a reader that wants an item's newest rows
 * has them before older runs are touched: what is newer than all runs that are
 * left is complete.
 *
 * Only the item's rows of a run are decoded.  A reader that asks for a second
 * item, or for the same once more, has those runs decoded that it meets again,
 * and they are kept: all of statements, and those of a batch that were met
 * last.
 *
 * A serializable transaction locks the table as a whole: what a merge writes anew is
 * known by other places.
 *
 * Locks: the caller has locked the table.  Memory: a context of its own below
 * the one that is current at the beginning, in it one for what is known of the
 * table, and one for the item.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "common/int.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/predicate.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "make_room.h"
#include "packed/runs/item_runs.h"
#include "packed/runs/known_batches.h"
#include "packed/runs/run_index.h"
#include "packed/values/row_compare.h"

/* a batch, and its runs that were met last */
typedef struct Batch
{
	int64		number;
	int64		width;			/* itemids of one of its runs; 0: not known */
	bool		is_asked;		/* for an item: runs are all that may have it */
	int64		itemid;
	Run		   *runs;
	int			nruns;
	int			size;
} Batch;

struct ItemRuns
{
	RunSource	source;
	bool		is_listed;
	RunIndexScan *scan;			/* of merged runs; NULL: all are in stored */
	RunIndexScan *stored_scan;	/* of those of statements that are not in
								 * stored yet; NULL: none */
	TupleTableSlot *slot;		/* borrowed: of the run that either has found
								 * with its last call; or NULL */
	Run		  **stored;			/* of statements, the newest first */
	int			nstored;
	int			max_stored;
	Batch	   *batches;		/* those found yet, the newest first */
	int			nbatches;
	int			size;
	bool		has_all;		/* batches are all there are */

	ItemRange	range;
	int			next_stored;	/* to be read next */
	int			next_batch;
	Run		  **begun;			/* which have rows that are not returned yet */
	int			nbegun;
	int			max_begun;
	int			enough;			/* rows that are worth to be returned */

	MemoryContext context;		/* owns all this */
	MemoryContext list_context; /* owns what is known of the table */
	MemoryContext item_context; /* and of the item */
};

/* ---- life ---- */

/*
 * ZbxhistBeginItemRuns prepares for reading items.  The snapshot must stay
 * registered, and day open, until it ends.
 */
ItemRuns *
ZbxhistBeginItemRuns(Relation day, const DayLayout *layout, Snapshot snapshot,
					 RunCounters *counters)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "zbxhist runs of items",
												  ALLOCSET_SMALL_SIZES);
	ItemRuns   *items = MemoryContextAllocZero(context, sizeof(ItemRuns));

	items->context = context;
	items->list_context = AllocSetContextCreate(context, "zbxhist known runs",
												ALLOCSET_DEFAULT_SIZES);
	items->item_context = AllocSetContextCreate(context, "zbxhist rows of runs",
												ALLOCSET_DEFAULT_SIZES);
	ZbxhistInitRunSource(&items->source, day, layout, snapshot,
						 items->list_context);
	items->source.counters = counters;
	return items;
}

/*
 * EndStoredScan ends the scan of runs of statements, if there is one.
 */
static void
EndStoredScan(ItemRuns *items)
{
	if (items->stored_scan != NULL)
		ZbxhistEndRunIndexScan(items->stored_scan);
	items->stored_scan = NULL;
	items->slot = NULL;
}

/*
 * EndScan lets go of the table.
 */
static void
EndScan(ItemRuns *items)
{
	EndStoredScan(items);
	if (items->scan != NULL)
		ZbxhistEndRunIndexScan(items->scan);
	items->scan = NULL;
	ZbxhistEndRunSource(&items->source);
}

/*
 * ZbxhistMoveItemRuns goes to another table that the same layout suits.
 */
void
ZbxhistMoveItemRuns(ItemRuns *items, Relation day)
{
	EndScan(items);
	MemoryContextReset(items->item_context);
	MemoryContextReset(items->list_context);
	items->source.day = day;
	items->is_listed = false;
	items->nstored = 0;
	items->nbegun = 0;
}

/*
 * ZbxhistEndItemRuns frees everything.
 */
void
ZbxhistEndItemRuns(ItemRuns *items)
{
	EndScan(items);
	MemoryContextDelete(items->context);
}

/* ---- what there is ---- */

/*
 * AddItemRun adds a run to those of a batch that were met last.
 */
static void
AddItemRun(ItemRuns *items, Batch *batch, const DayGroup *place)
{
	if (batch->nruns == batch->size)
	{
		batch->size = Max(batch->size * 2, 4);
		batch->runs = batch->runs == NULL ?
			MemoryContextAlloc(items->list_context,
							   batch->size * sizeof(Run)) :
			repalloc_huge(batch->runs, batch->size * sizeof(Run));
	}
	memset(&batch->runs[batch->nruns], 0, sizeof(Run));
	batch->runs[batch->nruns++].place = *place;
}

/*
 * ReadPlace reads where a run begins and ends.
 */
static void
ReadPlace(ItemRuns *items, TupleTableSlot *slot, DayGroup *place)
{
	memset(place, 0, sizeof(DayGroup));
	if (!ZbxhistReadPlace(slot, place))
		ZbxhistRaiseCorruptRun(items->source.day, &slot->tts_tid, "damaged row");
}

/*
 * compare_runs orders runs by their last clock, the newest first.
 */
static int
compare_runs(const void *a, const void *b)
{
	int32		x = (*(Run *const *) a)->place.last_clock;
	int32		y = (*(Run *const *) b)->place.last_clock;

	return (x < y) - (x > y);
}

/*
 * ListAll lists all runs as if they were of statements.
 */
static void
ListAll(ItemRuns *items)
{
	Run		   *runs;

	ZbxhistListAllRuns(&items->source, &runs, &items->nstored);
	items->stored = palloc_extended(items->nstored * sizeof(Run *),
									MCXT_ALLOC_HUGE);
	for (int i = 0; i < items->nstored; i++)
		items->stored[i] = &runs[i];
	qsort(items->stored, items->nstored, sizeof(Run *), compare_runs);
}

/*
 * BeginList begins to list what there is; where that cannot be done by the
 * indexes, lists all runs.
 */
static void
BeginList(ItemRuns *items)
{
	Relation	day = items->source.day;
	Snapshot	snapshot = items->source.snapshot;
	MemoryContext old = MemoryContextSwitchTo(items->list_context);
	RunIndexes	indexes;
	bool		is_empty = RelationGetNumberOfBlocks(day) == 0;

	PredicateLockRelation(day, snapshot);
	items->stored = NULL;
	items->nstored = items->max_stored = items->nbatches = items->size = 0;
	items->batches = NULL;
	items->is_listed = true;
	/* an hour to come has none, for any snapshot */
	items->has_all = is_empty || !ZbxhistRunIndexes(day, &indexes);
	if (!items->has_all)
	{
		items->stored_scan = ZbxhistBeginRunIndexScan(day, indexes.stored,
													  snapshot);
		ZbxhistNewestStored(items->stored_scan);
		items->scan = ZbxhistBeginRunIndexScan(day, indexes.merged, snapshot);
	}
	else if (!is_empty)
		ListAll(items);
	MemoryContextSwitchTo(old);
}

/*
 * FindStored returns a run of a statement, by its place in the list, or NULL if
 * there are not so many; finds it if it was not asked for yet.
 */
static Run *
FindStored(ItemRuns *items, int i)
{
	MemoryContext old;
	Run		   *run;

	if (i < items->nstored)
		return items->stored[i];
	if (items->stored_scan == NULL)
		return NULL;
	items->slot = ZbxhistNextInRunIndex(items->stored_scan);
	if (items->slot == NULL)
	{
		EndStoredScan(items);
		return NULL;
	}
	old = MemoryContextSwitchTo(items->list_context);
	run = palloc0(sizeof(Run));
	ReadPlace(items, items->slot, &run->place);
	make_room(items->stored, items->nstored, items->max_stored);
	items->stored[items->nstored++] = run;
	MemoryContextSwitchTo(old);
	return run;
}

/*
 * NextBatch sets number, which is a batch's or PG_INT64_MAX, to that of the next
 * older one, and width to what is known of it; returns false if there is none.
 * A batch that the session knows may be gone for this snapshot: then no run of it
 * is found.  What matters is that there is no other one before it.
 */
static bool
NextBatch(ItemRuns *items, int64 *number, int64 *width)
{
	Oid			relid = RelationGetRelid(items->source.day);
	const KnownBatch *known = ZbxhistKnownBatchBefore(relid, *number);
	int64		unused;

	*width = 0;
	/* a search in vain leaves a slot with what it has looked at */
	items->slot = NULL;
	if (ZbxhistNextBatch(items->scan, known == NULL ? NO_BATCH : known->number,
						 number, &unused))
	{
		ZbxhistRememberBatch(relid, *number, 0);
		return true;
	}
	if (known == NULL)
		return false;
	*number = known->number;
	*width = known->width;
	return true;
}

/*
 * GetBatch returns a batch, by its place in the list, or NULL if there are not so
 * many; finds it if it was not asked for yet.
 */
static Batch *
GetBatch(ItemRuns *items, int i)
{
	int64		number = items->nbatches == 0 ? PG_INT64_MAX :
		items->batches[items->nbatches - 1].number;
	int64		width;
	MemoryContext old;

	if (i < items->nbatches)
		return &items->batches[i];
	if (items->has_all || !NextBatch(items, &number, &width))
	{
		items->has_all = true;
		return NULL;
	}
	old = MemoryContextSwitchTo(items->list_context);
	make_room(items->batches, items->nbatches, items->size);
	items->batches[items->nbatches++] = (Batch)
	{
		.number = number,.width = width
	};
	MemoryContextSwitchTo(old);
	return &items->batches[i];
}

/* ---- the runs of a batch that have an item ---- */

/*
 * HasAllOf says whether the runs of a batch that were met last are all that may
 * have an item.
 */
static bool
HasAllOf(const Batch *batch, int64 itemid)
{
	if (batch->is_asked && batch->itemid == itemid)
		return true;
	for (int i = 0; i < batch->nruns; i++)
	{
		const DayGroup *place = &batch->runs[i].place;

		if (place->first_itemid < itemid && place->last_itemid > itemid)
			return true;
	}
	return false;
}

/*
 * CollectRuns adds the runs of a batch that may have the item and end with
 * last_itemid at most.  Returns whether these are all, which is known when one goes
 * on behind the item; is_there becomes whether there are any runs.
 */
static bool
CollectRuns(ItemRuns *items, Batch *batch, int64 last_itemid, bool *is_there)
{
	int64		itemid = items->range.itemid;
	TupleTableSlot *slot;
	DayGroup	place;

	batch->nruns = 0;
	*is_there = false;
	ZbxhistRunsOfBatch(items->scan, batch->number, itemid, last_itemid);
	while ((slot = items->slot = ZbxhistNextInRunIndex(items->scan)) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		ReadPlace(items, slot, &place);
		*is_there = true;
		if (place.first_itemid <= itemid)
			AddItemRun(items, batch, &place);
		if (place.last_itemid > itemid)
		{
			if (pg_sub_s64_overflow(place.last_itemid, place.first_itemid,
									&batch->width))
				batch->width = 0;
			return true;
		}
	}
	return last_itemid == PG_INT64_MAX;
}

/*
 * FindRunsOfItem finds the runs of a batch that may have the item.  Where one
 * of the batch's runs that was met before is as wide as this one, few index
 * entries are looked at.
 */
static void
FindRunsOfItem(ItemRuns *items, Batch *batch)
{
	Oid			relid = RelationGetRelid(items->source.day);
	int64		itemid = items->range.itemid;
	int64		width = batch->width;
	int64		last;
	bool		is_there;

	if (HasAllOf(batch, itemid))
		return;
	for (int i = 0; i < batch->nruns; i++)
		ZbxhistForgetRun(&items->source, &batch->runs[i]);
	if (width == 0 || pg_add_s64_overflow(itemid, width, &last) ||
		pg_add_s64_overflow(last, width, &last))
		last = PG_INT64_MAX;
	if (!CollectRuns(items, batch, last, &is_there))
		(void) CollectRuns(items, batch, PG_INT64_MAX, &is_there);
	if (!is_there)
		ZbxhistForgetBatch(relid, batch->number);
	else if (batch->width != width)
		ZbxhistRememberBatch(relid, batch->number, batch->width);
	batch->is_asked = true;
	batch->itemid = itemid;
}

/* ---- reading ---- */

/*
 * Overlaps says whether a run may have rows that are asked for.
 */
static bool
Overlaps(const ItemRange *range, const DayGroup *place)
{
	return place->first_itemid <= range->itemid &&
		place->last_itemid >= range->itemid &&
		place->first_clock <= position_clock(range->last) &&
		place->last_clock >= position_clock(range->first);
}

/*
 * FetchItemRun returns the row of a run, which mostly has just been found.
 */
static TupleTableSlot *
FetchItemRun(ItemRuns *items, Run *run)
{
	TupleTableSlot *slot = items->slot;

	if (slot != NULL && !TTS_EMPTY(slot) &&
		ItemPointerEquals(&slot->tts_tid, &run->place.tid))
		return slot;
	return ZbxhistFetchRun(&items->source, run);
}

/*
 * ReadRows reads the item's rows of a run; returns false if it has none.
 */
static bool
ReadRows(ItemRuns *items, Run *run)
{
	RunSource  *source = &items->source;
	TupleTableSlot *slot;
	MemoryContext old;
	bool		found;

	if (run->context != NULL)
		return true;
	slot = FetchItemRun(items, run);
	if (run->nasked++ > 0 && ZbxhistHasRoomForRuns(source))
	{
		ZbxhistKeepRun(source, run, slot);
		return true;
	}
	old = MemoryContextSwitchTo(items->item_context);
	found = ZbxhistDecodeDayRun(source->day, source->layout, slot, &run->place,
								&items->range.itemid, &run->rows);
	MemoryContextSwitchTo(old);
	ZbxhistCountRun(source, found ? run->rows.nrows : 0);
	return found;
}

/*
 * BeginItemRun reads a run, if it may have rows that are asked for.
 */
static void
BeginItemRun(ItemRuns *items, Run *run)
{
	const ItemRange *range = &items->range;
	MemoryContext old;

	if (!Overlaps(range, &run->place) || !ReadRows(items, run))
		return;
	run->next = ZbxhistFindInRun(&run->rows, range->itemid,
								 position_clock(range->first));
	run->end = ZbxhistFindInRun(&run->rows, range->itemid,
								(int64) position_clock(range->last) + 1);
	if (run->next == run->end)
		return;
	old = MemoryContextSwitchTo(items->context);
	make_room(items->begun, items->nbegun, items->max_begun);
	items->begun[items->nbegun++] = run;
	MemoryContextSwitchTo(old);
}

/*
 * NextClock returns the newest clock that runs may have that are still to be read;
 * PG_INT64_MIN if there are none with rows that are asked for.
 */
static int64
NextClock(ItemRuns *items)
{
	int64		first = position_clock(items->range.first);
	int64		clock = PG_INT64_MIN;
	Batch	   *batch = GetBatch(items, items->next_batch);
	const Run  *stored = FindStored(items, items->next_stored);

	if (stored != NULL)
		clock = stored->place.last_clock;
	if (batch != NULL)
		clock = Max(clock, batch_clock(batch->number));
	return clock >= first ? clock : PG_INT64_MIN;
}

/*
 * BeginNext reads the next run of a statement, or runs of a batch, that have rows of
 * that clock.
 */
static void
BeginNext(ItemRuns *items, int64 clock)
{
	Batch	   *batch;

	CHECK_FOR_INTERRUPTS();
	if (items->next_stored < items->nstored &&
		items->stored[items->next_stored]->place.last_clock == clock)
	{
		BeginItemRun(items, items->stored[items->next_stored++]);
		return;
	}
	batch = &items->batches[items->next_batch++];
	FindRunsOfItem(items, batch);
	for (int i = 0; i < batch->nruns; i++)
		BeginItemRun(items, &batch->runs[i]);
}

/* ---- rows ---- */

/*
 * CountNewer counts the rows of runs that have begun that are newer than a clock.
 */
static int
CountNewer(const ItemRuns *items, int64 clock)
{
	int			result = 0;

	for (int i = 0; i < items->nbegun; i++)
	{
		const Run  *run = items->begun[i];
		int			first = ZbxhistFindInRun(&run->rows, items->range.itemid,
											 clock + 1);

		result += run->end - Max(first, run->next);
	}
	return result;
}

/*
 * compare_row_times orders rows of one item by time.
 */
static int
compare_row_times(const void *a, const void *b, void *arg)
{
	const RunRow *x = a;
	const RunRow *y = b;
	int64		left = ZbxhistRunPosition(arg, x->rows, x->row);
	int64		right = ZbxhistRunPosition(arg, y->rows, y->row);

	if (left != right)
		return left < right ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

/*
 * compare_begun orders runs by their next rows.
 */
static int
compare_begun(const void *a, const void *b, void *arg)
{
	const Run  *x = *(Run *const *) a;
	const Run  *y = *(Run *const *) b;
	int64		left = ZbxhistRunPosition(arg, &x->rows, x->next);
	int64		right = ZbxhistRunPosition(arg, &y->rows, y->next);

	return left < right ? -1 : left > right;
}

/*
 * TakeNewer takes the rows that are newer than a clock, of which there are so many,
 * from the runs that have begun, sorted by time.  Allocates in the current context.
 */
static RunRow *
TakeNewer(ItemRuns *items, int64 clock, int nrows)
{
	const DayLayout *layout = items->source.layout;
	RunRow	   *rows = palloc_extended(nrows * sizeof(RunRow),
									   MCXT_ALLOC_HUGE);
	int			nleft = 0;
	int			n = 0;
	bool		is_sorted = true;

	qsort_arg(items->begun, items->nbegun, sizeof(Run *), compare_begun,
			  unconstify(DayLayout *, layout));
	for (int i = 0; i < items->nbegun; i++)
	{
		Run		   *run = items->begun[i];
		int			first = Max(run->next,
								ZbxhistFindInRun(&run->rows,
												 items->range.itemid,
												 clock + 1));

		for (int row = first; row < run->end; row++)
		{
			rows[n].rows = &run->rows;
			rows[n].row = row;
			is_sorted &= n == 0 || row > first ||
				compare_row_times(&rows[n - 1], &rows[n],
								  unconstify(DayLayout *, layout)) <= 0;
			n++;
		}
		run->end = first;
		if (run->next < run->end)
			items->begun[nleft++] = run;
	}
	items->nbegun = nleft;
	if (!is_sorted)
		qsort_arg(rows, n, sizeof(RunRow), compare_row_times,
				  unconstify(DayLayout *, layout));
	return rows;
}

/*
 * ZbxhistStartItemRuns begins with an item's rows in a range.
 */
void
ZbxhistStartItemRuns(ItemRuns *items, const ItemRange *range)
{
	MemoryContextReset(items->item_context);
	if (!items->is_listed)
		BeginList(items);
	items->range = *range;
	items->next_stored = 0;
	items->next_batch = 0;
	items->nbegun = 0;
	items->enough = range->is_descending ? 1 : PG_INT32_MAX;
}

/*
 * ZbxhistNextOfItemRuns returns the number of the next rows, 0 at the end; they are
 * good until it is called again, or the item is another one.  Allocates in the
 * current context.
 */
int
ZbxhistNextOfItemRuns(ItemRuns *items, RunRow **rows)
{
	int64		clock;
	int			nrows;

	if (item_range_is_empty(&items->range))
		return 0;
	while ((clock = NextClock(items)) > PG_INT64_MIN)
	{
		if (items->nbegun > 0 && items->enough < PG_INT32_MAX &&
			(nrows = CountNewer(items, clock)) >= items->enough)
			break;
		BeginNext(items, clock);
	}
	if (clock == PG_INT64_MIN)
		nrows = CountNewer(items, PG_INT64_MIN);
	if (nrows == 0)
		return 0;
	*rows = TakeNewer(items, clock, nrows);
	/* a reader that goes on has more of them at once */
	items->enough = Min(items->enough, PG_INT32_MAX / 4) * 2;
	return nrows;
}
