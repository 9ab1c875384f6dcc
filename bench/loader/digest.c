/*
 * digest.c
 *		A checksum of a set of rows.
 *
 * The rows that a server returns are compared with the stream that was sent.
 * Neither their order nor the server's text for a double matters: numbers are
 * hashed as numbers, strings byte by byte, and the hashes of all rows are
 * added.
 */
#include "digest.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

/* Begins a row with its key. */
uint64_t
digest_key(ValueType type, long itemid, int clock, int ns)
{
	uint64_t	hash = stream_hash((uint64_t) itemid * VALUE_TYPES + type);

	hash = stream_hash(hash ^ (uint64_t) clock);
	return stream_hash(hash ^ (uint64_t) ns);
}

/* Adds a float to a row. */
uint64_t
digest_float(uint64_t hash, double value)
{
	uint64_t	bits;

	memcpy(&bits, &value, sizeof(bits));
	return stream_hash(hash ^ bits);
}

/* Adds a whole number to a row. */
uint64_t
digest_uint(uint64_t hash, uint64_t value)
{
	return stream_hash(hash ^ value);
}

/* Adds a string to a row. */
uint64_t
digest_string(uint64_t hash, const char *string, size_t length)
{
	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char) string[i]) * 0x100000001b3ULL;
	return stream_hash(hash ^ length);
}

/* Adds a finished row. */
void
digest_add(Digest *digest, uint64_t hash)
{
	digest->rows++;
	digest->sum += hash;
}

/* Prints a line of JSON. */
void
digest_print(const Digest *digest)
{
	printf("{\"rows\": %ld, \"checksum\": \"%016" PRIx64 "\"}\n",
		   digest->rows, digest->sum);
}

/* Adds a value of the stream as it must be stored. */
void
digest_value(Digest *digest, const Value *value)
{
	uint64_t	hash = digest_key(value->type, value->itemid, value->clock,
								  value->ns);
	char		string[TEXT_MAX_STRING];
	size_t		length;

	switch (value->type)
	{
		case VALUE_FLOAT:
			hash = digest_float(hash, value_double(value));
			break;
		case VALUE_UINT:
			hash = digest_uint(hash, value_uint(value));
			break;
		default:
			length = value_string(value, string);
			hash = digest_string(hash, string, length);
			if (value->type == VALUE_LOG)
				hash = digest_uint(digest_uint(hash, value->clock),
								   value_severity(value));
	}
	digest_add(digest, hash);
}

/*
 * Adds a row that was read as text: itemid, clock, ns, value, and of a log item
 * also timestamp and severity.
 */
void
digest_fields(Digest *digest, ValueType type, char *const *fields,
			  const size_t *lengths)
{
	uint64_t	hash = digest_key(type, atol(fields[0]), atoi(fields[1]),
								  atoi(fields[2]));

	if (type == VALUE_FLOAT)
		hash = digest_float(hash, strtod(fields[3], NULL));
	else if (type == VALUE_UINT)
		hash = digest_uint(hash, strtoull(fields[3], NULL, 10));
	else
		hash = digest_string(hash, fields[3], lengths[3]);
	if (type == VALUE_LOG)
		hash = digest_uint(digest_uint(hash, atoi(fields[4])), atoi(fields[5]));
	digest_add(digest, hash);
}
