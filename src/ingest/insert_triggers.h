/*-------------------------------------------------------------------------
 *
 * insert_triggers.h
 *	  What a table's triggers do on INSERT.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_INSERT_TRIGGERS_H
#define ZBXHIST_INSERT_TRIGGERS_H

#include "commands/trigger.h"
#include "fmgr.h"
#include "utils/relcache.h"

/* the function of our triggers (route.c), by which they are known */
extern PGDLLEXPORT Datum zbxhist_route(PG_FUNCTION_ARGS);

extern void ZbxhistInsertTriggersInit(PGFunction routing);
extern bool ZbxhistHasOnlyRouting(Relation rel);
extern bool ZbxhistHasOtherRowTriggers(const TriggerData *trigdata);
extern bool ZbxhistEndsStatement(const TriggerData *trigdata);

#endif							/* ZBXHIST_INSERT_TRIGGERS_H */
