/*-------------------------------------------------------------------------
 *
 * merge.c
 *	  Moves late rows from the parent into their packed day.
 *
 * A merged row is deleted from the parent and added to the day in one
 * transaction, in the manner of move.c.  Rows are taken in the order of item
 * and clock as far as there is an index for it, many at a time, so that each
 * group they belong to is written anew once (merge_group.c).
 *
 * The tables' owner, not the user, does all this: he may have put expressions
 * into indexes of the day's table.
 *
 * Locks: SHARE ROW EXCLUSIVE on the day's table, ROW EXCLUSIVE on the parent,
 * until the transaction ends.  Memory: one batch of rows, at most
 * maintenance_work_mem.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "executor/executor.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "nodes/pg_list.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "catalog/owned_table.h"
#include "catalog/owner_rights.h"
#include "compat.h"
#include "packed/jobs/merge.h"
#include "packed/values/row_map.h"
#include "result_row.h"
#include "rows/item_index.h"

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
 * InitLateRow reads the place of a row.
 */
static void
InitLateRow(const MergeState *state, LateRow *row, HeapTuple tuple)
{
	const DayLayout *layout = state->layout;
	bool		isnull;
	int32		clock =
		DatumGetInt32(ZbxhistLateValue(state, tuple, layout->clock, &isnull));
	int32		ns = 0;

	if (layout->ns >= 0)
	{
		Datum		value = ZbxhistLateValue(state, tuple, layout->ns, &isnull);

		ns = isnull ? 0 : DatumGetInt32(value);
	}
	row->itemid = DatumGetInt64(ZbxhistLateValue(state, tuple, layout->itemid,
												 &isnull));
	row->position = make_position(clock, ns);
	row->tuple = tuple;
	row->is_added = false;
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

/*
 * MergeRun merges rows, from the first one on, into their group and into those
 * that follow it, as long as there are rows for the next one or that is small.
 * These are written as one, so that pages are full however often rows are
 * merged: what does not fit into a page any more begins the next one.  Returns
 * the number of rows.
 */
static int
MergeRun(MergeState *state, LateRow *rows, int nrows)
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

		if (count == 0 && !IsSmall(state, &group))
			break;
		is_joined = ZbxhistMergeGroup(state, found ? &group : NULL,
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
	uint64		nrows;
	uint64		nbytes;
	int			first = 0;

	qsort(state->rows, state->nrows, sizeof(LateRow), compare_late);
	CommandCounterIncrement();
	snapshot = RegisterSnapshot(GetLatestSnapshot());
	state->scan = ZbxhistBeginDayScan(state->day, state->layout, snapshot);
	state->writer = ZbxhistBeginDayWrite(state->day, state->layout, false);
	while (first < state->nrows)
		first += MergeRun(state, &state->rows[first], state->nrows - first);
	ZbxhistEndDayWrite(state->writer, &nrows, &nbytes);
	ZbxhistEndDayScan(state->scan);
	UnregisterSnapshot(snapshot);
	state->nrows = 0;
	state->nbytes = 0;
	MemoryContextReset(state->rows_context);
}

/*
 * VisitRow adds a row of the parent to the batch; returns false if there are
 * enough.  Rows that must stay do not count, else a caller that begins with
 * them again would never get on.
 */
static bool
VisitRow(void *arg, TupleTableSlot *slot)
{
	MergeState *state = arg;
	MemoryContext old;
	HeapTuple	tuple;

	if (state->merged + state->removed + state->nrows >= state->max_rows ||
		state->nrows == MAX_BATCH_ROWS ||
		state->nbytes >= (Size) maintenance_work_mem * 1024)
		MergeBatch(state);
	if (state->merged + state->removed >= state->max_rows)
		return false;

	old = MemoryContextSwitchTo(state->rows_context);
	tuple = ExecCopySlotHeapTuple(slot);
	tuple->t_self = slot->tts_tid;
	MemoryContextSwitchTo(old);
	InitLateRow(state, &state->rows[state->nrows++], tuple);
	state->nbytes += tuple->t_len;
	return true;
}

/* ---- the function ---- */

/*
 * FindColumn returns the number of the day's column that is att, or -1.
 */
static int
FindColumn(const DayLayout *layout, Form_pg_attribute att)
{
	for (int i = 0; i < layout->ncolumns; i++)
	{
		if (strcmp(NameStr(layout->columns[i].name),
				   NameStr(att->attname)) == 0 &&
			layout->columns[i].type == att->atttypid &&
			!layout->columns[i].is_replaced)
			return i;
	}
	return -1;
}

/*
 * FindAttributes finds the parent's columns by those of the day; returns false
 * if they are not the same.
 */
static bool
FindAttributes(MergeState *state)
{
	TupleDesc	desc = RelationGetDescr(state->parent);
	int			nfound = 0;
	int			last = -1;

	state->attributes = palloc0(sizeof(AttrNumber) * state->layout->ncolumns);
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);
		int			number;

		if (att->attisdropped)
			continue;
		number = FindColumn(state->layout, att);
		/* at another place it is one that was added again */
		if (number <= last)
			return false;
		last = number;
		state->attributes[number] = att->attnum;
		nfound++;
	}
	return nfound == state->layout->ncolumns;
}

/*
 * RequireGroups raises an error unless rows of the parent can be rows of the
 * day's groups.
 */
static void
RequireGroups(MergeState *state)
{
	if (state->layout->has_runs)
		ereport(ERROR,
				errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				errmsg("rows cannot be merged into \"%s\", because it is a table of runs",
					   RelationGetRelationName(state->day)),
				errtable(state->day));
	if (!FindAttributes(state))
		ereport(ERROR,
				errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				errmsg("rows cannot be merged into packed day \"%s\", because columns were altered after it was packed",
					   RelationGetRelationName(state->day)),
				errhint("Unpack the day with zbxhist.unpack()."),
				errtable(state->day));
}

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
 * tables.
 */
static void
BeginMerge(MergeState *state, OwnerRights *before, Oid parent, Oid day)
{
	state->parent = ZbxhistOpenForMoving(parent, RowExclusiveLock, true);
	state->day = ZbxhistOpenOwnedTable(day, ShareRowExclusiveLock);
	ZbxhistRequireSameOwner(state->parent, state->day);
	ZbxhistTakeOwnerRights(before, state->day->rd_rel->relowner);
	state->layout = ZbxhistDayLayout(state->day);
	ZbxhistMarkReplaced(state->layout, state->parent);
	RequireGroups(state);
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
 * MergeAll walks through the late rows; returns true if no more are left.
 */
static bool
MergeAll(MergeState *state)
{
	Relation	index = ZbxhistFindItemIndex(state->parent);
	int64		itemid = 0;
	bool		done = ZbxhistWalkRows(&state->walk, index, true, &itemid);

	MergeBatch(state);
	if (index != NULL)
		index_close(index, NoLock);
	return done;
}

/*
 * zbxhist_merge_rows(parent, day, from_clock, to_clock, max_rows) moves rows of
 * the parent alone with from_clock <= clock < to_clock into the day; see
 * sql/packed/repack.sql.
 */
Datum
zbxhist_merge_rows(PG_FUNCTION_ARGS)
{
	MergeState *state = palloc0(sizeof(MergeState));
	Datum		values[3];
	bool		nulls[3] = {false};
	OwnerRights before;

	state->walk.from_clock = PG_GETARG_INT64(2);
	state->walk.to_clock = PG_GETARG_INT64(3);
	state->max_rows = Max(PG_GETARG_INT32(4), 1);
	BeginMerge(state, &before, PG_GETARG_OID(0), PG_GETARG_OID(1));
	values[2] = BoolGetDatum(MergeAll(state));
	values[0] = Int64GetDatum(state->merged);
	values[1] = Int64GetDatum(state->duplicates);
	PopActiveSnapshot();
	ZbxhistGiveBackRights(&before);
	table_close(state->day, NoLock);
	table_close(state->parent, NoLock);
	return result_row(fcinfo, values, nulls);
}
