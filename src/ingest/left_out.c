/*-------------------------------------------------------------------------
 *
 * left_out.c
 *	  Rows that are not stored, because the policy leaves their clocks out.
 *
 * A broken agent, or a proxy with a wrong clock, sends values of 1970 or of decades
 * ahead.  With the policy max_age or max_ahead these are not stored, and the INSERT
 * continues as if they had not been there. zbxhist.left_out notes which items sent them:
 * a row for each item and statement or, if the policy keeps such values for a day, each
 * of them as text. check() reports them.  The notes are part of the statement's
 * transaction, and are rolled back with it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "commands/trigger.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/rel.h"
#include "utils/timestamp.h"

#include "guc.h"
#include "ingest/left_out.h"
#include "tables/own_tables.h"

/*
 * ZbxhistSetClockLimits sets the clocks that a statement may store by the
 * present policy.
 */
void
ZbxhistSetClockLimits(LeftOut *left_out, const PartitionSet *set)
{
	int64		now;

	left_out->limits.from_clock = ZBXHIST_CLOCK_MIN;
	left_out->limits.to_clock = ZBXHIST_CLOCK_END;
	left_out->keeps_rows = set->policy.limits.keeps_rows;
	if ((set->policy.limits.max_age == 0 && set->policy.limits.max_ahead == 0) || !set->policy.is_routing ||
		!zbxhist_enable_routing ||
		SessionReplicationRole == SESSION_REPLICATION_ROLE_REPLICA)
		return;
	now = (int64) timestamptz_to_time_t(GetCurrentTimestamp());
	if (set->policy.limits.max_age > 0)
		left_out->limits.from_clock = now - set->policy.limits.max_age;
	if (set->policy.limits.max_ahead > 0)
		left_out->limits.to_clock = now + set->policy.limits.max_ahead + 1;
}

/*
 * StoreNote inserts a row into zbxhist.left_out, with the text of a row that is
 * kept or NULL.
 */
static void
StoreNote(Oid parent, const LeftOutItem *item, const char *row)
{
	OwnValue	note[7] = {
		{"parent", ObjectIdGetDatum(parent)},
		{"rows", Int64GetDatum(item->nrows)},
		{"first_clock", Int32GetDatum(item->first_clock)},
		{"last_clock", Int32GetDatum(item->last_clock)},
		{"noted_at", TimestampTzGetDatum(GetCurrentTimestamp())}
	};
	int			n = 5;

	if (item->itemid != 0)
	{
		note[n].column = "itemid";
		note[n++].value = Int64GetDatum(item->itemid);
	}
	if (row != NULL)
	{
		note[n].column = "kept";
		note[n++].value = CStringGetTextDatum(row);
	}
	(void) ZbxhistStoreOwnRow("left_out", note, n);
}

/*
 * FindItemCount returns where rows of an item are counted: the last place is
 * for all that have none of their own.
 */
static LeftOutItem *
FindItemCount(LeftOut *left_out, int64 itemid)
{
	LeftOutItem *item;

	for (int i = 0; i < left_out->nitems; i++)
	{
		if (left_out->items[i].itemid == itemid)
			return &left_out->items[i];
	}
	if (left_out->nitems == ZBXHIST_MAX_LEFT_OUT_ITEMS)
	{
		item = &left_out->items[left_out->nitems - 1];
		item->itemid = 0;
		return item;
	}
	item = &left_out->items[left_out->nitems++];
	memset(item, 0, sizeof(*item));
	item->itemid = itemid;
	item->first_clock = PG_INT32_MAX;
	item->last_clock = PG_INT32_MIN;
	return item;
}

/*
 * RowText returns a row as text, as one would cast it, palloc'd.
 */
static char *
RowText(Relation parent, HeapTuple tuple)
{
	Datum		row = heap_copy_tuple_as_datum(tuple, RelationGetDescr(parent));

	return OidOutputFunctionCall(F_RECORD_OUT, row);
}

/*
 * ZbxhistLeaveOut notes a row that is not stored.
 */
void
ZbxhistLeaveOut(LeftOut *left_out, Relation parent, HeapTuple tuple,
				int64 itemid, int32 clock)
{
	LeftOutItem *item;

	if (left_out->keeps_rows)
	{
		LeftOutItem row = {itemid, 1, clock, clock};

		StoreNote(RelationGetRelid(parent), &row, RowText(parent, tuple));
		return;
	}
	item = FindItemCount(left_out, itemid);
	item->nrows++;
	item->first_clock = Min(item->first_clock, clock);
	item->last_clock = Max(item->last_clock, clock);
}

/*
 * ZbxhistNoteLeftOut writes what a statement has left out.
 */
void
ZbxhistNoteLeftOut(LeftOut *left_out, Oid parent)
{
	for (int i = 0; i < left_out->nitems; i++)
		StoreNote(parent, &left_out->items[i], NULL);
	left_out->nitems = 0;
}
