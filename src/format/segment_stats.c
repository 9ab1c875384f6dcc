/*-------------------------------------------------------------------------
 *
 * segment_stats.c
 *	  Statistics of a segment, which its group's directory holds.
 *
 * The greatest value is written as its difference from the smallest.  The sum of unsigned
 * numbers is written as its difference from count * smallest.  Doubles that are decimals
 * are written as integers, their sum as its difference from count * (smallest + greatest)
 * / 2.  Such a sum has rounding errors, so the difference of the bits follows.
 *
 * What rounding took from the exact sum, the rest, precedes all this.  Its first byte, a
 * REST_ form above two bits that are 0, is one with which statistics cannot begin.  A
 * rest is usually a small multiple of a unit slightly below the last place of the sum.
 * Segments of few values have no rest: decoding them is cheaper than storing it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <float.h>
#include <math.h>

#include "format/exact_sum.h"
#include "format/segment_format.h"

#define STATS_FORM 0x03
#define STATS_NONE 0x00
#define STATS_UNSIGNED 0x01
#define STATS_BITS 0x02			/* doubles as they are */
#define STATS_DECIMAL 0x03		/* doubles that are decimals */
#define STATS_NULLS 0x04		/* the number of nulls follows */
#define STATS_EMPTY 0x08		/* nothing but nulls: nothing else follows */
#define STATS_DECIMALS_SHIFT 4

/* three doubles */
#define DOUBLE_BITS_LENGTH 24

#define REST_SHIFT 2
#define REST_NONE 0
#define REST_ZERO 1				/* nothing follows */
#define REST_BITS 2				/* a double as it is */
#define REST_SCALED 3			/* and above: bits below the last place */
#define REST_LAST 63

/* values for each byte of a rest, at least */
#define VALUES_A_BYTE 32

/* up to this, doubles represent all integers */
#define EXACT_LIMIT ((double) (INT64CONST(1) << 53))

/* the rest of a sum, as it is written */
typedef struct ScaledRest
{
	uint8		form;			/* 0: there is none */
	uint64		number;
} ScaledRest;

/* the numbers as they are written */
typedef struct ScaledStats
{
	int			decimals;
	int64		min;
	int64		max;
	int64		sum;
	uint64		correction;		/* of the sum's bits */
} ScaledStats;

/* ---- the rest of a sum ---- */

/* The exponent of the last place of a double. */
static int
last_place(double value)
{
	int			exponent = 0;

	(void) frexp(value, &exponent);
	return Max(exponent - DBL_MANT_DIG, DBL_MIN_EXP - DBL_MANT_DIG);
}

/* The rest that a number of a form stands for. */
static double
unscale_rest(double sum, const ScaledRest *rest)
{
	if (rest->form == REST_ZERO)
		return 0;
	if (rest->form == REST_BITS)
		return codec_double(rest->number);
	return ldexp((double) (int64) rest->number,
				 last_place(sum) - (rest->form - REST_SCALED));
}

/* Chooses the form of a rest. */
static void
scale_rest(const SegmentStats *stats, ScaledRest *rest)
{
	double		number = ldexp(stats->rest_double,
							   -last_place(stats->sum_double));

	rest->number = 0;
	rest->form = REST_ZERO;
	if (stats->rest_double == 0)
		return;
	for (rest->form = REST_SCALED; rest->form < REST_LAST; rest->form++)
	{
		if (number == rint(number))
			break;
		number *= 2;
	}
	if (fabs(number) < EXACT_LIMIT)
	{
		rest->number = (uint64) (int64) number;
		if (unscale_rest(stats->sum_double, rest) == stats->rest_double)
			return;
	}
	rest->form = REST_BITS;
	rest->number = codec_bits(stats->rest_double);
}

/* Do statistics have so many values that their rest is worth its bytes? */
static bool
is_rest_worth_it(const SegmentStats *stats)
{
	ScaledRest	rest;
	int			length = 1;

	if (stats->count < VALUES_A_BYTE)
		return false;
	scale_rest(stats, &rest);
	if (rest.form == REST_BITS)
		length += sizeof(double);
	else if (rest.form != REST_ZERO)
		length += codec_varint_length(codec_zigzag((int64) rest.number));
	return length * VALUES_A_BYTE <= stats->count;
}

/* Adds the rest of a sum. */
static void
put_rest(ByteBuffer *buffer, const SegmentStats *stats)
{
	ScaledRest	rest;

	scale_rest(stats, &rest);
	codec_put_byte(buffer, rest.form << REST_SHIFT);
	if (rest.form == REST_BITS)
		codec_store64(ZbxhistExtendBuffer(buffer, sizeof(double)), rest.number);
	else if (rest.form != REST_ZERO)
		codec_put_signed(buffer, rest.number);
}

/* Takes the rest that statistics begin with; the form is 0 if there is none. */
static bool
get_rest(ByteReader *reader, ScaledRest *rest)
{
	rest->form = REST_NONE;
	rest->number = 0;
	if (reader->next == reader->end ||
		(*reader->next & ((1 << REST_SHIFT) - 1)) != 0)
		return true;
	rest->form = *reader->next >> REST_SHIFT;
	if (rest->form == REST_NONE)
		return true;
	reader->next++;
	if (rest->form >= REST_SCALED)
		return codec_get_signed(reader, &rest->number);
	if (rest->form == REST_ZERO)
		return true;
	if (codec_left(reader) < sizeof(double))
		return false;
	rest->number = codec_load64(reader->next);
	reader->next += sizeof(double);
	return true;
}

/* Sets the rest of statistics that have been read; is it one of theirs? */
static bool
set_rest(SegmentStats *stats, const ScaledRest *rest)
{
	if (rest->form == REST_NONE)
		return true;
	if (!stats->is_set || stats->kind != PACKED_DOUBLE || stats->count == 0)
		return false;
	stats->has_rest = true;
	stats->rest_double = unscale_rest(stats->sum_double, rest);
	return isfinite(stats->rest_double);
}

/* ---- statistics ---- */

/* Adds a number to the 128 bits of the sum. */
static inline void
add_unsigned(SegmentStats *stats, uint64 value)
{
	stats->sum_low += value;
	stats->sum_high += stats->sum_low < value;
}

/* The 128 bits of a number times a count. */
static void
multiply(uint64 value, uint32 count, uint64 *high, uint64 *low)
{
	uint64		upper = (value >> 32) * count;
	uint64		lower = (value & PG_UINT32_MAX) * count;

	*low = (upper << 32) + lower;
	*high = (upper >> 32) + (*low < lower);
}

/* Counts unsigned values. */
static void
count_unsigneds(SegmentStats *stats, const uint64 *values, const bool *nulls,
				int n)
{
	int			i;

	stats->min_unsigned = PG_UINT64_MAX;
	for (i = 0; i < n; i++)
	{
		if (nulls != NULL && nulls[i])
			continue;
		stats->count++;
		stats->min_unsigned = Min(stats->min_unsigned, values[i]);
		stats->max_unsigned = Max(stats->max_unsigned, values[i]);
		add_unsigned(stats, values[i]);
	}
	stats->is_set = true;
	if (stats->count == 0)
		stats->min_unsigned = 0;
}

/* Counts doubles; of equal ones the last counts, as in PostgreSQL. */
static void
count_doubles(SegmentStats *stats, const double *values, const bool *nulls,
			  int n)
{
	double		min = HUGE_VAL;
	double		max = -min;
	double		sum = -0.0;
	double		rest = 0.0;
	bool		is_exact = true;
	int			i;

	for (i = 0; i < n; i++)
	{
		if (nulls != NULL && nulls[i])
			continue;
		stats->count++;
		min = Min(min, values[i]);
		max = Max(max, values[i]);
		is_exact &= add_exactly(&rest, add_exactly(&sum, values[i])) == 0;
	}
	/* a NaN or an infinity makes the sum one */
	stats->is_set = stats->count == 0 || isfinite(sum);
	if (stats->count == 0 || !stats->is_set)
		return;
	stats->min_double = min;
	stats->max_double = max;
	stats->sum_double = sum;
	stats->rest_double = rest + 0.0;	/* not -0 */
	stats->has_rest = is_exact && is_rest_worth_it(stats);
	if (!stats->has_rest)
		stats->rest_double = 0;
}

/* Computes the statistics of n values from `from` on. */
void
ZbxhistComputeStats(const PackedColumn *column, int from, int n,
					SegmentStats *stats)
{
	const bool *nulls = column->nulls == NULL ? NULL : column->nulls + from;

	memset(stats, 0, sizeof(*stats));
	if (column->kind == PACKED_UNSIGNED)
		count_unsigneds(stats, column->unsigneds + from, nulls, n);
	else if (column->kind == PACKED_DOUBLE)
		count_doubles(stats, column->doubles + from, nulls, n);
	if (stats->is_set)
		stats->kind = column->kind;
	else
		memset(stats, 0, sizeof(*stats));
}

/* Finds the decimals with which the statistics can be written; or false. */
static bool
scale_stats(const SegmentStats *stats, ScaledStats *scaled)
{
	int			decimals = 0;

	while (!ZbxhistIsDecimal(stats->min_double, decimals) ||
		   !ZbxhistIsDecimal(stats->max_double, decimals))
		if (++decimals > CODEC_MAX_DECIMALS)
			return false;
	scaled->decimals = decimals;
	(void) ZbxhistScaleDouble(stats->min_double, decimals, &scaled->min);
	(void) ZbxhistScaleDouble(stats->max_double, decimals, &scaled->max);
	if (!ZbxhistScaleDouble(stats->sum_double, decimals, &scaled->sum))
		return false;
	scaled->correction = codec_bits(stats->sum_double) -
		codec_bits(ZbxhistUnscaleDouble(scaled->sum, decimals));
	return true;
}

/* Adds doubles as they are. */
static void
put_double_bits(ByteBuffer *buffer, const SegmentStats *stats)
{
	uint8	   *bytes = ZbxhistExtendBuffer(buffer, DOUBLE_BITS_LENGTH);

	codec_store64(bytes, codec_bits(stats->min_double));
	codec_store64(bytes + 8, codec_bits(stats->max_double));
	codec_store64(bytes + 16, codec_bits(stats->sum_double));
}

/* What count values in the middle of a range sum up to. */
static inline uint64
half_sum(uint64 range, uint32 count)
{
	return range * count / 2;
}

/* Adds doubles that are decimals. */
static void
put_scaled_stats(ByteBuffer *buffer, const ScaledStats *scaled, uint32 count)
{
	uint64		min = scaled->min;

	codec_put_signed(buffer, min);
	codec_put_signed(buffer, scaled->max - min);
	codec_put_signed(buffer, scaled->sum - min * count -
					 half_sum(scaled->max - min, count));
	codec_put_signed(buffer, scaled->correction);
}

/* Adds unsigned numbers; the sum is at least count times the smallest. */
static void
put_unsigned(ByteBuffer *buffer, const SegmentStats *stats)
{
	uint64		high,
				low;

	multiply(stats->min_unsigned, stats->count, &high, &low);
	high = stats->sum_high - high - (stats->sum_low < low);
	low = stats->sum_low - low;
	ZbxhistPutVarint(buffer, stats->min_unsigned);
	ZbxhistPutVarint(buffer, stats->max_unsigned - stats->min_unsigned);
	ZbxhistPutVarint(buffer, low);
	ZbxhistPutVarint(buffer, high);
}

/* Adds the statistics of a segment of nrows rows. */
void
ZbxhistPutStats(ByteBuffer *buffer, const SegmentStats *stats, uint32 nrows)
{
	ScaledStats scaled;
	uint8		flags = STATS_NONE;

	if (stats->is_set)
	{
		if (stats->kind == PACKED_UNSIGNED)
			flags = STATS_UNSIGNED;
		else if (stats->count > 0 && scale_stats(stats, &scaled))
			flags = STATS_DECIMAL | scaled.decimals << STATS_DECIMALS_SHIFT;
		else
			flags = STATS_BITS;
		if (stats->count == 0)
			flags |= STATS_EMPTY;
		else if (stats->count < nrows)
			flags |= STATS_NULLS;
	}
	if (stats->has_rest)
		put_rest(buffer, stats);
	codec_put_byte(buffer, flags);
	if ((flags & STATS_NULLS) != 0)
		ZbxhistPutVarint(buffer, nrows - stats->count);
	if (flags == STATS_NONE || (flags & STATS_EMPTY) != 0)
		return;
	if ((flags & STATS_FORM) == STATS_UNSIGNED)
		put_unsigned(buffer, stats);
	else if ((flags & STATS_FORM) == STATS_BITS)
		put_double_bits(buffer, stats);
	else
		put_scaled_stats(buffer, &scaled, stats->count);
}

/* Takes what put_double_bits wrote. */
static bool
get_double_bits(ByteReader *reader, SegmentStats *stats)
{
	if (codec_left(reader) < DOUBLE_BITS_LENGTH)
		return false;
	stats->min_double = codec_double(codec_load64(reader->next));
	stats->max_double = codec_double(codec_load64(reader->next + 8));
	stats->sum_double = codec_double(codec_load64(reader->next + 16));
	reader->next += DOUBLE_BITS_LENGTH;
	return true;
}

/* Takes what put_scaled_stats wrote. */
static bool
get_scaled(ByteReader *reader, SegmentStats *stats, int decimals)
{
	uint64		min,
				max,
				sum,
				correction;

	if (!codec_get_signed(reader, &min) || !codec_get_signed(reader, &max) ||
		!codec_get_signed(reader, &sum) ||
		!codec_get_signed(reader, &correction))
		return false;
	sum += min * stats->count + half_sum(max, stats->count);
	max += min;
	stats->min_double = ZbxhistUnscaleDouble((int64) min, decimals);
	stats->max_double = ZbxhistUnscaleDouble((int64) max, decimals);
	stats->sum_double = ZbxhistUnscaleDouble((int64) sum, decimals);
	stats->sum_double = codec_double(codec_bits(stats->sum_double) + correction);
	return true;
}

/* Takes what put_unsigned wrote. */
static bool
get_unsigned(ByteReader *reader, SegmentStats *stats)
{
	uint64		range,
				high,
				low;

	if (!ZbxhistGetVarint(reader, &stats->min_unsigned) ||
		!ZbxhistGetVarint(reader, &range) ||
		!ZbxhistGetVarint(reader, &stats->sum_low) ||
		!ZbxhistGetVarint(reader, &stats->sum_high))
		return false;
	stats->max_unsigned = stats->min_unsigned + range;
	multiply(stats->min_unsigned, stats->count, &high, &low);
	stats->sum_high += high;
	add_unsigned(stats, low);
	return true;
}

/* Passes over the statistics of a segment. */
bool
ZbxhistSkipStats(ByteReader *reader)
{
	ScaledRest	rest;
	uint8		flags;

	if (!get_rest(reader, &rest) || !codec_get_byte(reader, &flags))
		return false;
	if ((flags & STATS_FORM) == STATS_NONE || (flags & STATS_EMPTY) != 0)
		return true;
	if ((flags & STATS_NULLS) != 0 && !ZbxhistSkipVarints(reader, 1))
		return false;
	if ((flags & STATS_FORM) != STATS_BITS)
		return ZbxhistSkipVarints(reader, 4);
	if (codec_left(reader) < DOUBLE_BITS_LENGTH)
		return false;
	reader->next += DOUBLE_BITS_LENGTH;
	return true;
}

/* Takes the statistics of a segment of nrows rows, but for the rest. */
static bool
get_stats(ByteReader *reader, SegmentStats *stats, uint32 nrows)
{
	uint64		nulls = 0;
	uint8		flags;
	int			form;

	if (!codec_get_byte(reader, &flags))
		return false;
	form = flags & STATS_FORM;
	if (form == STATS_NONE)
		return flags == STATS_NONE;
	stats->is_set = true;
	stats->kind = form == STATS_UNSIGNED ? PACKED_UNSIGNED : PACKED_DOUBLE;
	if ((flags & STATS_EMPTY) != 0)
		return (flags & STATS_NULLS) == 0;
	if ((flags & STATS_NULLS) != 0 &&
		(!ZbxhistGetVarint(reader, &nulls) || nulls >= nrows))
		return false;
	stats->count = nrows - nulls;
	if (form == STATS_UNSIGNED)
		return get_unsigned(reader, stats);
	if (form == STATS_BITS)
		return get_double_bits(reader, stats);
	return get_scaled(reader, stats, flags >> STATS_DECIMALS_SHIFT);
}

/* Takes the statistics of a segment of nrows rows. */
bool
ZbxhistGetStats(ByteReader *reader, SegmentStats *stats, uint32 nrows)
{
	ScaledRest	rest;

	memset(stats, 0, sizeof(*stats));
	return get_rest(reader, &rest) && get_stats(reader, stats, nrows) &&
		set_rest(stats, &rest);
}
