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
#include "utils/relcache.h"

#include "packed/runs/run_write.h"

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

extern KeyCache *ZbxhistGetKeyCache(void);
extern bool ZbxhistMayHaveKey(const KeyCache *cache, int64 itemid,
							  int64 position);
extern const RunKeys *ZbxhistCachedKeys(const KeyCache *cache, Relation runs,
										TupleTableSlot *slot);
extern const RunKeys *ZbxhistCacheKeys(KeyCache *cache, Relation runs,
									   TupleTableSlot *slot,
									   const RunKeys *keys);
extern void ZbxhistRememberKeys(Relation runs, const RunKeys *keys,
								const WrittenRun *run, TransactionId xmin);

#endif							/* ZBXHIST_RUN_KEY_CACHE_H */
