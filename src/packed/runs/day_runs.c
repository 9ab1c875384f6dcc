/*-------------------------------------------------------------------------
 *
 * day_runs.c
 *	  A day's table that holds runs: their rows as groups of segments.
 *
 * A run has rows of many items, and many runs have rows of one item, so groups
 * are made in memory: readers of a day see no difference.  All rows are read by
 * merging all runs, which the heap tells, and of which those are in memory that
 * have begun and not ended yet.  An item's rows are found by indexes, see
 * item_runs.c.
 *
 * As in other days groups do not overlap, and rows of one item and clock are in
 * one group.
 *
 * Locks: the caller has locked the table.  Memory: a context below the one that
 * is current at the beginning; in it one for each decoded run, and one for the
 * group.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/tableam.h"
#include "lib/binaryheap.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "binary_search.h"
#include "packed/runs/day_runs.h"
#include "packed/runs/item_runs.h"
#include "packed/runs/run_read.h"
#include "packed/values/row_compare.h"

/* rows after which a group ends with their clock */
#define GROUP_ROWS 2048

/* bytes of runs that have ended or begun with rows that are asked for at once */
#define MORE_BYTES ((Size) 32 * 1024 * 1024)

struct DayRuns
{
	RunSource	source;
	bool		is_listed;
	int			nruns;
	Run		   *runs;			/* sorted by their first itemid */

	ItemRuns   *items;			/* reads those that are asked for, or NULL */
	bool		is_item;		/* one is */
	int64		first_itemid;	/* else rows of items from here to there are */
	int64		last_itemid;
	bool		is_done;
	int			nbegun;			/* runs that have come into the merge */
	binaryheap *merge;			/* of Run: by their next row; or NULL */
	List	   *ended;			/* of Run: used for the last group only */
	RunRow	   *rows;			/* of that */

	MemoryContext context;		/* owns all this */
	MemoryContext list_context; /* owns runs and merge */
	MemoryContext group_context;
};

/* ---- life ---- */

/*
 * ZbxhistBeginDayRuns prepares for reading the runs of a day's table.  The
 * snapshot must stay registered, and day open, until it ends.
 */
DayRuns *
ZbxhistBeginDayRuns(Relation day, const DayLayout *layout, Snapshot snapshot)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "zbxhist runs",
												  ALLOCSET_SMALL_SIZES);
	DayRuns    *runs = MemoryContextAllocZero(context, sizeof(DayRuns));

	runs->context = context;
	runs->list_context = AllocSetContextCreate(context, "zbxhist list of runs",
											   ALLOCSET_DEFAULT_SIZES);
	runs->group_context = AllocSetContextCreate(context, "zbxhist group of runs",
												ALLOCSET_DEFAULT_SIZES);
	ZbxhistInitRunSource(&runs->source, day, layout, snapshot,
						 runs->list_context);
	runs->is_done = true;
	return runs;
}

/*
 * ZbxhistMoveDayRuns goes to another day that the same layout suits.
 */
void
ZbxhistMoveDayRuns(DayRuns *runs, Relation day)
{
	if (runs->items != NULL)
		ZbxhistMoveItemRuns(runs->items, day);
	ZbxhistEndRunSource(&runs->source);
	MemoryContextReset(runs->list_context);
	MemoryContextReset(runs->group_context);
	runs->source.day = day;
	runs->is_listed = false;
	runs->is_done = true;
	runs->nruns = 0;
	runs->runs = NULL;
	runs->merge = NULL;
	runs->ended = NIL;
}

/*
 * ZbxhistCountDayRuns has what is read from now on be counted; no item has been
 * asked for yet.
 */
void
ZbxhistCountDayRuns(DayRuns *runs, RunCounters *counters)
{
	runs->source.counters = counters;
}

/*
 * ZbxhistEndDayRuns frees everything.
 */
void
ZbxhistEndDayRuns(DayRuns *runs)
{
	if (runs->items != NULL)
		ZbxhistEndItemRuns(runs->items);
	ZbxhistEndRunSource(&runs->source);
	MemoryContextDelete(runs->context);
}

/* ---- runs ---- */

/*
 * CompareRuns compares runs by their first itemid.
 */
static int
CompareRuns(const void *a, const void *b)
{
	const Run  *x = a;
	const Run  *y = b;
	ItemPointerData tid = x->place.tid;
	ItemPointerData other = y->place.tid;

	if (x->place.first_itemid != y->place.first_itemid)
		return x->place.first_itemid < y->place.first_itemid ? -1 : 1;
	return ItemPointerCompare(&tid, &other);
}

/*
 * ListRuns finds the runs that the snapshot sees.
 */
static void
ListRuns(DayRuns *runs)
{
	MemoryContext old = MemoryContextSwitchTo(runs->list_context);

	ZbxhistListAllRuns(&runs->source, &runs->runs, &runs->nruns);
	qsort(runs->runs, runs->nruns, sizeof(Run), CompareRuns);
	runs->merge = NULL;
	runs->is_listed = true;
	MemoryContextSwitchTo(old);
}

/*
 * ZbxhistListRuns has only some of the runs that the snapshot sees be read.
 */
void
ZbxhistListRuns(DayRuns *runs, const DayGroup *places, int nplaces)
{
	ZbxhistMoveDayRuns(runs, runs->source.day);
	runs->runs = MemoryContextAllocExtended(runs->list_context,
											Max(nplaces, 1) * sizeof(Run),
											MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	for (int i = 0; i < nplaces; i++)
		runs->runs[i].place = places[i];
	runs->nruns = nplaces;
	qsort(runs->runs, runs->nruns, sizeof(Run), CompareRuns);
	runs->is_listed = true;
}

/*
 * ZbxhistNumRuns returns how many runs the snapshot sees; all have been asked
 * for.
 */
int
ZbxhistNumRuns(const DayRuns *runs)
{
	return runs->nruns;
}

/* ---- the merge ---- */

/*
 * CompareNext compares the next rows of two runs; binaryheap has the greatest
 * first.
 */
static int
CompareNext(Datum a, Datum b, void *arg)
{
	const DayRuns *runs = arg;
	const Run  *x = (const Run *) DatumGetPointer(a);
	const Run  *y = (const Run *) DatumGetPointer(b);
	int64		itemid_x = x->rows.itemids[x->next];
	int64		itemid_y = y->rows.itemids[y->next];
	int64		position_x;
	int64		position_y;

	if (itemid_x != itemid_y)
		return itemid_x < itemid_y ? 1 : -1;
	position_x = ZbxhistRunPosition(runs->source.layout, &x->rows, x->next);
	position_y = ZbxhistRunPosition(runs->source.layout, &y->rows, y->next);
	if (position_x != position_y)
		return position_x < position_y ? 1 : -1;
	return x < y ? 1 : -1;
}

/*
 * BeginMergedRun brings those rows of a run into the merge that are asked for.
 */
static void
BeginMergedRun(DayRuns *runs, Run *run)
{
	if (run->place.last_itemid < runs->first_itemid)
		return;
	ZbxhistKeepRun(&runs->source, run, ZbxhistFetchRun(&runs->source, run));
	find_first(run->next, run->rows.nrows,
			   run->rows.itemids[run->next] >= runs->first_itemid);
	find_first(run->end, run->rows.nrows,
			   run->rows.itemids[run->end] > runs->last_itemid);
	if (run->next < run->end)
		binaryheap_add(runs->merge, PointerGetDatum(run));
	else
		ZbxhistForgetRun(&runs->source, run);
}

/*
 * NextMergedItem returns the item of the merge's next row, the last one asked
 * for at the end.
 */
static int64
NextMergedItem(const DayRuns *runs)
{
	const Run  *run;

	if (binaryheap_empty(runs->merge))
		return runs->last_itemid;
	run = (const Run *) DatumGetPointer(binaryheap_first(runs->merge));
	return run->rows.itemids[run->next];
}

/*
 * BeginRuns brings those runs into the merge that may have its next row.
 */
static void
BeginRuns(DayRuns *runs)
{
	while (runs->nbegun < runs->nruns &&
		   runs->runs[runs->nbegun].place.first_itemid <= NextMergedItem(runs))
	{
		CHECK_FOR_INTERRUPTS();
		BeginMergedRun(runs, &runs->runs[runs->nbegun++]);
	}
}

/*
 * TakeMergedRow takes the next row from the merge.
 */
static RunRow
TakeMergedRow(DayRuns *runs)
{
	Run		   *run = (Run *) DatumGetPointer(binaryheap_first(runs->merge));
	RunRow		row = {&run->rows, run->next++};

	if (run->next < run->end)
		binaryheap_replace_first(runs->merge, PointerGetDatum(run));
	else
	{
		(void) binaryheap_remove_first(runs->merge);
		runs->ended = lappend(runs->ended, run);
	}
	return row;
}

/*
 * ContinuesGroup says whether the next row of the merge is to be in the group
 * that ends with another one.
 */
static bool
ContinuesGroup(const DayRuns *runs, const RunRow *last, int nrows)
{
	const Run  *next;

	if (binaryheap_empty(runs->merge))
		return false;
	if (nrows < GROUP_ROWS)
		return true;
	next = (const Run *) DatumGetPointer(binaryheap_first(runs->merge));
	return next->rows.itemids[next->next] == last->rows->itemids[last->row] &&
		next->rows.columns[0].ints[next->next] ==
		last->rows->columns[0].ints[last->row];
}

/*
 * FreeEnded frees the rows of runs that have ended with the group before.
 */
static void
FreeEnded(DayRuns *runs)
{
	ListCell   *lc;

	foreach(lc, runs->ended)
		ZbxhistForgetRun(&runs->source, lfirst(lc));
	list_free(runs->ended);
	runs->ended = NIL;
}

/*
 * TakeGroup takes the rows of the next group from the merge; returns their number,
 * 0 at the end.  Allocates in the current context.
 */
static int
TakeGroup(DayRuns *runs, RunRow **rows)
{
	MemoryContext old = MemoryContextSwitchTo(runs->list_context);
	int			size = GROUP_ROWS;
	int			nrows = 0;

	FreeEnded(runs);
	BeginRuns(runs);
	if (!binaryheap_empty(runs->merge))
		*rows = MemoryContextAlloc(runs->group_context, size * sizeof(RunRow));
	while (!binaryheap_empty(runs->merge) &&
		   (nrows == 0 || ContinuesGroup(runs, &(*rows)[nrows - 1], nrows)))
	{
		if (nrows == size)
			*rows = repalloc_huge(*rows, (size *= 2) * sizeof(RunRow));
		(*rows)[nrows++] = TakeMergedRow(runs);
		BeginRuns(runs);
	}
	MemoryContextSwitchTo(old);
	return nrows;
}

/*
 * ZbxhistNextOfRuns makes the next group; returns false at the end.  It is good
 * until the next call.
 */
bool
ZbxhistNextOfRuns(DayRuns *runs, DayGroup *group)
{
	MemoryContext old;
	int			nrows = 0;

	MemoryContextReset(runs->group_context);
	old = MemoryContextSwitchTo(runs->group_context);
	if (!runs->is_done)
		nrows = runs->is_item ?
			ZbxhistNextOfItemRuns(runs->items, &runs->rows) :
			TakeGroup(runs, &runs->rows);
	if (nrows > 0)
	{
		ZbxhistMakeRunGroup(runs->source.day, runs->source.layout, runs->rows,
							nrows, group);
		ItemPointerSetInvalid(&group->tid);
	}
	runs->is_done = nrows == 0;
	MemoryContextSwitchTo(old);
	return nrows > 0;
}

/*
 * ZbxhistNextRowsOfRuns returns the next rows of all, or of items before one, as
 * many as are wanted if there are, or fewer if these are large; 0 at the end.  They
 * are good until the next call.
 */
int
ZbxhistNextRowsOfRuns(DayRuns *runs, int nwanted, int64 end_itemid,
					  const RunRow **rows)
{
	MemoryContext old;
	RunRow	   *found;
	Size		most;
	int			nrows = 0;

	MemoryContextReset(runs->group_context);
	old = MemoryContextSwitchTo(runs->list_context);
	FreeEnded(runs);
	BeginRuns(runs);
	most = runs->source.nbytes + MORE_BYTES;
	found = MemoryContextAllocHuge(runs->group_context,
								   nwanted * sizeof(RunRow));
	while (nrows < nwanted && !binaryheap_empty(runs->merge) &&
		   (nrows == 0 || runs->source.nbytes < most) &&
		   (end_itemid == NO_END_ITEM || NextMergedItem(runs) < end_itemid))
	{
		found[nrows++] = TakeMergedRow(runs);
		BeginRuns(runs);
	}
	*rows = found;
	MemoryContextSwitchTo(old);
	return nrows;
}

/*
 * ZbxhistBegunRun returns one of the runs that have begun: rows before its next one
 * have been taken; NULL if there are not so many.
 */
const Run  *
ZbxhistBegunRun(const DayRuns *runs, int i)
{
	return i < runs->nbegun ? &runs->runs[i] : NULL;
}

/* ---- rows of the group ---- */

/*
 * ZbxhistRunOfRow says where a row, by its number, of the group made last is
 * stored.
 */
void
ZbxhistRunOfRow(const DayRuns *runs, int row, RunPlace *place)
{
	const RunRow *source = &runs->rows[row];
	const Run  *run = (const Run *) ((const char *) source->rows -
									 offsetof(Run, rows));

	place->tid = run->place.tid;
	place->row = source->rows->first + source->row;
}

/*
 * ZbxhistRunXmax returns the transaction that has deleted the run that has such
 * a row, or is about to.
 */
TransactionId
ZbxhistRunXmax(const DayRuns *runs, int row)
{
	TupleTableSlot *slot = table_slot_create(runs->source.day, NULL);
	TransactionId result = InvalidTransactionId;
	RunPlace	place;

	ZbxhistRunOfRow(runs, row, &place);
	if (table_tuple_fetch_row_version(runs->source.day, &place.tid,
									  runs->source.snapshot, slot))
		result = ZbxhistDeletedBy(slot);
	ExecDropSingleTupleTableSlot(slot);
	return result;
}

/* ---- starting ---- */

/*
 * ZbxhistRunsOfItem begins with an item's rows.  Only the clocks of the range
 * count: rows of a second are together.
 */
void
ZbxhistRunsOfItem(DayRuns *runs, const ItemRange *range)
{
	if (runs->items == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(runs->context);

		runs->items = ZbxhistBeginItemRuns(runs->source.day,
										   runs->source.layout,
										   runs->source.snapshot,
										   runs->source.counters);
		MemoryContextSwitchTo(old);
	}
	ZbxhistStartItemRuns(runs->items, range);
	runs->is_item = true;
	runs->is_done = false;
}

/*
 * ZbxhistRunsOfItems begins with the rows of the items between two, which are
 * included, sorted by item and time.
 */
void
ZbxhistRunsOfItems(DayRuns *runs, int64 first_itemid, int64 last_itemid)
{
	if (!runs->is_listed)
		ListRuns(runs);
	FreeEnded(runs);
	for (int i = 0; i < runs->nruns; i++)
		ZbxhistForgetRun(&runs->source, &runs->runs[i]);
	runs->is_item = false;
	runs->first_itemid = first_itemid;
	runs->last_itemid = last_itemid;
	runs->is_done = false;
	runs->nbegun = 0;
	if (runs->merge == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(runs->list_context);

		runs->merge = binaryheap_allocate(Max(runs->nruns, 1), CompareNext,
										  runs);
		MemoryContextSwitchTo(old);
	}
	binaryheap_reset(runs->merge);
}

/*
 * ZbxhistGroupOfRun makes a group of the one run in slot, whose place group
 * has.  It is good until the next one.
 */
void
ZbxhistGroupOfRun(DayRuns *runs, TupleTableSlot *slot, DayGroup *group)
{
	MemoryContext old;
	RunRows    *rows;

	MemoryContextReset(runs->group_context);
	old = MemoryContextSwitchTo(runs->group_context);
	rows = palloc(sizeof(RunRows));
	(void) ZbxhistDecodeDayRun(runs->source.day, runs->source.layout, slot, group,
							   NULL, rows);
	ZbxhistCountRun(&runs->source, rows->nrows);
	ZbxhistGroupRunRows(runs->source.day, runs->source.layout, rows, group);
	MemoryContextSwitchTo(old);
}
