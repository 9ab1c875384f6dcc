/*-------------------------------------------------------------------------
 *
 * run_read.c
 *	  Runs that are read, and kept in memory.
 *
 * Each has a context of its own.  Runs are kept as long as they take no more
 * memory than a hash table may.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/tableam.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "binary_search.h"
#include "compat.h"
#include "make_room.h"
#include "packed/runs/run_read.h"

/*
 * ZbxhistInitRunSource prepares for reading the runs of a table.  The snapshot
 * must stay registered, and day open, until it ends.
 */
void
ZbxhistInitRunSource(RunSource *source, Relation day, const DayLayout *layout,
					 Snapshot snapshot, MemoryContext context)
{
	memset(source, 0, sizeof(RunSource));
	source->day = day;
	source->layout = layout;
	source->snapshot = snapshot;
	source->context = context;
}

/*
 * ZbxhistEndRunSource lets go of the table.
 */
void
ZbxhistEndRunSource(RunSource *source)
{
	if (source->slot != NULL)
		ExecDropSingleTupleTableSlot(source->slot);
	source->slot = NULL;
	source->nbytes = 0;
}

/*
 * ZbxhistListAllRuns finds all runs that the snapshot sees, by the heap.  Allocates
 * in the current context.
 */
void
ZbxhistListAllRuns(RunSource *source, Run **runs, int *nruns)
{
	TupleTableSlot *slot = table_slot_create(source->day, NULL);
	TableScanDesc scan = table_beginscan_compat(source->day, source->snapshot);
	int			size = 0;

	*nruns = 0;
	*runs = NULL;
	while (table_scan_getnextslot(scan, ForwardScanDirection, slot))
	{
		Run		   *run;

		CHECK_FOR_INTERRUPTS();
		make_room(*runs, *nruns, size);
		run = &(*runs)[(*nruns)++];
		memset(run, 0, sizeof(Run));
		if (!ZbxhistReadPlace(slot, &run->place))
			ZbxhistRaiseCorruptRun(source->day, &slot->tts_tid, "damaged row");
	}
	table_endscan(scan);
	ExecDropSingleTupleTableSlot(slot);
}

/*
 * ZbxhistHasRoomForRuns says whether more runs may be kept.
 */
bool
ZbxhistHasRoomForRuns(const RunSource *source)
{
	return source->nbytes < get_hash_memory_limit();
}

/*
 * ZbxhistFetchRun returns the row of a run that has been listed, in a slot that is
 * the source's.
 */
TupleTableSlot *
ZbxhistFetchRun(RunSource *source, Run *run)
{
	if (source->slot == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(source->context);

		source->slot = table_slot_create(source->day, NULL);
		MemoryContextSwitchTo(old);
	}
	if (!table_tuple_fetch_row_version(source->day, &run->place.tid,
									   source->snapshot, source->slot) ||
		!ZbxhistReadPlace(source->slot, &run->place))
		ZbxhistRaiseCorruptRun(source->day, &run->place.tid, "damaged row");
	return source->slot;
}

/*
 * ZbxhistKeepRun decodes a run, whose row is in the slot, unless it is in memory.
 */
void
ZbxhistKeepRun(RunSource *source, Run *run, TupleTableSlot *slot)
{
	MemoryContext old;

	if (run->context != NULL)
		return;
	run->context = AllocSetContextCreate(source->context, "zbxhist run",
										 ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(run->context);
	(void) ZbxhistDecodeDayRun(source->day, source->layout, slot, &run->place,
							   NULL, &run->rows);
	MemoryContextSwitchTo(old);
	run->nbytes = MemoryContextMemAllocated(run->context, true);
	source->nbytes += run->nbytes;
	ZbxhistCountRun(source, run->rows.nrows);
}

/*
 * ZbxhistCountRun counts a run that has been looked into, and its rows that were
 * decoded.
 */
void
ZbxhistCountRun(RunSource *source, int nrows)
{
	if (source->counters == NULL)
		return;
	source->counters->runs++;
	source->counters->rows += nrows;
}

/*
 * ZbxhistForgetRun frees the rows of a run, if they are in memory.
 */
void
ZbxhistForgetRun(RunSource *source, Run *run)
{
	if (run->context != NULL)
		MemoryContextDelete(run->context);
	run->context = NULL;
	source->nbytes -= run->nbytes;
	run->nbytes = 0;
}

/*
 * ZbxhistFindInRun returns the first row that is not before an item's clock.
 */
int
ZbxhistFindInRun(const RunRows *rows, int64 itemid, int64 clock)
{
	int			i;

	find_first(i, rows->nrows,
			   rows->itemids[i] > itemid ||
			   (rows->itemids[i] == itemid &&
				rows->columns[0].ints[i] >= clock));
	return i;
}
