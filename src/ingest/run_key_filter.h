/*-------------------------------------------------------------------------
 *
 * run_key_filter.h
 *	  Keys of rows, and a session's filter of those of runs that it has seen.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_RUN_KEY_FILTER_H
#define ZBXHIST_RUN_KEY_FILTER_H

#include "executor/tuptable.h"
#include "utils/relcache.h"

/* keys of rows, sorted by itemid and position */
typedef struct RunKeys
{
	int			nrows;
	int64	   *itemids;
	int64	   *positions;
	int32		first_clock;	/* the least */
	int32		last_clock;		/* the greatest */
} RunKeys;

/*
 * hash_key returns 64 bits of which each part is as good as any other.
 */
static inline uint64
hash_key(uint64 table, int64 itemid, int64 position)
{
	uint64		hash = table * UINT64CONST(0xD6E8FEB86659FD93);

	hash = (hash ^ (uint64) itemid) * UINT64CONST(0x9E3779B97F4A7C15);
	hash ^= hash >> 32;
	hash ^= (uint64) position;
	hash ^= hash >> 33;
	hash *= UINT64CONST(0xFF51AFD7ED558CCD);
	hash ^= hash >> 33;
	hash *= UINT64CONST(0xC4CEB9FE1A85EC53);
	return hash ^ (hash >> 33);
}

/*
 * key_bits returns a key's bits in its word of a filter, which the hash's bits
 * from 24 on choose.
 */
static inline uint64
key_bits(uint64 hash)
{
	uint64		result = 0;

	for (int i = 0; i < 4; i++)
		result |= UINT64CONST(1) << ((hash >> (i * 6)) % 64);
	return result;
}

extern void ZbxhistMakeRoomForKeys(void);
extern bool ZbxhistKnowsRun(Relation runs, TupleTableSlot *slot);
extern bool ZbxhistNoteRunKeys(Relation runs, TupleTableSlot *slot,
							   const RunKeys *keys);
extern bool ZbxhistMayHaveKey(Relation runs, int64 itemid, int64 position);

#endif							/* ZBXHIST_RUN_KEY_FILTER_H */
