/*-------------------------------------------------------------------------
 *
 * value_check.c
 *	  Checks of values.
 *
 * A value is given as it is packed: a number that is passed by value as 64
 * bits, any other as its bytes, of a varlena those that follow the length
 * word.  These may be at any address.
 *
 * What is looked at is what a type's receive function would refuse.
 *
 * Text is checked in the way of the server's encoding, many values at once where
 * they follow one another.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "mb/pg_wchar.h"

#include "compat.h"
#include "packed/values/value_check.h"

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
 * IsValidNumber says whether a number is one of its type.
 */
static bool
IsValidNumber(const ValueCheck *check, int64 value)
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
 * IsValidImage says whether bytes are a value of a type that is passed
 * by reference.
 */
static bool
IsValidImage(const ValueCheck *check, const char *data, size_t length)
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
		case CHECK_NUMERIC:
			return ZbxhistIsValidNumeric(data, length, check->typmod);
		case CHECK_JSONB:
			return ZbxhistIsValidJsonb(data, length);
	}
	return false;
}

/* ---- a column ---- */

/*
 * FindRun returns the end of the run of rows from first on whose bytes follow
 * one another in memory, as those of most columns do, and sets length to that
 * of all of them.
 */
static int
FindRun(const PackedColumn *column, int first, int nrows, size_t *length)
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
 * IsTextRun says whether the rows of a run are text, each by itself; it need not
 * know.
 */
static bool
IsTextRun(const PackedBytes *bytes, int nrows, size_t length)
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
		end = FindRun(column, first, nrows, &length);
		is_good = IsTextRun(&bytes[first], end - first, length);
		for (; first < end; first++)
		{
			/* what is no text has no length in characters */
			if ((!is_good && !is_valid_text(bytes[first].data,
											bytes[first].len)) ||
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
