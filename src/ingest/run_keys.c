/*-------------------------------------------------------------------------
 *
 * run_keys.c
 *	  Looks for keys of rows in a table of runs.
 *
 * Runs have no unique index.  A session that has stored a run looks for its
 * keys in the others, in the way of an exclusion constraint: first store, then
 * look, by a dirty snapshot that sees what others have not committed yet, and
 * wait for those (see key_look.c).  So does one that has stored a row in the
 * parent, because it could not have the table's lock.
 *
 * A scan by a dirty snapshot may miss rows that somebody writes anew meanwhile:
 * the new run where it has been already, the old one when it is gone.  A
 * session that changes rows or merges runs holds the lock of merge_lock.c.  One
 * that may meet such a session looks once more, by a fresh snapshot, which sees
 * either: what was committed when that was taken is seen by it; what was not
 * stood where it was in the first scan, or has been written anew by the session
 * that had stored it, and then the old one is seen by the first scan until that
 * commits.
 *
 * Clocks rise, so few runs overlap with a new one in time, and an index on
 * their ends finds them.  A filter has the keys of all that have been seen
 * (run_key_filter.c), to which those of the others are added.  Most looks end there;
 * if one of the keys may be there, the runs are decoded once more, and it is looked
 * for in them.  Rows that come late overlap with many merged runs; of these only those
 * are looked at that have their items, and what the filter has no room for is
 * looked for in each of them.
 *
 * Locks: the caller's on the table, from before its row was stored until its
 * transaction ends.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/tableam.h"
#include "access/xact.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "binary_search.h"
#include "compat.h"
#include "ingest/run_keys.h"
#include "packed/day/day.h"
#include "packed/format/run.h"
#include "packed/runs/run_index.h"
#include "rows/attempt.h"
#include "rows/merge_lock.h"

typedef struct KeyLook
{
	KeyHolder	base;			/* must be first */
	RunTable   *table;
	const RunKeys *keys;
	const WrittenRun *own;		/* which the caller has just stored */
	int			nown;
	bool		is_unlocked;	/* somebody may be changing rows all the time */
	bool		is_exact;		/* keys that the filter may have are looked
								 * for */
	MemoryContext decode_context;	/* reset for each run */
	int			row;			/* whose key is found */
	FoundKey   *found;			/* where */
} KeyLook;

/* ---- a run ---- */

/* a run's bytes, whose keys are wanted */
typedef struct KeyDecode
{
	const DayLayout *layout;
	Datum		payload;
	RunKeys		keys;
} KeyDecode;

/*
 * DecodeKeys decodes the keys of a run, which must be sorted.
 */
static void
DecodeKeys(void *arg)
{
	KeyDecode  *decode = arg;
	const DayLayout *layout = decode->layout;
	RunKeys    *keys = &decode->keys;
	int			ns_column = layout->ns < 0 ? 0 :
		layout->columns[layout->ns].packed;
	bool	   *wanted = palloc0(sizeof(bool) * PACKED_MAX_COLUMNS);
	struct varlena *data = PG_DETOAST_DATUM_PACKED(decode->payload);
	RunRows		rows;

	wanted[ns_column] = true;
	keys->nrows = -1;
	if (!ZbxhistDecodeRun((const uint8 *) VARDATA_ANY(data),
						  VARSIZE_ANY_EXHDR(data), ANY_COLUMNS, wanted, NULL,
						  &rows) ||
		ns_column >= rows.ncolumns ||
		rows.columns[ns_column].kind != PACKED_INT)
		return;
	keys->itemids = rows.itemids;
	keys->positions = rows.columns[0].ints;
	for (int i = 0; i < rows.nrows; i++)
	{
		keys->positions[i] = make_position((int32) rows.columns[0].ints[i],
										   ns_column == 0 ? 0 :
										   (int32) rows.columns[ns_column].ints[i]);
		if (i > 0 && keys->itemids[i] == keys->itemids[i - 1] &&
			keys->positions[i] < keys->positions[i - 1])
			return;
	}
	keys->nrows = rows.nrows;
}

/*
 * ReadRunKeys reads the keys of a run.  One that is damaged must not fail an INSERT:
 * what cannot be read does not have the key, which is said when it is looked at
 * first.  Fetching what is out of line raises an error then.
 */
static void
ReadRunKeys(const KeyLook *look, Datum payload, RunKeys *keys)
{
	KeyDecode	decode = {.layout = look->table->layout,.payload = payload};
	ErrorData  *error = NULL;

	if (VARATT_IS_EXTERNAL(DatumGetPointer(payload)) ||
		VARATT_IS_COMPRESSED(DatumGetPointer(payload)))
		error = ZbxhistAttempt(DecodeKeys, &decode);
	else
		DecodeKeys(&decode);
	*keys = decode.keys;
	if (error == NULL && keys->nrows >= 0)
		return;
	keys->nrows = 0;
	if (!look->is_exact)
		ereport(LOG,
				errcode(ERRCODE_DATA_CORRUPTED),
				errmsg("could not look for keys in \"%s\": a run is corrupt",
					   RelationGetRelationName(look->base.rel)),
				error == NULL ? 0 : errdetail_internal("%s", error->message));
}

/*
 * HasKey says whether keys contain one.
 */
static bool
HasKey(const RunKeys *keys, int64 itemid, int64 position)
{
	int			i;

	find_first(i, keys->nrows,
			   keys->itemids[i] > itemid ||
			   (keys->itemids[i] == itemid && keys->positions[i] >= position));
	return i < keys->nrows && keys->itemids[i] == itemid &&
		keys->positions[i] == position;
}

/*
 * FindCommon returns the number of one of the look's keys that others have, or -1.
 */
static int
FindCommon(const KeyLook *look, const RunKeys *others)
{
	const RunKeys *keys = look->keys;
	int			i;

	if (others->nrows == 0)
		return -1;
	find_first(i, keys->nrows, keys->itemids[i] >= others->itemids[0]);
	for (; i < keys->nrows &&
		 keys->itemids[i] <= others->itemids[others->nrows - 1]; i++)
	{
		if ((!look->is_exact ||
			 ZbxhistMayHaveKey(look->base.rel, keys->itemids[i],
							   keys->positions[i])) &&
			HasKey(others, keys->itemids[i], keys->positions[i]))
			return i;
	}
	return -1;
}

/*
 * NextNotLater returns the first row from one on that is of an item from one on, and
 * not later than a clock; the number of rows if there is none.
 */
static int
NextNotLater(const RunKeys *keys, int64 itemid, int32 last_clock)
{
	int			i;

	find_first(i, keys->nrows, keys->itemids[i] >= itemid);
	while (i < keys->nrows && position_clock(keys->positions[i]) > last_clock)
		i++;
	return i;
}

/*
 * HasKeyWithin says whether one of the keys is where those of a run are.
 */
static bool
HasKeyWithin(const RunKeys *keys, const DayGroup *place)
{
	int			i;

	if (place->first_clock > keys->last_clock ||
		place->last_clock < keys->first_clock)
		return false;
	find_first(i, keys->nrows, keys->itemids[i] >= place->first_itemid);
	for (; i < keys->nrows && keys->itemids[i] <= place->last_itemid; i++)
	{
		int32		clock = position_clock(keys->positions[i]);

		if (clock >= place->first_clock && clock <= place->last_clock)
			return true;
	}
	return false;
}

/*
 * IsNear says whether the run in a slot may have one of the keys.
 */
static bool
IsNear(const KeyLook *look, TupleTableSlot *slot)
{
	DayGroup	place;

	return !is_written(look->own, look->nown, &slot->tts_tid) &&
		ZbxhistReadPlace(slot, &place) && HasKeyWithin(look->keys, &place);
}

/*
 * FindInRun says whether the run in a slot has one of the look's keys; sets row to
 * that.  A key that the filter will say may be there does not count yet.
 */
static bool
FindInRun(KeyLook *look, TupleTableSlot *slot)
{
	MemoryContext old;
	RunKeys		keys;

	if (!look->is_exact && ZbxhistKnowsRun(look->base.rel, slot))
		return false;
	MemoryContextReset(look->decode_context);
	old = MemoryContextSwitchTo(look->decode_context);
	slot_getallattrs(slot);
	ReadRunKeys(look, slot->tts_values[DAY_ATTNUM_PAYLOAD - 1], &keys);
	MemoryContextSwitchTo(old);
	if (!look->is_exact && ZbxhistNoteRunKeys(look->base.rel, slot, &keys))
		return false;
	look->row = FindCommon(look, &keys);
	return look->row >= 0;
}

/* ---- all runs ---- */

/*
 * LookAtRun says whether a run that the snapshot sees has one of the keys, as
 * FindInRun does, and notes where it is.
 */
static bool
LookAtRun(KeyLook *look, TupleTableSlot *slot, Snapshot snapshot)
{
	CHECK_FOR_INTERRUPTS();
	if (!IsNear(look, slot) || !ZbxhistHasPayload(look->base.rel, slot) ||
		!FindInRun(look, slot))
		return false;
	look->found->tid = slot->tts_tid;
	look->found->token = 0;
	look->found->waits_for = InvalidTransactionId;
	if (snapshot->snapshot_type == SNAPSHOT_DIRTY)
		look->found->waits_for = TransactionIdIsValid(snapshot->xmin) ?
			snapshot->xmin : snapshot->xmax;
	return true;
}

/*
 * LookAtStored looks at those of statements; returns as LookAtRun.
 */
static bool
LookAtStored(KeyLook *look, Snapshot snapshot)
{
	RunIndexScan *scan = ZbxhistBeginRunIndexScan(look->base.rel,
												  look->table->indexes.stored,
												  snapshot);
	TupleTableSlot *slot;
	bool		found = false;

	ZbxhistRunsSince(scan, look->keys->first_clock);
	while (!found && (slot = ZbxhistNextInRunIndex(scan)) != NULL)
		found = LookAtRun(look, slot, snapshot);
	ZbxhistEndRunIndexScan(scan);
	return found;
}

/*
 * LookAtBatch looks at those of a batch, of which slot has the first one; returns as
 * LookAtRun.  They are sorted by items: those between the items of the keys are
 * passed over.  Where a row does not agree with the index, its run is not.
 */
static bool
LookAtBatch(KeyLook *look, RunIndexScan *scan, TupleTableSlot *slot,
			int64 batch, Snapshot snapshot)
{
	const RunKeys *keys = look->keys;
	int			row = NextNotLater(keys, PG_INT64_MIN, batch_clock(batch));
	int			asked = -1;

	for (; row < keys->nrows && slot != NULL;
		 slot = ZbxhistNextInRunIndex(scan))
	{
		DayGroup	place;
		int64		number;

		CHECK_FOR_INTERRUPTS();
		if (!ZbxhistReadBatch(look->base.rel, slot, &place, &number) ||
			number == NO_BATCH)
			continue;
		if (number != batch)
			break;
		if (place.last_itemid < keys->itemids[row] && row != asked)
		{
			ZbxhistRunsOfBatch(scan, batch, keys->itemids[row],
							   PG_INT64_MAX);
			asked = row;
		}
		else if (LookAtRun(look, slot, snapshot))
			return true;
		else
			row = Max(row, NextNotLater(keys, place.last_itemid,
										batch_clock(batch)));
	}
	return false;
}

/*
 * LookAtMerged looks at those of merges; returns as LookAtRun.  A run that is damaged
 * does not tell its batch: the next one does.
 */
static bool
LookAtMerged(KeyLook *look, Snapshot snapshot)
{
	RunIndexScan *scan = ZbxhistBeginRunIndexScan(look->base.rel,
												  look->table->indexes.merged,
												  snapshot);
	int64		least = make_batch(look->keys->first_clock, 0, 0);
	TupleTableSlot *slot;
	bool		found = false;

	ZbxhistRunsFromBatch(scan, least);
	while (!found && (slot = ZbxhistNextInRunIndex(scan)) != NULL)
	{
		DayGroup	place;
		int64		batch;

		CHECK_FOR_INTERRUPTS();
		if (!ZbxhistReadBatch(look->base.rel, slot, &place, &batch) ||
			batch < least)
			continue;
		found = LookAtBatch(look, scan, slot, batch, snapshot);
		if (batch == PG_INT64_MAX)
			break;
		least = batch + 1;
		ZbxhistRunsFromBatch(scan, least);
	}
	ZbxhistEndRunIndexScan(scan);
	return found;
}

/*
 * LookAtAll looks at those of a table that has no indexes for them; returns as
 * LookAtRun.
 */
static bool
LookAtAll(KeyLook *look, Snapshot snapshot)
{
	TupleTableSlot *slot = table_slot_create(look->base.rel, NULL);
	TableScanDesc scan = table_beginscan_compat(look->base.rel, snapshot);
	bool		found = false;

	while (!found &&
		   table_scan_getnextslot(scan, ForwardScanDirection, slot))
		found = LookAtRun(look, slot, snapshot);
	table_endscan(scan);
	ExecDropSingleTupleTableSlot(slot);
	return found;
}

/*
 * LookAtRuns looks at all runs that may have one of the keys; returns as LookAtRun.
 */
static bool
LookAtRuns(KeyLook *look, Snapshot snapshot)
{
	if (look->table->has_indexes)
		return LookAtStored(look, snapshot) || LookAtMerged(look, snapshot);
	return LookAtAll(look, snapshot);
}

/*
 * MayHaveAnyKey says whether the filter may have one of the keys.
 */
static bool
MayHaveAnyKey(const KeyLook *look)
{
	const RunKeys *keys = look->keys;

	for (int i = 0; i < keys->nrows; i++)
	{
		if (ZbxhistMayHaveKey(look->base.rel, keys->itemids[i],
							  keys->positions[i]))
			return true;
	}
	return false;
}

/*
 * LookOnce looks for all keys by a snapshot.
 */
static bool
LookOnce(KeyLook *look, Snapshot snapshot)
{
	bool		result;

	look->decode_context = AllocSetContextCreate(CurrentMemoryContext,
												 "zbxhist keys of a run",
												 ALLOCSET_DEFAULT_SIZES);
	ZbxhistMakeRoomForKeys();
	look->is_exact = false;
	result = LookAtRuns(look, snapshot);
	look->is_exact = !result && MayHaveAnyKey(look);
	if (look->is_exact)
		result = LookAtRuns(look, snapshot);
	MemoryContextDelete(look->decode_context);
	return result;
}

/* ---- looking ---- */

/*
 * LookDirty looks by a dirty snapshot; notes if somebody may have been writing runs
 * anew.
 */
static KeyState
LookDirty(KeyLook *look, bool *is_fresh)
{
	SnapshotData dirty;
	Oid			relid = RelationGetRelid(look->base.rel);
	bool		has_lock = ZbxhistTryLook(relid);
	bool		is_found;

	InitDirtySnapshot(dirty);
	is_found = LookOnce(look, &dirty);
	if (has_lock)
		ZbxhistEndLook(relid);
	else
		*is_fresh = true;
	if (!is_found)
		return KEY_FREE;
	return TransactionIdIsValid(look->found->waits_for) ? KEY_UNSURE : KEY_TAKEN;
}

/*
 * LookFresh looks by a snapshot of now.
 */
static KeyState
LookFresh(KeyLook *look)
{
	Snapshot	snapshot = RegisterSnapshot(GetLatestSnapshot());
	KeyState	result = KEY_FREE;

	/* what this very command has deleted does not count */
	snapshot->curcid = GetCurrentCommandId(false) + 1;
	if (LookOnce(look, snapshot))
		result = ZbxhistStateOfRow(look->base.rel, look->found);
	UnregisterSnapshot(snapshot);
	return result;
}

/*
 * LookInRuns is the method "look".
 */
static KeyState
LookInRuns(KeyHolder *base, Snapshot snapshot, FoundKey *found)
{
	KeyLook    *look = (KeyLook *) base;
	bool		is_fresh = look->is_unlocked;
	KeyState	result;

	look->found = found;
	if (snapshot != NULL)
		return LookOnce(look, snapshot) ? KEY_TAKEN : KEY_FREE;
	result = LookDirty(look, &is_fresh);
	if (result == KEY_FREE && is_fresh)
		result = LookFresh(look);
	return result;
}

/*
 * ZbxhistFindInRuns returns the number of one of the keys that is in a run
 * besides the caller's own, or -1.  A page that cannot be read must not fail an
 * INSERT, which would not read it in a table with an index: no key is found then.
 */
int
ZbxhistFindInRuns(Relation runs, RunTable *table, const RunKeys *keys,
				  const WrittenRun *own, int nown)
{
	KeyLook		look = {.table = table,.keys = keys,.own = own,.nown = nown};
	FoundKey	found;

	look.base.rel = runs;
	look.base.nrows = 1;		/* all at once */
	look.base.may_be_damaged = true;
	look.base.look = LookInRuns;
	return ZbxhistFindKeys(&look.base, &found) ? look.row : -1;
}

/*
 * ZbxhistLookInRuns looks once for one key in a table of runs, which the caller
 * has locked against nobody; raises an error if it cannot be read.
 */
KeyState
ZbxhistLookInRuns(Relation runs, Relation parent, int64 itemid, int32 clock,
				  int32 ns, Snapshot snapshot, FoundKey *found)
{
	RunTable   *table = ZbxhistGetRunTable(parent, runs);
	int64		position;
	RunKeys		keys = {1, &itemid, &position, clock, clock};
	KeyLook		look = {.table = table,.keys = &keys,.is_unlocked = true};

	if (table->layout == NULL)
		(void) ZbxhistDayLayout(runs);	/* raises why */
	look.base.rel = runs;
	position = make_position(clock, table->layout->ns < 0 ? 0 : ns);
	return LookInRuns(&look.base, snapshot, found);
}
