/*-------------------------------------------------------------------------
 *
 * sorted_row.c
 *	  The values of a row on its way through the sort (row_sort.c).
 *
 * A value travels as it will be packed, except that what is compressed or
 * stored out of line stays so: it is fetched when it is packed, so that the
 * sort handles small rows only.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "compat.h"
#include "packed/jobs/sorted_row.h"
#include "packed/values/unsigned_numeric.h"
#include "rows/item_range.h"

/* how a value of bytes is in a sorted row; its length follows, if any */
typedef enum ValueForm
{
	FORM_UNSIGNED = 1,			/* a numeric, as uint64 */
	FORM_BYTES,					/* as it will be packed */
	FORM_TOASTED				/* a varlena that is to be detoasted */
} ValueForm;

/* ---- into the sort ---- */

/*
 * AppendInt appends an integer in the width of its type.
 */
static void
AppendInt(StringInfo record, const LayoutColumn *column, Datum value)
{
	int64		number = ZbxhistDatumToInt(column, value);

	if (column->typlen <= (int) sizeof(int32))
	{
		int32		narrow = (int32) number;

		appendBinaryStringInfo(record, (char *) &narrow, sizeof(narrow));
	}
	else
		appendBinaryStringInfo(record, (char *) &number, sizeof(number));
}

/*
 * AppendBytes appends bytes and what they are.
 */
static void
AppendBytes(StringInfo record, ValueForm form, const char *data, uint32 length)
{
	appendStringInfoCharMacro(record, (char) form);
	appendBinaryStringInfo(record, (char *) &length, sizeof(length));
	appendBinaryStringInfo(record, data, length);
}

/*
 * AppendVarlena appends a varlena; a numeric as an integer if it is one.
 */
static void
AppendVarlena(StringInfo record, const LayoutColumn *column,
			  struct varlena *value)
{
	const char *data;
	uint32		length;
	uint64		number;

	if (VARATT_IS_EXTERNAL(value) || VARATT_IS_COMPRESSED(value))
	{
		AppendBytes(record, FORM_TOASTED, (char *) value, VARSIZE_ANY(value));
		return;
	}
	data = VARDATA_ANY(value);
	length = VARSIZE_ANY_EXHDR(value);
	if (column->kind == PACKED_UNSIGNED &&
		ZbxhistImageToUnsigned(data, length, &number))
	{
		appendStringInfoCharMacro(record, (char) FORM_UNSIGNED);
		appendBinaryStringInfo(record, (char *) &number, sizeof(number));
	}
	else
		AppendBytes(record, FORM_BYTES, data, length);
}

/*
 * AppendValue appends a value that is not null.
 */
static void
AppendValue(StringInfo record, const LayoutColumn *column, Datum value)
{
	if (column->kind == PACKED_INT)
		AppendInt(record, column, value);
	else if (column->kind == PACKED_DOUBLE)
	{
		float8		number = DatumGetFloat8(value);

		appendBinaryStringInfo(record, (char *) &number, sizeof(number));
	}
	else if (column->typlen == -1)
		AppendVarlena(record, column,
					  (struct varlena *) DatumGetPointer(value));
	else
		AppendBytes(record, FORM_BYTES, DatumGetPointer(value),
					column->typlen);
}

/*
 * EncodeRow replaces a record by the values of a row: for each packed column
 * besides the clock a byte that says whether it is null, and its value.
 */
static void
EncodeRow(StringInfo record, const DayLayout *layout,
		  const int *sources, const Datum *values, const bool *nulls)
{
	resetStringInfo(record);
	for (int i = 1; i < layout->npacked; i++)
	{
		bool		isnull = nulls[sources[i]];

		appendStringInfoCharMacro(record, (char) isnull);
		if (!isnull)
			AppendValue(record, layout->packed[i], values[sources[i]]);
	}
}

/*
 * ZbxhistSortRow gives a row of an item to the sort.  sources are the places
 * of its columns among the values, by packed column; its clock is not null.
 */
void
ZbxhistSortRow(RowSort *sort, StringInfo record, const DayLayout *layout,
			   int64 itemid, const int *sources, const Datum *values,
			   const bool *nulls)
{
	int			ns = layout->ns < 0 ? -1 :
		sources[layout->columns[layout->ns].packed];
	SortedRow	row;

	EncodeRow(record, layout, sources, values, nulls);
	row.itemid = itemid;
	row.position = make_position(DatumGetInt32(values[sources[0]]),
								 ns < 0 || nulls[ns] ? 0 :
								 DatumGetInt32(values[ns]));
	row.data = record->data;
	row.length = record->len;
	ZbxhistRowSortAdd(sort, &row);
}

/* ---- and out of it ---- */

/*
 * TakeBytes takes bytes out of a sorted row into a column of the buffer.
 */
static const char *
TakeBytes(RowBuffer *buffer, int row, int number, ValueForm form,
		  const char *next)
{
	uint32		length;

	memcpy(&length, next, sizeof(length));
	next += sizeof(length);
	if (form == FORM_BYTES)
		ZbxhistSetBytes(buffer, row, number, next, length);
	else
	{
		/* detoasting wants it aligned */
		struct varlena *value = palloc(length);

		memcpy(value, next, length);
		ZbxhistSetDatum(buffer, row, number, PointerGetDatum(value), false);
		pfree(value);
	}
	return next + length;
}

/*
 * TakeValue takes a value out of a sorted row; returns where the next is.
 */
static const char *
TakeValue(RowBuffer *buffer, int row, int number, const char *next)
{
	const LayoutColumn *column = buffer->layout->packed[number];
	ValueForm	form;

	if (column->kind == PACKED_INT && column->typlen <= (int) sizeof(int32))
	{
		int32		value;

		memcpy(&value, next, sizeof(value));
		ZbxhistSetInt(buffer, row, number, value);
		return next + sizeof(value);
	}
	if (column->kind == PACKED_INT || column->kind == PACKED_DOUBLE)
	{
		int64		value;

		memcpy(&value, next, sizeof(value));
		ZbxhistSetInt(buffer, row, number, value);
		return next + sizeof(value);
	}

	form = (ValueForm) *next++;
	if (form == FORM_UNSIGNED)
	{
		uint64		value;

		memcpy(&value, next, sizeof(value));
		ZbxhistSetUnsigned(buffer, row, number, value);
		return next + sizeof(value);
	}
	return TakeBytes(buffer, row, number, form, next);
}

/*
 * ZbxhistDecodeRow sets the values of a row of the buffer, whose clock is set.
 */
void
ZbxhistDecodeRow(RowBuffer *buffer, int row, const char *data)
{
	for (int i = 1; i < buffer->rows.ncolumns; i++)
	{
		if (*data++)
			ZbxhistSetNull(buffer, row, i);
		else
			data = TakeValue(buffer, row, i, data);
	}
}
