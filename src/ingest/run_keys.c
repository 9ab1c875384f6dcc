/*-------------------------------------------------------------------------
 *
 * run_keys.c
 *	  Looks for keys of rows in a table of runs.
 *
 * Runs have no unique index.  Who has stored a run looks for its keys in the
 * others, in the way of an exclusion constraint: first store, then look, by a
 * dirty snapshot that sees what others have not committed yet, and wait for
 * those (see probe.c).  So does who has stored a row in the parent, because he
 * could not have the table's lock.
 *
 * A scan by a dirty snapshot may miss rows that somebody writes anew meanwhile:
 * the new run where it has been already, the old one when it is gone.  Who
 * changes rows has the table's lock in a mode that conflicts with storing runs,
 * so that only who has stored a row in the parent may meet him; who merges runs
 * has the lock of merge_lock.c.  Who may meet one of them looks once more, by a
 * fresh snapshot, which sees either: what was committed when that was taken is
 * seen by it, what was not stood where it was in the first scan, since only
 * what is committed is written anew.
 *
 * Clocks rise, so few runs overlap with a new one in time, and an index on
 * their ends finds them.  Their keys, decoded, are remembered, and a filter of
 * all that are: three bits for each key.  Most looks end there.
 *
 * Locks: the caller's on the table, from before his row was stored until his
 * transaction ends.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "binary_search.h"
#include "ingest/run_keys.h"
#include "packed/day/day.h"
#include "packed/day/run_index.h"
#include "packed/format/run.h"
#include "rows/attempt.h"
#include "rows/merge_lock.h"

/* keys that are remembered, at most, before all are forgotten */
#define MAX_CACHED_KEYS (256 * 1024)

/* bits of the filter */
#define FILTER_BITS (8 * 1024 * 1024)
#define FILTER_WORDS (FILTER_BITS / 64)

/* what a version of a run is known by; nothing between its members */
typedef struct RunId
{
	BlockNumber block;
	uint32		offset;
	TransactionId xmin;
} RunId;

typedef struct CachedRun
{
	RunId		id;				/* hash key - must be first */
	RunKeys		keys;
} CachedRun;

typedef struct KeyCache
{
	HTAB	   *runs;			/* of CachedRun */
	int64		nkeys;
	MemoryContext context;		/* owns all this */
	uint64		filter[FILTER_WORDS];
} KeyCache;

/* a run that overlaps with the keys */
typedef struct NearRun
{
	const RunKeys *keys;
	ItemPointerData tid;
	TransactionId waits_for;	/* who is storing or deleting it */
} NearRun;

typedef struct KeyLook
{
	Relation	rel;
	RunTable   *table;
	const RunKeys *keys;
	const WrittenRun *own;		/* which the caller has just stored */
	int			nown;
	List	   *near;			/* of NearRun */
	int			row;			/* whose key is found */
	const NearRun *found;		/* where */
} KeyLook;

/* ---- what is remembered ---- */

/*
 * GetCache returns the table's memory, emptied if it has become too large.
 */
static KeyCache *
GetCache(RunTable *table)
{
	MemoryContext context;
	HASHCTL		control = {.keysize = sizeof(RunId),.entrysize = sizeof(CachedRun)};

	if (table->cache != NULL && table->cache->nkeys < MAX_CACHED_KEYS)
		return table->cache;
	if (table->cache != NULL)
		MemoryContextDelete(table->cache->context);
	table->cache = NULL;
	context = AllocSetContextCreate(table->context, "zbxhist keys of runs",
									ALLOCSET_DEFAULT_SIZES);
	table->cache = MemoryContextAllocZero(context, sizeof(KeyCache));
	table->cache->context = context;
	control.hcxt = context;
	table->cache->runs = hash_create("zbxhist keys of runs", 256, &control,
									 HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	return table->cache;
}

/*
 * HashKey returns 64 bits of which each part is as good as any other.
 */
static inline uint64
HashKey(int64 itemid, int64 position)
{
	uint64		hash = (uint64) position ^
		((uint64) itemid * UINT64CONST(0x9E3779B97F4A7C15));

	hash ^= hash >> 33;
	hash *= UINT64CONST(0xFF51AFD7ED558CCD);
	hash ^= hash >> 33;
	hash *= UINT64CONST(0xC4CEB9FE1A85EC53);
	return hash ^ (hash >> 33);
}

/*
 * AddToFilter notes a key.
 */
static inline void
AddToFilter(KeyCache *cache, int64 itemid, int64 position)
{
	uint64		hash = HashKey(itemid, position);

	for (int i = 0; i < 3; i++)
	{
		uint32		bit = (hash >> (i * 20)) % FILTER_BITS;

		cache->filter[bit / 64] |= UINT64CONST(1) << (bit % 64);
	}
}

/*
 * IsInFilter says whether a key may have been noted.
 */
static inline bool
IsInFilter(const KeyCache *cache, int64 itemid, int64 position)
{
	uint64		hash = HashKey(itemid, position);

	for (int i = 0; i < 3; i++)
	{
		uint32		bit = (hash >> (i * 20)) % FILTER_BITS;

		if ((cache->filter[bit / 64] & (UINT64CONST(1) << (bit % 64))) == 0)
			return false;
	}
	return true;
}

/*
 * Remember adds a run's keys, of which it makes a copy.
 */
static const RunKeys *
Remember(KeyCache *cache, const RunId *id, const RunKeys *keys, int first,
		 int count)
{
	Size		size = sizeof(int64) * count;
	int64	   *itemids = MemoryContextAllocHuge(cache->context, size);
	int64	   *positions = MemoryContextAllocHuge(cache->context, size);
	CachedRun  *run;

	memcpy(itemids, keys->itemids + first, size);
	memcpy(positions, keys->positions + first, size);
	for (int i = 0; i < count; i++)
		AddToFilter(cache, itemids[i], positions[i]);
	cache->nkeys += count;
	run = hash_search(cache->runs, id, HASH_ENTER, NULL);
	run->keys.nrows = count;
	run->keys.itemids = itemids;
	run->keys.positions = positions;
	return &run->keys;
}

/*
 * ZbxhistRememberKeys remembers those of a run that this session has stored.
 */
void
ZbxhistRememberKeys(RunTable *table, const RunKeys *keys,
					const WrittenRun *run, TransactionId xmin)
{
	RunId		id = {ItemPointerGetBlockNumber(&run->tid),
	ItemPointerGetOffsetNumber(&run->tid), xmin};

	(void) Remember(GetCache(table), &id, keys, run->first, run->nrows);
}

/* ---- a run ---- */

/* a run's bytes, whose keys are wanted */
typedef struct KeyDecode
{
	const DayLayout *layout;
	Datum		payload;
	RunKeys		keys;
} KeyDecode;

/*
 * DecodeKeys decodes the keys of a run.
 */
static void
DecodeKeys(void *arg)
{
	KeyDecode  *decode = arg;
	const DayLayout *layout = decode->layout;
	RunKeys    *keys = &decode->keys;
	int			ns_column = layout->ns < 0 ? -1 :
		layout->columns[layout->ns].packed;
	struct varlena *data = PG_DETOAST_DATUM_PACKED(decode->payload);
	int64	   *clocks;
	int64	   *ns;

	if (!ZbxhistDecodeRunKeys((const uint8 *) VARDATA_ANY(data),
							  VARSIZE_ANY_EXHDR(data), layout->npacked,
							  ns_column, &keys->itemids, &clocks, &ns,
							  &keys->nrows))
	{
		keys->nrows = -1;
		return;
	}
	keys->positions = clocks;
	for (int i = 0; i < keys->nrows; i++)
		keys->positions[i] = make_position((int32) clocks[i],
										   ns == NULL ? 0 : (int32) ns[i]);
}

/*
 * ReadKeys reads the keys of a run.  One that is damaged must not fail an INSERT:
 * what cannot be read does not have the key.  Fetching what is out of line
 * raises an error then.
 */
static void
ReadKeys(const KeyLook *look, Datum payload, RunKeys *keys)
{
	KeyDecode	decode = {.layout = look->table->layout,.payload = payload};
	ErrorData  *error = NULL;

	if (VARATT_IS_EXTERNAL(DatumGetPointer(payload)) ||
		VARATT_IS_COMPRESSED(DatumGetPointer(payload)))
		error = ZbxhistAttempt(DecodeKeys, &decode);
	else
		DecodeKeys(&decode);
	if (error != NULL &&
		ERRCODE_TO_CATEGORY(error->sqlerrcode) == ERRCODE_INSUFFICIENT_RESOURCES)
		ReThrowError(error);
	if (error != NULL || decode.keys.nrows < 0)
	{
		ereport(LOG,
				errcode(ERRCODE_DATA_CORRUPTED),
				errmsg("could not look for keys in \"%s\": a run is corrupt",
					   RelationGetRelationName(look->rel)),
				error == NULL ? 0 : errdetail_internal("%s", error->message));
		decode.keys.nrows = 0;
	}
	*keys = decode.keys;
}

/*
 * GetKeys returns the keys of the run in a slot, or NULL.  Those of a damaged one
 * are remembered, too: there are none.
 */
static const RunKeys *
GetKeys(const KeyLook *look, TupleTableSlot *slot)
{
	KeyCache   *cache = look->table->cache;
	HeapTuple	tuple = ExecFetchSlotHeapTuple(slot, false, NULL);
	RunId		id = {ItemPointerGetBlockNumber(&slot->tts_tid),
		ItemPointerGetOffsetNumber(&slot->tts_tid),
	HeapTupleHeaderGetRawXmin(tuple->t_data)};
	CachedRun  *run = hash_search(cache->runs, &id, HASH_FIND, NULL);
	RunKeys		keys;
	bool		isnull;
	Datum		payload;

	if (run != NULL)
		return &run->keys;
	payload = slot_getattr(slot, DAY_ATTNUM_PAYLOAD, &isnull);
	if (isnull)
		return NULL;
	ReadKeys(look, payload, &keys);
	return Remember(cache, &id, &keys, 0, keys.nrows);
}

/*
 * HasItem says whether one of the keys is of an item between these.
 */
static bool
HasItem(const RunKeys *keys, int64 first, int64 last)
{
	int			i;

	find_first(i, keys->nrows, keys->itemids[i] >= first);
	return i < keys->nrows && keys->itemids[i] <= last;
}

/*
 * IsNear says whether the run in a slot may have one of the keys.
 */
static bool
IsNear(const KeyLook *look, TupleTableSlot *slot)
{
	const RunKeys *keys = look->keys;
	bool		isnull;

	for (int i = 0; i < look->nown; i++)
	{
		if (ItemPointerEquals(unconstify(ItemPointerData *, &look->own[i].tid),
							  &slot->tts_tid))
			return false;
	}
	return DatumGetInt32(slot_getattr(slot, DAY_ATTNUM_FIRST_CLOCK,
									  &isnull)) <= keys->last_clock &&
		DatumGetInt32(slot_getattr(slot, DAY_ATTNUM_LAST_CLOCK,
								   &isnull)) >= keys->first_clock &&
		HasItem(keys,
				DatumGetInt64(slot_getattr(slot, DAY_ATTNUM_FIRST_ITEMID,
										   &isnull)),
				DatumGetInt64(slot_getattr(slot, DAY_ATTNUM_LAST_ITEMID,
										   &isnull)));
}

/* ---- all runs ---- */

/*
 * NoteRun notes a run that the snapshot sees, if it may have one of the keys.
 */
static void
NoteRun(KeyLook *look, TupleTableSlot *slot, Snapshot snapshot)
{
	const RunKeys *keys;
	NearRun    *run;

	CHECK_FOR_INTERRUPTS();
	if (!IsNear(look, slot))
		return;
	keys = GetKeys(look, slot);
	if (keys == NULL)
		return;
	run = palloc0(sizeof(NearRun));
	run->keys = keys;
	run->tid = slot->tts_tid;
	if (snapshot->snapshot_type == SNAPSHOT_DIRTY)
		run->waits_for = TransactionIdIsValid(snapshot->xmin) ?
			snapshot->xmin : snapshot->xmax;
	look->near = lappend(look->near, run);
}

/*
 * NoteRunsOf notes the runs that may have one of the keys, of those in an index.
 */
static void
NoteRunsOf(KeyLook *look, Snapshot snapshot, Oid index)
{
	RunIndexScan *scan = ZbxhistBeginRunIndexScan(look->rel, index, snapshot);
	TupleTableSlot *slot;

	ZbxhistRunsSince(scan, look->keys->first_clock);
	while ((slot = ZbxhistNextInRunIndex(scan)) != NULL)
		NoteRun(look, slot, snapshot);
	ZbxhistEndRunIndexScan(scan);
}

/*
 * NoteRuns notes all runs that may have one of the keys.
 */
static void
NoteRuns(KeyLook *look, Snapshot snapshot)
{
	look->near = NIL;
	if (look->table->has_indexes)
	{
		NoteRunsOf(look, snapshot, look->table->indexes.stored);
		NoteRunsOf(look, snapshot, look->table->indexes.merged);
	}
	else
	{
		TupleTableSlot *slot = table_slot_create(look->rel, NULL);
		TableScanDesc scan = table_beginscan(look->rel, snapshot, 0, NULL);

		while (table_scan_getnextslot(scan, ForwardScanDirection, slot))
			NoteRun(look, slot, snapshot);
		table_endscan(scan);
		ExecDropSingleTupleTableSlot(slot);
	}
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
 * FindRow looks for a key in the runs that are near, and says whether it is in
 * one.
 */
static bool
FindRow(KeyLook *look, int row)
{
	int64		itemid = look->keys->itemids[row];
	int64		position = look->keys->positions[row];
	ListCell   *lc;

	foreach(lc, look->near)
	{
		const NearRun *run = lfirst(lc);

		if (HasKey(run->keys, itemid, position))
		{
			look->row = row;
			look->found = run;
			return true;
		}
	}
	return false;
}

/*
 * LookOnce looks for all keys by a snapshot.
 */
static bool
LookOnce(KeyLook *look, Snapshot snapshot)
{
	const KeyCache *cache = GetCache(look->table);

	look->found = NULL;
	NoteRuns(look, snapshot);
	for (int i = 0; i < look->keys->nrows && look->near != NIL; i++)
	{
		if (IsInFilter(cache, look->keys->itemids[i],
					   look->keys->positions[i]) && FindRow(look, i))
			return true;
	}
	return false;
}

/* ---- waiting ---- */

/*
 * IsStill says whether the run that has been found is there for good; sets
 * waits_for to who may be about to delete it.
 */
static bool
IsStill(const KeyLook *look, TransactionId *waits_for)
{
	TupleTableSlot *slot = table_slot_create(look->rel, NULL);
	ItemPointerData tid = look->found->tid;
	SnapshotData dirty;
	bool		found;

	InitDirtySnapshot(dirty);
	found = table_tuple_fetch_row_version(look->rel, &tid, &dirty, slot);
	ExecDropSingleTupleTableSlot(slot);
	*waits_for = found ? dirty.xmax : InvalidTransactionId;
	return found && !TransactionIdIsValid(dirty.xmax);
}

/*
 * LookDirty looks by a dirty snapshot; returns whether a key is there for good,
 * and else who may be about to store or delete one.  is_fresh is set if somebody
 * may have been writing runs anew.
 */
static bool
LookDirty(KeyLook *look, TransactionId *waits_for, bool *is_fresh)
{
	SnapshotData dirty;
	Oid			relid = RelationGetRelid(look->rel);
	bool		has_lock = ZbxhistTryLook(relid);
	bool		found;

	InitDirtySnapshot(dirty);
	*waits_for = InvalidTransactionId;
	found = LookOnce(look, &dirty);
	if (has_lock)
		ZbxhistEndLook(relid);
	else
		*is_fresh = true;
	if (!found)
		return false;
	*waits_for = look->found->waits_for;
	return !TransactionIdIsValid(*waits_for);
}

/*
 * LookFresh looks by a snapshot of now; returns whether a key is there for good,
 * and else, if it is not for good, that it has to be looked for again.
 */
static bool
LookFresh(KeyLook *look, TransactionId *waits_for, bool *again)
{
	Snapshot	snapshot = RegisterSnapshot(GetLatestSnapshot());
	bool		found;

	/* what this very command has deleted does not count */
	snapshot->curcid = GetCurrentCommandId(false) + 1;
	found = LookOnce(look, snapshot);
	*again = found && !IsStill(look, waits_for);
	UnregisterSnapshot(snapshot);
	return found && !*again;
}

/*
 * FindKeys returns the row whose key is in another run, or -1; waits for
 * transactions that are about to store or delete it.  With is_fresh somebody
 * may be changing rows.  Allocates in the current context.
 */
static int
FindKeys(KeyLook *look, bool is_fresh)
{
	for (;;)
	{
		TransactionId waits_for;
		bool		is_moving = is_fresh;
		bool		again = false;

		CHECK_FOR_INTERRUPTS();
		if (LookDirty(look, &waits_for, &is_moving))
			return look->row;
		if (!TransactionIdIsValid(waits_for) && is_moving &&
			LookFresh(look, &waits_for, &again))
			return look->row;
		if (TransactionIdIsValid(waits_for))
			XactLockTableWait(waits_for, look->rel,
							  unconstify(ItemPointerData *, &look->found->tid),
							  XLTW_RecheckExclusionConstr);
		else if (!again)
			return -1;
	}
}

/*
 * ZbxhistFindInRuns returns the number of one of the keys that is in a run
 * besides the caller's own, or -1.  Allocates in the current context.
 */
int
ZbxhistFindInRuns(Relation runs, RunTable *table, const RunKeys *keys,
				  const WrittenRun *own, int nown)
{
	KeyLook		look = {.rel = runs,.table = table,.keys = keys,
	.own = own,.nown = nown};

	return FindKeys(&look, false);
}

/*
 * HasKeyNow looks for one key in a table of runs.  Allocates in the current context.
 */
static bool
HasKeyNow(Relation parent, Relation runs, int64 itemid, int32 clock, int32 ns)
{
	RunTable   *table = ZbxhistGetRunTable(parent, runs);
	int64		position;
	RunKeys		keys = {1, &itemid, &position, clock, clock};
	KeyLook		look = {.rel = runs,.table = table,.keys = &keys};

	if (table->layout == NULL)
		(void) ZbxhistDayLayout(runs);	/* raises why */
	position = make_position(clock, table->layout->ns < 0 ? 0 : ns);
	return FindKeys(&look, true) >= 0;
}

/*
 * ZbxhistRunsHaveKey says whether a table of runs, which the caller has locked
 * against nobody, has a row of that key; raises an error if it cannot be read.
 */
bool
ZbxhistRunsHaveKey(Relation parent, Relation runs, int64 itemid, int32 clock,
				   int32 ns)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "zbxhist key of runs",
												  ALLOCSET_SMALL_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	bool		found;

	ZbxhistFlushDayChanges(RelationGetRelid(runs));
	found = HasKeyNow(parent, runs, itemid, clock, ns);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
	return found;
}
