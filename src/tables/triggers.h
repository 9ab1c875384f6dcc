/*-------------------------------------------------------------------------
 *
 * triggers.h
 *	  The triggers by which a parent is known.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_TRIGGERS_H
#define ZBXHIST_TRIGGERS_H

#include "utils/relcache.h"

/* see sql/setup/triggers.sql */
#define ZBXHIST_ROUTE_TRIGGER "zzz_zbxhist_route"
#define ZBXHIST_REPLICA_TRIGGER "zzz_zbxhist_replica"

extern bool ZbxhistHasRouteTrigger(Relation rel);
extern TransactionId ZbxhistTriggerVersion(Relation parent);

#endif							/* ZBXHIST_TRIGGERS_H */
