/*-------------------------------------------------------------------------
 *
 * run_itemids.c
 *	  The itemids of a run's rows.
 *
 * A reader of one item wants to know where its rows are, and most often that
 * there are none: it reads the first itemids of some blocks and one block.
 *
 *		varint: how many distinct itemids there are
 *		if fewer than rows: the length of a stream of integers, and the stream:
 *		how many rows each of them has, less one
 *		if more than a block has: the length of a stream, and the stream: the
 *		first itemid of each block
 *		a stream: the distances of the other itemids from the one before; if there
 *		is but one block, a stream of the itemids
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "binary_search.h"
#include "packed/format/run_itemids.h"

/* distinct itemids in a block */
#define BLOCK 64

/* what is read of them */
typedef struct ItemidReader
{
	int			nrows;
	int			count;			/* of distinct itemids */
	int			nblocks;
	uint64	   *firsts;			/* of the blocks */
	ByteReader	rows;			/* a stream; not if all have one */
	ByteReader	distances;		/* a stream */
} ItemidReader;

/* ---------------------------------------------------------------- writing */

/* Adds a stream with its length. */
static void
put_sized_stream(ByteBuffer *buffer, const uint64 *values, int n)
{
	ByteBuffer	stream;

	ZbxhistInitBuffer(&stream, 64);
	ZbxhistEncodeIntegers(&stream, values, n);
	ZbxhistPutVarint(buffer, stream.length);
	ZbxhistPutBytes(buffer, stream.data, stream.length);
	pfree(stream.data);
}

/*
 * Fills in the distinct ones of n sorted itemids, and how many more rows than
 * one each has; returns how many there are.
 */
static int
find_distinct_itemids(const int64 *itemids, int n, uint64 *distinct,
					  uint64 *more)
{
	int			count = 0;
	int			i;

	for (i = 0; i < n; i++)
	{
		if (i > 0 && itemids[i] == itemids[i - 1])
		{
			more[count - 1]++;
			continue;
		}
		more[count] = 0;
		distinct[count++] = itemids[i];
	}
	return count;
}

/* Adds the distances, and before them the first itemids of the blocks. */
static void
put_distinct(ByteBuffer *buffer, uint64 *distinct, int count, uint64 *work)
{
	int			nfirsts = 0;
	int			ndistances = 0;
	int			i;

	/* a block of its own needs no length: the stream begins with its first */
	if (count <= BLOCK)
	{
		ZbxhistEncodeIntegers(buffer, distinct, count);
		return;
	}
	for (i = 0; i < count; i += BLOCK)
		work[nfirsts++] = distinct[i];
	put_sized_stream(buffer, work, nfirsts);
	for (i = 1; i < count; i++)
	{
		if (i % BLOCK > 0)
			work[ndistances++] = distinct[i] - distinct[i - 1];
	}
	ZbxhistEncodeIntegers(buffer, work, ndistances);
}

/* Adds n sorted itemids, at least one. */
void
ZbxhistPutItemids(ByteBuffer *buffer, const int64 *itemids, int n)
{
	uint64	   *distinct = palloc(3 * (size_t) n * sizeof(uint64));
	uint64	   *more = distinct + n;
	int			count = find_distinct_itemids(itemids, n, distinct, more);

	ZbxhistPutVarint(buffer, count);
	if (count < n)
		put_sized_stream(buffer, more, count);
	put_distinct(buffer, distinct, count, more + n);
	pfree(distinct);
}

/* ---------------------------------------------------------------- reading */

/* Takes what is before the distances. */
static bool
open_itemids(ItemidReader *reader, ByteReader bytes, int n)
{
	ByteReader	stream;
	uint64		count;

	if (!ZbxhistGetVarint(&bytes, &count) || count == 0 || count > n)
		return false;
	reader->nrows = n;
	reader->count = count;
	reader->nblocks = (reader->count + BLOCK - 1) / BLOCK;
	reader->firsts = NULL;
	if (reader->count < n && !codec_get_part(&bytes, &reader->rows))
		return false;
	if (reader->nblocks > 1)
	{
		reader->firsts = palloc(reader->nblocks * sizeof(uint64));
		if (!codec_get_part(&bytes, &stream) ||
			!ZbxhistDecodeIntegers(&stream, reader->firsts,
								   codec_all(reader->nblocks)) ||
			codec_left(&stream) > 0)
			return false;
	}
	reader->distances = bytes;
	return true;
}

/* Which distinct itemids are in some blocks, and which distances are theirs. */
static Slice
slice_of_blocks(const ItemidReader *reader, int block, int end)
{
	Slice		slice = {reader->count - reader->nblocks,
	block * (BLOCK - 1), end * (BLOCK - 1)};

	slice.to = Min(slice.to, slice.n);
	return slice;
}

/*
 * Takes the distinct itemids of the blocks from one to before another one, and
 * returns how many; itemids has room for that.  0: the bytes are damaged.
 */
static int
get_blocks(const ItemidReader *reader, int block, int end, uint64 *itemids)
{
	ByteReader	bytes = reader->distances;
	Slice		slice = slice_of_blocks(reader, block, end);
	uint64	   *distances;
	int			count = 0;
	int			from = block * BLOCK;
	int			to = Min(end * BLOCK, reader->count);
	int			i;

	if (reader->nblocks == 1)
		return ZbxhistDecodeIntegers(&bytes, itemids,
									 codec_all(reader->count)) &&
			codec_left(&bytes) == 0 ? reader->count : 0;
	distances = palloc((codec_count(slice) + 1) * sizeof(uint64));
	if (!ZbxhistDecodeIntegers(&bytes, distances, slice) ||
		codec_left(&bytes) > 0)
		return 0;
	for (i = from; i < to; i++)
	{
		itemids[i - from] = i % BLOCK == 0 ? reader->firsts[i / BLOCK] :
			itemids[i - from - 1] + distances[count++];
	}
	pfree(distances);
	return to - from;
}

/* Takes how many more rows than one the distinct itemids before `to` have. */
static uint64 *
get_row_counts(const ItemidReader *reader, int to)
{
	ByteReader	bytes = reader->rows;
	uint64	   *more = palloc0(to * sizeof(uint64));
	Slice		slice = {reader->count, 0, to};

	if (reader->count < reader->nrows &&
		(!ZbxhistDecodeIntegers(&bytes, more, slice) ||
		 codec_left(&bytes) > 0))
		return NULL;
	return more;
}

/* Takes all itemids; see run_itemids.h. */
int64 *
ZbxhistGetItemids(ByteReader bytes, int n, Slice *items)
{
	ItemidReader reader;
	uint64	   *distinct;
	uint64	   *more;
	int64	   *itemids = palloc(n * sizeof(int64));
	int			row = 0;
	int			i;

	if (!open_itemids(&reader, bytes, n))
		return NULL;
	distinct = palloc(reader.count * sizeof(uint64));
	if (get_blocks(&reader, 0, reader.nblocks, distinct) == 0 ||
		(more = get_row_counts(&reader, reader.count)) == NULL)
		return NULL;
	for (i = 0; i < reader.count; i++)
	{
		uint64		end;

		if (more[i] >= n - row ||
			(i > 0 && (int64) distinct[i] <= (int64) distinct[i - 1]))
			return NULL;
		for (end = row + more[i]; row <= end; row++)
			itemids[row] = distinct[i];
	}
	pfree(more);
	pfree(distinct);
	*items = codec_all(reader.count);
	return row == n ? itemids : NULL;
}

/* Finds where the rows of a distinct itemid are, if there is one. */
static bool
find_item_rows(const ItemidReader *reader, int which, Slice *rows)
{
	uint64	   *more;
	uint64		from = 0;
	int			i;

	if (reader->count == reader->nrows)
	{
		rows->from = which;
		rows->to = which + 1;
		return true;
	}
	more = get_row_counts(reader, which + 1);
	if (more == NULL)
		return false;
	for (i = 0; i < which && from < reader->nrows; i++)
	{
		if (more[i] >= reader->nrows)
			return false;
		from += more[i] + 1;
	}
	if (from >= reader->nrows || more[which] >= reader->nrows - from)
		return false;
	rows->from = from;
	rows->to = from + more[which] + 1;
	pfree(more);
	return true;
}

/* Finds an item's rows; see run_itemids.h. */
bool
ZbxhistFindItemid(ByteReader bytes, int n, int64 itemid, Slice *rows,
				  Slice *items)
{
	ItemidReader reader;
	uint64		itemids[BLOCK];
	int			block = 1;
	int			count;
	int			i;

	rows->n = n;
	rows->from = rows->to = 0;
	if (!open_itemids(&reader, bytes, n))
		return false;
	if (reader.nblocks > 1)
		find_first(block, reader.nblocks,
				   (int64) reader.firsts[block] > itemid);
	if (block == 0)
		return true;
	count = get_blocks(&reader, block - 1, block, itemids);
	if (count == 0)
		return false;
	find_first(i, count, (int64) itemids[i] >= itemid);
	if (i == count || (int64) itemids[i] != itemid)
		return true;
	items->n = reader.count;
	items->from = (block - 1) * BLOCK + i;
	items->to = items->from + 1;
	return find_item_rows(&reader, items->from, rows);
}
