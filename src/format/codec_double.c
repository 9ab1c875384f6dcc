/*-------------------------------------------------------------------------
 *
 * codec_double.c
 *	  Doubles as a column, bit by bit.
 *
 * Most metrics are decimals of a few places: they become integers by scaling, as in ALP
 * (A. Afroozeh, L. Kuffo, P. Boncz: ALP: Adaptive Lossless Floating-Point Compression,
 * SIGMOD 2024).  Unlike ALP, we divide by a power of ten when reading, instead of
 * multiplying by its inverse.  A quotient is rounded correctly, so every decimal of up to
 * 15 digits is exact, and only the number of places has to be chosen.  Values that
 * scaling does not give exactly (94.79799999999999, NaN, -0) are corrected by the
 * difference of the bits: a second stream of integers, mostly zeros and so short.
 *
 * Doubles that are no decimals are packed as integers of their bits, which
 * for numbers of one sign are in the order of the numbers; the sign is moved
 * to the lowest bit.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "format/codec.h"

#define DOUBLES_DECIMALS 0x0F	/* how many, when scaled */
#define DOUBLES_CORRECTED 0x10	/* a stream of corrections follows */
#define DOUBLES_BITS 0x20		/* not scaled */

/* scaled values are less than this: rounding below depends on it */
#define SCALED_LIMIT ((double) (INT64CONST(1) << 51))

/* 1.5 * 2^52: added and subtracted, rounds what is less than 2^51 */
#define ROUNDING 6755399441055744.0

#define SAMPLE_SIZE 32

/* above so many bits a value, packing the values' bits is tried, too */
#define GOOD_WIDTH 36

/* above so many, only packing the bits is tried */
#define BAD_WIDTH 66

/* one more than the largest: the array is indexed by decimals */
static const double powers_of_ten[CODEC_MAX_DECIMALS + 1] = {
	1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13,
	1e14, 1e15
};

/* The value that an integer stands for; decimals is 0 to 15. */
double
ZbxhistUnscaleDouble(int64 scaled, int decimals)
{
	return (double) scaled / powers_of_ten[decimals];
}

/* The integer nearest to a scaled value; says whether it is small enough. */
static inline bool
scale_double(double value, int decimals, int64 *scaled)
{
	double		product = value * powers_of_ten[decimals];

	/* false for NaN */
	if (!(fabs(product) < SCALED_LIMIT))
		return false;
	*scaled = (int64) (product + ROUNDING - ROUNDING);
	return true;
}

/* The same for others; decimals is 0 to 15. */
bool
ZbxhistScaleDouble(double value, int decimals, int64 *scaled)
{
	return scale_double(value, decimals, scaled);
}

/* Does an integer stand exactly for a value? */
bool
ZbxhistIsDecimal(double value, int decimals)
{
	int64		scaled;

	return scale_double(value, decimals, &scaled) &&
		codec_bits(ZbxhistUnscaleDouble(scaled, decimals)) == codec_bits(value);
}

/* ---------------------------------------------------------------- writing */

/* Bits that values with so many decimals would take, about. */
static int
estimate_bits(const double *sample, int n, int decimals)
{
	int64		smallest = PG_INT64_MAX;
	int64		greatest = PG_INT64_MIN;
	int			bits = 0;
	int			i;

	for (i = 0; i < n; i++)
	{
		int64		scaled;
		uint64		correction;

		if (!scale_double(sample[i], decimals, &scaled))
		{
			bits += 80;
			continue;
		}
		smallest = Min(smallest, scaled);
		greatest = Max(greatest, scaled);
		correction = codec_bits(sample[i]) -
			codec_bits(ZbxhistUnscaleDouble(scaled, decimals));
		if (correction != 0)
			bits += 8 + codec_width(codec_zigzag(correction));
	}
	if (smallest < greatest)
		bits += n * codec_width((uint64) greatest - (uint64) smallest);
	return bits;
}

/* The least decimals with which a value is exact; -1 if none. */
static int
least_decimals(double value, int guess)
{
	int			decimals;

	/* neighbours mostly have as many digits, or fewer */
	if (guess > 0 && ZbxhistIsDecimal(value, guess) &&
		!ZbxhistIsDecimal(value, guess - 1))
		return guess;
	for (decimals = 0; decimals <= CODEC_MAX_DECIMALS; decimals++)
	{
		if (ZbxhistIsDecimal(value, decimals))
			return decimals;
	}
	return -1;
}

/* Chooses the decimals by a sample; returns the bits a value takes, about. */
static int
choose_decimals(const double *values, int n, int *decimals)
{
	double		sample[SAMPLE_SIZE];
	int			count = Min(n, SAMPLE_SIZE);
	bool		is_candidate[CODEC_MAX_DECIMALS + 1] = {false};
	int			best = PG_INT32_MAX;
	int			guess = 0;
	int			i;

	*decimals = 0;
	for (i = 0; i < count; i++)
	{
		int			least;

		sample[i] = values[(size_t) i * n / count];
		least = least_decimals(sample[i], guess);
		if (least >= 0)
		{
			is_candidate[least] = true;
			guess = least;
		}
	}
	for (i = 0; i <= CODEC_MAX_DECIMALS; i++)
	{
		int			bits;

		if (!is_candidate[i])
			continue;
		bits = estimate_bits(sample, count, i);
		if (bits < best)
		{
			best = bits;
			*decimals = i;
		}
	}
	return best / count;
}

/* Scales values; returns whether corrections are needed. */
static bool
scale_values(const double *values, int n, int decimals, uint64 *scaled,
			 uint64 *corrections)
{
	uint64		any = 0;
	int64		last = 0;
	int			i;

	for (i = 0; i < n; i++)
	{
		/* a value that cannot be scaled repeats the last one */
		(void) scale_double(values[i], decimals, &last);
		scaled[i] = last;
		corrections[i] = codec_bits(values[i]) -
			codec_bits(ZbxhistUnscaleDouble(last, decimals));
		any |= corrections[i];
	}
	return any != 0;
}

/* Adds values as integers. */
static void
put_scaled_doubles(ByteBuffer *buffer, const double *values, int n,
				   int decimals,
				   uint64 *work)
{
	bool		is_corrected = scale_values(values, n, decimals, work, work + n);

	codec_put_byte(buffer, decimals | (is_corrected ? DOUBLES_CORRECTED : 0));
	ZbxhistEncodeIntegers(buffer, work, n);
	if (is_corrected)
		ZbxhistEncodeIntegers(buffer, work + n, n);
}

/* Adds values as integers of their bits. */
static void
put_bits(ByteBuffer *buffer, const double *values, int n, uint64 *work)
{
	int			i;

	for (i = 0; i < n; i++)
	{
		uint64		bits = codec_bits(values[i]);

		work[i] = bits << 1 | bits >> 63;
	}
	codec_put_byte(buffer, DOUBLES_BITS);
	ZbxhistEncodeIntegers(buffer, work, n);
}

/* Replaces what begins at start by the bits if that is smaller. */
static void
try_bits(ByteBuffer *buffer, size_t start, const double *values, int n,
		 uint64 *work)
{
	size_t		begin = buffer->length;
	size_t		length;

	put_bits(buffer, values, n, work);
	length = buffer->length - begin;
	if (length < begin - start)
		memmove(buffer->data + start, buffer->data + begin, length);
	buffer->length = start + Min(length, begin - start);
}

/* Adds the column of n values, which the reader must know. */
void
ZbxhistEncodeDoubles(ByteBuffer *buffer, const double *values, int n)
{
	size_t		start = buffer->length;
	uint64	   *work;
	int			decimals;
	int			bits;

	if (n == 0)
		return;
	work = palloc(2 * (size_t) n * sizeof(uint64));
	bits = choose_decimals(values, n, &decimals);
	if (bits > BAD_WIDTH)
		put_bits(buffer, values, n, work);
	else
		put_scaled_doubles(buffer, values, n, decimals, work);
	if (bits > GOOD_WIDTH && bits <= BAD_WIDTH)
		try_bits(buffer, start, values, n, work);
	pfree(work);
}

/* ---------------------------------------------------------------- reading */

/* Takes the corrections and applies them. */
static bool
get_corrections(ByteReader *reader, double *values, int n)
{
	uint64	   *corrections = palloc((size_t) n * sizeof(uint64));
	bool		result = ZbxhistDecodeIntegers(reader, corrections, n);
	int			i;

	for (i = 0; result && i < n; i++)
		values[i] = codec_double(codec_bits(values[i]) + corrections[i]);
	pfree(corrections);
	return result;
}

/*
 * Converts the integers in the array to doubles in place.  Integers made by scaling fit
 * into the last bits of ROUNDING, so the conversion can be vectorised; forged bytes may
 * have larger ones.
 */
static void
unscale_values(double *values, int n, int decimals)
{
	double		divisor = powers_of_ten[decimals];
	uint64		too_wide = 0;
	int			i;

	for (i = 0; i < n; i++)
		too_wide |= (codec_bits(values[i]) + (UINT64CONST(1) << 51)) >> 52;
	for (i = 0; too_wide && i < n; i++)
		values[i] = ZbxhistUnscaleDouble(codec_bits(values[i]), decimals);
	for (i = 0; !too_wide && i < n; i++)
		values[i] = (codec_double(codec_bits(values[i]) +
								  codec_bits(ROUNDING)) - ROUNDING) / divisor;
}

/* Makes values of the bits that are in their places, sign last. */
static void
restore_signs(double *values, int n)
{
	int			i;

	for (i = 0; i < n; i++)
	{
		uint64		bits = codec_bits(values[i]);

		values[i] = codec_double(bits >> 1 | bits << 63);
	}
}

/* Takes n values that ZbxhistEncodeDoubles added. */
bool
ZbxhistDecodeDoubles(ByteReader *reader, double *values, int n)
{
	uint8		flags;

	if (n == 0)
		return true;
	if (!codec_get_byte(reader, &flags))
		return false;
	/* integers first, then in their places what they stand for */
	if (!ZbxhistDecodeIntegers(reader, (uint64 *) values, n))
		return false;
	if (flags == DOUBLES_BITS)
	{
		restore_signs(values, n);
		return true;
	}
	if ((flags & ~(DOUBLES_DECIMALS | DOUBLES_CORRECTED)) != 0)
		return false;
	unscale_values(values, n, flags & DOUBLES_DECIMALS);
	return (flags & DOUBLES_CORRECTED) == 0 ||
		get_corrections(reader, values, n);
}
