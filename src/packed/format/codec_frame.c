/*-------------------------------------------------------------------------
 *
 * codec_frame.c
 *	  Integers of 64 bits as their distances from a base.
 *
 * Frame of reference with patched exceptions: the base is the smallest value,
 * or zero if that costs no bit, or in the middle of most of them, and all
 * distances have the same width in bits.  Exceptions are values whose distance does not fit into the width;
 * their higher bits follow with their positions (M. Zukowski, S. Heman,
 * N. Nes, P. Boncz: Super-Scalar RAM-CPU Cache Compression, ICDE 2006).
 *
 * The bytes: the base; if there are exceptions, their number and the width of
 * their higher bits (a byte); the distances; positions and higher bits.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "binary_search.h"
#include "packed/format/codec_frame.h"

/* values that are looked at to find a typical one */
#define SAMPLE_SIZE 15

/* a guess at bytes besides the distances */
#define FRAME_OVERHEAD 4

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

	/* four tables: the same counter again and again would have to wait */
	memset(counts, 0, ntables * sizeof(counts[0]));
	for (i = 0; i < n; i++)
		counts[i & (ntables - 1)][codec_width(framed(frame, values[i]))]++;
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
void
ZbxhistChooseFrame(Frame *frame, const uint64 *values, int n)
{
	Frame		centred = {.is_centred = true};
	int			width;

	memset(frame, 0, sizeof(*frame));
	frame->base = find_smallest(values, n);
	measure_frame(frame, values, n);
	try_zero_base(frame, values, n);

	/* a base in the middle is good only if some values are far away */
	centred.base = find_typical(values, n, &width);
	if (width > 4 && frame->width + frame->exception_width <= width + 2)
		return;
	measure_frame(&centred, values, n);
	if (centred.size < frame->size)
		*frame = centred;
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
void
ZbxhistPutFrame(ByteBuffer *buffer, const Frame *frame, const uint64 *values,
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
		distances[i] = framed(frame, values[i]);
		low[i] = distances[i] & mask;
	}
	ZbxhistPackBits(buffer, low, n, frame->width);
	if (frame->nexceptions > 0)
		put_exceptions(buffer, frame, distances, n);
}

/* ---------------------------------------------------------------- reading */

/*
 * Finds which exceptions are those of the values that are wanted; positions
 * are sorted.
 */
static Slice
find_exceptions(const ByteReader *positions, Slice slice, int count)
{
	Slice		found = codec_all(count);
	int			width = codec_width(slice.n - 1);

	if (((size_t) count * width + 7) / 8 > codec_left(positions) ||
		width == 0)
		return found;
	if (slice.from > 0)
		find_first(found.from, count,
				   ZbxhistUnpackOne(positions->next, positions->end, width,
									found.from) >= slice.from);
	if (slice.to < slice.n)
		find_first(found.to, count,
				   ZbxhistUnpackOne(positions->next, positions->end, width,
									found.to) >= slice.to);
	/* nothing promises that of bytes that are damaged */
	found.to = Max(found.from, found.to);
	return found;
}

/* Takes exceptions and adds their higher bits to the values. */
static bool
patch(ByteReader *reader, uint64 *values, Slice slice, const Frame *frame)
{
	Slice		which = find_exceptions(reader, slice, frame->nexceptions);
	int			n = codec_count(which);
	uint64	   *positions = palloc((2 * n + 1) * sizeof(uint64));
	uint64	   *highs = positions + n;
	bool		result;
	int			i;

	result = ZbxhistUnpackBits(reader, positions, which,
							   codec_width(slice.n - 1)) &&
		ZbxhistUnpackBits(reader, highs, which, frame->exception_width);
	for (i = 0; result && i < n; i++)
	{
		if (positions[i] < slice.from || positions[i] >= slice.to ||
			(i > 0 && positions[i] <= positions[i - 1]))
			result = false;
		else
			values[positions[i] - slice.from] |= highs[i] << frame->width;
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

/*
 * Takes values that ZbxhistPutFrame added; of the frame, width and is_centred
 * must be there.
 */
bool
ZbxhistGetFrame(ByteReader *reader, uint64 *values, Slice slice,
				bool has_exceptions, Frame *frame)
{
	if (!codec_get_signed(reader, &frame->base))
		return false;
	if (has_exceptions && !get_exceptions(reader, slice.n, frame))
		return false;
	if (!ZbxhistUnpackBits(reader, values, slice, frame->width))
		return false;
	if (frame->nexceptions > 0 && !patch(reader, values, slice, frame))
		return false;
	add_base(values, codec_count(slice), frame);
	return true;
}
