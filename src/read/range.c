/*-------------------------------------------------------------------------
 *
 * range.c
 *	  SQL functions that give out rows of one item: range, nearest and
 *	  minimum_time.
 *
 * How range is planned in FROM is in plan/range_scan.c, how rows are given out
 * otherwise in row_set.c.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "funcapi.h"
#include "utils/tuplestore.h"

#include "read/arguments.h"
#include "read/parent.h"
#include "read/range.h"
#include "read/reader.h"
#include "read/row_set.h"

PG_FUNCTION_INFO_V1(zbxhist_range);
PG_FUNCTION_INFO_V1(zbxhist_nearest);
PG_FUNCTION_INFO_V1(zbxhist_minimum_time);

/* ---- range ---- */

/*
 * ZbxhistGetRange takes the arguments of a call (row type, itemid, from_clock,
 * to_clock, sort, max_rows, from_ns, to_ns) into range.  A null moment or item
 * gives no rows, as in SQL.
 */
void
ZbxhistGetRange(FunctionCallInfo fcinfo, ItemRange *range)
{
	ZbxhistWholeItem(range, PG_ARGISNULL(1) ? 0 : PG_GETARG_INT64(1));
	range->is_descending = ZbxhistGetSort(fcinfo, 4);
	if (PG_ARGISNULL(1) || PG_ARGISNULL(2) || PG_ARGISNULL(3) ||
		PG_ARGISNULL(6) || PG_ARGISNULL(7))
		ZbxhistMakeEmpty(range);
	else
	{
		ZbxhistStartAt(range, make_position(PG_GETARG_INT32(2),
											PG_GETARG_INT32(6)));
		ZbxhistEndBefore(range, make_position(PG_GETARG_INT32(3),
											  PG_GETARG_INT32(7)));
	}
}

/*
 * ZbxhistRangeMaxRows returns how many rows a call may give.
 */
uint64
ZbxhistRangeMaxRows(FunctionCallInfo fcinfo)
{
	bool		isnull = PG_ARGISNULL(RANGE_MAX_ROWS_ARGUMENT);

	return ZbxhistToLimit("max_rows", isnull,
						  isnull ? 0 : PG_GETARG_INT64(RANGE_MAX_ROWS_ARGUMENT));
}

/*
 * zbxhist_range returns the rows of an item from one moment, included, to
 * another, excluded.
 */
Datum
zbxhist_range(PG_FUNCTION_ARGS)
{
	ItemRange	range;

	ZbxhistGetRange(fcinfo, &range);
	return ZbxhistReturnRows(fcinfo, &range, 1, ZbxhistRangeMaxRows(fcinfo));
}

/*
 * ZbxhistIsRange says whether a function is the one above.
 */
bool
ZbxhistIsRange(Oid funcid)
{
	FmgrInfo	function;

	fmgr_info(funcid, &function);
	return function.fn_addr == zbxhist_range;
}

/* ---- nearest ---- */

/*
 * ReturnFirst returns the first row of a range, or null.
 */
static Datum
ReturnFirst(FunctionCallInfo fcinfo, const ItemRange *range)
{
	RowSet		set;
	Datum		result = (Datum) 0;
	bool		is_found;

	ZbxhistOpenRowSet(&set, ZbxhistRowTypeParent(fcinfo), range, 1, 1);
	is_found = ZbxhistNextRow(&set);
	if (is_found)
		result = ZbxhistReadDatum(set.reader);
	ZbxhistCloseRowSet(&set);
	if (!is_found)
		PG_RETURN_NULL();
	PG_RETURN_DATUM(result);
}

/*
 * zbxhist_nearest(row type, itemid, clock, ns, which) returns the row at a
 * moment, or the nearest one.
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

	ZbxhistWholeItem(&range, is_null ? 0 : PG_GETARG_INT64(1));
	range.is_descending = which == 1;
	if (which != 1)
		ZbxhistStartAt(&range, position);
	if (which != 2)
		ZbxhistEndAt(&range, position);
	if (is_null)
		ZbxhistMakeEmpty(&range);
	return ReturnFirst(fcinfo, &range);
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
