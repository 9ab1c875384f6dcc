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
 * The parent may hold terabytes that are none of our business, and no index
 * begins with clock; but there is one on (itemid, clock).  So the scan walks
 * from item to item and looks at the wanted clocks of each: two index
 * descents an item, however many rows it has.  Without such an index the
 * whole table is read.
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
#include "catalog/objectaddress.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/datum.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "compat.h"
#include "ingest/probe.h"
#include "ingest/stray.h"
#include "ingest/target.h"
#include "maintenance/item_index.h"
#include "maintenance/move_lock.h"

PG_FUNCTION_INFO_V1(zbxhist_move_rows);

/* rows that are read before they are moved together */
#define MOVE_CHUNK_ROWS 1000

typedef struct MoveState
{
	/* arguments */
	int64		from_clock;
	int64		to_clock;
	int64		max_rows;

	/* tables */
	Relation	source;
	Relation	target;
	InsertTarget *insert;		/* owns its own reference to target */
	KeyProbe   *probe;			/* of target */
	TupleTableSlot *existing;	/* a row of target */
	TupleTableSlot *converted;	/* a row of source as one of target */
	Snapshot	snapshot;

	/* rows read and not moved yet */
	int			nchunk;
	TupleTableSlot *chunk[MOVE_CHUNK_ROWS];
	TupleTableSlot *ready[MOVE_CHUNK_ROWS];

	/* results */
	int64		moved;
	int64		duplicates;
} MoveState;

/* ---- moving ---- */

/*
 * SameRow says whether the row of the target at tid equals the source's row.
 */
static bool
SameRow(MoveState *state, TupleTableSlot *slot, ItemPointer tid)
{
	TupleDesc	desc = RelationGetDescr(state->target);

	if (!table_tuple_fetch_row_version(state->target, tid, SnapshotAny,
									   state->existing))
		return false;
	slot_getallattrs(state->existing);
	if (state->insert->map != NULL)
		slot = execute_attr_map_slot(state->insert->map->attrMap, slot,
									 state->converted);
	slot_getallattrs(slot);

	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);

		if (att->attisdropped)
			continue;
		if (slot->tts_isnull[i] != state->existing->tts_isnull[i])
			return false;
		if (!slot->tts_isnull[i] &&
			!datum_image_eq(slot->tts_values[i],
							state->existing->tts_values[i],
							att->attbyval, att->attlen))
			return false;
	}
	return true;
}

/*
 * DeleteRow deletes the row from the source as moved elsewhere; returns false
 * if somebody else has changed it meanwhile.
 */
static bool
DeleteRow(MoveState *state, TupleTableSlot *slot)
{
	TM_FailureData failure;
	TM_Result	result;

	result = table_tuple_delete(state->source, &slot->tts_tid,
								GetCurrentCommandId(true), state->snapshot,
								InvalidSnapshot, true /* wait */ , &failure,
								true /* changingPart */ );
	return result == TM_Ok;
}

/*
 * TakeRow takes one row out of the source; returns true if it is to be
 * inserted into the target.
 */
static bool
TakeRow(MoveState *state, TupleTableSlot *slot)
{
	ItemPointerData found;

	if (!ZbxhistProbeKey(state->probe, slot, false, &found))
		return DeleteRow(state, slot);

	/* the same row twice is one row; two values for a key are for people */
	if (!SameRow(state, slot, &found))
		state->duplicates++;
	else if (DeleteRow(state, slot))
		state->moved++;
	ExecClearTuple(state->existing);
	return false;
}

/*
 * MoveChunk moves the rows read so far.
 */
static void
MoveChunk(MoveState *state)
{
	int			nready = 0;

	for (int i = 0; i < state->nchunk; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (TakeRow(state, state->chunk[i]))
			state->ready[nready++] = state->chunk[i];
	}
	if (nready > 0)
		ZbxhistInsertRows(state->insert, state->ready, nready,
						  GetCurrentCommandId(true));
	state->moved += nready;
	for (int i = 0; i < state->nchunk; i++)
		ExecClearTuple(state->chunk[i]);
	state->nchunk = 0;
}

/*
 * ReadRow adds a row to the chunk, moving the chunk when it is full.
 */
static void
ReadRow(MoveState *state, TupleTableSlot *slot)
{
	TupleTableSlot **place = &state->chunk[state->nchunk];

	if (*place == NULL)
		*place = MakeSingleTupleTableSlot(RelationGetDescr(state->source),
										  &TTSOpsHeapTuple);
	ExecCopySlot(*place, slot);
	(*place)->tts_tid = slot->tts_tid;
	if (++state->nchunk == MOVE_CHUNK_ROWS)
		MoveChunk(state);
}

/*
 * HasEnough says whether the caller's number of rows is reached, moving what
 * is read to know: rows that must stay do not count, else a caller that
 * begins with them again would never get on.
 */
static bool
HasEnough(MoveState *state)
{
	if (state->moved + state->nchunk >= state->max_rows)
		MoveChunk(state);
	return state->moved >= state->max_rows;
}

/* ---- finding the rows ---- */

/*
 * ReadItem reads the rows of one item with the wanted clocks; returns false
 * if it stopped before the last because there were enough.
 */
static bool
ReadItem(MoveState *state, IndexScanDesc scan, TupleTableSlot *slot,
		 int64 itemid)
{
	ScanKeyData keys[ITEM_SCAN_KEYS];

	ZbxhistInitItemKeys(keys, itemid, state->from_clock, state->to_clock);
	index_rescan(scan, keys, lengthof(keys), NULL, 0);
	while (index_getnext_slot(scan, ForwardScanDirection, slot))
	{
		CHECK_FOR_INTERRUPTS();
		if (HasEnough(state))
			return false;
		ReadRow(state, slot);
	}
	return true;
}

/*
 * WalkItems moves rows item by item, beginning after *itemid unless is_first.
 * Returns true at the end of the items; else *itemid is where to go on.
 */
static bool
WalkItems(MoveState *state, Relation index, bool is_first, int64 *itemid)
{
	IndexScanDesc items = index_beginscan_compat(state->source, index,
												 state->snapshot, 1);
	IndexScanDesc rows = index_beginscan_compat(state->source, index,
												state->snapshot, ITEM_SCAN_KEYS);
	TupleTableSlot *slot = table_slot_create(state->source, NULL);
	bool		done = false;

	for (;;)
	{
		CHECK_FOR_INTERRUPTS();
		if (!ZbxhistNextItem(items, slot, is_first, itemid))
		{
			done = true;
			break;
		}
		is_first = false;
		if (!ReadItem(state, rows, slot, *itemid))
		{
			*itemid -= 1;		/* its other rows next time */
			break;
		}
	}
	ExecDropSingleTupleTableSlot(slot);
	index_endscan(rows);
	index_endscan(items);
	return done;
}

/*
 * ScanTable moves rows of a table without a suitable index.  Returns true at
 * its end.
 */
static bool
ScanTable(MoveState *state)
{
	AttrNumber	attnum = get_attnum(RelationGetRelid(state->source), "clock");
	TableScanDesc scan = table_beginscan(state->source, state->snapshot, 0,
										 NULL);
	TupleTableSlot *slot = table_slot_create(state->source, NULL);
	bool		done = true;

	while (table_scan_getnextslot(scan, ForwardScanDirection, slot))
	{
		bool		isnull;
		int32		clock = DatumGetInt32(slot_getattr(slot, attnum, &isnull));

		CHECK_FOR_INTERRUPTS();
		if (isnull || clock < state->from_clock || clock >= state->to_clock)
			continue;
		if (HasEnough(state))
		{
			done = false;
			break;
		}
		ReadRow(state, slot);
	}
	ExecDropSingleTupleTableSlot(slot);
	table_endscan(scan);
	return done;
}

/* ---- the function ---- */

/*
 * OpenTable opens one of the two tables for writing, if the user may.
 */
static Relation
OpenTable(Oid relid)
{
	Relation	rel = try_table_open(relid, RowExclusiveLock);
	AttrNumber	clock = get_attnum(relid, "clock");

	/* it may have been dropped while we waited for the lock */
	if (rel == NULL)
		ereport(ERROR,
				errcode(ERRCODE_UNDEFINED_TABLE),
				errmsg("relation with OID %u does not exist", relid));
	if (!owns_relation(relid, GetUserId()))
		aclcheck_error(ACLCHECK_NOT_OWNER,
					   get_relkind_objtype(rel->rd_rel->relkind),
					   RelationGetRelationName(rel));
	if (rel->rd_rel->relkind != RELKIND_RELATION)
		ereport(ERROR,
				errcode(ERRCODE_WRONG_OBJECT_TYPE),
				errmsg("\"%s\" is not a table", RelationGetRelationName(rel)),
				errtable(rel));
	if (clock == InvalidAttrNumber || get_atttype(relid, clock) != INT4OID)
		ereport(ERROR,
				errcode(ERRCODE_UNDEFINED_COLUMN),
				errmsg("table \"%s\" has no column \"clock\" of type integer",
					   RelationGetRelationName(rel)),
				errtable(rel));
	return rel;
}

/*
 * BeginMove opens everything that state needs.
 */
static void
BeginMove(MoveState *state, Oid source, Oid target)
{
	state->source = OpenTable(source);
	state->target = OpenTable(target);
	state->insert = ZbxhistOpenTarget(table_open(target, NoLock),
									  RelationGetDescr(state->source),
									  TARGET_MOVE, CurrentMemoryContext);
	state->probe = ZbxhistOpenProbe(state->target,
									RelationGetDescr(state->source));
	state->existing = table_slot_create(state->target, NULL);
	state->converted = MakeSingleTupleTableSlot(RelationGetDescr(state->target),
												&TTSOpsVirtual);
	ZbxhistBeginMoving(has_subclass(source) ? source : target);
	PushActiveSnapshot(GetLatestSnapshot());
	state->snapshot = GetActiveSnapshot();

	/* rows that go back to a parent will not be where inserts expect them */
	if (has_subclass(target))
		ZbxhistNoteStray(state->target);
}

/*
 * EndMove closes everything; the locks stay.
 */
static void
EndMove(MoveState *state)
{
	PopActiveSnapshot();
	for (int i = 0; i < MOVE_CHUNK_ROWS && state->chunk[i] != NULL; i++)
		ExecDropSingleTupleTableSlot(state->chunk[i]);
	ExecDropSingleTupleTableSlot(state->converted);
	ExecDropSingleTupleTableSlot(state->existing);
	ZbxhistCloseProbe(state->probe);
	ZbxhistCloseTarget(state->insert);
	table_close(state->target, NoLock);
	table_close(state->source, NoLock);
}

/*
 * MoveResult forms the function's row.  last_itemid is null when done, or
 * when there is no index to go on in.
 */
static Datum
MoveResult(FunctionCallInfo fcinfo, const MoveState *state, bool has_itemid,
		   int64 itemid, bool done)
{
	TupleDesc	desc;
	Datum		values[4];
	bool		nulls[4] = {false};

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	values[0] = Int64GetDatum(state->moved);
	values[1] = Int64GetDatum(state->duplicates);
	values[2] = Int64GetDatum(itemid);
	nulls[2] = done || !has_itemid;
	values[3] = BoolGetDatum(done);
	return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values,
											 nulls));
}

/*
 * zbxhist_move_rows(source, target, from_clock, to_clock, after_itemid,
 * max_rows) moves rows of the source alone with from_clock <= clock <
 * to_clock, in seconds, into the target; see sql/functions/move_rows.sql.
 */
Datum
zbxhist_move_rows(PG_FUNCTION_ARGS)
{
	MoveState  *state = palloc0(sizeof(MoveState));
	bool		is_first = PG_ARGISNULL(4);
	int64		itemid = is_first ? 0 : PG_GETARG_INT64(4);
	Relation	index;
	bool		done;

	for (int i = 0; i < 6; i++)
	{
		if (i != 4 && PG_ARGISNULL(i))
			ereport(ERROR,
					errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					errmsg("only argument \"after_itemid\" may be null"));
	}
	state->from_clock = PG_GETARG_INT64(2);
	state->to_clock = PG_GETARG_INT64(3);
	state->max_rows = PG_GETARG_INT32(5);

	BeginMove(state, PG_GETARG_OID(0), PG_GETARG_OID(1));
	index = ZbxhistFindItemIndex(state->source);
	done = index != NULL ? WalkItems(state, index, is_first, &itemid) :
		ScanTable(state);
	MoveChunk(state);
	if (index != NULL)
		index_close(index, NoLock);
	EndMove(state);

	return MoveResult(fcinfo, state, index != NULL, itemid, done);
}
