/*-------------------------------------------------------------------------
 *
 * day_runs.c
 *	  A day's table that holds runs: their rows as groups of segments.
 *
 * A run has rows of many items, and many runs have rows of one item, so groups
 * are made in memory: those who read a day see no difference.  Which runs the
 * snapshot sees is found out once, by the heap.  All rows are read by merging
 * the runs, of which those are in memory that have begun and not ended yet.  For
 * an item the runs that have it are decoded; they are kept for the next item
 * as long as they take no more memory than a hash table may.
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

#include "access/sysattr.h"
#include "access/tableam.h"
#include "executor/nodeHash.h"
#include "lib/binaryheap.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "binary_search.h"
#include "packed/day/day_runs.h"
#include "packed/day/row_compare.h"
#include "packed/day/run_group.h"

/* rows after which a group ends with their clock */
#define GROUP_ROWS 2048

/* a run that the snapshot sees */
typedef struct Run
{
	DayGroup	place;			/* without its reader */
	int			nasked;			/* how many items were looked for in it */
	MemoryContext context;		/* owns rows; NULL: they are not in memory */
	Size		nbytes;			/* that they take */
	RunRows		rows;
	int			next;			/* the row of a merge that comes next */
	int			end;			/* and where they end */
} Run;

struct DayRuns
{
	Relation	day;
	const DayLayout *layout;
	Snapshot	snapshot;

	bool		is_listed;
	Size		nbytes;			/* that all rows in memory take */
	int			nruns;
	Run		   *runs;			/* sorted by their first itemid */

	bool		is_item;		/* one item is asked for */
	ItemRange	range;			/* and these clocks of it */
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
	runs->day = day;
	runs->layout = layout;
	runs->snapshot = snapshot;
	runs->is_done = true;
	return runs;
}

/*
 * ZbxhistMoveDayRuns goes to another day that the same layout suits.
 */
void
ZbxhistMoveDayRuns(DayRuns *runs, Relation day)
{
	MemoryContextReset(runs->list_context);
	MemoryContextReset(runs->group_context);
	runs->day = day;
	runs->is_listed = false;
	runs->nbytes = 0;
	runs->is_done = true;
	runs->nruns = 0;
	runs->runs = NULL;
	runs->merge = NULL;
	runs->ended = NIL;
}

/*
 * ZbxhistEndDayRuns frees everything.
 */
void
ZbxhistEndDayRuns(DayRuns *runs)
{
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
	TupleTableSlot *slot = table_slot_create(runs->day, NULL);
	TableScanDesc scan = table_beginscan(runs->day, runs->snapshot, 0, NULL);
	int			size = 64;

	runs->runs = palloc(size * sizeof(Run));
	while (table_scan_getnextslot(scan, ForwardScanDirection, slot))
	{
		Run		   *run;

		CHECK_FOR_INTERRUPTS();
		if (runs->nruns == size)
		{
			size *= 2;
			runs->runs = repalloc_huge(runs->runs, size * sizeof(Run));
		}
		run = &runs->runs[runs->nruns++];
		memset(run, 0, sizeof(Run));
		if (!ZbxhistReadPlace(slot, &run->place))
			ZbxhistRaiseCorruptRun(runs->day, &slot->tts_tid, "damaged row");
	}
	table_endscan(scan);
	ExecDropSingleTupleTableSlot(slot);
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
	ZbxhistMoveDayRuns(runs, runs->day);
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
 * ForgetRows frees the rows of a run.
 */
static void
ForgetRows(DayRuns *runs, Run *run)
{
	if (run->context != NULL)
		MemoryContextDelete(run->context);
	run->context = NULL;
	runs->nbytes -= run->nbytes;
	run->nbytes = 0;
}

/*
 * HasRoom says whether more rows may stay in memory.
 */
static bool
HasRoom(const DayRuns *runs)
{
	return runs->nbytes < get_hash_memory_limit();
}

/*
 * ReadRun decodes a run.  With an item it returns false if the run does not
 * have it, and does not decode the rest: that is done when a second item is
 * looked for, as long as there is room to keep it.
 */
static bool
ReadRun(DayRuns *runs, Run *run, const int64 *itemid)
{
	MemoryContext old;
	TupleTableSlot *slot;
	bool		found;

	if (run->context != NULL)
		return true;
	run->context = AllocSetContextCreate(runs->list_context, "zbxhist run",
										 ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(run->context);
	slot = table_slot_create(runs->day, NULL);
	if (!table_tuple_fetch_row_version(runs->day, &run->place.tid,
									   runs->snapshot, slot) ||
		!ZbxhistReadPlace(slot, &run->place))
		ZbxhistRaiseCorruptRun(runs->day, &run->place.tid, "damaged row");
	found = itemid == NULL || (run->nasked++ > 0 && HasRoom(runs)) ||
		ZbxhistDayRunHasItem(runs->day, runs->layout, slot, *itemid);
	if (found)
		ZbxhistDecodeDayRun(runs->day, runs->layout, slot, &run->place,
							&run->rows);
	ExecDropSingleTupleTableSlot(slot);
	MemoryContextSwitchTo(old);
	if (!found)
		ForgetRows(runs, run);
	else
	{
		run->nbytes = MemoryContextMemAllocated(run->context, true);
		runs->nbytes += run->nbytes;
	}
	return found;
}

/*
 * ZbxhistNumRuns returns how many runs the snapshot sees; those of an item or
 * all have been asked for.
 */
int
ZbxhistNumRuns(const DayRuns *runs)
{
	return runs->nruns;
}

/* ---- the merge ---- */

/*
 * PositionOf returns where a row of a run is.
 */
static inline int64
PositionOf(const DayRuns *runs, const RunRows *rows, int row)
{
	SegmentRows segment = {0};

	segment.columns = rows->columns;
	return ZbxhistRowPosition(runs->layout, &segment, row);
}

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
	position_x = PositionOf(runs, &x->rows, x->next);
	position_y = PositionOf(runs, &y->rows, y->next);
	if (position_x != position_y)
		return position_x < position_y ? 1 : -1;
	return x < y ? 1 : -1;
}

/*
 * FindRowOf returns a run's first row that is not before an item's clock.
 */
static int
FindRowOf(const RunRows *rows, int64 itemid, int64 clock)
{
	int			i;

	find_first(i, rows->nrows,
			   rows->itemids[i] > itemid ||
			   (rows->itemids[i] == itemid &&
				rows->columns[0].ints[i] >= clock));
	return i;
}

/*
 * Overlaps says whether a run may have rows of the item that is asked for.
 */
static bool
Overlaps(const DayRuns *runs, const DayGroup *place)
{
	const ItemRange *range = &runs->range;

	return place->first_itemid <= range->itemid &&
		place->last_itemid >= range->itemid &&
		place->first_clock <= position_clock(range->last) &&
		place->last_clock >= position_clock(range->first);
}

/*
 * BeginRun brings a run, which overlaps, into the merge.
 */
static void
BeginRun(DayRuns *runs, Run *run)
{
	bool		is_kept = run->context != NULL;

	if (!ReadRun(runs, run, runs->is_item ? &runs->range.itemid : NULL))
		return;
	if (runs->is_item && !is_kept && !HasRoom(runs))
		runs->ended = lappend(runs->ended, run);
	run->next = 0;
	run->end = run->rows.nrows;
	if (runs->is_item)
	{
		run->next = FindRowOf(&run->rows, runs->range.itemid,
							  position_clock(runs->range.first));
		run->end = FindRowOf(&run->rows, runs->range.itemid,
							 (int64) position_clock(runs->range.last) + 1);
	}
	if (run->next < run->end)
		binaryheap_add(runs->merge, PointerGetDatum(run));
}

/*
 * NextItem returns the item of the merge's next row, PG_INT64_MAX at the end.
 */
static int64
NextItem(const DayRuns *runs)
{
	const Run  *run;

	if (binaryheap_empty(runs->merge))
		return PG_INT64_MAX;
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
		   (runs->is_item ||
			runs->runs[runs->nbegun].place.first_itemid <= NextItem(runs)))
	{
		Run		   *run = &runs->runs[runs->nbegun++];

		CHECK_FOR_INTERRUPTS();
		if (!runs->is_item || Overlaps(runs, &run->place))
			BeginRun(runs, run);
	}
}

/*
 * TakeRow takes the next row from the merge.
 */
static RunRow
TakeRow(DayRuns *runs)
{
	Run		   *run = (Run *) DatumGetPointer(binaryheap_first(runs->merge));
	RunRow		row = {&run->rows, run->next++};

	if (run->next < run->end)
		binaryheap_replace_first(runs->merge, PointerGetDatum(run));
	else
	{
		(void) binaryheap_remove_first(runs->merge);
		if (!runs->is_item)
			runs->ended = lappend(runs->ended, run);
	}
	return row;
}

/*
 * ContinuesGroup says whether the next row of the merge is to be in the group
 * that ends with another one.  An item's rows are all in one.
 */
static bool
ContinuesGroup(const DayRuns *runs, const RunRow *last, int nrows)
{
	const Run  *next;

	if (binaryheap_empty(runs->merge))
		return false;
	if (nrows < GROUP_ROWS || runs->is_item)
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
		ForgetRows(runs, lfirst(lc));
	list_free(runs->ended);
	runs->ended = NIL;
}

/*
 * ZbxhistNextOfRuns makes the next group; returns false at the end.  It is good
 * until the next call.
 */
bool
ZbxhistNextOfRuns(DayRuns *runs, DayGroup *group)
{
	MemoryContext old;
	RunRow	   *rows;
	int			size = GROUP_ROWS;
	int			nrows = 0;

	MemoryContextReset(runs->group_context);
	if (runs->is_done)
		return false;
	old = MemoryContextSwitchTo(runs->list_context);
	FreeEnded(runs);
	BeginRuns(runs);
	if (binaryheap_empty(runs->merge))
	{
		runs->is_done = true;
		MemoryContextSwitchTo(old);
		return false;
	}
	rows = MemoryContextAlloc(runs->group_context, size * sizeof(RunRow));
	do
	{
		if (nrows == size)
			rows = repalloc_huge(rows, (size *= 2) * sizeof(RunRow));
		rows[nrows++] = TakeRow(runs);
		BeginRuns(runs);
	} while (ContinuesGroup(runs, &rows[nrows - 1], nrows));

	(void) MemoryContextSwitchTo(runs->group_context);
	runs->rows = rows;
	ZbxhistMakeRunGroup(runs->day, runs->layout, rows, nrows, group);
	ItemPointerSetInvalid(&group->tid);
	MemoryContextSwitchTo(old);
	return true;
}

/*
 * ZbxhistNextRowsOfRuns returns the next rows of all, as many as are wanted if
 * there are, or 0 at the end.  They are good until the next call.
 */
int
ZbxhistNextRowsOfRuns(DayRuns *runs, int nwanted, const RunRow **rows)
{
	MemoryContext old;
	RunRow	   *found;
	int			nrows = 0;

	MemoryContextReset(runs->group_context);
	old = MemoryContextSwitchTo(runs->list_context);
	FreeEnded(runs);
	BeginRuns(runs);
	found = MemoryContextAllocHuge(runs->group_context,
								   nwanted * sizeof(RunRow));
	while (nrows < nwanted && !binaryheap_empty(runs->merge))
	{
		found[nrows++] = TakeRow(runs);
		BeginRuns(runs);
	}
	*rows = found;
	MemoryContextSwitchTo(old);
	return nrows;
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
	place->row = source->row;
}

/*
 * ZbxhistRunXmax returns the transaction that has deleted the run that has such
 * a row, or is about to.
 */
TransactionId
ZbxhistRunXmax(const DayRuns *runs, int row)
{
	TupleTableSlot *slot = table_slot_create(runs->day, NULL);
	TransactionId result = InvalidTransactionId;
	RunPlace	place;
	bool		isnull;

	ZbxhistRunOfRow(runs, row, &place);
	if (table_tuple_fetch_row_version(runs->day, &place.tid, runs->snapshot,
									  slot))
		result = DatumGetTransactionId(slot_getsysattr(slot, MaxTransactionIdAttributeNumber,
													   &isnull));
	ExecDropSingleTupleTableSlot(slot);
	return result;
}

/* ---- starting ---- */

/*
 * Start forgets the merge before.  Rows that are in memory stay there if they
 * are to be used again.
 */
static void
Start(DayRuns *runs, bool is_item)
{
	MemoryContext old;

	if (!runs->is_listed)
		ListRuns(runs);
	FreeEnded(runs);
	if (!is_item || !runs->is_item)
	{
		for (int i = 0; i < runs->nruns; i++)
			ForgetRows(runs, &runs->runs[i]);
	}
	runs->is_item = is_item;
	runs->is_done = false;
	runs->nbegun = 0;
	if (runs->merge == NULL)
	{
		old = MemoryContextSwitchTo(runs->list_context);
		runs->merge = binaryheap_allocate(Max(runs->nruns, 1), CompareNext,
										  runs);
		MemoryContextSwitchTo(old);
	}
	binaryheap_reset(runs->merge);
}

/*
 * ZbxhistRunsOfItem begins with an item's rows.  Only the clocks of the range
 * count: rows of a second are together.
 */
void
ZbxhistRunsOfItem(DayRuns *runs, const ItemRange *range)
{
	Start(runs, true);
	runs->range = *range;
	runs->is_done = item_range_is_empty(range);
}

/*
 * ZbxhistRunsOfAll begins with all rows, sorted by item and time.
 */
void
ZbxhistRunsOfAll(DayRuns *runs)
{
	Start(runs, false);
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
	ZbxhistDecodeDayRun(runs->day, runs->layout, slot, group, rows);
	ZbxhistGroupRunRows(runs->day, runs->layout, rows, group);
	MemoryContextSwitchTo(old);
}
