/*-------------------------------------------------------------------------
 *
 * stored_keys.c
 *	  Keys that have been stored in runs lately, of all sessions.
 *
 * Nearly all keys are new, and a look into all runs that overlap in time is a
 * high price for knowing it.  So a session that has stored runs adds their keys
 * to a filter in shared memory, and looks only for those that may have been
 * there before.  Of two sessions that store the same key both store it first;
 * the one that adds it later meets it, and looks for the other one's run.
 *
 * A key's bits are in one word, so that one atomic operation both adds it and says
 * whether it was there.  There are two filters: keys are added to one of them until
 * that is full; then the other one is emptied, and is the one from then on.  Of each
 * table of runs is known from which clock on a filter has all keys that have been
 * stored: those that are later than all that were added before it began.  Rows that are
 * earlier are looked for.
 *
 * Of a table that is not known yet the runs tell the latest clock.  The session
 * that finds that out adds its own, which do not count; a session that stores
 * others later than that adds them when the table is known.  So no session may
 * make a table known by what it has read before another one was, see nknown.
 *
 * A filter is of use only if all sessions that store runs add to it.  So there
 * is one only if shared_preload_libraries has loaded the library, the same one
 * for all sessions; without it all keys are looked for.  Merges, UPDATE and
 * DELETE store no new keys.
 *
 * Locks: a lightweight one, shared to add keys, exclusive to empty a filter or
 * to make a table known.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "port/atomics.h"
#include "storage/ipc.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "ingest/stored_keys.h"
#include "packed/day/day.h"
#include "packed/runs/run_index.h"
#include "rows/attempt.h"

/* words of 64 bits of a filter, and keys that it takes */
#define FILTER_WORDS (512 * 1024)
#define FILTER_KEYS (2 * FILTER_WORDS)

/* tables of runs that are known: the oldest of a set makes room for another one */
#define NUM_SETS 64
#define SET_TABLES 4

/* before all clocks */
#define NO_CLOCK ((int64) PG_INT32_MIN - 1)

/* a table of runs */
typedef struct KnownRuns
{
	uint64		id;				/* database and table; 0: none */
	int64		from_clock[2];	/* from which on a filter has all keys */
	pg_atomic_uint64 last_clock;	/* of all keys, from NO_CLOCK on */
} KnownRuns;

typedef struct StoredKeys
{
	int			current;		/* filter that keys are added to */
	pg_atomic_uint32 nadded;	/* keys to that, about */
	uint64		nknown;			/* times that a table has been made known */
	KnownRuns	tables[NUM_SETS][SET_TABLES];
	pg_atomic_uint64 filters[2][FILTER_WORDS];
} StoredKeys;

static StoredKeys *stored = NULL;
static LWLock *stored_lock = NULL;

static shmem_request_hook_type prev_shmem_request = NULL;
static shmem_startup_hook_type prev_shmem_startup = NULL;

/* ---- memory ---- */

/*
 * RequestMemory asks for the memory when the server adds up what it needs.
 */
static void
RequestMemory(void)
{
	if (prev_shmem_request)
		(*prev_shmem_request) ();
	RequestAddinShmemSpace(sizeof(StoredKeys));
	RequestNamedLWLockTranche("zbxhist keys", 1);
}

/*
 * InitMemory sets up new memory: filters without keys, and no tables.
 */
static void
InitMemory(void)
{
	memset(stored, 0, offsetof(StoredKeys, filters));
	pg_atomic_init_u32(&stored->nadded, 0);
	for (int i = 0; i < NUM_SETS * SET_TABLES; i++)
		pg_atomic_init_u64(&stored->tables[i / SET_TABLES][i % SET_TABLES].last_clock,
						   0);
	for (int i = 0; i < FILTER_WORDS; i++)
	{
		pg_atomic_init_u64(&stored->filters[0][i], 0);
		pg_atomic_init_u64(&stored->filters[1][i], 0);
	}
}

/*
 * StartMemory finds the memory when the server starts.
 */
static void
StartMemory(void)
{
	bool		found;

	if (prev_shmem_startup)
		(*prev_shmem_startup) ();
	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	stored = ShmemInitStruct("zbxhist keys", sizeof(StoredKeys), &found);
	if (!found)
		InitMemory();
	stored_lock = &GetNamedLWLockTranche("zbxhist keys")->lock;
	LWLockRelease(AddinShmemInitLock);
}

/*
 * ZbxhistStoredKeysInit asks for the memory, if all sessions have the library.
 */
void
ZbxhistStoredKeysInit(void)
{
	if (!process_shared_preload_libraries_in_progress)
		return;
	prev_shmem_request = shmem_request_hook;
	shmem_request_hook = RequestMemory;
	prev_shmem_startup = shmem_startup_hook;
	shmem_startup_hook = StartMemory;
}

/* ---- tables ---- */

/*
 * TableId tells tables of all databases apart.
 */
static inline uint64
TableId(Relation runs)
{
	return ((uint64) MyDatabaseId << 32) | RelationGetRelid(runs);
}

/*
 * FindKnownTable returns what is known of a table, or NULL.  The caller has
 * the lock.
 */
static KnownRuns *
FindKnownTable(uint64 id)
{
	KnownRuns  *set = stored->tables[id % NUM_SETS];

	for (int i = 0; i < SET_TABLES; i++)
	{
		if (set[i].id == id)
			return &set[i];
	}
	return NULL;
}

/*
 * AddKnown makes a table known, whose runs have no keys after a clock but those that
 * are still to be added.  The caller has the lock exclusively.
 */
static KnownRuns *
AddKnown(uint64 id, int64 last_clock)
{
	KnownRuns  *set = stored->tables[id % NUM_SETS];
	KnownRuns  *oldest = &set[0];

	for (int i = 1; i < SET_TABLES; i++)
	{
		if (pg_atomic_read_u64(&set[i].last_clock) <
			pg_atomic_read_u64(&oldest->last_clock))
			oldest = &set[i];
	}
	oldest->id = id;
	oldest->from_clock[0] = oldest->from_clock[1] = last_clock + 1;
	pg_atomic_write_u64(&oldest->last_clock, last_clock - NO_CLOCK);
	stored->nknown++;
	return oldest;
}

/* the latest clock of a table's runs, to be read */
typedef struct LastClock
{
	Relation	runs;
	const RunTable *table;
	const WrittenRun *own;		/* which do not count */
	int			nown;
	int64		clock;
} LastClock;

/*
 * ReadLastClock reads the latest clock that runs have, of whatever transactions.
 */
static void
ReadLastClock(void *arg)
{
	LastClock  *last = arg;
	const RunIndexes *indexes = &last->table->indexes;
	RunIndexScan *scan = ZbxhistBeginRunIndexScan(last->runs, indexes->stored,
												  SnapshotAny);
	int64		batch = PG_INT64_MAX;
	int64		unused;
	TupleTableSlot *slot;
	DayGroup	place;

	last->clock = NO_CLOCK;
	ZbxhistNewestStored(scan);
	do
		slot = ZbxhistNextInRunIndex(scan);
	while (slot != NULL &&
		   is_written(last->own, last->nown, &slot->tts_tid));
	if (slot != NULL)
		last->clock = ZbxhistReadPlace(slot, &place) ? place.last_clock :
			PG_INT32_MAX;
	ZbxhistEndRunIndexScan(scan);

	scan = ZbxhistBeginRunIndexScan(last->runs, indexes->merged, SnapshotAny);
	if (ZbxhistNextBatch(scan, NO_BATCH, &batch, &unused))
		last->clock = Max(last->clock, batch_clock(batch));
	ZbxhistEndRunIndexScan(scan);
}

/*
 * LockKnown takes the lock, and returns what is known of a table; makes it
 * known if it is not, or returns NULL.  The caller has stored its own runs, and
 * adds their keys now.
 */
static KnownRuns *
LockKnown(Relation runs, const RunTable *table, const WrittenRun *own,
		  int nown)
{
	uint64		id = TableId(runs);
	LastClock	last = {.runs = runs,.table = table,.own = own,.nown = nown};
	uint64		nknown;
	KnownRuns  *known;

	LWLockAcquire(stored_lock, LW_SHARED);
	known = FindKnownTable(id);
	if (known != NULL)
		return known;
	nknown = stored->nknown;
	LWLockRelease(stored_lock);

	/* a page that cannot be read must not fail an INSERT */
	if (ZbxhistAttempt(ReadLastClock, &last) != NULL)
		last.clock = PG_INT32_MAX;
	LWLockAcquire(stored_lock, LW_EXCLUSIVE);
	known = FindKnownTable(id);
	if (known == NULL && stored->nknown == nknown)
		known = AddKnown(id, last.clock);
	return known;
}

/* ---- keys ---- */

/*
 * AddStoredKey adds a key, and says whether it has not been stored before, for
 * sure.
 */
static bool
AddStoredKey(const KnownRuns *known, int64 itemid, int64 position)
{
	uint64		hash = hash_key(known->id, itemid, position);
	uint64		bits = key_bits(hash);
	uint32		word = (hash >> 24) % FILTER_WORDS;
	int			current = stored->current;
	int64		clock = position_clock(position);

	if ((pg_atomic_fetch_or_u64(&stored->filters[current][word],
								bits) & bits) == bits)
		return false;
	if (clock >= known->from_clock[current])
		return true;
	return clock >= known->from_clock[1 - current] &&
		(pg_atomic_read_u64(&stored->filters[1 - current][word]) & bits) != bits;
}

/*
 * NoteLastClock notes that keys have been added up to a clock.
 */
static void
NoteLastClock(KnownRuns *known, int64 clock)
{
	uint64		new = clock - NO_CLOCK;
	uint64		old = pg_atomic_read_u64(&known->last_clock);

	while (old < new &&
		   !pg_atomic_compare_exchange_u64(&known->last_clock, &old, new))
		;
}

/*
 * ChangeFilters empties the older filter, to which keys are added from now on, if
 * the other one is still full.
 */
static void
ChangeFilters(void)
{
	int			next;

	LWLockAcquire(stored_lock, LW_EXCLUSIVE);
	if (pg_atomic_read_u32(&stored->nadded) >= FILTER_KEYS)
	{
		next = 1 - stored->current;
		for (int i = 0; i < FILTER_WORDS; i++)
			pg_atomic_write_u64(&stored->filters[next][i], 0);
		for (int i = 0; i < NUM_SETS * SET_TABLES; i++)
		{
			KnownRuns  *known = &stored->tables[i / SET_TABLES][i % SET_TABLES];

			known->from_clock[next] = NO_CLOCK + 1 +
				(int64) pg_atomic_read_u64(&known->last_clock);
		}
		pg_atomic_write_u32(&stored->nadded, 0);
		stored->current = next;
	}
	LWLockRelease(stored_lock);
}

/*
 * ZbxhistNoteStoredKeys notes the keys of the runs that the caller has just stored.  Sets rows
 * to the numbers of those that others may have stored, which have to be looked for,
 * and returns how many these are.
 */
int
ZbxhistNoteStoredKeys(Relation runs, const RunTable *table,
					  const WrittenRun *own, int nown, const RunKeys *keys,
					  int *rows)
{
	KnownRuns  *known = stored == NULL ? NULL :
		LockKnown(runs, table, own, nown);
	bool		is_full = false;
	int			nrows = 0;

	for (int i = 0; i < keys->nrows; i++)
	{
		if (known == NULL ||
			!AddStoredKey(known, keys->itemids[i], keys->positions[i]))
			rows[nrows++] = i;
	}
	if (known != NULL)
	{
		NoteLastClock(known, keys->last_clock);
		is_full = pg_atomic_add_fetch_u32(&stored->nadded,
										  keys->nrows) >= FILTER_KEYS;
	}
	if (stored != NULL)
		LWLockRelease(stored_lock);
	if (is_full)
		ChangeFilters();
	return nrows;
}
