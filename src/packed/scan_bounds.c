/*-------------------------------------------------------------------------
 *
 * scan_bounds.c
 *	  The bounds of a scan, from its conditions on items, clocks and ctids.
 *
 * Conditions (conditions.c) become bounds, one after the other, when their values are
 * known.  Items are a range and maybe a sorted list of numbers, ctids such a list, clocks
 * a range.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "common/int.h"
#include "datatype/timestamp.h"
#include "executor/executor.h"
#include "nodes/nodeFuncs.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/float.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"
#include "utils/timestamp.h"

#include "binary_search.h"
#include "packed/scan_bounds.h"
#include "read_integer.h"
#include "tables/item_range.h"

/* clocks are smaller than this, and doubles up to it are exact */
#define MAX_NUMBER 4503599627370496.0

/*
 * ZbxhistInitBounds sets bounds to everything, oldest first.
 */
void
ZbxhistInitBounds(ScanBounds *bounds)
{
	bounds->nitems = 0;
	bounds->items = NULL;
	bounds->from_item = PG_INT64_MIN;
	bounds->to_item = PG_INT64_MAX;
	bounds->from_item_clock = PG_INT64_MIN;
	bounds->to_item_clock = PG_INT64_MAX;
	bounds->from_clock = PG_INT64_MIN;
	bounds->to_clock = PG_INT64_MAX;
	bounds->is_descending = false;
	bounds->ntids = 0;
	bounds->tids = NULL;
}

/* ---- integers ---- */

/*
 * FloorOfDouble sets the greatest integer that is not above a number, and says
 * whether it is the number.  NaN is above all.
 */
static bool
FloorOfDouble(double value, int64 *floor_of)
{
	if (isnan(value) || value >= MAX_NUMBER)
	{
		*floor_of = PG_INT64_MAX;
		return false;
	}
	if (value <= -MAX_NUMBER)
	{
		*floor_of = PG_INT64_MIN;
		return false;
	}
	*floor_of = (int64) floor(value);
	return *floor_of == value;
}

/*
 * FloorOfTime does the same for a time, as a clock.
 */
static bool
FloorOfTime(TimestampTz time, int64 *floor_of)
{
	int64		part;

	if (TIMESTAMP_NOT_FINITE(time))
		return FloorOfDouble(TIMESTAMP_IS_NOBEGIN(time) ? -get_float8_infinity() :
							 get_float8_infinity(), floor_of);
	part = time % USECS_PER_SEC;
	*floor_of = time / USECS_PER_SEC - (part < 0 ? 1 : 0) +
		(POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * (int64) SECS_PER_DAY;
	return part == 0;
}

/*
 * FloorOfNumeric does the same for a numeric.  NaN is above all.
 */
static bool
FloorOfNumeric(Datum value, int64 *floor_of)
{
	Datum		whole = DirectFunctionCall1(numeric_floor, value);

	if (DatumGetBool(DirectFunctionCall2(numeric_gt, whole,
										 NumericGetDatum(int64_to_numeric(PG_INT64_MAX)))))
	{
		*floor_of = PG_INT64_MAX;
		return false;
	}
	if (DatumGetBool(DirectFunctionCall2(numeric_lt, whole,
										 NumericGetDatum(int64_to_numeric(PG_INT64_MIN)))))
	{
		*floor_of = PG_INT64_MIN;
		return false;
	}
	*floor_of = DatumGetInt64(DirectFunctionCall1(numeric_int8, whole));
	return DatumGetBool(DirectFunctionCall2(numeric_eq, whole, value));
}

/*
 * GetFloor does the same for a value of any type that items or clocks are compared
 * with.
 */
static bool
GetFloor(Oid type, Datum value, int64 *floor_of)
{
	switch (type)
	{
		case FLOAT8OID:
			return FloorOfDouble(DatumGetFloat8(value), floor_of);
		case NUMERICOID:
			return FloorOfNumeric(value, floor_of);
		case TIMESTAMPTZOID:
			return FloorOfTime(DatumGetTimestampTz(value), floor_of);
		default:
			if (!read_integer(type, value, floor_of))
				elog(ERROR, "type %u is no integer", type);
			return true;
	}
}

/*
 * ZbxhistSortItems sorts items, leaves each once and returns their number.
 */
int
ZbxhistSortItems(int64 *items, int nitems)
{
	int			nunique = 0;

	qsort(items, nitems, sizeof(int64), compare_itemids);
	for (int i = 0; i < nitems; i++)
	{
		if (nunique == 0 || items[i] != items[nunique - 1])
			items[nunique++] = items[i];
	}
	return nunique;
}

/*
 * GetIntegers returns the members of an array that are whole numbers, and ctids as numbers
 * of the rows that they may mean, sorted and each once, palloc'd; nulls are equal to nothing.
 */
static int64 *
GetIntegers(Datum value, int *n)
{
	ArrayType  *array = DatumGetArrayTypeP(value);
	Oid			type = ARR_ELEMTYPE(array);
	int16		length;
	bool		byval;
	char		align;
	Datum	   *values;
	bool	   *nulls;
	int			nvalues;
	int64	   *result;

	get_typlenbyvalalign(type, &length, &byval, &align);
	deconstruct_array(array, type, length, byval, align, &values, &nulls,
					  &nvalues);
	result = palloc(sizeof(int64) * Max(nvalues, 1));
	*n = 0;
	for (int i = 0; i < nvalues; i++)
	{
		PackedRowId id;

		if (nulls[i])
			continue;
		if (type != TIDOID)
			*n += GetFloor(type, values[i], &result[*n]) ? 1 : 0;
		else if (get_packed_tid((ItemPointer) DatumGetPointer(values[i]), &id))
			result[(*n)++] = make_packed_tid(&id);
	}
	*n = ZbxhistSortItems(result, *n);
	return result;
}

/*
 * KeepCommon intersects n sorted numbers with others, if there are others, and returns
 * how many are left.
 */
static int
KeepCommon(int64 *numbers, int n, const int64 *others, int nothers)
{
	int			nkept = 0;

	if (others == NULL)
		return n;
	for (int i = 0; i < n; i++)
	{
		if (bsearch(&numbers[i], others, nothers, sizeof(int64),
					compare_itemids) != NULL)
			numbers[nkept++] = numbers[i];
	}
	return nkept;
}

/*
 * LimitItems intersects the bounds' items with others.
 */
static void
LimitItems(ScanBounds *bounds, int64 *items, int nitems)
{
	bounds->nitems = KeepCommon(items, nitems, bounds->items, bounds->nitems);
	bounds->items = items;
}

/*
 * LimitClocks limits the clocks of bounds to those between two, both included.
 */
static void
LimitClocks(ScanBounds *bounds, int64 from_clock, int64 to_clock)
{
	bounds->from_clock = Max(bounds->from_clock, from_clock);
	bounds->to_clock = Min(bounds->to_clock, to_clock);
}

/*
 * ApplyArray limits bounds to the values of an array.
 */
static void
ApplyArray(ScanBounds *bounds, PackedCondKind kind, Datum value)
{
	int			n;
	int64	   *values = GetIntegers(value, &n);

	if (kind == COND_ITEMS)
	{
		LimitItems(bounds, values, n);
		return;
	}
	if (kind == COND_TIDS)
	{
		n = KeepCommon(values, n, bounds->tids, bounds->ntids);
		bounds->ntids = n;
		bounds->tids = values;
	}
	if (n == 0)
		LimitClocks(bounds, PG_INT64_MAX, PG_INT64_MIN);
	else if (kind == COND_TIDS)
		LimitClocks(bounds, packed_tid_clock(values[0]),
					packed_tid_clock(values[n - 1]));
	else
		LimitClocks(bounds, values[0], values[n - 1]);
}

/*
 * LimitItemRange limits the items to those between two, both included.
 */
static void
LimitItemRange(ScanBounds *bounds, int64 from_item, int64 to_item)
{
	if (from_item > bounds->from_item)
	{
		bounds->from_item = from_item;
		bounds->from_item_clock = PG_INT64_MIN;
	}
	if (to_item < bounds->to_item)
	{
		bounds->to_item = to_item;
		bounds->to_item_clock = PG_INT64_MAX;
	}
}

/*
 * LimitPlaces leaves of the items those from a place on, or up to it, and of its item
 * those clocks.  With nulls in the place less is known.
 */
static void
LimitPlaces(ScanBounds *bounds, PackedCondKind kind, Datum value)
{
	Datum	   *values;
	bool	   *nulls;
	int			n;
	bool		is_from = kind == COND_PLACES_FROM;
	int64		itemid;
	int64		clock;

	deconstruct_array(DatumGetArrayTypeP(value), INT8OID, sizeof(int64),
					  FLOAT8PASSBYVAL, TYPALIGN_DOUBLE, &values, &nulls, &n);
	if (nulls[0])
		return;
	itemid = DatumGetInt64(values[0]);
	LimitItemRange(bounds, is_from ? itemid : PG_INT64_MIN,
				   is_from ? PG_INT64_MAX : itemid);
	if (nulls[1])
		return;
	clock = DatumGetInt64(values[1]);
	if (is_from && itemid == bounds->from_item)
		bounds->from_item_clock = Max(bounds->from_item_clock, clock);
	if (!is_from && itemid == bounds->to_item)
		bounds->to_item_clock = Min(bounds->to_item_clock, clock);
}

/*
 * ZbxhistSettleBounds is called when all conditions have limited bounds: it limits the
 * list of items, if there is one, to their range.
 */
void
ZbxhistSettleBounds(ScanBounds *bounds)
{
	int			first;
	int			next;

	if (bounds->from_item > bounds->to_item)
		LimitClocks(bounds, PG_INT64_MAX, PG_INT64_MIN);
	if (bounds->items == NULL)
		return;
	find_first(next, bounds->nitems, bounds->items[next] > bounds->to_item);
	find_first(first, next, bounds->items[first] >= bounds->from_item);
	bounds->items += first;
	bounds->nitems = next - first;
}

/* ---- conditions ---- */

/*
 * LimitRange leaves of a range what a comparison of one of these kinds does.
 */
static void
LimitRange(int64 *from, int64 *to, PackedCondKind kind, Oid type, Datum value)
{
	int64		number;
	bool		is_whole = GetFloor(type, value, &number);
	int			strategy = strategy_of_cond(kind);
	int64		first = PG_INT64_MIN;
	int64		last = PG_INT64_MAX;
	bool		is_empty = false;

	if (strategy >= BTEqualStrategyNumber)
		first = number;
	if (strategy <= BTEqualStrategyNumber)
		last = number;
	if (strategy == BTEqualStrategyNumber)
		is_empty = !is_whole;
	else if (strategy > BTEqualStrategyNumber &&
			 (!is_whole || strategy == BTGreaterStrategyNumber))
		is_empty = pg_add_s64_overflow(number, 1, &first);
	else if (is_whole && strategy == BTLessStrategyNumber)
		is_empty = pg_sub_s64_overflow(number, 1, &last);
	*from = is_empty ? PG_INT64_MAX : Max(*from, first);
	*to = is_empty ? PG_INT64_MIN : Min(*to, last);
}

/*
 * ZbxhistApplyCond limits bounds by a condition, whose value is of that type.  A null
 * leaves nothing.  The items of bounds are palloc'd in the current context.
 */
void
ZbxhistApplyCond(ScanBounds *bounds, PackedCondKind kind, Oid type,
				 Datum value, bool isnull)
{
	int64	   *item;
	int64		from_item = PG_INT64_MIN;
	int64		to_item = PG_INT64_MAX;

	if (isnull)
	{
		LimitClocks(bounds, PG_INT64_MAX, PG_INT64_MIN);
		return;
	}
	switch (kind)
	{
		case COND_ITEMS:
		case COND_CLOCKS:
		case COND_TIDS:
			ApplyArray(bounds, kind, value);
			break;
		case COND_ITEM:
			item = palloc(sizeof(int64));
			LimitItems(bounds, item, GetFloor(type, value, item) ? 1 : 0);
			break;
		case COND_ITEM_BEFORE:
		case COND_ITEM_TO:
		case COND_ITEM_FROM:
		case COND_ITEM_AFTER:
			LimitRange(&from_item, &to_item, kind, type, value);
			LimitItemRange(bounds, from_item, to_item);
			break;
		case COND_PLACES_FROM:
		case COND_PLACES_TO:
			LimitPlaces(bounds, kind, value);
			break;
		default:
			LimitRange(&bounds->from_clock, &bounds->to_clock, kind, type, value);
			break;
	}
}

/*
 * ZbxhistEvaluateConds makes bounds of conditions of such kinds by what the
 * ExprStates of their values evaluate to now, in a context that is reset
 * before and has the items afterwards.
 */
void
ZbxhistEvaluateConds(const List *kinds, const List *values,
					 ExprContext *econtext, MemoryContext context,
					 ScanBounds *bounds)
{
	MemoryContext old;
	ListCell   *value;
	ListCell   *kind;

	MemoryContextReset(context);
	old = MemoryContextSwitchTo(context);
	ZbxhistInitBounds(bounds);
	forboth(value, values, kind, kinds)
	{
		ExprState  *expr = lfirst(value);
		bool		isnull;
		Datum		result = ExecEvalExpr(expr, econtext, &isnull);

		ZbxhistApplyCond(bounds, lfirst_int(kind),
						 exprType((Node *) expr->expr), result, isnull);
	}
	ZbxhistSettleBounds(bounds);
	MemoryContextSwitchTo(old);
}
