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
 * The layout of a numeric is private to utils/adt/numeric.c, but as it is
 * what tables contain it does not change: a header of 16 bits (short form)
 * or 32 bits (long form), then digits to the base of 10000.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "port/pg_bitutils.h"
#include "utils/fmgrprotos.h"

#include "compat.h"
#include "ingest/fast/numeric_double.h"

#define HEADER_FORM_MASK	0xC000
#define HEADER_SHORT		0x8000
#define HEADER_SPECIAL		0xC000
#define LONG_NEGATIVE		0x4000
#define SHORT_NEGATIVE		0x2000
#define SHORT_WEIGHT_SIGN	0x0040
#define SHORT_WEIGHT_MASK	0x003F

#define DIGIT_BASE			10000
#define DECIMALS_PER_DIGIT	4

/* the last NBASE digit makes it up to 20 decimals, so the first is bounded */
#define MAX_DIGITS			5
#define MAX_FIRST_OF_FIVE	1844

#define MAX_EXACT_DOUBLE	(UINT64CONST(1) << 53)
#define MAX_EXACT_POWER		22	/* 10^22 is a double */
#define MAX_POWER_OF_FIVE	27	/* 5^27 < 2^63 */
#define DOUBLE_BITS			53

/* sign * mantissa * 10^exponent */
typedef struct Decimal
{
	bool		is_negative;
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
CollectDigits(const int16 *digits, int ndigits, int weight, Decimal *result)
{
	uint64		mantissa = 0;
	int			last;
	int			factor = DIGIT_BASE;

	result->mantissa = 0;
	result->exponent = 0;
	if (ndigits == 0)
		return true;
	if (ndigits > MAX_DIGITS)
		return false;

	for (int i = 0; i < ndigits - 1; i++)
		mantissa = mantissa * DIGIT_BASE + digits[i];
	last = digits[ndigits - 1];
	result->exponent = DECIMALS_PER_DIGIT * (weight - ndigits + 1);
	while (factor > 1 && last % 10 == 0)
	{
		last /= 10;
		factor /= 10;
		result->exponent++;
	}
	if (ndigits == MAX_DIGITS && factor == DIGIT_BASE &&
		digits[0] >= MAX_FIRST_OF_FIVE)
		return false;
	result->mantissa = mantissa * factor + last;
	return true;
}

/*
 * ReadNumeric takes a numeric apart.  Returns false for a special value, and
 * for one with too many digits.
 */
static bool
ReadNumeric(struct varlena *value, Decimal *result)
{
	const char *data;
	uint16		header;
	int			weight;
	int			ndigits;

	if (VARATT_IS_EXTENDED(value))
		return false;
	data = VARDATA(value);
	header = *(const uint16 *) data;
	data += sizeof(uint16);
	if ((header & HEADER_FORM_MASK) == HEADER_SPECIAL)
		return false;
	if ((header & HEADER_FORM_MASK) == HEADER_SHORT)
	{
		result->is_negative = (header & SHORT_NEGATIVE) != 0;
		weight = (header & SHORT_WEIGHT_MASK) |
			((header & SHORT_WEIGHT_SIGN) ? ~SHORT_WEIGHT_MASK : 0);
	}
	else
	{
		result->is_negative = (header & LONG_NEGATIVE) != 0;
		weight = *(const int16 *) data;
		data += sizeof(int16);
	}
	ndigits = ((char *) value + VARSIZE(value) - data) / sizeof(int16);
	return CollectDigits((const int16 *) data, ndigits, weight, result);
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

	/* both are exact, so there is one rounding */
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

	if (decimal->is_negative)
		*result = -*result;
	return true;
}

/*
 * ZbxhistNumericToFloat8 is float8(numeric).
 */
Datum
ZbxhistNumericToFloat8(Datum value)
{
	Decimal		decimal;
	double		result;

	if (ReadNumeric((struct varlena *) DatumGetPointer(value), &decimal) &&
		DecimalToDouble(&decimal, &result))
		return Float8GetDatum(result);
	return DirectFunctionCall1(numeric_float8, value);
}
