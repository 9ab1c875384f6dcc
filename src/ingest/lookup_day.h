/*-------------------------------------------------------------------------
 *
 * lookup_day.h
 *	  Keys of rows that the parent holds, looked for in packed days.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_LOOKUP_DAY_H
#define ZBXHIST_LOOKUP_DAY_H

#include "executor/tuptable.h"
#include "utils/relcache.h"

#include "catalog/packed_days.h"

extern Oid	ZbxhistFindKeyIndex(Relation parent);
extern bool ZbxhistCheckDayKey(Relation parent, const PackedDay *day,
							   TupleTableSlot *slot, bool is_attempt);
extern Oid	ZbxhistKeyInDay(Relation parent, const PackedDay *day,
							TupleTableSlot *slot, bool is_attempt,
							bool *is_gone);

#endif							/* ZBXHIST_LOOKUP_DAY_H */
