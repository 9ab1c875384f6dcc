/*-------------------------------------------------------------------------
 *
 * day_search.h
 *	  Looks for keys of other columns in packed days.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_DAY_SEARCH_H
#define ZBXHIST_DAY_SEARCH_H

#include "executor/tuptable.h"
#include "utils/relcache.h"
#include "utils/snapshot.h"

extern Oid	ZbxhistSearchDay(Relation parent, Oid day, TupleTableSlot *slot,
							 Snapshot snapshot);

#endif							/* ZBXHIST_DAY_SEARCH_H */
