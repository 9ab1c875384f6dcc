/*-------------------------------------------------------------------------
 *
 * worker.c
 *	  Runs maintenance from inside the server, where there is no cron.
 *
 * With zbxhist in shared_preload_libraries a launcher starts once recovery is
 * over, so on a standby there is none until it is promoted.  Every
 * zbxhist.maintenance_interval it starts a dynamic worker for each database of
 * zbxhist.databases, which calls zbxhist.run_maintenance() and ends.  While the one
 * of a database is at work, no other is started for it.  The launcher itself is
 * connected to no database, so it keeps none from being dropped.
 *
 * A worker connects as the owner of its database: maintenance runs code of
 * that role (index expressions, constraints), which must not get a
 * superuser's rights.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/pg_database.h"
#include "commands/extension.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "tcop/pquery.h"
#include "tcop/tcopprot.h"
#include "tcop/utility.h"
#include "utils/fmgroids.h"
#include "utils/guc.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/varlena.h"

#include "compat.h"
#include "guc.h"
#include "maintenance/worker.h"

#define MAINTENANCE_COMMAND "CALL zbxhist.run_maintenance()"

extern PGDLLEXPORT void zbxhist_launcher_main(Datum arg);
extern PGDLLEXPORT void zbxhist_worker_main(Datum arg);

/* ---- a worker: one run in one database ---- */

/*
 * RunMaintenance calls the procedure as a client's own statement, so that it may
 * commit.  As ExecuteSqlString() of pg_cron does, by
 * the steps of exec_simple_query() in tcop/postgres.c.
 */
static void
RunMaintenance(void)
{
	const char *command = MAINTENANCE_COMMAND;
	MemoryContext context = AllocSetContextCreate(TopMemoryContext,
												  "zbxhist maintenance",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old;
	RawStmt    *parsed;
	List	   *plans;
	Portal		portal;
	QueryCompletion qc;

	SetCurrentStatementStartTimestamp();
	pgstat_report_activity(STATE_RUNNING, command);
	StartTransactionCommand();
	PushActiveSnapshot(GetTransactionSnapshot());
	old = MemoryContextSwitchTo(context);
	parsed = linitial_node(RawStmt, pg_parse_query(command));
	plans = pg_plan_queries(pg_analyze_and_rewrite_fixedparams(parsed, command,
															   NULL, 0, NULL),
							command, 0, NULL);
	PopActiveSnapshot();

	portal = CreatePortal("", true, true);
	portal->visible = false;
	PortalDefineQuery(portal, NULL, command, CreateCommandTag(parsed->stmt),
					  plans, NULL);
	PortalStart(portal, NULL, 0, InvalidSnapshot);
	PortalRunCompat(portal, FETCH_ALL, true, None_Receiver, None_Receiver, &qc);
	PortalDrop(portal, false);

	MemoryContextSwitchTo(old);
	CommitTransactionCommand();
	MemoryContextDelete(context);
	pgstat_report_stat(true);
	pgstat_report_activity(STATE_IDLE, NULL);
}

/*
 * HasExtension says whether the connected database has the extension.
 */
static bool
HasExtension(void)
{
	bool		result;

	StartTransactionCommand();
	result = OidIsValid(get_extension_oid("zbxhist", true));
	CommitTransactionCommand();
	return result;
}

/*
 * zbxhist_worker_main is the entry point of a database's worker.  Its
 * argument is the database; bgw_extra holds the role.
 */
void
zbxhist_worker_main(Datum arg)
{
	Oid			role;

	memcpy(&role, MyBgworkerEntry->bgw_extra, sizeof(role));
	pqsignal(SIGTERM, die);
	pqsignal(SIGHUP, SignalHandlerForConfigReload);
	BackgroundWorkerUnblockSignals();
	BackgroundWorkerInitializeConnectionByOid(DatumGetObjectId(arg), role,
											  WORKER_CONNECTION_FLAGS);

	if (HasExtension())
		RunMaintenance();
	proc_exit(0);
}

/* ---- the launcher ---- */

/* the worker that was started last for a database, and may still run */
typedef struct RunningWorker
{
	Oid			database;
	BackgroundWorkerHandle *handle;
} RunningWorker;

static List *running_workers = NIL; /* in TopMemoryContext */

/*
 * FindDatabase returns a database that accepts connections and its owner;
 * false, with a message in the log, if there is none of that name.  Without a
 * database of its own the launcher may not know the indexes of pg_database,
 * so it reads the heap, as the launcher of autovacuum does.
 */
static bool
FindDatabase(const char *name, Oid *database, Oid *owner)
{
	Relation	rel;
	SysScanDesc scan;
	ScanKeyData key;
	HeapTuple	tuple;
	bool		result = false;

	StartTransactionCommand();
	/* by a scan: the caches need pg_class, and we are in no database */
	rel = table_open(DatabaseRelationId, AccessShareLock);
	ScanKeyInit(&key, Anum_pg_database_datname, BTEqualStrategyNumber,
				F_NAMEEQ, CStringGetDatum(name));
	scan = systable_beginscan(rel, InvalidOid, false, NULL, 1, &key);
	tuple = systable_getnext(scan);
	if (HeapTupleIsValid(tuple))
	{
		Form_pg_database form = (Form_pg_database) GETSTRUCT(tuple);

		*database = form->oid;
		*owner = form->datdba;
		result = form->datallowconn;
	}
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	CommitTransactionCommand();

	if (!result)
		ereport(LOG,
				errcode(ERRCODE_UNDEFINED_DATABASE),
				errmsg("database \"%s\" of \"zbxhist.databases\" does not exist or accepts no connections",
					   name));
	return result;
}

/*
 * IsMaintained says whether the last worker of a database is still running; if not, it
 * is forgotten.
 */
static bool
IsMaintained(Oid database)
{
	ListCell   *lc;
	pid_t		pid;

	foreach(lc, running_workers)
	{
		RunningWorker *running = lfirst(lc);

		if (running->database != database)
			continue;
		if (GetBackgroundWorkerPid(running->handle, &pid) != BGWH_STOPPED)
			return true;
		running_workers = foreach_delete_current(running_workers, lc);
		pfree(running->handle);
		pfree(running);
	}
	return false;
}

/*
 * MaintainDatabase starts a worker for one database, unless the one before is
 * still at work.
 */
static void
MaintainDatabase(const char *name)
{
	BackgroundWorker worker;
	BackgroundWorkerHandle *handle;
	MemoryContext old;
	Oid			database;
	Oid			owner;

	if (!FindDatabase(name, &database, &owner) || IsMaintained(database))
		return;

	memset(&worker, 0, sizeof(worker));
	worker.bgw_flags = BGWORKER_SHMEM_ACCESS |
		BGWORKER_BACKEND_DATABASE_CONNECTION;
	worker.bgw_start_time = BgWorkerStart_RecoveryFinished;
	worker.bgw_restart_time = BGW_NEVER_RESTART;
	worker.bgw_main_arg = ObjectIdGetDatum(database);
	memcpy(worker.bgw_extra, &owner, sizeof(owner));
	snprintf(worker.bgw_library_name, BGW_MAXLEN, "zbxhist");
	snprintf(worker.bgw_function_name, BGW_MAXLEN, "zbxhist_worker_main");
	snprintf(worker.bgw_name, BGW_MAXLEN, "zbxhist maintenance of %s", name);
	snprintf(worker.bgw_type, BGW_MAXLEN, "zbxhist maintenance");

	old = MemoryContextSwitchTo(TopMemoryContext);
	if (RegisterDynamicBackgroundWorker(&worker, &handle))
	{
		RunningWorker *running = palloc(sizeof(RunningWorker));

		running->database = database;
		running->handle = handle;
		running_workers = lappend(running_workers, running);
	}
	else
		ereport(LOG,
				errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
				errmsg("could not start maintenance of database \"%s\"", name),
				errhint("You might need to increase \"max_worker_processes\"."));
	MemoryContextSwitchTo(old);
}

/*
 * MaintainAll maintains each database of zbxhist.databases.
 */
static void
MaintainAll(void)
{
	char	   *setting = pstrdup(zbxhist_databases);
	List	   *names;
	ListCell   *lc;

	if (!SplitGUCList(setting, ',', &names))
		ereport(LOG,
				errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("invalid list syntax in parameter \"%s\"",
					   "zbxhist.databases"));
	foreach(lc, names)
	{
		CHECK_FOR_INTERRUPTS();
		MaintainDatabase(lfirst(lc));
	}
	list_free(names);
	pfree(setting);
}

/*
 * zbxhist_launcher_main is the entry point of the launcher.
 */
void
zbxhist_launcher_main(Datum arg)
{
	pqsignal(SIGTERM, die);
	pqsignal(SIGHUP, SignalHandlerForConfigReload);
	BackgroundWorkerUnblockSignals();
	BackgroundWorkerInitializeConnection(NULL, NULL, 0);

	for (;;)
	{
		CHECK_FOR_INTERRUPTS();
		if (ConfigReloadPending)
		{
			ConfigReloadPending = false;
			ProcessConfigFile(PGC_SIGHUP);
		}
		MaintainAll();
		(void) WaitLatch(MyLatch,
						 WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
						 zbxhist_maintenance_interval * 1000L,
						 PG_WAIT_EXTENSION);
		ResetLatch(MyLatch);
	}
}

/*
 * ZbxhistWorkerInit registers the launcher while the server starts.
 */
void
ZbxhistWorkerInit(void)
{
	BackgroundWorker worker;

	if (!process_shared_preload_libraries_in_progress || IsBinaryUpgrade)
		return;

	memset(&worker, 0, sizeof(worker));
	worker.bgw_flags = BGWORKER_SHMEM_ACCESS |
		BGWORKER_BACKEND_DATABASE_CONNECTION;
	worker.bgw_start_time = BgWorkerStart_RecoveryFinished;
	worker.bgw_restart_time = 60;
	snprintf(worker.bgw_library_name, BGW_MAXLEN, "zbxhist");
	snprintf(worker.bgw_function_name, BGW_MAXLEN, "zbxhist_launcher_main");
	snprintf(worker.bgw_name, BGW_MAXLEN, "zbxhist launcher");
	snprintf(worker.bgw_type, BGW_MAXLEN, "zbxhist launcher");
	RegisterBackgroundWorker(&worker);
}
