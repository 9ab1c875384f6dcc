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

#include "catalog/bounds.h"

extern bool ZbxhistCheckPartitionKeys(Relation parent, Oid partition,
									  TupleTableSlot **slots, int nslots);
extern bool ZbxhistCheckDayKey(Relation parent, const PartitionBounds *day,
							   TupleTableSlot *slot);
extern bool ZbxhistKeyInPartition(Relation parent, Oid partition,
								  TupleTableSlot *slot);
extern bool ZbxhistKeyInDay(Relation parent, const PartitionBounds *day,
							TupleTableSlot *slot, bool *is_gone);

#endif							/* ZBXHIST_LOOKUP_H */
