/*-------------------------------------------------------------------------
 *
 * key_look.c
 *	  Looks for the keys of a parent's rows in a table or a packed day.
 *
 * A unique index covers one table, but a key can be in the parent, in a partition or a
 * packed day.  So a session that stores a row in one of these looks for its key in the
 * others, as PostgreSQL does for an exclusion constraint.  It stores the row first.  Then
 * it looks for rows that others have stored or deleted, committed or not, and waits for
 * transactions that are still open.  Of two sessions that store the same key in different
 * places at least one sees the other (see check_exclusion_or_unique_constraint() in
 * executor/execIndexing.c).
 *
 * The places are tables with indexes (table_keys.c) and packed days (day_keys.c).
 * lookup.c decides which of them are searched.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/table.h"
#include "access/tableam.h"
#include "catalog/index.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "ingest/key_look.h"
#include "tables/attempt.h"

/* ---- looking, and waiting ---- */

/* a look, which may fail */
typedef struct KeyAttempt
{
	KeyHolder  *place;
	FoundKey   *found;
	bool		is_taken;
} KeyAttempt;

/*
 * LookAndWait finds out whether a row with the key exists and will stay.  It waits for
 * the transaction that is about to store or delete the row, or only for its speculative
 * insertion.
 */
static void
LookAndWait(void *arg)
{
	KeyAttempt *attempt = arg;
	KeyHolder  *place = attempt->place;
	FoundKey   *found = attempt->found;
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "zbxhist look for keys",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	KeyState	state;

	for (;;)
	{
		CHECK_FOR_INTERRUPTS();
		state = place->look(place, found);
		MemoryContextReset(context);
		if (state != KEY_UNSURE)
			break;
		if (!TransactionIdIsValid(found->waits_for))
			continue;
		if (found->token != 0)
			SpeculativeInsertionWait(found->waits_for, found->token);
		else
			XactLockTableWait(found->waits_for, place->rel, &found->tid,
							  XLTW_InsertIndexUnique);
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
	attempt->is_taken = state == KEY_TAKEN;
}

/*
 * ZbxhistFindKeys says whether the key of one of the rows is in a place; waits for
 * transactions that are about to store or delete it.  If an error must not fail the
 * INSERT, the key counts as not found, and the error is logged, once for each table.
 */
bool
ZbxhistFindKeys(KeyHolder *place, FoundKey *found)
{
	static Oid	logged = InvalidOid;
	KeyAttempt	attempt = {.place = place,.found = found};
	ErrorData  *error;

	found->row = 0;
	if (!place->may_be_damaged)
		LookAndWait(&attempt);
	while (place->may_be_damaged && found->row < place->nrows &&
		   (error = ZbxhistAttempt(LookAndWait, &attempt)) != NULL)
	{
		if (RelationGetRelid(place->rel) != logged)
			ereport(LOG,
					errcode(error->sqlerrcode),
					errmsg("could not look up keys in \"%s\": %s",
						   RelationGetRelationName(place->rel), error->message),
					errdetail("New rows of that time are stored nevertheless."));
		logged = RelationGetRelid(place->rel);
		found->row++;
	}
	return attempt.is_taken;
}

/*
 * ZbxhistStateOfRow says whether the row at found->tid, which a fresh snapshot has seen,
 * will stay; notes the transaction that may be about to delete it.
 */
KeyState
ZbxhistStateOfRow(Relation rel, FoundKey *found)
{
	TupleTableSlot *slot = table_slot_create(rel, NULL);
	SnapshotData dirty;
	bool		is_there;

	InitDirtySnapshot(dirty);
	is_there = table_tuple_fetch_row_version(rel, &found->tid, &dirty, slot);
	ExecDropSingleTupleTableSlot(slot);
	found->token = 0;
	found->waits_for = is_there ? dirty.xmax : InvalidTransactionId;
	return is_there && !TransactionIdIsValid(dirty.xmax) ? KEY_TAKEN :
		KEY_UNSURE;
}

/* ---- the error ---- */

/*
 * ZbxhistRaiseKeyTaken raises the unique violation that an index would for the
 * key of the parent's row in slot.
 */
void
ZbxhistRaiseKeyTaken(const FoundKey *found, TupleTableSlot *slot)
{
	Relation	key = index_open(found->key, AccessShareLock);
	Relation	index = index_open(found->index, AccessShareLock);
	Relation	rel = table_open(index->rd_index->indrelid, AccessShareLock);
	EState	   *estate = CreateExecutorState();
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];
	char	   *description;

	GetPerTupleExprContext(estate)->ecxt_scantuple = slot;
	FormIndexDatum(BuildIndexInfo(key), slot, estate, values, isnull);
	description = BuildIndexValueDescription(index, values, isnull);
	ereport(ERROR,
			errcode(ERRCODE_UNIQUE_VIOLATION),
			errmsg("duplicate key value violates unique constraint \"%s\"",
				   RelationGetRelationName(index)),
			description ? errdetail("Key %s already exists.", description) : 0,
			errtableconstraint(rel, RelationGetRelationName(index)));
}
