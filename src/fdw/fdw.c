/*-------------------------------------------------------------------------
 *
 * fdw.c
 *	  The foreign-data wrapper through which statements see packed days.
 *
 * A managed table has one foreign table as a child, which stands for all of its packed
 * days.  So the cost of planning a query does not depend on their number.  The tables of
 * the days are found when the query is executed.  They are on this server.
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
