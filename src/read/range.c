/*-------------------------------------------------------------------------
 *
 * range.c
 *	  SQL functions that give out rows of one item: range, nearest and
 *	  minimum_time.
 *
 * A function in FROM is materialised by the executor in any case, so there
 * the rows go straight to its tuplestore; elsewhere (in the select list, also
 * of a cursor) they are read one by one as they are asked for, and what is
 * not asked for is not read.  For FROM, zbxhist_range_support passes a LIMIT
 * on.
 *
 * Locks: ACCESS SHARE on the parent and on each partition that is read, until
 * the transaction ends.  Between two calls the state is in the context of the
 * call site, which closes it by a callback when it is done with it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "executor/executor.h"
#include "fmgr.h"
#include "funcapi.h"
#include "nodes/execnodes.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"
#include "utils/tuplestore.h"

#include "read/arguments.h"
#include "read/parent.h"
#include "read/reader.h"

PG_FUNCTION_INFO_V1(zbxhist_range);
PG_FUNCTION_INFO_V1(zbxhist_range_time);
PG_FUNCTION_INFO_V1(zbxhist_nearest);
PG_FUNCTION_INFO_V1(zbxhist_nearest_time);
PG_FUNCTION_INFO_V1(zbxhist_minimum_time);

/* one call of range that gives out row by row */
typedef struct RangeScan
{
	Relation	parent;
	Snapshot	snapshot;		/* registered */
	ItemReader *reader;
	uint64		rows_left;
} RangeScan;

/* ---- range ---- */

/*
 * BeginRange opens parent and reader and begins to read.
 */
static void
BeginRange(RangeScan *scan, Oid relid, const ItemRange *range, uint64 max_rows)
{
	scan->parent = ZbxhistOpenParent(relid, AccessShareLock, ACL_SELECT);
	scan->snapshot = RegisterSnapshot(GetActiveSnapshot());
	scan->reader = ZbxhistOpenReader(scan->parent, scan->snapshot,
									 AccessShareLock, false);
	scan->rows_left = max_rows;
	if (max_rows > 0)
		ZbxhistReadItem(scan->reader, range);
}

/*
 * NextOfRange goes to the next row, false if there is none.
 */
static bool
NextOfRange(RangeScan *scan)
{
	if (scan->rows_left == 0 || !ZbxhistReadNext(scan->reader))
		return false;
	scan->rows_left--;
	return true;
}

/*
 * EndRange closes everything.  It is also the callback of the call site.
 */
static void
EndRange(Datum arg)
{
	RangeScan  *scan = (RangeScan *) DatumGetPointer(arg);

	ZbxhistCloseReader(scan->reader);
	UnregisterSnapshot(scan->snapshot);
	table_close(scan->parent, NoLock);
}

/*
 * ReturnAll puts all rows into the executor's tuplestore.
 */
static Datum
ReturnAll(FunctionCallInfo fcinfo, const ItemRange *range, uint64 max_rows)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	RangeScan	scan;

	InitMaterializedSRF(fcinfo, 0);
	BeginRange(&scan, ZbxhistRowTypeParent(fcinfo), range, max_rows);
	while (NextOfRange(&scan))
		tuplestore_puttupleslot(rsinfo->setResult,
								ZbxhistReadSlot(scan.reader));
	EndRange(PointerGetDatum(&scan));
	return (Datum) 0;
}

/*
 * ReturnNext gives out one row; fills *scan in the first call.
 */
static Datum
ReturnNext(FunctionCallInfo fcinfo, const ItemRange *range, uint64 max_rows)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	FuncCallContext *funcctx;
	RangeScan  *scan;

	if (SRF_IS_FIRSTCALL())
	{
		MemoryContext old;

		funcctx = SRF_FIRSTCALL_INIT();
		old = MemoryContextSwitchTo(funcctx->multi_call_memory_ctx);
		scan = palloc0(sizeof(RangeScan));
		BeginRange(scan, ZbxhistRowTypeParent(fcinfo), range, max_rows);
		funcctx->user_fctx = scan;
		RegisterExprContextCallback(rsinfo->econtext, EndRange,
									PointerGetDatum(scan));
		MemoryContextSwitchTo(old);
	}

	funcctx = SRF_PERCALL_SETUP();
	scan = funcctx->user_fctx;
	if (NextOfRange(scan))
		SRF_RETURN_NEXT(funcctx, ZbxhistReadDatum(scan->reader));

	UnregisterExprContextCallback(rsinfo->econtext, EndRange,
								  PointerGetDatum(scan));
	EndRange(PointerGetDatum(scan));
	SRF_RETURN_DONE(funcctx);
}

/*
 * CheckSetContext raises an error where a set cannot be taken.
 */
static void
CheckSetContext(FunctionCallInfo fcinfo)
{
	if (fcinfo->resultinfo == NULL || !IsA(fcinfo->resultinfo, ReturnSetInfo))
		ereport(ERROR,
				errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				errmsg("set-valued function called in context that cannot accept a set"));
}

/*
 * ReturnRange returns the rows of a range in the way that suits the caller.
 */
static Datum
ReturnRange(FunctionCallInfo fcinfo, const ItemRange *range, uint64 max_rows)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;

	if (rsinfo->allowedModes & SFRM_Materialize_Preferred)
		return ReturnAll(fcinfo, range, max_rows);
	return ReturnNext(fcinfo, range, max_rows);
}

/*
 * zbxhist_range(row type, itemid, from_clock, to_clock, sort, max_rows,
 * from_ns, to_ns) returns the rows of an item from one moment, included, to
 * another, excluded.  A null moment or item gives no rows, as in SQL.
 */
Datum
zbxhist_range(PG_FUNCTION_ARGS)
{
	ItemRange	range;

	CheckSetContext(fcinfo);
	ZbxhistWholeItem(&range, PG_ARGISNULL(1) ? 0 : PG_GETARG_INT64(1));
	range.is_descending = ZbxhistGetSort(fcinfo, 4);
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
	return ReturnRange(fcinfo, &range, ZbxhistGetMaxRows(fcinfo, 5));
}

/*
 * zbxhist_range_time(row type, itemid, from_time, to_time, sort, max_rows)
 * does the same for times.
 */
Datum
zbxhist_range_time(PG_FUNCTION_ARGS)
{
	ItemRange	range;

	CheckSetContext(fcinfo);
	ZbxhistWholeItem(&range, PG_ARGISNULL(1) ? 0 : PG_GETARG_INT64(1));
	range.is_descending = ZbxhistGetSort(fcinfo, 4);
	if (PG_ARGISNULL(1) || PG_ARGISNULL(2) || PG_ARGISNULL(3))
		ZbxhistMakeEmpty(&range);
	else
		ZbxhistLimitByTimes(&range, PG_GETARG_TIMESTAMPTZ(2),
							PG_GETARG_TIMESTAMPTZ(3));
	return ReturnRange(fcinfo, &range, ZbxhistGetMaxRows(fcinfo, 5));
}

/* ---- nearest ---- */

/*
 * ReturnFirst returns the first row of a range, or null.
 */
static Datum
ReturnFirst(FunctionCallInfo fcinfo, const ItemRange *range)
{
	RangeScan	scan;
	Datum		result = (Datum) 0;
	bool		is_found;

	BeginRange(&scan, ZbxhistRowTypeParent(fcinfo), range, 1);
	is_found = NextOfRange(&scan);
	if (is_found)
		result = ZbxhistReadDatum(scan.reader);
	EndRange(PointerGetDatum(&scan));
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
	RangeScan	scan;

	InitMaterializedSRF(fcinfo, 0);
	ZbxhistWholeItem(&range, PG_GETARG_INT64(1));
	BeginRange(&scan, PG_GETARG_OID(0), &range, 1);
	if (NextOfRange(&scan))
	{
		int64		position = ZbxhistReadPosition(scan.reader);
		Datum		values[2];
		bool		nulls[2] = {false};

		values[0] = Int32GetDatum(position_clock(position));
		values[1] = Int32GetDatum(position_ns(position));
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
	EndRange(PointerGetDatum(&scan));
	return (Datum) 0;
}
