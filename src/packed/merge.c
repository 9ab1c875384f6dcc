/*-------------------------------------------------------------------------
 *
 * merge.c
 *	  Moves late rows from the parent into their packed day.
 *
 * A merged row is deleted from the parent and added to the day in one transaction, as in
 * move.c.  Rows are taken many at a time, in the order of item and clock if there is an
 * index for it, so that each group is rewritten only once.
 *
 * The tables' owner, not the user, does all this: indexes of the day's table
 * may have expressions that the owner has put there.
 *
 * Locks: SHARE ROW EXCLUSIVE on the day's table, ROW EXCLUSIVE on the parent,
 * until the transaction ends.  Memory: one batch of rows, at most
 * maintenance_work_mem.
 *
 * No archive server is contacted while locks that stop others are held.  A first call
 * fetches the archived groups that rows go to, before the locks are taken.  The second
 * call, in the same transaction, merges into these.  Rows of other archived groups stay
 * until the next run.
 *
 * Of the group only the segments concerned are encoded anew.  A row whose key is in the
 * day already is deleted if it is the same row.  If its value differs, it stays in the
 * parent: a person must decide.  So do rows beyond the number that a day can hold of one
 * item and clock.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "nodes/pg_list.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "compat.h"
#include "format/row_compare.h"
#include "format/row_map.h"
#include "packed/archive.h"
#include "packed/day.h"
#include "packed/day_write.h"
#include "result_row.h"
#include "tables/item_index.h"
#include "tables/moving.h"
#include "tables/owned_table.h"
#include "tables/owner_rights.h"

/* a row of the parent */
typedef struct LateRow
{
	int64		itemid;
	int64		position;
	HeapTuple	tuple;
	bool		is_added;		/* deleted from the parent, to be written to
								 * the day */
} LateRow;

typedef struct MergeState
{
	int64		max_rows;
	bool		only_fetches;	/* archived groups */
	Relation	parent;
	Relation	day;
	DayLayout  *layout;
	TupleSource source;			/* of the parent's rows */
	bool		has_key;		/* keys must be unique */
	RowWalk		walk;

	/* the batch */
	LateRow    *rows;
	int			nrows;
	Size		nbytes;
	MemoryContext rows_context; /* owns their tuples */

	/* the group that is being written anew */
	DayScan    *scan;
	DayWriter  *writer;
	MemoryContext group_context;
	ArchiveCounters counters;	/* of archived groups */

	/* results */
	int64		merged;
	int64		removed;		/* rows that the day had already */
	int64		duplicates;		/* rows that stay in the parent */
	int64		nleft;			/* rows whose group has not been fetched */
} MergeState;

/* a segment of the group, and late rows of its item that are added to it */
typedef struct MergePart
{
	int			segment;		/* -1: there is none yet */
	SegmentRows decoded;		/* unless there are no late rows */
	LateRow    *rows;
	int			nrows;
	RowBuffer  *buffer;			/* the same, as a segment has them */
	bool		has_added;		/* some are */
	int32		clock;			/* of which rows are counted; if nclock > 0 */
	int			nclock;
} MergePart;

/* ---- late rows ---- */

/*
 * TakeOutRow removes a row of a part, given by its number, from the parent, unless it has
 * to stay there: another row has its key, or there are as many of its clock as a day can
 * hold.  Rows come in the order of clocks.
 */
static void
TakeOutRow(MergeState *state, MergePart *part, int number)
{
	LateRow    *row = &part->rows[number];
	const SegmentRows *rows = &part->decoded;
	int32		clock = position_clock(row->position);
	bool		is_first = part->nclock == 0 || part->clock != clock;
	int			existing = -1;

	if (is_first)
		part->nclock = 0;
	part->clock = clock;
	for (int i = part->segment < 0 ? rows->nrows :
		 ZbxhistFirstOfClock(rows, clock);
		 (is_first || (state->has_key && existing < 0)) &&
		 i < rows->nrows && rows->columns[0].ints[i] == clock; i++)
	{
		if (is_first)
			part->nclock++;
		if (state->has_key && existing < 0 &&
			ZbxhistRowPosition(state->layout, rows, i) == row->position)
			existing = i;
	}
	if (existing >= 0 ?
		!ZbxhistSameRow(rows, existing, &part->buffer->rows, number) :
		part->nclock == ZBXHIST_MAX_CLOCK_ROWS)
	{
		state->duplicates++;
		return;
	}
	if (!ZbxhistDeleteMoved(state->parent, &row->tuple->t_self,
							state->walk.snapshot))
		return;
	if (existing >= 0)
		state->removed++;
	else
	{
		row->is_added = part->has_added = true;
		part->nclock++;
		state->merged++;
	}
}

/* ---- a group ---- */

/*
 * MakeSegmentPart begins the part of a segment, or of an item without one,
 * with the late rows that belong to it.
 */
static MergePart *
MakeSegmentPart(MergeState *state, const GroupReader *reader, int segment,
				LateRow *rows, int nrows)
{
	MergePart  *part = palloc0(sizeof(MergePart));

	part->segment = segment;
	part->rows = rows;
	part->nrows = nrows;
	if (nrows == 0)
		return part;
	if (segment >= 0)
		ZbxhistDecodeDaySegment(state->day, state->layout, reader, segment,
								NULL, &part->decoded);
	part->buffer = ZbxhistCreateRowBuffer(state->layout);
	ZbxhistBeginRows(part->buffer, rows[0].itemid);
	for (int i = 0; i < nrows; i++)
		ZbxhistLoadTuple(&state->source, rows[i].tuple, part->buffer,
						 ZbxhistAddRow(part->buffer,
									   position_clock(rows[i].position)));
	for (int i = 0; i < nrows; i++)
	{
		CHECK_FOR_INTERRUPTS();
		TakeOutRow(state, part, i);
	}
	return part;
}

/*
 * CountOfPart returns how many of the late rows, which come after those of the
 * segments before, go to a segment: those of its item up to its end, or all of the
 * item if it is the last one of it.  Without a segment (-1) they are those of
 * the first one's item.
 */
static int
CountOfPart(const GroupReader *reader, int segment, const LateRow *rows,
			int nrows)
{
	const SegmentInfo *info = segment < 0 ? NULL : &reader->segments[segment];
	int64		itemid = info == NULL ? rows->itemid : info->itemid;
	bool		is_last = info == NULL || segment + 1 == reader->nsegments ||
		info[1].itemid != itemid;
	int			count = 0;

	while (count < nrows && rows[count].itemid == itemid &&
		   (is_last || position_clock(rows[count].position) <= info->last_clock))
		count++;
	return count;
}

/*
 * DivideGroup returns the parts of a group with its late rows, in order.
 */
static List *
DivideGroup(MergeState *state, const GroupReader *reader, LateRow *rows,
			int nrows)
{
	List	   *parts = NIL;
	int			segment = 0;
	int			next = 0;

	while (segment < reader->nsegments || next < nrows)
	{
		bool		has_segment = segment < reader->nsegments &&
			(next == nrows ||
			 reader->segments[segment].itemid <= rows[next].itemid);
		int			number = has_segment ? segment++ : -1;
		int			count = CountOfPart(reader, number, &rows[next],
										nrows - next);

		parts = lappend(parts, MakeSegmentPart(state, reader, number,
											   &rows[next], count));
		next += count;
	}
	return parts;
}

/*
 * WritePart writes a segment with what is added to it.
 */
static void
WritePart(MergeState *state, const GroupReader *reader, MergePart *part)
{
	SegmentRows *rows = &part->decoded;
	int			next = 0;

	if (!part->has_added && part->segment >= 0)
	{
		ZbxhistDayWriteSegment(state->writer, reader, part->segment);
		return;
	}
	for (int i = 0; i < part->nrows; i++)
	{
		if (!part->rows[i].is_added)
			continue;
		while (next < rows->nrows &&
			   ZbxhistRowPosition(state->layout, rows,
								  next) <= part->rows[i].position)
			ZbxhistDayWriteRows(state->writer, rows, next++, 1);
		ZbxhistDayWriteRows(state->writer, &part->buffer->rows, i, 1);
	}
	if (next < rows->nrows)
		ZbxhistDayWriteRows(state->writer, rows, next, rows->nrows - next);
}

/*
 * MergeGroup adds late rows to a group, or makes the first ones of a day
 * that is empty.  The group is written anew if rows are added or it is joined
 * with what has been written before it; returns whether it is.  The caller
 * ends the last one.
 */
static bool
MergeGroup(MergeState *state, DayGroup *group, LateRow *rows, int nrows,
		   bool is_joined)
{
	MemoryContext old = MemoryContextSwitchTo(state->group_context);
	static const GroupReader empty;
	const GroupReader *reader = group != NULL ? &group->reader : &empty;
	int64		merged = state->merged;
	List	   *parts = DivideGroup(state, reader, rows, nrows);
	bool		is_written = is_joined || state->merged > merged;
	ListCell   *lc;

	if (is_written)
	{
		if (group != NULL)
			ZbxhistDeleteGroup(state->day, &group->tid, InvalidSnapshot);
		foreach(lc, parts)
			WritePart(state, reader, lfirst(lc));
	}
	MemoryContextSwitchTo(old);
	MemoryContextReset(state->group_context);
	return is_written;
}

PG_FUNCTION_INFO_V1(zbxhist_merge_rows);

/* rows that are merged at once, at most */
#define MAX_BATCH_ROWS 100000

/* ---- a batch ---- */

/*
 * compare_late orders rows by place.
 */
static int
compare_late(const void *a, const void *b)
{
	const LateRow *left = a;
	const LateRow *right = b;
	int			order = compare_places(left->itemid, left->position,
									   right->itemid, right->position);

	if (order != 0)
		return order;
	return ItemPointerCompare(&left->tuple->t_self, &right->tuple->t_self);
}

/*
 * CountOfGroup returns how many rows go before a place.
 */
static int
CountOfGroup(const LateRow *rows, int nrows, const DayPlace *end)
{
	int			count = 0;

	if (end->is_end)
		return nrows;
	while (count < nrows &&
		   compare_places(rows[count].itemid,
						  position_clock(rows[count].position),
						  end->itemid, end->clock) < 0)
		count++;
	return count;
}

/*
 * IsSmall says whether a group is to be joined with the one before that is
 * written anew.
 */
static bool
IsSmall(const MergeState *state, const DayGroup *group)
{
	return group->reader.length <= ZbxhistDayPageLimit(state->writer) / 2;
}

/* archived groups that have been fetched in this transaction; NULL: none */
static ArchiveReader *fetched_groups = NULL;

/*
 * ForgetFetched is called when the transaction ends.
 */
static void
ForgetFetched(void *arg)
{
	fetched_groups = NULL;
}

/*
 * KeepFetchedGroups makes the reader that keeps them.
 */
static void
KeepFetchedGroups(void)
{
	MemoryContext old = MemoryContextSwitchTo(TopTransactionContext);
	MemoryContextCallback *callback = palloc0(sizeof(MemoryContextCallback));

	callback->func = ForgetFetched;
	MemoryContextRegisterResetCallback(TopTransactionContext, callback);
	fetched_groups = ZbxhistBeginArchiveReader(NULL, NULL);
	ZbxhistKeepArchived(fetched_groups);
	MemoryContextSwitchTo(old);
}

/*
 * FetchTarget fetches the group that the first row goes to, if the group is archived
 * and maintenance_work_mem allows it.  Returns the number of rows that go to the group.
 */
static int
FetchTarget(MergeState *state, LateRow *rows, int nrows)
{
	DayGroup	group;
	DayPlace	end;
	int			count = nrows;

	if (state->counters.nbytes < (uint64) maintenance_work_mem * 1024)
	{
		(void) ZbxhistDayScanTarget(state->scan, rows->itemid,
									position_clock(rows->position), &group,
									&end);
		count = CountOfGroup(rows, nrows, &end);
	}
	state->merged += count;
	return count;
}

/*
 * MergeIntoTarget merges rows, from the first one on, into their group.  It goes on with
 * the next group as long as that gets rows, too, or is small.  All these groups are
 * written as one sequence, which keeps pages full however often rows are merged.  Rows of
 * an archived group that has not been fetched stay in the parent.  Returns the number of
 * rows that are done.
 */
static int
MergeIntoTarget(MergeState *state, LateRow *rows, int nrows)
{
	DayGroup	group;
	DayPlace	end;
	int			done = 0;
	bool		found = ZbxhistDayScanTarget(state->scan, rows->itemid,
											 position_clock(rows->position),
											 &group, &end);
	bool		is_joined = false;

	for (;;)
	{
		int			count = CountOfGroup(&rows[done], nrows - done, &end);

		if (found && group.reader.data == NULL)
		{
			if (done == 0)
			{
				state->nleft += count;
				done = count;
			}
			break;
		}
		if (count == 0 && !IsSmall(state, &group))
			break;
		is_joined = MergeGroup(state, found ? &group : NULL,
							   &rows[done], count,
							   is_joined && IsSmall(state, &group));
		done += count;
		if (!is_joined || end.is_end)
			break;
		(void) ZbxhistDayScanTarget(state->scan, end.itemid, end.clock,
									&group, &end);
	}
	ZbxhistDayWriteBreak(state->writer);
	return done;
}

/*
 * MergeBatch merges the rows that have been collected.
 */
static void
MergeBatch(MergeState *state)
{
	Snapshot	snapshot;
	int			first = 0;

	qsort(state->rows, state->nrows, sizeof(LateRow), compare_late);
	CommandCounterIncrement();
	snapshot = RegisterSnapshot(GetLatestSnapshot());
	state->scan = ZbxhistBeginDayScan(state->day, state->layout, snapshot);
	ZbxhistDayScanFrom(state->scan, fetched_groups, !state->only_fetches);
	ZbxhistDayScanCount(state->scan, &state->counters);
	if (!state->only_fetches)
		state->writer = ZbxhistBeginDayWrite(state->day, state->layout, false);
	while (first < state->nrows)
		first += (state->only_fetches ? FetchTarget : MergeIntoTarget)
			(state, &state->rows[first], state->nrows - first);
	if (!state->only_fetches)
		(void) ZbxhistEndDayWrite(state->writer, NULL);
	ZbxhistEndDayScan(state->scan);
	UnregisterSnapshot(snapshot);
	state->nrows = 0;
	state->nbytes = 0;
	MemoryContextReset(state->rows_context);
}

/*
 * VisitRow adds a row of the parent to the batch; returns false if there are enough.
 * Rows that must stay do not count, else a caller that begins with them again would make
 * no progress.
 */
static bool
VisitRow(void *arg, TupleTableSlot *slot)
{
	MergeState *state = arg;
	MemoryContext old;
	LateRow    *row;

	if (state->merged + state->removed + state->nrows >= state->max_rows ||
		state->nrows == MAX_BATCH_ROWS ||
		state->nbytes >= (Size) maintenance_work_mem * 1024)
		MergeBatch(state);
	if (state->merged + state->removed >= state->max_rows)
		return false;

	row = &state->rows[state->nrows++];
	old = MemoryContextSwitchTo(state->rows_context);
	row->tuple = ExecCopySlotHeapTuple(slot);
	MemoryContextSwitchTo(old);
	row->tuple->t_self = slot->tts_tid;
	row->is_added = false;
	(void) ZbxhistReadKey(&state->source, row->tuple, &row->itemid,
						  &row->position);
	state->nbytes += row->tuple->t_len;
	return true;
}

/* ---- the function ---- */

/*
 * HasUniqueIndex says whether a table has a unique index.
 */
static bool
HasUniqueIndex(Relation rel)
{
	List	   *indexes = RelationGetIndexList(rel);
	bool		result = false;
	ListCell   *lc;

	foreach(lc, indexes)
	{
		Relation	index = index_open(lfirst_oid(lc), AccessShareLock);

		result |= index->rd_index->indisunique && index->rd_index->indisvalid;
		index_close(index, NoLock);
	}
	list_free(indexes);
	return result;
}

/*
 * BeginMerge opens everything that state needs, and becomes the owner of the
 * tables; raises an error unless rows of the parent can be rows of the day's groups.
 */
static void
BeginMerge(MergeState *state, OwnerRights *before, Oid parent, Oid day)
{
	bool		is_same;

	state->parent = ZbxhistOpenForMoving(parent, state->only_fetches ?
										 AccessShareLock : RowExclusiveLock, true);
	state->day = ZbxhistOpenOwnedTable(day, state->only_fetches ?
									   AccessShareLock : ShareRowExclusiveLock);
	ZbxhistRequireSameOwner(state->parent, state->day);
	ZbxhistTakeOwnerRights(before, state->day->rd_rel->relowner);
	state->layout = ZbxhistDayLayout(state->day);
	ZbxhistMarkReplaced(state->layout, state->parent);
	is_same = ZbxhistInitTupleSource(&state->source, state->layout,
									 RelationGetDescr(state->parent));
	/* a column at another place was dropped and added again */
	for (int i = 1; is_same && i < state->layout->ncolumns; i++)
		is_same = state->source.attributes[i] > state->source.attributes[i - 1];
	if (!is_same)
		ereport(ERROR,
				errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				errmsg("rows cannot be merged into packed day \"%s\", because columns were altered after it was packed",
					   RelationGetRelationName(state->day)),
				errhint("Unpack the day with zbxhist.unpack()."),
				errtable(state->day));
	state->has_key = HasUniqueIndex(state->parent);
	state->rows = palloc(sizeof(LateRow) *
						 Min(state->max_rows, MAX_BATCH_ROWS));
	state->rows_context = AllocSetContextCreate(CurrentMemoryContext,
												"zbxhist late rows",
												ALLOCSET_DEFAULT_SIZES);
	state->group_context = AllocSetContextCreate(CurrentMemoryContext,
												 "zbxhist merged group",
												 ALLOCSET_DEFAULT_SIZES);
	PushActiveSnapshot(GetLatestSnapshot());
	state->walk.source = state->parent;
	state->walk.snapshot = GetActiveSnapshot();
	state->walk.visit = VisitRow;
	state->walk.state = state;
}

/*
 * zbxhist_merge_rows(parent, day, from_clock, to_clock, max_rows, only_fetch) moves rows
 * of the parent alone with from_clock <= clock < to_clock into the day, or fetches its
 * archived groups for that; see sql/packed/repack.sql.
 */
Datum
zbxhist_merge_rows(PG_FUNCTION_ARGS)
{
	MergeState *state = palloc0(sizeof(MergeState));
	Datum		values[3];
	bool		nulls[3] = {false};
	OwnerRights before;
	Relation	index;
	int64		itemid = 0;
	bool		is_done;

	state->walk.from_clock = PG_GETARG_INT64(2);
	state->walk.to_clock = PG_GETARG_INT64(3);
	state->max_rows = Max(PG_GETARG_INT32(4), 1);
	state->only_fetches = PG_GETARG_BOOL(5);
	if (state->only_fetches && fetched_groups == NULL)
		KeepFetchedGroups();
	BeginMerge(state, &before, PG_GETARG_OID(0), PG_GETARG_OID(1));
	index = ZbxhistFindItemIndex(state->parent);
	is_done = ZbxhistWalkRows(&state->walk, index, true, &itemid);
	MergeBatch(state);
	if (index != NULL)
		index_close(index, NoLock);
	values[2] = BoolGetDatum(is_done &&
							 (state->nleft == 0 || state->merged == 0));
	values[0] = Int64GetDatum(state->merged);
	values[1] = Int64GetDatum(state->duplicates);
	PopActiveSnapshot();
	ZbxhistGiveBackRights(&before);
	table_close(state->day, NoLock);
	table_close(state->parent, NoLock);
	return result_row(fcinfo, values, nulls);
}
