/*-------------------------------------------------------------------------
 *
 * codec_bits.c
 *	  Numbers of a fixed width in bits, one after the other.
 *
 * Value i is in the bits from i * width on, counted from the lowest bit of
 * the first byte; the last byte is filled up with zeros.  Most values are read
 * with one load of 64 bits, which may look at bytes behind the value but
 * never behind the reader's end.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "packed/format/codec.h"

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

/* Reads value i of a stream that ends in less than nine bytes behind it. */
static uint64
unpack_near_end(const uint8 *data, size_t length, int width, size_t i)
{
	uint8		copy[16] = {0};
	size_t		first = i * width / 8;
	int			shift = i * width % 8;
	uint64		value;

	memcpy(copy, data + first, Min(sizeof(copy), length - first));
	value = codec_load64(copy) >> shift;
	if (shift + width > 64)
		value |= (uint64) copy[8] << (64 - shift);
	return value & mask_of(width);
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

/* Unpacks n values, from a bit on, that are read with one load each. */
static void
unpack_narrow(const uint8 *data, uint64 *values, uint32 bit, int n, int width)
{
	uint64		mask = mask_of(width);
	int			i;

	for (i = 0; i < n; i++, bit += width)
		values[i] = codec_load64(data + bit / 8) >> bit % 8 & mask;
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

/* Reads value i, of width bits (1 to 64), which ends before end. */
uint64
ZbxhistUnpackOne(const uint8 *data, const uint8 *end, int width, size_t i)
{
	return unpack_near_end(data, end - data, width, i);
}

/* Takes numbers of width bits (0 to 64). */
bool
ZbxhistUnpackBits(ByteReader *reader, uint64 *values, Slice slice, int width)
{
	const uint8 *data = reader->next;
	size_t		length = codec_left(reader);
	size_t		used = ((size_t) slice.n * width + 7) / 8;
	uint32		bit = (uint32) slice.from * width;
	int			i;

	if (used > length)
		return false;
	reader->next += used;
	if (width == 0)
	{
		memset(values, 0, codec_count(slice) * sizeof(uint64));
		return true;
	}
	i = Max(count_not_near_end(length, slice.to, width), slice.from);
	if (width <= ONE_LOAD_WIDTH)
		unpack_narrow(data, values, bit, i - slice.from, width);
	else
		unpack_wide(data, values, bit, i - slice.from, width);
	for (; i < slice.to; i++)
		values[i - slice.from] = unpack_near_end(data, length, width, i);
	return true;
}
