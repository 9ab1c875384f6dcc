/*-------------------------------------------------------------------------
 *
 * batch_route.c
 *	  Decides where a row is stored; all rows come this way.
 *
 * The row trigger (route.c) and the custom scan of fast_insert.c hand each row
 * of a parent to ZbxhistRouteRow:
 *
 * - If its clock has a partition, and the statement lets rows leave the parent,
 *   it is buffered for that.
 * - Else it goes to the parent.  That has the rows of packed days, too, until
 *   they are merged, and those of partitions that take no rows when the buffer is
 *   written (batch_flush.c).
 * - For ON CONFLICT, whose arbiter index knows only the parent, its key is
 *   looked up first where its clock says, and in other children.
 * - If the policy leaves its clock out, it goes nowhere (left_out.c).
 *
 * When a row is stored, its key is looked for in all other places where it may be: see
 * key_look.c.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "ingest/batch_private.h"
#include "ingest/frame.h"
#include "ingest/lookup.h"
#include "tables/stray.h"

/* ---- the row's partition ---- */

/*
 * GetCurrentSet returns the parent's partition set as it is now.
 */
static PartitionSet *
GetCurrentSet(InsertBatch *batch, Relation parent)
{
	if (!ZbxhistPartitionSetIsValid(batch->set))
		return ZbxhistGetPartitionSet(parent);
	return batch->set;
}

/*
 * FindRowPlace returns the partition of a row's clock, or NULL.  The result is valid
 * until the next row.  Rows that were routed by an older partition set are written first,
 * which may bring in a newer set.
 */
static const ClockPlace *
FindRowPlace(InsertBatch *batch, Relation parent, const NewRow *row)
{
	ClockPlace *place = &batch->place;

	if (batch->generation != GetCurrentSet(batch, parent)->generation)
	{
		ZbxhistFlushBatch(batch);
		batch->generation = GetCurrentSet(batch, parent)->generation;
		batch->place.relid = InvalidOid;
		ZbxhistSetClockLimits(&batch->left_out, batch->set);
	}
	if (!row->has_clock)
		return NULL;			/* the parent's NOT NULL constraint raises the
								 * error */

	/* most rows have the same day as the one before */
	if ((!OidIsValid(place->relid) || row->clock < place->from_clock ||
		 row->clock >= place->to_clock) &&
		!ZbxhistFindClockPlace(batch->set, row->clock, place))
		return NULL;
	return place->is_day ? NULL : place;
}

/* ---- ON CONFLICT ---- */

/*
 * KeyIsTaken says whether the row's key is in its partition or packed day, or in
 * another child.  It raises an error for DO UPDATE and DO SELECT, which need the row of
 * that key in the parent itself.
 */
static bool
KeyIsTaken(InsertBatch *batch, Relation parent, HeapTuple tuple)
{
	KeyRows		row = {batch->desc, &tuple, 1};
	bool		is_select = batch->action == ROW_REFUSE_SELECT;
	Oid			place;
	bool		result = ZbxhistKeyIsElsewhere(parent, &row, &place);

	if (result && batch->action != ROW_SKIP_EXISTING)
		ereport(ERROR,
				errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				is_select ?
				errmsg("ON CONFLICT DO SELECT cannot return a row in a partition of table \"%s\"",
					   RelationGetRelationName(parent)) :
				errmsg("ON CONFLICT DO UPDATE cannot update a row in a partition of table \"%s\"",
					   RelationGetRelationName(parent)),
				OidIsValid(place) ?
				errdetail("The row with that key is in \"%s\".",
						  get_rel_name(place)) : 0,
				is_select ?
				errhint("Use DO NOTHING, and SELECT for rows that exist.") :
				errhint("Use UPDATE for rows that exist."),
				errtable(parent));
	/* the transaction may not see the row with that key */
	if (result && IsolationUsesXactSnapshot())
		ereport(ERROR,
				errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				errmsg("ON CONFLICT DO NOTHING cannot pass over a row in a partition of table \"%s\" at this isolation level",
					   RelationGetRelationName(parent)),
				errhint("Use READ COMMITTED."),
				errtable(parent));
	return result;
}

/* ---- the row ---- */

/*
 * BufferRow buffers a row to be stored in the table relid.  May write.
 */
static void
BufferRow(InsertBatch *batch, const NewRow *row, Oid relid)
{
	if (ZbxhistBufferRow(batch, row, relid))
		ZbxhistFlushBatch(batch);
}

/*
 * ZbxhistRouteRow takes a row of the parent in and returns the table where it
 * is going to be stored: a partition, the parent, or InvalidOid if nowhere.
 * What a trigger's batch does not send to a partition is left to the executor,
 * to be stored in the parent; all else is stored when the batch is written, at
 * the latest when it is closed.  May write.
 */
Oid
ZbxhistRouteRow(InsertBatch *batch, Relation parent, const NewRow *row)
{
	const ClockPlace *place = FindRowPlace(batch, parent, row);
	ExecFrame  *frame;

	if (row->has_clock &&
		(row->clock < batch->left_out.limits.from_clock ||
		 row->clock >= batch->left_out.limits.to_clock))
	{
		ZbxhistLeaveOut(&batch->left_out, parent, row->tuple, row->itemid,
						row->clock);
		batch->stats.left_out++;
		return InvalidOid;
	}
	if (place != NULL && batch->set->policy.is_routing &&
		(batch->action == ROW_BUFFER || batch->action == ROW_INSERT))
	{
		Oid			relid = place->relid;

		BufferRow(batch, row, relid);
		/* the executor does not see it */
		frame = batch->sets_tag ? ZbxhistCurrentFrame() : NULL;
		if (frame != NULL && frame->query == batch->query)
			frame->routed++;
		return relid;
	}
	if (batch->action >= ROW_SKIP_EXISTING &&
		KeyIsTaken(batch, parent, row->tuple))
		return InvalidOid;

	if (place != NULL)
		ZbxhistNoteStrayOnce(parent, &batch->has_strays);
	if (!batch->has_executor)
		BufferRow(batch, row, batch->parent);
	else if (batch->set->clock_attnum != InvalidAttrNumber ||
			 batch->set->nothers > 0 || batch->set->npacked_days > 0)
	{
		/*
		 * its key may be in another place; the rows before it are stored by
		 * now
		 */
		if (batch->nkept == ZBXHIST_BATCH_MAX_ROWS)
			ZbxhistCheckBatchKeptRows(batch);
		ZbxhistKeepRow(batch, row->tuple);
		batch->stats.kept++;
	}
	return batch->parent;
}

/*
 * ReadColumn reads a column of a row, if there is such a column; returns false
 * if it is NULL.
 */
static bool
ReadColumn	(const InsertBatch *batch, HeapTuple tuple, AttrNumber attnum,
			 Datum *value)
{
	bool		isnull = true;

	*value = attnum == InvalidAttrNumber ? (Datum) 0 :
		heap_getattr(tuple, attnum, batch->desc, &isnull);
	return !isnull;
}

/*
 * ZbxhistRouteTuple does the same for a tuple, which the batch copies if it
 * must keep it.
 */
Oid
ZbxhistRouteTuple(InsertBatch *batch, Relation parent, HeapTuple tuple)
{
	PartitionSet *set = GetCurrentSet(batch, parent);
	NewRow		row = {.tuple = tuple};
	Datum		value;

	row.has_clock = ReadColumn (batch, tuple, set->clock_attnum, &value);

	row.clock = row.has_clock ? DatumGetInt32(value) : 0;
	row.ns = ReadColumn (batch, tuple, set->ns_attnum, &value) ?
				DatumGetInt32(value) : 0;
	row.itemid = ReadColumn (batch, tuple, set->itemid_attnum, &value) ?
				DatumGetInt64(value) : 0;

	return ZbxhistRouteRow(batch, parent, &row);
}
