/*-------------------------------------------------------------------------
 *
 * value_check.c
 *	  Checks of values.
 *
 * A value is given as it is packed: a number that is passed by value as 64
 * bits, any other as its bytes, of a varlena those that follow the length
 * word.  These may be at any address.
 *
 * What is looked at is what a type's receive function would refuse.  Only the
 * order of a range's bounds is not: that is another value, but no bad one.
 *
 * Offsets in arrays and ranges are counted as the headers of PostgreSQL do, from
 * the length word, which is not packed; what is packed begins behind it.
 *
 * Text is checked in the way of the server's encoding, many values at once where
 * they follow one another.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>
#include <sys/socket.h>

#include "access/tupmacs.h"
#include "common/int.h"
#include "datatype/timestamp.h"
#include "utils/array.h"
#include "utils/float.h"
#include "utils/geo_decls.h"
#include "utils/inet.h"
#include "utils/rangetypes.h"

#include "compat.h"
#include "packed/format/codec.h"
#include "packed/values/value_check.h"

/* of the binary representation of timetz and of geometric types */
#define TIMETZ_ZONE_OFFSET	8

/* ---- numbers ---- */

/*
 * is_between says whether a number is in its type's bounds.
 */
static inline bool
is_between(const ValueCheck *check, int64 value)
{
	return value >= check->least && value <= check->greatest;
}

/*
 * IsInfinity says whether a number stands for an infinity.
 */
static bool
IsInfinity(const ValueCheck *check, int64 value)
{
	if (!check->has_infinities)
		return false;
	return check->typlen == sizeof(int32) ?
		value == PG_INT32_MIN || value == PG_INT32_MAX :
		value == PG_INT64_MIN || value == PG_INT64_MAX;
}

/*
 * ZbxhistIsValidNumber says whether a number is one of its type.
 */
bool
ZbxhistIsValidNumber(const ValueCheck *check, int64 value)
{
	return check->kind == CHECK_NOTHING ||
		(check->kind == CHECK_NUMBER &&
		 (is_between(check, value) || IsInfinity(check, value)));
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
	/* one look at each, without a branch */
	for (int i = first; i < nrows; i++)
		is_bad |= (uint64) values[i] - least > span;
	if (!is_bad)
		return nrows;
	while (first < nrows && ZbxhistIsValidNumber(check, values[first]))
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

/*
 * IsName says whether the bytes of a name are text and end in time.
 */
static bool
IsName(const char *data, size_t length)
{
	const char *end = memchr(data, '\0', length);

	return end != NULL && is_valid_text(data, end - data);
}

/* ---- numeric ---- */

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
			ZbxhistIsValidUnsigned(check, column->unsigneds[first])))
		first++;
	return first;
}

/* ---- other types ---- */

/*
 * IsBits says whether bytes are a bit string of the length that typmod allows,
 * or exactly that.
 */
static bool
IsBits(const char *data, size_t length, int32 typmod, bool is_exact)
{
	int32		nbits;
	int			rest;

	if (length < sizeof(nbits))
		return false;
	memcpy(&nbits, data, sizeof(nbits));
	length -= sizeof(nbits);
	if (nbits < 0 || length != ((size_t) nbits + BITS_PER_BYTE - 1) / BITS_PER_BYTE)
		return false;
	if (typmod > 0 && (is_exact ? nbits != typmod : nbits > typmod))
		return false;
	/* what follows the last bit is zero */
	rest = nbits % BITS_PER_BYTE;
	return rest == 0 ||
		((uint8) data[sizeof(nbits) + length - 1] & (0xFF >> rest)) == 0;
}

/*
 * IsAddress says whether bytes are an inet, or a cidr, which has no bits of a
 * host.
 */
static bool
IsAddress(const char *data, size_t length, bool is_cidr)
{
	const uint8 *bytes = (const uint8 *) data;
	const uint8 *address = bytes + 2;
	int			nbytes;

	if (length < 2 ||
		(bytes[0] != PGSQL_AF_INET && bytes[0] != PGSQL_AF_INET6))
		return false;
	nbytes = bytes[0] == PGSQL_AF_INET ? 4 : 16;
	if (length != nbytes + 2 || bytes[1] > nbytes * BITS_PER_BYTE)
		return false;
	for (int i = bytes[1]; is_cidr && i < nbytes * BITS_PER_BYTE; i++)
	{
		if ((address[i / BITS_PER_BYTE] & (0x80 >> i % BITS_PER_BYTE)) != 0)
			return false;
	}
	return true;
}

/*
 * IsTimetz says whether bytes are a time with a time zone.
 */
static bool
IsTimetz(const char *data)
{
	int64		time;
	int32		zone;

	memcpy(&time, data, sizeof(time));
	memcpy(&zone, data + TIMETZ_ZONE_OFFSET, sizeof(zone));
	return time >= 0 && time <= USECS_PER_DAY &&
		zone > -TZDISP_LIMIT && zone < TZDISP_LIMIT;
}

/*
 * IsShape says whether doubles are a box (high corner first), a line or a
 * circle.
 */
static bool
IsShape(CheckKind kind, const char *data)
{
	double		numbers[4];

	memcpy(numbers, data,
		   kind == CHECK_BOX ? sizeof(numbers) : 3 * sizeof(double));
	switch (kind)
	{
		case CHECK_BOX:
			/* a NaN is greater than all numbers, as for box_in */
			return !float8_lt(numbers[0], numbers[2]) &&
				!float8_lt(numbers[1], numbers[3]);
		case CHECK_LINE:
			return !(fabs(numbers[0]) <= EPSILON && fabs(numbers[1]) <= EPSILON);
		default:
			return !(numbers[2] < 0);
	}
}

/* ---- values that contain others ---- */

/* a value that contains others, being read */
typedef struct Container
{
	const char *data;			/* what is packed */
	size_t		size;			/* with the length word */
	size_t		offset;			/* of what comes next */
} Container;

/* where the bytes at an offset are */
#define container_at(container, at) \
	((container)->data + ((at) - VARHDRSZ))

/*
 * GetInt32 reads the integer at an offset, which is within the container.
 */
static int32
GetInt32(const Container *container, size_t at)
{
	int32		value;

	memcpy(&value, container_at(container, at), sizeof(value));
	return value;
}

/*
 * Align goes to where a value of that alignment may begin.
 */
static void
Align(Container *container, char align)
{
	container->offset = att_align_nominal(container->offset, align);
}

/*
 * TakeNumber takes a value that is passed by value; returns false if it is not
 * one of its type.
 */
static bool
TakeNumber(Container *container, const ValueCheck *check)
{
	const char *data = container_at(container, container->offset);
	int8		narrow;
	int16		small;
	int32		usual;
	int64		value;

	if (container->size - container->offset < (size_t) check->typlen)
		return false;
	container->offset += check->typlen;
	switch (check->typlen)
	{
		case sizeof(int8):
			memcpy(&narrow, data, sizeof(narrow));
			value = narrow;
			break;
		case sizeof(int16):
			memcpy(&small, data, sizeof(small));
			value = small;
			break;
		case sizeof(int32):
			memcpy(&usual, data, sizeof(usual));
			value = usual;
			break;
		case sizeof(int64):
			memcpy(&value, data, sizeof(value));
			break;
		default:
			return false;
	}
	return ZbxhistIsValidNumber(check, value);
}

/*
 * TakeVarlena takes a value of variable length, which is neither compressed
 * nor elsewhere.  One of a range may have a length word of one byte.
 */
static bool
TakeVarlena(Container *container, const ValueCheck *check, bool allow_short)
{
	size_t		left = container->size - container->offset;
	const char *start = container_at(container, container->offset);
	varattrib_4b header;
	size_t		header_size = VARHDRSZ;
	size_t		size;

	memset(&header, 0, sizeof(header));
	memcpy(&header, start, Min(left, VARHDRSZ));
	if (left >= VARHDRSZ_SHORT && allow_short && VARATT_IS_1B(&header) &&
		!VARATT_IS_1B_E(&header))
	{
		header_size = VARHDRSZ_SHORT;
		size = VARSIZE_1B(&header);
	}
	else if (left >= VARHDRSZ && VARATT_IS_4B_U(&header) &&
			 container->offset % VARHDRSZ == 0)
		size = VARSIZE_4B(&header);
	else
		return false;
	if (size < header_size || size > left)
		return false;
	container->offset += size;
	return ZbxhistIsValidImage(check, start + header_size, size - header_size);
}

/*
 * TakeValue takes a value that begins at the next offset.
 */
static bool
TakeValue(Container *container, const ValueCheck *check, bool allow_short)
{
	const char *data = container_at(container, container->offset);

	if (check->typbyval)
		return TakeNumber(container, check);
	if (check->typlen == -1)
		return TakeVarlena(container, check, allow_short);
	if (check->typlen < 0 ||
		container->size - container->offset < (size_t) check->typlen)
		return false;
	container->offset += check->typlen;
	return ZbxhistIsValidImage(check, data, check->typlen);
}

/* ---- arrays ---- */

/*
 * CountElements returns how many elements an array's dimensions say that it
 * has; -1 if that is impossible.
 */
static int64
CountElements(const Container *array, int ndim)
{
	int64		count = ndim == 0 ? 0 : 1;

	for (int i = 0; i < ndim; i++)
	{
		int32		length = GetInt32(array, sizeof(ArrayType) +
									  sizeof(int32) * i);
		int32		lower = GetInt32(array, sizeof(ArrayType) +
									 sizeof(int32) * (ndim + i));
		int32		upper;

		if (length < 0 || pg_add_s32_overflow(lower, length, &upper))
			return -1;
		count *= length;
		if (count > (int64) MaxArraySize)
			return -1;
	}
	return count;
}

/*
 * TakeElements takes so many elements, of which nulls, unless it is NULL, says
 * by a bit each which are there.
 */
static bool
TakeElements(Container *array, const ValueCheck *element, int64 count,
			 const char *nulls)
{
	for (int64 i = 0; i < count; i++)
	{
		if (nulls != NULL && (nulls[i / 8] & (1 << i % 8)) == 0)
			continue;
		if (array->offset > array->size || !TakeValue(array, element, false))
			return false;
		/* what follows the last one may be missing */
		Align(array, element->typalign);
	}
	return true;
}

/*
 * IsArray says whether bytes are an array of the type of check.
 */
static bool
IsArray(const ValueCheck *check, const char *data, size_t length)
{
	Container	array = {data, length + VARHDRSZ, 0};
	size_t		header;
	int32		ndim;
	int32		data_offset;
	int64		count;

	if (array.size < sizeof(ArrayType))
		return false;
	ndim = GetInt32(&array, offsetof(ArrayType, ndim));
	data_offset = GetInt32(&array, offsetof(ArrayType, dataoffset));
	if ((Oid) GetInt32(&array, offsetof(ArrayType, elemtype)) !=
		check->element->type || ndim < 0 || ndim > MAXDIM)
		return false;
	header = sizeof(ArrayType) + 2 * sizeof(int32) * ndim;
	if (array.size < header || (count = CountElements(&array, ndim)) < 0)
		return false;
	array.offset = data_offset == 0 ? ARR_OVERHEAD_NONULLS(ndim) :
		ARR_OVERHEAD_WITHNULLS(ndim, count);
	if (data_offset != 0 && data_offset != (int64) array.offset)
		return false;
	if (array.offset > array.size ||
		!TakeElements(&array, check->element, count,
					  data_offset == 0 ? NULL : container_at(&array, header)))
		return false;
	return array.offset >= array.size &&
		array.offset - array.size < MAXIMUM_ALIGNOF;
}

/* ---- ranges ---- */

/*
 * TakeBound takes a bound of a range.
 */
static bool
TakeBound(Container *range, const ValueCheck *check)
{
	/* a length word of one byte is not aligned, padding is zero */
	if (range->offset >= range->size)
		return false;
	if (check->typlen != -1 || *container_at(range, range->offset) == '\0')
		Align(range, check->typalign);
	return range->offset < range->size && TakeValue(range, check, true);
}

/*
 * IsRange says whether bytes are a range of the type of check.
 */
static bool
IsRange(const ValueCheck *check, const char *data, size_t length)
{
	Container	range = {data, length + VARHDRSZ - 1, sizeof(RangeType)};
	uint8		flags;

	if (length < sizeof(RangeType) - VARHDRSZ + sizeof(flags) ||
		(Oid) GetInt32(&range, offsetof(RangeType, rangetypid)) != check->type)
		return false;
	flags = (uint8) data[length - 1];
	if ((flags & ~(RANGE_EMPTY | RANGE_LB_INC | RANGE_UB_INC | RANGE_LB_INF |
				   RANGE_UB_INF)) != 0)
		return false;
	if (RANGE_HAS_LBOUND(flags) && !TakeBound(&range, check->element))
		return false;
	if (RANGE_HAS_UBOUND(flags) && !TakeBound(&range, check->element))
		return false;
	return range.offset == range.size;
}

/* ---- any of them ---- */

/*
 * ZbxhistIsValidImage says whether bytes are a value of a type that is passed
 * by reference.
 */
bool
ZbxhistIsValidImage(const ValueCheck *check, const char *data, size_t length)
{
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
		case CHECK_NAME:
			return IsName(data, length);
		case CHECK_NUMERIC:
			return ZbxhistIsValidNumeric(data, length, check->typmod);
		case CHECK_BIT:
			return IsBits(data, length, check->typmod, true);
		case CHECK_VARBIT:
			return IsBits(data, length, check->typmod, false);
		case CHECK_INET:
			return IsAddress(data, length, false);
		case CHECK_CIDR:
			return IsAddress(data, length, true);
		case CHECK_TIMETZ:
			return IsTimetz(data);
		case CHECK_BOX:
		case CHECK_LINE:
		case CHECK_CIRCLE:
			return IsShape(check->kind, data);
		case CHECK_JSONB:
			return ZbxhistIsValidJsonb(data, length);
		case CHECK_ARRAY:
			return IsArray(check, data, length);
		case CHECK_RANGE:
			return IsRange(check, data, length);
	}
	return false;
}

/* ---- a column ---- */

/*
 * FindStretch returns the end of the stretch of rows from first on whose bytes
 * follow one another in memory, as those of most columns do, and sets length to
 * that of all of them.
 */
static int
FindStretch(const PackedColumn *column, int first, int nrows, size_t *length)
{
	const PackedBytes *bytes = column->bytes;
	int			end = first;

	*length = 0;
	do
		*length += bytes[end++].len;
	while (end < nrows && *length > 0 &&
		   bytes[end].data == bytes[first].data + *length);
	return end;
}

/*
 * IsTextStretch says whether the rows of a stretch are text, each by itself; it
 * need not know.
 */
static bool
IsTextStretch(const PackedBytes *bytes, int nrows, size_t length)
{
	if (GetDatabaseEncoding() != PG_UTF8 ||
		!is_valid_text(bytes[0].data, length))
		return false;
	/* no character begins in one row and ends in the next */
	for (int i = 1; i < nrows; i++)
	{
		if (bytes[i].len > 0 && (bytes[i].data[0] & 0xC0) == 0x80)
			return false;
	}
	return true;
}

/*
 * FindInvalidText returns the first row from first on that is not a text of
 * the type; nrows if there is none.  Nulls have no bytes.
 */
static int
FindInvalidText(const ValueCheck *check, const PackedColumn *column, int first,
				int nrows)
{
	const PackedBytes *bytes = column->bytes;
	PackedBytes last = {NULL, 0};

	while (first < nrows)
	{
		size_t		length;
		int			end;
		bool		is_good;

		/* the same value is in the same place */
		if (bytes[first].data == last.data && bytes[first].len == last.len)
		{
			first++;
			continue;
		}
		end = FindStretch(column, first, nrows, &length);
		is_good = IsTextStretch(&bytes[first], end - first, length);
		for (; first < end; first++)
		{
			/* what is no text has no length in characters */
			if ((!is_good && !is_valid_text(bytes[first].data, bytes[first].len)) ||
				!is_short_enough(bytes[first].data, bytes[first].len,
								 check->typmod))
				return first;
		}
		last = bytes[end - 1];
	}
	return nrows;
}

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
	if (check->kind == CHECK_TEXT)
		return FindInvalidText(check, column, first, nrows);
	for (int i = first; i < nrows; i++)
	{
		const PackedBytes *bytes = &column->bytes[i];

		if (column->nulls != NULL && column->nulls[i])
			continue;
		if (good != NULL && good->data == bytes->data && good->len == bytes->len)
			continue;
		if (!ZbxhistIsValidImage(check, bytes->data, bytes->len))
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
