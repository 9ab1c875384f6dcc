/*-------------------------------------------------------------------------
 *
 * segment_rest.c
 *	  What rounding took from a sum of doubles, in a segment's statistics.
 *
 * It comes before them.  Its first byte is none that statistics begin with:
 * a REST_ form, above two bits that are 0.  A rest is mostly a small number of
 * a unit that is somewhat below the last place of the sum.
 *
 * Few values have none: they are quicker decoded than the bytes are worth.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <float.h>
#include <math.h>

#include "packed/format/segment_format.h"

#define REST_SHIFT 2
#define REST_NONE 0
#define REST_ZERO 1				/* nothing follows */
#define REST_BITS 2				/* a double as it is */
#define REST_SCALED 3			/* and above: bits below the last place */
#define REST_LAST 63

/* values for each byte of a rest, at least */
#define VALUES_A_BYTE 32

/* doubles have all integers up to it */
#define EXACT_LIMIT ((double) (INT64CONST(1) << 53))

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
bool
ZbxhistIsRestWorthIt(const SegmentStats *stats)
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
void
ZbxhistPutRest(ByteBuffer *buffer, const SegmentStats *stats)
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
bool
ZbxhistGetRest(ByteReader *reader, ScaledRest *rest)
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
bool
ZbxhistSetRest(SegmentStats *stats, const ScaledRest *rest)
{
	if (rest->form == REST_NONE)
		return true;
	if (!stats->is_set || stats->kind != PACKED_DOUBLE || stats->count == 0)
		return false;
	stats->has_rest = true;
	stats->rest_double = unscale_rest(stats->sum_double, rest);
	return isfinite(stats->rest_double);
}
