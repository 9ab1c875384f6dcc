/*-------------------------------------------------------------------------
 *
 * codec_buffer.c
 *	  Buffers that grow, and numbers of variable length in them.
 *
 * A varint has seven bits a byte, the lowest first; the highest bit of a byte
 * says that more follow.  Ten bytes hold 64 bits.
 *
 * A buffer stays in the memory context in which it was made.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "format/codec.h"

/* Makes an empty buffer in the current memory context. */
void
ZbxhistInitBuffer(ByteBuffer *buffer, size_t size)
{
	buffer->data = palloc(size);
	buffer->length = 0;
	buffer->size = size;
}

/* Adds length bytes for the caller to fill. */
uint8 *
ZbxhistExtendBuffer(ByteBuffer *buffer, size_t length)
{
	uint8	   *added;

	if (length > buffer->size - buffer->length)
	{
		size_t		size = Max(2 * buffer->size, buffer->length + length);

		buffer->data = repalloc_huge(buffer->data, size);
		buffer->size = size;
	}
	added = buffer->data + buffer->length;
	buffer->length += length;
	return added;
}

/* Adds bytes; data may be null if there are none. */
void
ZbxhistPutBytes(ByteBuffer *buffer, const void *data, size_t length)
{
	if (length > 0)
		memcpy(ZbxhistExtendBuffer(buffer, length), data, length);
}

/* Adds a number in as many bytes as it needs. */
void
ZbxhistPutVarint(ByteBuffer *buffer, uint64 value)
{
	while (value >= 0x80)
	{
		codec_put_byte(buffer, value | 0x80);
		value >>= 7;
	}
	codec_put_byte(buffer, value);
}

/* Takes a number that ZbxhistPutVarint wrote. */
bool
ZbxhistGetVarint(ByteReader *reader, uint64 *value)
{
	uint64		result = 0;
	int			shift;

	for (shift = 0; shift < 64; shift += 7)
	{
		uint8		byte;

		if (!codec_get_byte(reader, &byte))
			return false;
		if (shift == 63 && byte > 1)
			return false;
		result |= (uint64) (byte & 0x7F) << shift;
		if (byte < 0x80)
		{
			*value = result;
			return true;
		}
	}
	return false;
}

/* Passes over so many varints. */
bool
ZbxhistSkipVarints(ByteReader *reader, int n)
{
	while (n > 0)
	{
		if (reader->next == reader->end)
			return false;
		n -= (*reader->next++ & 0x80) == 0;
	}
	return true;
}
