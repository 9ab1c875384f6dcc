/*-------------------------------------------------------------------------
 *
 * row_compare.c
 *	  Compares rows of decoded segments.
 *
 * Two values are the same if all their bits are.
 *
 * The checksum of rows is the sum of the rows' hashes.  So it depends neither on their
 * order nor on how they are divided into segments.  Values that are the same for
 * ZbxhistSameRow have the same hash.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "common/hashfn.h"

#include "binary_search.h"
#include "format/row_compare.h"
#include "format/unsigned_numeric.h"
#include "tables/item_range.h"

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
 * ZbxhistRowPosition returns where a row of a segment is; without ns, or if that is
 * null, at the beginning of its second.
 */
int64
ZbxhistRowPosition(const DayLayout *layout, const SegmentRows *rows, int row)
{
	int32		ns = 0;

	if (layout->ns >= 0)
	{
		const PackedColumn *column =
			&rows->columns[layout->columns[layout->ns].packed];

		if (column->nulls == NULL || !column->nulls[row])
			ns = (int32) column->ints[row];
	}
	return make_position((int32) rows->columns[0].ints[row], ns);
}

/* stands for a null */
#define NULL_VALUE UINT64CONST(0x5d4e2c8a91b07f36)

/*
 * HashNumbers mixes the values of a column of numbers into the rows' hashes.
 */
static void
HashNumbers(const PackedColumn *column, int nrows, uint64 *hashes)
{
	for (int i = 0; i < nrows; i++)
	{
		uint64		value = NULL_VALUE;

		if (column->nulls == NULL || !column->nulls[i])
			value = (uint64) column->ints[i];
		hashes[i] = mix_hash(hashes[i], value);
	}
}

/*
 * HashBytes does the same for values of bytes, and for numerics, which may be
 * packed as integers in one segment and as bytes in another.
 */
static void
HashBytes(const PackedColumn *column, int nrows, uint64 *hashes)
{
	for (int i = 0; i < nrows; i++)
	{
		uint64		value = NULL_VALUE;
		char		image[UNSIGNED_IMAGE_SIZE];

		if (column->nulls == NULL || !column->nulls[i])
		{
			PackedBytes bytes = ZbxhistValueBytes(column, i, image);

			value = hash_bytes_extended((const unsigned char *) bytes.data,
										(int) bytes.len, 0);
		}
		hashes[i] = mix_hash(hashes[i], value);
	}
}

/*
 * ZbxhistHashRows returns the checksum of decoded rows.
 */
uint64
ZbxhistHashRows(const SegmentRows *rows)
{
	uint64	   *hashes = palloc(sizeof(uint64) * Max(rows->nrows, 1));
	uint64		sum = 0;

	for (int i = 0; i < rows->nrows; i++)
		hashes[i] = (uint64) rows->itemid;
	for (int i = 0; i < rows->ncolumns; i++)
	{
		const PackedColumn *column = &rows->columns[i];

		if (column->kind == PACKED_INT || column->kind == PACKED_DOUBLE)
			HashNumbers(column, rows->nrows, hashes);
		else
			HashBytes(column, rows->nrows, hashes);
	}
	for (int i = 0; i < rows->nrows; i++)
		sum += hashes[i];
	pfree(hashes);
	return sum;
}
