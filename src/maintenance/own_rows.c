/*-------------------------------------------------------------------------
 *
 * own_rows.c
 *	  Looks at the rows of a table alone without a query.
 *
 * To plan a query on a table is to run what its owner has put into the
 * expressions of its indexes and constraints.  Whoever looks at the state of
 * things, or maintains them, is not to do that; so rows are counted and found here,
 * clocks where it can be by an index, see rows/item_index.c.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/table.h"
#include "access/tableam.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "catalog/bounds.h"
#include "catalog/columns.h"
#include "catalog/owned_table.h"
#include "compat.h"
#include "result_row.h"
#include "rows/index_next.h"
#include "rows/item_index.h"

PG_FUNCTION_INFO_V1(zbxhist_count_own_rows);
PG_FUNCTION_INFO_V1(zbxhist_has_own_rows);
PG_FUNCTION_INFO_V1(zbxhist_own_items);
PG_FUNCTION_INFO_V1(zbxhist_waiting_clock);

/* what is asked of the rows of a range of clocks */
typedef enum ClockQuestion
{
	OLDEST_CLOCK,
	NEWEST_CLOCK,
	ANY_CLOCK,					/* the first that is found */
	COUNT_CLOCKS
} ClockQuestion;

typedef struct ClockSearch
{
	ClockQuestion question;
	bool		has_bounds;		/* false: rows without a clock count, too */
	int64		from_clock;		/* narrowed as the search goes on */
	int64		to_clock;
	int64		count;			/* of rows that have been found */
	int64		result;			/* clock of the last one */
} ClockSearch;

/*
 * OpenReadable opens a plain table of which the user may read all rows, and
 * which must have clocks of Zabbix's type if needs_clock.
 */
static Relation
OpenReadable(Oid relid, bool needs_clock)
{
	Relation	rel = ZbxhistOpenPlainTable(relid, AccessShareLock);

	ZbxhistCheckPrivileges(rel, ACL_SELECT);
	if (needs_clock && ZbxhistFindColumn(RelationGetDescr(rel), "clock",
										 INT4OID) == InvalidAttrNumber)
		ereport(ERROR,
				errcode(ERRCODE_WRONG_OBJECT_TYPE),
				errmsg("table \"%s\" has no column \"clock\" of type integer",
					   RelationGetRelationName(rel)),
				errtable(rel));
	return rel;
}

/* ---- clocks ---- */

/*
 * NoteClock takes one row's clock into the search, after which, where the oldest or
 * newest is asked for, only clocks further out are of interest.
 */
static void
NoteClock(ClockSearch *search, int64 clock)
{
	if (clock < search->from_clock || clock >= search->to_clock)
		return;
	search->count++;
	search->result = clock;
	if (search->question == NEWEST_CLOCK)
		search->from_clock = clock + 1;
	else if (search->question == OLDEST_CLOCK)
		search->to_clock = clock;
}

/*
 * IsDecided says whether no further row can change the answer.
 */
static bool
IsDecided(const ClockSearch *search)
{
	return search->from_clock >= search->to_clock ||
		(search->count > 0 && search->question == ANY_CLOCK);
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
 * SearchTable reads all rows.
 */
static void
SearchTable(ClockSearch *search, Relation rel)
{
	TableScanDesc scan = table_beginscan_compat(rel, GetActiveSnapshot());
	TupleTableSlot *slot = table_slot_create(rel, NULL);
	AttrNumber	attnum = search->has_bounds ?
		ZbxhistFindColumn(RelationGetDescr(rel), "clock", INT4OID) :
		InvalidAttrNumber;

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
 * SearchClocks answers a question about the rows of the table relid alone.
 */
static void
SearchClocks(ClockSearch *search, Oid relid)
{
	Relation	rel = OpenReadable(relid, search->has_bounds);
	Relation	index = search->question == COUNT_CLOCKS ? NULL :
		ZbxhistFindItemIndex(rel);

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
	ClockSearch search = {
		.question = PG_GETARG_BOOL(3) ? NEWEST_CLOCK : OLDEST_CLOCK,
		.has_bounds = true,
		.from_clock = PG_GETARG_INT64(1),
		.to_clock = PG_GETARG_INT64(2)
	};

	SearchClocks(&search, PG_GETARG_OID(0));
	if (search.count == 0)
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
	ClockSearch search = {
		.question = ANY_CLOCK,
		.has_bounds = !PG_ARGISNULL(1),
		.from_clock = PG_ARGISNULL(1) ? ZBXHIST_CLOCK_MIN : PG_GETARG_INT64(1),
		.to_clock = ZBXHIST_CLOCK_END
	};

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	SearchClocks(&search, PG_GETARG_OID(0));
	PG_RETURN_BOOL(search.count > 0);
}

/*
 * zbxhist_count_own_rows(relation, from_clock, to_clock) returns the number of
 * rows in the table itself with from_clock <= clock < to_clock, in seconds;
 * of all rows if both are null.
 */
Datum
zbxhist_count_own_rows(PG_FUNCTION_ARGS)
{
	ClockSearch search = {
		.question = COUNT_CLOCKS,
		.has_bounds = !PG_ARGISNULL(1) || !PG_ARGISNULL(2),
		.from_clock = PG_ARGISNULL(1) ? ZBXHIST_CLOCK_MIN : PG_GETARG_INT64(1),
		.to_clock = PG_ARGISNULL(2) ? ZBXHIST_CLOCK_END : PG_GETARG_INT64(2)
	};

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	SearchClocks(&search, PG_GETARG_OID(0));
	PG_RETURN_INT64(search.count);
}

/* ---- of which items ---- */

/*
 * GetOutermostItem sets itemid to the first or last one in an index; returns
 * false if there are no rows.
 */
static bool
GetOutermostItem(Relation rel, Relation index, ScanDirection direction,
				 int64 *itemid)
{
	IndexScanDesc scan = index_beginscan_compat(rel, index,
												GetActiveSnapshot(), 0);
	TupleTableSlot *slot = table_slot_create(rel, NULL);
	AttrNumber	attnum = index->rd_index->indkey.values[0];
	bool		isnull = true;

	index_rescan(scan, NULL, 0, NULL, 0);
	/* nulls are the last */
	while (isnull && index_next(scan, direction, slot))
	{
		CHECK_FOR_INTERRUPTS();
		*itemid = DatumGetInt64(slot_getattr(slot, attnum, &isnull));
	}
	ExecDropSingleTupleTableSlot(slot);
	index_endscan(scan);
	return !isnull;
}

/*
 * zbxhist_own_items(relation) returns the first and the last item of which the
 * table itself has rows; nulls if there are none, or no index that says it.
 */
Datum
zbxhist_own_items(PG_FUNCTION_ARGS)
{
	Relation	rel = OpenReadable(PG_GETARG_OID(0), false);
	Relation	index = ZbxhistFindItemIndex(rel);
	int64		items[2] = {0};
	Datum		values[2];
	bool		nulls[2] = {true, true};

	if (index != NULL)
	{
		nulls[0] = !GetOutermostItem(rel, index, ForwardScanDirection,
									 &items[0]);
		nulls[1] = !GetOutermostItem(rel, index, BackwardScanDirection,
									 &items[1]);
		index_close(index, NoLock);
	}
	table_close(rel, NoLock);
	values[0] = Int64GetDatum(items[0]);
	values[1] = Int64GetDatum(items[1]);
	return result_row(fcinfo, values, nulls);
}
