/*-------------------------------------------------------------------------
 *
 * shim.c
 *	  palloc and related functions by malloc, without memory contexts.
 *
 * Each chunk is allocated by malloc, so that a sanitizer knows its bounds.  All
 * chunks are in a list, which shim_reset frees.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "compat.h"
#include "shim.h"

typedef struct Chunk
{
	struct Chunk *next;
	struct Chunk *previous;
	size_t		size;
	size_t		unused;			/* what follows is aligned to 16 bytes */
} Chunk;

static Chunk chunks = {&chunks, &chunks, 0, 0};
static size_t in_use = 0;
static size_t peak = 0;

MemoryContext CurrentMemoryContext = NULL;

/* Puts a chunk into the list. */
static void *
enlist(Chunk *chunk, size_t size)
{
	chunk->size = size;
	chunk->next = chunks.next;
	chunk->previous = &chunks;
	chunks.next->previous = chunk;
	chunks.next = chunk;
	in_use += size;
	peak = Max(peak, in_use);
	return chunk + 1;
}

/* Takes a chunk out of the list. */
static Chunk *
delist(void *pointer)
{
	Chunk	   *chunk = (Chunk *) pointer - 1;

	chunk->next->previous = chunk->previous;
	chunk->previous->next = chunk->next;
	in_use -= chunk->size;
	return chunk;
}

/* Allocates, or ends the program if palloc would raise an error. */
static void *
allocate(size_t size, size_t limit)
{
	Chunk	   *chunk = size <= limit ? malloc(sizeof(Chunk) + size) : NULL;

	if (chunk == NULL)
		abort();
	return enlist(chunk, size);
}

void *
palloc(Size size)
{
	return allocate(size, MaxAllocSize);
}

void *
palloc0(Size size)
{
	return memset(palloc(size), 0, size);
}

void *
repalloc_huge(void *pointer, Size size)
{
	Chunk	   *chunk = realloc(delist(pointer), sizeof(Chunk) + size);

	if (chunk == NULL)
		abort();
	return enlist(chunk, size);
}

void
pfree(void *pointer)
{
	free(delist(pointer));
}

void
shim_reset(void)
{
	while (chunks.next != &chunks)
		pfree(chunks.next + 1);
	peak = 0;
}

size_t
shim_peak(void)
{
	return peak;
}

/* The end of a failed Assert. */
void
#if PG_VERSION_NUM >= 160000
ExceptionalCondition(const char *condition, const char *file, int line)
#else
ExceptionalCondition(const char *condition, const char *type,
					 const char *file, int line)
#endif
{
	(void) fprintf(stderr, "%s:%d: %s\n", file, line, condition);
	abort();
}

/* ---- for the checks of values ---- */

int
GetDatabaseEncoding(void)
{
	return PG_UTF8;
}

bool
pg_verify_mbstr(int encoding, const char *string, int length, bool no_error)
{
	return pg_encoding_verifymbstr(encoding, string, length) == length;
}

int
pg_mbstrlen_with_len(const char *string, int length)
{
	int			count = 0;

	for (; length > 0; count++)
	{
		int			next = pg_utf_mblen((const unsigned char *) string);

		string += next;
		length -= next;
	}
	return count;
}

/* Stands for PostgreSQL's own parser, which is not tested here. */
bool
is_valid_json(const char *data, int length)
{
	return true;
}

/* The inputs are small enough for any stack. */
void
check_stack_depth(void)
{
}
