/*-------------------------------------------------------------------------
 *
 * lookup.c
 *	  Keys of a parent's rows, looked for wherever else they may be.
 *
 * A row of the parent is in the parent itself, in the partition or packed day
 * that its clock has, or in another child: a table that somebody has attached,
 * a partition that has lost its bounds or overlaps another one, all partitions
 * of a parent whose column clock is not what it was.  Where a row is stored its
 * key is looked for by the index, or in the runs, there; everywhere else here,
 * when it is stored (key_look.c).
 *
 * What a partition that is being packed holds does not change meanwhile, so it
 * may be looked at in whatever way it is locked; when it is gone, its rows are
 * in a packed day, which a new partition set has.  So it does when a packed day
 * is gone: another one may have been written in its place.  While a day is being
 * unpacked, its rows are in the day or, for newer snapshots, in a partition that
 * nobody else writes to; a key that is neither in the one nor then in the other
 * is in none.
 *
 * Locks: ACCESS SHARE on what is looked at, until the transaction ends.
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

#include "catalog/partition_set.h"
#include "ingest/day_keys.h"
#include "ingest/key_number.h"
#include "ingest/lookup.h"
#include "ingest/table_keys.h"
#include "rows/item_range.h"
#include "rows/stray.h"
#include "rows/work_lock.h"

/* between two looks whether maintenance has ended, in milliseconds */
#define LOCK_PAUSE 1

/* ---- locks ---- */

/*
 * LockForLookup locks a table so that keys can be looked up in it.  A session
 * that has it ACCESS EXCLUSIVE is waited for, as by any INSERT into a plain
 * table; maintenance, which gives up soon itself, whatever lock_timeout is.
 * One that only keeps writers out, such as CREATE INDEX, is not in the way;
 * REINDEX is waited for when the indexes are opened.
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
 * ZbxhistLockForInsert locks a table so that rows can be stored in it.  Returns
 * false if somebody keeps writers out, but not readers: then keys can be looked
 * up in it.
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

/* a table that may have rows of the parent, or its packed day */
typedef struct Place
{
	Oid			relid;
	bool		is_day;
	PackedDay	day;			/* if it is one */
	int64		to_clock;
} Place;

/*
 * OpenPlace locks and opens a place; returns NULL if there is no such table any
 * more, or it has no rows.
 */
static KeyHolder *
OpenPlace(Relation parent, const Place *place, const KeyRows *rows,
		  bool *is_gone)
{
	Relation	rel;

	LockForLookup(place->relid);
	rel = try_table_open(place->relid, NoLock);
	*is_gone = rel == NULL;
	if (rel == NULL)
		return NULL;
	if (place->is_day)
		return ZbxhistOpenDayKeys(rel, parent, place->day.has_runs, rows);
	if (rel->rd_rel->relkind == RELKIND_RELATION)
		return ZbxhistOpenTableKeys(rel, parent, rows);
	table_close(rel, NoLock);
	return NULL;
}

/*
 * ClosePlace closes it; the lock stays.
 */
static void
ClosePlace(KeyHolder *place)
{
	Relation	rel = place->rel;

	place->close(place);
	table_close(rel, NoLock);
}

/*
 * FindIn says whether the key of one of the rows is in a place; is_gone is set
 * if there is no such table any more.
 */
static bool
FindIn(Relation parent, const Place *place, const KeyRows *rows,
	   FoundKey *found, bool *is_gone)
{
	KeyHolder  *opened = OpenPlace(parent, place, rows, is_gone);
	Place		partition = {.relid = place->day.partition};
	bool		ignored;
	bool		result = false;

	if (opened != NULL)
	{
		result = ZbxhistFindKeys(opened, found);
		ClosePlace(opened);
	}
	if (result || !place->is_day || !OidIsValid(partition.relid) ||
		partition.relid == RelationGetRelid(parent))
		return result;
	return FindIn(parent, &partition, rows, found, &ignored);
}

/*
 * RaiseTaken raises the unique violation for a row whose key was found.
 */
static void
RaiseTaken(TupleDesc desc, HeapTuple row, const FoundKey *found)
{
	TupleTableSlot *slot = MakeSingleTupleTableSlot(desc, &TTSOpsHeapTuple);

	ExecStoreHeapTuple(row, slot, false);
	ZbxhistRaiseKeyTaken(found, slot);
}

/*
 * ZbxhistCheckParent raises 23505 if a row's key is in the parent itself.
 */
void
ZbxhistCheckParent(Relation parent, const KeyRows *rows)
{
	KeyHolder  *place = ZbxhistOpenTableKeys(parent, parent, rows);
	FoundKey	found;

	if (ZbxhistFindKeys(place, &found))
		RaiseTaken(rows->desc, rows->tuples[found.row], &found);
	place->close(place);
}

/*
 * ZbxhistCheckPartition raises 23505 if a row's key is in a partition.  Returns
 * false if there is no such table any more.
 */
bool
ZbxhistCheckPartition(Relation parent, Oid partition, const KeyRows *rows)
{
	Place		place = {.relid = partition};
	FoundKey	found;
	bool		is_gone;

	if (FindIn(parent, &place, rows, &found, &is_gone))
		RaiseTaken(rows->desc, rows->tuples[found.row], &found);
	return !is_gone;
}

/* ---- other children ---- */

/*
 * IsOfPackedDay says whether a child is a partition that a packed day is being
 * unpacked to: its rows are found with the day.
 */
static bool
IsOfPackedDay(const PartitionSet *set, Oid child)
{
	for (int i = 0; i < set->npacked_days; i++)
	{
		if (set->packed_days[i].partition == child)
			return true;
	}
	return false;
}

/*
 * ListOthers returns the children that are no partitions and may have rows of
 * their own.
 */
static List *
ListOthers(const PartitionSet *set)
{
	List	   *result = NIL;

	for (int i = 0; i < set->nothers; i++)
	{
		if (!IsOfPackedDay(set, set->others[i]))
			result = lappend_oid(result, set->others[i]);
	}
	return result;
}

/*
 * FindInOthers says whether the key of one of the rows is in another child.
 */
static bool
FindInOthers(Relation parent, const KeyRows *rows, FoundKey *found)
{
	ListCell   *lc;

	foreach(lc, ListOthers(ZbxhistGetPartitionSet(parent)))
	{
		Place		place = {.relid = lfirst_oid(lc)};
		bool		ignored;

		if (FindIn(parent, &place, rows, found, &ignored))
			return true;
	}
	return false;
}

/*
 * ZbxhistCheckOthers raises 23505 if a row's key is in another child.
 */
void
ZbxhistCheckOthers(Relation parent, const KeyRows *rows)
{
	FoundKey	found;

	if (FindInOthers(parent, rows, &found))
		RaiseTaken(rows->desc, rows->tuples[found.row], &found);
}

/* ---- by the rows' clocks ---- */

/* a row with a place that may have its key */
typedef struct PlacedRow
{
	int32		clock;
	int			number;			/* keeps those of a clock in order */
	HeapTuple	tuple;
} PlacedRow;

/*
 * FindClockPlace finds the partition or packed day that a clock has by now; returns
 * false if it has none.
 */
static bool
FindClockPlace(const PartitionSet *set, int32 clock, Place *place)
{
	const PartitionBounds *partition = ZbxhistFindPartition(set, clock);
	const PackedDay *day = partition != NULL ? NULL :
		ZbxhistFindPackedDay(set, clock);

	memset(place, 0, sizeof(Place));
	if (partition != NULL)
	{
		place->relid = partition->relid;
		place->to_clock = partition->to_clock;
	}
	else if (day != NULL)
	{
		place->relid = day->relid;
		place->is_day = true;
		place->day = *day;
		place->to_clock = day->to_clock;
	}
	return OidIsValid(place->relid);
}

/*
 * compare_placed_rows orders rows by clock.
 */
static int
compare_placed_rows(const void *a, const void *b)
{
	const PlacedRow *left = a;
	const PlacedRow *right = b;

	return compare_places(left->clock, left->number, right->clock,
						  right->number);
}

/*
 * PlaceRows fills in those of the rows that have a place, in the order of their
 * clocks; returns their number.
 */
static int
PlaceRows(const PartitionSet *set, const KeyRows *rows, PlacedRow *placed)
{
	TupleTableSlot *slot = MakeSingleTupleTableSlot(rows->desc,
													&TTSOpsHeapTuple);
	Place		place;
	int			n = 0;

	for (int i = 0; i < rows->ntuples; i++)
	{
		ExecStoreHeapTuple(rows->tuples[i], slot, false);
		if (!ZbxhistGetKeyClock(set, slot, &placed[n].clock) ||
			!FindClockPlace(set, placed[n].clock, &place))
			continue;
		placed[n].number = n;
		placed[n++].tuple = rows->tuples[i];
	}
	ExecDropSingleTupleTableSlot(slot);
	qsort(placed, n, sizeof(PlacedRow), compare_placed_rows);
	return n;
}

/*
 * FindPlaced says whether the key of one of the first of some rows, those of one
 * place, is there by now, and sets nlooked to how many these are, or 0 if the
 * place has become another one.  If has_strays is not NULL, the rows are in the parent,
 * and others are told of those that may be strays.
 */
static bool
FindPlaced(Relation parent, TupleDesc desc, const PlacedRow *placed, int nplaced,
		   bool *has_strays, FoundKey *found, Place *place, int *nlooked)
{
	const PartitionSet *set = ZbxhistGetPartitionSet(parent);
	KeyRows		rows = {.desc = desc};
	bool		is_gone;
	bool		result;

	*nlooked = 1;
	if (!FindClockPlace(set, placed[0].clock, place))
		return false;
	/* it may be a new partition, or a day that will have one */
	if (has_strays != NULL && (!place->is_day || place->day.has_runs ||
							   OidIsValid(place->day.partition)))
		ZbxhistNoteStrayOnce(parent, has_strays);
	rows.tuples = palloc(sizeof(HeapTuple) * nplaced);
	for (int i = 0; i < nplaced && placed[i].clock < place->to_clock; i++)
		rows.tuples[rows.ntuples++] = placed[i].tuple;
	result = FindIn(parent, place, &rows, found, &is_gone);
	pfree(rows.tuples);
	*nlooked = is_gone && !ZbxhistPartitionSetIsValid(set) ? 0 : rows.ntuples;
	return result;
}

/*
 * FindByClocks says whether the key of one of the rows is in the partition or
 * packed day that its clock has by now, and sets relid to that and row to the
 * row.  Either may be changed for the other meanwhile; then its successor is
 * looked at.
 */
static bool
FindByClocks(Relation parent, const KeyRows *rows, bool *has_strays,
			 FoundKey *found, Oid *relid, HeapTuple *row)
{
	PlacedRow  *placed = palloc(sizeof(PlacedRow) * rows->ntuples);
	int			nplaced = PlaceRows(ZbxhistGetPartitionSet(parent), rows,
									placed);
	bool		result = false;
	int			nlooked;

	for (int i = 0; i < nplaced && !result; i += nlooked)
	{
		Place		place;

		CHECK_FOR_INTERRUPTS();
		result = FindPlaced(parent, rows->desc, &placed[i], nplaced - i,
							has_strays, found, &place, &nlooked);
		*relid = place.relid;
		if (result)
			*row = placed[i + found->row].tuple;
	}
	pfree(placed);
	return result;
}

/*
 * ZbxhistCheckKeptRows raises 23505 if the key of one of the rows, which are in
 * the parent by now, is in a partition or packed day too: those there were and
 * those made meanwhile, which a session that inserts the same key may already
 * use.  *has_strays says whether the statement has told other sessions of
 * strays, as it does here if some are.
 */
void
ZbxhistCheckKeptRows(Relation parent, const KeyRows *rows, bool *has_strays)
{
	FoundKey	found;
	Oid			relid;
	HeapTuple	row;

	AcceptInvalidationMessages();
	if (FindByClocks(parent, rows, has_strays, &found, &relid, &row))
		RaiseTaken(rows->desc, row, &found);
}

/*
 * ZbxhistKeyIsElsewhere says whether a row's key is in its partition or packed
 * day, and sets relid to that, or in another child.
 */
bool
ZbxhistKeyIsElsewhere(Relation parent, const KeyRows *row, Oid *relid)
{
	FoundKey	found;
	HeapTuple	tuple;

	if (FindByClocks(parent, row, NULL, &found, relid, &tuple))
		return true;
	*relid = InvalidOid;
	return FindInOthers(parent, row, &found);
}

/* ---- what a snapshot sees ---- */

/*
 * At REPEATABLE READ and SERIALIZABLE, ON CONFLICT DO NOTHING must not pass over
 * a row because of one that the transaction does not see: it would act upon
 * what has been committed since.  The executor raises 40001 then (see
 * ExecCheckTupleVisible() in executor/nodeModifyTable.c); so do we for the rows
 * that it does not know.
 *
 * Rows do not stay in one place: maintenance moves, packs and merges them.  So it
 * is not asked whether the very row is seen that has the key now, but any with
 * that key, wherever it has been.  A row that was updated since is seen
 * as it was, and passed over.
 */

/*
 * IsSeenIn says whether a snapshot sees a key of the row in a place.
 */
static bool
IsSeenIn(Relation parent, const Place *place, const KeyRows *row,
		 Snapshot snapshot)
{
	bool		is_gone;
	KeyHolder  *opened = OpenPlace(parent, place, row, &is_gone);
	FoundKey	found = {.row = 0};
	bool		result;

	if (opened == NULL)
		return false;
	result = opened->look(opened, snapshot, &found) != KEY_FREE;
	ClosePlace(opened);
	return result;
}

/*
 * IsKeySeen says whether a snapshot sees a row with a key of the row's.
 */
static bool
IsKeySeen(Relation parent, const KeyRows *row, Snapshot snapshot)
{
	const PartitionSet *set = ZbxhistGetPartitionSet(parent);
	List	   *tables = lcons_oid(RelationGetRelid(parent), ListOthers(set));
	PlacedRow	placed;
	Place		place = {.relid = InvalidOid};
	ListCell   *lc;

	if (PlaceRows(set, row, &placed) > 0)
		(void) FindClockPlace(set, placed.clock, &place);
	if (OidIsValid(place.day.partition))
		tables = lappend_oid(tables, place.day.partition);
	foreach(lc, tables)
	{
		Place		table = {.relid = lfirst_oid(lc)};

		if (IsSeenIn(parent, &table, row, snapshot))
			return true;
	}
	return OidIsValid(place.relid) && IsSeenIn(parent, &place, row, snapshot);
}

/*
 * ZbxhistRequireSeenKey raises 40001 unless the transaction's snapshot sees a row
 * of the parent with a key of the row's, as it does all that the transaction
 * itself has stored, in this very command too.
 */
void
ZbxhistRequireSeenKey(Relation parent, const KeyRows *row)
{
	Snapshot	snapshot;

	PushCopiedSnapshot(GetTransactionSnapshot());
	snapshot = GetActiveSnapshot();
	snapshot->curcid = GetCurrentCommandId(false) + 1;
	if (!IsKeySeen(parent, row, snapshot))
		ereport(ERROR,
				errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				errmsg("could not serialize access due to concurrent update"));
	PopActiveSnapshot();
}
