/*-------------------------------------------------------------------------
 *
 * value_check_numeric.c
 *	  Checks of numerics: one that is stored has one image only.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "common/int.h"

#include "packed/values/unsigned_numeric.h"
#include "packed/values/value_check.h"
#include "rows/numeric_image.h"

/*
 * GetNumericPrecision takes precision and scale out of a typmod.
 */
static void
GetNumericPrecision(int32 typmod, int *precision, int *scale)
{
	int32		packed = typmod - VARHDRSZ;

	*precision = (packed >> 16) & 0xFFFF;
	*scale = ((packed & 0x7FF) ^ 1024) - 1024;
}

/*
 * HasGoodDigits says whether all digits are less than the base, with no zero
 * at either end.
 */
static bool
HasGoodDigits(const NumericImage *image)
{
	if (image->ndigits == 0)
		return image->weight == 0 && !image->is_negative;
	for (int i = 0; i < image->ndigits; i++)
	{
		if (get_numeric_digit(image, i) >= NUMERIC_BASE)
			return false;
	}
	return get_numeric_digit(image, 0) != 0 &&
		get_numeric_digit(image, image->ndigits - 1) != 0;
}

/*
 * CountDecimals returns how many decimal digits behind the point a numeric
 * needs; if it is a multiple of ten, less than none.
 */
static int
CountDecimals(const NumericImage *image)
{
	int			decimals = (image->ndigits - 1 - image->weight) *
		NUMERIC_BASE_DIGITS;
	uint16		last = get_numeric_digit(image, image->ndigits - 1);

	for (; last % 10 == 0; last /= 10)
		decimals--;
	return decimals;
}

/*
 * CountIntegral returns how many decimal digits it has before the point.
 */
static int
CountIntegral(const NumericImage *image)
{
	int			count = (image->weight + 1) * NUMERIC_BASE_DIGITS;

	for (int limit = NUMERIC_BASE / 10;
		 get_numeric_digit(image, 0) < limit; limit /= 10)
		count--;
	return count;
}

/*
 * SuitsScale says whether a numeric shows all of its digits, and has no others
 * than typmod allows.
 */
static bool
SuitsScale(const NumericImage *image, int32 typmod)
{
	int			precision;
	int			scale;

	if (image->ndigits > 0 && CountDecimals(image) > image->dscale)
		return false;
	if (typmod < (int32) VARHDRSZ)
		return true;
	GetNumericPrecision(typmod, &precision, &scale);
	return image->dscale == Max(scale, 0) &&
		(image->ndigits == 0 ||
		 (CountDecimals(image) <= scale &&
		  CountIntegral(image) <= precision - scale));
}

/*
 * IsValidSpecial says whether bytes are a special value that suits typmod.
 */
static bool
IsValidSpecial(const char *data, size_t length, int32 typmod)
{
	uint16		header;

	if (length != sizeof(header))
		return false;
	memcpy(&header, data, sizeof(header));
	return header == NUMERIC_NAN ||
		((header == NUMERIC_PINF || header == NUMERIC_NINF) &&
		 typmod < (int32) VARHDRSZ);
}

/*
 * ZbxhistIsValidNumeric says whether bytes are a numeric that suits typmod.
 */
bool
ZbxhistIsValidNumeric(const char *data, size_t length, int32 typmod)
{
	NumericImage image;

	if (!read_numeric_image(data, length, &image))
		return IsValidSpecial(data, length, typmod);
	return HasGoodDigits(&image) && SuitsScale(&image, typmod);
}

/*
 * ZbxhistGreatestUnsigned returns the greatest of the unsigned integers that
 * typmod allows; 0 if it does not allow all of them up to one.
 */
uint64
ZbxhistGreatestUnsigned(int32 typmod)
{
	uint64		limit = 1;
	int			precision;
	int			scale;

	if (typmod < (int32) VARHDRSZ)
		return PG_UINT64_MAX;
	GetNumericPrecision(typmod, &precision, &scale);
	if (scale != 0)
		return 0;
	for (int i = 0; i < precision; i++)
	{
		if (pg_mul_u64_overflow(limit, 10, &limit))
			return PG_UINT64_MAX;
	}
	return limit - 1;
}

/*
 * ZbxhistIsValidUnsigned says whether an unsigned integer is a numeric that
 * suits the type.
 */
bool
ZbxhistIsValidUnsigned(const ValueCheck *check, uint64 value)
{
	char		image[UNSIGNED_IMAGE_SIZE];

	if (check->kind != CHECK_NUMERIC)
		return false;
	if (check->greatest_unsigned > 0)
		return value <= check->greatest_unsigned;
	return ZbxhistIsValidNumeric(image, ZbxhistUnsignedToImage(value, image),
								 check->typmod);
}
