/*-------------------------------------------------------------------------
 *
 * delete.c
 *	  SQL function delete_values: deletes rows of an item.
 *
 * The rows are found as the reading functions find them and deleted as DELETE
 * would: what another transaction has deleted meanwhile is passed over, what
 * it has changed is looked at again (READ COMMITTED) or an error (40001), and
 * so is a row that maintenance is moving.
 *
 * Where a DELETE would do more than delete (triggers, rules, also of a single
 * partition), a DELETE is executed instead.
 *
 * Locks: ROW EXCLUSIVE on the parent and on each partition that is reached,
 * until the transaction ends.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "catalog/owner_rights.h"
#include "catalog/partition_set.h"
#include "catalog/privileges.h"
#include "compat.h"
#include "packed/changes/day_changes.h"
#include "read/arguments.h"
#include "read/parent.h"
#include "read/reader.h"
#include "rows/move_lock.h"

PG_FUNCTION_INFO_V1(zbxhist_delete_values);
PG_FUNCTION_INFO_V1(zbxhist_delete_values_time);

/* ---- row by row ---- */

/*
 * NeedsStatement says whether a DELETE does more to a table than delete.
 */
static bool
NeedsStatement(Relation rel)
{
	const TriggerDesc *triggers = rel->trigdesc;

	return rel->rd_rules != NULL ||
		(triggers != NULL &&
		 (triggers->trig_delete_before_row ||
		  triggers->trig_delete_after_row ||
		  triggers->trig_delete_before_statement ||
		  triggers->trig_delete_after_statement));
}

/*
 * RaiseSerialization raises the error for a row that changed after the
 * transaction's snapshot.
 */
static void
RaiseSerialization(const char *what)
{
	ereport(ERROR,
			errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
			errmsg("could not serialize access due to concurrent %s", what));
}

/*
 * StillBelongs says whether the newest version of a row, in slot, is in the
 * range.
 */
static bool
StillBelongs(Relation rel, TupleTableSlot *slot, const ItemRange *range)
{
	Oid			relid = RelationGetRelid(rel);
	AttrNumber	ns_attnum = get_attnum(relid, "ns");
	bool		isnull;
	int64		itemid = DatumGetInt64(slot_getattr(slot,
													get_attnum(relid, "itemid"),
													&isnull));
	int32		clock = DatumGetInt32(slot_getattr(slot,
												   get_attnum(relid, "clock"),
												   &isnull));
	int32		ns = 0;
	int64		position;

	if (ns_attnum != InvalidAttrNumber)
		ns = DatumGetInt32(slot_getattr(slot, ns_attnum, &isnull));
	position = make_position(clock, ns);
	return itemid == range->itemid && position >= range->first &&
		position <= range->last;
}

/*
 * DeleteNewest deletes the newest version of a row that another transaction
 * has updated, if that is still in the range.  Locking it waits for whoever
 * changes it again, and raises the error if it was moved to another table.
 */
static bool
DeleteNewest(Relation rel, ItemPointer tid, const ItemRange *range)
{
	TupleTableSlot *slot = table_slot_create(rel, NULL);
	TM_FailureData failure;
	TM_Result	result;
	bool		is_deleted = false;

	result = table_tuple_lock(rel, tid, GetActiveSnapshot(), slot,
							  GetCurrentCommandId(true), LockTupleExclusive,
							  LockWaitBlock, TUPLE_LOCK_FLAG_FIND_LAST_VERSION,
							  &failure);
	if (result == TM_Ok && StillBelongs(rel, slot, range))
		is_deleted = table_tuple_delete_compat(rel, &slot->tts_tid,
											   GetActiveSnapshot(),
											   InvalidSnapshot, &failure,
											   false) == TM_Ok;
	ExecDropSingleTupleTableSlot(slot);
	return is_deleted;
}

/*
 * DeleteRow deletes the row in the source's slot; returns false if it is not
 * there any more.
 */
static bool
DeleteRow(ItemSource *source, const ItemRange *range)
{
	ItemPointerData tid = source->slot->tts_tid;
	TM_FailureData failure;

	switch (table_tuple_delete_compat(source->rel, &tid, GetActiveSnapshot(),
									  InvalidSnapshot, &failure, false))
	{
		case TM_Ok:
			return true;
		case TM_Updated:
			if (IsolationUsesXactSnapshot())
				RaiseSerialization("update");
			return DeleteNewest(source->rel, &tid, range);
		case TM_Deleted:
			if (IsolationUsesXactSnapshot())
				RaiseSerialization("delete");
			return false;
		default:
			return false;
	}
}

/*
 * DeletePacked deletes the rows of a range from packed days; returns their
 * number.
 */
static int64
DeletePacked(Relation parent, const ItemRange *range)
{
	DayChanges *changes;
	int64		result;

	if (ZbxhistGetPartitions(parent)->npacked_days == 0)
		return 0;
	changes = ZbxhistBeginDayChanges(parent, InvalidOid, ACL_DELETE,
									 GetActiveSnapshot());
	result = (int64) ZbxhistDeleteFromDays(changes, range, 1);
	ZbxhistEndDayChanges(changes);
	return result;
}

/*
 * DeleteRows deletes the rows of a range and adds their number to *deleted.
 * Returns false when it came to a table that needs a statement.
 */
static bool
DeleteRows(Relation parent, const ItemRange *range, int64 *deleted)
{
	ItemReader *reader = ZbxhistOpenReader(parent, GetActiveSnapshot(),
										   RowExclusiveLock, false);
	Oid			last = InvalidOid;
	bool		is_done = true;

	ZbxhistSkipPackedDays(reader);
	ZbxhistReadItem(reader, range);
	while (ZbxhistReadNext(reader))
	{
		ItemSource *source = ZbxhistReadSource(reader);

		/* another one may be where the one before was in memory */
		if (RelationGetRelid(source->rel) != last)
		{
			last = RelationGetRelid(source->rel);
			if (NeedsStatement(source->rel))
			{
				is_done = false;
				break;
			}
			CheckCmdReplicaIdentity(source->rel, CMD_DELETE);
		}
		if (DeleteRow(source, range))
			(*deleted)++;
	}
	ZbxhistCloseReader(reader);
	/* after partitions: one that was packed before it was reached is here */
	if (is_done)
		*deleted += DeletePacked(parent, range);
	return is_done;
}

/* ---- by a statement ---- */

/*
 * DeleteStatement returns the statement for a parent.  The clocks are there
 * twice so that partitions can be excluded.
 */
static char *
DeleteStatement(Relation parent, bool has_ns)
{
	return psprintf("DELETE FROM %s WHERE itemid OPERATOR(pg_catalog.=) $1 "
					"AND clock OPERATOR(pg_catalog.>=) $2 "
					"AND clock OPERATOR(pg_catalog.<=) $4%s",
					ZbxhistQualifiedName(parent),
					has_ns ?
					" AND ROW(clock, ns) OPERATOR(pg_catalog.>=) ROW($2, $3)"
					" AND ROW(clock, ns) OPERATOR(pg_catalog.<=) ROW($4, $5)" :
					"");
}

/*
 * LimitToSeconds makes the range of a table without ns one of whole clocks.
 */
static bool
LimitToSeconds(const ItemRange *range, int64 *from_clock, int64 *to_clock)
{
	*from_clock = position_clock(range->first);
	*to_clock = position_clock(range->last);
	if (make_position((int32) *from_clock, 0) < range->first)
		(*from_clock)++;
	if (make_position((int32) *to_clock, 0) > range->last)
		(*to_clock)--;
	return *from_clock <= *to_clock;
}

/*
 * DeleteByStatement deletes the rows of a range by DELETE; returns their
 * number.
 */
static int64
DeleteByStatement(Relation parent, const ItemRange *range)
{
	PartitionSet *set = ZbxhistGetPartitionSet(parent);
	bool		has_ns = set->ns_attnum != InvalidAttrNumber;
	Oid			types[] = {INT8OID, INT4OID, INT4OID, INT4OID, INT4OID};
	int64		from_clock = position_clock(range->first);
	int64		to_clock = position_clock(range->last);
	Datum		values[5];
	int64		result;

	if (!has_ns && !LimitToSeconds(range, &from_clock, &to_clock))
		return 0;
	values[0] = Int64GetDatum(range->itemid);
	values[1] = Int32GetDatum((int32) from_clock);
	values[2] = Int32GetDatum(position_ns(range->first));
	values[3] = Int32GetDatum((int32) to_clock);
	values[4] = Int32GetDatum(position_ns(range->last));

	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "could not connect to SPI");
	if (SPI_execute_with_args(DeleteStatement(parent, has_ns), 5, types,
							  values, NULL, false, 0) < 0)
		elog(ERROR, "could not execute DELETE");
	result = (int64) SPI_processed;
	SPI_finish();
	return result;
}

/* ---- the functions ---- */

/*
 * BecomeOwner goes on as the owner of the parent if the user may: delete_item
 * comes to tables that he has not named, and triggers are their owners' code.
 * Returns false if he only has privileges, as for a DELETE.
 */
static bool
BecomeOwner(Relation parent, OwnerRights *before)
{
	if (!owns_relation(RelationGetRelid(parent), GetUserId()))
		return false;
	ZbxhistTakeOwnerRights(before, parent->rd_rel->relowner);
	ZbxhistCheckPrivileges(parent, ACL_SELECT | ACL_DELETE);
	return true;
}

/*
 * DeleteRange deletes the rows of a range from the parent relid.  As a volatile
 * function's statement it has a snapshot of its own, which sees what the
 * calling statement did before.
 */
static int64
DeleteRange(Oid relid, const ItemRange *range)
{
	Relation	parent;
	OwnerRights before;
	bool		is_owner;
	int64		deleted = 0;

	PreventCommandIfReadOnly("DELETE");
	PreventCommandIfParallelMode("DELETE");
	parent = ZbxhistOpenParent(relid, RowExclusiveLock,
							   ACL_SELECT | ACL_DELETE);
	is_owner = BecomeOwner(parent, &before);
	(void) ZbxhistBeginChanging(relid);
	CommandCounterIncrement();
	PushActiveSnapshot(GetTransactionSnapshot());
	if (!item_range_is_empty(range) &&
		(NeedsStatement(parent) || !DeleteRows(parent, range, &deleted)))
		deleted += DeleteByStatement(parent, range);
	PopActiveSnapshot();
	CommandCounterIncrement();
	if (is_owner)
		ZbxhistGiveBackRights(&before);
	table_close(parent, NoLock);
	return deleted;
}

/*
 * LimitByWhich limits range to the rows on the named side of two positions,
 * which are the same or the first and last of what has no position.
 */
static void
LimitByWhich(FunctionCallInfo fcinfo, int argument, ItemRange *range,
			 int64 position)
{
	static const char *const words[] =
	{"equal", "less_or_equal", "less", "greater_or_equal", "greater", NULL};

	switch (ZbxhistGetWord(fcinfo, argument, "which", words))
	{
		case 0:
			ZbxhistStartAt(range, position);
			ZbxhistEndAt(range, position);
			break;
		case 1:
			ZbxhistEndAt(range, position);
			break;
		case 2:
			ZbxhistEndBefore(range, position);
			break;
		case 3:
			ZbxhistStartAt(range, position);
			break;
		case 4:
			ZbxhistStartAfter(range, position);
			break;
	}
}

/*
 * zbxhist_delete_values(parent, itemid, clock, ns, which) deletes an item's
 * rows at, before or after a moment and returns their number.
 */
Datum
zbxhist_delete_values(PG_FUNCTION_ARGS)
{
	ItemRange	range;

	ZbxhistWholeItem(&range, PG_GETARG_INT64(1));
	LimitByWhich(fcinfo, 4, &range, make_position(PG_GETARG_INT32(2),
												  PG_GETARG_INT32(3)));
	PG_RETURN_INT64(DeleteRange(PG_GETARG_OID(0), &range));
}

/*
 * zbxhist_delete_values_time(parent, itemid, moment, which) does the same for
 * a time.  One beyond all clocks has all rows on one side.
 */
Datum
zbxhist_delete_values_time(PG_FUNCTION_ARGS)
{
	ItemRange	range;
	int64		position;
	bool		has_position =
		ZbxhistTimePosition(PG_GETARG_TIMESTAMPTZ(2), &position);

	ZbxhistWholeItem(&range, PG_GETARG_INT64(1));
	LimitByWhich(fcinfo, 3, &range, position);
	if (!has_position && range.first == range.last)
		ZbxhistMakeEmpty(&range);
	PG_RETURN_INT64(DeleteRange(PG_GETARG_OID(0), &range));
}
