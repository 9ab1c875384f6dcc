/*-------------------------------------------------------------------------
 *
 * key_number.h
 *	  Values of key columns as the numbers by which packed days store them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_KEY_NUMBER_H
#define ZBXHIST_KEY_NUMBER_H

#include "executor/tuptable.h"

#include "tables/partition_set.h"

extern const char *ZbxhistNameInDays(const PartitionSet *set,
									 const char *name);
extern bool ZbxhistGetKeyNumber(const PartitionSet *set, AttrNumber known,
								const char *name, TupleTableSlot *slot,
								int64 *value);
extern bool ZbxhistGetKeyClock(const PartitionSet *set, TupleTableSlot *slot,
							   int32 *clock);

#endif							/* ZBXHIST_KEY_NUMBER_H */
