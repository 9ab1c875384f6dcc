/*-------------------------------------------------------------------------
 *
 * day_modify.c
 *	  Collects deletes and updates of rows of a packed day.
 *
 * Rows are named by item, clock and what tells those of a clock apart in what the
 * statement's snapshot sees.  What is changed is the newest
 * version of their group (day_newest.c), which nobody else changes once we hold
 * its lock (group_lock.c).  Changes are collected and written group by group
 * (day_apply.c).
 *
 * Several parts of a statement, or a function that it calls, may change the
 * same day.  Only one of them has changes that are not written yet: another
 * one, and who looks for a key, has those written first.  What one has changed
 * is gone for the others.
 *
 * Locks: ROW EXCLUSIVE on the day's table until the transaction ends, which maintenance that
 * writes groups anew waits for; on a table of runs that of merge_lock.c, too.
 * Memory: everything is in a context of its own.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "catalog/columns.h"
#include "packed/changes/day_conflicts.h"
#include "packed/changes/day_modify.h"
#include "packed/values/row_map.h"
#include "rows/merge_lock.h"

/* rows, and bytes of their values, that are collected at most */
#define MAX_CHANGES		100000
#define MAX_BYTES		((Size) 16 * 1024 * 1024)

/* all that are open, of any day */
static dlist_head open_modifies = DLIST_STATIC_INIT(open_modifies);

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
 * FindAttribute returns the number of desc's column that is column, or 0.
 */
static AttrNumber
FindAttribute(TupleDesc desc, const LayoutColumn *column)
{
	return column->is_replaced ? InvalidAttrNumber :
		ZbxhistFindColumn(desc, NameStr(column->name), column->type);
}

/*
 * ZbxhistMapLayout finds a day's columns, whose numbers go to attributes, in rows of
 * that description; returns false if it has others.
 */
bool
ZbxhistMapLayout(const DayLayout *layout, TupleDesc desc,
				 AttrNumber *attributes)
{
	int			ncolumns = 0;

	for (int i = 0; i < desc->natts; i++)
		ncolumns += !TupleDescAttr(desc, i)->attisdropped;
	if (ncolumns != layout->ncolumns)
		return false;
	for (int i = 0; i < layout->ncolumns; i++)
	{
		AttrNumber	attnum = FindAttribute(desc, &layout->columns[i]);

		if (attnum == InvalidAttrNumber)
			return false;
		/* at another place it is one that was added again */
		if (i > 0 && attnum < attributes[i - 1] &&
			TupleDescAttr(desc, attnum - 1)->attinhcount > 0)
			return false;
		attributes[i] = attnum;
	}
	return true;
}

/*
 * ZbxhistBeginDayModify prepares for changes of a day of the parent, which the
 * caller has opened and locked.  The snapshot must stay registered.
 */
DayModify *
ZbxhistBeginDayModify(Relation day, Relation parent, Snapshot snapshot)
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
	ZbxhistMarkReplaced(modify->layout, parent);
	if (modify->layout->has_runs)
		ZbxhistLockChange(RelationGetRelid(day));
	modify->attributes = palloc(sizeof(AttrNumber) *
								modify->layout->ncolumns);
	modify->is_altered = !ZbxhistMapLayout(modify->layout,
										   RelationGetDescr(parent),
										   modify->attributes);
	modify->snapshot = snapshot;
	modify->seen = ZbxhistBeginDayScan(day, modify->layout, snapshot);
	modify->changes = palloc(sizeof(RowChange) * MAX_CHANGES);
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
 * ZbxhistFlushOthers has the changes of a day, or of any, written that others
 * than modify have collected, unless they were collected outside of this subtransaction:
 * they must stay when it is rolled back.
 */
void
ZbxhistFlushOthers(Oid day, DayModify *modify)
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

/*
 * ZbxhistFlushDayChanges has all changes of a day, or of any if that is
 * InvalidOid, written that have been collected so far.
 */
void
ZbxhistFlushDayChanges(Oid day)
{
	ZbxhistFlushOthers(day, NULL);
}

/* ---- collecting changes ---- */

/*
 * NewChange makes the place for a change of a row, if that is as it was.
 * Changes are written only when a row of another group comes, so that each
 * group is written once if rows come in order.
 */
static RowState
NewChange(DayModify *modify, const PackedRowId *id, const int64 *position,
		  RowChange **result)
{
	RowChange  *change;
	RowState	state;
	uint16		ordinal;
	bool		is_full = modify->nchanges == MAX_CHANGES;
	bool		has_many = modify->nchanges >= MAX_CHANGES / 2 ||
		modify->nbytes >= MAX_BYTES;

	ZbxhistFlushOthers(RelationGetRelid(modify->day), modify);
	if (is_full ||
		(has_many && !(modify->has_group &&
					   ZbxhistInGroup(&modify->group, id->itemid, id->clock))))
		ZbxhistFlushChanges(modify);
	state = ZbxhistFindNewest(modify, id, position, &ordinal);
	if (state != ROW_SAME)
		return state;
	change = &modify->changes[modify->nchanges];
	change->itemid = id->itemid;
	change->clock = id->clock;
	change->ordinal = ordinal;
	change->number = modify->nchanges++;
	change->tuple = NULL;
	*result = change;
	return ROW_SAME;
}

/*
 * ZbxhistDayDeleteRow deletes a row, if it is as it was.
 */
RowState
ZbxhistDayDeleteRow(DayModify *modify, const PackedRowId *id, const int64 *position)
{
	RowChange  *change;

	return NewChange(modify, id, position, &change);
}

/*
 * ZbxhistDayTakesRows says whether the day has the columns of that
 * description.
 */
bool
ZbxhistDayTakesRows(DayModify *modify, TupleDesc desc)
{
	if (modify->slot_desc != desc)
	{
		modify->has_columns = ZbxhistMapLayout(modify->layout, desc,
											   modify->attributes);
		modify->slot_desc = desc;
	}
	return modify->has_columns;
}

/*
 * ZbxhistDayUpdateRow replaces a row by one that the day takes, whose key stays
 * the same, if it is as it was.
 */
RowState
ZbxhistDayUpdateRow(DayModify *modify, const PackedRowId *id, const int64 *position,
					TupleTableSlot *slot)
{
	const DayLayout *layout = modify->layout;
	RowChange  *change;
	RowState	state;
	MemoryContext old;
	Datum	   *values;
	bool	   *nulls;

	if (!ZbxhistDayTakesRows(modify, slot->tts_tupleDescriptor))
		elog(ERROR, "packed day \"%s\" has other columns than its row",
			 RelationGetRelationName(modify->day));
	state = NewChange(modify, id, position, &change);
	if (state != ROW_SAME)
		return state;

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
