/*-------------------------------------------------------------------------
 *
 * run_key_filter.c
 *	  A session's filter of the keys of runs that it has seen.
 *
 * A run is known by its place and the transaction that stored it.  Keys are not
 * taken out when it goes: whoever finds that a key may be there looks for it.
 * When the filter is full, of all tables, it is emptied, and fills again with what is
 * looked at.
 *
 * Memory: a context that lives as long as the session.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/hsearch.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "ingest/run_key_filter.h"
#include "packed/runs/run_id.h"

/* words of the filter, and keys that it takes; a run counts as some, whatever its
 * keys */
#define FILTER_WORDS (256 * 1024)
#define FILTER_KEYS FILTER_WORDS
#define RUN_KEYS 8

typedef struct KeyFilter
{
	HTAB	   *runs;			/* RunId of those whose keys it has */
	int			nkeys;
	MemoryContext context;		/* owns all this */
	uint64		words[FILTER_WORDS];
} KeyFilter;

static KeyFilter *key_filter = NULL;

/*
 * ZbxhistMakeRoomForKeys is called before a look: there is a filter then, empty if
 * it was full.
 */
void
ZbxhistMakeRoomForKeys(void)
{
	MemoryContext context;
	KeyFilter  *filter;
	HASHCTL		control = {.keysize = sizeof(RunId),.entrysize = sizeof(RunId)};

	if (key_filter != NULL && key_filter->nkeys < FILTER_KEYS)
		return;
	context = key_filter == NULL ? NULL : key_filter->context;
	key_filter = NULL;
	if (context != NULL)
		MemoryContextDelete(context);
	context = AllocSetContextCreate(CurrentMemoryContext,
									"zbxhist keys of runs",
									ALLOCSET_DEFAULT_SIZES);
	filter = MemoryContextAllocZero(context, sizeof(KeyFilter));
	filter->context = context;
	control.hcxt = context;
	filter->runs = hash_create("zbxhist keys of runs", 256, &control,
							   HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	MemoryContextSetParent(context, TopMemoryContext);
	key_filter = filter;
}

/*
 * ZbxhistKnowsRun says whether the filter has the keys of the run in a slot.
 */
bool
ZbxhistKnowsRun(Relation runs, TupleTableSlot *slot)
{
	RunId		id = slot_run_id(runs, slot);

	return hash_search(key_filter->runs, &id, HASH_FIND, NULL) != NULL;
}

/*
 * ZbxhistNoteRunKeys adds the keys of the run in a slot to the filter; returns
 * false if that is full.
 */
bool
ZbxhistNoteRunKeys(Relation runs, TupleTableSlot *slot, const RunKeys *keys)
{
	RunId		id = slot_run_id(runs, slot);

	if (key_filter->nkeys >= FILTER_KEYS)
		return false;
	key_filter->nkeys += keys->nrows + RUN_KEYS;
	for (int i = 0; i < keys->nrows; i++)
	{
		uint64		hash = hash_key(RelationGetRelid(runs), keys->itemids[i],
									keys->positions[i]);

		key_filter->words[(hash >> 24) % FILTER_WORDS] |= key_bits(hash);
	}
	(void) hash_search(key_filter->runs, &id, HASH_ENTER, NULL);
	return true;
}

/*
 * ZbxhistMayHaveKey says whether a run that is known may have a key.
 */
bool
ZbxhistMayHaveKey(Relation runs, int64 itemid, int64 position)
{
	uint64		hash = hash_key(RelationGetRelid(runs), itemid, position);
	uint64		bits = key_bits(hash);

	return (key_filter->words[(hash >> 24) % FILTER_WORDS] & bits) == bits;
}
