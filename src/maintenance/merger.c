/*-------------------------------------------------------------------------
 *
 * merger.c
 *	  The background worker that merges the runs of a table.
 *
 * Sessions that store runs start it, see ingest/run_merger.c; no library needs to
 * be preloaded for that.  A table has one at a time.  It merges as soon as there
 * are enough runs, each time in a transaction of its own, and ends when there
 * have not been for a while.  Now and then it does a VACUUM of the table, so that
 * the next runs take the place of those that are gone, whenever autovacuum comes.
 *
 * It acts as the owner of the table.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "tcop/tcopprot.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"

#include "compat.h"
#include "maintenance/worker.h"
#include "packed/jobs/merge_runs.h"
#include "rows/merge_lock.h"

/* milliseconds between two looks at the runs, and without enough of them */
#define LOOK_MILLISECONDS 50
#define IDLE_MILLISECONDS 1000

/* a look takes that part of the time, at most */
#define LOOK_SHARE 10

/* merges after which a VACUUM pays */
#define MERGES_PER_VACUUM 8

extern PGDLLEXPORT void zbxhist_merger_main(Datum arg);

/*
 * TryMerger makes this worker the one that merges a table's runs.
 */
static bool
TryMerger(Oid relid)
{
	bool		result;

	StartTransactionCommand();
	result = ZbxhistTryMerger(relid);
	CommitTransactionCommand();
	return result;
}

/*
 * FormatVacuum returns the VACUUM of a table, or NULL if it is gone.  Allocates
 * in TopMemoryContext.
 */
static char *
FormatVacuum(Oid relid)
{
	char	   *result = NULL;
	char	   *name;
	MemoryContext old;

	StartTransactionCommand();
	name = get_rel_name(relid);
	old = MemoryContextSwitchTo(TopMemoryContext);
	if (name != NULL)
		result = psprintf("VACUUM (SKIP_LOCKED, TRUNCATE false) %s",
						  quote_qualified_identifier(get_namespace_name(get_rel_namespace(relid)),
													 name));
	MemoryContextSwitchTo(old);
	CommitTransactionCommand();
	return result;
}

/*
 * Merge merges runs of a table once; returns whether there were enough.
 */
static bool
Merge(Oid relid)
{
	bool		result;

	SetCurrentStatementStartTimestamp();
	StartTransactionCommand();
	PushActiveSnapshot(GetTransactionSnapshot());
	/* it may be gone */
	result = SearchSysCacheExists1(RELOID, ObjectIdGetDatum(relid)) &&
		ZbxhistMergeRuns(relid, MERGED_STATEMENTS, MERGED_ROWS) > 0;
	PopActiveSnapshot();
	CommitTransactionCommand();
	pgstat_report_stat(true);
	return result;
}

/*
 * Vacuum has the space of runs that are gone used again.
 */
static void
Vacuum(Oid relid)
{
	char	   *command = FormatVacuum(relid);

	if (command == NULL)
		return;
	ZbxhistRunCommand(command);
	pfree(command);
}

/*
 * Sleep waits until the next look, of which the last one began at a time, and
 * returns the milliseconds.
 */
static long
Sleep(TimestampTz began)
{
	long		took = TimestampDifferenceMilliseconds(began,
													   GetCurrentTimestamp());
	long		pause = Max(LOOK_MILLISECONDS, took * LOOK_SHARE);

	pgstat_report_activity(STATE_IDLE, NULL);
	(void) WaitLatch(MyLatch,
					 WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
					 pause, PG_WAIT_EXTENSION);
	ResetLatch(MyLatch);
	CHECK_FOR_INTERRUPTS();
	return pause;
}

/*
 * MergeTable merges runs of a table until there have been few for a while.
 */
static void
MergeTable(Oid relid)
{
	int			nmerges = 0;
	long		idle = 0;

	while (idle < IDLE_MILLISECONDS)
	{
		TimestampTz began = GetCurrentTimestamp();

		pgstat_report_activity(STATE_RUNNING, "zbxhist: merging runs");
		if (!Merge(relid))
			idle += Sleep(began);
		else
		{
			idle = 0;
			if (++nmerges % MERGES_PER_VACUUM == 0)
				Vacuum(relid);
		}
	}
	if (nmerges % MERGES_PER_VACUUM > 0)
		Vacuum(relid);
}

/*
 * zbxhist_merger_main is the entry point of the worker.  Its argument is the
 * database; bgw_extra holds the role and the table.
 */
void
zbxhist_merger_main(Datum arg)
{
	Oid			ids[2];

	memcpy(ids, MyBgworkerEntry->bgw_extra, sizeof(ids));
	pqsignal(SIGTERM, die);
	pqsignal(SIGHUP, SignalHandlerForConfigReload);
	BackgroundWorkerUnblockSignals();
	BackgroundWorkerInitializeConnectionByOid(DatumGetObjectId(arg), ids[0],
											  WORKER_CONNECTION_FLAGS);

	if (TryMerger(ids[1]))
		MergeTable(ids[1]);
	proc_exit(0);
}
