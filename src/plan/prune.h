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

extern PlannedStmt *ZbxhistPlanPruned(Query *query, const char *query_string,
									  int cursor_options, ParamListInfo params,
									  planner_hook_type planner);
extern Oid	ZbxhistParentOfPlan(const PlannedStmt *stmt);
extern void ZbxhistRunParentPart(QueryDesc *query);

#endif							/* ZBXHIST_PRUNE_H */
