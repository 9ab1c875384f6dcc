/*-------------------------------------------------------------------------
 *
 * accumulator.c
 *	  Adds values up as PostgreSQL's aggregates do.
 *
 * Results are of type numeric for both kinds of tables: exact for numeric
 * columns, and for double precision the shortest decimal that converts back
 * to the very same double.  Sums of doubles are taken in the order of time;
 * SELECT sum(value) takes them in whatever order the plan has, so their last
 * digits may differ.
 *
 * Zabbix's numeric values are unsigned integers of 64 bits, whose arithmetic
 * is cheap and whose sum, of 128 bits, is exact.  The first value that is not
 * one, if it ever comes, turns the totals into numerics.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "common/shortest_dec.h"
#include "utils/float.h"
#include "utils/fmgrprotos.h"
#include "utils/memutils.h"
#include "utils/numeric.h"
#include "utils/rel.h"

#include "catalog/columns.h"
#include "packed/format/segment.h"
#include "read/accumulator.h"
#include "read/numbers.h"

/* rows after which leftovers are freed */
#define SCRATCH_ROWS 256

/* ---- columns ---- */

/*
 * column_type returns the type of a column, InvalidOid if there is none.
 */
static Oid
column_type(Relation parent, AttrNumber attnum)
{
	if (attnum == InvalidAttrNumber)
		return InvalidOid;
	return TupleDescAttr(RelationGetDescr(parent), attnum - 1)->atttypid;
}

/*
 * ZbxhistFindValueColumns finds the columns of a history or trends table and
 * raises 22023 if their values are not numbers.
 */
void
ZbxhistFindValueColumns(Relation parent, ValueColumns *columns)
{
	TupleDesc	desc = RelationGetDescr(parent);
	Oid			type;

	columns->num = InvalidAttrNumber;
	columns->value = ZbxhistFindColumn(desc, "value", InvalidOid);
	columns->min = columns->max = columns->value;
	if (columns->value == InvalidAttrNumber)
	{
		columns->num = ZbxhistFindColumn(desc, "num", InvalidOid);
		columns->min = ZbxhistFindColumn(desc, "value_min", InvalidOid);
		columns->value = ZbxhistFindColumn(desc, "value_avg", InvalidOid);
		columns->max = ZbxhistFindColumn(desc, "value_max", InvalidOid);
		if (column_type(parent, columns->num) != INT4OID)
			columns->value = InvalidAttrNumber;
	}
	type = column_type(parent, columns->value);
	columns->is_float = type == FLOAT8OID;
	if ((type != FLOAT8OID && type != NUMERICOID) ||
		column_type(parent, columns->min) != type ||
		column_type(parent, columns->max) != type)
		ereport(ERROR,
				errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("values of table \"%s\" are not numeric",
					   RelationGetRelationName(parent)),
				errdetail("Columns of type double precision or numeric are needed: \"value\", or \"num\", \"value_min\", \"value_avg\" and \"value_max\"."),
				errtable(parent));
}

/* ---- beginning ---- */

/*
 * ZbxhistInitAccumulator prepares acc, with contexts below the current one.
 * is_weighted: a trend's average counts as often as it had values.
 */
void
ZbxhistInitAccumulator(Accumulator *acc, const ValueColumns *columns,
					   bool is_weighted)
{
	memset(acc, 0, sizeof(*acc));
	acc->columns = columns;
	acc->is_weighted = is_weighted && columns->num != InvalidAttrNumber;
	acc->is_unsigned = !acc->is_weighted;
	acc->context = AllocSetContextCreate(CurrentMemoryContext,
										 "zbxhist accumulator",
										 ALLOCSET_SMALL_SIZES);
	acc->scratch = AllocSetContextCreate(CurrentMemoryContext,
										 "zbxhist accumulator scratch",
										 ALLOCSET_DEFAULT_SIZES);
}

/*
 * ZbxhistResetAccumulator forgets what was added.
 */
void
ZbxhistResetAccumulator(Accumulator *acc)
{
	acc->rows = 0;
	acc->count = 0;
	acc->float_sum = 0;
	acc->is_unsigned = !acc->is_weighted;
	acc->sum_low = acc->sum_high = 0;
	acc->min = acc->max = acc->sum = NULL;
	MemoryContextReset(acc->context);
	MemoryContextReset(acc->scratch);
	acc->nscratch = 0;
}

/* ---- doubles ---- */

/*
 * AddFloats adds a row of doubles.
 */
static void
AddFloats(Accumulator *acc, Datum min, Datum max, Datum value, int32 num)
{
	float8		addend = DatumGetFloat8(value);

	if (acc->is_weighted)
		addend = float8_mul(addend, (float8) num);
	if (acc->rows == 0)
	{
		acc->float_min = DatumGetFloat8(min);
		acc->float_max = DatumGetFloat8(max);
	}
	else
	{
		acc->float_min = float8_min(acc->float_min, DatumGetFloat8(min));
		acc->float_max = float8_max(acc->float_max, DatumGetFloat8(max));
	}
	acc->float_sum = float8_pl(acc->float_sum, addend);
}

/* ---- unsigned integers ---- */

/*
 * AddUnsigned adds a row if all its numbers are unsigned integers; returns
 * false otherwise.
 */
static bool
AddUnsigned(Accumulator *acc, Datum min, Datum max, Datum value)
{
	uint64		number;
	uint64		lowest;
	uint64		highest;

	if (!ZbxhistNumericToUnsigned(value, &number))
		return false;
	lowest = highest = number;
	if (acc->columns->num != InvalidAttrNumber &&
		(!ZbxhistNumericToUnsigned(min, &lowest) || !ZbxhistNumericToUnsigned(max, &highest)))
		return false;

	if (acc->rows == 0 || lowest < acc->unsigned_min)
		acc->unsigned_min = lowest;
	if (acc->rows == 0 || highest > acc->unsigned_max)
		acc->unsigned_max = highest;
	acc->sum_low += number;
	if (acc->sum_low < number)
		acc->sum_high++;
	return true;
}

/*
 * LeaveUnsigned turns the totals of unsigned integers into numerics.
 */
static void
LeaveUnsigned(Accumulator *acc)
{
	MemoryContext old;

	if (!acc->is_unsigned)
		return;
	acc->is_unsigned = false;
	if (acc->rows == 0)
		return;
	old = MemoryContextSwitchTo(acc->context);
	acc->min = ZbxhistUnsignedToNumeric(acc->unsigned_min);
	acc->max = ZbxhistUnsignedToNumeric(acc->unsigned_max);
	MemoryContextSwitchTo(acc->scratch);
	acc->sum = ZbxhistWideToNumeric(acc->sum_high, acc->sum_low);
	MemoryContextSwitchTo(old);
}

/* ---- other numerics ---- */

/*
 * IsLess says whether a < b, where not a number is above all numbers.
 */
static bool
IsLess(Numeric a, Numeric b)
{
	return DatumGetBool(DirectFunctionCall2(numeric_lt, NumericGetDatum(a),
											NumericGetDatum(b)));
}

/*
 * KeepExtreme replaces *extreme by number if there was none or is_beyond.
 */
static void
KeepExtreme(Accumulator *acc, Numeric *extreme, Numeric number, bool is_beyond)
{
	MemoryContext old;

	if (*extreme != NULL && !is_beyond)
		return;
	if (*extreme != NULL)
		pfree(*extreme);
	old = MemoryContextSwitchTo(acc->context);
	*extreme = ZbxhistCopyNumeric(number);
	MemoryContextSwitchTo(old);
}

/*
 * AddToSum adds number to the sum, which is in scratch between two rows.
 */
static void
AddToSum(Accumulator *acc, Numeric number)
{
	if (acc->sum == NULL)
		acc->sum = ZbxhistCopyNumeric(number);
	else
		acc->sum = DatumGetNumeric(DirectFunctionCall2(numeric_add,
													   NumericGetDatum(acc->sum),
													   NumericGetDatum(number)));
}

/*
 * RefreshScratch frees what is in scratch but the sum.
 */
static void
RefreshScratch(Accumulator *acc)
{
	Numeric		sum;

	if (++acc->nscratch < SCRATCH_ROWS)
		return;
	MemoryContextSwitchTo(acc->context);
	sum = ZbxhistCopyNumeric(acc->sum);
	MemoryContextReset(acc->scratch);
	MemoryContextSwitchTo(acc->scratch);
	acc->sum = ZbxhistCopyNumeric(sum);
	pfree(sum);
	acc->nscratch = 0;
}

/*
 * AddNumerics adds a row of numerics.
 */
static void
AddNumerics(Accumulator *acc, Datum min, Datum max, Datum value, int32 num)
{
	MemoryContext old = MemoryContextSwitchTo(acc->scratch);
	bool		is_one = acc->columns->num == InvalidAttrNumber;
	Numeric		number = DatumGetNumeric(value);
	Numeric		lowest = is_one ? number : DatumGetNumeric(min);
	Numeric		highest = is_one ? number : DatumGetNumeric(max);

	KeepExtreme(acc, &acc->min, lowest,
				acc->min != NULL && IsLess(lowest, acc->min));
	KeepExtreme(acc, &acc->max, highest,
				acc->max != NULL && IsLess(acc->max, highest));
	if (acc->is_weighted)
		number = DatumGetNumeric(DirectFunctionCall2(numeric_mul,
													 NumericGetDatum(number),
													 NumericGetDatum(int64_to_numeric(num))));
	AddToSum(acc, number);
	RefreshScratch(acc);
	MemoryContextSwitchTo(old);
}

/* ---- adding ---- */

/*
 * ZbxhistAccumulate adds a row with the parent's columns.  As in aggregates,
 * nulls do not count.
 */
void
ZbxhistAccumulate(Accumulator *acc, TupleTableSlot *slot)
{
	const ValueColumns *columns = acc->columns;
	bool		nulls[4] = {false};
	Datum		value = slot_getattr(slot, columns->value, &nulls[0]);
	Datum		min = value;
	Datum		max = value;
	int32		num = 1;

	if (columns->num != InvalidAttrNumber)
	{
		min = slot_getattr(slot, columns->min, &nulls[1]);
		max = slot_getattr(slot, columns->max, &nulls[2]);
		num = DatumGetInt32(slot_getattr(slot, columns->num, &nulls[3]));
	}
	if (nulls[0] || nulls[1] || nulls[2] || nulls[3])
		return;

	if (columns->is_float)
		AddFloats(acc, min, max, value, num);
	else if (!acc->is_unsigned || !AddUnsigned(acc, min, max, value))
	{
		LeaveUnsigned(acc);
		AddNumerics(acc, min, max, value, num);
	}
	acc->rows++;
	acc->count += num;
}

/* ---- segments ---- */

/*
 * AddFloatStats adds the statistics of doubles.
 */
static void
AddFloatStats(Accumulator *acc, const SegmentStats *stats)
{
	bool		is_first = acc->rows == 0;

	acc->float_min = is_first ? stats->min_double :
		float8_min(acc->float_min, stats->min_double);
	acc->float_max = is_first ? stats->max_double :
		float8_max(acc->float_max, stats->max_double);
	acc->float_sum = float8_pl(acc->float_sum, stats->sum_double);
}

/*
 * AddUnsignedStats adds the statistics of unsigned integers.
 */
static void
AddUnsignedStats(Accumulator *acc, const SegmentStats *stats)
{
	bool		is_first = acc->rows == 0;

	acc->unsigned_min = is_first ? stats->min_unsigned :
		Min(acc->unsigned_min, stats->min_unsigned);
	acc->unsigned_max = is_first ? stats->max_unsigned :
		Max(acc->unsigned_max, stats->max_unsigned);
	acc->sum_low += stats->sum_low;
	acc->sum_high += stats->sum_high;
	if (acc->sum_low < stats->sum_low)
		acc->sum_high++;
}

/*
 * ZbxhistAccumulateSegment adds all values of a segment by its statistics;
 * returns false if that cannot be done.
 */
bool
ZbxhistAccumulateSegment(Accumulator *acc, const SegmentStats *stats)
{
	bool		is_float = acc->columns->is_float;

	if (!stats->is_set || acc->columns->num != InvalidAttrNumber ||
		stats->kind != (is_float ? PACKED_DOUBLE : PACKED_UNSIGNED) ||
		(!is_float && !acc->is_unsigned))
		return false;
	if (stats->count == 0)
		return true;
	if (is_float)
		AddFloatStats(acc, stats);
	else
		AddUnsignedStats(acc, stats);
	acc->rows += stats->count;
	acc->count += stats->count;
	return true;
}

/* ---- results, in the current context; there must have been a row ---- */

/*
 * FloatToNumeric converts a double so that it converts back to itself.
 */
static Datum
FloatToNumeric(float8 number)
{
	char		text[DOUBLE_SHORTEST_DECIMAL_LEN];

	double_to_shortest_decimal_buf(number, text);
	return DirectFunctionCall3(numeric_in, CStringGetDatum(text),
							   ObjectIdGetDatum(InvalidOid),
							   Int32GetDatum(-1));
}

/*
 * ZbxhistAccumulatedMin returns the lowest value.
 */
Datum
ZbxhistAccumulatedMin(const Accumulator *acc)
{
	if (acc->columns->is_float)
		return FloatToNumeric(acc->float_min);
	if (acc->is_unsigned)
		return NumericGetDatum(ZbxhistUnsignedToNumeric(acc->unsigned_min));
	return NumericGetDatum(ZbxhistCopyNumeric(acc->min));
}

/*
 * ZbxhistAccumulatedMax returns the highest value.
 */
Datum
ZbxhistAccumulatedMax(const Accumulator *acc)
{
	if (acc->columns->is_float)
		return FloatToNumeric(acc->float_max);
	if (acc->is_unsigned)
		return NumericGetDatum(ZbxhistUnsignedToNumeric(acc->unsigned_max));
	return NumericGetDatum(ZbxhistCopyNumeric(acc->max));
}

/*
 * ZbxhistAccumulatedSum returns the sum.
 */
Datum
ZbxhistAccumulatedSum(const Accumulator *acc)
{
	if (acc->columns->is_float)
		return FloatToNumeric(acc->float_sum);
	if (acc->is_unsigned)
		return NumericGetDatum(ZbxhistWideToNumeric(acc->sum_high, acc->sum_low));
	return NumericGetDatum(ZbxhistCopyNumeric(acc->sum));
}

/*
 * ZbxhistAccumulatedAverage returns the average: of all values when the sum
 * is weighted, else of the rows.  Trends may say that they had no values.
 */
Datum
ZbxhistAccumulatedAverage(const Accumulator *acc)
{
	int64		divisor = acc->is_weighted ? acc->count : acc->rows;

	if (divisor == 0)
		return FloatToNumeric(get_float8_nan());
	if (acc->columns->is_float)
		return FloatToNumeric(acc->float_sum / (float8) divisor);
	return DirectFunctionCall2(numeric_div, ZbxhistAccumulatedSum(acc),
							   NumericGetDatum(int64_to_numeric(divisor)));
}

/*
 * ZbxhistAccumulatedDelta returns the difference of highest and lowest value.
 */
Datum
ZbxhistAccumulatedDelta(const Accumulator *acc)
{
	if (acc->columns->is_float)
		return FloatToNumeric(float8_mi(acc->float_max, acc->float_min));
	return DirectFunctionCall2(numeric_sub, ZbxhistAccumulatedMax(acc),
							   ZbxhistAccumulatedMin(acc));
}
