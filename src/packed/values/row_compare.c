/*-------------------------------------------------------------------------
 *
 * row_compare.c
 *	  Rows of decoded segments: which is which.
 *
 * Values are the same if all their bits are.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "binary_search.h"
#include "packed/values/row_compare.h"
#include "packed/values/unsigned_numeric.h"
#include "rows/item_range.h"

/*
 * ZbxhistValueBytes returns a numeric or a value of bytes as bytes; image has
 * room for those of an unsigned integer.
 */
PackedBytes
ZbxhistValueBytes(const PackedColumn *column, int row, char *image)
{
	PackedBytes result;

	if (column->kind == PACKED_BYTES)
		return column->bytes[row];
	result.data = image;
	result.len = ZbxhistUnsignedToImage(column->unsigneds[row], image);
	return result;
}

/*
 * SameValue says whether two values of the same column, maybe of
 * different segments, are the same.
 */
static bool
SameValue(const PackedColumn *a, int row_a, const PackedColumn *b, int row_b)
{
	bool		null_a = a->nulls != NULL && a->nulls[row_a];
	bool		null_b = b->nulls != NULL && b->nulls[row_b];
	char		image_a[UNSIGNED_IMAGE_SIZE];
	char		image_b[UNSIGNED_IMAGE_SIZE];
	PackedBytes bytes_a;
	PackedBytes bytes_b;

	if (null_a || null_b)
		return null_a && null_b;
	if (a->kind == b->kind && a->kind != PACKED_BYTES)
		return a->ints[row_a] == b->ints[row_b];
	bytes_a = ZbxhistValueBytes(a, row_a, image_a);
	bytes_b = ZbxhistValueBytes(b, row_b, image_b);
	return bytes_a.len == bytes_b.len &&
		memcmp(bytes_a.data, bytes_b.data, bytes_a.len) == 0;
}

/*
 * ZbxhistSameRow says whether two rows of the same item, maybe of different
 * segments, have the same values.
 */
bool
ZbxhistSameRow(const SegmentRows *a, int row_a, const SegmentRows *b,
			   int row_b)
{
	for (int i = 0; i < a->ncolumns; i++)
	{
		if (!SameValue(&a->columns[i], row_a, &b->columns[i], row_b))
			return false;
	}
	return true;
}

/*
 * ZbxhistFirstOfClock returns the number of the first row that is not before
 * clock; the number of rows if there is none.
 */
int
ZbxhistFirstOfClock(const SegmentRows *rows, int32 clock)
{
	int			i;

	find_first(i, rows->nrows, rows->columns[0].ints[i] >= clock);
	return i;
}

/*
 * GetPosition returns where a row is; without ns, or if that is null, at the
 * beginning of its second.
 */
static inline int64
GetPosition(const DayLayout *layout, const PackedColumn *columns, int row)
{
	int32		ns = 0;

	if (layout->ns >= 0)
	{
		const PackedColumn *column =
			&columns[layout->columns[layout->ns].packed];

		if (column->nulls == NULL || !column->nulls[row])
			ns = (int32) column->ints[row];
	}
	return make_position((int32) columns[0].ints[row], ns);
}

/*
 * ZbxhistRowPosition returns where a row of a segment is.
 */
int64
ZbxhistRowPosition(const DayLayout *layout, const SegmentRows *rows, int row)
{
	return GetPosition(layout, rows->columns, row);
}

/*
 * ZbxhistRunPosition returns where a row of a run is.
 */
int64
ZbxhistRunPosition(const DayLayout *layout, const RunRows *rows, int row)
{
	return GetPosition(layout, rows->columns, row);
}
