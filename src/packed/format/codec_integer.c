/*-------------------------------------------------------------------------
 *
 * codec_integer.c
 *	  Integers of 64 bits as a stream.
 *
 * The values or their differences, whichever are smaller, become a frame
 * (codec_frame.c); values that have a common factor are divided by it first;
 * a few distinct values become a dictionary.
 *
 * All arithmetic is that of 64 bits with wrap-around, so that signed and
 * unsigned values of any size come back exactly.
 *
 * The stream of no values is empty.  Otherwise it begins with a byte of
 * STREAM_ bits, and continues:
 *		dictionary: number of values, their stream, the stream of indexes;
 *		else: width (one byte, not if flat), scale and first value if scaled,
 *		the first value if differences are taken and it is not zero, the frame.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "packed/format/codec_frame.h"

#define STREAM_DIFFERENCES 0x01
#define STREAM_DICTIONARY 0x03	/* instead of all others */
#define STREAM_CENTRED 0x04		/* the base is in the middle */
#define STREAM_SCALED 0x08		/* values have a common factor */
#define STREAM_EXCEPTIONS 0x10
#define STREAM_FLAT 0x20		/* all differ from the base by nothing */
#define STREAM_FROM_ZERO 0x80	/* the first value is zero; of differences */
#define STREAM_ALL 0xBD

/* distinct values that are worth a dictionary */
#define MAX_DICTIONARY 256
#define HASH_SIZE 1024

/* ---------------------------------------------------------------- writing */

/*
 * The differences between values that follow each other: n - 1.  Says whether
 * they are not all the same.
 */
static bool
take_differences(uint64 *differences, const uint64 *values, int n)
{
	uint64		changes = 0;
	int			i;

	for (i = 1; i < n; i++)
	{
		differences[i - 1] = values[i] - values[i - 1];
		changes |= differences[i - 1] ^ differences[0];
	}
	return changes != 0;
}

/* The greatest number that both are multiples of, which are not both zero. */
static uint64
greatest_common_divisor(uint64 a, uint64 b)
{
	while (b != 0)
	{
		uint64		rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* A difference without its sign. */
static inline uint64
magnitude(uint64 value)
{
	return (int64) value < 0 ? 0 - value : value;
}

/* The greatest factor that all differences have, which are not all zero. */
static uint64
find_scale(const uint64 *differences, int n)
{
	uint64		all = 0;
	uint64		odd = 0;
	int			shift;
	int			i;

	for (i = 0; i < n; i++)
		all |= differences[i];
	shift = pg_rightmost_one_pos64(all);
	for (i = 0; i < n && odd != 1; i++)
	{
		uint64		rest = magnitude(differences[i]) >> shift;

		if (odd == 0 || rest % odd != 0)
			odd = greatest_common_divisor(rest, odd);
	}
	while (odd % 2 == 0)
		odd /= 2;
	return odd << shift;
}

/* A difference divided by a factor that it has. */
static inline uint64
divide(uint64 difference, uint64 odd, int shift)
{
	uint64		quotient;

	if (odd == 1)
		return (uint64) ((int64) difference >> shift);
	quotient = (magnitude(difference) >> shift) / odd;
	return (int64) difference < 0 ? 0 - quotient : quotient;
}

/* Values divided by their common factor, beginning with zero. */
static void
divide_by_scale(uint64 *scaled, uint64 *differences, int n, uint64 scale)
{
	int			shift = pg_rightmost_one_pos64(scale);
	int			i;

	scaled[0] = 0;
	for (i = 1; i < n; i++)
	{
		differences[i - 1] = divide(differences[i - 1], scale >> shift, shift);
		scaled[i] = scaled[i - 1] + differences[i - 1];
	}
}

/*
 * The stream of n values, but for a dictionary, of the values as they are or of
 * their differences; the frame is that of either.
 */
static void
put_value_stream(ByteBuffer *buffer, const Frame *frame, const uint64 *values,
				 const uint64 *differences, int n, uint64 scale, uint64 first,
				 uint64 *work)
{
	bool		is_flat = frame->width == 0 && frame->nexceptions == 0;
	bool		is_from_zero = differences != NULL && values[0] == 0;

	codec_put_byte(buffer, (differences != NULL ? STREAM_DIFFERENCES : 0) |
				   (frame->is_centred ? STREAM_CENTRED : 0) |
				   (scale > 1 ? STREAM_SCALED : 0) |
				   (frame->nexceptions > 0 ? STREAM_EXCEPTIONS : 0) |
				   (is_flat ? STREAM_FLAT : 0) |
				   (is_from_zero ? STREAM_FROM_ZERO : 0));
	if (!is_flat)
		codec_put_byte(buffer, frame->width);
	if (scale > 1)
	{
		ZbxhistPutVarint(buffer, scale);
		codec_put_signed(buffer, first);
	}
	if (differences == NULL)
		ZbxhistPutFrame(buffer, frame, values, n, work);
	else
	{
		if (!is_from_zero)
			codec_put_signed(buffer, values[0]);
		ZbxhistPutFrame(buffer, frame, differences, n - 1, work);
	}
}

/*
 * Distinct values in the order in which they come, at most limit; indexes
 * says which each is.  Returns how many there are, or 0 if too many.
 */
static int
find_distinct_values(const uint64 *values, int n, uint64 *distinct,
					 uint64 *indexes,
					 int limit)
{
	uint16		table[HASH_SIZE] = {0}; /* index + 1 */
	int			count = 0;
	int			i;

	for (i = 0; i < n; i++)
	{
		uint32		slot = values[i] * UINT64CONST(0x9E3779B97F4A7C15) >> 54;

		while (table[slot] != 0 && distinct[table[slot] - 1] != values[i])
			slot = (slot + 1) % HASH_SIZE;
		if (table[slot] == 0)
		{
			if (count == limit)
				return 0;
			distinct[count++] = values[i];
			table[slot] = count;
		}
		indexes[i] = table[slot] - 1;
	}
	return count;
}

static void encode_stream(ByteBuffer *buffer, const uint64 *values, int n,
						  bool allow_dictionary);

/*
 * Replaces the stream that begins at start by a dictionary, if there are few
 * distinct values and that is smaller.  work has room for 2 n values.
 */
static void
try_dictionary(ByteBuffer *buffer, size_t start, const uint64 *values, int n,
			   uint64 *work)
{
	size_t		length = buffer->length - start;
	size_t		begin = buffer->length;
	int			count;

	count = find_distinct_values(values, n, work, work + n,
								 Min(MAX_DICTIONARY, n / 4));
	if (count == 0)
		return;
	codec_put_byte(buffer, STREAM_DICTIONARY);
	ZbxhistPutVarint(buffer, count);
	encode_stream(buffer, work, count, false);
	if (buffer->length - begin < length)
		encode_stream(buffer, work + n, n, false);
	if (buffer->length - begin < length)
	{
		length = buffer->length - begin;
		memmove(buffer->data + start, buffer->data + begin, length);
	}
	buffer->length = start + length;
}

/* Adds the stream of n values. */
static void
encode_stream(ByteBuffer *buffer, const uint64 *values, int n,
			  bool allow_dictionary)
{
	size_t		start = buffer->length;
	uint64	   *work;
	uint64	   *scaled;
	uint64	   *differences;
	uint64		scale = 1;
	Frame		frame;
	Frame		other;

	if (n == 0)
		return;
	work = palloc(4 * (size_t) n * sizeof(uint64));
	scaled = work + 2 * n;
	differences = work + 3 * n;
	if (take_differences(differences, values, n))
		scale = find_scale(differences, n - 1);
	if (scale > 1)
		divide_by_scale(scaled, differences, n, scale);
	else
		memcpy(scaled, values, n * sizeof(uint64));
	ZbxhistChooseFrame(&frame, scaled, n);
	if (n > 1)
		ZbxhistChooseFrame(&other, differences, n - 1);
	if (n > 1 && other.size < frame.size)
		frame = other;
	else
		differences = NULL;
	put_value_stream(buffer, &frame, scaled, differences, n, scale, values[0],
					 work);
	if (allow_dictionary && frame.width + frame.nexceptions > 0)
		try_dictionary(buffer, start, values, n, work);
	pfree(work);
}

/* Adds the stream of n values, which the reader must know. */
void
ZbxhistEncodeIntegers(ByteBuffer *buffer, const uint64 *values, int n)
{
	encode_stream(buffer, values, n, true);
}

/* ---------------------------------------------------------------- reading */

/*
 * Takes the frame of differences, and sums them up from the very first value on.
 */
static bool
get_differences(ByteReader *reader, uint64 *values, Slice slice, uint64 first,
				bool has_exceptions, Frame *frame)
{
	uint64	   *sums = slice.from == 0 ? values :
		palloc(slice.to * sizeof(uint64));
	Slice		rest = {slice.n - 1, 0, Max(slice.to - 1, 0)};
	bool		result;
	int			i;

	if (slice.to > 0)
		sums[0] = first;
	result = ZbxhistGetFrame(reader, sums + 1, rest, has_exceptions, frame);
	for (i = 1; result && i < slice.to; i++)
		sums[i] = first += sums[i];
	if (sums != values)
	{
		memcpy(values, sums + slice.from, codec_count(slice) * sizeof(uint64));
		pfree(sums);
	}
	return result;
}

/* Takes a stream that is not a dictionary. */
static bool
get_stream(ByteReader *reader, uint64 *values, Slice slice, uint8 flags)
{
	Frame		frame = {0};
	bool		has_exceptions = (flags & STREAM_EXCEPTIONS) != 0;
	bool		is_from_zero = (flags & STREAM_FROM_ZERO) != 0;
	bool		has_differences = (flags & STREAM_DIFFERENCES) != 0;
	uint64		scale = 1;
	uint64		first = 0;
	uint64		first_scaled = 0;
	uint8		width = 0;
	int			i;

	if ((flags & ~STREAM_ALL) != 0 ||
		(has_differences ? slice.n < 2 : is_from_zero))
		return false;
	if ((flags & STREAM_FLAT) == 0 && !codec_get_byte(reader, &width))
		return false;
	if (width > 64)
		return false;
	frame.width = width;
	frame.is_centred = (flags & STREAM_CENTRED) != 0;
	if ((flags & STREAM_SCALED) != 0 &&
		(!ZbxhistGetVarint(reader, &scale) ||
		 !codec_get_signed(reader, &first)))
		return false;
	if (has_differences && !is_from_zero &&
		!codec_get_signed(reader, &first_scaled))
		return false;
	if (has_differences ?
		!get_differences(reader, values, slice, first_scaled, has_exceptions,
						 &frame) :
		!ZbxhistGetFrame(reader, values, slice, has_exceptions, &frame))
		return false;
	if ((flags & STREAM_SCALED) != 0)
		for (i = 0; i < codec_count(slice); i++)
			values[i] = values[i] * scale + first;
	return true;
}

static bool decode(ByteReader *reader, uint64 *values, Slice slice,
				   bool allow_dictionary);

/* Takes a dictionary and puts its values in the places of the indexes. */
static bool
get_value_dictionary(ByteReader *reader, uint64 *values, Slice slice)
{
	uint64		distinct[MAX_DICTIONARY];
	uint64		count;
	int			i;

	if (!ZbxhistGetVarint(reader, &count) || count == 0 ||
		count > MAX_DICTIONARY ||
		!decode(reader, distinct, codec_all(count), false) ||
		!decode(reader, values, slice, false))
		return false;
	for (i = 0; i < codec_count(slice); i++)
	{
		if (values[i] >= count)
			return false;
		values[i] = distinct[values[i]];
	}
	return true;
}

/* Takes the stream. */
static bool
decode(ByteReader *reader, uint64 *values, Slice slice, bool allow_dictionary)
{
	uint8		flags;

	if (slice.n == 0)
		return true;
	if (!codec_get_byte(reader, &flags))
		return false;
	if (flags != STREAM_DICTIONARY)
		return get_stream(reader, values, slice, flags);
	return allow_dictionary && get_value_dictionary(reader, values, slice);
}

/* Takes values that ZbxhistEncodeIntegers added. */
bool
ZbxhistDecodeIntegers(ByteReader *reader, uint64 *values, Slice slice)
{
	return decode(reader, values, slice, true);
}

/*
 * Returns the bits of a stream of n numbers, to the reader's end, that are
 * nothing but a bit each; or null.
 */
const uint8 *
ZbxhistIntegersAsBits(const ByteReader *reader, int n)
{
	/* no flags, the width, the base */
	static const uint8 header[] = {0, 1, 0};

	if (codec_left(reader) != sizeof(header) + ((size_t) n + 7) / 8 ||
		memcmp(reader->next, header, sizeof(header)) != 0)
		return NULL;
	return reader->next + sizeof(header);
}
