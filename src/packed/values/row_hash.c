/*-------------------------------------------------------------------------
 *
 * row_hash.c
 *	  A checksum of rows, however they are divided into segments.
 *
 * It is the sum of a hash of each row, so it does not depend on their order.
 * Values that are the same for ZbxhistSameRow have the same hash.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "common/hashfn.h"

#include "packed/values/row_compare.h"
#include "packed/values/row_hash.h"
#include "packed/values/unsigned_numeric.h"

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
 * HashBytes does so with numerics, which are one kind here and another there,
 * and values of bytes.
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
