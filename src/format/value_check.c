/*-------------------------------------------------------------------------
 *
 * value_check.c
 *	  Checks of values.
 *
 * A value is given as it is packed: one that is passed by value as 64 bits, any other
 * one as its bytes, of a varlena without the length word.  The bytes may be at any
 * address.
 *
 * The checks refuse what a type's receive function would refuse.
 *
 * Text is checked in the way of the server's encoding.
 *
 * A jsonb is a tree of containers, see utils/jsonb.h.  The header of a container has the
 * lengths or ends of its children.  The children follow in the same order and without
 * gaps.  PostgreSQL's functions rely on that without a check.  They also rely on the keys
 * of an object being distinct and sorted, shorter ones first.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "common/int.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/jsonb.h"

#include "compat.h"
#include "format/unsigned_numeric.h"
#include "format/value_check.h"
#include "tables/numeric_image.h"

/* ---- numbers ---- */

/*
 * IsValidNumber says whether a number is in its type's bounds, or stands for an
 * infinity.
 */
static bool
IsValidNumber(const ValueCheck *check, int64 value)
{
	if (value >= check->least && value <= check->greatest)
		return true;
	if (!check->has_infinities)
		return false;
	return check->typlen == sizeof(int32) ?
		value == PG_INT32_MIN || value == PG_INT32_MAX :
		value == PG_INT64_MIN || value == PG_INT64_MAX;
}

/*
 * FindInvalidNumber returns the first row from first on whose number is not
 * one of the type; nrows if there is none.  Nulls are zero, which every type
 * has.
 */
static int
FindInvalidNumber(const ValueCheck *check, const int64 *values, int first,
				  int nrows)
{
	uint64		least = check->least;
	uint64		span = (uint64) check->greatest - least;
	uint64		is_bad = 0;

	if (span == PG_UINT64_MAX)
		return nrows;
	/* checks each, without a branch */
	for (int i = first; i < nrows; i++)
		is_bad |= (uint64) values[i] - least > span;
	if (!is_bad)
		return nrows;
	while (first < nrows && IsValidNumber(check, values[first]))
		first++;
	return first;
}

/* ---- text ---- */

/*
 * is_short_enough says whether text has no more characters than typmod allows.
 * Few values have as many bytes.
 */
static inline bool
is_short_enough(const char *data, size_t length, int32 typmod)
{
	int			most = typmod - VARHDRSZ;

	return typmod < (int32) VARHDRSZ || length <= (size_t) most ||
		pg_mbstrlen_with_len(data, (int) length) <= most;
}

/* ---- numeric: one that is stored has one image only ---- */

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
 * CountDecimals returns how many decimal digits after the point a numeric needs; negative
 * if it is a multiple of ten.
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
 * CountIntegral returns how many decimal digits a numeric has before the point.
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
 * IsValidNumeric says whether bytes are a numeric that suits typmod.
 */
static bool
IsValidNumeric(const char *data, size_t length, int32 typmod)
{
	NumericImage image;

	if (!read_numeric_image(data, length, &image))
		return IsValidSpecial(data, length, typmod);
	return HasGoodDigits(&image) && SuitsScale(&image, typmod);
}

/*
 * ZbxhistGreatestUnsigned returns the greatest unsigned integer up to which typmod allows
 * all; 0 if there is none.
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
 * IsValidUnsigned says whether an unsigned integer is a numeric that
 * suits the type.
 */
static bool
IsValidUnsigned(const ValueCheck *check, uint64 value)
{
	char		image[UNSIGNED_IMAGE_SIZE];

	if (check->kind != CHECK_NUMERIC)
		return false;
	if (check->greatest_unsigned > 0)
		return value <= check->greatest_unsigned;
	return IsValidNumeric(image, ZbxhistUnsignedToImage(value, image),
						  check->typmod);
}


/*
 * FindInvalidUnsigned returns the first row from first on whose unsigned
 * integer does not suit the type; nrows if there is none.
 */
static int
FindInvalidUnsigned(const ValueCheck *check, const PackedColumn *column,
					int first, int nrows)
{
	if (check->kind == CHECK_NUMERIC &&
		check->greatest_unsigned == PG_UINT64_MAX)
		return nrows;
	while (first < nrows &&
		   ((column->nulls != NULL && column->nulls[first]) ||
			IsValidUnsigned(check, column->unsigneds[first])))
		first++;
	return first;
}

/* ---- jsonb ---- */

/* the bytes of a jsonb, where those of what they are part of begin */
typedef struct JsonBytes
{
	const char *data;			/* at any address */
	size_t		length;
} JsonBytes;

static bool IsContainer(JsonBytes bytes, bool is_root);

/*
 * GetWord reads a word.
 */
static uint32
GetWord(JsonBytes bytes, size_t offset)
{
	uint32		word;

	memcpy(&word, bytes.data + offset, sizeof(word));
	return word;
}

/*
 * IsNumberImage says whether bytes are a numeric with its length word.
 */
static bool
IsNumberImage(JsonBytes bytes)
{
	varattrib_4b header;

	if (bytes.length < VARHDRSZ)
		return false;
	memset(&header, 0, sizeof(header));
	memcpy(&header, bytes.data, VARHDRSZ);
	return VARATT_IS_4B_U(&header) && VARSIZE_4B(&header) == bytes.length &&
		IsValidNumeric(bytes.data + VARHDRSZ, bytes.length - VARHDRSZ,
					   -1);
}

/*
 * IsChild says whether the bytes between two offsets of a container's contents
 * are what its entry says.  Numbers and containers are aligned.
 */
static bool
IsChild(JEntry entry, JsonBytes contents, size_t start, size_t end)
{
	size_t		aligned = INTALIGN(start);
	JsonBytes	bytes = {contents.data + start, end - start};

	switch (entry & JENTRY_TYPEMASK)
	{
		case JENTRY_ISSTRING:
			return is_valid_text(bytes.data, bytes.length);
		case JENTRY_ISBOOL_FALSE:
		case JENTRY_ISBOOL_TRUE:
		case JENTRY_ISNULL:
			return bytes.length == 0;
		case JENTRY_ISNUMERIC:
		case JENTRY_ISCONTAINER:
			if (aligned > end)
				return false;
			bytes.data = contents.data + aligned;
			bytes.length = end - aligned;
			return JBE_ISNUMERIC(entry) ? IsNumberImage(bytes) :
				IsContainer(bytes, false);
		default:
			return false;
	}
}

/*
 * IsKeyBefore says whether a key comes before another one.
 */
static bool
IsKeyBefore(JsonBytes left, JsonBytes right)
{
	if (left.length != right.length)
		return left.length < right.length;
	return memcmp(left.data, right.data, left.length) < 0;
}

/*
 * AreChildren says whether the children of a container are good, the first
 * nkeys of them as keys of an object.
 */
static bool
AreChildren(JsonBytes bytes, uint32 nchildren, uint32 nkeys)
{
	size_t		header = sizeof(uint32) * (1 + (size_t) nchildren);
	JsonBytes	contents = {bytes.data + header, bytes.length - header};
	JsonBytes	last = {NULL, 0};
	size_t		start = 0;

	for (uint32 i = 0; i < nchildren; i++)
	{
		JEntry		entry = GetWord(bytes, sizeof(uint32) * (1 + (size_t) i));
		size_t		end = JBE_HAS_OFF(entry) ? JBE_OFFLENFLD(entry) :
			start + JBE_OFFLENFLD(entry);

		if (end < start || end > contents.length ||
			!IsChild(entry, contents, start, end))
			return false;
		if (i < nkeys)
		{
			JsonBytes	key = {contents.data + start, end - start};

			if (!JBE_ISSTRING(entry) || (i > 0 && !IsKeyBefore(last, key)))
				return false;
			last = key;
		}
		start = end;
	}
	return start == contents.length;
}

/*
 * IsContainer says whether bytes are an array or an object; a single value is
 * an array of its own kind, at the root only.
 */
static bool
IsContainer(JsonBytes bytes, bool is_root)
{
	uint32		header;
	uint32		count;
	uint64		nchildren;

	check_stack_depth();
	if (bytes.length < sizeof(header))
		return false;
	header = GetWord(bytes, 0);
	count = header & JB_CMASK;
	nchildren = count;
	switch (header & ~JB_CMASK)
	{
		case JB_FARRAY:
			break;
		case JB_FOBJECT:
			nchildren *= 2;
			break;
		case JB_FARRAY | JB_FSCALAR:
			if (!is_root || count != 1)
				return false;
			break;
		default:
			return false;
	}
	if (nchildren > (bytes.length - sizeof(header)) / sizeof(JEntry))
		return false;
	if ((header & JB_FSCALAR) != 0 &&
		JBE_ISCONTAINER(GetWord(bytes, sizeof(header))))
		return false;
	return AreChildren(bytes, (uint32) nchildren,
					   (header & JB_FOBJECT) != 0 ? count : 0);
}

/* ---- other types ---- */

/*
 * IsValidImage says whether bytes are a value of a type that is passed
 * by reference.
 */
static bool
IsValidImage(const ValueCheck *check, const char *data, size_t length)
{
	JsonBytes	bytes = {data, length};

	if (check->typbyval ||
		(check->typlen > 0 && length != (size_t) check->typlen))
		return false;
	switch (check->kind)
	{
		case CHECK_UNKNOWN:
		case CHECK_NUMBER:
			return false;
		case CHECK_NOTHING:
			return true;
		case CHECK_TEXT:
			return is_valid_text(data, length) &&
				is_short_enough(data, length, check->typmod);
		case CHECK_JSON:
			return is_valid_text(data, length) &&
				is_valid_json(data, (int) length);
		case CHECK_NUMERIC:
			return IsValidNumeric(data, length, check->typmod);
		case CHECK_JSONB:
			return IsContainer(bytes, true);
	}
	return false;
}

/* ---- a column ---- */

/*
 * FindInvalidImage returns the first row from first on whose bytes are not a
 * value of the type; nrows if there is none.
 */
static int
FindInvalidImage(const ValueCheck *check, const PackedColumn *column,
				 int first, int nrows)
{
	const PackedBytes *good = NULL;

	if (check->kind == CHECK_NOTHING && check->typlen < 0)
		return nrows;
	for (int i = first; i < nrows; i++)
	{
		const PackedBytes *bytes = &column->bytes[i];

		if (column->nulls != NULL && column->nulls[i])
			continue;
		if (good != NULL && good->data == bytes->data && good->len == bytes->len)
			continue;
		if (!IsValidImage(check, bytes->data, bytes->len))
			return i;
		good = bytes;
	}
	return nrows;
}

/*
 * ZbxhistFindInvalid returns the first row from first on whose value in a
 * decoded column, which has the right kind, is not one of the type; nrows if
 * there is none.
 */
int
ZbxhistFindInvalid(const ValueCheck *check, const PackedColumn *column,
				   int first, int nrows)
{
	switch (column->kind)
	{
		case PACKED_INT:
			return FindInvalidNumber(check, column->ints, first, nrows);
		case PACKED_DOUBLE:
			return nrows;
		case PACKED_UNSIGNED:
			return FindInvalidUnsigned(check, column, first, nrows);
		case PACKED_BYTES:
			return FindInvalidImage(check, column, first, nrows);
	}
	return first;
}
