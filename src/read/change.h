/*-------------------------------------------------------------------------
 *
 * change.h
 *	  UPDATE and DELETE of a parent's rows, table by table.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_CHANGE_H
#define ZBXHIST_CHANGE_H

#include "executor/execdesc.h"

#include "custom_scan.h"

extern const ScanNode zbxhist_change_scan;

extern PlannedStmt *ZbxhistPlanChange(Query *query);
extern void ZbxhistPrepareChange(QueryDesc *query);
extern void ZbxhistRefuseNewKeys(QueryDesc *query);

#endif							/* ZBXHIST_CHANGE_H */
