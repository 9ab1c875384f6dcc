/*-------------------------------------------------------------------------
 *
 * range.h
 *	  What a call of the SQL function range asks for.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_RANGE_H
#define ZBXHIST_RANGE_H

#include "fmgr.h"

#include "rows/item_range.h"

/* the argument max_rows */
#define RANGE_MAX_ROWS_ARGUMENT 5

extern bool ZbxhistIsRange(Oid funcid);
extern void ZbxhistGetRange(FunctionCallInfo fcinfo, ItemRange *range);
extern uint64 ZbxhistRangeMaxRows(FunctionCallInfo fcinfo);

#endif							/* ZBXHIST_RANGE_H */
