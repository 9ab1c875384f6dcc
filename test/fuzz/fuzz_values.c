/*-------------------------------------------------------------------------
 *
 * fuzz_values.c
 *	  Checks random bytes as values of each type that can be packed
 *	  (libFuzzer).
 *
 * The first byte chooses the type, and whether the rest is one value or a
 * group.  The columns of a group are checked as a whole, and the result for
 * each row must be that of checking its value alone.  A value that passes is
 * read as PostgreSQL reads it, without checks (touch.c); the sanitizers notice
 * if it should not have passed.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "datatype/timestamp.h"
#include "mb/pg_wchar.h"

#include "format/codec.h"
#include "format/value_check.h"
#include "rows.h"
#include "shim.h"
#include "touch.h"

extern int	LLVMFuzzerTestOneInput(const uint8 *data, size_t size);

/* most memory that decoding a small input may take */
#define MAX_MEMORY ((size_t) 640 * 1024 * 1024)

/* of a column, at least so many rows are checked one by one, too */
#define MAX_COMPARED 300

#define NUMBER(oid, length, least_value, greatest_value, infinities) \
	{.kind = CHECK_NUMBER, .type = (oid), .typmod = -1, .typlen = (length), \
	 .typbyval = true, .least = (least_value), .greatest = (greatest_value), \
	 .has_infinities = (infinities)}
#define FIXED(oid, what, length) \
	{.kind = (what), .type = (oid), .typmod = -1, .typlen = (length)}
#define VARIABLE(oid, what, mod) \
	{.kind = (what), .type = (oid), .typmod = (mod), .typlen = -1, \
	 .greatest_unsigned = PG_UINT64_MAX}
#define SCALED(oid, mod, limit) \
	{.kind = CHECK_NUMERIC, .type = (oid), .typmod = (mod), .typlen = -1, \
	 .greatest_unsigned = (limit)}

/* numeric(precision, scale) as a typmod */
#define DIGITS(precision, scale) \
	((((precision) << 16) | ((scale) & 0x7FF)) + VARHDRSZ)

static const ValueCheck bool_check =
NUMBER(BOOLOID, 1, 0, 1, false);
static const ValueCheck int2_check =
NUMBER(INT2OID, 2, PG_INT16_MIN, PG_INT16_MAX, false);
static const ValueCheck int4_check =
NUMBER(INT4OID, 4, PG_INT32_MIN, PG_INT32_MAX, false);
static const ValueCheck int8_check =
NUMBER(INT8OID, 8, PG_INT64_MIN, PG_INT64_MAX, false);
static const ValueCheck date_check =
NUMBER(DATEOID, 4, DATETIME_MIN_JULIAN - POSTGRES_EPOCH_JDATE,
	   DATE_END_JULIAN - POSTGRES_EPOCH_JDATE - 1, true);
static const ValueCheck time_check =
NUMBER(TIMEOID, 8, 0, USECS_PER_DAY, false);
static const ValueCheck timestamp_check =
NUMBER(TIMESTAMPOID, 8, MIN_TIMESTAMP, END_TIMESTAMP - 1,
	   true);
static const ValueCheck uuid_check =
FIXED(UUIDOID, CHECK_NOTHING, 16);
static const ValueCheck bytea_check = VARIABLE(BYTEAOID, CHECK_NOTHING, -1);
static const ValueCheck text_check = VARIABLE(TEXTOID, CHECK_TEXT, -1);
static const ValueCheck varchar_check =
VARIABLE(VARCHAROID, CHECK_TEXT, VARHDRSZ + 5);
static const ValueCheck json_check = VARIABLE(JSONOID, CHECK_JSON, -1);
static const ValueCheck numeric_check = VARIABLE(NUMERICOID, CHECK_NUMERIC, -1);
static const ValueCheck price_check =
SCALED(NUMERICOID, DIGITS(7, 2), 0);
static const ValueCheck rounded_check =
SCALED(NUMERICOID, DIGITS(3, -2), 0);
static const ValueCheck small_check = SCALED(NUMERICOID, DIGITS(3, 0), 999);
static const ValueCheck jsonb_check = VARIABLE(JSONBOID, CHECK_JSONB, -1);

static const ValueCheck *const checks[] = {
	&bool_check, &int2_check, &int4_check, &int8_check, &date_check,
	&time_check, &timestamp_check, &uuid_check, &bytea_check, &text_check,
	&varchar_check, &json_check, &numeric_check, &price_check, &rounded_check,
	&jsonb_check, &small_check
};

static void
fail(const char *what)
{
	(void) fprintf(stderr, "%s\n", what);
	abort();
}

/* ---- one value ---- */

/* Does a value of a column pass the check of single values? */
static bool
is_good(const ValueCheck *check, const PackedColumn *column, int row)
{
	return ZbxhistFindInvalid(check, column, row, row + 1) > row;
}

/* Checks bytes as a value, and reads it if it passes. */
static void
try_value(const ValueCheck *check, const uint8 *data, size_t size)
{
	int64		number = 0;
	PackedBytes bytes;
	PackedColumn column = {.kind = PACKED_BYTES,.bytes = &bytes};

	/* memory of exactly its size */
	char	   *copy = palloc(size);

	memcpy(copy, data, size);
	bytes.data = copy;
	bytes.len = size;
	if (check->typbyval)
	{
		memcpy(&number, data, Min(size, sizeof(number)));
		column.kind = PACKED_INT;
		column.ints = &number;
		(void) is_good(check, &column, 0);
	}
	else if (is_good(check, &column, 0))
		touch_value(check, copy, size);
}

/* ---- a column ---- */

/* Is a type packed as this kind? */
static bool
suits(const ValueCheck *check, PackedKind kind)
{
	switch (kind)
	{
		case PACKED_INT:
			return check->kind == CHECK_NUMBER;
		case PACKED_DOUBLE:
			return false;
		case PACKED_UNSIGNED:
			return check->kind == CHECK_NUMERIC;
		default:
			return !check->typbyval;
	}
}

/* Checks a column as a whole, and each of its values alone. */
static void
try_column(const ValueCheck *check, const PackedColumn *column, int nrows)
{
	int			next = ZbxhistFindInvalid(check, column, 0, nrows);
	int			row;

	for (row = 0; row < Min(nrows, MAX_COMPARED); row++)
	{
		bool		is_null = column->nulls != NULL && column->nulls[row];

		if (is_null ? next == row :
			is_good(check, column, row) == (next == row))
			fail("a column's value is good, and by itself it is not");
		if (next == row)
			next = ZbxhistFindInvalid(check, column, row + 1, nrows);
		else if (!is_null && column->kind == PACKED_BYTES)
			touch_value(check, column->bytes[row].data, column->bytes[row].len);
	}
}

/* Decodes a group and checks its columns as values of a type. */
static void
try_group(const ValueCheck *check, const uint8 *data, size_t size)
{
	GroupReader reader;
	SegmentRows rows;
	int			i,
				k;

	if (size < 1 ||
		!ZbxhistOpenGroup(&reader, data + 1, size - 1, data[0] % 16 + 1))
		return;
	for (i = 0; i < reader.nsegments; i++)
	{
		if (!ZbxhistDecodeSegment(&reader, i, NULL, &rows))
			continue;
		for (k = 0; k < rows.ncolumns; k++)
			if (suits(check, rows.columns[k].kind))
				try_column(check, &rows.columns[k], rows.nrows);
	}
}

int
LLVMFuzzerTestOneInput(const uint8 *data, size_t size)
{
	const ValueCheck *check;

	if (size < 1)
		return 0;
	check = checks[data[0] % 64 % lengthof(checks)];
	if (data[0] < 128)
		try_value(check, data + 1, size - 1);
	else
		try_group(check, data + 1, size - 1);
	if (shim_peak() > MAX_MEMORY)
		abort();
	shim_reset();
	return 0;
}
