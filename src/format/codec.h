/*-------------------------------------------------------------------------
 *
 * codec.h
 *	  Columns of values as bytes, and what codecs are made of: buffers,
 *	  varints, bits.
 *
 * Numbers are little-endian in bytes, whatever the machine.  Writing appends to a buffer.
 * Reading takes bytes from a reader and never goes beyond its end.  It returns false if
 * no writer could have written the bytes; then the contents of the output are undefined.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_CODEC_H
#define ZBXHIST_CODEC_H

#include "port/pg_bitutils.h"
#include "port/pg_bswap.h"

#include "format/packed_column.h"

/* all bytes of a column of bytes; more than this is refused */
#define CODEC_MAX_BYTES ((size_t) 256 * 1024 * 1024)

/* bytes being written; data is palloc'd where the buffer was made */
typedef struct ByteBuffer
{
	uint8	   *data;
	size_t		length;
	size_t		size;			/* allocated */
} ByteBuffer;

/* bytes being read */
typedef struct ByteReader
{
	const uint8 *next;
	const uint8 *end;
} ByteReader;

/* codec_buffer.c */
extern void ZbxhistInitBuffer(ByteBuffer *buffer, size_t size);
extern uint8 *ZbxhistExtendBuffer(ByteBuffer *buffer, size_t length);
extern void ZbxhistPutBytes(ByteBuffer *buffer, const void *data,
							size_t length);
extern void ZbxhistPutVarint(ByteBuffer *buffer, uint64 value);
extern bool ZbxhistGetVarint(ByteReader *reader, uint64 *value);
extern bool ZbxhistSkipVarints(ByteReader *reader, int n);

/* codec_bits.c */
extern void ZbxhistPackBits(ByteBuffer *buffer, const uint64 *values, int n,
							int width);
extern uint64 ZbxhistUnpackOne(const uint8 *data, const uint8 *end,
							   int width, size_t i);
extern bool ZbxhistUnpackBits(ByteReader *reader, uint64 *values, int n,
							  int width);

/* codec_integer.c */
extern void ZbxhistEncodeIntegers(ByteBuffer *buffer, const uint64 *values,
								  int n);
extern bool ZbxhistDecodeIntegers(ByteReader *reader, uint64 *values, int n);

/* codec_double.c */
extern bool ZbxhistScaleDouble(double value, int decimals, int64 *scaled);
extern bool ZbxhistIsDecimal(double value, int decimals);
extern double ZbxhistUnscaleDouble(int64 scaled, int decimals);
extern void ZbxhistEncodeDoubles(ByteBuffer *buffer, const double *values,
								 int n);
extern bool ZbxhistDecodeDoubles(ByteReader *reader, double *values, int n);

/* codec_bytes.c */
extern void ZbxhistEncodeBytes(ByteBuffer *buffer, const PackedBytes *values,
							   int n);
extern bool ZbxhistDecodeBytes(ByteReader *reader, PackedBytes *values, int n);

/* decimals that a scaled double may have */
#define CODEC_MAX_DECIMALS 15

/* Eight bytes in the order of the disk. */
static inline uint64
codec_load64(const uint8 *data)
{
	uint64		value;

	memcpy(&value, data, sizeof(value));
#ifdef WORDS_BIGENDIAN
	value = pg_bswap64(value);
#endif
	return value;
}

/* Stores 64 bits, the lowest byte first. */
static inline void
codec_store64(uint8 *data, uint64 value)
{
#ifdef WORDS_BIGENDIAN
	value = pg_bswap64(value);
#endif
	memcpy(data, &value, sizeof(value));
}

/* Loads 32 bits, the lowest byte first. */
static inline uint32
codec_load32(const uint8 *data)
{
	return data[0] | (uint32) data[1] << 8 | (uint32) data[2] << 16 |
		(uint32) data[3] << 24;
}

/* Stores 32 bits, the lowest byte first. */
static inline void
codec_store32(uint8 *data, uint32 value)
{
	data[0] = value;
	data[1] = value >> 8;
	data[2] = value >> 16;
	data[3] = value >> 24;
}

/* The bits that a number needs: 0 to 64. */
static inline int
codec_width(uint64 value)
{
	return value == 0 ? 0 : pg_leftmost_one_pos64(value) + 1;
}

/* The bits of a double, and back. */
static inline uint64
codec_bits(double value)
{
	uint64		bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

/* The double of which these are the bits. */
static inline double
codec_double(uint64 bits)
{
	double		value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

/* The bytes that ZbxhistPutVarint writes. */
static inline int
codec_varint_length(uint64 value)
{
	return value == 0 ? 1 : (codec_width(value) + 6) / 7;
}

/* Signed numbers so that small ones of both signs are small. */
static inline uint64
codec_zigzag(uint64 value)
{
	return value << 1 ^ (0 - (value >> 63));
}

/* The number that codec_zigzag() was given. */
static inline uint64
codec_unzigzag(uint64 value)
{
	return value >> 1 ^ (0 - (value & 1));
}

/* Appends a byte. */
static inline void
codec_put_byte(ByteBuffer *buffer, uint8 value)
{
	*ZbxhistExtendBuffer(buffer, 1) = value;
}

/* Reads a byte; returns false at the end. */
static inline bool
codec_get_byte(ByteReader *reader, uint8 *value)
{
	if (reader->next == reader->end)
		return false;
	*value = *reader->next++;
	return true;
}

/* How many bytes have not been read. */
static inline size_t
codec_left(const ByteReader *reader)
{
	return reader->end - reader->next;
}

/* Appends a number of small magnitude, which may be negative. */
static inline void
codec_put_signed(ByteBuffer *buffer, uint64 value)
{
	ZbxhistPutVarint(buffer, codec_zigzag(value));
}

/* Reads what codec_put_signed() has appended; returns false if it is not there. */
static inline bool
codec_get_signed(ByteReader *reader, uint64 *value)
{
	if (!ZbxhistGetVarint(reader, value))
		return false;
	*value = codec_unzigzag(*value);
	return true;
}

/* Reads a length that must be left in the reader. */
static inline bool
codec_get_part(ByteReader *reader, ByteReader *part)
{
	uint64		length;

	if (!ZbxhistGetVarint(reader, &length) || length > codec_left(reader))
		return false;
	part->next = reader->next;
	part->end = reader->next + length;
	reader->next = part->end;
	return true;
}

#endif							/* ZBXHIST_CODEC_H */
