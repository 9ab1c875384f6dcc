/*-------------------------------------------------------------------------
 *
 * own_rows.c
 *	  Looks at the rows of a table alone without a query.
 *
 * To plan a query on a table is to run what its owner has put into the
 * expressions of its indexes and constraints.  Whoever looks at the state of
 * things, or maintains them, is not to do that; so rows are counted here.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/table.h"
#include "access/tableam.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "catalog/bounds.h"
#include "catalog/columns.h"
#include "catalog/owned_table.h"
#include "catalog/privileges.h"
#include "compat.h"
#include "result_row.h"
#include "rows/index_next.h"
#include "rows/item_index.h"

PG_FUNCTION_INFO_V1(zbxhist_count_own_rows);
PG_FUNCTION_INFO_V1(zbxhist_own_items);

/*
 * OpenReadable opens a plain table of which the user may read all rows.
 */
static Relation
OpenReadable(Oid relid)
{
	Relation	rel = ZbxhistOpenPlainTable(relid, AccessShareLock);

	ZbxhistCheckPrivileges(rel, ACL_SELECT);
	return rel;
}

/* ---- how many ---- */

/*
 * GetClockColumn returns the column of the clocks, which must be of Zabbix's
 * type.
 */
static AttrNumber
GetClockColumn(Relation rel)
{
	AttrNumber	clock = ZbxhistFindColumn(RelationGetDescr(rel), "clock",
										  INT4OID);

	if (clock == InvalidAttrNumber)
		ereport(ERROR,
				errcode(ERRCODE_WRONG_OBJECT_TYPE),
				errmsg("table \"%s\" has no column \"clock\" of type integer",
					   RelationGetRelationName(rel)),
				errtable(rel));
	return clock;
}

/*
 * CountOwnRows returns the number of rows, or of those with from_clock <= clock <
 * to_clock where there is a column of clocks.
 */
static int64
CountOwnRows(Relation rel, AttrNumber clock, int64 from_clock, int64 to_clock)
{
	TableScanDesc scan = table_beginscan_compat(rel, GetActiveSnapshot());
	TupleTableSlot *slot = table_slot_create(rel, NULL);
	int64		result = 0;

	while (table_scan_getnextslot(scan, ForwardScanDirection, slot))
	{
		bool		isnull = false;
		int64		value = clock == InvalidAttrNumber ? from_clock :
			DatumGetInt32(slot_getattr(slot, clock, &isnull));

		CHECK_FOR_INTERRUPTS();
		if (!isnull && value >= from_clock && value < to_clock)
			result++;
	}
	ExecDropSingleTupleTableSlot(slot);
	table_endscan(scan);
	return result;
}

/*
 * zbxhist_count_own_rows(relation, from_clock, to_clock) returns the number of
 * rows in the table itself with from_clock <= clock < to_clock, in seconds;
 * of all rows if both are null.
 */
Datum
zbxhist_count_own_rows(PG_FUNCTION_ARGS)
{
	bool		has_bounds = !PG_ARGISNULL(1) || !PG_ARGISNULL(2);
	Relation	rel;
	int64		result;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	rel = OpenReadable(PG_GETARG_OID(0));
	result = CountOwnRows(rel,
						  has_bounds ? GetClockColumn(rel) : InvalidAttrNumber,
						  PG_ARGISNULL(1) ? ZBXHIST_CLOCK_MIN : PG_GETARG_INT64(1),
						  PG_ARGISNULL(2) ? ZBXHIST_CLOCK_END : PG_GETARG_INT64(2));
	table_close(rel, NoLock);
	PG_RETURN_INT64(result);
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
	Relation	rel = OpenReadable(PG_GETARG_OID(0));
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
