/*-------------------------------------------------------------------------
 *
 * fdw.h
 *	  The parts of the foreign-data wrapper for packed days.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_FDW_H
#define ZBXHIST_FDW_H

#include "executor/execdesc.h"
#include "foreign/fdwapi.h"
#include "nodes/pathnodes.h"

#include "packed/day.h"
#include "tables/partition_set.h"

struct ScanCounters;

/* each sets the functions of its part */
extern void ZbxhistFdwPlanInit(FdwRoutine *routine);
extern void ZbxhistFdwScanInit(FdwRoutine *routine);
extern void ZbxhistFdwExplainInit(FdwRoutine *routine);
extern void ZbxhistFdwParallelInit(FdwRoutine *routine);
extern void ZbxhistFdwModifyInit(FdwRoutine *routine);
extern void ZbxhistFdwLockInit(FdwRoutine *routine);
extern void ZbxhistFdwAnalyzeInit(FdwRoutine *routine);

/* fdw_explain.c */
extern Node *ZbxhistAsExternal(Node *expr);
extern void ZbxhistExplainArchive(const ArchiveCounters *counters,
								  struct ExplainState *es);
extern void ZbxhistExplainPacked(const struct ScanCounters *counters,
								 struct ExplainState *es);

/* fdw_modify.c */
extern void ZbxhistWritePackedChanges(QueryDesc *query);

/* fdw_estimate.c */
extern double ZbxhistCountItems(Oid relid, AttrNumber attnum, double nrows);
extern double ZbxhistCountItemRows(const PartitionSet *set, double nitems,
								   int64 first_clock, int64 last_clock);

#endif							/* ZBXHIST_FDW_H */
