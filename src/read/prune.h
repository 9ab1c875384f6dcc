/*-------------------------------------------------------------------------
 *
 * prune.h
 *	  Plans an UPDATE or DELETE of one partition's rows without the others.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_PRUNE_H
#define ZBXHIST_PRUNE_H

#include "executor/execdesc.h"
#include "optimizer/planner.h"

#include "compat.h"

extern PlannedStmt *ZbxhistPlanPruned(planner_hook_type next_planner,
									  PLANNER_PROTO);
extern void ZbxhistPrepareChange(QueryDesc *query);
extern void ZbxhistNoteNewClocks(QueryDesc *query);
extern void ZbxhistRunParentPart(QueryDesc *query);

#endif							/* ZBXHIST_PRUNE_H */
