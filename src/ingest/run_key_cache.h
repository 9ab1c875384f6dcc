/*-------------------------------------------------------------------------
 *
 * run_key_cache.h
 *	  Keys of runs that a session remembers, decoded, and a filter of them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_RUN_KEY_CACHE_H
#define ZBXHIST_RUN_KEY_CACHE_H

#include "executor/tuptable.h"

#include "ingest/run_table.h"
#include "packed/day/run_write.h"

/* keys of rows, sorted by itemid and position */
typedef struct RunKeys
{
	int			nrows;
	int64	   *itemids;
	int64	   *positions;
	int32		first_clock;	/* the least */
	int32		last_clock;		/* the greatest */
} RunKeys;

typedef struct KeyCache KeyCache;

extern KeyCache *ZbxhistGetKeyCache(RunTable *table);
extern bool ZbxhistMayHaveKey(const KeyCache *cache, int64 itemid,
							  int64 position);
extern const RunKeys *ZbxhistCachedKeys(const KeyCache *cache,
										TupleTableSlot *slot);
extern const RunKeys *ZbxhistCacheKeys(KeyCache *cache, TupleTableSlot *slot,
									   const RunKeys *keys);
extern void ZbxhistRememberKeys(RunTable *table, const RunKeys *keys,
								const WrittenRun *run, TransactionId xmin);

#endif							/* ZBXHIST_RUN_KEY_CACHE_H */
