/*-------------------------------------------------------------------------
 *
 * run_merger.c
 *	  Starts the worker that merges runs.
 *
 * Once in as many runs as are worth a merge a session starts a dynamic background
 * worker (maintenance/merger.c).  It is left to chance which one does, so that of
 * many sessions that store little each, somebody does it in time.  That one merges
 * all tables of their owner (rows/merge_lock.c).  Whatever prevents it does not
 * fail the INSERT.
 *
 * An INSERT does not merge itself, not even if no worker can be had.  Until its
 * transaction ends, which may be idle or be prepared, the runs would be both
 * there and gone: a session that stores a key that they have would have to wait
 * for it, where a plain table refuses it at once, and could be in a deadlock
 * with it; so would UPDATE, DELETE and packing wait, for an INSERT of other
 * rows; and what is rolled back has been merged in vain.  Then maintenance
 * merges, and until it does, the hour is slower to read.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_authid.h"
#include "common/pg_prng.h"
#include "miscadmin.h"
#include "postmaster/bgworker.h"
#include "utils/rel.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

#include "compat.h"
#include "ingest/run_merger.h"
#include "rows/merge_lock.h"

/* one in so many runs starts a worker, but a session not more often than that */
#define RUNS_PER_WORKER 64
#define WORKER_MILLISECONDS 1000

/*
 * MayConnect says whether a worker can be that role.
 */
static bool
MayConnect(Oid role)
{
	HeapTuple	tuple;
	bool		result = false;

	if (!may_connect(role))
		return false;
	if ((WORKER_CONNECTION_FLAGS) != 0)
		return true;
	tuple = SearchSysCache1(AUTHOID, ObjectIdGetDatum(role));
	if (HeapTupleIsValid(tuple))
	{
		result = ((Form_pg_authid) GETSTRUCT(tuple))->rolcanlogin;
		ReleaseSysCache(tuple);
	}
	return result;
}

/*
 * StartMerger starts a worker, which acts as the owner of the table, if the
 * server has one left.
 */
static void
StartMerger(Relation runs)
{
	BackgroundWorker worker;
	Oid			ids[2] = {runs->rd_rel->relowner, RelationGetRelid(runs)};

	memset(&worker, 0, sizeof(worker));
	worker.bgw_flags = BGWORKER_SHMEM_ACCESS |
		BGWORKER_BACKEND_DATABASE_CONNECTION;
	worker.bgw_start_time = BgWorkerStart_RecoveryFinished;
	worker.bgw_restart_time = BGW_NEVER_RESTART;
	worker.bgw_main_arg = ObjectIdGetDatum(MyDatabaseId);
	memcpy(worker.bgw_extra, ids, sizeof(ids));
	snprintf(worker.bgw_library_name, BGW_MAXLEN, "zbxhist");
	snprintf(worker.bgw_function_name, BGW_MAXLEN, "zbxhist_merger_main");
	snprintf(worker.bgw_name, BGW_MAXLEN, "zbxhist merge of %u", ids[1]);
	snprintf(worker.bgw_type, BGW_MAXLEN, "zbxhist merge");
	(void) RegisterDynamicBackgroundWorker(&worker, NULL);
}

/*
 * ZbxhistNoteRuns counts runs that have been stored, and starts a worker if it is
 * time for one and none is at work for its owner.
 */
void
ZbxhistNoteRuns(Relation runs, int nruns)
{
	static TimestampTz last_start = 0;
	TimestampTz now;

	if (nruns < RUNS_PER_WORKER &&
		pg_prng_uint64_range(&pg_global_prng_state, 1,
							 RUNS_PER_WORKER) > (uint64) nruns)
		return;
	now = GetCurrentTimestamp();
	if (!IsUnderPostmaster ||
		!TimestampDifferenceExceeds(last_start, now, WORKER_MILLISECONDS) ||
		!MayConnect(runs->rd_rel->relowner) ||
		!ZbxhistWantsMerger(runs->rd_rel->relowner))
		return;
	last_start = now;
	StartMerger(runs);
}
