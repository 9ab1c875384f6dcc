/*-------------------------------------------------------------------------
 *
 * codec_bytes.c
 *	  Strings of bytes as a column.
 *
 * Strings that repeat are written once, and the column is a stream of
 * indexes; others are written one after the other.  In both cases there is a
 * stream of lengths, and all bytes together are compressed by zstd if that is
 * smaller.  What is read is copied: it does not point into the input.
 *
 * The contexts of zstd are made when they are first needed and kept until the
 * process ends, because making one costs more than compressing a segment.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <zstd.h>

#include "format/codec.h"

#define BYTES_DICTIONARY 0x01	/* distinct strings, followed by indexes */
#define BYTES_ZSTD 0x02
#define BYTES_ALL 0x03

/* less than this is not worth the header of zstd */
#define MIN_ZSTD_LENGTH 64

#define ZSTD_LEVEL 3

/* zstd makes at most 128 kB of a block, which has at least four bytes */
#define MAX_ZSTD_RATIO (128 * 1024 / 4)

static ZSTD_CCtx *compressor = NULL;
static ZSTD_DCtx *decompressor = NULL;

/* ---------------------------------------------------------------- writing */

/* All bytes of the strings. */
static size_t
total_length(const PackedBytes *strings, int n)
{
	size_t		total = 0;
	int			i;

	for (i = 0; i < n; i++)
		total += strings[i].len;
	return total;
}

/* Are two strings the same? */
static bool
is_equal(const PackedBytes *a, const PackedBytes *b)
{
	return a->len == b->len &&
		(a->len == 0 || memcmp(a->data, b->data, a->len) == 0);
}

/* A number for a string, by its length, beginning and end. */
static uint32
hash_of(const PackedBytes *string)
{
	uint64		hash = string->len;
	uint32		i;

	for (i = 0; i + 8 <= string->len; i += 8)
		hash = (hash ^ codec_load64((const uint8 *) string->data + i)) *
			UINT64CONST(0x9E3779B97F4A7C15) >> 7;
	for (; i < string->len; i++)
		hash = (hash ^ (uint8) string->data[i]) *
			UINT64CONST(0x9E3779B97F4A7C15);
	return hash >> 32;
}

/*
 * Collects the distinct strings in the order in which they come, and for each string its
 * index among them.  Returns their number, or 0 if there are more than limit.
 */
static int
find_distinct_strings(const PackedBytes *strings, int n, PackedBytes *distinct,
					  uint64 *indexes, int limit)
{
	uint32		size = 16;
	int		   *table;
	int			count = 0;
	int			i;

	while (size < 2 * (uint32) limit)
		size *= 2;
	table = palloc0(size * sizeof(int));	/* index + 1 */
	for (i = 0; i < n; i++)
	{
		uint32		slot = hash_of(&strings[i]) % size;

		while (table[slot] != 0 &&
			   !is_equal(&distinct[table[slot] - 1], &strings[i]))
			slot = (slot + 1) % size;
		if (table[slot] == 0)
		{
			if (count == limit)
			{
				count = 0;
				break;
			}
			distinct[count++] = strings[i];
			table[slot] = count;
		}
		indexes[i] = table[slot] - 1;
	}
	pfree(table);
	return count;
}

/* Adds the compressed bytes with their length; says whether that was done. */
static bool
put_compressed(ByteBuffer *buffer, const char *data, size_t length)
{
	size_t		bound = ZSTD_compressBound(length);
	char	   *compressed;
	size_t		size;

	if (compressor == NULL)
	{
		compressor = ZSTD_createCCtx();
		if (compressor == NULL)
			return false;
		ZSTD_CCtx_setParameter(compressor, ZSTD_c_compressionLevel,
							   ZSTD_LEVEL);
		ZSTD_CCtx_setParameter(compressor, ZSTD_c_contentSizeFlag, 0);
		ZSTD_CCtx_setParameter(compressor, ZSTD_c_checksumFlag, 0);
	}
	compressed = palloc(bound);
	size = ZSTD_compress2(compressor, compressed, bound, data, length);
	if (ZSTD_isError(size) || size >= length)
		size = 0;
	else
	{
		ZbxhistPutVarint(buffer, size);
		ZbxhistPutBytes(buffer, compressed, size);
	}
	pfree(compressed);
	return size > 0;
}

/* Adds the strings' lengths and bytes; returns the flags of how. */
static uint8
put_strings(ByteBuffer *buffer, const PackedBytes *strings, int n)
{
	size_t		total = total_length(strings, n);
	uint64	   *lengths = palloc(n * sizeof(uint64));
	char	   *data = palloc(total + 1);
	char	   *end = data;
	uint8		flags = 0;
	int			i;

	for (i = 0; i < n; i++)
	{
		lengths[i] = strings[i].len;
		if (strings[i].len > 0)
			memcpy(end, strings[i].data, strings[i].len);
		end += strings[i].len;
	}
	ZbxhistEncodeIntegers(buffer, lengths, n);
	if (total >= MIN_ZSTD_LENGTH && put_compressed(buffer, data, total))
		flags = BYTES_ZSTD;
	else
		ZbxhistPutBytes(buffer, data, total);
	pfree(data);
	pfree(lengths);
	return flags;
}

/*
 * Adds the column of n strings, which the reader must know.  All together
 * they must not be longer than CODEC_MAX_BYTES.
 */
void
ZbxhistEncodeBytes(ByteBuffer *buffer, const PackedBytes *values, int n)
{
	size_t		start = buffer->length;
	PackedBytes *distinct;
	uint64	   *indexes;
	int			count;
	uint8		flags;

	if (n == 0)
		return;
	distinct = palloc(n * sizeof(PackedBytes));
	indexes = palloc(n * sizeof(uint64));
	count = find_distinct_strings(values, n, distinct, indexes, n / 2 + 1);
	codec_put_byte(buffer, 0);
	if (count > 0 && count < n)
	{
		ZbxhistPutVarint(buffer, count);
		ZbxhistEncodeIntegers(buffer, indexes, n);
		flags = BYTES_DICTIONARY | put_strings(buffer, distinct, count);
	}
	else
		flags = put_strings(buffer, values, n);
	buffer->data[start] = flags;
	pfree(indexes);
	pfree(distinct);
}

/* ---------------------------------------------------------------- reading */

/* Takes bytes that zstd compressed to exactly length bytes; or null. */
static char *
get_compressed(ByteReader *reader, size_t length)
{
	ByteReader	part;
	char	   *data;
	size_t		size;

	if (!codec_get_part(reader, &part) ||
		length / MAX_ZSTD_RATIO > codec_left(&part))
		return NULL;
	if (decompressor == NULL && (decompressor = ZSTD_createDCtx()) == NULL)
		return NULL;
	data = palloc(length + 1);
	size = ZSTD_decompressDCtx(decompressor, data, length,
							   part.next, codec_left(&part));
	if (!ZSTD_isError(size) && size == length)
		return data;
	pfree(data);
	return NULL;
}

/* Takes length bytes as they are; or null. */
static char *
get_plain(ByteReader *reader, size_t length)
{
	char	   *data;

	if (length > codec_left(reader))
		return NULL;
	data = palloc(length + 1);
	memcpy(data, reader->next, length);
	reader->next += length;
	return data;
}

/* Takes what put_strings wrote. */
static bool
get_strings(ByteReader *reader, PackedBytes *strings, int n, uint8 flags)
{
	uint64	   *lengths = palloc(n * sizeof(uint64));
	uint64		total = 0;
	char	   *data = NULL;
	int			i;

	if (ZbxhistDecodeIntegers(reader, lengths, n))
	{
		for (i = 0; i < n && total <= CODEC_MAX_BYTES; i++)
			total += Min(lengths[i], CODEC_MAX_BYTES + 1);
		if (total <= CODEC_MAX_BYTES)
			data = (flags & BYTES_ZSTD) != 0 ?
				get_compressed(reader, total) : get_plain(reader, total);
	}
	for (i = 0; data != NULL && i < n; i++)
	{
		strings[i].data = data;
		strings[i].len = lengths[i];
		data += lengths[i];
	}
	pfree(lengths);
	return data != NULL;
}

/* Takes the distinct strings and what says where they are. */
static bool
get_string_dictionary(ByteReader *reader, PackedBytes *values, int n,
					  uint8 flags)
{
	uint64	   *indexes;
	PackedBytes *distinct;
	uint64		count;
	bool		result;
	int			i;

	if (!ZbxhistGetVarint(reader, &count) || count == 0 || count > n)
		return false;
	indexes = palloc(n * sizeof(uint64));
	distinct = palloc(count * sizeof(PackedBytes));
	result = ZbxhistDecodeIntegers(reader, indexes, n) &&
		get_strings(reader, distinct, count, flags);
	for (i = 0; result && i < n; i++)
	{
		if (indexes[i] < count)
			values[i] = distinct[indexes[i]];
		else
			result = false;
	}
	pfree(distinct);
	pfree(indexes);
	return result;
}

/*
 * Takes n strings that ZbxhistEncodeBytes added.  Their bytes are in the current
 * memory context.
 */
bool
ZbxhistDecodeBytes(ByteReader *reader, PackedBytes *values, int n)
{
	uint8		flags;

	if (n == 0)
		return true;
	if (!codec_get_byte(reader, &flags) || (flags & ~BYTES_ALL) != 0)
		return false;
	if ((flags & BYTES_DICTIONARY) != 0)
		return get_string_dictionary(reader, values, n, flags);
	return get_strings(reader, values, n, flags);
}
