/*-------------------------------------------------------------------------
 *
 * merger.c
 *	  The background worker that merges runs.
 *
 * Sessions that store runs start it, see ingest/run_merger.c; no library needs
 * to be preloaded for that.  It looks at all tables of runs of one owner in a
 * database in turn, at those more often where there has been something to merge
 * lately, and merges as soon as there are enough runs, each time in a
 * transaction of its own.  It ends when there have not been for a while, when a
 * session wants the database for itself, and after a minute, so that in a
 * server with many databases all have their turn: a session that stores runs
 * starts the next one.  Now and then it does a VACUUM of a table, so that the
 * next runs take the place of those that are gone, whenever autovacuum comes.
 * One that takes long is left to autovacuum: it may wait for a session that
 * looks at a page of an index, and one that wants the database waits no longer
 * than five seconds.
 *
 * It acts as the owner of the tables.  Nobody's code runs in it: the indexes of
 * such tables are on columns, they have no triggers that a merge would fire,
 * and what the owner has set for himself or the database is of no effect where
 * it might be in the way of others.
 *
 * A table that fails is left alone for the worker's life: one message in the log
 * a minute.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "nodes/pg_list.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/lmgr.h"
#include "tcop/tcopprot.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/timeout.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"

#include "catalog/owned_table.h"
#include "catalog/packed_days.h"
#include "compat.h"
#include "maintenance/worker.h"
#include "packed/jobs/merge_runs.h"
#include "rows/merge_lock.h"

/* milliseconds between two looks at a table: so many times what one takes, and a
 * part of the time without a merge */
#define MIN_PAUSE 50
#define MAX_PAUSE 60000
#define LOOK_SHARE 10
#define IDLE_SHARE 16

/* runs of statements that are worth a merge so long after the one before: a
 * reader of an item looks into all that are not merged */
#define QUIET_STATEMENTS 16
#define QUIET_MILLISECONDS 2000

/* milliseconds after which the list of tables is read anew, without anything to
 * merge, and in all */
#define LIST_MILLISECONDS 2000
#define IDLE_MILLISECONDS 5000
#define LIFE_MILLISECONDS 60000

/* ... after which it is seen that somebody wants the database */
#define NAP_MILLISECONDS 200

/* merges after which a VACUUM pays, and milliseconds that it may take, or those
 * at the end together */
#define MERGES_PER_VACUUM 8
#define VACUUM_MILLISECONDS 3000

typedef struct MergedTable
{
	Oid			relid;
	bool		has_failed;
	bool		is_left;		/* to autovacuum, after one that took long */
	TimestampTz next_look;
	TimestampTz last_merge;		/* or when it was seen first */
	int			nmerges;		/* since the last VACUUM */
} MergedTable;

static List *tables = NIL;		/* of MergedTable, in TopMemoryContext */
static TimestampTz last_merge = 0;	/* of any, or when one was seen first */
static bool has_failed = false; /* any */

extern PGDLLEXPORT void zbxhist_merger_main(Datum arg);

/* ---- the tables ---- */

/*
 * FindMergeTable returns what is known of a table, or NULL.
 */
static MergedTable *
FindMergeTable(Oid relid)
{
	ListCell   *lc;

	foreach(lc, tables)
	{
		MergedTable *table = lfirst(lc);

		if (table->relid == relid)
			return table;
	}
	return NULL;
}

/*
 * AddMergeTable notes a table, unless it is known.
 */
static void
AddMergeTable(Oid relid)
{
	MemoryContext old = MemoryContextSwitchTo(TopMemoryContext);
	MergedTable *table;

	if (FindMergeTable(relid) == NULL)
	{
		table = palloc0(sizeof(MergedTable));
		table->relid = relid;
		table->next_look = table->last_merge = last_merge = GetCurrentTimestamp();
		tables = lappend(tables, table);
	}
	MemoryContextSwitchTo(old);
}

/*
 * BelongsToUs says whether a table exists and is ours.
 */
static bool
BelongsToUs(Oid relid)
{
	return get_owner(relid) == GetUserId();
}

/*
 * ListTables notes those tables of runs of the database that are ours.
 */
static void
ListTables(void)
{
	PackedDay  *days;
	int			ndays;

	StartTransactionCommand();
	PushActiveSnapshot(GetTransactionSnapshot());
	days = ZbxhistReadPackedDays(InvalidOid, &ndays);
	for (int i = 0; i < ndays; i++)
	{
		if (days[i].has_runs && BelongsToUs(days[i].relid))
			AddMergeTable(days[i].relid);
	}
	PopActiveSnapshot();
	CommitTransactionCommand();
}

/*
 * NextTable returns the table that is to be looked at first, or NULL.
 */
static MergedTable *
NextTable(void)
{
	MergedTable *result = NULL;
	ListCell   *lc;

	foreach(lc, tables)
	{
		MergedTable *table = lfirst(lc);

		if (!table->has_failed &&
			(result == NULL || table->next_look < result->next_look))
			result = table;
	}
	return result;
}

/* ---- one table ---- */

/*
 * LeaveIfWanted ends the worker if somebody wants the database for himself.  What
 * has not been committed is undone.
 */
static void
LeaveIfWanted(void)
{
	static TimestampTz last_look = 0;
	TimestampTz now = GetCurrentTimestamp();

	if (!TimestampDifferenceExceeds(last_look, now, NAP_MILLISECONDS))
		return;
	last_look = now;
	if (ZbxhistDatabaseIsWanted())
		proc_exit(0);
}

/*
 * Merge merges runs of a table once; returns whether there were enough.  It may
 * be gone, or somebody may be about to drop it.
 */
static bool
Merge(Oid relid, int enough)
{
	bool		result;

	SetCurrentStatementStartTimestamp();
	StartTransactionCommand();
	PushActiveSnapshot(GetTransactionSnapshot());
	result = ConditionalLockRelationOid(relid, AccessShareLock) &&
		BelongsToUs(relid) &&
		ZbxhistMergeRuns(relid, enough, MERGED_ROWS, LeaveIfWanted) > 0;
	PopActiveSnapshot();
	CommitTransactionCommand();
	pgstat_report_stat(true);
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
	name = ZbxhistQualifiedName(relid);
	old = MemoryContextSwitchTo(TopMemoryContext);
	if (name != NULL)
		result = psprintf("VACUUM (SKIP_LOCKED, TRUNCATE false, PARALLEL 0) %s",
						  name);
	MemoryContextSwitchTo(old);
	CommitTransactionCommand();
	return result;
}

/*
 * EndTimeout ends the time that a VACUUM has; it may have come to an end just
 * before that.
 */
static void
EndTimeout(void)
{
	disable_timeout(STATEMENT_TIMEOUT, false);
	QueryCancelPending = false;
}

/*
 * Vacuum has the space of runs that are gone used again.
 */
static void
Vacuum(MergedTable *table)
{
	char	   *command;

	table->nmerges = 0;
	command = FormatVacuum(table->relid);
	if (command == NULL)
		return;
	table->is_left = true;
	enable_timeout_after(STATEMENT_TIMEOUT, VACUUM_MILLISECONDS);
	ZbxhistRunCommand(command);
	EndTimeout();
	table->is_left = false;
	pfree(command);
}

/*
 * LookAt looks at a table, and merges if there is something to merge; says when
 * to look at it the next time.
 */
static void
LookAt(MergedTable *table)
{
	TimestampTz began = GetCurrentTimestamp();
	TimestampTz now;
	bool		is_quiet = TimestampDifferenceExceeds(table->last_merge, began,
													  QUIET_MILLISECONDS);
	long		pause = 0;

	pgstat_report_activity(STATE_RUNNING, "zbxhist: merging runs");
	if (Merge(table->relid, is_quiet ? QUIET_STATEMENTS : MERGED_STATEMENTS))
	{
		table->last_merge = last_merge = now = GetCurrentTimestamp();
		if (++table->nmerges >= MERGES_PER_VACUUM && !table->is_left)
			Vacuum(table);
	}
	else
	{
		now = GetCurrentTimestamp();
		pause = Max(TimestampDifferenceMilliseconds(began, now) * LOOK_SHARE,
					TimestampDifferenceMilliseconds(table->last_merge,
													now) / IDLE_SHARE);
		pause = Min(Max(pause, MIN_PAUSE), MAX_PAUSE);
	}
	table->next_look = TimestampTzPlusMilliseconds(now, pause);
}

/*
 * Try does something with a table.  An error is reported, unless the table has
 * been dropped or its VACUUM has taken long, and the others go on.
 */
static void
Try(void (*work) (MergedTable *table), MergedTable *table)
{
	PG_TRY();
	{
		work(table);
	}
	PG_CATCH();
	{
		HOLD_INTERRUPTS();
		EndTimeout();
		table->has_failed = !table->is_left ||
			geterrcode() != ERRCODE_QUERY_CANCELED;
		has_failed |= table->has_failed;
		if (table->has_failed && geterrcode() != ERRCODE_UNDEFINED_TABLE)
			EmitErrorReport();
		AbortOutOfAnyTransaction();
		FlushErrorState();
		RESUME_INTERRUPTS();
	}
	PG_END_TRY();
}

/* ---- the worker ---- */

/*
 * Nap waits until a time, but not longer than a session that wants the database
 * may wait.
 */
static void
Nap(TimestampTz until)
{
	long		pause = TimestampDifferenceMilliseconds(GetCurrentTimestamp(),
														until);

	pgstat_report_activity(STATE_IDLE, NULL);
	(void) WaitLatch(MyLatch,
					 WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
					 Min(pause, NAP_MILLISECONDS), PG_WAIT_EXTENSION);
	ResetLatch(MyLatch);
	CHECK_FOR_INTERRUPTS();
}

/*
 * MergeTables merges runs of all tables until there have been few for a while.  When a
 * table has failed the worker stays for its whole life, so that the next one does not
 * try at once.
 */
static void
MergeTables(void)
{
	TimestampTz began = GetCurrentTimestamp();
	TimestampTz listed = 0;
	TimestampTz now;

	for (now = began;
		 !TimestampDifferenceExceeds(began, now, LIFE_MILLISECONDS) &&
		 (has_failed ||
		  !TimestampDifferenceExceeds(last_merge, now, IDLE_MILLISECONDS));
		 now = GetCurrentTimestamp())
	{
		MergedTable *table;

		LeaveIfWanted();
		if (TimestampDifferenceExceeds(listed, now, LIST_MILLISECONDS))
		{
			ListTables();
			listed = now;
		}
		table = NextTable();
		if (table != NULL && table->next_look <= now)
			Try(LookAt, table);
		else
			Nap(table != NULL ? table->next_look :
				TimestampTzPlusMilliseconds(now, NAP_MILLISECONDS));
	}
}

/*
 * VacuumTables has the space used again of what was merged last.
 */
static void
VacuumTables(void)
{
	TimestampTz began = GetCurrentTimestamp();
	ListCell   *lc;

	foreach(lc, tables)
	{
		MergedTable *table = lfirst(lc);

		LeaveIfWanted();
		if (TimestampDifferenceExceeds(began, GetCurrentTimestamp(),
									   VACUUM_MILLISECONDS))
			break;
		if (table->nmerges > 0 && !table->has_failed && !table->is_left)
			Try(Vacuum, table);
	}
}

/*
 * Prepare makes transactions be as merges need them: they wait for nobody long, are
 * no part of what serializable ones may not do, and may be lost in a crash, after
 * which the runs are there as before.  VACUUM does not sleep.
 */
static void
Prepare(void)
{
	static const char *const settings[][2] = {
		{"default_transaction_isolation", "read committed"},
		{"default_transaction_read_only", "off"},
		{"default_transaction_deferrable", "off"},
		{"synchronous_commit", "off"},
		{"lock_timeout", "0"},
		{"statement_timeout", "0"},
		{"transaction_timeout", "0"},	/* 17 and later */
		{"vacuum_cost_delay", "0"}
	};

	for (int i = 0; i < lengthof(settings); i++)
	{
		if (GetConfigOption(settings[i][0], true, false) != NULL)
			SetConfigOption(settings[i][0], settings[i][1], PGC_SUSET,
							PGC_S_OVERRIDE);
	}
}

/*
 * TryMerger makes this worker the one of its role, and has it begin with the
 * table that it was started for.
 */
static bool
TryMerger(Oid relid)
{
	bool		result;

	StartTransactionCommand();
	result = ZbxhistTryMerger(GetUserId());
	CommitTransactionCommand();
	if (result)
		AddMergeTable(relid);
	return result;
}

/*
 * zbxhist_merger_main is the entry point of the worker.  Its argument is the
 * database; bgw_extra holds the role and a table.
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
	Prepare();
	if (TryMerger(ids[1]))
	{
		MergeTables();
		VacuumTables();
	}
	proc_exit(0);
}
