/*-------------------------------------------------------------------------
 *
 * move.c
 *	  Moves rows between a parent and one of its partitions.
 *
 * A moved row is deleted here and inserted there in one transaction, so every
 * snapshot sees it once.  The delete marks the row as moved to another
 * partition, as a cross-partition UPDATE does: an UPDATE or DELETE that waits
 * for the row fails with 40001 instead of silently missing it.  For the user
 * the row stays in the same table, so no triggers fire.
 *
 * A partition whose unique keys differ from the parent's gets no rows, as it gets none
 * from INSERTs.  If it lacked a key, it would accept duplicates; if it had another key,
 * it would refuse or merge rows that the parent accepts.
 *
 * Indexes and constraints of the target may have expressions, which are code of its
 * owner.  So all this is run as the owner, not as the user.
 *
 * Locks: ROW EXCLUSIVE on both tables, as any writer, until the caller's
 * transaction ends.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/pg_inherits.h"
#include "fmgr.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "compat.h"
#include "ingest/key_match.h"
#include "ingest/table_keys.h"
#include "result_row.h"
#include "tables/item_index.h"
#include "tables/move_lock.h"
#include "tables/moving.h"
#include "tables/owned_table.h"
#include "tables/owner_rights.h"
#include "tables/partition_set.h"
#include "tables/row_type.h"
#include "tables/stray.h"
#include "tables/target.h"

PG_FUNCTION_INFO_V1(zbxhist_move_rows);

/* rows that are taken out of the source before they are inserted together */
#define MOVE_CHUNK_ROWS 1000

typedef struct MoveState
{
	RowWalk		walk;
	int64		max_rows;
	OwnerRights before;			/* the user's */

	/* tables */
	Relation	source;
	Relation	target;
	InsertTarget *insert;		/* owns its own reference to target */
	KeyHolder  *place;			/* target, opened to look for keys */
	KeyRows		row;			/* one, as target has it */
	HeapTuple	tuple;
	TupleTableSlot *existing;	/* a row of target */
	TupleTableSlot *converted;	/* a row of source as one of target */
	Snapshot	snapshot;

	/* rows taken out and not inserted yet */
	int			nready;
	TupleTableSlot *ready[MOVE_CHUNK_ROWS];

	/* results */
	int64		moved;
	int64		duplicates;
} MoveState;

/* ---- moving ---- */

/*
 * IsInTarget says whether the row of the target at tid is the same as one of its
 * row type.
 */
static bool
IsInTarget(MoveState *state, TupleTableSlot *slot, ItemPointer tid)
{
	return table_tuple_fetch_row_version(state->target, tid, SnapshotAny,
										 state->existing) &&
		ZbxhistSameValues(slot, state->existing);
}

/*
 * TakeMovedRow takes one row out of the source; returns true if it is to be
 * inserted into the target.
 */
static bool
TakeMovedRow(MoveState *state, TupleTableSlot *slot)
{
	ItemPointerData tid = slot->tts_tid;
	FoundKey	found;
	bool		is_there;

	if (state->insert->map != NULL)
		slot = execute_attr_map_slot(state->insert->map->attrMap, slot,
									 state->converted);
	state->tuple = ExecCopySlotHeapTuple(slot);
	is_there = ZbxhistFindKeys(state->place, &found);
	heap_freetuple(state->tuple);
	if (!is_there)
		return ZbxhistDeleteMoved(state->source, &tid, state->snapshot);

	/* equal rows become one; if values differ, a person must choose */
	if (!IsInTarget(state, slot, &found.tid))
		state->duplicates++;
	else if (ZbxhistDeleteMoved(state->source, &tid, state->snapshot))
		state->moved++;
	ExecClearTuple(state->existing);
	return false;
}

/*
 * InsertReady inserts the rows that have been taken out so far.
 */
static void
InsertReady(MoveState *state)
{
	if (state->nready > 0)
		ZbxhistInsertRows(state->insert, state->ready, state->nready,
						  GetCurrentCommandId(true));
	for (int i = 0; i < state->nready; i++)
		ExecClearTuple(state->ready[i]);
	state->nready = 0;
}

/*
 * VisitMovedRow moves a row, unless there are enough.  Rows that must stay do not count,
 * else a caller that begins with them again would make no progress.
 */
static bool
VisitMovedRow(void *arg, TupleTableSlot *slot)
{
	MoveState  *state = arg;
	TupleTableSlot **place = &state->ready[state->nready];

	if (state->moved >= state->max_rows)
		return false;
	if (!TakeMovedRow(state, slot))
		return true;
	if (*place == NULL)
		*place = MakeSingleTupleTableSlot(RelationGetDescr(state->source),
										  &TTSOpsHeapTuple);
	ExecCopySlot(*place, slot);
	state->moved++;
	if (++state->nready == MOVE_CHUNK_ROWS)
		InsertReady(state);
	return true;
}

/* ---- the function ---- */

/*
 * BeginMove opens everything that state needs, and takes the rights of the tables' owner.
 */
static void
BeginMove(MoveState *state, Oid source, Oid target)
{
	bool		is_parent_source = has_subclass(source);
	bool		has_clock = !state->walk.is_of_all;

	state->source = ZbxhistOpenForMoving(source, RowExclusiveLock, has_clock);
	state->target = ZbxhistOpenForMoving(target, RowExclusiveLock, has_clock);
	if (is_parent_source)
		ZbxhistRequireSameOwner(state->source, state->target);
	else
		ZbxhistRequireSameOwner(state->target, state->source);
	ZbxhistTakeOwnerRights(&state->before, state->target->rd_rel->relowner);
	state->insert = ZbxhistOpenTarget(table_open(target, NoLock),
									  RelationGetDescr(state->source),
									  TARGET_MOVE, NULL, CurrentMemoryContext);
	state->row.desc = RelationGetDescr(state->target);
	state->row.tuples = &state->tuple;
	state->row.ntuples = 1;
	state->place = ZbxhistOpenTableKeys(state->target, state->target,
										&state->row);
	state->existing = table_slot_create(state->target, NULL);
	state->converted = MakeSingleTupleTableSlot(RelationGetDescr(state->target),
												&TTSOpsVirtual);
	ZbxhistBeginMoving(is_parent_source ? source : target);
	PushActiveSnapshot(GetLatestSnapshot());
	state->snapshot = GetActiveSnapshot();

	/* INSERTs do not expect rows that move back to the parent there */
	if (has_subclass(target))
		ZbxhistNoteStray(state->target);
}

/*
 * HasOtherKeys says whether the target is a partition of the source with
 * other keys.
 */
static bool
HasOtherKeys(const MoveState *state)
{
	PartitionSet *set = ZbxhistGetPartitions(state->source);

	return partition_of(set, RelationGetRelid(state->target)) != NULL &&
		!ZbxhistTakesKeys(set, state->source, state->target);
}

/*
 * WalkSource moves rows; returns true at the end of the source.  Otherwise *itemid is the
 * item to continue with, if there is an index, which is opened.
 */
static bool
WalkSource(MoveState *state, Relation *index, bool is_first, int64 *itemid)
{
	bool		done;

	*index = state->walk.is_of_all ? NULL : ZbxhistFindItemIndex(state->source);
	state->walk.source = state->source;
	state->walk.snapshot = state->snapshot;
	state->walk.visit = VisitMovedRow;
	state->walk.state = state;
	done = ZbxhistWalkRows(&state->walk, *index, is_first, itemid);
	InsertReady(state);
	return done;
}

/*
 * EndMove closes everything, and returns to the user's own rights; the locks stay.
 */
static void
EndMove(MoveState *state)
{
	PopActiveSnapshot();
	for (int i = 0; i < MOVE_CHUNK_ROWS && state->ready[i] != NULL; i++)
		ExecDropSingleTupleTableSlot(state->ready[i]);
	ExecDropSingleTupleTableSlot(state->converted);
	ExecDropSingleTupleTableSlot(state->existing);
	state->place->close(state->place);
	ZbxhistCloseTarget(state->insert);
	ZbxhistGiveBackRights(&state->before);
	table_close(state->target, NoLock);
	table_close(state->source, NoLock);
}

/*
 * MoveResult forms the function's row.  last_itemid is null at the end, or
 * if there is no index by which to continue.
 */
static Datum
MoveResult(FunctionCallInfo fcinfo, const MoveState *state, bool has_itemid,
		   int64 itemid, bool done)
{
	Datum		values[4];
	bool		nulls[4] = {false};

	values[0] = Int64GetDatum(state->moved);
	values[1] = Int64GetDatum(state->duplicates);
	values[2] = Int64GetDatum(itemid);
	nulls[2] = done || !has_itemid;
	values[3] = BoolGetDatum(done);
	return result_row(fcinfo, values, nulls);
}

/*
 * zbxhist_move_rows(source, target, from_clock, to_clock, after_itemid,
 * max_rows) moves rows of the source alone with from_clock <= clock <
 * to_clock, in seconds, or all, if these are null, into the target; see
 * sql/parent_rows/move.sql.
 */
Datum
zbxhist_move_rows(PG_FUNCTION_ARGS)
{
	MoveState  *state = palloc0(sizeof(MoveState));
	bool		is_first = PG_ARGISNULL(4);
	int64		itemid = is_first ? 0 : PG_GETARG_INT64(4);
	Relation	index = NULL;
	bool		done;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1) || PG_ARGISNULL(5) ||
		PG_ARGISNULL(2) != PG_ARGISNULL(3))
		ereport(ERROR,
				errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				errmsg("only argument \"after_itemid\", or both clocks, may be null"));
	state->max_rows = PG_GETARG_INT32(5);
	state->walk.is_of_all = PG_ARGISNULL(2);
	if (!state->walk.is_of_all)
	{
		state->walk.from_clock = PG_GETARG_INT64(2);
		state->walk.to_clock = PG_GETARG_INT64(3);
	}

	BeginMove(state, PG_GETARG_OID(0), PG_GETARG_OID(1));
	done = HasOtherKeys(state) ||
		WalkSource(state, &index, is_first, &itemid);
	if (index != NULL)
		index_close(index, NoLock);
	EndMove(state);

	return MoveResult(fcinfo, state, index != NULL, itemid, done);
}
