/*-------------------------------------------------------------------------
 *
 * day_changes.c
 *	  Collects deletes and updates of rows of packed days.
 *
 * The first change in a day locks its table against changes by other transactions, until
 * the own transaction ends.  Rows are then found in one of two ways.  If the scan has
 * locked the day before it read it ("looks again", packed/open_days.c), rows are found as
 * they are now.  Otherwise they are found by the statement's snapshot; if another
 * transaction has changed any row of the group since, it is an error, 40001, because
 * conditions are not evaluated again.  Days with other columns than the table's are
 * always read in the second way: new versions of their rows go to the parent.
 *
 * Changes are collected as bitmaps of the rows of groups.  They are written when the
 * statement ends, before its AFTER triggers fire: all parts of the statement have run by
 * then, so none sees the changes of another.  A search for keys takes a row that is
 * marked as deleted for deleted.  If a function that the statement calls changes rows of
 * the same group, that is an error, 27000.
 *
 * Locks: SHARE UPDATE EXCLUSIVE on the day's table.  The caller has locked the parent
 * and the packed table.  Memory: all is below the query's context.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "lib/ilist.h"
#include "miscadmin.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "format/row_compare.h"
#include "packed/changed_day.h"
#include "packed/day_changes.h"
#include "packed/day_conflicts.h"
#include "packed/day_reader.h"
#include "packed/open_days.h"
#include "tables/packed_table.h"
#include "tables/partition_set.h"
#include "tables/stray.h"
#include "tables/target.h"

/* days that are open at a time */
#define MAX_OPEN_DAYS 8

struct DayChanges
{
	EState	   *estate;			/* of the statement */
	Relation	table;			/* the packed one; borrowed */
	Relation	parent;
	List	   *days;			/* of ChangedDay */
	int			nopen;			/* of them */
	RowUpdates *updates;		/* NULL: none yet */
	InsertTarget *target;		/* the parent; likewise */
	dlist_node	node;			/* in open_changes */
	MemoryContextCallback unlink;
	MemoryContext context;		/* owns all this */
};

/* those of all statements that are being executed */
static dlist_head open_changes = DLIST_STATIC_INIT(open_changes);

/* ---- life ---- */

/*
 * UnlinkChanges is the callback that is called when the context is deleted, also by an
 * error.
 */
static void
UnlinkChanges(void *arg)
{
	dlist_delete(&((DayChanges *) arg)->node);
}

/*
 * ZbxhistDayChangesOf returns a statement's changes of the packed days of a packed table;
 * all parts of the statement share them.
 */
DayChanges *
ZbxhistDayChangesOf(EState *estate, Relation table)
{
	dlist_iter	iter;
	MemoryContext context;
	DayChanges *changes;

	dlist_foreach(iter, &open_changes)
	{
		changes = dlist_container(DayChanges, node, iter.cur);
		if (changes->estate == estate &&
			RelationGetRelid(changes->table) == RelationGetRelid(table))
			return changes;
	}
	context = AllocSetContextCreate(estate->es_query_cxt, "zbxhist day changes",
									ALLOCSET_DEFAULT_SIZES);
	changes = MemoryContextAllocZero(context, sizeof(DayChanges));
	changes->context = context;
	changes->estate = estate;
	changes->table = table;
	changes->parent = table_open(ZbxhistForeignParent(table), AccessShareLock);
	dlist_push_tail(&open_changes, &changes->node);
	changes->unlink.func = UnlinkChanges;
	changes->unlink.arg = changes;
	MemoryContextRegisterResetCallback(context, &changes->unlink);
	/* looking up rows by their keys is a read */
	ZbxhistNotePackedRead(changes->parent, estate->es_snapshot);
	return changes;
}

/*
 * EndScanOfDay ends the search for rows in a day.
 */
static void
EndScanOfDay(ChangedDay *day)
{
	if (day->scan != NULL)
		ZbxhistEndDayScan(day->scan);
	if (day->fresh != NULL)
		UnregisterSnapshot(day->fresh);
	day->scan = NULL;
	day->fresh = NULL;
	day->group = NULL;
	day->segment = -1;
}

/*
 * CloseChangedDay closes a day; its changes are kept, and so is its lock.
 */
static void
CloseChangedDay(DayChanges *changes, ChangedDay *day)
{
	if (day->rel == NULL)
		return;
	EndScanOfDay(day);
	ExecDropSingleTupleTableSlot(day->slot);
	MemoryContextDelete(day->segment_context);
	table_close(day->rel, NoLock);
	day->rel = NULL;
	changes->nopen--;
}

/*
 * OpenChangedDay opens a day, and locks it if that has not been done.
 */
static void
OpenChangedDay(DayChanges *changes, ChangedDay *day)
{
	ListCell   *lc;

	if (day->rel != NULL)
		return;
	if (changes->nopen == MAX_OPEN_DAYS)
	{
		foreach(lc, changes->days)
			CloseChangedDay(changes, lfirst(lc));
	}
	day->rel = ZbxhistOpenDay(day->day.relid, ShareUpdateExclusiveLock);
	/* nobody can have dropped it, because the packed table is locked */
	if (day->rel == NULL)
		ZbxhistRaiseChanged();
	day->slot = table_slot_create(day->rel, NULL);
	day->segment = -1;
	day->segment_context = AllocSetContextCreate(changes->context,
												 "zbxhist changed segment",
												 ALLOCSET_DEFAULT_SIZES);
	changes->nopen++;
}

/*
 * AddChangedDay adds a day of which rows are going to be changed, and locks it.
 */
static ChangedDay *
AddChangedDay(DayChanges *changes, const PackedDay *found)
{
	MemoryContext old = MemoryContextSwitchTo(changes->context);
	HASHCTL		ctl = {.keysize = sizeof(ItemPointerData),.entrysize = sizeof(ChangedGroup),.hcxt = changes->context};
	ChangedDay *day = palloc0(sizeof(ChangedDay));

	day->day = *found;
	day->number = list_length(changes->days);
	day->context = changes->context;
	OpenChangedDay(changes, day);
	day->layout = ZbxhistDayLayout(day->rel);
	ZbxhistMarkReplaced(day->layout, changes->table);
	day->attributes = palloc(sizeof(AttrNumber) * day->layout->ncolumns);
	day->is_altered = !ZbxhistFindLayout(day->layout,
										 RelationGetDescr(changes->table),
										 day->attributes);
	day->groups = hash_create("zbxhist changed groups", 64, &ctl,
							  HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	changes->days = lappend(changes->days, day);
	MemoryContextSwitchTo(old);
	ZbxhistCheckPackedChange(found->relid, changes->estate->es_snapshot);
	return day;
}

/*
 * BeginScanOfDay prepares for finding rows in a day.
 */
static void
BeginScanOfDay(DayChanges *changes, ChangedDay *day, bool looks_again)
{
	MemoryContext old;

	OpenChangedDay(changes, day);
	looks_again = looks_again && !day->is_altered;
	if (day->scan != NULL && day->looks_again == looks_again)
		return;
	EndScanOfDay(day);
	old = MemoryContextSwitchTo(changes->context);
	day->looks_again = looks_again;
	if (looks_again)
		day->fresh = RegisterSnapshot(GetLatestSnapshot());
	day->scan = ZbxhistBeginDayScan(day->rel, day->layout, looks_again ?
									day->fresh : changes->estate->es_snapshot);
	MemoryContextSwitchTo(old);
}

/* ---- rows ---- */

/*
 * FindChangedDay returns the day of a clock if rows of it have been changed, or NULL.
 */
static ChangedDay *
FindChangedDay(const DayChanges *changes, int64 clock)
{
	for (int i = list_length(changes->days) - 1; i >= 0; i--)
	{
		ChangedDay *day = list_nth(changes->days, i);

		if (clock >= day->day.from_clock && clock < day->day.to_clock)
			return day;
	}
	return NULL;
}

/*
 * FindDayOfRow returns the day of a clock, locked.
 */
static ChangedDay *
FindDayOfRow(DayChanges *changes, int32 clock)
{
	ChangedDay *result = FindChangedDay(changes, clock);
	const PackedDay *found;
	PackedDay	day;

	if (result != NULL)
		return result;
	found = ZbxhistFindPackedDay(ZbxhistGetPartitions(changes->parent), clock);
	if (found == NULL)
		ZbxhistRaiseChanged();
	/* locking the day may rebuild the set */
	day = *found;
	return AddChangedDay(changes, &day);
}

/*
 * MarkRow finds a row, in a day that is set, and notes that it is deleted or updated;
 * row is set to its number in the group found last.  Returns false if it is gone, or
 * has been changed by this statement.
 */
static bool
MarkRow(DayChanges *changes, const PackedRowId *id, bool looks_again,
		bool is_update, ChangedDay **result, int *row)
{
	ChangedDay *day = FindDayOfRow(changes, id->clock);
	MemoryContext old;
	int			segment;
	int			first;
	int			found = -1;

	*result = day;
	BeginScanOfDay(changes, day, looks_again);
	if (!ZbxhistFindChangedGroup(day, id->itemid, id->clock))
		return false;
	segment = ZbxhistFindSegment(&day->found.reader, id->itemid, id->clock);
	if (segment == day->found.reader.nsegments ||
		day->found.reader.segments[segment].itemid != id->itemid)
		return false;
	ZbxhistDecodeChangedSegment(day, segment);
	first = ZbxhistFirstOfClock(&day->rows, id->clock);
	old = MemoryContextSwitchTo(day->segment_context);
	if (first < day->rows.nrows && day->rows.columns[0].ints[first] == id->clock)
		found = ZbxhistRowAtOffset(&day->offsets, day->layout, &day->rows, first,
								   id->offset);
	MemoryContextSwitchTo(old);
	if (found < 0)
		return false;
	*row = found;
	for (int i = 0; i < segment; i++)
		*row += day->found.reader.segments[i].nrows;
	return ZbxhistMarkRow(day, *row, is_update && !day->is_altered);
}

/*
 * ZbxhistDeleteDayRow deletes a row.
 */
bool
ZbxhistDeleteDayRow(DayChanges *changes, const PackedRowId *id,
					bool looks_again)
{
	ChangedDay *day;
	int			row;

	return MarkRow(changes, id, looks_again, false, &day, &row);
}

/*
 * StoreInParent stores the new version of a row in the parent, if the row's day has other
 * columns than the table.  Late rows of such a day stay there, too.  For the user the row
 * stays in the same table, so only the triggers of the UPDATE fire.  If the day is being
 * unpacked, the row is a stray, as it belongs to the partition, and is noted as such.
 */
static void
StoreInParent(DayChanges *changes, int32 clock, TupleTableSlot *slot)
{
	TupleDesc	desc = RelationGetDescr(changes->table);
	TupleTableSlot *stored = MakeSingleTupleTableSlot(desc, &TTSOpsHeapTuple);
	const PackedDay *day =
		ZbxhistFindPackedDay(ZbxhistGetPartitionSet(changes->parent), clock);

	if (day == NULL || OidIsValid(day->partition))
		ZbxhistNoteStray(changes->parent);
	if (changes->target == NULL)
		changes->target =
			ZbxhistOpenTarget(table_open(RelationGetRelid(changes->parent),
										 RowExclusiveLock),
							  desc, TARGET_MOVE, NULL, changes->context);
	ExecCopySlot(stored, slot);
	ZbxhistInsertRows(changes->target, &stored, 1,
					  changes->estate->es_output_cid);
	ExecDropSingleTupleTableSlot(stored);
}

/*
 * ZbxhistUpdateDayRow replaces a row by one of the packed table, whose key stays the
 * same.
 */
bool
ZbxhistUpdateDayRow(DayChanges *changes, const PackedRowId *id,
					bool looks_again, TupleTableSlot *slot)
{
	ChangedDay *day;
	MemoryContext old;
	int			row;

	if (!MarkRow(changes, id, looks_again, true, &day, &row))
		return false;
	old = MemoryContextSwitchTo(changes->context);
	if (day->is_altered)
		StoreInParent(changes, id->clock, slot);
	else
	{
		if (changes->updates == NULL)
			changes->updates = ZbxhistBeginRowUpdates(changes->table);
		ZbxhistAddRowUpdate(changes->updates, day, row, slot);
	}
	MemoryContextSwitchTo(old);
	return true;
}

/* ---- the end ---- */

/*
 * WriteDay writes the changes of a day and closes it.
 */
static void
WriteDay(DayChanges *changes, ChangedDay *day)
{
	MemoryContext old = MemoryContextSwitchTo(changes->context);

	BeginScanOfDay(changes, day, true);
	ZbxhistWriteChangedDay(day, changes->updates);
	CloseChangedDay(changes, day);
	MemoryContextSwitchTo(old);
}

/*
 * ZbxhistWriteDayChanges writes what a statement has changed in packed days; locks
 * stay.
 */
void
ZbxhistWriteDayChanges(EState *estate)
{
	dlist_mutable_iter iter;

	dlist_foreach_modify(iter, &open_changes)
	{
		DayChanges *changes = dlist_container(DayChanges, node, iter.cur);
		ListCell   *lc;

		if (changes->estate != estate)
			continue;
		foreach(lc, changes->days)
			WriteDay(changes, lfirst(lc));
		if (changes->updates != NULL)
			ZbxhistEndRowUpdates(changes->updates);
		if (changes->target != NULL)
			ZbxhistCloseTarget(changes->target);
		table_close(changes->parent, NoLock);
		MemoryContextDelete(changes->context);
	}
}

/*
 * ZbxhistIsBeingDeleted says whether a statement that is being executed will delete a
 * row, by its number in the group at tid.
 */
bool
ZbxhistIsBeingDeleted(Oid day, const ItemPointerData *tid, int row)
{
	dlist_iter	iter;

	dlist_foreach(iter, &open_changes)
	{
		DayChanges *changes = dlist_container(DayChanges, node, iter.cur);
		ListCell   *lc;

		foreach(lc, changes->days)
		{
			ChangedDay *changed = lfirst(lc);
			ChangedGroup *group = changed->day.relid != day ? NULL :
				hash_search(changed->groups, tid, HASH_FIND, NULL);

			if (group != NULL && group->deleted != NULL &&
				row_is_in(group->deleted, row))
				return true;
		}
	}
	return false;
}
