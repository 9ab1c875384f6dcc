/*-------------------------------------------------------------------------
 *
 * day_index.h
 *	  The index of a day's table on (first_itemid, first_clock).
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_DAY_INDEX_H
#define ZBXHIST_DAY_INDEX_H

#include "access/skey.h"
#include "access/stratnum.h"
#include "storage/lockdefs.h"
#include "utils/relcache.h"

extern bool ZbxhistIsGroupIndex(Relation index);
extern Relation ZbxhistOpenGroupIndex(Relation day, LOCKMODE lockmode);
extern void ZbxhistInitGroupKey(ScanKey key, ScanKey members,
								StrategyNumber strategy, int64 itemid,
								int32 clock);

#endif							/* ZBXHIST_DAY_INDEX_H */
