/*-------------------------------------------------------------------------
 *
 * day_index.h
 *	  The index of a day's table on (first_itemid, first_clock).
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_DAY_INDEX_H
#define ZBXHIST_DAY_INDEX_H

#include "access/genam.h"
#include "access/skey.h"
#include "access/stratnum.h"
#include "utils/relcache.h"

/* comparisons with where groups begin */
#define NUM_GROUP_KEYS 2

/* what a scan of the index compares with: a lower and an upper bound */
typedef struct GroupKeys
{
	ScanKeyData keys[NUM_GROUP_KEYS];
	ScanKeyData members[NUM_GROUP_KEYS][2]; /* of the keys, which compare rows */
} GroupKeys;

extern Relation ZbxhistOpenGroupIndex(Relation day);
extern void ZbxhistStartGroupScan(IndexScanDesc scan, GroupKeys *keys,
								  StrategyNumber strategy,
								  int64 from_itemid, int32 from_clock,
								  int64 to_itemid, int32 to_clock);

#endif							/* ZBXHIST_DAY_INDEX_H */
