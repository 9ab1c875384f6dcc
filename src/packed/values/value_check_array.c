/*-------------------------------------------------------------------------
 *
 * value_check_array.c
 *	  Checks of arrays and ranges, which contain other values.
 *
 * Offsets are counted as the headers of PostgreSQL do, from the length word,
 * which is not packed; what is packed begins behind it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/tupmacs.h"
#include "common/int.h"
#include "utils/array.h"
#include "utils/rangetypes.h"

#include "compat.h"
#include "packed/values/value_check.h"

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
 * ZbxhistIsValidArray says whether bytes are an array of the type of check.
 */
bool
ZbxhistIsValidArray(const ValueCheck *check, const char *data, size_t length)
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
 * ZbxhistIsValidRange says whether bytes are a range of the type of check.
 */
bool
ZbxhistIsValidRange(const ValueCheck *check, const char *data, size_t length)
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
