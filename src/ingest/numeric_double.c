/*-------------------------------------------------------------------------
 *
 * numeric_double.c
 *	  Converts numeric to double precision without printing and parsing it.
 *
 * Zabbix sends a double as a decimal number of 17 digits, which the parser
 * makes a numeric, which float8(numeric) prints and strtod() reads: some
 * thousand instructions for each value.  A number of up to 19 digits with not
 * too large an exponent is an integer times or divided by a power of ten,
 * and one exact division followed by one rounding gives the same result.
 * Everything else takes the long way.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "port/pg_bitutils.h"
#include "utils/fmgrprotos.h"

#include "compat.h"
#include "ingest/numeric_double.h"
#include "tables/numeric_image.h"

/* the last NBASE digit makes it up to 20 decimals, so the first is bounded */
#define MAX_DIGITS			5
#define MAX_FIRST_OF_FIVE	1844

#define MAX_EXACT_DOUBLE	(UINT64CONST(1) << 53)
#define MAX_EXACT_POWER		22	/* 10^22 is a double */
#define MAX_POWER_OF_FIVE	27	/* 5^27 < 2^63 */
#define DOUBLE_BITS			53

/* mantissa * 10^exponent */
typedef struct Decimal
{
	uint64		mantissa;
	int			exponent;
} Decimal;

static const double powers_of_ten[MAX_EXACT_POWER + 1] = {
	1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13,
	1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22
};

/*
 * CollectDigits makes one integer of the digits, without the zeros at its
 * end.  Returns false if it does not fit.
 */
static bool
CollectDigits(const NumericImage *image, Decimal *result)
{
	int			ndigits = image->ndigits;
	uint64		mantissa = 0;
	int			last;
	int			factor = NUMERIC_BASE;

	result->mantissa = 0;
	result->exponent = 0;
	if (ndigits == 0)
		return true;
	if (ndigits > MAX_DIGITS)
		return false;

	for (int i = 0; i < ndigits - 1; i++)
		mantissa = mantissa * NUMERIC_BASE + get_numeric_digit(image, i);
	last = get_numeric_digit(image, ndigits - 1);
	result->exponent = NUMERIC_BASE_DIGITS * (image->weight - ndigits + 1);
	while (factor > 1 && last % 10 == 0)
	{
		last /= 10;
		factor /= 10;
		result->exponent++;
	}
	if (ndigits == MAX_DIGITS && factor == NUMERIC_BASE &&
		get_numeric_digit(image, 0) >= MAX_FIRST_OF_FIVE)
		return false;
	result->mantissa = mantissa * factor + last;
	return true;
}

#ifdef HAVE_INT128

/*
 * RoundToDouble returns the double nearest to value * 2^exponent, to the even
 * one of two; has_rest says that value was cut off.
 */
static double
RoundToDouble(uint128 value, int exponent, bool has_rest)
{
	uint64		high = (uint64) (value >> 64);
	int			nbits = high != 0 ? 65 + pg_leftmost_one_pos64(high) :
		1 + pg_leftmost_one_pos64((uint64) value);
	int			shift = nbits - DOUBLE_BITS;
	uint128		half = (uint128) 1 << (shift - 1);
	uint128		rest = value & ((half << 1) - 1);
	uint64		mantissa = (uint64) (value >> shift);

	if (rest > half || (rest == half && (has_rest || (mantissa & 1))))
		mantissa++;
	return ldexp((double) mantissa, exponent + shift);
}

/*
 * DivideByPower returns the double nearest to mantissa / 10^power.  The
 * quotient has more than 64 bits, as the numerator has 128 and the power of
 * five fewer than 64.
 */
static double
DivideByPower(uint64 mantissa, int power)
{
	int			shift = 127 - pg_leftmost_one_pos64(mantissa);
	uint128		numerator = (uint128) mantissa << shift;
	uint64		divisor = 1;
	uint128		quotient;

	for (int i = 0; i < power; i++)
		divisor *= 5;
	quotient = numerator / divisor;
	return RoundToDouble(quotient, -shift - power,
						 quotient * divisor != numerator);
}

#endif							/* HAVE_INT128 */

/*
 * DecimalToDouble computes the nearest double.  Returns false if the number
 * is out of the range where that is simple.
 */
static bool
DecimalToDouble(const Decimal *decimal, double *result)
{
	int			power = decimal->exponent < 0 ? -decimal->exponent :
		decimal->exponent;

	/* both are exact, so the division rounds once */
	if (decimal->mantissa <= MAX_EXACT_DOUBLE && power <= MAX_EXACT_POWER)
		*result = decimal->exponent < 0 ?
			(double) decimal->mantissa / powers_of_ten[power] :
			(double) decimal->mantissa * powers_of_ten[power];
#ifdef HAVE_INT128
	else if (decimal->exponent <= 0 && power <= MAX_POWER_OF_FIVE)
		*result = DivideByPower(decimal->mantissa, power);
#endif
	else
		return false;
	return true;
}

/*
 * ZbxhistNumericToFloat8 is float8(numeric).
 */
Datum
ZbxhistNumericToFloat8(Datum value)
{
	struct varlena *numeric = (struct varlena *) DatumGetPointer(value);
	NumericImage image;
	Decimal		decimal;
	double		result;

	if (!VARATT_IS_EXTENDED(numeric) &&
		read_numeric_image(VARDATA(numeric), VARSIZE(numeric) - VARHDRSZ,
						   &image) &&
		CollectDigits(&image, &decimal) && DecimalToDouble(&decimal, &result))
		return Float8GetDatum(image.is_negative ? -result : result);
	return DirectFunctionCall1(numeric_float8, value);
}
