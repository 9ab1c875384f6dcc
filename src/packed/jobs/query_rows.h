/*-------------------------------------------------------------------------
 *
 * query_rows.h
 *	  The rows of a query that are received one by one, and their checksum.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_QUERY_ROWS_H
#define ZBXHIST_QUERY_ROWS_H

#include "executor/tuptable.h"
#include "tcop/dest.h"

/* sums of checksums stay below this, so that SQL can add two of them */
#define CHECKSUM_MASK ((UINT64CONST(1) << 62) - 1)

extern void ZbxhistReceiveQuery(const char *query, DestReceiver *receiver);
extern uint64 ZbxhistHashSlot(TupleTableSlot *slot);

#endif							/* ZBXHIST_QUERY_ROWS_H */
