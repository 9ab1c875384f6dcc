/*-------------------------------------------------------------------------
 *
 * codec_integer.c
 *	  Integers of 64 bits as a stream.
 *
 * The values or their differences, whichever are smaller, become a frame.  Values
 * that have a common factor are divided by it first.  A few distinct values become
 * a dictionary.
 *
 * All arithmetic is that of 64 bits with wrap-around, so that signed and
 * unsigned values of any size come back exactly.
 *
 * The stream of no values is empty.  Otherwise it begins with a byte of
 * STREAM_ bits, and continues:
 *		dictionary: number of values, their stream, the stream of indexes;
 *		else: width (one byte, not if flat), scale and first value if scaled,
 *		the first value if differences are taken, the frame.
 *
 * Frame of reference with patched exceptions: the base is the smallest value,
 * or zero if that costs no bit, and all distances from it have the same width in
 * bits.  Exceptions are values whose distance does not fit into the width; their
 * higher bits follow with their positions (M. Zukowski, S. Heman, N. Nes,
 * P. Boncz: Super-Scalar RAM-CPU Cache Compression, ICDE 2006).
 *
 * The bytes: the base; if there are exceptions, their number and the width of
 * their higher bits (a byte); the distances; positions and higher bits.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "format/codec.h"

#define STREAM_DIFFERENCES 0x01
#define STREAM_DICTIONARY 0x03	/* instead of all others */
#define STREAM_SCALED 0x08		/* values have a common factor */
#define STREAM_EXCEPTIONS 0x10
#define STREAM_FLAT 0x20		/* all are equal to the base */
#define STREAM_ALL 0x39

/* most distinct values of a dictionary */
#define MAX_DICTIONARY 256
#define HASH_SIZE 1024

/* a guess at bytes besides the distances */
#define FRAME_OVERHEAD 4

/* how values are written, or would be */
typedef struct Frame
{
	uint64		base;
	int			width;			/* bits of a distance */
	int			nexceptions;
	int			exception_width;	/* of the bits above width */
	size_t		size;			/* in bytes, about */
} Frame;

/* --------------------------------------------------------- frames, writing */

/*
 * Chooses the width of a frame, given how many values need each width, and fills in what
 * follows from it.
 */
static void
choose_width(Frame *frame, const int *counts, int n)
{
	int			position_width = codec_width(n - 1);
	int			widest = 64;
	int			nwider = 0;
	size_t		best = SIZE_MAX;
	int			width;

	while (widest > 0 && counts[widest] == 0)
		widest--;
	for (width = widest; width >= 0; width--)
	{
		size_t		bits = (size_t) n * width;

		if (nwider > 0)
			bits += 24 + (size_t) nwider * (position_width + widest - width);
		if (bits < best)
		{
			best = bits;
			frame->width = width;
			frame->nexceptions = nwider;
			frame->exception_width = nwider > 0 ? widest - width : 0;
		}
		nwider += counts[width];
	}
	frame->size = (best + 7) / 8 + FRAME_OVERHEAD +
		codec_varint_length(codec_zigzag(frame->base));
}

/* Counts how many distances from the base need which width. */
static void
measure_frame(Frame *frame, const uint64 *values, int n)
{
	int			counts[4][65];
	int			ntables = n < 64 ? 1 : 4;
	int			table;
	int			i;

	/*
	 * four tables, because incrementing one counter repeatedly stalls the
	 * processor
	 */
	memset(counts, 0, ntables * sizeof(counts[0]));
	for (i = 0; i < n; i++)
		counts[i & (ntables - 1)][codec_width(values[i] - frame->base)]++;
	for (table = 1; table < ntables; table++)
		for (i = 0; i <= 64; i++)
			counts[0][i] += counts[table][i];
	choose_width(frame, counts[0], n);
}

/* The smallest value, with the first one taken for zero. */
static uint64
find_smallest(const uint64 *values, int n)
{
	int64		smallest = 0;
	int			i;

	for (i = 1; i < n; i++)
		smallest = Min(smallest, (int64) (values[i] - values[0]));
	return values[0] + (uint64) smallest;
}

/* Makes the base zero, which is shorter, if distances stay as wide. */
static void
try_zero_base(Frame *frame, const uint64 *values, int n)
{
	uint64		all = 0;
	int			i;

	if (frame->nexceptions > 0 || codec_width(frame->base) > frame->width)
		return;
	for (i = 0; i < n; i++)
		all |= values[i];
	if (codec_width(all) > frame->width)
		return;
	frame->size -= codec_varint_length(codec_zigzag(frame->base)) - 1;
	frame->base = 0;
}

/* Chooses the base and the width for n values, one at least. */
static void
choose_frame(Frame *frame, const uint64 *values, int n)
{
	memset(frame, 0, sizeof(*frame));
	frame->base = find_smallest(values, n);
	measure_frame(frame, values, n);
	try_zero_base(frame, values, n);
}

/* The higher bits of the values that do not fit, and where they are. */
static void
put_exceptions(ByteBuffer *buffer, const Frame *frame, const uint64 *distances,
			   int n)
{
	uint64	   *positions = palloc(2 * frame->nexceptions * sizeof(uint64));
	uint64	   *highs = positions + frame->nexceptions;
	int			count = 0;
	int			i;

	for (i = 0; i < n; i++)
	{
		if (distances[i] >> frame->width == 0)
			continue;
		positions[count] = i;
		highs[count++] = distances[i] >> frame->width;
	}
	Assert(count == frame->nexceptions);
	ZbxhistPackBits(buffer, positions, count, codec_width(n - 1));
	ZbxhistPackBits(buffer, highs, count, frame->exception_width);
	pfree(positions);
}

/* Adds n values; work has room for twice as many. */
static void
put_frame(ByteBuffer *buffer, const Frame *frame, const uint64 *values,
		  int n, uint64 *work)
{
	uint64		mask = frame->width == 64 ? ~UINT64CONST(0) :
		(UINT64CONST(1) << frame->width) - 1;
	uint64	   *distances = work;
	uint64	   *low = work + n;
	int			i;

	codec_put_signed(buffer, frame->base);
	if (frame->nexceptions > 0)
	{
		ZbxhistPutVarint(buffer, frame->nexceptions);
		codec_put_byte(buffer, frame->exception_width);
	}
	for (i = 0; i < n; i++)
	{
		distances[i] = values[i] - frame->base;
		low[i] = distances[i] & mask;
	}
	ZbxhistPackBits(buffer, low, n, frame->width);
	if (frame->nexceptions > 0)
		put_exceptions(buffer, frame, distances, n);
}

/* --------------------------------------------------------- frames, reading */

/* Takes exceptions and adds their higher bits to the values. */
static bool
patch(ByteReader *reader, uint64 *values, int n, const Frame *frame)
{
	int			count = frame->nexceptions;
	uint64	   *positions = palloc(2 * count * sizeof(uint64));
	uint64	   *highs = positions + count;
	bool		result;
	int			i;

	result = ZbxhistUnpackBits(reader, positions, count, codec_width(n - 1)) &&
		ZbxhistUnpackBits(reader, highs, count, frame->exception_width);
	for (i = 0; result && i < count; i++)
	{
		if (positions[i] >= n || (i > 0 && positions[i] <= positions[i - 1]))
			result = false;
		else
			values[positions[i]] |= highs[i] << frame->width;
	}
	pfree(positions);
	return result;
}

/* Takes the number of exceptions among n values and their width. */
static bool
get_exceptions(ByteReader *reader, int n, Frame *frame)
{
	uint64		count;
	uint8		width;

	if (!ZbxhistGetVarint(reader, &count) || count == 0 || count > n ||
		!codec_get_byte(reader, &width) || width == 0 ||
		width > 64 - frame->width)
		return false;
	frame->nexceptions = count;
	frame->exception_width = width;
	return true;
}

/* Takes n values that put_frame added; the frame's width must be there. */
static bool
get_frame(ByteReader *reader, uint64 *values, int n,
		  bool has_exceptions, Frame *frame)
{
	int			i;

	if (!codec_get_signed(reader, &frame->base))
		return false;
	if (has_exceptions && !get_exceptions(reader, n, frame))
		return false;
	if (!ZbxhistUnpackBits(reader, values, n, frame->width))
		return false;
	if (frame->nexceptions > 0 && !patch(reader, values, n, frame))
		return false;
	for (i = 0; i < n; i++)
		values[i] += frame->base;
	return true;
}

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
 * Writes the stream of n values, other than a dictionary, as values or as differences;
 * the frame is of one of these.
 */
static void
put_value_stream(ByteBuffer *buffer, const Frame *frame, const uint64 *values,
				 const uint64 *differences, int n, uint64 scale, uint64 first,
				 uint64 *work)
{
	bool		is_flat = frame->width == 0 && frame->nexceptions == 0;

	codec_put_byte(buffer, (differences != NULL ? STREAM_DIFFERENCES : 0) |
				   (scale > 1 ? STREAM_SCALED : 0) |
				   (frame->nexceptions > 0 ? STREAM_EXCEPTIONS : 0) |
				   (is_flat ? STREAM_FLAT : 0));
	if (!is_flat)
		codec_put_byte(buffer, frame->width);
	if (scale > 1)
	{
		ZbxhistPutVarint(buffer, scale);
		codec_put_signed(buffer, first);
	}
	if (differences == NULL)
		put_frame(buffer, frame, values, n, work);
	else
	{
		codec_put_signed(buffer, values[0]);
		put_frame(buffer, frame, differences, n - 1, work);
	}
}

/*
 * Collects at most limit distinct values in the order in which they come; indexes gets
 * the index of each value.  Returns their number, or 0 if there are too many.
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
	choose_frame(&frame, scaled, n);
	if (n > 1)
		choose_frame(&other, differences, n - 1);
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
 * Reads the frame of the differences of n values, and adds them up from the first value
 * on.
 */
static bool
get_differences(ByteReader *reader, uint64 *values, int n, uint64 first,
				bool has_exceptions, Frame *frame)
{
	int			i;

	values[0] = first;
	if (!get_frame(reader, values + 1, n - 1, has_exceptions, frame))
		return false;
	for (i = 1; i < n; i++)
		values[i] = first += values[i];
	return true;
}

/* Takes a stream that is not a dictionary. */
static bool
get_stream(ByteReader *reader, uint64 *values, int n, uint8 flags)
{
	Frame		frame = {0};
	bool		has_exceptions = (flags & STREAM_EXCEPTIONS) != 0;
	bool		has_differences = (flags & STREAM_DIFFERENCES) != 0;
	uint64		scale = 1;
	uint64		first = 0;
	uint64		first_scaled = 0;
	uint8		width = 0;
	int			i;

	if ((flags & ~STREAM_ALL) != 0 || (has_differences && n < 2))
		return false;
	if ((flags & STREAM_FLAT) == 0 && !codec_get_byte(reader, &width))
		return false;
	if (width > 64)
		return false;
	frame.width = width;
	if ((flags & STREAM_SCALED) != 0 &&
		(!ZbxhistGetVarint(reader, &scale) ||
		 !codec_get_signed(reader, &first)))
		return false;
	if (has_differences && !codec_get_signed(reader, &first_scaled))
		return false;
	if (has_differences ?
		!get_differences(reader, values, n, first_scaled, has_exceptions,
						 &frame) :
		!get_frame(reader, values, n, has_exceptions, &frame))
		return false;
	if ((flags & STREAM_SCALED) != 0)
		for (i = 0; i < n; i++)
			values[i] = values[i] * scale + first;
	return true;
}

static bool decode(ByteReader *reader, uint64 *values, int n,
				   bool allow_dictionary);

/* Takes a dictionary and puts its values in the places of the indexes. */
static bool
get_value_dictionary(ByteReader *reader, uint64 *values, int n)
{
	uint64		distinct[MAX_DICTIONARY];
	uint64		count;
	int			i;

	if (!ZbxhistGetVarint(reader, &count) || count == 0 ||
		count > MAX_DICTIONARY ||
		!decode(reader, distinct, count, false) ||
		!decode(reader, values, n, false))
		return false;
	for (i = 0; i < n; i++)
	{
		if (values[i] >= count)
			return false;
		values[i] = distinct[values[i]];
	}
	return true;
}

/* Takes the stream. */
static bool
decode(ByteReader *reader, uint64 *values, int n, bool allow_dictionary)
{
	uint8		flags;

	if (n == 0)
		return true;
	if (!codec_get_byte(reader, &flags))
		return false;
	if (flags != STREAM_DICTIONARY)
		return get_stream(reader, values, n, flags);
	return allow_dictionary && get_value_dictionary(reader, values, n);
}

/* Takes n values that ZbxhistEncodeIntegers added. */
bool
ZbxhistDecodeIntegers(ByteReader *reader, uint64 *values, int n)
{
	return decode(reader, values, n, true);
}
