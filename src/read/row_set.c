/*-------------------------------------------------------------------------
 *
 * row_set.c
 *	  SQL functions that return rows of items: range, nearest, minimum_time and last_values.
 *
 * Rows go straight to the executor's tuplestore.  With several items each is
 * searched from the newest partition backwards until it has its rows; the
 * partitions' indexes stay open from one item to the next.
 *
 * Locks: ACCESS SHARE on the parent and on each partition that is read, until
 * the transaction ends.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "storage/lockdefs.h"
#include "utils/array.h"
#include "utils/snapmgr.h"
#include "utils/tuplestore.h"

#include "packed/scan_bounds.h"
#include "read/parent.h"
#include "read/reader.h"
#include "read/row_set.h"

PG_FUNCTION_INFO_V1(zbxhist_range);
PG_FUNCTION_INFO_V1(zbxhist_nearest);
PG_FUNCTION_INFO_V1(zbxhist_minimum_time);
PG_FUNCTION_INFO_V1(zbxhist_last_values);

/* ---- rows of ranges ---- */

/*
 * ZbxhistOpenRowSet opens the parent relid, which the user must be allowed to
 * read, for up to max_rows rows of each range.  ranges must stay.
 */
void
ZbxhistOpenRowSet(RowSet *set, Oid relid, const ItemRange *ranges, int nranges,
				  uint64 max_rows)
{
	ItemReaderSpec spec = {.keeps_sources = nranges > 1};

	set->parent = ZbxhistOpenParent(relid, AccessShareLock, ACL_SELECT);
	set->snapshot = RegisterSnapshot(GetActiveSnapshot());
	set->reader = ZbxhistOpenReader(set->parent, set->snapshot, &spec);
	set->ranges = ranges;
	set->nranges = max_rows > 0 ? nranges : 0;
	set->next_range = 0;
	set->max_rows = max_rows;
	set->rows_left = 0;
}

/*
 * ZbxhistNextRange begins with the next range; returns false if there is none.
 * ZbxhistNextRow calls it at the end of a range.
 */
bool
ZbxhistNextRange(RowSet *set)
{
	CHECK_FOR_INTERRUPTS();
	if (set->next_range == set->nranges)
		return false;
	ZbxhistReadItem(set->reader, &set->ranges[set->next_range++]);
	set->rows_left = set->max_rows;
	return true;
}

/*
 * ZbxhistNextRow goes to the next row; returns false if there is none.
 */
bool
ZbxhistNextRow(RowSet *set)
{
	for (;;)
	{
		if (set->rows_left > 0 && ZbxhistReadNext(set->reader))
		{
			set->rows_left--;
			return true;
		}
		set->rows_left = 0;
		if (!ZbxhistNextRange(set))
			return false;
	}
}

/*
 * ZbxhistCloseRowSet closes everything; locks stay.
 */
void
ZbxhistCloseRowSet(RowSet *set)
{
	ZbxhistCloseReader(set->reader);
	UnregisterSnapshot(set->snapshot);
	table_close(set->parent, NoLock);
}

/*
 * ReturnRows returns up to max_rows rows of each range, of the parent
 * whose row type is the first argument.
 */
static Datum
ReturnRows(FunctionCallInfo fcinfo, const ItemRange *ranges, int nranges,
		   uint64 max_rows)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	Oid			parent = ZbxhistRowTypeParent(fcinfo);
	RowSet		set;

	InitMaterializedSRF(fcinfo, 0);
	ZbxhistOpenRowSet(&set, parent, ranges, nranges, max_rows);
	while (ZbxhistNextRow(&set))
		tuplestore_puttupleslot(rsinfo->setResult,
								ZbxhistReadSlot(set.reader));
	ZbxhistCloseRowSet(&set);
	return (Datum) 0;
}

/* ---- range ---- */

/*
 * zbxhist_range(row type, itemid, from_clock, to_clock, sort, max_rows, from_ns, to_ns)
 * returns the rows of an item from one moment, included, to another, excluded.  A null
 * moment or item gives no rows, as in SQL.
 */
Datum
zbxhist_range(PG_FUNCTION_ARGS)
{
	static const char *const words[] = {"asc", "desc", "none", NULL};
	uint64		max_rows = ZbxhistToLimit("max_rows", PG_ARGISNULL(5),
										  PG_ARGISNULL(5) ? 0 : PG_GETARG_INT64(5));
	ItemRange	range;

	ZbxhistWholeItem(&range, PG_ARGISNULL(1) ? 0 : PG_GETARG_INT64(1));
	/* rows of "none" may come in any order; they come oldest first */
	range.is_descending = ZbxhistGetWord(fcinfo, 4, "sort", words) == 1;
	if (PG_ARGISNULL(1) || PG_ARGISNULL(2) || PG_ARGISNULL(3) ||
		PG_ARGISNULL(6) || PG_ARGISNULL(7))
		ZbxhistMakeEmpty(&range);
	else
	{
		ZbxhistStartAt(&range, make_position(PG_GETARG_INT32(2),
											 PG_GETARG_INT32(6)));
		ZbxhistEndBefore(&range, make_position(PG_GETARG_INT32(3),
											   PG_GETARG_INT32(7)));
	}
	return ReturnRows(fcinfo, &range, 1, max_rows);
}

/* ---- nearest ---- */

/*
 * zbxhist_nearest(row type, itemid, clock, ns, which) returns the row at a
 * moment, or the nearest one, or null.
 */
Datum
zbxhist_nearest(PG_FUNCTION_ARGS)
{
	static const char *const words[] = {"exact", "less", "greater", NULL};
	int			which = ZbxhistGetWord(fcinfo, 4, "which", words);
	bool		is_null = PG_ARGISNULL(1) || PG_ARGISNULL(2) || PG_ARGISNULL(3);
	int64		position = is_null ? 0 : make_position(PG_GETARG_INT32(2),
													   PG_GETARG_INT32(3));
	ItemRange	range;
	RowSet		set;
	Datum		result = (Datum) 0;

	ZbxhistWholeItem(&range, is_null ? 0 : PG_GETARG_INT64(1));
	range.is_descending = which == 1;
	if (which != 1)
		ZbxhistStartAt(&range, position);
	if (which != 2)
		ZbxhistEndAt(&range, position);
	if (is_null)
		ZbxhistMakeEmpty(&range);

	ZbxhistOpenRowSet(&set, ZbxhistRowTypeParent(fcinfo), &range, 1, 1);
	fcinfo->isnull = !ZbxhistNextRow(&set);
	if (!fcinfo->isnull)
		result = ZbxhistReadDatum(set.reader);
	ZbxhistCloseRowSet(&set);
	return result;
}

/* ---- minimum_time ---- */

/*
 * zbxhist_minimum_time(parent, itemid) returns clock and ns of an item's
 * oldest row, in one row or none.
 */
Datum
zbxhist_minimum_time(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	ItemRange	range;
	RowSet		set;

	InitMaterializedSRF(fcinfo, 0);
	ZbxhistWholeItem(&range, PG_GETARG_INT64(1));
	ZbxhistOpenRowSet(&set, PG_GETARG_OID(0), &range, 1, 1);
	if (ZbxhistNextRow(&set))
	{
		int64		position = ZbxhistReadPosition(set.reader);
		Datum		values[2];
		bool		nulls[2] = {false};

		values[0] = Int32GetDatum(position_clock(position));
		values[1] = Int32GetDatum(position_ns(position));
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
	ZbxhistCloseRowSet(&set);
	return (Datum) 0;
}

/* ---- last_values ---- */

/*
 * MakeRanges makes a range for each item of an array, in the order of their
 * numbers and each once, as itemid = ANY (array) would find them.
 */
static ItemRange *
MakeRanges(ArrayType *array, int64 first, int *nranges)
{
	Datum	   *items;
	bool	   *nulls;
	int			nitems;
	ItemRange  *ranges;
	int64	   *sorted;
	int			n = 0;

	deconstruct_array(array, INT8OID, sizeof(int64), FLOAT8PASSBYVAL,
					  TYPALIGN_DOUBLE, &items, &nulls, &nitems);
	sorted = palloc(sizeof(int64) * Max(nitems, 1));
	for (int i = 0; i < nitems; i++)
	{
		if (!nulls[i])
			sorted[n++] = DatumGetInt64(items[i]);
	}
	*nranges = ZbxhistSortItems(sorted, n);
	ranges = palloc(sizeof(ItemRange) * Max(*nranges, 1));
	for (int i = 0; i < *nranges; i++)
	{
		ZbxhistWholeItem(&ranges[i], sorted[i]);
		ZbxhistStartAt(&ranges[i], first);
		ranges[i].is_descending = true;
	}
	return ranges;
}

/*
 * zbxhist_last_values(row type, itemids, max_rows, since_clock [, since_ns])
 * returns the newest rows of each item, newest first, with clocks not before
 * since_clock unless that is null.
 */
Datum
zbxhist_last_values(PG_FUNCTION_ARGS)
{
	int64		first = PG_ARGISNULL(3) ? PG_INT64_MIN :
		make_position(PG_GETARG_INT32(3),
					  PG_NARGS() > 4 ? PG_GETARG_INT32(4) : PG_INT32_MIN);
	ItemRange  *ranges = NULL;
	int			nranges = 0;

	if (!PG_ARGISNULL(1))
		ranges = MakeRanges(PG_GETARG_ARRAYTYPE_P(1), first, &nranges);
	return ReturnRows(fcinfo, ranges, nranges,
					  ZbxhistToLimit("max_rows", PG_ARGISNULL(2),
									 PG_GETARG_INT32(2)));
}
