/*-------------------------------------------------------------------------
 *
 * other_keys.h
 *	  Looks for keys in children of a parent that are no partitions.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_OTHER_KEYS_H
#define ZBXHIST_OTHER_KEYS_H

#include "access/htup.h"
#include "executor/tuptable.h"

#include "catalog/partition_set.h"

extern void ZbxhistCheckOtherSlots(Relation parent, PartitionSet *set,
								   TupleTableSlot **slots, int nslots);
extern void ZbxhistCheckOtherTuples(Relation parent, PartitionSet *set,
									HeapTuple *tuples, int ntuples);
extern bool ZbxhistKeyInOthers(Relation parent, PartitionSet *set,
							   HeapTuple tuple);

#endif							/* ZBXHIST_OTHER_KEYS_H */
