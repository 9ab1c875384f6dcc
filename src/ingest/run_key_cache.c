/*-------------------------------------------------------------------------
 *
 * run_key_cache.c
 *	  Keys of runs that a session remembers, decoded, and a filter of them.
 *
 * A run is known by its place and the transaction that stored it.  When what is
 * remembered, of all tables, takes too much memory, all is forgotten: what is
 * wanted again comes back.
 *
 * Memory: a context that lives as long as the session.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/hsearch.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "ingest/run_key_cache.h"
#include "packed/runs/run_id.h"

/* bytes that runs take, at most, before all are forgotten; each some, whatever
 * its keys */
#define MAX_BYTES (8 * 1024 * 1024)
#define RUN_BYTES 128

/* bits of the filter */
#define FILTER_BITS (8 * 1024 * 1024)
#define FILTER_WORDS (FILTER_BITS / 64)

typedef struct CachedRun
{
	RunId		id;				/* hash key - must be first */
	RunKeys		keys;
} CachedRun;

struct KeyCache
{
	HTAB	   *runs;			/* of CachedRun */
	Size		nbytes;
	MemoryContext context;		/* owns all this */
	uint64		filter[FILTER_WORDS];
};

static KeyCache *key_cache = NULL;

/*
 * ForgetKeys frees what the session remembers.
 */
static void
ForgetKeys(void)
{
	MemoryContext context = key_cache->context;

	key_cache = NULL;
	MemoryContextDelete(context);
}

/*
 * ZbxhistGetKeyCache returns the session's memory, emptied if it has become too
 * large.
 */
KeyCache *
ZbxhistGetKeyCache(void)
{
	MemoryContext context;
	KeyCache   *cache;
	HASHCTL		control = {.keysize = sizeof(RunId),.entrysize = sizeof(CachedRun)};

	if (key_cache != NULL && key_cache->nbytes < MAX_BYTES)
		return key_cache;
	if (key_cache != NULL)
		ForgetKeys();
	context = AllocSetContextCreate(CurrentMemoryContext,
									"zbxhist keys of runs",
									ALLOCSET_DEFAULT_SIZES);
	cache = MemoryContextAllocZero(context, sizeof(KeyCache));
	cache->context = context;
	control.hcxt = context;
	cache->runs = hash_create("zbxhist keys of runs", 256, &control,
							  HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	MemoryContextSetParent(context, TopMemoryContext);
	key_cache = cache;
	return cache;
}

/*
 * HashRunKey returns 64 bits of which each part is as good as any other.
 */
static inline uint64
HashRunKey(int64 itemid, int64 position)
{
	uint64		hash = (uint64) position ^
		((uint64) itemid * UINT64CONST(0x9E3779B97F4A7C15));

	hash ^= hash >> 33;
	hash *= UINT64CONST(0xFF51AFD7ED558CCD);
	hash ^= hash >> 33;
	hash *= UINT64CONST(0xC4CEB9FE1A85EC53);
	return hash ^ (hash >> 33);
}

/*
 * AddToFilter notes a key.
 */
static inline void
AddToFilter(KeyCache *cache, int64 itemid, int64 position)
{
	uint64		hash = HashRunKey(itemid, position);

	for (int i = 0; i < 3; i++)
	{
		uint32		bit = (hash >> (i * 20)) % FILTER_BITS;

		cache->filter[bit / 64] |= UINT64CONST(1) << (bit % 64);
	}
}

/*
 * ZbxhistMayHaveKey says whether a key may have been remembered.
 */
bool
ZbxhistMayHaveKey(const KeyCache *cache, int64 itemid, int64 position)
{
	uint64		hash = HashRunKey(itemid, position);

	for (int i = 0; i < 3; i++)
	{
		uint32		bit = (hash >> (i * 20)) % FILTER_BITS;

		if ((cache->filter[bit / 64] & (UINT64CONST(1) << (bit % 64))) == 0)
			return false;
	}
	return true;
}

/*
 * ZbxhistCachedKeys returns the keys of the run in a slot, or NULL.
 */
const RunKeys *
ZbxhistCachedKeys(const KeyCache *cache, Relation runs, TupleTableSlot *slot)
{
	RunId		id = slot_run_id(runs, slot);
	CachedRun  *run = hash_search(cache->runs, &id, HASH_FIND, NULL);

	return run == NULL ? NULL : &run->keys;
}

/*
 * Remember adds some of the keys, of which it makes a copy.
 */
static const RunKeys *
Remember(KeyCache *cache, const RunId *id, const RunKeys *keys, int first,
		 int count)
{
	Size		size = sizeof(int64) * count;
	int64	   *itemids = MemoryContextAllocHuge(cache->context, size);
	int64	   *positions = MemoryContextAllocHuge(cache->context, size);
	CachedRun  *run;

	/* a damaged one has none */
	if (count > 0)
	{
		memcpy(itemids, keys->itemids + first, size);
		memcpy(positions, keys->positions + first, size);
	}
	for (int i = 0; i < count; i++)
		AddToFilter(cache, itemids[i], positions[i]);
	cache->nbytes += 2 * size + RUN_BYTES;
	run = hash_search(cache->runs, id, HASH_ENTER, NULL);
	run->keys.nrows = count;
	run->keys.itemids = itemids;
	run->keys.positions = positions;
	return &run->keys;
}

/*
 * ZbxhistCacheKeys remembers those of the run in a slot.
 */
const RunKeys *
ZbxhistCacheKeys(KeyCache *cache, Relation runs, TupleTableSlot *slot,
				 const RunKeys *keys)
{
	RunId		id = slot_run_id(runs, slot);

	return Remember(cache, &id, keys, 0, keys->nrows);
}

/*
 * ZbxhistRememberKeys remembers those of a run that this session has stored.
 */
void
ZbxhistRememberKeys(Relation runs, const RunKeys *keys,
					const WrittenRun *run, TransactionId xmin)
{
	RunId		id = make_run_id(runs, &run->tid, xmin);

	(void) Remember(ZbxhistGetKeyCache(), &id, keys, run->first, run->nrows);
}
