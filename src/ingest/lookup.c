/*-------------------------------------------------------------------------
 *
 * lookup.c
 *	  Looks for keys of a parent's rows in all places where they are not stored.
 *
 * A row of the parent is in the parent itself, in the partition or packed day that its
 * clock has, or in another child: a table that somebody has attached, a partition that
 * has lost its bounds or overlaps another one, all partitions of a parent whose column
 * clock is not what it was.  The index of the table where a row is stored checks its key
 * there.  All other places are searched here, when the row is stored (key_look.c).
 *
 * The rows of a partition that is being packed do not change, so it can be searched
 * although it is locked.  If it has been dropped, its rows are in a packed day, which the
 * rebuilt partition set has.  If a packed day has been dropped, the set may likewise have
 * another one in its place.  While a day is being unpacked, its rows are in the day or,
 * for newer snapshots, in a partition to which nobody else writes.  So the day is
 * searched first, and then the partition.
 *
 * Locks: ACCESS SHARE on the tables that are searched, until the transaction ends.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "access/xact.h"
#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "storage/latch.h"
#include "storage/lmgr.h"
#include "utils/inval.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/wait_event.h"

#include "ingest/day_keys.h"
#include "ingest/key_number.h"
#include "ingest/lookup.h"
#include "ingest/table_keys.h"
#include "tables/partition_set.h"
#include "tables/stray.h"
#include "tables/work_lock.h"

/* milliseconds between two checks whether maintenance has ended */
#define LOCK_PAUSE 1

/* ---- locks ---- */

/*
 * LockForLookup locks a table so that keys can be looked up in it.  It waits for a
 * session that has locked the table ACCESS EXCLUSIVE, as an INSERT into a plain table
 * does.  For maintenance, which ends soon, it waits regardless of lock_timeout.  A lock
 * that only excludes writers, such as that of CREATE INDEX, does not conflict; REINDEX is
 * waited for when the indexes are opened.
 */
static void
LockForLookup(Oid relid)
{
	while (!ConditionalLockRelationOid(relid, AccessShareLock))
	{
		CHECK_FOR_INTERRUPTS();
		if (!ZbxhistIsWorkedOn(relid))
		{
			LockRelationOid(relid, AccessShareLock);
			return;
		}
		(void) WaitLatch(MyLatch,
						 WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
						 LOCK_PAUSE, PG_WAIT_EXTENSION);
		ResetLatch(MyLatch);
	}
}

/*
 * ZbxhistLockForInsert locks a table so that rows can be stored in it.  Returns false if
 * a session has locked out writers but not readers: then keys can still be looked up in
 * it.
 */
bool
ZbxhistLockForInsert(Oid relid)
{
	if (ConditionalLockRelationOid(relid, RowExclusiveLock))
		return true;
	LockForLookup(relid);
	return ConditionalLockRelationOid(relid, RowExclusiveLock);
}

/* ---- places ---- */

/*
 * ZbxhistFindClockPlace finds the partition or packed day that a clock has by now;
 * returns false if it has none.
 */
bool
ZbxhistFindClockPlace(const PartitionSet *set, int32 clock, ClockPlace *place)
{
	const PartitionBounds *partition = ZbxhistFindPartition(set, clock);
	const PackedDay *day = partition != NULL || set->npacked_days == 0 ? NULL :
		ZbxhistFindPackedDay(set, clock);

	memset(place, 0, sizeof(ClockPlace));
	if (partition != NULL)
	{
		place->relid = partition->relid;
		place->from_clock = partition->from_clock;
		place->to_clock = partition->to_clock;
	}
	else if (day != NULL)
	{
		place->relid = day->relid;
		place->is_day = true;
		place->partition = day->partition;
		place->from_clock = day->from_clock;
		place->to_clock = day->to_clock;
	}
	return OidIsValid(place->relid);
}

/* keys that are looked for */
typedef struct Lookup
{
	Relation	parent;
	const KeyRows *rows;
	bool	   *has_strays;		/* if the rows are in the parent, whether
								 * strays were marked; or NULL */
	FoundKey	found;
	HeapTuple	tuple;			/* whose key is found */
} Lookup;

/*
 * FindIn says whether the key of one of the rows is in a place, or in the partition to
 * which it is being unpacked.  Sets is_gone if the table has been dropped.  The locks
 * stay.
 */
static bool
FindIn(Lookup *lookup, const ClockPlace *place, const KeyRows *rows, bool *is_gone)
{
	ClockPlace	partition = {.relid = place->partition};
	KeyHolder  *opened = NULL;
	Relation	rel;
	bool		ignored;
	bool		result = false;

	LockForLookup(place->relid);
	rel = try_table_open(place->relid, NoLock);
	*is_gone = rel == NULL;
	if (rel != NULL && place->is_day)
		opened = ZbxhistOpenDayKeys(rel, lookup->parent, rows);
	else if (rel != NULL && rel->rd_rel->relkind == RELKIND_RELATION)
		opened = ZbxhistOpenTableKeys(rel, lookup->parent, rows);
	if (opened != NULL)
	{
		result = ZbxhistFindKeys(opened, &lookup->found);
		opened->close(opened);
		if (result)
			lookup->tuple = rows->tuples[lookup->found.row];
	}
	if (rel != NULL)
		table_close(rel, NoLock);
	return result ||
		(OidIsValid(partition.relid) &&
		 partition.relid != RelationGetRelid(lookup->parent) &&
		 FindIn(lookup, &partition, rows, &ignored));
}

/*
 * FindInTables says whether the key of one of the rows is in one of some tables.
 */
static bool
FindInTables(Lookup *lookup, const List *tables)
{
	ListCell   *lc;

	foreach(lc, tables)
	{
		ClockPlace	place = {.relid = lfirst_oid(lc)};
		bool		ignored;

		if (FindIn(lookup, &place, lookup->rows, &ignored))
			return true;
	}
	return false;
}

/* ---- by the rows' clocks ---- */

/*
 * TakePlacedRows takes from the remaining rows the first one that has a place, with all
 * others of that place, and drops those that have none.
 */
static void
TakePlacedRows(const PartitionSet *set, KeyRows *left, KeyRows *placed,
			   ClockPlace *place)
{
	TupleTableSlot *slot = MakeSingleTupleTableSlot(left->desc,
													&TTSOpsHeapTuple);
	int			nleft = 0;

	placed->ntuples = 0;
	for (int i = 0; i < left->ntuples; i++)
	{
		int32		clock;

		ExecStoreHeapTuple(left->tuples[i], slot, false);
		if (!ZbxhistGetKeyClock(set, slot, &clock) ||
			(placed->ntuples == 0 && !ZbxhistFindClockPlace(set, clock, place)))
			continue;
		if (clock >= place->from_clock && clock < place->to_clock)
			placed->tuples[placed->ntuples++] = left->tuples[i];
		else
			left->tuples[nleft++] = left->tuples[i];
	}
	left->ntuples = nleft;
	ExecDropSingleTupleTableSlot(slot);
}

/*
 * FindByClocks says whether the key of one of the rows is in the present partition or
 * packed day of its clock, and sets relid to that.  If a partition or day is replaced
 * meanwhile, its successor is searched.
 */
static bool
FindByClocks(Lookup *lookup, Oid *relid)
{
	Size		size = sizeof(HeapTuple) * lookup->rows->ntuples;
	KeyRows		left = *lookup->rows;
	KeyRows		placed = left;
	bool		result = false;

	left.tuples = memcpy(palloc(size), left.tuples, size);
	placed.tuples = palloc(size);
	while (left.ntuples > 0 && !result)
	{
		const PartitionSet *set = ZbxhistGetPartitionSet(lookup->parent);
		ClockPlace	place;
		bool		is_gone;

		CHECK_FOR_INTERRUPTS();
		TakePlacedRows(set, &left, &placed, &place);
		if (placed.ntuples == 0)
			break;
		/* it may be a new partition, or a day that is being unpacked */
		if (lookup->has_strays != NULL &&
			(!place.is_day || OidIsValid(place.partition)))
			ZbxhistNoteStrayOnce(lookup->parent, lookup->has_strays);
		result = FindIn(lookup, &place, &placed, &is_gone);
		*relid = place.relid;
		if (!is_gone || ZbxhistPartitionSetIsValid(set))
			continue;
		memcpy(&left.tuples[left.ntuples], placed.tuples,
			   sizeof(HeapTuple) * placed.ntuples);
		left.ntuples += placed.ntuples;
	}
	pfree(left.tuples);
	pfree(placed.tuples);
	return result;
}

/* ---- looking ---- */

/*
 * FindInOthers says whether the key of one of the rows is in another child: one that is
 * no partition and may have rows of its own.  A table to which a packed day is being
 * unpacked is not one of them: its rows are found with the day.
 */
static bool
FindInOthers(Lookup *lookup)
{
	const PartitionSet *set = ZbxhistGetPartitionSet(lookup->parent);
	List	   *others = NIL;

	for (int i = 0; i < set->nothers; i++)
		others = lappend_oid(others, set->others[i]);
	for (int i = 0; i < set->npacked_days; i++)
		others = list_delete_oid(others, set->packed_days[i].partition);
	return FindInTables(lookup, others);
}

/*
 * ZbxhistCheckKeys raises 23505 if the key of one of the rows, which have been stored, is
 * also in another place.  The keys of rows in a partition are looked for in the parent.
 * The keys of rows in the parent, for which has_strays is given, are looked for in
 * partitions and packed days, also in those made meanwhile, which a session that inserts
 * the same key may already use. *has_strays says whether the statement has noted that it
 * stores strays; if it has not, and some of the rows are, it is done here.
 */
void
ZbxhistCheckKeys(Relation parent, const KeyRows *rows, bool *has_strays)
{
	Lookup		lookup = {.parent = parent,.rows = rows,.has_strays = has_strays};
	bool		is_taken;
	Oid			ignored;

	if (has_strays != NULL)
	{
		AcceptInvalidationMessages();
		is_taken = FindByClocks(&lookup, &ignored);
	}
	else
		is_taken = FindInTables(&lookup,
								list_make1_oid(RelationGetRelid(parent)));
	if (is_taken || FindInOthers(&lookup))
	{
		TupleTableSlot *slot = MakeSingleTupleTableSlot(rows->desc,
														&TTSOpsHeapTuple);

		ExecStoreHeapTuple(lookup.tuple, slot, false);
		ZbxhistRaiseKeyTaken(&lookup.found, slot);
	}
}

/*
 * ZbxhistKeyIsElsewhere says whether a row's key is in its partition or packed
 * day, and sets relid to that, or in another child.
 */
bool
ZbxhistKeyIsElsewhere(Relation parent, const KeyRows *row, Oid *relid)
{
	Lookup		lookup = {.parent = parent,.rows = row};

	if (FindByClocks(&lookup, relid))
		return true;
	*relid = InvalidOid;
	return FindInOthers(&lookup);
}
