/*-------------------------------------------------------------------------
 *
 * codec_integer.c
 *	  Integers of 64 bits as a stream.
 *
 * Frame of reference with patched exceptions, on the values, on their
 * differences or on the differences of those, whichever is smallest; values
 * that have a common factor are divided by it first; a few distinct values
 * become a dictionary.  The frame of reference begins at the smallest value,
 * or is centred on the typical one.  Exceptions are values that do not fit
 * into the width chosen; their higher bits follow with their positions
 * (M. Zukowski, S. Heman, N. Nes, P. Boncz: Super-Scalar RAM-CPU Cache
 * Compression, ICDE 2006).
 *
 * All arithmetic is that of 64 bits with wrap-around, so that signed and
 * unsigned values of any size come back exactly.
 *
 * The stream of no values is empty.  Otherwise it begins with a byte of
 * STREAM_ bits, and continues:
 *		dictionary: number of values, their stream, the stream of indexes;
 *		else: width (one byte, not if flat), scale and first value if scaled,
 *		as many first values as differences are taken, the base, then the
 *		values in width bits, and with exceptions: before the values their
 *		number and width, after them positions and higher bits.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "packed/codec.h"

#define STREAM_ORDER 0x03		/* how often differences are taken: 0, 1, 2 */
#define STREAM_DICTIONARY 0x03	/* instead of an order */
#define STREAM_CENTRED 0x04		/* the base is in the middle */
#define STREAM_SCALED 0x08		/* values have a common factor */
#define STREAM_EXCEPTIONS 0x10
#define STREAM_FLAT 0x20		/* all differ from the base by nothing */
#define STREAM_ALL 0x3F

/* distinct values that are worth a dictionary */
#define MAX_DICTIONARY 256
#define HASH_SIZE 1024

/* values that are looked at to find a typical one */
#define SAMPLE_SIZE 15

/* a guess at bytes of a stream besides its values */
#define STREAM_OVERHEAD 4

/* how values would be written */
typedef struct Frame
{
	int			order;
	bool		is_centred;
	uint64		base;
	int			width;
	int			nexceptions;
	int			exception_width;
	size_t		size;			/* in bytes, about */
} Frame;

/* The distance from the base, as it is stored. */
static inline uint64
framed(const Frame *frame, uint64 value)
{
	value -= frame->base;
	return frame->is_centred ? codec_zigzag(value) : value;
}

/* ---------------------------------------------------------------- writing */

/*
 * Chooses the width for values of which counts says how many need which
 * width, and fills in what follows from it.
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
	frame->size = (best + 7) / 8 + STREAM_OVERHEAD +
		(codec_width(codec_zigzag(frame->base)) + 6) / 7;
}

/* Counts how many distances from the base need which width. */
static void
measure_frame(Frame *frame, const uint64 *values, int n)
{
	int			counts[4][65] = {{0}};
	int			i;

	/* four tables: the same counter again and again would have to wait */
	for (i = 0; i < n; i++)
		counts[i & 3][codec_width(framed(frame, values[i]))]++;
	for (i = 0; i <= 64; i++)
		counts[0][i] += counts[1][i] + counts[2][i] + counts[3][i];
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

/*
 * A value that stands for most of them: the median of a few.  *width is what
 * those around it need.
 */
static uint64
find_typical(const uint64 *values, int n, int *width)
{
	int64		sample[SAMPLE_SIZE];
	int			count = Min(n, SAMPLE_SIZE);
	int			i,
				j;

	for (i = 0; i < count; i++)
	{
		int64		value = values[(size_t) i * n / count] - values[0];

		for (j = i; j > 0 && sample[j - 1] > value; j--)
			sample[j] = sample[j - 1];
		sample[j] = value;
	}
	*width = codec_width((uint64) sample[count - 1 - count / 4] -
					  (uint64) sample[count / 4]);
	return values[0] + (uint64) sample[count / 2];
}

/* Tries both bases; keeps what is smaller than the best so far. */
static void
try_order(Frame *best, const uint64 *values, int n, int order)
{
	Frame		frame = {0};
	uint64		typical;
	int			width;

	frame.order = order;
	frame.base = find_smallest(values, n);
	measure_frame(&frame, values, n);
	if (frame.size < best->size)
		*best = frame;

	/* a base in the middle is good only if some values are far away */
	typical = find_typical(values, n, &width);
	if (width > 4 && frame.width + frame.exception_width <= width + 2)
		return;
	frame.is_centred = true;
	frame.base = typical;
	measure_frame(&frame, values, n);
	if (frame.size < best->size)
		*best = frame;
}

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

/* The base, the values, the exceptions; distances has room for n. */
static void
put_frame(ByteBuffer *buffer, const Frame *frame, const uint64 *values, int n,
		  uint64 *distances)
{
	uint64		mask = frame->width == 64 ? ~UINT64CONST(0) :
		(UINT64CONST(1) << frame->width) - 1;
	uint64	   *low = distances + n;
	int			i;

	codec_put_signed(buffer, frame->base);
	if (frame->nexceptions > 0)
	{
		ZbxhistPutVarint(buffer, frame->nexceptions);
		codec_put_byte(buffer, frame->exception_width);
	}
	for (i = 0; i < n; i++)
	{
		distances[i] = framed(frame, values[i]);
		low[i] = distances[i] & mask;
	}
	ZbxhistPackBits(buffer, low, n, frame->width);
	if (frame->nexceptions > 0)
		put_exceptions(buffer, frame, distances, n);
}

/* The stream, but for a dictionary; differences[k] are those of order k. */
static void
put_stream(ByteBuffer *buffer, const Frame *frame, uint64 *const *differences,
		   int n, uint64 scale, uint64 first, uint64 *work)
{
	bool		is_flat = frame->width == 0 && frame->nexceptions == 0;
	int			order;

	codec_put_byte(buffer, frame->order |
				   (frame->is_centred ? STREAM_CENTRED : 0) |
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
	for (order = 0; order < frame->order; order++)
		codec_put_signed(buffer, differences[order][0]);
	put_frame(buffer, frame, differences[frame->order], n - frame->order,
			  work);
}

/*
 * Distinct values in the order in which they come, at most limit; indexes
 * says which each is.  Returns how many there are, or 0 if too many.
 */
static int
find_distinct(const uint64 *values, int n, uint64 *distinct, uint64 *indexes,
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

static void encode(ByteBuffer *buffer, const uint64 *values, int n,
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

	count = find_distinct(values, n, work, work + n,
						  Min(MAX_DICTIONARY, n / 4));
	if (count == 0)
		return;
	codec_put_byte(buffer, STREAM_DICTIONARY);
	ZbxhistPutVarint(buffer, count);
	encode(buffer, work, count, false);
	if (buffer->length - begin < length)
		encode(buffer, work + n, n, false);
	if (buffer->length - begin < length)
	{
		length = buffer->length - begin;
		memmove(buffer->data + start, buffer->data + begin, length);
	}
	buffer->length = start + length;
}

/* Adds the stream of n values. */
static void
encode(ByteBuffer *buffer, const uint64 *values, int n, bool allow_dictionary)
{
	size_t		start = buffer->length;
	uint64	   *work;
	uint64	   *differences[3];
	uint64		scale = 1;
	Frame		best = {0};
	int			order;

	if (n == 0)
		return;
	work = palloc(5 * (size_t) n * sizeof(uint64));
	differences[0] = work + 2 * n;
	differences[1] = work + 3 * n;
	differences[2] = work + 4 * n;

	if (take_differences(differences[1], values, n))
		scale = find_scale(differences[1], n - 1);
	if (scale > 1)
		divide_by_scale(differences[0], differences[1], n, scale);
	else
		memcpy(differences[0], values, n * sizeof(uint64));

	best.size = SIZE_MAX;
	for (order = 0; order < 3 && order < n; order++)
	{
		if (order == 2)
			(void) take_differences(differences[2], differences[1], n - 1);
		try_order(&best, differences[order], n - order, order);
		/* what differences do not help, those of theirs will not */
		if (order == 1 && best.order == 0)
			break;
	}
	put_stream(buffer, &best, differences, n, scale, values[0], work);
	if (allow_dictionary && best.width + best.nexceptions > 0)
		try_dictionary(buffer, start, values, n, work);
	pfree(work);
}

/* Adds the stream of n values, which the reader must know. */
void
ZbxhistEncodeIntegers(ByteBuffer *buffer, const uint64 *values, int n)
{
	encode(buffer, values, n, true);
}

/* ---------------------------------------------------------------- reading */

/* Takes exceptions and adds their higher bits to the values. */
static bool
patch(ByteReader *reader, uint64 *values, int n, const Frame *frame)
{
	uint64	   *positions = palloc(2 * frame->nexceptions * sizeof(uint64));
	uint64	   *highs = positions + frame->nexceptions;
	bool		result = false;
	int			i;

	if (!ZbxhistUnpackBits(reader, positions, frame->nexceptions,
						   codec_width(n - 1)) ||
		!ZbxhistUnpackBits(reader, highs, frame->nexceptions,
						   frame->exception_width))
		goto done;
	for (i = 0; i < frame->nexceptions; i++)
	{
		if (positions[i] >= n)
			goto done;
		values[positions[i]] |= highs[i] << frame->width;
	}
	result = true;
done:
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

/* Adds the base to distances. */
static void
add_base(uint64 *values, int n, const Frame *frame)
{
	uint64		base = frame->base;
	int			i;

	if (frame->is_centred)
		for (i = 0; i < n; i++)
			values[i] = codec_unzigzag(values[i]) + base;
	else
		for (i = 0; i < n; i++)
			values[i] += base;
}

/* Takes what put_frame wrote. */
static bool
get_frame(ByteReader *reader, uint64 *values, int n, uint8 flags, Frame *frame)
{
	if (!codec_get_signed(reader, &frame->base))
		return false;
	if ((flags & STREAM_EXCEPTIONS) != 0 && !get_exceptions(reader, n, frame))
		return false;
	if (!ZbxhistUnpackBits(reader, values, n, frame->width))
		return false;
	if (frame->nexceptions > 0 && !patch(reader, values, n, frame))
		return false;
	add_base(values, n, frame);
	return true;
}

/* Sums up differences; the first value is there. */
static void
add_up(uint64 *values, int n)
{
	uint64		sum = values[0];
	int			i;

	for (i = 1; i < n; i++)
		values[i] = sum += values[i];
}

/* Takes a stream that is not a dictionary. */
static bool
get_stream(ByteReader *reader, uint64 *values, int n, uint8 flags)
{
	Frame		frame = {0};
	uint64		scale = 1;
	uint64		first = 0;
	uint8		width = 0;
	int			i;

	frame.order = flags & STREAM_ORDER;
	frame.is_centred = (flags & STREAM_CENTRED) != 0;
	if (frame.order >= n)
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
	for (i = 0; i < frame.order; i++)
		if (!codec_get_signed(reader, &values[i]))
			return false;
	if (!get_frame(reader, values + frame.order, n - frame.order, flags,
				   &frame))
		return false;
	for (i = frame.order; i > 0; i--)
		add_up(values + i - 1, n - i + 1);
	if ((flags & STREAM_SCALED) != 0)
		for (i = 0; i < n; i++)
			values[i] = values[i] * scale + first;
	return true;
}

static bool decode(ByteReader *reader, uint64 *values, int n,
				   bool allow_dictionary);

/* Takes a dictionary and puts its values in the places of the indexes. */
static bool
get_dictionary(ByteReader *reader, uint64 *values, int n)
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

/* Takes the stream of n values. */
static bool
decode(ByteReader *reader, uint64 *values, int n, bool allow_dictionary)
{
	uint8		flags;

	if (n == 0)
		return true;
	if (!codec_get_byte(reader, &flags) || (flags & ~STREAM_ALL) != 0)
		return false;
	if ((flags & STREAM_ORDER) != STREAM_DICTIONARY)
		return get_stream(reader, values, n, flags);
	return allow_dictionary && get_dictionary(reader, values, n);
}

/* Takes n values that ZbxhistEncodeIntegers added. */
bool
ZbxhistDecodeIntegers(ByteReader *reader, uint64 *values, int n)
{
	return decode(reader, values, n, true);
}
