/*-------------------------------------------------------------------------
 *
 * usage_tables.h
 *	  How much of one table is each item's.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_USAGE_TABLES_H
#define ZBXHIST_USAGE_TABLES_H

#include "utils/relcache.h"
#include "utils/snapshot.h"

#include "read/usage_sums.h"

extern void ZbxhistAddDayUsage(UsageSums *sums, Relation day,
							   Snapshot snapshot);
extern void ZbxhistAddTableUsage(UsageSums *sums, Relation rel,
								 Snapshot snapshot);

#endif							/* ZBXHIST_USAGE_TABLES_H */
