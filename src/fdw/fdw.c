/*-------------------------------------------------------------------------
 *
 * fdw.c
 *	  The foreign-data wrapper through which statements see packed days.
 *
 * A managed table has one child that is a foreign table; it stands for all
 * packed days of the table, however many they are, so that planning a query
 * costs the same at any age of the data.  The table of a day is found when
 * the query is executed.  There is no other server behind it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"

#include "fdw/fdw.h"

PG_FUNCTION_INFO_V1(zbxhist_fdw_handler);

/*
 * zbxhist_fdw_handler returns the functions that PostgreSQL calls.
 */
Datum
zbxhist_fdw_handler(PG_FUNCTION_ARGS)
{
	FdwRoutine *routine = makeNode(FdwRoutine);

	ZbxhistFdwPlanInit(routine);
	ZbxhistFdwScanInit(routine);
	ZbxhistFdwExplainInit(routine);
	ZbxhistFdwParallelInit(routine);
	ZbxhistFdwModifyInit(routine);
	ZbxhistFdwLockInit(routine);
	ZbxhistFdwAnalyzeInit(routine);
	PG_RETURN_POINTER(routine);
}
