/*-------------------------------------------------------------------------
 *
 * insert_triggers.c
 *	  What a table's triggers do on INSERT.
 *
 * Our triggers are recognised by their function, because another trigger may have the
 * name.  Looking up a function may process an invalidation that rebuilds the trigger
 * descriptor.  Its contents are the same, as the table is locked, but its address
 * changes.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_trigger.h"
#include "utils/rel.h"

#include "ingest/insert_triggers.h"

/* the function of our triggers */
static PGFunction routing_function;

/*
 * ZbxhistInsertTriggersInit sets the function by which our triggers are known.
 */
void
ZbxhistInsertTriggersInit(PGFunction routing)
{
	routing_function = routing;
}

/*
 * CallsRouting says whether a trigger function is ours.  *route is one that is
 * known to be, or InvalidOid.
 */
static bool
CallsRouting(Oid function, Oid *route)
{
	FmgrInfo	flinfo;

	if (function == *route)
		return true;
	fmgr_info(function, &flinfo);
	if (flinfo.fn_addr != routing_function)
		return false;
	*route = function;
	return true;
}

/*
 * ZbxhistHasOnlyRouting says whether our row trigger fires for an INSERT and no other
 * trigger does, except replica triggers.
 */
bool
ZbxhistHasOnlyRouting(Relation rel)
{
	Oid			route = InvalidOid;
	bool		result = false;

	if (rel->trigdesc == NULL || !rel->trigdesc->trig_insert_before_row ||
		rel->trigdesc->trig_insert_after_row)
		return false;
	for (int i = 0; i < rel->trigdesc->numtriggers; i++)
	{
		const Trigger *trigger = &rel->trigdesc->triggers[i];
		int16		type = trigger->tgtype;

		if (!TRIGGER_FOR_INSERT(type) ||
			trigger->tgenabled == TRIGGER_DISABLED ||
			trigger->tgenabled == TRIGGER_FIRES_ON_REPLICA)
			continue;
		if (trigger->tgqual != NULL || trigger->tgnewtable != NULL ||
			!CallsRouting(trigger->tgfoid, &route))
			return false;
		if (TRIGGER_FOR_ROW(type))
			result = true;
	}
	return result;
}

/*
 * ZbxhistHasOtherRowTriggers says whether the statement also fires other row triggers,
 * which may read the rows before.
 */
bool
ZbxhistHasOtherRowTriggers(const TriggerData *trigdata)
{
	const TriggerDesc *triggers = trigdata->tg_relation->trigdesc;

	for (int i = 0; i < triggers->numtriggers; i++)
	{
		const Trigger *trigger = &triggers->triggers[i];

		if (TRIGGER_TYPE_MATCHES(trigger->tgtype, TRIGGER_TYPE_ROW,
								 TRIGGER_TYPE_BEFORE, TRIGGER_TYPE_INSERT) &&
			trigger->tgfoid != trigdata->tg_trigger->tgfoid)
			return true;
	}
	return false;
}

/*
 * ZbxhistEndsStatement says whether our trigger is also fired at the end of the
 * statement that fires it for a row.
 */
bool
ZbxhistEndsStatement(const TriggerData *trigdata)
{
	const TriggerDesc *triggers = trigdata->tg_relation->trigdesc;

	for (int i = 0; i < triggers->numtriggers; i++)
	{
		const Trigger *trigger = &triggers->triggers[i];

		if (TRIGGER_TYPE_MATCHES(trigger->tgtype, TRIGGER_TYPE_STATEMENT,
								 TRIGGER_TYPE_AFTER, TRIGGER_TYPE_INSERT) &&
			trigger->tgfoid == trigdata->tg_trigger->tgfoid &&
			(trigger->tgenabled == TRIGGER_FIRES_ON_ORIGIN ||
			 trigger->tgenabled == TRIGGER_FIRES_ALWAYS))
			return true;
	}
	return false;
}
