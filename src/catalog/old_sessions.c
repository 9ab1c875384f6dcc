/*-------------------------------------------------------------------------
 *
 * old_sessions.c
 *	  Sessions that may have loaded the library of an older version.
 *
 * A session keeps the library that it has loaded, Zabbix's for months.  What
 * that library cannot read is not to be written before the session has ended.
 * A session that began after ALTER EXTENSION UPDATE has the new library, whose
 * files were there before: so the time of the update tells, and an extension
 * that was never updated has no older sessions.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/timestamp.h"

#include "catalog/old_sessions.h"
#include "catalog/own_tables.h"
#include "compat.h"

PG_FUNCTION_INFO_V1(zbxhist_old_sessions);

/*
 * GetUpdateTime returns when the extension was last updated in this database;
 * DT_NOBEGIN: never.
 */
static TimestampTz
GetUpdateTime(void)
{
	Relation	rel = ZbxhistOpenOwnTable("extension_update", AccessShareLock);
	TimestampTz latest = DT_NOBEGIN;
	AttrNumber	attnum;
	SysScanDesc scan;
	HeapTuple	tuple;

	if (rel == NULL)
		return latest;
	attnum = ZbxhistOwnColumn(rel, "updated_at");
	scan = ZbxhistBeginOwnScan(rel, "updated_at", InvalidOid, NULL);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		bool		isnull;
		Datum		value = get_own_value(rel, tuple, attnum, &isnull);

		if (!isnull)
			latest = Max(latest, DatumGetTimestampTz(value));
	}
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	return latest;
}

/*
 * ZbxhistCountOldSessions returns the number of other sessions and background
 * workers of this database that began before the extension was updated.
 */
int
ZbxhistCountOldSessions(void)
{
	TimestampTz updated_at = GetUpdateTime();
	int			count = 0;

	if (TIMESTAMP_IS_NOBEGIN(updated_at))
		return 0;
	for (int i = 1; i <= pgstat_fetch_stat_numbackends(); i++)
	{
		const PgBackendStatus *backend = get_backend_status(i);

		if (backend != NULL && backend->st_databaseid == MyDatabaseId &&
			backend->st_procpid != MyProcPid &&
			(backend->st_backendType == B_BACKEND ||
			 backend->st_backendType == B_BG_WORKER) &&
			backend->st_proc_start_timestamp < updated_at)
			count++;
	}
	return count;
}

/*
 * zbxhist_old_sessions() is ZbxhistCountOldSessions.
 */
Datum
zbxhist_old_sessions(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT32(ZbxhistCountOldSessions());
}
