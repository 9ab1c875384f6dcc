/*-------------------------------------------------------------------------
 *
 * column_values.c
 *	  A column of values as bytes, nulls among them.
 *
 * A byte of COLUMN_ bits; if there are nulls, the length of their stream and
 * the stream (0, 1); the values that are not null.  Values of rows in which the
 * column is null are left out; they come back as zeros.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "packed/format/column_values.h"

/* ---------------------------------------------------------------- writing */

/* A column's values from a row on. */
const void *
ZbxhistColumnValues(const PackedColumn *column, int from)
{
	return (const char *) column->values +
		from * packed_value_size(column->kind);
}

/* The bytes of a row's strings. */
size_t
ZbxhistStringBytes(const PackedColumn *columns, int ncolumns, int row)
{
	size_t		total = 0;
	int			i;

	for (i = 0; i < ncolumns; i++)
	{
		if (columns[i].kind == PACKED_BYTES &&
			(columns[i].nulls == NULL || !columns[i].nulls[row]))
			total += columns[i].bytes[row].len;
	}
	return total;
}

/* Adds an array of values of a kind. */
static void
put_values(ByteBuffer *buffer, PackedKind kind, const void *values, int n)
{
	if (kind == PACKED_BYTES)
		ZbxhistEncodeBytes(buffer, values, n);
	else if (kind == PACKED_DOUBLE)
		ZbxhistEncodeDoubles(buffer, values, n);
	else
		ZbxhistEncodeIntegers(buffer, values, n);
}

/* Counts the nulls among some values. */
static int
count_nulls(const bool *nulls, int n)
{
	int			count = 0;
	int			i;

	if (nulls != NULL)
		for (i = 0; i < n; i++)
			count += nulls[i];
	return count;
}

/* Adds a stream of integers with its length. */
void
ZbxhistPutStream(ByteBuffer *buffer, const uint64 *values, int n)
{
	ByteBuffer	stream;

	ZbxhistInitBuffer(&stream, 64);
	ZbxhistEncodeIntegers(&stream, values, n);
	ZbxhistPutVarint(buffer, stream.length);
	ZbxhistPutBytes(buffer, stream.data, stream.length);
	pfree(stream.data);
}

/* Adds a stream that says of each row yes or no, with its length. */
void
ZbxhistPutFlags(ByteBuffer *buffer, const bool *flags, int n)
{
	uint64	   *numbers = palloc(n * sizeof(uint64));
	int			i;

	for (i = 0; i < n; i++)
		numbers[i] = flags[i];
	ZbxhistPutStream(buffer, numbers, n);
	pfree(numbers);
}

/* Adds the values that are not null. */
static void
put_others(ByteBuffer *buffer, PackedKind kind, const char *values,
		   const bool *nulls, int n)
{
	size_t		size = packed_value_size(kind);
	char	   *others = palloc(n * size);
	int			count = 0;
	int			i;

	for (i = 0; i < n; i++)
	{
		if (!nulls[i])
			memcpy(others + count++ * size, values + i * size, size);
	}
	put_values(buffer, kind, others, count);
	pfree(others);
}

/* Adds a column: values, some of which may be null, and its byte of flags. */
void
ZbxhistPutColumn(ByteBuffer *buffer, PackedKind kind, uint8 flags,
				 const void *values, const bool *nulls, int n)
{
	if (count_nulls(nulls, n) == 0)
	{
		codec_put_byte(buffer, kind | flags);
		put_values(buffer, kind, values, n);
		return;
	}
	codec_put_byte(buffer, kind | flags | COLUMN_NULLS);
	ZbxhistPutFlags(buffer, nulls, n);
	put_others(buffer, kind, values, nulls, n);
}

/* ---------------------------------------------------------------- reading */

/*
 * Takes the bytes of the next column, whose length, unless it is the last one, comes
 * next in lengths.
 */
bool
ZbxhistNextColumn(ByteReader *lengths, ByteReader *columns, bool is_last,
				  ByteReader *column)
{
	uint64		length = codec_left(columns);

	if (!is_last && (!ZbxhistGetVarint(lengths, &length) ||
					 length > codec_left(columns)))
		return false;
	column->next = columns->next;
	column->end = columns->next += length;
	return true;
}

/* Takes a column's byte of flags, of which some are allowed, and its kind. */
bool
ZbxhistGetColumnFlags(ByteReader *reader, PackedColumn *column, uint8 *flags,
					  uint8 allowed)
{
	if (!codec_get_byte(reader, flags) || (*flags & ~allowed) != 0)
		return false;
	column->kind = *flags & COLUMN_KIND;
	return column->kind >= PACKED_INT && column->kind <= PACKED_BYTES;
}

/* Takes values of a kind into an array. */
static bool
get_values(ByteReader *reader, PackedKind kind, void *values, Slice slice)
{
	if (kind == PACKED_BYTES)
		return ZbxhistDecodeBytes(reader, values, slice);
	if (kind == PACKED_DOUBLE)
		return ZbxhistDecodeDoubles(reader, values, slice);
	return ZbxhistDecodeIntegers(reader, values, slice);
}

/* How many of the first n bits are set. */
static int
count_bits(const uint8 *bits, int n)
{
	int			count = pg_popcount((const char *) bits, n / 8);

	if (n % 8 > 0)
		count += pg_number_of_ones[bits[n / 8] & ((1 << n % 8) - 1)];
	return count;
}

/* Takes flags that are a bit each. */
static void
get_bits(const uint8 *bits, Slice slice, bool *flags, FlagCounts *counts)
{
	int			i;

	for (i = slice.from; i < slice.to; i++)
		*flags++ = (bits[i / 8] >> i % 8 & 1) != 0;
	counts->before = count_bits(bits, slice.from);
	counts->within = count_bits(bits, slice.to) - counts->before;
	counts->all = count_bits(bits, slice.n);
}

/* Takes flags that are numbers. */
static bool
get_numbers(ByteReader *stream, Slice slice, bool *flags, FlagCounts *counts)
{
	uint64	   *numbers = palloc(slice.n * sizeof(uint64));
	bool		result = ZbxhistDecodeIntegers(stream, numbers,
											   codec_all(slice.n));
	uint64		all = 0;
	int			i;

	memset(counts, 0, sizeof(*counts));
	for (i = 0; result && i < slice.n; i++)
	{
		all |= numbers[i];
		counts->all += numbers[i] & 1;
		if (i < slice.from)
			counts->before = counts->all;
		else if (i < slice.to)
			flags[i - slice.from] = (numbers[i] & 1) != 0;
		if (i == slice.to - 1)
			counts->within = counts->all - counts->before;
	}
	pfree(numbers);
	return result && all <= 1 && codec_left(stream) == 0;
}

/*
 * Takes what ZbxhistPutFlags() has added, and says how many are set; returns
 * null if it is not that.
 */
bool *
ZbxhistGetFlags(ByteReader *reader, Slice slice, FlagCounts *counts)
{
	ByteReader	stream;
	const uint8 *bits;
	bool	   *flags;

	if (!codec_get_part(reader, &stream))
		return NULL;
	flags = palloc(codec_count(slice) * sizeof(bool));
	bits = ZbxhistIntegersAsBits(&stream, slice.n);
	if (bits != NULL)
		get_bits(bits, slice, flags, counts);
	else if (!get_numbers(&stream, slice, flags, counts))
		return NULL;
	return flags;
}

/* Moves the values that are not null to their rows, the last one first. */
static void
spread(char *values, size_t size, const bool *nulls, int n, int count)
{
	int			i;

	for (i = n - 1; i >= 0; i--)
	{
		if (nulls[i])
			memset(values + i * size, 0, size);
		else if (--count != i)
			memcpy(values + i * size, values + count * size, size);
	}
}

/* Adds what all numbers have been written less. */
static void
add_smallest(uint64 *values, int n, uint64 smallest)
{
	int			i;

	for (i = 0; i < n; i++)
		values[i] += smallest;
}

/*
 * Takes rows of a column, whose byte of flags has been read, to the end of the
 * bytes, into arrays in the current memory context.  smallest is what all
 * numbers are less.  The column's kind is set.
 */
bool
ZbxhistGetColumn(ByteReader *reader, PackedColumn *column, uint8 flags,
				 Slice slice, uint64 smallest)
{
	FlagCounts	nulls = {0};
	int			n = codec_count(slice);
	void	   *values;

	if ((flags & COLUMN_NULLS) != 0 &&
		(column->nulls = ZbxhistGetFlags(reader, slice, &nulls)) == NULL)
		return false;
	slice.n -= nulls.all;
	slice.from -= nulls.before;
	slice.to -= nulls.before + nulls.within;
	values = column->values = palloc(n * packed_value_size(column->kind));
	if (!get_values(reader, column->kind, values, slice) ||
		codec_left(reader) != 0)
		return false;
	if (smallest != 0)
		add_smallest(values, codec_count(slice), smallest);
	if (nulls.within > 0)
		spread(values, packed_value_size(column->kind), column->nulls, n,
			   codec_count(slice));
	return true;
}
