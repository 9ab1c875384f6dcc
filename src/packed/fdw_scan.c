/*-------------------------------------------------------------------------
 *
 * fdw_scan.c
 *	  Executes scans of packed days.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "executor/executor.h"

#include "packed/fdw.h"

static void
BeginForeignScan(ForeignScanState *node, int eflags)
{
}

static TupleTableSlot *
IterateForeignScan(ForeignScanState *node)
{
	return ExecClearTuple(node->ss.ss_ScanTupleSlot);
}

static void
ReScanForeignScan(ForeignScanState *node)
{
}

static void
EndForeignScan(ForeignScanState *node)
{
}

/*
 * ZbxhistFdwScanInit sets the functions of execution.
 */
void
ZbxhistFdwScanInit(FdwRoutine *routine)
{
	routine->BeginForeignScan = BeginForeignScan;
	routine->IterateForeignScan = IterateForeignScan;
	routine->ReScanForeignScan = ReScanForeignScan;
	routine->EndForeignScan = EndForeignScan;
}
