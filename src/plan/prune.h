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

extern void ZbxhistPruneInit(void);
extern Oid	ZbxhistParentOfPlan(const PlannedStmt *stmt);
extern void ZbxhistRunParentPart(QueryDesc *query);

#endif							/* ZBXHIST_PRUNE_H */
