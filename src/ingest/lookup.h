/*-------------------------------------------------------------------------
 *
 * lookup.h
 *	  Keys of rows that the parent holds, looked for where else they may be.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_LOOKUP_H
#define ZBXHIST_LOOKUP_H

#include "executor/tuptable.h"
#include "utils/relcache.h"

extern void ZbxhistLockForLookup(Oid relid);
extern bool ZbxhistLockForInsert(Oid relid);
extern bool ZbxhistCheckPartitionKeys(Relation parent, Oid partition,
									  TupleTableSlot **slots, int nslots);
extern bool ZbxhistKeyInPartition(Relation parent, Oid partition,
								  TupleTableSlot *slot);

#endif							/* ZBXHIST_LOOKUP_H */
