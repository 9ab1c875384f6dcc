/*-------------------------------------------------------------------------
 *
 * run.c
 *	  Rows of many items as bytes: runs.
 *
 *		magic (2 bytes), version (1), zero (1)
 *		CRC-32C (4) of the bytes before it and of those behind it up to the end
 *		of the itemids: a search for an item that is not there reads no more
 *		varints: columns, rows, length of the itemids and of each column but
 *		the last
 *		itemids: see below
 *		CRC-32C (4) of the columns
 *		the clocks: if items have several rows, the length of a column, and the
 *		column: the first clock of each item; then a stream of integers: how much
 *		later the other rows are than the one before; else a column
 *		the other columns
 *
 * A column: a byte of COLUMN_ bits; if some values repeat those of the
 * row before, the length of the stream that says which, and the stream (0, 1);
 * if there are nulls, the same of these; the other values.  Only integers
 * repeat.  A column of integers has either repeats or nulls.
 *
 * The itemids: a reader of one item wants to know where its rows are, and most often that
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
#include "packed/format/column_values.h"
#include "packed/format/run.h"
#include "packed/format/segment_format.h"

#define RUN_VERSION 4
#define OLDEST_RUN_VERSION 4	/* all since are read, as the promise says */
#define RUN_VALUES 0			/* the kind */


/* of a page, and how much the first guess of what fits is below it */
#define NEARLY(n) ((n) - (n) / 32)

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

/* a run being read */
typedef struct RunReader
{
	int			ncolumns;
	Slice		rows;			/* that are wanted */
	Slice		items;			/* and which of the distinct itemids they have */
	ByteReader	lengths;		/* of the columns but the last */
	ByteReader	itemids;
	ByteReader	columns;		/* and their checksum, or what is left of them */
} RunReader;

/* ------------------------------------------------------- itemids, writing */

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
	ZbxhistPutStream(buffer, work, nfirsts);
	for (i = 1; i < count; i++)
	{
		if (i % BLOCK > 0)
			work[ndistances++] = distinct[i] - distinct[i - 1];
	}
	ZbxhistEncodeIntegers(buffer, work, ndistances);
}

/* Adds n sorted itemids, at least one. */
static void
put_itemids(ByteBuffer *buffer, const int64 *itemids, int n)
{
	uint64	   *distinct = palloc(3 * (size_t) n * sizeof(uint64));
	uint64	   *more = distinct + n;
	int			count = find_distinct_itemids(itemids, n, distinct, more);

	ZbxhistPutVarint(buffer, count);
	if (count < n)
		ZbxhistPutStream(buffer, more, count);
	put_distinct(buffer, distinct, count, more + n);
	pfree(distinct);
}

/* ------------------------------------------------------- itemids, reading */

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

/*
 * Takes the distinct itemids of the blocks from one to before another one, and
 * returns how many; itemids has room for that.  0: the bytes are damaged.
 */
static int
get_blocks(const ItemidReader *reader, int block, int end, uint64 *itemids)
{
	ByteReader	bytes = reader->distances;
	int			ndistances = reader->count - reader->nblocks;
	Slice		slice = {ndistances, block * (BLOCK - 1),
	Min(end * (BLOCK - 1), ndistances)};
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

/*
 * Finds the rows of the distinct itemids that are wanted, which are there, and sets
 * rows->itemids to those of each row, in the current memory context.
 */
static bool
find_rows(const ItemidReader *reader, RunReader *run, const uint64 *distinct,
		  RunRows *rows)
{
	ByteReader	bytes = reader->rows;
	Slice		counted = {reader->count, 0, run->items.to};
	uint64	   *more = NULL;	/* than one row each has */
	int			i = run->items.from;
	uint64		end = i;
	int64	   *next;

	/* those before count as well */
	if (reader->count < reader->nrows)
	{
		more = palloc(run->items.to * sizeof(uint64));
		if (!ZbxhistDecodeIntegers(&bytes, more, counted) ||
			codec_left(&bytes) > 0)
			return false;
		end = i = 0;
	}
	for (; i < run->items.to; i++)
	{
		uint64		others = more == NULL ? 0 : more[i];

		if (i == run->items.from)
			run->rows.from = end;
		if (others >= reader->nrows - end)
			return false;
		end += others + 1;
	}
	run->rows.to = end;
	next = rows->itemids = palloc(codec_count(run->rows) * sizeof(int64));
	for (i = run->items.from; i < run->items.to; i++, distinct++)
	{
		if (i > run->items.from && (int64) distinct[0] <= (int64) distinct[-1])
			return false;
		for (end = more == NULL ? 1 : more[i] + 1; end > 0; end--)
			*next++ = *distinct;
	}
	if (more != NULL)
		pfree(more);
	return true;
}

/*
 * Takes the itemids, to the end of the bytes, or the one that is wanted, and finds its
 * rows, none perhaps.
 */
static bool
get_itemids(RunReader *run, const int64 *itemid, RunRows *rows)
{
	ItemidReader reader;
	uint64	   *distinct;
	int			block = 0;
	int			end;
	int			count;
	int			i = 0;

	if (!open_itemids(&reader, run->itemids, run->rows.n))
		return false;
	end = reader.nblocks;
	if (itemid != NULL && end > 1)
		find_first(end, reader.nblocks, (int64) reader.firsts[end] > *itemid);
	run->rows.from = run->rows.to = 0;
	if (end == 0)
		return true;
	if (itemid != NULL)
		block = end - 1;
	distinct = palloc((end - block) * BLOCK * sizeof(uint64));
	count = get_blocks(&reader, block, end, distinct);
	if (count == 0)
		return false;
	if (itemid != NULL)
	{
		find_first(i, count, (int64) distinct[i] >= *itemid);
		if (i == count || (int64) distinct[i] != *itemid)
			return true;
		count = 1;
	}
	run->items.n = reader.count;
	run->items.from = block * BLOCK + i;
	run->items.to = run->items.from + count;
	if (!find_rows(&reader, run, distinct + i, rows))
		return false;
	pfree(distinct);
	return itemid != NULL || run->rows.to == run->rows.n;
}

/* ---------------------------------------------------------------- writing */

/*
 * Marks the rows whose value is that of the row before; says whether it is
 * worth it to leave these out.
 */
static bool
find_repeats(const int64 *values, int n, bool *repeats)
{
	int64		least = values[0];
	int64		greatest = values[0];
	int			count = 0;
	int			i;

	repeats[0] = false;
	for (i = 1; i < n; i++)
	{
		repeats[i] = values[i] == values[i - 1];
		count += repeats[i];
		least = Min(least, values[i]);
		greatest = Max(greatest, values[i]);
	}
	/* a bit each, and a few bytes */
	return (int64) count * codec_width((uint64) greatest - (uint64) least) >
		n + 64;
}

/* Adds a column of integers, of which some repeat those of the row before. */
static void
put_repeats(ByteBuffer *buffer, const int64 *values, const bool *repeats,
			int n)
{
	uint64	   *others = palloc(n * sizeof(uint64));
	int			count = 0;
	int			i;

	for (i = 0; i < n; i++)
	{
		if (!repeats[i])
			others[count++] = values[i];
	}
	codec_put_byte(buffer, PACKED_INT | COLUMN_REPEATS);
	ZbxhistPutFlags(buffer, repeats, n);
	ZbxhistEncodeIntegers(buffer, others, count);
	pfree(others);
}

/* Adds a column's values of n rows from `from` on. */
static void
put_run_column(ByteBuffer *buffer, const PackedColumn *column, int from, int n)
{
	const bool *nulls = column->nulls == NULL ? NULL : column->nulls + from;

	if (column->kind == PACKED_INT && nulls == NULL)
	{
		bool	   *repeats = palloc(n * sizeof(bool));
		bool		is_worth_it = find_repeats(column->ints + from, n, repeats);

		if (is_worth_it)
			put_repeats(buffer, column->ints + from, repeats, n);
		pfree(repeats);
		if (is_worth_it)
			return;
	}
	ZbxhistPutColumn(buffer, column->kind, 0,
					 ZbxhistColumnValues(column, from), nulls, n);
}

/*
 * Adds the clocks of n rows.  A reader of an item's rows needs no other ones.
 */
static void
put_run_clocks(ByteBuffer *buffer, const int64 *itemids, const int64 *clocks,
			   int n)
{
	PackedColumn firsts = {PACKED_INT};
	uint64	   *later = palloc(n * sizeof(uint64));
	ByteBuffer	column;
	int			nitems = 0;
	int			nlater = 0;
	int			i;

	firsts.ints = palloc(n * sizeof(int64));
	for (i = 0; i < n; i++)
	{
		if (i == 0 || itemids[i] != itemids[i - 1])
			firsts.ints[nitems++] = clocks[i];
		else
			later[nlater++] = clocks[i] - clocks[i - 1];
	}
	ZbxhistInitBuffer(&column, BLCKSZ / 4);
	put_run_column(&column, &firsts, 0, nitems);
	if (nlater > 0)
		ZbxhistPutVarint(buffer, column.length);
	ZbxhistPutBytes(buffer, column.data, column.length);
	ZbxhistEncodeIntegers(buffer, later, nlater);
	pfree(column.data);
	pfree(firsts.ints);
	pfree(later);
}

/* Writes n rows from `from` on. */
static void
encode_run(ByteBuffer *buffer, const RunRows *rows, int from, int n)
{
	ByteBuffer	itemids;
	ByteBuffer	columns;
	int			i;

	ZbxhistInitBuffer(buffer, BLCKSZ);
	ZbxhistInitBuffer(&itemids, BLCKSZ / 4);
	ZbxhistInitBuffer(&columns, BLCKSZ);
	group_put_head(ZbxhistExtendBuffer(buffer, GROUP_FIXED_LENGTH), RUN_VERSION,
				   RUN_VALUES);
	ZbxhistPutVarint(buffer, rows->ncolumns);
	ZbxhistPutVarint(buffer, n);

	put_itemids(&itemids, rows->itemids + from, n);
	ZbxhistPutVarint(buffer, itemids.length);
	(void) ZbxhistExtendBuffer(&columns, SEGMENT_CRC_LENGTH);
	for (i = 0; i < rows->ncolumns; i++)
	{
		size_t		start = columns.length;

		if (i == 0)
			put_run_clocks(&columns, rows->itemids + from,
						   rows->columns[0].ints + from, n);
		else
			put_run_column(&columns, &rows->columns[i], from, n);
		if (i < rows->ncolumns - 1)
			ZbxhistPutVarint(buffer, columns.length - start);
	}
	ZbxhistPutBytes(buffer, itemids.data, itemids.length);
	codec_store32(buffer->data + GROUP_CRC_OFFSET,
				  ZbxhistGroupChecksum(buffer->data, buffer->length));
	codec_store32(columns.data,
				  ZbxhistSegmentChecksum(columns.data, columns.length));
	ZbxhistPutBytes(buffer, columns.data, columns.length);
	pfree(itemids.data);
	pfree(columns.data);
}

/*
 * How many of n rows from `from` on there are before one with such strings that
 * it had better be alone: all rows would be compressed with it in vain.
 */
static int
count_small(const RunRows *rows, int from, int n, size_t max_size)
{
	int			i;

	for (i = 0; i < n; i++)
	{
		if (ZbxhistStringBytes(rows->columns, rows->ncolumns, from + i) / 2 > max_size)
			return Max(i, 1);
	}
	return n;
}

/* Writes as many rows as fit, at least one; see run.h. */
int
ZbxhistEncodeRun(const RunRows *rows, int from, size_t max_size, uint8 **data,
				 size_t *length)
{
	int			n = count_small(rows, from,
								Min(rows->nrows - from, RUN_MAX_ROWS),
								max_size);

	for (;;)
	{
		ByteBuffer	buffer;
		double		share;

		encode_run(&buffer, rows, from, n);
		if (buffer.length <= max_size || n == 1)
		{
			*data = buffer.data;
			*length = buffer.length;
			return n;
		}
		share = NEARLY((double) max_size) / buffer.length;
		n = Max(Min((int) (share * n), n - 1), 1);
		pfree(buffer.data);
	}
}

/* ---------------------------------------------------------------- reading */

/* Takes the numbers before the itemids, and finds these and the columns. */
static bool
open_run(RunReader *run, const uint8 *data, size_t length, int ncolumns)
{
	ByteReader	bytes;
	uint64		number;
	uint64		nrows;

	if (!group_has_head(data, length) || data[2] < OLDEST_RUN_VERSION ||
		data[2] > RUN_VERSION || data[3] != RUN_VALUES)
		return false;
	bytes.next = data + GROUP_FIXED_LENGTH;
	bytes.end = data + length;
	if (!ZbxhistGetVarint(&bytes, &number) || number < 1 ||
		number > PACKED_MAX_COLUMNS ||
		(ncolumns != ANY_COLUMNS && number != ncolumns))
		return false;
	run->ncolumns = (int) number;
	if (!ZbxhistGetVarint(&bytes, &nrows) || nrows == 0 ||
		nrows > RUN_MAX_ROWS || !ZbxhistGetVarint(&bytes, &number))
		return false;
	run->rows = codec_all(nrows);
	run->lengths = bytes;
	if (!ZbxhistSkipVarints(&bytes, run->ncolumns - 1) ||
		number > codec_left(&bytes) ||
		codec_load32(data + GROUP_CRC_OFFSET) !=
		ZbxhistGroupChecksum(data, bytes.next - data + number))
		return false;
	run->itemids.next = bytes.next;
	run->itemids.end = bytes.next + number;
	run->columns.next = run->itemids.end;
	run->columns.end = bytes.end;
	return true;
}

/* Checks the columns, of which none has been read. */
static bool
open_columns(RunReader *run)
{
	const uint8 *data = run->columns.next;
	size_t		length = codec_left(&run->columns);

	if (length < SEGMENT_CRC_LENGTH ||
		codec_load32(data) != ZbxhistSegmentChecksum(data, length))
		return false;
	run->columns.next += SEGMENT_CRC_LENGTH;
	return true;
}

/* Takes integers of which some repeat those of the row before. */
static bool
get_repeats(ByteReader *bytes, PackedColumn *column, Slice slice)
{
	FlagCounts	counts;
	bool	   *repeats = ZbxhistGetFlags(bytes, slice, &counts);
	Slice		others;
	int64	   *values;
	int64	   *next;
	int			i;

	if (repeats == NULL)
		return false;
	/* the first row may repeat one that is not wanted itself */
	others.n = slice.n - counts.all;
	others.from = slice.from - counts.before - repeats[0];
	others.to = slice.to - counts.before - counts.within;
	if (others.from < 0 || !ZbxhistGetColumn(bytes, column, 0, others, 0))
		return false;
	values = palloc(codec_count(slice) * sizeof(int64));
	next = column->ints;
	values[0] = *next;
	for (i = 1; i < codec_count(slice); i++)
	{
		/* no branch: nobody can foretell it */
		next += !repeats[i];
		values[i] = *next;
	}
	pfree(column->ints);
	pfree(repeats);
	column->ints = values;
	return true;
}

/* Takes rows of a column, to the end of its bytes. */
static bool
get_run_column(ByteReader *bytes, PackedColumn *column, Slice slice)
{
	uint8		flags;

	if (!ZbxhistGetColumnFlags(bytes, column, &flags,
							   COLUMN_KIND | COLUMN_NULLS | COLUMN_REPEATS))
		return false;
	if ((flags & COLUMN_REPEATS) != 0)
		return flags == (PACKED_INT | COLUMN_REPEATS) &&
			get_repeats(bytes, column, slice);
	return ZbxhistGetColumn(bytes, column, flags, slice, 0);
}

/* Are rows sorted by itemid and clock, and clocks what a clock may be? */
static bool
is_sorted(const int64 *itemids, const int64 *clocks, int n)
{
	bool		result = clocks[0] == (int32) clocks[0];
	int			i;

	for (i = 1; i < n && result; i++)
		result = clocks[i] == (int32) clocks[i] &&
			(itemids[i] > itemids[i - 1] ||
			 (itemids[i] == itemids[i - 1] && clocks[i] >= clocks[i - 1]));
	return result;
}

/* Takes a column that must be what a run's clocks are: integers, no nulls. */
static bool
get_clock_column(ByteReader *bytes, PackedColumn *column, Slice slice)
{
	return get_run_column(bytes, column,
						  slice) && column->kind == PACKED_INT &&
		column->nulls == NULL;
}

/* Takes the clocks of the rows that are wanted, whose itemids are known. */
static bool
get_run_clocks(const RunReader *run, ByteReader *bytes, const int64 *itemids,
			   PackedColumn *column)
{
	PackedColumn firsts = {0};
	ByteReader	part;
	Slice		others = {run->rows.n - run->items.n,
	run->rows.from - run->items.from, run->rows.to - run->items.to};
	int			n = codec_count(run->rows);
	const int64 *first;
	uint64	   *later;
	int			i;

	if (others.n == 0)
		return get_clock_column(bytes, column, run->rows);
	later = palloc((codec_count(others) + 1) * sizeof(uint64));
	if (!codec_get_part(bytes, &part) ||
		!get_clock_column(&part, &firsts, run->items) ||
		!ZbxhistDecodeIntegers(bytes, later, others) || codec_left(bytes) > 0)
		return false;
	column->kind = PACKED_INT;
	column->ints = palloc(n * sizeof(int64));
	first = firsts.ints;
	column->ints[0] = *first++;
	for (i = 1; i < n; i++)
		column->ints[i] = itemids[i] != itemids[i - 1] ? *first++ :
			(int64) ((uint64) column->ints[i - 1] + *later++);
	pfree(firsts.ints);
	return true;
}

/* Reads a run; see run.h. */
bool
ZbxhistDecodeRun(const uint8 *data, size_t length, int ncolumns,
				 const bool *wanted, const int64 *itemid, RunRows *rows)
{
	RunReader	run;
	int			i;

	memset(rows, 0, sizeof(*rows));
	if (!open_run(&run, data, length, ncolumns) ||
		!get_itemids(&run, itemid, rows))
		return false;
	rows->nall = run.rows.n;
	rows->nrows = codec_count(run.rows);
	if (rows->nrows == 0)
		return true;
	if (!open_columns(&run))
		return false;
	rows->first = run.rows.from;
	rows->ncolumns = run.ncolumns;
	rows->columns = palloc0(run.ncolumns * sizeof(PackedColumn));
	for (i = 0; i < run.ncolumns; i++)
	{
		PackedColumn *column = &rows->columns[i];
		ByteReader	bytes;

		if (!ZbxhistNextColumn(&run.lengths, &run.columns, i == run.ncolumns - 1,
							   &bytes))
			return false;
		if (i == 0 ? !get_run_clocks(&run, &bytes, rows->itemids, column) :
			(wanted == NULL || wanted[i]) &&
			!get_run_column(&bytes, column, run.rows))
			return false;
	}
	return is_sorted(rows->itemids, rows->columns[0].ints, rows->nrows);
}

/* The format of a run, if it is a newer one; see run.h. */
int
ZbxhistNewerRunFormat(const uint8 *data, size_t length)
{
	return group_has_head(data, length) && data[2] > RUN_VERSION ? data[2] : 0;
}
