/*-------------------------------------------------------------------------
 *
 * route.c
 *	  The trigger on a parent: sends each new row to its partition.
 *
 * BEFORE INSERT FOR EACH ROW, batch_route.c decides where the row goes.  If it goes into
 * the statement's batch, the trigger returns NULL, and the executor skips the row;
 * otherwise the executor stores it in the parent.  AFTER INSERT FOR EACH STATEMENT, the
 * trigger closes the batches that no hook closes.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "commands/trigger.h"
#include "utils/rel.h"

#include "ingest/batch.h"
#include "ingest/insert_triggers.h"

PG_FUNCTION_INFO_V1(zbxhist_route);

/*
 * RouteRow returns the tuple if it is to be stored in the parent, or NULL.
 */
static HeapTuple
RouteRow(const TriggerData *trigdata)
{
	Relation	parent = trigdata->tg_relation;
	HeapTuple	tuple = trigdata->tg_trigtuple;
	Oid			relid = ZbxhistRouteTuple(ZbxhistGetBatch(trigdata), parent,
										  tuple);

	return relid == RelationGetRelid(parent) ? tuple : NULL;
}

/*
 * CheckCall raises an error unless the function is called as the trigger that
 * it is meant for.
 */
static void
CheckCall(FunctionCallInfo fcinfo)
{
	TriggerEvent event;

	if (!CALLED_AS_TRIGGER(fcinfo))
		ereport(ERROR,
				errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				errmsg("function \"%s\" was not called by trigger manager",
					   "zbxhist.route"));
	event = ((TriggerData *) fcinfo->context)->tg_event;
	if (!TRIGGER_FIRED_BY_INSERT(event) ||
		(TRIGGER_FIRED_FOR_ROW(event) && !TRIGGER_FIRED_BEFORE(event)))
		ereport(ERROR,
				errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				errmsg("function \"%s\" must be fired before a row or after a statement of INSERT",
					   "zbxhist.route"));
}

/*
 * zbxhist_route is the trigger function.
 */
Datum
zbxhist_route(PG_FUNCTION_ARGS)
{
	TriggerData *trigdata = (TriggerData *) fcinfo->context;

	CheckCall(fcinfo);
	if (TRIGGER_FIRED_FOR_ROW(trigdata->tg_event))
		PG_RETURN_POINTER(RouteRow(trigdata));
	if (TRIGGER_FIRED_AFTER(trigdata->tg_event))
		ZbxhistCloseRelation(RelationGetRelid(trigdata->tg_relation));
	PG_RETURN_POINTER(NULL);
}
