/*-------------------------------------------------------------------------
 *
 * day_modify.c
 *	  Deletes and updates rows of a packed day.
 *
 * Rows are named by their place in what the statement's snapshot sees: item,
 * clock, and number among rows of that clock.  What is changed is the newest
 * version of the day, which nobody else changes once we hold its lock.  If a
 * group has been written anew in between, the row is looked for by its
 * values: when it is the same, that is the row to be changed; when it has
 * been changed, that is 40001, for its qualification cannot be looked at
 * again; when it is gone, it is passed over, unless the whole day has been
 * unpacked meanwhile, which is 40001 too.  Above READ COMMITTED each of
 * these is 40001.
 *
 * Changes are collected and written group by group: a group is deleted, and
 * those of its segments that stay are written to one or more new ones, as
 * they are if no row of theirs changes.  Groups that become small are not
 * joined with their neighbours.
 *
 * Several parts of a statement, or a function that it calls, may change the
 * same day.  Only one of them has changes that are not written yet: another
 * one, and who looks for a key, has those written first.  What one has changed
 * is gone for the others.
 *
 * Locks: SHARE ROW EXCLUSIVE on the day's table until the transaction ends.
 * Memory: everything is in a context of its own.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/transam.h"
#include "access/xact.h"
#include "lib/ilist.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/resowner.h"
#include "utils/snapmgr.h"

#include "catalog/packed_days.h"
#include "packed/day.h"
#include "packed/day_conflicts.h"
#include "packed/day_write.h"
#include "packed/row_compare.h"
#include "packed/row_map.h"

/* rows, and bytes of their values, that are collected at most */
#define MAX_CHANGES		100000
#define MAX_BYTES		((Size) 16 * 1024 * 1024)

/* by how much an updated row may make a group grow */
#define UPDATE_GROWTH	32

/* a row of the newest version */
typedef struct RowChange
{
	PackedRowId id;
	int			number;			/* the first change of a row counts */
	HeapTuple	tuple;			/* of the layout's columns; NULL: delete */
} RowChange;

struct DayModify
{
	Relation	day;
	DayLayout  *layout;
	Snapshot	snapshot;		/* the caller's */
	DayScan    *seen;			/* by that snapshot */
	Snapshot	newest;			/* NULL: is yet to be taken */
	DayScan    *current;		/* by the newest */

	/* the group in which rows were named last */
	bool		has_group;
	bool		is_same;		/* the newest version is the same group */
	DayGroup	group;			/* as seen by the snapshot */

	RowChange  *changes;
	int			nchanges;
	Size		nbytes;			/* of their tuples */
	int64		nremoved;		/* rows deleted so far */
	AttrNumber *attributes;		/* of a slot, by layout column */
	TupleDesc	slot_desc;		/* that they belong to */

	SubTransactionId subid;		/* that it began in */
	ResourceOwner owner;		/* of its snapshots */
	dlist_node	node;			/* in open_modifies */
	MemoryContextCallback unlink;

	MemoryContext context;		/* owns all this */
	MemoryContext changes_context;	/* owns tuples */
	MemoryContext scratch;		/* reset when changes are written */
	MemoryContext segment_context;	/* reset with each segment */
};

/* all that are open, of any day */
static dlist_head open_modifies = DLIST_STATIC_INIT(open_modifies);

static void Flush(DayModify *modify);

/* ---- life ---- */

/*
 * Unlink is the callback of a context that goes, be it by an error.
 */
static void
Unlink(void *arg)
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
	modify->unlink.func = Unlink;
	modify->unlink.arg = modify;
	MemoryContextRegisterResetCallback(modify->context, &modify->unlink);
}

/*
 * ZbxhistBeginDayModify prepares for changes of a day of the parent, which the
 * caller has opened, and locks it.  The snapshot must stay registered.
 */
DayModify *
ZbxhistBeginDayModify(Relation day, Relation parent, Snapshot snapshot)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "zbxhist day modify",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	DayModify  *modify = palloc0(sizeof(DayModify));

	LockRelationOid(RelationGetRelid(day), ShareRowExclusiveLock);
	modify->context = context;
	modify->changes_context = AllocSetContextCreate(context,
													"zbxhist day changes",
													ALLOCSET_DEFAULT_SIZES);
	modify->scratch = AllocSetContextCreate(context, "zbxhist changed groups",
											ALLOCSET_DEFAULT_SIZES);
	modify->segment_context = AllocSetContextCreate(context,
													"zbxhist changed segment",
													ALLOCSET_DEFAULT_SIZES);
	modify->day = day;
	modify->layout = ZbxhistDayLayout(day);
	ZbxhistMarkReplaced(modify->layout, parent);
	modify->snapshot = snapshot;
	modify->seen = ZbxhistBeginDayScan(day, modify->layout, snapshot);
	modify->changes = palloc(sizeof(RowChange) * MAX_CHANGES);
	MemoryContextSwitchTo(old);
	Link(modify);
	return modify;
}

/*
 * OpenNewest takes a snapshot of the newest version, our own changes
 * included, unless there is one.
 */
static void
OpenNewest(DayModify *modify)
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
 * CloseNewest gives the snapshot up: there are new changes.
 */
static void
CloseNewest(DayModify *modify)
{
	if (modify->newest == NULL)
		return;
	ZbxhistEndDayScan(modify->current);
	UnregisterSnapshot(modify->newest);
	modify->newest = NULL;
	modify->current = NULL;
	modify->has_group = false;
}

/*
 * FlushOthers has the changes of a day written that others than modify have
 * collected, unless they were collected outside of this subtransaction: they
 * must stay when it is rolled back.
 */
static void
FlushOthers(Oid day, DayModify *modify)
{
	dlist_iter	iter;

	dlist_foreach(iter, &open_modifies)
	{
		DayModify  *other = dlist_container(DayModify, node, iter.cur);
		ResourceOwner old = CurrentResourceOwner;

		if (other == modify || RelationGetRelid(other->day) != day ||
			other->subid != GetCurrentSubTransactionId() ||
			other->newest == NULL)
			continue;
		CurrentResourceOwner = other->owner;
		Flush(other);
		CloseNewest(other);
		CurrentResourceOwner = old;
	}
}

/*
 * ZbxhistFlushDayChanges has all changes of a day written that have been
 * collected so far.
 */
void
ZbxhistFlushDayChanges(Oid day)
{
	FlushOthers(day, NULL);
}

/* ---- finding the newest version of a row ---- */

/*
 * RaiseChanged raises the error for what another transaction has changed.
 */
static void
RaiseChanged(void)
{
	ereport(ERROR,
			errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
			errmsg("could not serialize access due to concurrent update"));
}

/*
 * InGroup says whether rows of an item and clock belong to the group.
 */
static bool
InGroup(const DayGroup *group, int64 itemid, int32 clock)
{
	if (itemid == group->first_itemid && clock < group->first_clock)
		return false;
	if (itemid == group->last_itemid && clock > group->last_clock)
		return false;
	return itemid >= group->first_itemid && itemid <= group->last_itemid;
}

/*
 * FindSeen finds the group in which the snapshot sees a row, and whether that
 * is its newest version; returns false if there is no such group.
 */
static bool
FindSeen(DayModify *modify, const PackedRowId *id)
{
	DayGroup	newest;

	OpenNewest(modify);
	if (modify->has_group && InGroup(&modify->group, id->itemid, id->clock))
		return true;
	modify->has_group = ZbxhistDayScanRow(modify->seen, id->itemid, id->clock,
										  &modify->group);
	if (!modify->has_group)
		return false;
	modify->is_same = ZbxhistDayScanRow(modify->current, id->itemid, id->clock,
										&newest) &&
		ItemPointerEquals(&newest.tid, &modify->group.tid);
	if (!modify->is_same && IsolationUsesXactSnapshot() &&
		!TransactionIdIsCurrentTransactionId(ZbxhistDayScanXmax(modify->seen)))
		RaiseChanged();
	return true;
}

/*
 * DecodeClock decodes the segment of a group that has an item's rows of a
 * clock and returns the number of the first of them, or -1 if there are none.
 * Allocates in the current context.
 */
static int
DecodeClock(DayModify *modify, const DayGroup *group, int64 itemid,
			int32 clock, SegmentRows *rows)
{
	int			segment = ZbxhistFindSegment(&group->reader, itemid, clock);
	int			first;

	if (segment == group->reader.nsegments ||
		group->reader.segments[segment].itemid != itemid)
		return -1;
	ZbxhistDecodeDaySegment(modify->day, modify->layout, &group->reader,
							segment, NULL, rows);
	first = ZbxhistFirstOfClock(rows, clock);
	return first < rows->nrows && rows->columns[0].ints[first] == clock ?
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
 * FindByValues makes id the row's number in the newest version, when its group
 * has been written anew; returns false if the row is not there any more, or
 * another part of our own statement has changed it.
 */
static bool
FindByValues(DayModify *modify, PackedRowId *id)
{
	DayGroup	newest;
	SegmentRows seen;
	SegmentRows now;
	int			first_seen;
	int			first_now;
	int			row;
	bool		has_key;
	bool		is_own = TransactionIdIsCurrentTransactionId(ZbxhistDayScanXmax(modify->seen));

	first_seen = DecodeClock(modify, &modify->group, id->itemid, id->clock,
							 &seen);
	row = first_seen + id->ordinal - 1;
	if (first_seen < 0 || row >= seen.nrows ||
		seen.columns[0].ints[row] != id->clock)
		return false;
	if (!ZbxhistDayScanRow(modify->current, id->itemid, id->clock, &newest))
		return false;
	first_now = DecodeClock(modify, &newest, id->itemid, id->clock, &now);
	if (first_now < 0)
		return false;
	row = FindSame(modify, &now, first_now, &seen, row,
				   CountSame(&seen, first_seen, row, row), &has_key);
	if (row < 0 && has_key && !is_own)
		RaiseChanged();
	id->ordinal = (uint16) (row - first_now + 1);
	return row >= 0;
}

/*
 * FindRow makes id, which is as the snapshot sees the row, what names the row
 * in the newest version; returns false if it is not there any more.
 */
static bool
FindRow(DayModify *modify, PackedRowId *id)
{
	MemoryContext old;
	bool		found;

	if (!FindSeen(modify, id))
		return false;
	if (modify->is_same)
		return true;
	old = MemoryContextSwitchTo(modify->segment_context);
	found = FindByValues(modify, id);
	MemoryContextSwitchTo(old);
	MemoryContextReset(modify->segment_context);

	/* the rows of a day that has been unpacked meanwhile are elsewhere */
	if (!found && ZbxhistDayIsUnpacked(RelationGetRelid(modify->day)))
		RaiseChanged();
	return found;
}

/* ---- writing the changes ---- */

/*
 * compare_changes orders changes by row; the first one of a row first.
 */
static int
compare_changes(const void *a, const void *b)
{
	const RowChange *left = a;
	const RowChange *right = b;

	if (left->id.itemid != right->id.itemid)
		return left->id.itemid < right->id.itemid ? -1 : 1;
	if (left->id.clock != right->id.clock)
		return left->id.clock < right->id.clock ? -1 : 1;
	if (left->id.ordinal != right->id.ordinal)
		return left->id.ordinal < right->id.ordinal ? -1 : 1;
	return left->number < right->number ? -1 : 1;
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
		if (n > 0 && changes[n - 1].id.itemid == changes[i].id.itemid &&
			changes[n - 1].id.clock == changes[i].id.clock &&
			changes[n - 1].id.ordinal == changes[i].id.ordinal)
			continue;
		changes[n++] = changes[i];
	}
	modify->nchanges = n;
}

/*
 * WriteTuple writes an updated row.
 */
static void
WriteTuple(DayModify *modify, DayWriter *writer, const RowChange *change)
{
	const DayLayout *layout = modify->layout;
	Datum	   *values = palloc(sizeof(Datum) * layout->ncolumns);
	bool	   *nulls = palloc(sizeof(bool) * layout->ncolumns);
	RowBuffer  *buffer;
	int			row;

	heap_deform_tuple(change->tuple, layout->desc, values, nulls);
	row = ZbxhistDayWriteRow(writer, change->id.itemid, change->id.clock,
							 &buffer);
	for (int i = 0; i < layout->ncolumns; i++)
	{
		int			packed = layout->columns[i].packed;

		if (packed > 0)
			ZbxhistSetDatum(buffer, row, packed, values[i], nulls[i]);
	}
}

/*
 * WriteChanged decodes a segment and writes its rows, with the changes
 * applied, which are all of that segment's.
 */
static void
WriteChanged(DayModify *modify, DayWriter *writer, const GroupReader *reader,
			 int segment, const RowChange *changes, int nchanges)
{
	MemoryContext old = MemoryContextSwitchTo(modify->segment_context);
	SegmentRows rows;
	int			next = 0;
	int			ordinal = 0;

	ZbxhistDecodeDaySegment(modify->day, modify->layout, reader, segment,
							NULL, &rows);
	for (int i = 0; i < rows.nrows; i++)
	{
		int64		clock = rows.columns[0].ints[i];

		ordinal = i > 0 && rows.columns[0].ints[i - 1] == clock ?
			ordinal + 1 : 1;
		if (next == nchanges || changes[next].id.clock != clock ||
			changes[next].id.ordinal != ordinal)
			ZbxhistDayWriteRows(writer, &rows, i, 1);
		else if (changes[next++].tuple != NULL)
			WriteTuple(modify, writer, &changes[next - 1]);
	}
	if (next != nchanges)
		ereport(ERROR,
				errcode(ERRCODE_NO_DATA_FOUND),
				errmsg("row to be changed is not in packed day \"%s\"",
					   RelationGetRelationName(modify->day)),
				errtable(modify->day));
	MemoryContextSwitchTo(old);
	MemoryContextReset(modify->segment_context);
}

/*
 * WriteSegments writes what the changes leave of a group.
 */
static void
WriteSegments(DayModify *modify, DayWriter *writer, const DayGroup *group,
			  const RowChange *changes, int nchanges)
{
	const GroupReader *reader = &group->reader;
	int			first = 0;

	for (int i = 0; i < reader->nsegments; i++)
	{
		const SegmentInfo *info = &reader->segments[i];
		int			end = first;
		bool		is_update = false;

		while (end < nchanges && changes[end].id.itemid == info->itemid &&
			   changes[end].id.clock <= info->last_clock)
			is_update |= changes[end++].tuple != NULL;
		if (end == first)
			ZbxhistDayWriteSegment(writer, reader, i);
		else if (is_update || end - first < info->nrows)
			WriteChanged(modify, writer, reader, i, &changes[first],
						 end - first);
		first = end;
	}
}

/*
 * RefuseSecondChange raises an error if the group found last in the newest
 * version has been changed again by our own transaction: by another part of
 * the statement, or a function that it calls.  To repeat it would not help.
 */
static void
RefuseSecondChange(DayModify *modify)
{
	if (TransactionIdIsCurrentTransactionId(ZbxhistDayScanXmax(modify->current)))
		ereport(ERROR,
				errcode(ERRCODE_TRIGGERED_DATA_CHANGE_VIOLATION),
				errmsg("rows of packed day \"%s\" are being changed by another part of the same statement",
					   RelationGetRelationName(modify->day)),
				errhint("Change them in two statements."),
				errtable(modify->day));
}

/*
 * RewriteGroup applies changes to a group, all of which are in it.
 */
static void
RewriteGroup(DayModify *modify, DayWriter *writer, DayGroup *group,
			 const RowChange *changes, int nchanges)
{
	size_t		limit = ZbxhistDayPageLimit(writer);
	int			nupdates = 0;

	for (int i = 0; i < nchanges; i++)
		nupdates += changes[i].tuple != NULL;

	ZbxhistDeleteGroup(modify->day, &group->tid, InvalidSnapshot);
	modify->nremoved += nchanges - nupdates;
	if (nupdates == 0 && nchanges == group->nrows)
		return;
	/* one that may outgrow its page becomes two of the same size */
	if (group->reader.length + (size_t) nupdates * UPDATE_GROWTH > limit &&
		nupdates > 0)
		limit = Min(limit, limit / 2 + (size_t) nupdates * UPDATE_GROWTH);
	ZbxhistDayWriteLimit(writer, limit);
	WriteSegments(modify, writer, group, changes, nchanges);
	ZbxhistDayWriteBreak(writer);
}

/*
 * Flush writes the changes.
 */
static void
Flush(DayModify *modify)
{
	MemoryContext old;
	DayWriter  *writer;
	uint64		nrows;
	uint64		nbytes;
	int			end;

	if (modify->nchanges == 0)
		return;
	OpenNewest(modify);
	old = MemoryContextSwitchTo(modify->scratch);
	SortChanges(modify);
	writer = ZbxhistBeginDayWrite(modify->day, modify->layout, false);
	for (int first = 0; first < modify->nchanges; first = end)
	{
		const PackedRowId *id = &modify->changes[first].id;
		DayGroup	group;

		CHECK_FOR_INTERRUPTS();
		if (!ZbxhistDayScanRow(modify->current, id->itemid, id->clock, &group))
			elog(ERROR, "group of a row to be changed is not there");
		RefuseSecondChange(modify);
		for (end = first + 1; end < modify->nchanges; end++)
		{
			id = &modify->changes[end].id;
			if (!InGroup(&group, id->itemid, id->clock))
				break;
		}
		RewriteGroup(modify, writer, &group, &modify->changes[first],
					 end - first);
	}
	ZbxhistEndDayWrite(writer, &nrows, &nbytes);
	MemoryContextSwitchTo(old);
	MemoryContextReset(modify->scratch);
	MemoryContextReset(modify->changes_context);
	modify->nchanges = 0;
	modify->nbytes = 0;
	CloseNewest(modify);
}

/* ---- collecting changes ---- */

/*
 * NewChange returns the place for a change of a row; NULL if the row is gone.
 * Changes are written only when a row of another group comes, so that each
 * group is written once if rows come in order.
 */
static RowChange *
NewChange(DayModify *modify, const PackedRowId *id)
{
	PackedRowId row = *id;
	RowChange  *change;
	bool		is_full = modify->nchanges == MAX_CHANGES;
	bool		has_many = modify->nchanges >= MAX_CHANGES / 2 ||
	modify->nbytes >= MAX_BYTES;

	FlushOthers(RelationGetRelid(modify->day), modify);
	if (is_full ||
		(has_many && !(modify->has_group &&
					   InGroup(&modify->group, id->itemid, id->clock))))
		Flush(modify);
	if (!FindRow(modify, &row))
		return NULL;
	change = &modify->changes[modify->nchanges];
	change->id = row;
	change->number = modify->nchanges++;
	change->tuple = NULL;
	return change;
}

/*
 * ZbxhistDayDeleteRow deletes a row; returns false if it is gone.
 */
bool
ZbxhistDayDeleteRow(DayModify *modify, const PackedRowId *id)
{
	return NewChange(modify, id) != NULL;
}

/*
 * RaiseOtherColumns raises the error for a row that the day's columns cannot
 * hold.
 */
static void
RaiseOtherColumns(DayModify *modify)
{
	ereport(ERROR,
			errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			errmsg("cannot update packed day \"%s\", because columns were altered after it was packed",
				   RelationGetRelationName(modify->day)),
			errhint("Unpack the day with zbxhist.unpack()."),
			errtable(modify->day));
}

/*
 * FindAttribute returns the number of desc's column that is column.
 */
static AttrNumber
FindAttribute(DayModify *modify, TupleDesc desc, const LayoutColumn *column)
{
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);

		if (!att->attisdropped &&
			strcmp(NameStr(att->attname), NameStr(column->name)) == 0 &&
			att->atttypid == column->type && !column->is_replaced)
			return att->attnum;
	}
	RaiseOtherColumns(modify);
	return InvalidAttrNumber;	/* keep compiler quiet */
}

/*
 * MapSlot finds the day's columns in rows of that description, which must have
 * no others.
 */
static void
MapSlot(DayModify *modify, TupleDesc desc)
{
	const DayLayout *layout = modify->layout;
	int			ncolumns = 0;

	if (modify->slot_desc == desc)
		return;
	for (int i = 0; i < desc->natts; i++)
		ncolumns += !TupleDescAttr(desc, i)->attisdropped;
	if (ncolumns != layout->ncolumns)
		RaiseOtherColumns(modify);
	if (modify->attributes == NULL)
		modify->attributes = MemoryContextAlloc(modify->context,
												sizeof(AttrNumber) *
												layout->ncolumns);
	for (int i = 0; i < layout->ncolumns; i++)
	{
		AttrNumber	attnum = FindAttribute(modify, desc, &layout->columns[i]);

		/* at another place it is one that was added again */
		if (i > 0 && attnum < modify->attributes[i - 1] &&
			TupleDescAttr(desc, attnum - 1)->attinhcount > 0)
			RaiseOtherColumns(modify);
		modify->attributes[i] = attnum;
	}
	modify->slot_desc = desc;
}

/*
 * ZbxhistDayUpdateRow replaces a row, whose key stays the same; returns false
 * if it is gone.
 */
bool
ZbxhistDayUpdateRow(DayModify *modify, const PackedRowId *id,
					TupleTableSlot *slot)
{
	const DayLayout *layout = modify->layout;
	RowChange  *change;
	MemoryContext old;
	Datum	   *values;
	bool	   *nulls;

	MapSlot(modify, slot->tts_tupleDescriptor);
	change = NewChange(modify, id);
	if (change == NULL)
		return false;

	old = MemoryContextSwitchTo(modify->changes_context);
	values = palloc(sizeof(Datum) * layout->ncolumns);
	nulls = palloc(sizeof(bool) * layout->ncolumns);
	for (int i = 0; i < layout->ncolumns; i++)
		values[i] = slot_getattr(slot, modify->attributes[i], &nulls[i]);
	change->tuple = heap_form_tuple(layout->desc, values, nulls);
	modify->nbytes += change->tuple->t_len;
	pfree(values);
	pfree(nulls);
	MemoryContextSwitchTo(old);
	return true;
}

/*
 * ZbxhistEndDayModify writes the changes and closes; the lock stays.
 */
void
ZbxhistEndDayModify(DayModify *modify)
{
	Flush(modify);
	ZbxhistNotePackedChange(RelationGetRelid(modify->day), modify->nremoved);
	CloseNewest(modify);
	ZbxhistEndDayScan(modify->seen);
	MemoryContextDelete(modify->context);
}

/* ---- deleting a range ---- */

/* which rows of a range are there for the snapshot */
typedef struct SeenRows
{
	int64	   *positions;		/* ascending */
	int			nrows;
	int			capacity;
} SeenRows;

/*
 * AddSeen adds those rows of a segment that are in a range.
 */
static void
AddSeen(DayModify *modify, const GroupReader *reader, int segment,
		const ItemRange *range, SeenRows *seen)
{
	MemoryContext old = MemoryContextSwitchTo(modify->segment_context);
	SegmentRows rows;

	ZbxhistDecodeDaySegment(modify->day, modify->layout, reader, segment,
							NULL, &rows);
	MemoryContextSwitchTo(old);
	for (int i = 0; i < rows.nrows; i++)
	{
		int64		position = ZbxhistRowPosition(modify->layout, &rows, i);

		if (position < range->first || position > range->last)
			continue;
		if (seen->nrows == seen->capacity)
		{
			seen->capacity = Max(1024, seen->capacity * 2);
			seen->positions = seen->positions == NULL ?
				palloc(sizeof(int64) * seen->capacity) :
				repalloc_huge(seen->positions,
							  sizeof(int64) * seen->capacity);
		}
		seen->positions[seen->nrows++] = position;
	}
	MemoryContextReset(modify->segment_context);
}

/*
 * IsSeen says whether there is a row at a position.
 */
static bool
IsSeen(const SeenRows *seen, int64 position)
{
	int			low = 0;
	int			high = seen->nrows;

	while (low < high)
	{
		int			middle = low + (high - low) / 2;

		if (seen->positions[middle] < position)
			low = middle + 1;
		else
			high = middle;
	}
	return low < seen->nrows && seen->positions[low] == position;
}

/*
 * IsWithin says whether all of a segment is in a range.
 */
static bool
IsWithin(const SegmentInfo *info, const ItemRange *range)
{
	return info->itemid == range->itemid &&
		make_position(info->first_clock, PG_INT32_MIN) >= range->first &&
		make_position(info->last_clock, PG_INT32_MAX) <= range->last;
}

/*
 * IsOutside says whether nothing of a segment is in a range.
 */
static bool
IsOutside(const SegmentInfo *info, const ItemRange *range)
{
	return info->itemid != range->itemid ||
		info->last_clock < position_clock(range->first) ||
		info->first_clock > position_clock(range->last);
}

/*
 * KeepRows writes those rows of a segment that are not in the range, or not
 * seen, and returns the number of the others.
 */
static int
KeepRows(DayModify *modify, DayWriter *writer, const GroupReader *reader,
		 int segment, const ItemRange *range, const SeenRows *seen)
{
	MemoryContext old = MemoryContextSwitchTo(modify->segment_context);
	SegmentRows rows;
	int			deleted = 0;

	ZbxhistDecodeDaySegment(modify->day, modify->layout, reader, segment,
							NULL, &rows);
	for (int i = 0; i < rows.nrows; i++)
	{
		int64		position = ZbxhistRowPosition(modify->layout, &rows, i);

		if (position >= range->first && position <= range->last &&
			(seen == NULL || IsSeen(seen, position)))
			deleted++;
		else
			ZbxhistDayWriteRows(writer, &rows, i, 1);
	}
	MemoryContextSwitchTo(old);
	MemoryContextReset(modify->segment_context);
	return deleted;
}

/*
 * CountOutside returns the number of segments that the range does not touch.
 */
static int
CountOutside(const GroupReader *reader, const ItemRange *range)
{
	int			result = 0;

	for (int i = 0; i < reader->nsegments; i++)
		result += IsOutside(&reader->segments[i], range);
	return result;
}

/*
 * DeleteFromGroup deletes the rows of a range from a group, only those seen
 * unless it is NULL, and returns their number.
 */
static uint64
DeleteFromGroup(DayModify *modify, DayWriter *writer, DayGroup *group,
				const ItemRange *range, const SeenRows *seen)
{
	const GroupReader *reader = &group->reader;
	uint64		deleted = 0;

	if (CountOutside(reader, range) == reader->nsegments)
		return 0;
	/* what we have written anew ourselves was compared before that */
	ZbxhistDeleteGroup(modify->day, &group->tid,
					   IsolationUsesXactSnapshot() &&
					   !TransactionIdIsCurrentTransactionId(ZbxhistDayScanXmin(modify->current)) ?
					   modify->snapshot : InvalidSnapshot);
	for (int i = 0; i < reader->nsegments; i++)
	{
		const SegmentInfo *info = &reader->segments[i];

		if (IsOutside(info, range))
			ZbxhistDayWriteSegment(writer, reader, i);
		else if (seen == NULL && IsWithin(info, range))
			deleted += info->nrows;
		else
			deleted += KeepRows(modify, writer, reader, i, range, seen);
	}
	ZbxhistDayWriteBreak(writer);
	return deleted;
}

/*
 * RequireUnchanged raises an error if another transaction has changed a group
 * in which the caller's snapshot sees rows of the range.  Below REPEATABLE READ
 * that matters only when the rows are elsewhere by now.
 */
static void
RequireUnchanged(DayModify *modify, const ItemRange *range)
{
	DayGroup	seen;
	DayGroup	newest;

	if (!IsolationUsesXactSnapshot() &&
		!ZbxhistDayIsUnpacked(RelationGetRelid(modify->day)))
		return;
	ZbxhistDayScanItem(modify->seen, range);
	while (ZbxhistDayScanNext(modify->seen, &seen))
	{
		if (CountOutside(&seen.reader, range) == seen.reader.nsegments ||
			TransactionIdIsCurrentTransactionId(ZbxhistDayScanXmax(modify->seen)))
			continue;
		if (!ZbxhistDayScanRow(modify->current, seen.first_itemid,
							   seen.first_clock, &newest) ||
			!ItemPointerEquals(&newest.tid, &seen.tid))
			RaiseChanged();
	}
}

/*
 * IsNewer says whether the caller's snapshot does not see a group, the one
 * found last in the newest version: there may be rows in it that came later.
 */
static bool
IsNewer(DayModify *modify, DayGroup *newest)
{
	DayGroup	seen;

	return !TransactionIdPrecedes(ZbxhistDayScanXmin(modify->current),
								  modify->snapshot->xmin) &&
		(!ZbxhistDayScanRow(modify->seen, newest->first_itemid,
							newest->first_clock, &seen) ||
		 !ItemPointerEquals(&newest->tid, &seen.tid));
}

/*
 * FindSeenRows finds the rows of a range that the caller's snapshot sees.
 * Allocates in the current context.
 */
static const SeenRows *
FindSeenRows(DayModify *modify, const ItemRange *range)
{
	ItemRange	ascending = *range;
	SeenRows   *seen = palloc0(sizeof(SeenRows));
	DayGroup	group;

	ascending.is_descending = false;
	ZbxhistDayScanItem(modify->seen, &ascending);
	while (ZbxhistDayScanNext(modify->seen, &group))
	{
		for (int i = 0; i < group.reader.nsegments; i++)
		{
			if (!IsOutside(&group.reader.segments[i], range))
				AddSeen(modify, &group.reader, i, range, seen);
		}
	}
	return seen;
}

/*
 * ZbxhistDayDeleteRange deletes the rows of an item in a range, of the newest
 * version, and returns their number.  Rows that came after the snapshot, by a
 * merge that was waited for, stay.  What is deleted as a whole is not
 * decoded.
 */
uint64
ZbxhistDayDeleteRange(DayModify *modify, const ItemRange *range)
{
	MemoryContext old;
	DayWriter  *writer;
	DayGroup	group;
	const SeenRows *seen = NULL;
	uint64		deleted = 0;
	uint64		nrows;
	uint64		nbytes;

	FlushOthers(RelationGetRelid(modify->day), modify);
	Flush(modify);
	CloseNewest(modify);
	OpenNewest(modify);
	old = MemoryContextSwitchTo(modify->scratch);
	RequireUnchanged(modify, range);
	writer = ZbxhistBeginDayWrite(modify->day, modify->layout, false);
	ZbxhistDayScanItem(modify->current, range);
	while (ZbxhistDayScanNext(modify->current, &group))
	{
		if (seen == NULL && IsNewer(modify, &group))
			seen = FindSeenRows(modify, range);
		deleted += DeleteFromGroup(modify, writer, &group, range, seen);
	}
	modify->nremoved += deleted;
	ZbxhistEndDayWrite(writer, &nrows, &nbytes);
	MemoryContextSwitchTo(old);
	MemoryContextReset(modify->scratch);
	CloseNewest(modify);
	return deleted;
}
