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

/* the argument max_rows, in both functions */
#define RANGE_MAX_ROWS_ARGUMENT 5

/* takes the arguments of a call into a range */
typedef void (*RangeGetter) (FunctionCallInfo fcinfo, ItemRange *range);

extern RangeGetter ZbxhistFindRangeGetter(Oid funcid);
extern uint64 ZbxhistRangeMaxRows(FunctionCallInfo fcinfo);

#endif							/* ZBXHIST_RANGE_H */
