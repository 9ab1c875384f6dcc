/*-------------------------------------------------------------------------
 *
 * damaged_runs.c
 *	  Runs that cannot be read, which merges leave where they are.
 *
 * One of them must not keep all others from being merged.  A session that has
 * met one remembers it, and says so in the log; verify() and salvage() find it.
 *
 * Locks: the caller's on the table of runs.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/tableam.h"
#include "miscadmin.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "packed/jobs/damaged_runs.h"
#include "packed/runs/run_group.h"
#include "packed/runs/run_id.h"
#include "rows/attempt.h"

/* a run that is looked at */
typedef struct RunCheck
{
	Relation	rel;
	const DayLayout *layout;
	DayGroup	place;
	TupleTableSlot *slot;
} RunCheck;

static HTAB *damaged_runs = NULL;	/* of RunId */

/*
 * ZbxhistIsDamagedRun says whether this session has met the run in a slot and
 * could not read it.
 */
bool
ZbxhistIsDamagedRun(Relation rel, TupleTableSlot *slot)
{
	RunId		id;

	if (damaged_runs == NULL)
		return false;
	id = slot_run_id(rel, slot);
	return hash_search(damaged_runs, &id, HASH_FIND, NULL) != NULL;
}

/*
 * CheckRun raises an error if the run, which slot has, cannot be read.
 */
static void
CheckRun(void *arg)
{
	RunCheck   *check = arg;
	RunRows		rows;

	if (ZbxhistReadPlace(check->slot, &check->place))
		ZbxhistDecodeDayRun(check->rel, check->layout, check->slot,
							&check->place, &rows);
}

/*
 * Note remembers a run, which slot has, and says why in the log.
 */
static void
Note(const RunCheck *check, const ErrorData *error)
{
	RunId		id = slot_run_id(check->rel, check->slot);
	HASHCTL		control = {.keysize = sizeof(RunId),.entrysize = sizeof(RunId)};

	if (damaged_runs == NULL)
		damaged_runs = hash_create("zbxhist damaged runs", 64, &control,
								   HASH_ELEM | HASH_BLOBS);
	(void) hash_search(damaged_runs, &id, HASH_ENTER, NULL);
	ereport(LOG,
			errcode(error->sqlerrcode),
			errmsg("a run of \"%s\" is not merged with others: %s",
				   RelationGetRelationName(check->rel), error->message));
}

/*
 * IsNewDamage looks at a run and says whether it cannot be read.  The slot must
 * not get its page in the attempt, which gives that back.
 */
static bool
IsNewDamage(RunCheck *check, const DayGroup *place, Snapshot snapshot)
{
	ErrorData  *error;

	check->place = *place;
	if (!table_tuple_fetch_row_version(check->rel, &check->place.tid, snapshot,
									   check->slot))
		return false;
	error = ZbxhistAttempt(CheckRun, check);
	if (error == NULL)
		return false;
	Note(check, error);
	return true;
}

/*
 * ZbxhistNoteDamagedRuns looks for runs that cannot be read, and returns how many
 * there are.
 */
int
ZbxhistNoteDamagedRuns(Relation rel, const DayLayout *layout,
					   Snapshot snapshot, const DayGroup *places, int nplaces)
{
	RunCheck	check = {.rel = rel,.layout = layout};
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "zbxhist damaged runs",
												  ALLOCSET_DEFAULT_SIZES);
	int			result = 0;

	check.slot = table_slot_create(rel, NULL);
	for (int i = 0; i < nplaces; i++)
	{
		MemoryContext old = MemoryContextSwitchTo(context);

		CHECK_FOR_INTERRUPTS();
		result += IsNewDamage(&check, &places[i], snapshot);
		ExecClearTuple(check.slot);
		MemoryContextSwitchTo(old);
		MemoryContextReset(context);
	}
	ExecDropSingleTupleTableSlot(check.slot);
	MemoryContextDelete(context);
	return result;
}
