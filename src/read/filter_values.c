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

#include "read/column_filter.h"
#include "read/numbers.h"

/* how many numbers there are */
#define ALL_NUMBERS ((uint128) PG_UINT64_MAX + 1)

/* where a value is among the numbers, which equals none if both are the same */
typedef struct KeyPlace
{
	uint128		first;			/* so many are less */
	uint128		next;			/* so many are not greater */
} KeyPlace;

/* ---- places ---- */

/*
 * PlaceNumeric finds the place of a numeric.  NaN is above all.
 */
static void
PlaceNumeric(Datum number, KeyPlace *place)
{
	Datum		floor;
	uint64		key;

	place->first = place->next = 0;
	if (DatumGetBool(DirectFunctionCall2(numeric_lt, number,
										 NumericGetDatum(ZbxhistUnsignedToNumeric(0)))))
		return;
	place->first = place->next = ALL_NUMBERS;
	if (DatumGetBool(DirectFunctionCall2(numeric_gt, number,
										 NumericGetDatum(ZbxhistUnsignedToNumeric(PG_UINT64_MAX)))))
		return;
	floor = DirectFunctionCall1(numeric_floor, number);
	if (!ZbxhistNumericToUnsigned(floor, &key))
		elog(ERROR, "number is not an unsigned integer");
	place->first = place->next = (uint128) key + 1;
	if (DatumGetBool(DirectFunctionCall2(numeric_eq, floor, number)))
		place->first = key;
}

/*
 * PlaceValue finds the place of a value.
 */
static void
PlaceValue(Oid type, Datum value, KeyPlace *place)
{
	switch (type)
	{
		case INT2OID:
			place->first = int_key(DatumGetInt16(value));
			break;
		case INT4OID:
			place->first = int_key(DatumGetInt32(value));
			break;
		case INT8OID:
			place->first = int_key(DatumGetInt64(value));
			break;
		case FLOAT4OID:
			place->first = double_key(DatumGetFloat4(value));
			break;
		case FLOAT8OID:
			place->first = double_key(DatumGetFloat8(value));
			break;
		case NUMERICOID:
			PlaceNumeric(value, place);
			return;
		default:
			elog(ERROR, "type %u is not compared", type);
	}
	place->next = place->first + 1;
}

/* ---- ranges ---- */

/*
 * AddNumberRange adds a range, next excluded, after the others, if there is anything
 * in it.
 */
static void
AddNumberRange(ColumnCondition *condition, uint128 first, uint128 next)
{
	if (first >= next)
		return;
	condition->ranges[condition->nranges].first = (uint64) first;
	condition->ranges[condition->nranges].last = (uint64) (next - 1);
	condition->nranges++;
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
	condition->ranges = palloc(sizeof(ColumnRange) * 2);
	if (strategy == InvalidStrategy)
	{
		AddNumberRange(condition, 0, place.first);
		AddNumberRange(condition, place.next, ALL_NUMBERS);
		return;
	}
	AddNumberRange(condition,
				   strategy < BTEqualStrategyNumber ? 0 :
				   strategy == BTGreaterStrategyNumber ? place.next : place.first,
				   strategy > BTEqualStrategyNumber ? ALL_NUMBERS :
				   strategy == BTLessStrategyNumber ? place.first : place.next);
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
 * SetArray sets the ranges of "= ANY" or "<> ALL".
 */
static void
SetArray(ColumnCondition *condition, Datum value)
{
	ArrayType  *array = DatumGetArrayTypeP(value);
	bool		is_any = condition->strategy == BTEqualStrategyNumber;
	int16		typlen;
	bool		typbyval;
	char		typalign;
	Datum	   *values;
	bool	   *nulls;
	int			n;
	uint64	   *keys;
	int			nkeys = 0;
	uint128		next = 0;

	get_typlenbyvalalign(condition->value_type, &typlen, &typbyval, &typalign);
	deconstruct_array(array, condition->value_type, typlen, typbyval, typalign,
					  &values, &nulls, &n);
	/* nothing is not equal to null; even null is so to all of no elements */
	condition->accepts_null = n == 0 && !is_any;
	condition->is_never = is_any ? n == 0 : array_contains_nulls(array);
	if (condition->is_never)
		return;
	/* elements that are no numbers of the column equal none */
	keys = palloc(sizeof(uint64) * Max(n, 1));
	for (int i = 0; i < n; i++)
	{
		KeyPlace	place;

		if (nulls[i])
			continue;
		PlaceValue(condition->value_type, values[i], &place);
		if (place.first < place.next)
			keys[nkeys++] = (uint64) place.first;
	}
	qsort(keys, nkeys, sizeof(uint64), compare_numbers);
	condition->ranges = palloc(sizeof(ColumnRange) * (nkeys + 1));
	for (int i = 0; i < nkeys; i++)
	{
		if (!is_any)
			AddNumberRange(condition, next, keys[i]);
		else if (keys[i] >= next)
			AddNumberRange(condition, keys[i], (uint128) keys[i] + 1);
		next = (uint128) keys[i] + 1;
	}
	if (!is_any)
		AddNumberRange(condition, next, ALL_NUMBERS);
}

/* ---- all of them ---- */

/*
 * ZbxhistSetFilterValues evaluates what a filter compares with.  The context
 * owns what that leaves.
 */
void
ZbxhistSetFilterValues(ColumnFilter *filter, ExprContext *econtext,
					   MemoryContext context)
{
	MemoryContext old = MemoryContextSwitchTo(context);
	ColumnCondition *condition = filter->condition;
	ListCell   *lc;
	Datum		value;
	bool		isnull;

	if (filter->kind == FILTER_CONDITION && !condition->is_null_test)
	{
		condition->accepts_null = false;
		condition->nranges = 0;
		value = ExecEvalExprSwitchContext(condition->value, econtext, &isnull);
		condition->is_never = isnull;
		if (!isnull && condition->is_array)
			SetArray(condition, value);
		else if (!isnull)
			SetComparison(condition, value);
	}
	foreach(lc, filter->parts)
		ZbxhistSetFilterValues(lfirst(lc), econtext, context);
	MemoryContextSwitchTo(old);
}
