/*-------------------------------------------------------------------------
 *
 * row_buffer.c
 *	  Rows of one item, column by column, on their way into segments.
 *
 * A numeric column begins as unsigned integers.  At the first value that is not one, all
 * values of the column become bytes, until the buffer is empty again.
 *
 * Bytes are copied into a context of the buffer.  When rows are removed from the front,
 * the bytes of the remaining rows are copied into a new context, so that memory stays in
 * proportion to the contents of the buffer.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "utils/memutils.h"

#include "compat.h"
#include "format/row_buffer.h"
#include "format/row_compare.h"
#include "format/unsigned_numeric.h"
#include "tables/item_range.h"

#define FIRST_MAX_ROWS 512

/* ---- the arrays ---- */

/*
 * GrowArray makes an array of the buffer's, which may be NULL, one of
 * max_rows elements.
 */
static void *
GrowArray(RowBuffer *buffer, void *array, Size size, int max_rows)
{
	if (array == NULL)
		return MemoryContextAllocHuge(buffer->context, size * max_rows);
	return repalloc_huge(array, size * max_rows);
}

/*
 * GrowBuffer makes room for max_rows rows.
 */
static void
GrowBuffer(RowBuffer *buffer, int max_rows)
{
	for (int i = 0; i < buffer->rows.ncolumns; i++)
	{
		PackedColumn *column = &buffer->rows.columns[i];

		column->values = GrowArray(buffer, column->values,
								   packed_value_size(column->kind), max_rows);
		if (column->nulls != NULL)
			column->nulls = repalloc_huge(column->nulls,
										  sizeof(bool) * max_rows);
	}
	buffer->max_rows = max_rows;
}

/*
 * ResetKinds gives each column the kind that its layout says, and an array.
 */
static void
ResetKinds(RowBuffer *buffer)
{
	for (int i = 0; i < buffer->rows.ncolumns; i++)
	{
		PackedColumn *column = &buffer->rows.columns[i];

		column->kind = buffer->layout->packed[i]->kind;
		/* what was made room for images has room for numbers */
		if (column->values == NULL)
			column->values = GrowArray(buffer, NULL,
									   packed_value_size(column->kind),
									   buffer->max_rows);
		if (column->nulls != NULL)
			pfree(column->nulls);
		column->nulls = NULL;
	}
}

/* ---- life of a buffer ---- */

/*
 * ZbxhistCreateRowBuffer makes an empty buffer for rows of that layout, which
 * must live as long.  Allocates in a child of the current context.
 */
RowBuffer *
ZbxhistCreateRowBuffer(const DayLayout *layout)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "zbxhist row buffer",
												  ALLOCSET_DEFAULT_SIZES);
	RowBuffer  *buffer = MemoryContextAllocZero(context, sizeof(RowBuffer));

	buffer->context = context;
	buffer->bytes_context = AllocSetContextCreate(context,
												  "zbxhist row buffer bytes",
												  ALLOCSET_DEFAULT_SIZES);
	buffer->layout = layout;
	buffer->max_rows = FIRST_MAX_ROWS;
	buffer->rows.ncolumns = layout->npacked;
	buffer->rows.columns =
		MemoryContextAllocZero(context,
							   sizeof(PackedColumn) * layout->npacked);
	ResetKinds(buffer);
	return buffer;
}

/*
 * ZbxhistBeginRows empties the buffer, for rows of an item.
 */
void
ZbxhistBeginRows(RowBuffer *buffer, int64 itemid)
{
	buffer->rows.itemid = itemid;
	buffer->rows.nrows = 0;
	buffer->nbytes = 0;
	ResetKinds(buffer);
	MemoryContextReset(buffer->bytes_context);
}

/* ---- adding rows ---- */

/*
 * ZbxhistAddRow adds a row and returns its number; the columns besides clock
 * are yet to be set.
 */
int
ZbxhistAddRow(RowBuffer *buffer, int32 clock)
{
	int			row = buffer->rows.nrows;

	if (row == buffer->max_rows)
		GrowBuffer(buffer, buffer->max_rows * 2);
	buffer->rows.columns[0].ints[row] = clock;
	buffer->rows.nrows++;
	return row;
}

/*
 * HasValue notes, for a column that has nulls, that a row's value is not null.
 */
static inline void
HasValue(PackedColumn *column, int row)
{
	if (unlikely(column->nulls != NULL))
		column->nulls[row] = false;
}

/*
 * SetNull makes a row's value null.
 */
static void
SetNull(RowBuffer *buffer, int row, int number)
{
	PackedColumn *column = &buffer->rows.columns[number];
	char	   *array = column->values;

	if (column->nulls == NULL)
	{
		column->nulls = GrowArray(buffer, NULL, sizeof(bool),
								  buffer->max_rows);
		memset(column->nulls, 0, sizeof(bool) * buffer->rows.nrows);
	}
	column->nulls[row] = true;
	memset(array + packed_value_size(column->kind) * row, 0, packed_value_size(column->kind));
}

/*
 * KeepBytes copies bytes into the buffer's memory.
 */
static void
KeepBytes(RowBuffer *buffer, PackedBytes *value, const char *data,
		  uint32 length)
{
	char	   *copy = "";

	if (length > 0)
	{
		copy = MemoryContextAllocHuge(buffer->bytes_context, length);
		memcpy(copy, data, length);
		buffer->nbytes += length;
	}
	value->data = copy;
	value->len = length;
}

/*
 * TurnIntoBytes makes a column of unsigned integers one of images.
 */
static void
TurnIntoBytes(RowBuffer *buffer, PackedColumn *column)
{
	uint64	   *numbers = column->unsigneds;

	column->bytes = GrowArray(buffer, NULL, sizeof(PackedBytes),
							  buffer->max_rows);
	for (int i = 0; i < buffer->rows.nrows; i++)
	{
		char		image[UNSIGNED_IMAGE_SIZE];
		int			length = 0;

		if (column->nulls == NULL || !column->nulls[i])
			length = ZbxhistUnsignedToImage(numbers[i], image);
		KeepBytes(buffer, &column->bytes[i], image, length);
	}
	pfree(numbers);
	column->kind = PACKED_BYTES;
}

/*
 * SetBytes sets a row's value to bytes, which are copied; a numeric's are its
 * image.
 */
static void
SetBytes(RowBuffer *buffer, int row, int number, const char *data,
		 uint32 length)
{
	PackedColumn *column = &buffer->rows.columns[number];

	HasValue(column, row);
	if (column->kind == PACKED_UNSIGNED)
	{
		if (ZbxhistImageToUnsigned(data, length, &column->unsigneds[row]))
			return;
		column->unsigneds[row] = 0;
		TurnIntoBytes(buffer, column);
	}
	KeepBytes(buffer, &column->bytes[row], data, length);
}

/*
 * SetReference sets a row's value of a type that is passed by reference.
 */
static void
SetReference(RowBuffer *buffer, int row, int number, Datum value)
{
	const LayoutColumn *column = buffer->layout->packed[number];
	struct varlena *varlena;

	if (column->typlen != -1)
	{
		SetBytes(buffer, row, number, DatumGetPointer(value),
				 column->typlen);
		return;
	}
	varlena = pg_detoast_datum_packed((struct varlena *) DatumGetPointer(value));
	SetBytes(buffer, row, number, VARDATA_ANY(varlena),
			 VARSIZE_ANY_EXHDR(varlena));
	if ((Pointer) varlena != DatumGetPointer(value))
		pfree(varlena);
}

/*
 * SetDatum sets a row's value of a column besides clock.
 */
static void
SetDatum(RowBuffer *buffer, int row, int number, Datum value, bool isnull)
{
	PackedColumn *column = &buffer->rows.columns[number];

	if (isnull)
		SetNull(buffer, row, number);
	else if (column->kind == PACKED_INT)
	{
		HasValue(column, row);
		column->ints[row] = ZbxhistDatumToInt(buffer->layout->packed[number],
											  value);
	}
	else if (column->kind == PACKED_DOUBLE)
	{
		HasValue(column, row);
		column->doubles[row] = DatumGetFloat8(value);
	}
	else
		SetReference(buffer, row, number, value);
}

/*
 * ZbxhistSetRow sets a row's columns besides itemid and clock to values, those
 * of the layout's columns at their attributes.
 */
void
ZbxhistSetRow(RowBuffer *buffer, int row, const AttrNumber *attributes,
			  const Datum *values, const bool *nulls)
{
	const DayLayout *layout = buffer->layout;

	for (int i = 0; i < layout->ncolumns; i++)
	{
		int			packed = layout->columns[i].packed;
		int			from = attributes[i] - 1;

		if (packed > 0)
			SetDatum(buffer, row, packed, values[from], nulls[from]);
	}
}

/*
 * ZbxhistInitTupleSource prepares for tuples of that description; returns false
 * if they have other columns than the layout.  Allocates in the current context.
 */
bool
ZbxhistInitTupleSource(TupleSource *source, const DayLayout *layout,
					   TupleDesc desc)
{
	source->layout = layout;
	source->desc = desc;
	source->attributes = palloc(sizeof(AttrNumber) * layout->ncolumns);
	source->values = palloc(sizeof(Datum) * desc->natts);
	source->nulls = palloc(sizeof(bool) * desc->natts);
	return ZbxhistFindLayout(layout, desc, source->attributes);
}

/*
 * GetColumn returns the value of a tuple's column, by its number in the layout.
 */
static inline Datum
GetColumn(const TupleSource *source, HeapTuple tuple, int column, bool *isnull)
{
	return heap_getattr(tuple, source->attributes[column], source->desc, isnull);
}

/*
 * ZbxhistReadKey reads the place of a tuple; returns false if there is no item
 * or clock.
 */
bool
ZbxhistReadKey(const TupleSource *source, HeapTuple tuple, int64 *itemid,
			   int64 *position)
{
	const DayLayout *layout = source->layout;
	bool		has_no_item;
	bool		has_no_clock;
	bool		has_no_ns = true;
	Datum		ns = (Datum) 0;
	Datum		clock = GetColumn(source, tuple, layout->clock, &has_no_clock);

	*itemid = DatumGetInt64(GetColumn(source, tuple, layout->itemid,
									  &has_no_item));
	if (layout->ns >= 0)
		ns = GetColumn(source, tuple, layout->ns, &has_no_ns);
	*position = make_position(DatumGetInt32(clock),
							  has_no_ns ? 0 : DatumGetInt32(ns));
	return !has_no_item && !has_no_clock;
}

/*
 * ZbxhistLoadTuple makes a tuple a row of the buffer, whose clock is set.
 */
void
ZbxhistLoadTuple(TupleSource *source, HeapTuple tuple, RowBuffer *buffer,
				 int row)
{
	heap_deform_tuple(tuple, source->desc, source->values, source->nulls);
	ZbxhistSetRow(buffer, row, source->attributes, source->values,
				  source->nulls);
}

/*
 * CopyValue copies a value of a decoded segment, whose kind is right.
 */
static void
CopyValue(RowBuffer *buffer, int row, int number, const PackedColumn *from,
		  int from_row)
{
	PackedColumn *column = &buffer->rows.columns[number];

	char		image[UNSIGNED_IMAGE_SIZE];

	if (from->nulls != NULL && from->nulls[from_row])
		SetNull(buffer, row, number);
	else if (from->kind == column->kind && from->kind != PACKED_BYTES)
	{
		HasValue(column, row);
		column->ints[row] = from->ints[from_row];
	}
	else
	{
		PackedBytes bytes = ZbxhistValueBytes(from, from_row, image);

		SetBytes(buffer, row, number, bytes.data, bytes.len);
	}
}

/*
 * ZbxhistCopyValues sets a row's columns besides clock to those of a decoded
 * segment's row, which has been checked against the layout.
 */
void
ZbxhistCopyValues(RowBuffer *buffer, int row, const SegmentRows *from,
				  int from_row)
{
	for (int i = 1; i < from->ncolumns; i++)
		CopyValue(buffer, row, i, &from->columns[i], from_row);
}

/* ---- taking rows out ---- */

/*
 * MoveBytes copies the bytes of a column's rows into the current context.
 */
static void
MoveBytes(RowBuffer *buffer, PackedColumn *column)
{
	for (int i = 0; i < buffer->rows.nrows; i++)
		KeepBytes(buffer, &column->bytes[i], column->bytes[i].data,
				  column->bytes[i].len);
}

/*
 * RemoveValues removes a column's first values.
 */
static void
RemoveValues(RowBuffer *buffer, PackedColumn *column, int count)
{
	char	   *array = column->values;
	Size		size = packed_value_size(column->kind);

	memmove(array, array + size * count, size * (buffer->rows.nrows - count));
	if (column->nulls != NULL)
		memmove(column->nulls, column->nulls + count,
				sizeof(bool) * (buffer->rows.nrows - count));
}

/*
 * ZbxhistRemoveRows removes the first rows.
 */
void
ZbxhistRemoveRows(RowBuffer *buffer, int count)
{
	MemoryContext old_bytes = buffer->bytes_context;

	if (count == buffer->rows.nrows)
	{
		ZbxhistBeginRows(buffer, buffer->rows.itemid);
		return;
	}
	buffer->bytes_context = AllocSetContextCreate(buffer->context,
												  "zbxhist row buffer bytes",
												  ALLOCSET_DEFAULT_SIZES);
	buffer->nbytes = 0;
	for (int i = 0; i < buffer->rows.ncolumns; i++)
		RemoveValues(buffer, &buffer->rows.columns[i], count);
	buffer->rows.nrows -= count;
	for (int i = 0; i < buffer->rows.ncolumns; i++)
	{
		if (buffer->rows.columns[i].kind == PACKED_BYTES)
			MoveBytes(buffer, &buffer->rows.columns[i]);
	}
	MemoryContextDelete(old_bytes);
}
