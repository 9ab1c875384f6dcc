/*-------------------------------------------------------------------------
 *
 * filter_values.c
 *	  What numbers conditions on columns leave, once the values are known that
 *	  they compare with.
 *
 * Numbers of each type are taken as unsigned integers in the same order
 * (column_filter.h).  A numeric may lie between two of these, or outside of
 * all: of a packed column they are the integers from 0 to 2^64-1.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "utils/array.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"

#include "aggregate/column_filter.h"
#include "read/numbers.h"

/* where a value is among the numbers */
typedef struct KeyPlace
{
	bool		is_below;		/* all of them */
	bool		is_above;		/* all of them */
	bool		is_between;		/* key and the next one */
	uint64		key;
} KeyPlace;

/* ---- places ---- */

/*
 * PlaceNumeric finds the place of a numeric.  NaN is above all.
 */
static void
PlaceNumeric(Datum number, KeyPlace *place)
{
	Datum		floor;

	if (DatumGetBool(DirectFunctionCall2(numeric_lt, number,
										 NumericGetDatum(ZbxhistUnsignedToNumeric(0)))))
		place->is_below = true;
	else if (DatumGetBool(DirectFunctionCall2(numeric_gt, number,
											  NumericGetDatum(ZbxhistUnsignedToNumeric(PG_UINT64_MAX)))))
		place->is_above = true;
	else
	{
		floor = DirectFunctionCall1(numeric_floor, number);
		place->is_between = !DatumGetBool(DirectFunctionCall2(numeric_eq, floor,
															  number));
		if (!ZbxhistNumericToUnsigned(floor, &place->key))
			elog(ERROR, "number is not an unsigned integer");
	}
}

/*
 * PlaceValue finds the place of a value.
 */
static void
PlaceValue(Oid type, Datum value, KeyPlace *place)
{
	memset(place, 0, sizeof(KeyPlace));
	switch (type)
	{
		case INT2OID:
			place->key = int_key(DatumGetInt16(value));
			break;
		case INT4OID:
			place->key = int_key(DatumGetInt32(value));
			break;
		case INT8OID:
			place->key = int_key(DatumGetInt64(value));
			break;
		case FLOAT4OID:
			place->key = double_key(DatumGetFloat4(value));
			break;
		case FLOAT8OID:
			place->key = double_key(DatumGetFloat8(value));
			break;
		case NUMERICOID:
			PlaceNumeric(value, place);
			break;
		default:
			elog(ERROR, "type %u is not compared", type);
	}
}

/* ---- ranges ---- */

/*
 * AddNumberRange adds a range after the others, if there is anything in it.
 */
static void
AddNumberRange(ColumnCondition *condition, uint64 first, uint64 last)
{
	if (first > last)
		return;
	condition->ranges[condition->nranges].first = first;
	condition->ranges[condition->nranges].last = last;
	condition->nranges++;
}

/*
 * AddBefore adds what is before a place.
 */
static void
AddBefore(ColumnCondition *condition, const KeyPlace *place)
{
	if (place->is_above)
		AddNumberRange(condition, 0, PG_UINT64_MAX);
	else if (place->is_between)
		AddNumberRange(condition, 0, place->key);
	else if (!place->is_below && place->key > 0)
		AddNumberRange(condition, 0, place->key - 1);
}

/*
 * AddAt adds what is at a place.
 */
static void
AddAt(ColumnCondition *condition, const KeyPlace *place)
{
	if (!place->is_above && !place->is_below && !place->is_between)
		AddNumberRange(condition, place->key, place->key);
}

/*
 * AddAfter adds what is after a place.
 */
static void
AddAfter(ColumnCondition *condition, const KeyPlace *place)
{
	if (place->is_below)
		AddNumberRange(condition, 0, PG_UINT64_MAX);
	else if (!place->is_above && place->key < PG_UINT64_MAX)
		AddNumberRange(condition, place->key + 1, PG_UINT64_MAX);
}

/*
 * SetComparison sets the ranges of a comparison with a value.
 */
static void
SetComparison(ColumnCondition *condition, Datum value)
{
	int			strategy = condition->strategy;
	KeyPlace	place;

	PlaceValue(condition->value_type, value, &place);
	condition->ranges = palloc(sizeof(ColumnRange) * 3);
	if (strategy == BTLessStrategyNumber ||
		strategy == BTLessEqualStrategyNumber || strategy == InvalidStrategy)
		AddBefore(condition, &place);
	if (strategy == BTLessEqualStrategyNumber ||
		strategy == BTEqualStrategyNumber ||
		strategy == BTGreaterEqualStrategyNumber)
		AddAt(condition, &place);
	if (strategy == BTGreaterEqualStrategyNumber ||
		strategy == BTGreaterStrategyNumber || strategy == InvalidStrategy)
		AddAfter(condition, &place);
}

/* ---- arrays ---- */

/*
 * compare_numbers compares numbers, for qsort.
 */
static int
compare_numbers(const void *left, const void *right)
{
	uint64		l = *(const uint64 *) left;
	uint64		r = *(const uint64 *) right;

	return l < r ? -1 : l > r;
}

/*
 * FindKeys returns the numbers among an array's elements, sorted, and sets how
 * many they are.  Elements that are no numbers of the column equal none.
 */
static uint64 *
FindKeys(const ColumnCondition *condition, ArrayType *array, bool *has_null,
		 bool *is_empty, int *nkeys)
{
	int16		typlen;
	bool		typbyval;
	char		typalign;
	Datum	   *values;
	bool	   *nulls;
	int			n;
	uint64	   *result;

	get_typlenbyvalalign(condition->value_type, &typlen, &typbyval, &typalign);
	deconstruct_array(array, condition->value_type, typlen, typbyval, typalign,
					  &values, &nulls, &n);
	result = palloc(sizeof(uint64) * Max(n, 1));
	*is_empty = n == 0;
	*has_null = false;
	*nkeys = 0;
	for (int i = 0; i < n; i++)
	{
		KeyPlace	place;

		*has_null |= nulls[i];
		if (nulls[i])
			continue;
		PlaceValue(condition->value_type, values[i], &place);
		if (!place.is_below && !place.is_above && !place.is_between)
			result[(*nkeys)++] = place.key;
	}
	qsort(result, *nkeys, sizeof(uint64), compare_numbers);
	return result;
}

/*
 * SetArray sets the ranges of "= ANY" or "<> ALL".
 */
static void
SetArray(ColumnCondition *condition, Datum value)
{
	bool		is_any = condition->strategy == BTEqualStrategyNumber;
	bool		has_null;
	bool		is_empty;
	int			nkeys;
	uint64	   *keys = FindKeys(condition, DatumGetArrayTypeP(value),
								&has_null, &is_empty, &nkeys);
	uint64		next = 0;

	/* nothing is not equal to null; even null is so to all of no elements */
	condition->accepts_null = is_empty && !is_any;
	condition->ranges = palloc(sizeof(ColumnRange) * (nkeys + 1));
	condition->is_never = is_any ? is_empty : has_null;
	if (condition->is_never)
		return;
	for (int i = 0; i < nkeys; i++)
	{
		if (i > 0 && keys[i] == keys[i - 1])
			continue;
		if (is_any)
			AddNumberRange(condition, keys[i], keys[i]);
		else if (keys[i] > 0)
			AddNumberRange(condition, next, keys[i] - 1);
		next = keys[i] + 1;
	}
	if (!is_any && (nkeys == 0 || keys[nkeys - 1] < PG_UINT64_MAX))
		AddNumberRange(condition, next, PG_UINT64_MAX);
}

/* ---- all of them ---- */

/*
 * SetCondition sets a condition's ranges.
 */
static void
SetCondition(ColumnCondition *condition, ExprContext *econtext)
{
	bool		isnull;
	Datum		value;

	if (condition->is_null_test)
		return;
	condition->accepts_null = false;
	condition->nranges = 0;
	value = ExecEvalExprSwitchContext(condition->value, econtext, &isnull);
	condition->is_never = isnull;
	if (isnull)
		return;
	if (condition->is_array)
		SetArray(condition, value);
	else
		SetComparison(condition, value);
}

/*
 * ZbxhistSetFilterValues evaluates what a filter compares with.  The context
 * owns what that leaves.
 */
void
ZbxhistSetFilterValues(ColumnFilter *filter, ExprContext *econtext,
					   MemoryContext context)
{
	MemoryContext old = MemoryContextSwitchTo(context);
	ListCell   *lc;

	if (filter->kind == FILTER_CONDITION)
		SetCondition(filter->condition, econtext);
	foreach(lc, filter->parts)
		ZbxhistSetFilterValues(lfirst(lc), econtext, context);
	MemoryContextSwitchTo(old);
}
