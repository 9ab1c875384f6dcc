/*-------------------------------------------------------------------------
 *
 * triggers.c
 *	  The triggers by which a parent is known.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/transam.h"
#include "catalog/pg_trigger.h"
#include "commands/trigger.h"
#include "utils/fmgroids.h"
#include "utils/rel.h"

#include "tables/triggers.h"

/*
 * ZbxhistHasRouteTrigger says whether a table has a trigger with the name of ours.  So
 * parents are recognised without reading a catalog.
 */
bool
ZbxhistHasRouteTrigger(Relation rel)
{
	const TriggerDesc *triggers = rel->trigdesc;

	for (int i = 0; triggers != NULL && i < triggers->numtriggers; i++)
	{
		if (strcmp(triggers->triggers[i].tgname, ZBXHIST_ROUTE_TRIGGER) == 0)
			return true;
	}
	return false;
}

/*
 * ZbxhistTriggerVersion returns the transaction that last changed the routing
 * trigger, or an invalid one if that of logical replication is not in place.
 */
TransactionId
ZbxhistTriggerVersion(Relation parent)
{
	Relation	catalog;
	ScanKeyData keys[2];
	SysScanDesc scan;
	HeapTuple	tuple;
	TransactionId result = InvalidTransactionId;
	bool		has_replica = false;

	for (int i = 0; parent->trigdesc && i < parent->trigdesc->numtriggers; i++)
	{
		const Trigger *trigger = &parent->trigdesc->triggers[i];

		has_replica |= strcmp(trigger->tgname, ZBXHIST_REPLICA_TRIGGER) == 0 &&
			trigger->tgenabled == TRIGGER_FIRES_ON_REPLICA;
	}
	if (!has_replica)
		return InvalidTransactionId;

	catalog = table_open(TriggerRelationId, AccessShareLock);
	ScanKeyInit(&keys[0], Anum_pg_trigger_tgrelid, BTEqualStrategyNumber,
				F_OIDEQ, ObjectIdGetDatum(RelationGetRelid(parent)));
	ScanKeyInit(&keys[1], Anum_pg_trigger_tgname, BTEqualStrategyNumber,
				F_NAMEEQ, CStringGetDatum(ZBXHIST_ROUTE_TRIGGER));
	scan = systable_beginscan(catalog, TriggerRelidNameIndexId, true, NULL, 2,
							  keys);
	if (HeapTupleIsValid(tuple = systable_getnext(scan)))
		result = HeapTupleHeaderGetRawXmin(tuple->t_data);
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
	return result;
}
