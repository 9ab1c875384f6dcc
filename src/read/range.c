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
#include "utils/timestamp.h"
#include "utils/tuplestore.h"

#include "read/arguments.h"
#include "read/parent.h"
#include "read/range.h"
#include "read/reader.h"
#include "read/row_set.h"

PG_FUNCTION_INFO_V1(zbxhist_range);
PG_FUNCTION_INFO_V1(zbxhist_range_time);
PG_FUNCTION_INFO_V1(zbxhist_nearest);
PG_FUNCTION_INFO_V1(zbxhist_nearest_time);
PG_FUNCTION_INFO_V1(zbxhist_minimum_time);

/* ---- range ---- */

/*
 * GetRange takes the arguments of a call (row type, itemid, from_clock,
 * to_clock, sort, max_rows, from_ns, to_ns) into range.  A null moment or item
 * gives no rows, as in SQL.
 */
static void
GetRange(FunctionCallInfo fcinfo, ItemRange *range)
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
 * GetRangeOfTimes does the same for times: (row type, itemid, from_time,
 * to_time, sort, max_rows).
 */
static void
GetRangeOfTimes(FunctionCallInfo fcinfo, ItemRange *range)
{
	ZbxhistWholeItem(range, PG_ARGISNULL(1) ? 0 : PG_GETARG_INT64(1));
	range->is_descending = ZbxhistGetSort(fcinfo, 4);
	if (PG_ARGISNULL(1) || PG_ARGISNULL(2) || PG_ARGISNULL(3))
		ZbxhistMakeEmpty(range);
	else
		ZbxhistLimitByTimes(range, PG_GETARG_TIMESTAMPTZ(2),
							PG_GETARG_TIMESTAMPTZ(3));
}

/*
 * ZbxhistRangeMaxRows returns how many rows a call of either function may give.
 */
uint64
ZbxhistRangeMaxRows(FunctionCallInfo fcinfo)
{
	bool		isnull = PG_ARGISNULL(RANGE_MAX_ROWS_ARGUMENT);

	return ZbxhistToLimit("max_rows", isnull,
						  isnull ? 0 : PG_GETARG_INT64(RANGE_MAX_ROWS_ARGUMENT));
}

/*
 * ReturnRange returns the rows of the range that the arguments say.
 */
static Datum
ReturnRange(FunctionCallInfo fcinfo, RangeGetter get_range)
{
	ItemRange	range;

	ZbxhistCheckSetContext(fcinfo);
	get_range(fcinfo, &range);
	return ZbxhistReturnRows(fcinfo, &range, 1, ZbxhistRangeMaxRows(fcinfo));
}

/*
 * zbxhist_range returns the rows of an item from one moment, included, to
 * another, excluded.
 */
Datum
zbxhist_range(PG_FUNCTION_ARGS)
{
	return ReturnRange(fcinfo, GetRange);
}

/*
 * zbxhist_range_time does the same for times.
 */
Datum
zbxhist_range_time(PG_FUNCTION_ARGS)
{
	return ReturnRange(fcinfo, GetRangeOfTimes);
}

/*
 * ZbxhistFindRangeGetter returns what takes the arguments of a function, if
 * that is one of the two above, called as they are; else NULL.
 */
RangeGetter
ZbxhistFindRangeGetter(Oid funcid)
{
	FmgrInfo	function;

	fmgr_info(funcid, &function);
	if (function.fn_addr == zbxhist_range)
		return GetRange;
	if (function.fn_addr == zbxhist_range_time)
		return GetRangeOfTimes;
	return NULL;
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
 * LimitByWhich limits range to what may be the answer: the row at position
 * itself, or else the nearest before or after it.
 */
static void
LimitByWhich(FunctionCallInfo fcinfo, int argument, ItemRange *range,
			 int64 position)
{
	static const char *const words[] = {"exact", "less", "greater", NULL};
	int			which = ZbxhistGetWord(fcinfo, argument, "which", words);

	range->is_descending = which == 1;
	if (which != 1)
		ZbxhistStartAt(range, position);
	if (which != 2)
		ZbxhistEndAt(range, position);
}

/*
 * zbxhist_nearest(row type, itemid, clock, ns, which) returns the row at a
 * moment, or the nearest one.
 */
Datum
zbxhist_nearest(PG_FUNCTION_ARGS)
{
	ItemRange	range;
	bool		is_null = PG_ARGISNULL(1) || PG_ARGISNULL(2) || PG_ARGISNULL(3);

	ZbxhistWholeItem(&range, is_null ? 0 : PG_GETARG_INT64(1));
	LimitByWhich(fcinfo, 4, &range,
				 is_null ? 0 : make_position(PG_GETARG_INT32(2),
											 PG_GETARG_INT32(3)));
	if (is_null)
		ZbxhistMakeEmpty(&range);
	return ReturnFirst(fcinfo, &range);
}

/*
 * zbxhist_nearest_time(row type, itemid, moment, which) does the same for a
 * time.  A time without a position is before or after all rows.
 */
Datum
zbxhist_nearest_time(PG_FUNCTION_ARGS)
{
	ItemRange	range;
	bool		is_null = PG_ARGISNULL(1) || PG_ARGISNULL(2);
	int64		position = 0;
	bool		has_position = is_null ||
		ZbxhistTimePosition(PG_GETARG_TIMESTAMPTZ(2), &position);

	ZbxhistWholeItem(&range, is_null ? 0 : PG_GETARG_INT64(1));
	LimitByWhich(fcinfo, 3, &range, position);
	/* only what is between the time and the end is left out */
	if (is_null || (!has_position && range.first == range.last))
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
