#ifndef LOADER_DIGEST_H
#define LOADER_DIGEST_H

#include <stddef.h>

#include "stream.h"

/* equal for equal sets of rows, in any order */
typedef struct Digest
{
	long		rows;
	uint64_t	sum;
} Digest;

extern uint64_t digest_key(ValueType type, long itemid, int clock, int ns);
extern uint64_t digest_float(uint64_t hash, double value);
extern uint64_t digest_uint(uint64_t hash, uint64_t value);
extern uint64_t digest_string(uint64_t hash, const char *string, size_t length);
extern void digest_add(Digest *digest, uint64_t hash);
extern void digest_print(const Digest *digest);
extern void digest_value(Digest *digest, const Value *value);
extern void digest_fields(Digest *digest, ValueType type,
						  char *const *fields, const size_t *lengths);

#endif							/* LOADER_DIGEST_H */
