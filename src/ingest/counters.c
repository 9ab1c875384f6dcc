/*-------------------------------------------------------------------------
 *
 * counters.c
 *	  Counts routed rows per parent in shared memory.
 *
 * A fixed table of atomic counters.  A slot is claimed for a parent by a
 * compare-and-exchange on its key and kept until the server stops, so no lock is needed.
 * When all slots are taken, further parents are not counted.
 *
 * From PostgreSQL 17 on the memory is allocated by the DSM registry when it
 * is first needed; before, there is memory only with zbxhist in
 * shared_preload_libraries.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "port/atomics.h"
#include "utils/builtins.h"
#include "utils/syscache.h"
#include "utils/tuplestore.h"

#include "compat.h"
#include "ingest/counters.h"
#include "tables/attempt.h"

PG_FUNCTION_INFO_V1(zbxhist_stored_paths);

#define MAX_COUNTED_PARENTS 256

typedef struct PathCounters
{
	pg_atomic_uint64 statements;
	pg_atomic_uint64 rows;		/* stored */
	pg_atomic_uint64 routed;	/* ... in partitions */
} PathCounters;

typedef struct ParentCounters
{
	pg_atomic_uint64 key;		/* database and parent, or 0 */
	PathCounters paths[INSERT_PATH_COUNT];
} ParentCounters;

static ParentCounters *counters = NULL; /* MAX_COUNTED_PARENTS */

/*
 * InitTable sets up new shared memory.
 */
static void
InitTable(MEMORY_INIT_PROTO)
{
	ParentCounters *table = memory;

	for (int i = 0; i < MAX_COUNTED_PARENTS; i++)
	{
		ParentCounters *slot = &table[i];

		pg_atomic_init_u64(&slot->key, 0);
		for (int j = 0; j < INSERT_PATH_COUNT; j++)
		{
			pg_atomic_init_u64(&slot->paths[j].statements, 0);
			pg_atomic_init_u64(&slot->paths[j].rows, 0);
			pg_atomic_init_u64(&slot->paths[j].routed, 0);
		}
	}
}

/*
 * AttachTable finds the shared memory; counters stays NULL if there is none.
 * It may fail: segments are limited in number, and by what the system has.
 */
static void
AttachTable(void *arg)
{
	if (counters == NULL)
		counters = attach_counters_memory("zbxhist counters",
										  sizeof(ParentCounters) * MAX_COUNTED_PARENTS, InitTable);
}

/*
 * TryToAttach attaches, once in a session.  An error does not fail the INSERT.
 */
static void
TryToAttach(void)
{
	static bool is_tried = false;
	ErrorData  *error;

	if (is_tried)
		return;
	error = ZbxhistAttemptIf(AttachTable, NULL, ZbxhistIsBearable);
	is_tried = true;
	if (error == NULL)
		return;
	ereport(LOG,
			errcode(error->sqlerrcode),
			errmsg("rows are not counted in this session: %s", error->message));
	FreeErrorData(error);
}

/*
 * ZbxhistCountersInit requests shared memory while the server starts.
 */
void
ZbxhistCountersInit(void)
{
	request_counters_memory(sizeof(ParentCounters) * MAX_COUNTED_PARENTS);
}

/*
 * CountersKey tells parents of all databases apart.
 */
static uint64
CountersKey(Oid parent)
{
	return ((uint64) MyDatabaseId << 32) | parent;
}

/*
 * FindCounters returns the parent's slot, claiming one if need be; NULL if
 * all are taken.
 */
static ParentCounters *
FindCounters(Oid parent)
{
	uint64		key = CountersKey(parent);

	for (int i = 0; i < MAX_COUNTED_PARENTS; i++)
	{
		ParentCounters *slot = &counters[i];
		uint64		found = pg_atomic_read_u64(&slot->key);

		if (found == 0 &&
			pg_atomic_compare_exchange_u64(&slot->key, &found, key))
			return slot;
		if (found == key)
			return slot;
	}
	return NULL;
}

/*
 * ZbxhistCountersAdd counts one statement's rows.
 */
void
ZbxhistCountersAdd(Oid parent, const InsertStats *stats)
{
	ParentCounters *slot;
	PathCounters *path;

	TryToAttach();
	if (counters == NULL || (slot = FindCounters(parent)) == NULL)
		return;
	path = &slot->paths[stats->path];
	pg_atomic_fetch_add_u64(&path->statements, 1);
	pg_atomic_fetch_add_u64(&path->rows, stats->routed + stats->kept);
	pg_atomic_fetch_add_u64(&path->routed, stats->routed);
}

/*
 * PutPaths returns a row for each path by which rows of a parent were
 * stored.
 */
static void
PutPaths(ReturnSetInfo *rsinfo, Oid parent, ParentCounters *slot)
{
	for (int i = 0; i < INSERT_PATH_COUNT; i++)
	{
		uint64		statements = pg_atomic_read_u64(&slot->paths[i].statements);
		Datum		values[5];
		bool		nulls[5] = {false};

		if (statements == 0)
			continue;
		values[0] = ObjectIdGetDatum(parent);
		values[1] = CStringGetTextDatum(ZbxhistInsertPathName(i));
		values[2] = UInt64GetDatum(statements);
		values[3] = UInt64GetDatum(pg_atomic_read_u64(&slot->paths[i].rows));
		values[4] = UInt64GetDatum(pg_atomic_read_u64(&slot->paths[i].routed));
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
}

/*
 * zbxhist_stored_paths returns a row for each parent of this database that still exists
 * and each path of its statements since the server started.
 */
Datum
zbxhist_stored_paths(PG_FUNCTION_ARGS)
{
	InitMaterializedSRF(fcinfo, 0);
	AttachTable(NULL);
	for (int i = 0; counters != NULL && i < MAX_COUNTED_PARENTS; i++)
	{
		ParentCounters *slot = &counters[i];
		uint64		key = pg_atomic_read_u64(&slot->key);

		if ((Oid) (key >> 32) == MyDatabaseId &&
			SearchSysCacheExists1(RELOID,
								  ObjectIdGetDatum((Oid) (key & PG_UINT32_MAX))))
			PutPaths((ReturnSetInfo *) fcinfo->resultinfo,
					 (Oid) (key & PG_UINT32_MAX), slot);
	}
	return (Datum) 0;
}
