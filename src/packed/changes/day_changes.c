/*-------------------------------------------------------------------------
 *
 * day_changes.c
 *	  Changes of rows of whichever packed days have them.
 *
 * Rows mostly come day after day, so a few days are kept open and the one
 * that has been open longest is written when another is needed.
 *
 * Locks: the caller has locked the parent, and the foreign table that stands
 * for its days; a row, its day and its group are locked when they are reached,
 * until the transaction ends (row_lock.c, day_modify.c, group_lock.c).  A
 * transaction that has changed another row of the group may want this one next,
 * so its end is waited for without a lock on the row.  Memory is below the
 * context that is current at the beginning.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "catalog/packed_table.h"
#include "catalog/partition_set.h"
#include "packed/changes/day_changes.h"
#include "packed/changes/day_conflicts.h"
#include "packed/changes/group_lock.h"
#include "packed/changes/row_lock.h"
#include "packed/day/open_days.h"

/* days that are open at a time */
#define MAX_OPEN_DAYS 8

typedef struct ChangedDay
{
	PackedDay	day;
	Relation	rel;
	DayModify  *modify;
} ChangedDay;

struct DayChanges
{
	Relation	table;			/* the packed one; borrowed */
	Relation	parent;
	Snapshot	snapshot;
	int			nopen;
	ChangedDay	open[MAX_OPEN_DAYS];	/* the one open longest is first */
	MemoryContext context;		/* owns all this */
};

/*
 * ZbxhistBeginDayChanges prepares for changes of the packed days that a packed table
 * stands for.  The snapshot must stay registered.
 */
DayChanges *
ZbxhistBeginDayChanges(Relation table, Snapshot snapshot)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "zbxhist day changes",
												  ALLOCSET_SMALL_SIZES);
	DayChanges *changes = MemoryContextAllocZero(context, sizeof(DayChanges));

	changes->table = table;
	changes->parent = table_open(ZbxhistForeignParent(table), AccessShareLock);
	changes->snapshot = snapshot;
	changes->context = context;
	/* to find rows by their keys is to read */
	ZbxhistNotePackedRead(changes->parent, snapshot);
	return changes;
}

/*
 * CloseDay writes the changes of the day that has been open longest.
 */
static void
CloseDay(DayChanges *changes)
{
	ChangedDay	day = changes->open[0];

	changes->nopen--;
	memmove(&changes->open[0], &changes->open[1],
			sizeof(ChangedDay) * changes->nopen);
	ZbxhistEndDayModify(day.modify);
	table_close(day.rel, NoLock);
}

/*
 * OpenDay opens a day; returns NULL if it has been dropped.
 */
static DayModify *
OpenDay(DayChanges *changes, const PackedDay *found)
{
	Relation	rel = ZbxhistOpenDay(found->relid, RowExclusiveLock);
	ChangedDay *day;
	MemoryContext old;

	if (rel == NULL)
		return NULL;
	if (changes->nopen == MAX_OPEN_DAYS)
		CloseDay(changes);
	day = &changes->open[changes->nopen];
	day->day = *found;
	day->rel = rel;
	old = MemoryContextSwitchTo(changes->context);
	day->modify = ZbxhistBeginDayModify(rel, changes->table, changes->snapshot);
	MemoryContextSwitchTo(old);
	changes->nopen++;
	ZbxhistCheckPackedChange(found->relid, changes->snapshot);
	return day->modify;
}

/*
 * FindChangedDay finds the day of a clock, whose changes are set if it is
 * open; returns false if there is no such day any more.
 */
static bool
FindChangedDay(DayChanges *changes, int32 clock, PackedDay *day,
			   DayModify **modify)
{
	const PackedDay *found;

	for (int i = changes->nopen - 1; i >= 0; i--)
	{
		*day = changes->open[i].day;
		*modify = changes->open[i].modify;
		if (clock >= day->from_clock && clock < day->to_clock)
			return true;
	}
	*modify = NULL;
	found = ZbxhistFindPackedDay(ZbxhistGetPartitions(changes->parent),
								 clock);
	if (found == NULL)
		return false;
	/* the set may change when the day is locked */
	*day = *found;
	return true;
}

/*
 * ZbxhistChangesOfRow locks a row and returns the changes of the day that has it;
 * NULL if there is no such day any more.
 */
DayModify *
ZbxhistChangesOfRow(DayChanges *changes, int64 itemid, int64 position,
					LOCKMODE mode)
{
	int32		clock = position_clock(position);
	PackedDay	day;
	DayModify  *modify;

	while (FindChangedDay(changes, clock, &day, &modify))
	{
		RowLock		lock;

		ZbxhistLockChangedRow(day.relid, itemid, position, mode, &lock);
		if (modify == NULL)
			modify = OpenDay(changes, &day);
		if (modify == NULL || ZbxhistTryRow(modify, itemid, clock))
			return modify;
		ZbxhistUnlockRow(&lock);
		ZbxhistAwaitGroup(modify);
	}
	return NULL;
}

/*
 * ChangesOfRange locks the rows of a range in a day, which is opened unless modify
 * is its changes, and returns these; NULL if there is no such day any more.
 */
static DayModify *
ChangesOfRange(DayChanges *changes, const PackedDay *day, DayModify *modify,
			   const ItemRange *range)
{
	for (;;)
	{
		RowLock		lock;

		ZbxhistLockChangedRows(day->relid, &lock);
		if (modify == NULL)
			modify = OpenDay(changes, day);
		if (modify == NULL || ZbxhistTryRange(modify, range))
			return modify;
		ZbxhistUnlockRow(&lock);
		ZbxhistAwaitGroup(modify);
	}
}

/*
 * DeleteFromDay deletes the rows of ranges from a day; returns their number.
 */
static uint64
DeleteFromDay(DayChanges *changes, const PackedDay *day,
			  const ItemRange *ranges, int nranges)
{
	DayModify  *modify = NULL;
	uint64		deleted = 0;

	for (int i = 0; i < nranges; i++)
	{
		if (day->to_clock <= position_clock(ranges[i].first) ||
			day->from_clock > position_clock(ranges[i].last))
			continue;
		CHECK_FOR_INTERRUPTS();
		modify = ChangesOfRange(changes, day, modify, &ranges[i]);
		if (modify == NULL)
			break;
		deleted += ZbxhistDayDeleteRange(modify, &ranges[i]);
	}
	if (modify != NULL)
		CloseDay(changes);
	return deleted;
}

/*
 * ZbxhistDeleteFromDays deletes the rows of ranges from all days and returns
 * their number.  No other changes may be open.
 */
uint64
ZbxhistDeleteFromDays(DayChanges *changes, const ItemRange *ranges,
					  int nranges)
{
	int			ndays;
	PackedDay  *days =
		ZbxhistCopyPackedDays(ZbxhistGetPartitions(changes->parent), &ndays);
	uint64		deleted = 0;

	Assert(changes->nopen == 0);
	for (int i = 0; i < ndays; i++)
		deleted += DeleteFromDay(changes, &days[i], ranges, nranges);
	pfree(days);
	return deleted;
}

/*
 * ZbxhistEndDayChanges writes what has not been written yet; locks stay.
 */
void
ZbxhistEndDayChanges(DayChanges *changes)
{
	while (changes->nopen > 0)
		CloseDay(changes);
	table_close(changes->parent, NoLock);
	MemoryContextDelete(changes->context);
}
