/*-------------------------------------------------------------------------
 *
 * route.c
 *	  The trigger on a parent: sends each new row to its partition.
 *
 * BEFORE INSERT FOR EACH ROW, it takes the row out of the executor's hands
 * into the statement's batch (batch.c) by returning NULL, or leaves it to be
 * stored in the parent: when there is no partition for its clock, when the
 * statement needs the stored row, or when routing is off.  AFTER INSERT FOR
 * EACH STATEMENT, it closes the batches that no hook closes.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "commands/trigger.h"
#include "fmgr.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "ingest/batch.h"
#include "ingest/key_number.h"
#include "ingest/other_keys.h"
#include "ingest/route.h"

PG_FUNCTION_INFO_V1(zbxhist_route);

/*
 * GetClock takes a row's clock; returns false if it has none.
 */
static bool
GetClock(InsertBatch *batch, const TriggerData *trigdata, int32 *clock)
{
	PartitionSet *set = batch->set;
	bool		isnull;

	if (!ZbxhistPartitionSetIsValid(set))
		set = ZbxhistGetPartitionSet(trigdata->tg_relation);
	if (set->clock_attnum == InvalidAttrNumber)
		return false;
	*clock = DatumGetInt32(heap_getattr(trigdata->tg_trigtuple,
										set->clock_attnum,
										RelationGetDescr(trigdata->tg_relation),
										&isnull));
	return !isnull;				/* the parent's NOT NULL will tell */
}

/*
 * FindRowPartition returns the partition of a row by its clock, or NULL if
 * it has none.  The result is valid until the next row.
 */
static const PartitionBounds *
FindRowPartition(InsertBatch *batch, const TriggerData *trigdata)
{
	int32		clock;

	if (!GetClock(batch, trigdata, &clock))
		return NULL;
	return ZbxhistFindRowPartition(batch, trigdata->tg_relation, clock);
}

/*
 * FindRowDay returns the packed day of a row by its clock, or NULL if it has
 * none.  The result is valid until the next row.
 */
static const PackedDay *
FindRowDay(InsertBatch *batch, const TriggerData *trigdata)
{
	TupleTableSlot *slot;
	int32		clock;
	bool		has_clock;

	if (batch->set->npacked_days == 0)
		return NULL;
	slot = MakeSingleTupleTableSlot(RelationGetDescr(trigdata->tg_relation),
									&TTSOpsHeapTuple);
	ExecStoreHeapTuple(trigdata->tg_trigtuple, slot, false);
	has_clock = ZbxhistGetKeyClock(batch->set, slot, &clock);
	ExecDropSingleTupleTableSlot(slot);
	return has_clock ? ZbxhistFindPackedDay(batch->set, clock) : NULL;
}

/*
 * RaiseNotUpdated raises the error for DO UPDATE of a row that is not in the
 * parent itself.
 */
static void
RaiseNotUpdated(const TriggerData *trigdata, Oid place)
{
	ereport(ERROR,
			errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			errmsg("ON CONFLICT DO UPDATE cannot update a row in a partition of table \"%s\"",
				   RelationGetRelationName(trigdata->tg_relation)),
			OidIsValid(place) ?
			errdetail("The row with that key is in \"%s\".",
					  get_rel_name(place)) : 0,
			errhint("Use UPDATE for rows that exist."),
			errtable(trigdata->tg_relation));
}

/*
 * FindInRange says whether the row's key is in its partition or packed day,
 * and sets place to that.
 */
static bool
FindInRange(InsertBatch *batch, const TriggerData *trigdata,
			const PartitionBounds *partition, Oid *place)
{
	for (;;)
	{
		const PackedDay *day =
			partition == NULL ? FindRowDay(batch, trigdata) : NULL;

		if (partition == NULL && day == NULL)
			return false;
		*place = partition != NULL ? partition->relid : day->relid;
		if (ZbxhistKeyIsElsewhere(batch, trigdata->tg_relation,
								  trigdata->tg_trigtuple, partition, day))
			return true;
		if (ZbxhistPartitionSetIsValid(batch->set))
			return false;
		/* it may have been packed, or a day written anew, meanwhile */
		partition = FindRowPartition(batch, trigdata);
	}
}

/*
 * KeyIsTaken serves ON CONFLICT, whose arbiter index knows only the parent:
 * says whether the row's key is in its partition or packed day, or in another
 * child.
 */
static bool
KeyIsTaken(InsertBatch *batch, const TriggerData *trigdata,
		   const PartitionBounds *partition)
{
	Oid			place = InvalidOid;
	bool		result = FindInRange(batch, trigdata, partition, &place);

	if (!result)
	{
		place = InvalidOid;
		result = ZbxhistKeyInOthers(trigdata->tg_relation, batch->set,
									trigdata->tg_trigtuple);
	}
	if (result && batch->action == ROW_REFUSE_EXISTING)
		RaiseNotUpdated(trigdata, place);
	return result;
}

/*
 * RouteRow returns the tuple if it is to be stored in the parent, or NULL.
 */
static HeapTuple
RouteRow(const TriggerData *trigdata)
{
	InsertBatch *batch = ZbxhistGetBatch(trigdata);
	const PartitionBounds *partition = FindRowPartition(batch, trigdata);
	HeapTuple	tuple = trigdata->tg_trigtuple;

	if (partition != NULL && batch->set->is_routing &&
		(batch->action == ROW_BUFFER || batch->action == ROW_INSERT))
	{
		ExecFrame  *frame = ZbxhistCurrentFrame();

		ZbxhistBufferRow(batch, tuple, partition);
		if (batch->sets_tag && frame != NULL && frame->query == batch->query)
			frame->routed++;
		return NULL;
	}

	if ((batch->action == ROW_SKIP_EXISTING ||
		 batch->action == ROW_REFUSE_EXISTING) &&
		KeyIsTaken(batch, trigdata, partition))
		return NULL;

	ZbxhistKeepRow(batch, trigdata->tg_relation, tuple, partition != NULL);
	return tuple;
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
		ZbxhistFlushRelation(RelationGetRelid(trigdata->tg_relation));
	PG_RETURN_POINTER(NULL);
}
