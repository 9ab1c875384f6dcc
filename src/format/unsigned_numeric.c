/*-------------------------------------------------------------------------
 *
 * unsigned_numeric.c
 *	  Converts numerics that are integers from 0 to 2^64-1, without decimals,
 *	  to uint64 and back, bit by bit.
 *
 * Zabbix stores such numbers in columns of type numeric(20).  Each has one image in the
 * short form, so it is restored exactly.  Numerics with another image are not handled
 * here.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "common/int.h"

#include "format/unsigned_numeric.h"
#include "tables/numeric_image.h"

#define MAX_DIGITS			5

/*
 * ZbxhistImageToUnsigned reads a numeric's image, at any address; returns
 * false if it is not the one image of an unsigned integer.
 */
bool
ZbxhistImageToUnsigned(const char *image, size_t length, uint64 *result)
{
	uint16		header;
	uint16		digits[MAX_DIGITS];
	int			ndigits = (int) (length / sizeof(uint16)) - 1;
	int			weight;
	uint64		value = 0;

	if (length < sizeof(uint16) || length > UNSIGNED_IMAGE_SIZE ||
		length % sizeof(uint16) != 0)
		return false;
	memcpy(&header, image, sizeof(header));
	memcpy(digits, image + sizeof(header), length - sizeof(header));
	/* positive, without decimals */
	weight = header & SHORT_WEIGHT_MASK;
	if ((header & ~SHORT_WEIGHT_MASK) != NUMERIC_SHORT_FORM ||
		weight >= MAX_DIGITS || ndigits > weight + 1)
		return false;

	*result = 0;
	if (ndigits == 0)
		return weight == 0;
	if (digits[0] == 0 || digits[ndigits - 1] == 0)
		return false;
	for (int i = 0; i <= weight; i++)
	{
		uint16		digit = i < ndigits ? digits[i] : 0;

		if (digit >= NUMERIC_BASE ||
			pg_mul_u64_overflow(value, NUMERIC_BASE, &value) ||
			pg_add_u64_overflow(value, digit, &value))
			return false;
	}
	*result = value;
	return true;
}

/*
 * ZbxhistUnsignedToImage writes the image of a number, of UNSIGNED_IMAGE_SIZE
 * bytes at most, and returns its length.
 */
int
ZbxhistUnsignedToImage(uint64 value, char *image)
{
	uint16		digits[MAX_DIGITS];
	int			first = MAX_DIGITS;
	int			last = MAX_DIGITS;
	int			weight;
	uint16		header;

	while (value != 0)
	{
		digits[--first] = value % NUMERIC_BASE;
		value /= NUMERIC_BASE;
	}
	weight = Max(MAX_DIGITS - 1 - first, 0);
	while (last > first && digits[last - 1] == 0)
		last--;
	header = NUMERIC_SHORT_FORM | weight;
	memcpy(image, &header, sizeof(header));
	memcpy(image + sizeof(header), &digits[first],
		   sizeof(uint16) * (last - first));
	return (int) (sizeof(header) + sizeof(uint16) * (last - first));
}
