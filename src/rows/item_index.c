/*-------------------------------------------------------------------------
 *
 * item_index.c
 *	  Walks a table item by item in its index (itemid, clock).
 *
 * No index of a Zabbix table begins with clock.  But there are few items
 * compared with rows, so what is asked of a range of clocks is asked of each
 * item in turn: one descent of the index finds the next item, another its
 * first or last row in the range (a loose index scan).
 *
 * Locks on the table are the caller's; the index is locked in ACCESS SHARE,
 * until the transaction ends.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/tableam.h"
#include "catalog/pg_am.h"
#include "catalog/pg_class.h"
#include "catalog/pg_opfamily.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "catalog/columns.h"
#include "catalog/privileges.h"
#include "compat.h"
#include "rows/index_next.h"
#include "rows/item_index.h"

PG_FUNCTION_INFO_V1(zbxhist_waiting_clock);
PG_FUNCTION_INFO_V1(zbxhist_has_own_rows);

/* what is asked of the rows of a range of clocks */
typedef enum ClockQuestion
{
	OLDEST_CLOCK,
	NEWEST_CLOCK,
	ANY_CLOCK					/* the first that is found */
} ClockQuestion;

typedef struct ClockSearch
{
	ClockQuestion question;
	int64		from_clock;		/* narrowed as the search goes on */
	int64		to_clock;
	bool		found;
	int64		result;
} ClockSearch;

/*
 * ZbxhistHasOrder says whether an index of all rows begins with two columns of
 * integers, in ascending order.
 */
bool
ZbxhistHasOrder(Relation index, AttrNumber first, AttrNumber second)
{
	Form_pg_index form = index->rd_index;

	if (index->rd_rel->relam != BTREE_AM_OID || !form->indisvalid ||
		form->indnkeyatts < 2 || form->indkey.values[0] != first ||
		form->indkey.values[1] != second || second == InvalidAttrNumber ||
		!heap_attisnull(index->rd_indextuple, Anum_pg_index_indpred, NULL))
		return false;
	for (int i = 0; i < 2; i++)
	{
		if (index->rd_opfamily[i] != INTEGER_BTREE_FAM_OID ||
			index->rd_indoption[i] != 0)
			return false;
	}
	return true;
}

/*
 * ZbxhistFindItemIndex opens an index of rel that begins with (itemid, clock),
 * of Zabbix's types; returns NULL if there is none.
 */
Relation
ZbxhistFindItemIndex(Relation rel)
{
	AttrNumber	itemid = get_attnum(RelationGetRelid(rel), "itemid");
	AttrNumber	clock = get_attnum(RelationGetRelid(rel), "clock");
	List	   *indexes = RelationGetIndexList(rel);
	ListCell   *lc;

	foreach(lc, indexes)
	{
		Relation	index = index_open(lfirst_oid(lc), AccessShareLock);

		/* of those types are what they are compared with */
		if (ZbxhistHasOrder(index, itemid, clock) &&
			index->rd_opcintype[0] == INT8OID &&
			index->rd_opcintype[1] == INT4OID)
			return index;
		index_close(index, AccessShareLock);
	}
	return NULL;
}

/*
 * ZbxhistNextItem finds the first item after *itemid, or the first of all when
 * is_first; returns false at the end.
 */
bool
ZbxhistNextItem(IndexScanDesc scan, TupleTableSlot *slot, bool is_first,
				int64 *itemid)
{
	ScanKeyData key;
	bool		isnull;
	AttrNumber	attnum = scan->indexRelation->rd_index->indkey.values[0];

	if (is_first)
		ScanKeyInit(&key, 1, BTGreaterEqualStrategyNumber, F_INT8GE,
					Int64GetDatum(PG_INT64_MIN));
	else
		ScanKeyInit(&key, 1, BTGreaterStrategyNumber, F_INT8GT,
					Int64GetDatum(*itemid));
	index_rescan(scan, &key, 1, NULL, 0);
	if (!index_next(scan, ForwardScanDirection, slot))
		return false;
	*itemid = DatumGetInt64(slot_getattr(slot, attnum, &isnull));
	return !isnull;
}

/*
 * ZbxhistInitItemKeys makes the ITEM_SCAN_KEYS keys of a scan for the rows of
 * an item with from_clock <= clock < to_clock.
 */
void
ZbxhistInitItemKeys(ScanKey keys, int64 itemid, int64 from_clock,
					int64 to_clock)
{
	ScanKeyInit(&keys[0], 1, BTEqualStrategyNumber, F_INT8EQ,
				Int64GetDatum(itemid));
	ScanKeyInit(&keys[1], 2, BTGreaterEqualStrategyNumber, F_INT48GE,
				Int64GetDatum(from_clock));
	ScanKeyInit(&keys[2], 2, BTLessStrategyNumber, F_INT48LT,
				Int64GetDatum(to_clock));
	keys[1].sk_subtype = INT8OID;
	keys[2].sk_subtype = INT8OID;
}

/* ---- outermost clocks ---- */

/*
 * NoteClock takes one row's clock into the search, after which only clocks
 * further out are of interest.
 */
static void
NoteClock(ClockSearch *search, int64 clock)
{
	if (clock < search->from_clock || clock >= search->to_clock)
		return;
	search->found = true;
	search->result = clock;
	if (search->question == NEWEST_CLOCK)
		search->from_clock = clock + 1;
	else
		search->to_clock = clock;
}

/*
 * IsDecided says whether no further row can change the answer.
 */
static bool
IsDecided(const ClockSearch *search)
{
	return search->from_clock >= search->to_clock ||
		(search->found && search->question == ANY_CLOCK);
}

/*
 * SearchItems asks each item in turn.
 */
static void
SearchItems(ClockSearch *search, Relation rel, Relation index)
{
	Snapshot	snapshot = GetActiveSnapshot();
	IndexScanDesc items = index_beginscan_compat(rel, index, snapshot, 1);
	IndexScanDesc rows = index_beginscan_compat(rel, index, snapshot,
												ITEM_SCAN_KEYS);
	TupleTableSlot *slot = table_slot_create(rel, NULL);
	AttrNumber	attnum = index->rd_index->indkey.values[1];
	ScanDirection direction = search->question == NEWEST_CLOCK ?
		BackwardScanDirection : ForwardScanDirection;
	int64		itemid = 0;
	bool		is_first = true;

	while (!IsDecided(search) &&
		   ZbxhistNextItem(items, slot, is_first, &itemid))
	{
		ScanKeyData keys[ITEM_SCAN_KEYS];
		bool		isnull;

		CHECK_FOR_INTERRUPTS();
		is_first = false;
		ZbxhistInitItemKeys(keys, itemid, search->from_clock,
							search->to_clock);
		index_rescan(rows, keys, ITEM_SCAN_KEYS, NULL, 0);
		if (index_next(rows, direction, slot))
			NoteClock(search, DatumGetInt32(slot_getattr(slot, attnum,
														 &isnull)));
	}
	ExecDropSingleTupleTableSlot(slot);
	index_endscan(rows);
	index_endscan(items);
}

/*
 * SearchTable reads all rows, for want of the index.
 */
static void
SearchTable(ClockSearch *search, Relation rel)
{
	TableScanDesc scan = table_beginscan_compat(rel, GetActiveSnapshot());
	TupleTableSlot *slot = table_slot_create(rel, NULL);
	AttrNumber	attnum = ZbxhistFindColumn(RelationGetDescr(rel), "clock",
										   INT4OID);

	while (!IsDecided(search) &&
		   table_scan_getnextslot(scan, ForwardScanDirection, slot))
	{
		bool		isnull = false;
		int64		clock = attnum == InvalidAttrNumber ? search->from_clock :
			DatumGetInt32(slot_getattr(slot, attnum, &isnull));

		CHECK_FOR_INTERRUPTS();
		if (!isnull)
			NoteClock(search, clock);
	}
	ExecDropSingleTupleTableSlot(slot);
	table_endscan(scan);
}

/*
 * CheckReadable raises an error unless the user may read all rows of rel,
 * which must have clocks if that is asked for.
 */
static void
CheckReadable(Relation rel, bool needs_clock)
{
	ZbxhistCheckPrivileges(rel, ACL_SELECT);
	if (rel->rd_rel->relkind != RELKIND_RELATION ||
		(needs_clock &&
		 ZbxhistFindColumn(RelationGetDescr(rel), "clock", INT4OID) == InvalidAttrNumber))
		ereport(ERROR,
				errcode(ERRCODE_WRONG_OBJECT_TYPE),
				errmsg("\"%s\" is not a table with a column \"clock\" of type integer",
					   RelationGetRelationName(rel)),
				errtable(rel));
}

/*
 * SearchClocks answers a question about the rows of the table relid alone.  Without
 * clocks, where they are not needed, any row will do.
 */
static void
SearchClocks(ClockSearch *search, Oid relid, bool needs_clock)
{
	Relation	rel = table_open(relid, AccessShareLock);
	Relation	index;

	CheckReadable(rel, needs_clock);
	index = ZbxhistFindItemIndex(rel);
	if (index != NULL)
	{
		SearchItems(search, rel, index);
		index_close(index, NoLock);
	}
	else
		SearchTable(search, rel);
	table_close(rel, NoLock);
}

/*
 * zbxhist_waiting_clock(parent, from_clock, to_clock, newest) returns the
 * newest or oldest clock, in seconds, from_clock <= clock < to_clock, among
 * the rows of the parent itself; null if there is none.
 */
Datum
zbxhist_waiting_clock(PG_FUNCTION_ARGS)
{
	ClockSearch search = {0};

	search.from_clock = PG_GETARG_INT64(1);
	search.to_clock = PG_GETARG_INT64(2);
	search.question = PG_GETARG_BOOL(3) ? NEWEST_CLOCK : OLDEST_CLOCK;
	SearchClocks(&search, PG_GETARG_OID(0), true);
	if (!search.found)
		PG_RETURN_NULL();
	PG_RETURN_INT64(search.result);
}

/*
 * zbxhist_has_own_rows(parent, since_clock) says whether the parent itself
 * holds a row, or one with clock >= since_clock.
 */
Datum
zbxhist_has_own_rows(PG_FUNCTION_ARGS)
{
	ClockSearch search = {0};

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	search.from_clock = PG_ARGISNULL(1) ? PG_INT32_MIN : PG_GETARG_INT64(1);
	search.to_clock = (int64) PG_INT32_MAX + 1;
	search.question = ANY_CLOCK;
	SearchClocks(&search, PG_GETARG_OID(0), !PG_ARGISNULL(1));
	PG_RETURN_BOOL(search.found);
}
