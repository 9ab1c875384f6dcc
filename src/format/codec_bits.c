/*-------------------------------------------------------------------------
 *
 * codec_bits.c
 *	  Numbers of a fixed width in bits, one after the other.
 *
 * Value i is in the bits from i * width on, counted from the lowest bit of the first
 * byte; the last byte is filled up with zeros.  Most values are read with one load of 64
 * bits, which may include bytes after the value but never bytes beyond the reader's end.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "format/codec.h"

/* widths up to this fit into one load wherever a value begins in its byte */
#define ONE_LOAD_WIDTH 57

/* The lowest width bits; width is 1 to 64. */
static inline uint64
mask_of(int width)
{
	return ~UINT64CONST(0) >> (64 - width);
}

/* Adds n numbers, which have no bits beyond width. */
void
ZbxhistPackBits(ByteBuffer *buffer, const uint64 *values, int n, int width)
{
	size_t		length = ((size_t) n * width + 7) / 8;
	uint8	   *out;
	uint64		word = 0;
	int			used = 0;
	int			i;

	if (length == 0)
		return;
	/* whole words are stored */
	out = ZbxhistExtendBuffer(buffer, length + 8);
	buffer->length -= 8;
	for (i = 0; i < n; i++)
	{
		word |= values[i] << used;
		used += width;
		if (used >= 64)
		{
			codec_store64(out, word);
			out += 8;
			used -= 64;
			word = used > 0 ? values[i] >> (width - used) : 0;
		}
	}
	if (used > 0)
		codec_store64(out, word);
}

/* Values whose first byte has at least eight others behind it. */
static int
count_not_near_end(size_t length, int n, int width)
{
	size_t		count;

	if (length < 9)
		return 0;
	count = ((length - 8) * 8 - 1) / width + 1;
	return Min(count, (size_t) n);
}

/*
 * Unpacks n values, n being a multiple of eight, the first of which begins at a byte.  If
 * the width is a constant, so are the places of each eight values.
 */
static pg_attribute_always_inline void
unpack_eights(const uint8 *data, uint64 *values, int n, int width)
{
	uint64		mask = mask_of(width);
	int			i;

#define unpack(k) \
	values[i + (k)] = codec_load64(data + (k) * width / 8) >> \
		(k) * width % 8 & mask
	for (i = 0; i < n; i += 8, data += width)
	{
		unpack(0);
		unpack(1);
		unpack(2);
		unpack(3);
		unpack(4);
		unpack(5);
		unpack(6);
		unpack(7);
	}
#undef unpack
}

/* The same for any width up to ONE_LOAD_WIDTH, with code for each. */
static void
unpack_width(const uint8 *data, uint64 *values, int n, int width)
{
#define WIDTH(w) case w: unpack_eights(data, values, n, w); break;
#define WIDTHS(w) WIDTH(w) WIDTH(w + 1) WIDTH(w + 2) WIDTH(w + 3) \
	WIDTH(w + 4) WIDTH(w + 5) WIDTH(w + 6) WIDTH(w + 7)
	switch (width)
	{
			WIDTHS(1) WIDTHS(9) WIDTHS(17) WIDTHS(25) WIDTHS(33) WIDTHS(41)
				WIDTHS(49) WIDTH(57)
	}
#undef WIDTHS
#undef WIDTH
}

/* Unpacks n values that are read with one load each. */
static void
unpack_narrow(const uint8 *data, uint64 *values, int n, int width)
{
	uint64		mask = mask_of(width);
	int			i = n / 8 * 8;

	unpack_width(data, values, i, width);
	for (; i < n; i++)
		values[i] = codec_load64(data + (size_t) i * width / 8) >>
			(size_t) i * width % 8 & mask;
}

/* Unpacks n values, from a bit on, that may reach into a ninth byte. */
static void
unpack_wide(const uint8 *data, uint64 *values, uint32 bit, int n, int width)
{
	uint64		mask = mask_of(width);
	int			i;

	for (i = 0; i < n; i++, bit += width)
	{
		const uint8 *first = data + bit / 8;
		int			shift = bit % 8;
		uint64		ninth = first[8];

		/* shifted in two steps: 64 at once would be undefined */
		values[i] = (codec_load64(first) >> shift |
					 ninth << (63 - shift) << 1) & mask;
	}
}

/*
 * Unpacks n values, from i on, that begin in the last eight bytes, from a copy with more
 * bytes after them.
 */
static void
unpack_end(const uint8 *data, const uint8 *end, uint64 *values, size_t i,
		   int n, int width)
{
	uint8		copy[24] = {0};

	data += i * width / 8;
	memcpy(copy, data, Min(end - data, 16));
	unpack_wide(copy, values, i * width % 8, n, width);
}

/* Reads value i, of width bits (1 to 64), which ends before end. */
uint64
ZbxhistUnpackOne(const uint8 *data, const uint8 *end, int width, size_t i)
{
	size_t		bit = i * width;
	uint64		value;

	if (width <= ONE_LOAD_WIDTH && end - data - bit / 8 >= 8)
		return codec_load64(data + bit / 8) >> bit % 8 & mask_of(width);
	unpack_end(data, end, &value, i, 1, width);
	return value;
}

/* Takes n numbers of width bits (0 to 64). */
bool
ZbxhistUnpackBits(ByteReader *reader, uint64 *values, int n, int width)
{
	const uint8 *data = reader->next;
	size_t		length = codec_left(reader);
	size_t		used = ((size_t) n * width + 7) / 8;
	int			i;

	if (used > length)
		return false;
	reader->next += used;
	if (width == 0)
	{
		memset(values, 0, n * sizeof(uint64));
		return true;
	}
	i = count_not_near_end(length, n, width);
	if (width <= ONE_LOAD_WIDTH)
		unpack_narrow(data, values, i, width);
	else
		unpack_wide(data, values, 0, i, width);
	if (i < n)
		unpack_end(data, reader->end, values + i, i, n - i, width);
	return true;
}
