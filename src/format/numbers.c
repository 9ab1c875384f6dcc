/*-------------------------------------------------------------------------
 *
 * numbers.c
 *	  Numerics that are integers, as the machine's integers and back.
 *
 * Results are palloc'd in the current context.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/fmgrprotos.h"

#include "compat.h"
#include "format/numbers.h"
#include "format/unsigned_numeric.h"

/*
 * ZbxhistNumericToUnsigned reads a numeric that is an unsigned integer; false
 * if it is another one.
 */
bool
ZbxhistNumericToUnsigned(Datum number, uint64 *result)
{
	struct varlena *image = (struct varlena *) DatumGetPointer(number);

	return !(VARATT_IS_COMPRESSED(image) || VARATT_IS_EXTERNAL(image)) &&
		ZbxhistImageToUnsigned(VARDATA_ANY(image), VARSIZE_ANY_EXHDR(image),
							   result);
}

/*
 * ZbxhistUnsignedToNumeric makes a numeric of an integer.
 */
Numeric
ZbxhistUnsignedToNumeric(uint64 number)
{
	char		image[UNSIGNED_IMAGE_SIZE];
	int			length = ZbxhistUnsignedToImage(number, image);
	struct varlena *result = palloc(VARHDRSZ + length);

	SET_VARSIZE(result, VARHDRSZ + length);
	memcpy(VARDATA(result), image, length);
	return (Numeric) result;
}

/*
 * ZbxhistWideToNumeric makes a numeric of an integer of 128 bits.
 */
Numeric
ZbxhistWideToNumeric(uint64 high, uint64 low)
{
	Datum		result = NumericGetDatum(ZbxhistUnsignedToNumeric(high));

	if (high == 0)
		return ZbxhistUnsignedToNumeric(low);
	/* high * 2^64 + low, where 2^64 is one more than there is */
	result = DirectFunctionCall2(numeric_mul, result,
								 DirectFunctionCall2(numeric_add,
													 NumericGetDatum(ZbxhistUnsignedToNumeric(PG_UINT64_MAX)),
													 NumericGetDatum(ZbxhistUnsignedToNumeric(1))));
	result = DirectFunctionCall2(numeric_add, result,
								 NumericGetDatum(ZbxhistUnsignedToNumeric(low)));
	return DatumGetNumeric(result);
}

/*
 * ZbxhistCopyNumeric copies a number to the current context.
 */
Numeric
ZbxhistCopyNumeric(Numeric number)
{
	Numeric		result = palloc(VARSIZE(number));

	memcpy(result, number, VARSIZE(number));
	return result;
}

/*
 * ZbxhistReplaceNumber replaces *place by a copy of a number, allocated in owner.
 */
void
ZbxhistReplaceNumber(Numeric *place, Datum number, MemoryContext owner)
{
	Numeric		old = *place;
	MemoryContext before = MemoryContextSwitchTo(owner);

	*place = ZbxhistCopyNumeric(DatumGetNumeric(number));
	MemoryContextSwitchTo(before);
	if (old != NULL)
		pfree(old);
}
