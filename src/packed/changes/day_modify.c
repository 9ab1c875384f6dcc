/*-------------------------------------------------------------------------
 *
 * day_modify.c
 *	  Collects deletes and updates of rows of a packed day.
 *
 * Rows are named by item, clock and what tells those of a clock apart in what the
 * statement's snapshot sees.  What is changed is the newest
 * version of their group, which nobody else changes once we hold
 * its lock (group_lock.c).  Changes are collected and written group by group.
 *
 * Several parts of a statement, or a function that it calls, may change the
 * same day.  Only one of them has changes that are not written yet: another
 * one, and a look for a key, have those written first.  What one has changed is
 * gone for the others.
 *
 * Locks: ROW EXCLUSIVE on the day's table until the transaction ends, which maintenance that
 * writes groups anew waits for.
 * Memory: everything is in a context of its own.
 *
 * If the row's group has been written anew since the statement's snapshot was
 * taken, the row is looked for by its values: when it is the same, that is the
 * row to be changed; when it has been changed, its qualification is to be looked
 * at again (fdw_modify.c); when it is gone, it is passed over, unless the whole
 * day has been unpacked meanwhile, or has other columns than the parent, where
 * its new version may be (moved_rows.c): that is 40001 too.  Above READ COMMITTED
 * each of these is 40001.
 *
 * When changes are written a group is deleted, and those of its segments that
 * stay are written to one or more new ones, as they are if no row of theirs
 * changes.  Groups that become small are not joined with their neighbours.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "catalog/packed_days.h"
#include "make_room.h"
#include "packed/changes/day_conflicts.h"
#include "packed/changes/day_modify.h"
#include "packed/day/day_write.h"
#include "packed/values/row_compare.h"
#include "packed/values/row_map.h"

/*
 * ZbxhistInGroup says whether rows of an item and clock belong to the group.
 */
bool
ZbxhistInGroup(const DayGroup *group, int64 itemid, int32 clock)
{
	if (itemid == group->first_itemid && clock < group->first_clock)
		return false;
	if (itemid == group->last_itemid && clock > group->last_clock)
		return false;
	return itemid >= group->first_itemid && itemid <= group->last_itemid;
}

/*
 * FindCurrent finds the group of the newest version, which is open, that has
 * rows of an item and clock.  It is good until current, or this, is asked again.
 * Returns false if there is none.
 */
static bool
FindCurrent(DayModify *modify, int64 itemid, int32 clock,
			DayGroup *group)
{
	if (modify->has_locked &&
		ZbxhistInGroup(&modify->locked, itemid, clock))
	{
		*group = modify->locked;
		return true;
	}
	/* the scan goes on, and what it had found is not valid any more */
	modify->has_locked = false;
	return ZbxhistDayScanRow(modify->current, itemid, clock, group);
}

/*
 * FindSeen finds the group in which the snapshot sees a row, and whether that
 * is its newest version; returns false if there is no such group.
 */
static bool
FindSeen(DayModify *modify, const PackedRowId *id)
{
	DayGroup	newest;

	ZbxhistOpenNewest(modify);
	if (modify->has_group &&
		ZbxhistInGroup(&modify->group, id->itemid, id->clock))
		return true;
	modify->segment = -1;
	modify->has_group = ZbxhistDayScanRow(modify->seen, id->itemid, id->clock,
										  &modify->group);
	if (!modify->has_group)
		return false;
	modify->is_same = FindCurrent(modify, id->itemid, id->clock,
								  &newest) &&
		ItemPointerEquals(&newest.tid, &modify->group.tid);
	if (!modify->is_same && IsolationUsesXactSnapshot() &&
		!TransactionIdIsCurrentTransactionId(ZbxhistDayScanXmax(modify->seen)))
		ZbxhistRaiseChanged();
	return true;
}

/*
 * SetPlace sets which row a change is of, by its number in a segment of a group of
 * the newest version.
 */
static void
SetPlace(const DayGroup *group, int segment, int row, RowChange *change)
{
	for (int i = 0; i < segment; i++)
		row += group->reader.segments[i].nrows;
	change->place.tid = group->tid;
	change->place.row = row;
	change->itemid = group->first_itemid;
	change->clock = group->first_clock;
}

/*
 * DecodeClock finds the newest version of an item's rows of a clock: decodes their
 * segment of its group, and returns the number of the first of them, or -1 if there
 * are none.  Allocates in the current context.
 */
static int
DecodeClock(DayModify *modify, const PackedRowId *id, DayGroup *group,
			int *segment, SegmentRows *rows)
{
	const GroupReader *reader = &group->reader;
	int			first;

	if (!FindCurrent(modify, id->itemid, id->clock, group))
		return -1;
	*segment = ZbxhistFindSegment(reader, id->itemid, id->clock);
	if (*segment == reader->nsegments ||
		reader->segments[*segment].itemid != id->itemid)
		return -1;
	ZbxhistDecodeDaySegment(modify->day, modify->layout, reader, *segment,
							NULL, rows);
	first = ZbxhistFirstOfClock(rows, id->clock);
	return first < rows->nrows && rows->columns[0].ints[first] == id->clock ?
		first : -1;
}

/*
 * CountSame returns how many rows from first to last, not included, of the
 * rows there are the same as row.
 */
static int
CountSame(const SegmentRows *rows, int first, int last, int row)
{
	int			result = 0;

	for (int i = first; i < last; i++)
		result += ZbxhistSameRow(rows, i, rows, row);
	return result;
}

/*
 * FindSame finds, from row first on, the row that is the same as one of
 * others, or the next after skip such.  Returns -1 if there is none; then
 * has_key says whether there is one with its key.
 */
static int
FindSame(const DayModify *modify, const SegmentRows *rows, int first,
		 const SegmentRows *others, int other, int skip, bool *has_key)
{
	int64		clock = rows->columns[0].ints[first];
	int64		position = ZbxhistRowPosition(modify->layout, others, other);

	*has_key = false;
	for (int i = first;
		 i < rows->nrows && rows->columns[0].ints[i] == clock; i++)
	{
		if (ZbxhistSameRow(rows, i, others, other))
		{
			if (skip-- == 0)
				return i;
		}
		else
			*has_key |= ZbxhistRowPosition(modify->layout, rows, i) == position;
	}
	return -1;
}

/*
 * FindSeenRow finds a row in modify->rows, the segment that has it as the snapshot
 * sees it; first is set to the first one of its clock.  Returns -1 if there is
 * none.
 */
static int
FindSeenRow(DayModify *modify, const PackedRowId *id, int *first)
{
	const GroupReader *reader = &modify->group.reader;
	int			segment = ZbxhistFindSegment(reader, id->itemid, id->clock);
	MemoryContext old;
	int			result = -1;

	if (segment == reader->nsegments ||
		reader->segments[segment].itemid != id->itemid)
		return -1;
	if (segment != modify->segment)
	{
		modify->segment = -1;
		MemoryContextReset(modify->seen_context);
	}
	old = MemoryContextSwitchTo(modify->seen_context);
	if (segment != modify->segment)
	{
		ZbxhistDecodeDaySegment(modify->day, modify->layout, reader, segment,
								NULL, &modify->rows);
		modify->offsets.first = -1;
		modify->segment = segment;
	}
	*first = ZbxhistFirstOfClock(&modify->rows, id->clock);
	if (*first < modify->rows.nrows &&
		modify->rows.columns[0].ints[*first] == id->clock)
		result = ZbxhistRowAtOffset(&modify->offsets, modify->layout,
									&modify->rows, *first, id->offset);
	MemoryContextSwitchTo(old);
	return result;
}

/*
 * FindByValues finds the newest version of a row that the snapshot sees, whose
 * group has been written anew.  One that another part of our own statement has
 * changed is gone.
 */
static RowState
FindByValues(DayModify *modify, const PackedRowId *id, int seen,
			 int first_seen, bool *is_own, RowChange *change)
{
	DayGroup	newest;
	SegmentRows now;
	int			segment;
	int			first_now = DecodeClock(modify, id, &newest, &segment, &now);
	int			row;
	bool		has_key;

	*is_own = TransactionIdIsCurrentTransactionId(ZbxhistDayScanXmax(modify->seen));
	if (first_now < 0)
		return ROW_GONE;
	row = FindSame(modify, &now, first_now, &modify->rows, seen,
				   CountSame(&modify->rows, first_seen, seen, seen),
				   &has_key);
	if (row < 0)
		return has_key && !*is_own ? ROW_CHANGED : ROW_GONE;
	SetPlace(&newest, segment, row, change);
	return ROW_SAME;
}

/*
 * FindEvaluated finds a row that is named as the newest version has it.
 */
static RowState
FindEvaluated(DayModify *modify, const PackedRowId *id, RowChange *change)
{
	int			row = -1;
	int			first;

	ZbxhistOpenNewest(modify);
	modify->segment = -1;
	if (FindCurrent(modify, id->itemid, id->clock, &modify->group))
		row = FindSeenRow(modify, id, &first);
	/* which is not what the caller's snapshot sees */
	modify->has_group = false;
	if (row < 0)
		return ROW_GONE;
	SetPlace(&modify->group, modify->segment, row, change);
	return ROW_SAME;
}

/*
 * IsInOtherTable says whether a row that is not there any more may be in
 * another table: those of a day that has been unpacked meanwhile are, and so
 * is one of other columns that has been updated.
 */
static bool
IsInOtherTable(const DayModify *modify, bool is_own)
{
	return ZbxhistDayIsUnpacked(RelationGetRelid(modify->day)) ||
		(!is_own && (modify->is_altered || IsolationUsesXactSnapshot()));
}

/*
 * FindSeenNow finds the newest version of a row that the snapshot sees.
 */
static RowState
FindSeenNow(DayModify *modify, const PackedRowId *id, RowChange *change)
{
	RowState	state = ROW_GONE;
	bool		is_own = false;
	int			first;
	int			row;

	if (!FindSeen(modify, id))
		return ROW_GONE;
	row = FindSeenRow(modify, id, &first);
	if (row >= 0 && modify->is_same)
	{
		SetPlace(&modify->group, modify->segment, row, change);
		return ROW_SAME;
	}
	if (row >= 0)
		state = FindByValues(modify, id, row, first, &is_own, change);
	if ((state == ROW_GONE && IsInOtherTable(modify, is_own)) ||
		(state == ROW_CHANGED && IsolationUsesXactSnapshot()))
		ZbxhistRaiseChanged();
	return state;
}

/*
 * FindNewest finds the newest version of a row that the snapshot sees, or the newest
 * one if is_newest; the change becomes one of it.
 */
static RowState
FindNewest(DayModify *modify, const PackedRowId *id, bool is_newest,
		   RowChange *change)
{
	MemoryContext old = MemoryContextSwitchTo(modify->segment_context);
	RowState	state = is_newest ? FindEvaluated(modify, id, change) :
		FindSeenNow(modify, id, change);

	MemoryContextSwitchTo(old);
	MemoryContextReset(modify->segment_context);
	return state;
}

/* by how much an updated row may make a group grow */
#define UPDATE_GROWTH	32

/*
 * compare_changes orders changes by group and row; the first one of a row first.
 */
static int
compare_changes(const void *a, const void *b)
{
	const RowChange *left = a;
	const RowChange *right = b;
	ItemPointerData tid = left->place.tid;
	ItemPointerData other = right->place.tid;
	int			order = compare_places(left->itemid, left->clock, right->itemid,
									   right->clock);

	if (order == 0)
		order = ItemPointerCompare(&tid, &other);
	if (order == 0)
		order = left->place.row - right->place.row;
	return order != 0 ? order : left->number - right->number;
}

/*
 * SortChanges sorts the changes and leaves one for each row.
 */
static void
SortChanges(DayModify *modify)
{
	RowChange  *changes = modify->changes;
	int			n = 0;

	qsort(changes, modify->nchanges, sizeof(RowChange), compare_changes);
	for (int i = 0; i < modify->nchanges; i++)
	{
		if (n == 0 || changes[n - 1].place.row != changes[i].place.row ||
			!ItemPointerEquals(&changes[n - 1].place.tid,
							   &changes[i].place.tid))
			changes[n++] = changes[i];
	}
	modify->nchanges = n;
}

/*
 * WriteChanged decodes a segment, whose first row has that number in the group, and
 * writes its rows, with the changes applied, which are all of that segment's.
 */
static void
WriteChanged(DayModify *modify, DayWriter *writer, const GroupReader *reader,
			 int segment, int first, const RowChange *changes, int nchanges)
{
	MemoryContext old = MemoryContextSwitchTo(modify->segment_context);
	SegmentRows rows;
	int			next = 0;

	ZbxhistDecodeDaySegment(modify->day, modify->layout, reader, segment,
							NULL, &rows);
	for (int i = 0; i < rows.nrows; i++)
	{
		if (next == nchanges || changes[next].place.row != first + i)
			ZbxhistDayWriteRows(writer, &rows, i, 1);
		else if (changes[next].tuple != NULL)
		{
			RowBuffer  *buffer;
			int			row = ZbxhistDayWriteRow(writer, rows.itemid,
												 (int32) rows.columns[0].ints[i],
												 &buffer);

			ZbxhistSetTuple(buffer, row, changes[next++].tuple);
		}
		else
			i += changes[next++].nrows - 1;
	}
	MemoryContextSwitchTo(old);
	MemoryContextReset(modify->segment_context);
}

/*
 * WriteChangedGroup writes what the changes leave of a group.
 */
static void
WriteChangedGroup(DayModify *modify, DayWriter *writer, const DayGroup *group,
				  const RowChange *changes, int nchanges)
{
	const GroupReader *reader = &group->reader;
	int			first = 0;
	int			row = 0;

	for (int i = 0; i < reader->nsegments; i++)
	{
		int			nrows = reader->segments[i].nrows;
		int			end = first;
		int			ndeleted = 0;

		while (end < nchanges && changes[end].place.row < row + nrows)
			ndeleted += changes[end++].nrows;
		if (end == first)
			ZbxhistDayWriteSegment(writer, reader, i);
		else if (ndeleted < nrows)
			WriteChanged(modify, writer, reader, i, row, &changes[first],
						 end - first);
		first = end;
		row += nrows;
	}
}

/*
 * RewriteGroup applies changes, which are all of one group's.
 */
static void
RewriteGroup(DayModify *modify, DayWriter *writer, RowChange *changes,
			 int nchanges, int ndeleted)
{
	size_t		limit = ZbxhistDayPageLimit(writer);
	int			nupdates = 0;
	DayGroup	group;

	if (!FindCurrent(modify, changes->itemid, changes->clock, &group) ||
		!ItemPointerEquals(&group.tid, &changes->place.tid))
		elog(ERROR, "group of a row to be changed is not there");
	if (TransactionIdIsCurrentTransactionId(ZbxhistDayScanXmax(modify->current)))
		ZbxhistRaiseSecondChange(modify->day);
	ZbxhistDeleteGroup(modify->day, &group.tid, InvalidSnapshot);
	if (ndeleted == group.nrows)
		return;
	for (int i = 0; i < nchanges; i++)
		nupdates += changes[i].tuple != NULL;
	/* one that may outgrow its page becomes two of the same size */
	if (group.reader.length + (size_t) nupdates * UPDATE_GROWTH > limit &&
		nupdates > 0)
		limit = Min(limit, limit / 2 + (size_t) nupdates * UPDATE_GROWTH);
	ZbxhistDayWriteLimit(writer, limit);
	WriteChangedGroup(modify, writer, &group, changes, nchanges);
	ZbxhistDayWriteBreak(writer);
}

/*
 * ApplyChanges writes the changes, which are sorted, group by group.
 */
static void
ApplyChanges(DayModify *modify)
{
	DayWriter  *writer = ZbxhistBeginDayWrite(modify->day, modify->layout, false);
	RowChange  *changes = modify->changes;
	int			end;

	for (int first = 0; first < modify->nchanges; first = end)
	{
		int			ndeleted = 0;

		CHECK_FOR_INTERRUPTS();
		for (end = first; end < modify->nchanges &&
			 ItemPointerEquals(&changes[end].place.tid,
							   &changes[first].place.tid); end++)
			ndeleted += changes[end].nrows;
		modify->nremoved += ndeleted;
		RewriteGroup(modify, writer, &changes[first], end - first, ndeleted);
	}
	(void) ZbxhistEndDayWrite(writer, NULL);
}

/*
 * ZbxhistFlushChanges writes the changes.
 */
void
ZbxhistFlushChanges(DayModify *modify)
{
	MemoryContext old;

	if (modify->nchanges == 0)
		return;
	ZbxhistOpenNewest(modify);
	old = MemoryContextSwitchTo(modify->scratch);
	SortChanges(modify);
	ApplyChanges(modify);
	MemoryContextSwitchTo(old);
	MemoryContextReset(modify->scratch);
	MemoryContextReset(modify->changes_context);
	modify->nchanges = 0;
	modify->nbytes = 0;
	ZbxhistCloseNewest(modify);
}

/* rows, and bytes of their values, that are collected at most, one by one */
#define MAX_CHANGES		100000
#define MAX_BYTES		((Size) 16 * 1024 * 1024)

/* all that are open, of any day */
static dlist_head open_modifies = DLIST_STATIC_INIT(open_modifies);

/* ---- life ---- */

/*
 * UnlinkModify is the callback of a context that goes, be it by an error.
 */
static void
UnlinkModify(void *arg)
{
	dlist_delete(&((DayModify *) arg)->node);
}

/*
 * Link makes others know of the changes.
 */
static void
Link(DayModify *modify)
{
	modify->subid = GetCurrentSubTransactionId();
	modify->owner = CurrentResourceOwner;
	dlist_push_tail(&open_modifies, &modify->node);
	modify->unlink.func = UnlinkModify;
	modify->unlink.arg = modify;
	MemoryContextRegisterResetCallback(modify->context, &modify->unlink);
}

/*
 * ZbxhistBeginDayModify prepares for changes of a day of the packed table, which the
 * caller has opened and locked.  The snapshot must stay registered.
 */
DayModify *
ZbxhistBeginDayModify(Relation day, Relation table, Snapshot snapshot)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "zbxhist day modify",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	DayModify  *modify = palloc0(sizeof(DayModify));

	modify->context = context;
	modify->changes_context = AllocSetContextCreate(context,
													"zbxhist day changes",
													ALLOCSET_DEFAULT_SIZES);
	modify->scratch = AllocSetContextCreate(context, "zbxhist changed groups",
											ALLOCSET_DEFAULT_SIZES);
	modify->seen_context = AllocSetContextCreate(context, "zbxhist seen rows",
												 ALLOCSET_DEFAULT_SIZES);
	modify->segment_context = AllocSetContextCreate(context,
													"zbxhist changed segment",
													ALLOCSET_DEFAULT_SIZES);
	modify->day = day;
	modify->layout = ZbxhistDayLayout(day);
	ZbxhistMarkReplaced(modify->layout, table);
	modify->attributes = palloc(sizeof(AttrNumber) *
								modify->layout->ncolumns);
	modify->is_altered = !ZbxhistFindLayout(modify->layout,
											RelationGetDescr(table),
											modify->attributes);
	modify->snapshot = snapshot;
	modify->seen = ZbxhistBeginDayScan(day, modify->layout, snapshot);
	modify->max_changes = 256;
	modify->changes = palloc(sizeof(RowChange) * modify->max_changes);
	MemoryContextSwitchTo(old);
	Link(modify);
	return modify;
}

/*
 * ZbxhistOpenNewest takes a snapshot of the newest version, our own changes
 * included, unless there is one.
 */
void
ZbxhistOpenNewest(DayModify *modify)
{
	MemoryContext old;

	if (modify->newest != NULL)
		return;
	old = MemoryContextSwitchTo(modify->context);
	CommandCounterIncrement();
	modify->newest = RegisterSnapshot(GetLatestSnapshot());
	modify->current = ZbxhistBeginDayScan(modify->day, modify->layout,
										  modify->newest);
	MemoryContextSwitchTo(old);
}

/*
 * ZbxhistCloseNewest gives the snapshot up: there are new changes.
 */
void
ZbxhistCloseNewest(DayModify *modify)
{
	if (modify->newest == NULL)
		return;
	ZbxhistEndDayScan(modify->current);
	UnregisterSnapshot(modify->newest);
	modify->newest = NULL;
	modify->current = NULL;
	modify->has_group = false;
	modify->has_locked = false;
}

/*
 * ZbxhistFlushDayChanges has the changes of a day, or of any, written that others
 * than modify have collected, unless they were collected outside of this subtransaction:
 * they must stay when it is rolled back.
 */
void
ZbxhistFlushDayChanges(Oid day, DayModify *modify)
{
	dlist_iter	iter;

	dlist_foreach(iter, &open_modifies)
	{
		DayModify  *other = dlist_container(DayModify, node, iter.cur);
		ResourceOwner old = CurrentResourceOwner;

		/* one of a subtransaction that failed may have lost its table */
		if (other == modify ||
			other->subid != GetCurrentSubTransactionId() ||
			(OidIsValid(day) && RelationGetRelid(other->day) != day) ||
			other->newest == NULL)
			continue;
		CurrentResourceOwner = other->owner;
		ZbxhistFlushChanges(other);
		ZbxhistCloseNewest(other);
		CurrentResourceOwner = old;
	}
}

/* ---- collecting changes ---- */

/*
 * NextChange returns the place for a change that is not counted yet.
 */
static RowChange *
NextChange(DayModify *modify)
{
	RowChange  *change;

	make_room(modify->changes, modify->nchanges, modify->max_changes);
	change = &modify->changes[modify->nchanges];
	change->number = modify->nchanges;
	change->nrows = 1;
	change->tuple = NULL;
	return change;
}

/*
 * ZbxhistAddDelete collects the deletes of rows that follow one another, the first by
 * its number in a segment of the group of the newest version that has been found last.
 */
void
ZbxhistAddDelete(DayModify *modify, const DayGroup *group, int segment,
				 int row, int nrows)
{
	RowChange  *change = NextChange(modify);

	change->nrows = nrows;
	SetPlace(group, segment, row, change);
	modify->nchanges++;
}

/*
 * NewChange makes the place for a change of a row, if that is as it was.
 * Changes are written only when a row of another group comes, so that each
 * group is written once if rows come in order.
 */
static RowState
NewChange(DayModify *modify, const PackedRowId *id, bool is_newest,
		  RowChange **result)
{
	RowState	state;
	bool		is_full = modify->nchanges == MAX_CHANGES;
	bool		has_many = modify->nchanges >= MAX_CHANGES / 2 ||
		modify->nbytes >= MAX_BYTES;

	ZbxhistFlushDayChanges(RelationGetRelid(modify->day), modify);
	if (is_full ||
		(has_many && !(modify->has_group &&
					   ZbxhistInGroup(&modify->group, id->itemid, id->clock))))
		ZbxhistFlushChanges(modify);
	*result = NextChange(modify);
	state = FindNewest(modify, id, is_newest, *result);
	modify->nchanges += state == ROW_SAME;
	return state;
}

/*
 * ZbxhistDayDeleteRow deletes a row, if it is as it was.
 */
RowState
ZbxhistDayDeleteRow(DayModify *modify, const PackedRowId *id, bool is_newest)
{
	RowChange  *change;

	return NewChange(modify, id, is_newest, &change);
}

/*
 * ZbxhistDayUpdateRow replaces a row, if it is as it was, by one of the packed table,
 * whose key stays the same.  The day has its columns.
 */
RowState
ZbxhistDayUpdateRow(DayModify *modify, const PackedRowId *id, bool is_newest,
					TupleTableSlot *slot)
{
	const DayLayout *layout = modify->layout;
	RowChange  *change;
	RowState	state;
	MemoryContext old;
	Datum	   *values;
	bool	   *nulls;

	state = NewChange(modify, id, is_newest, &change);
	if (state != ROW_SAME)
		return state;

	old = MemoryContextSwitchTo(modify->changes_context);
	values = palloc(sizeof(Datum) * layout->ncolumns);
	nulls = palloc(sizeof(bool) * layout->ncolumns);
	for (int i = 0; i < layout->ncolumns; i++)
		values[i] = slot_getattr(slot, modify->attributes[i], &nulls[i]);
	change->nrows = 0;
	change->tuple = heap_form_tuple(layout->desc, values, nulls);
	modify->nbytes += change->tuple->t_len;
	pfree(values);
	pfree(nulls);
	MemoryContextSwitchTo(old);
	return ROW_SAME;
}

/*
 * ZbxhistEndDayModify writes the changes and closes; the lock stays.
 */
void
ZbxhistEndDayModify(DayModify *modify)
{
	ZbxhistFlushChanges(modify);
	ZbxhistNotePackedChange(RelationGetRelid(modify->day), modify->nremoved);
	ZbxhistCloseNewest(modify);
	ZbxhistEndDayScan(modify->seen);
	MemoryContextDelete(modify->context);
}
