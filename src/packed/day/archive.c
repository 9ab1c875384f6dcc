/*-------------------------------------------------------------------------
 *
 * archive.c
 *	  Groups of a packed day that are stored on another server.
 *
 * An archived day keeps its table, with where each group begins and ends, and its
 * index.  Instead of a group's bytes that has which row of a foreign table has
 * them, how many they are, and their checksum: a day's table is a hundredth of
 * what it was, and all that is not about bytes is as in other days.  Groups that are changed
 * later are stored here again.  Vectors of shared times stay.
 *
 * The foreign table is one of postgres_fdw (sql/packed/archive.sql), which plans and
 * sends the query.  Neighbouring groups have neighbouring numbers: who reads one after the
 * other gets twice as many each time, up to a limit.
 *
 * A transaction that has begun to read a server sees all its days as they were then.
 * One that was archived later would have no groups for it: so what is not
 * found is always an error, one that says to repeat the transaction if that may be
 * why.
 *
 * Rights: who may read a day may read what of it is elsewhere; the query is run as
 * the owner of the day's table, whose user mapping it takes.
 *
 * Memory: a reader is in the context that is current when it is made, which must
 * live as long; what it returns is in the current one.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "foreign/foreign.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "catalog/own_tables.h"
#include "catalog/owned_table.h"
#include "catalog/owner_rights.h"
#include "packed/day/archive.h"
#include "packed/day/archive_away.h"

/* groups that are fetched at once, at most */
#define MAX_AHEAD 64

/* so many groups may be passed over by who reads one after the other */
#define MAX_PASSED 4

/* what stands for a group */
typedef struct ArchivedGroup
{
	pg_uuid_t	copy;			/* of the day, whose rows there have it */
	int64		number;			/* of the row */
	uint32		length;			/* bytes of the group */
	pg_crc32c	crc;			/* ... and their checksum */
} ArchivedGroup;

/* a copy of a day, as zbxhist.archive_copy has it */
typedef struct ArchiveCopy
{
	pg_uuid_t	copy;
	Oid			groups;			/* the foreign table */
	TimestampTz archived_at;
} ArchiveCopy;

struct ArchiveReader
{
	ArchiveCopy copy;			/* the one that was read last */
	bool		has_copy;
	int64		last;			/* number that was asked for last */
	int64		ahead;			/* fetched last time */

	/* groups that have been fetched */
	int			nkept;
	int64		numbers[MAX_AHEAD];
	struct varlena *kept[MAX_AHEAD];
	MemoryContext kept_context; /* owns them */
};

/* ---- what stands for a group ---- */

/*
 * Checksum returns the checksum of a group's bytes.
 */
static pg_crc32c
Checksum(const struct varlena *payload)
{
	pg_crc32c	crc;

	INIT_CRC32C(crc);
	COMP_CRC32C(crc, VARDATA_ANY(payload), VARSIZE_ANY_EXHDR(payload));
	FIN_CRC32C(crc);
	return crc;
}

/*
 * ZbxhistMakeArchived makes what stands for a group whose bytes are payload, in
 * the current context.
 */
struct varlena *
ZbxhistMakeArchived(const pg_uuid_t *copy, int64 number,
					const struct varlena *payload)
{
	struct varlena *result = palloc0(VARHDRSZ + ARCHIVED_LENGTH);
	uint8	   *data = (uint8 *) VARDATA(result);

	SET_VARSIZE(result, VARHDRSZ + ARCHIVED_LENGTH);
	data[0] = GROUP_MAGIC_0;
	data[1] = GROUP_MAGIC_1;
	data[2] = GROUP_VERSION;
	data[3] = GROUP_ARCHIVED;
	codec_store32(data + GROUP_CRC_OFFSET, Checksum(payload));
	memcpy(data + ARCHIVED_COPY_OFFSET, copy->data, UUID_LEN);
	codec_store64(data + ARCHIVED_NUMBER_OFFSET, (uint64) number);
	codec_store32(data + ARCHIVED_LENGTH_OFFSET, VARSIZE_ANY_EXHDR(payload));
	return result;
}

/*
 * ReadArchived reads what stands for a group.
 */
static void
ReadArchived(const struct varlena *archived, ArchivedGroup *group)
{
	const uint8 *data = (const uint8 *) VARDATA_ANY(archived);

	group->crc = codec_load32(data + GROUP_CRC_OFFSET);
	memcpy(group->copy.data, data + ARCHIVED_COPY_OFFSET, UUID_LEN);
	group->number = (int64) codec_load64(data + ARCHIVED_NUMBER_OFFSET);
	group->length = codec_load32(data + ARCHIVED_LENGTH_OFFSET);
}

/* ---- copies ---- */

/*
 * IsSameCopy says whether two copies of days are the same.
 */
static bool
IsSameCopy(const pg_uuid_t *a, const pg_uuid_t *b)
{
	return memcmp(a->data, b->data, UUID_LEN) == 0;
}

/*
 * ReadCopy takes a row of archive_copy, if it is of that copy.
 */
static bool
ReadCopy(Relation rel, HeapTuple tuple, const pg_uuid_t *copy,
		 ArchiveCopy *result)
{
	bool		isnull;
	Datum		value = get_own_value(rel, tuple, ZbxhistOwnColumn(rel, "copy"),
									  &isnull);

	if (isnull || !IsSameCopy(DatumGetUUIDP(value), copy))
		return false;
	result->copy = *copy;
	result->groups = DatumGetObjectId(get_own_value(rel, tuple,
													ZbxhistOwnColumn(rel, "groups"),
													&isnull));
	result->archived_at = DatumGetTimestampTz(get_own_value(rel, tuple,
															ZbxhistOwnColumn(rel, "archived_at"),
															&isnull));
	return true;
}

/*
 * FindCopy finds a copy of a day; returns false if there is none.  If copy is
 * NULL, any will do.
 */
static bool
FindCopy(Oid day, const pg_uuid_t *copy, ArchiveCopy *result)
{
	Relation	rel = ZbxhistOpenOwnTable("archive_copy", AccessShareLock);
	SysScanDesc scan;
	HeapTuple	tuple;
	bool		found = false;

	if (rel == NULL)
		return false;
	scan = ZbxhistBeginOwnScan(rel, "day", day, NULL);
	while (!found && HeapTupleIsValid(tuple = systable_getnext(scan)))
		found = copy == NULL || ReadCopy(rel, tuple, copy, result);
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	return found;
}

/*
 * ZbxhistHasArchive says whether groups of a day may be on another server.
 */
bool
ZbxhistHasArchive(Oid day)
{
	return FindCopy(day, NULL, NULL);
}

/*
 * ServerName returns the name of the server that has a copy.
 */
static char *
ServerName(const ArchiveCopy *copy)
{
	return GetForeignServer(GetForeignTable(copy->groups)->serverid)->servername;
}

/*
 * FindGroupsTable makes the copy that a group is in the reader's.
 */
static void
FindGroupsTable(ArchiveReader *reader, Relation day,
				const ArchivedGroup *group)
{
	if (reader->has_copy && IsSameCopy(&reader->copy.copy, &group->copy))
		return;
	reader->has_copy = false;
	reader->nkept = 0;
	reader->ahead = 0;
	if (!FindCopy(RelationGetRelid(day), &group->copy, &reader->copy) ||
		get_rel_relkind(reader->copy.groups) != RELKIND_FOREIGN_TABLE)
		ereport(ERROR,
				errcode(ERRCODE_UNDEFINED_TABLE),
				errmsg("the foreign table of the archive that has packed day \"%s\" does not exist",
					   RelationGetRelationName(day)),
				errhint("SELECT * FROM zbxhist.check();"),
				errtable(day));
	reader->has_copy = true;
}

/* ---- the query ---- */

/*
 * GetPlan returns the plan of a query for groups between two numbers of a copy; the one
 * for the foreign table that was read last is kept.
 */
static SPIPlanPtr
GetPlan(Oid groups)
{
	static SPIPlanPtr plan = NULL;
	static char *kept = NULL;
	SPIPlanPtr	made;
	Oid			types[] = {UUIDOID, INT8OID, INT8OID};
	char	   *query = psprintf("SELECT number, payload FROM %s WHERE copy OPERATOR(pg_catalog.=) $1 AND number OPERATOR(pg_catalog.>=) $2 AND number OPERATOR(pg_catalog.<=) $3",
								 ZbxhistQualifiedName(groups));

	if (plan != NULL && strcmp(query, kept) == 0)
		return plan;
	if (plan != NULL)
	{
		SPI_freeplan(plan);
		pfree(kept);
	}
	plan = NULL;
	made = SPI_prepare_cursor(query, lengthof(types), types,
							  CURSOR_OPT_GENERIC_PLAN);
	if (made == NULL)
		elog(ERROR, "could not prepare query: %s",
			 SPI_result_code_string(SPI_result));
	kept = MemoryContextStrdup(TopMemoryContext, query);
	SPI_keepplan(made);
	plan = made;
	return plan;
}

/*
 * KeepFetched keeps the rows that the query has given.
 */
static void
KeepFetched(ArchiveReader *reader, RunCounters *counters)
{
	MemoryContext old = MemoryContextSwitchTo(reader->kept_context);
	TupleDesc	desc = SPI_tuptable->tupdesc;

	for (uint64 i = 0; i < SPI_processed && i < MAX_AHEAD; i++)
	{
		bool		isnull;
		Datum		payload = SPI_getbinval(SPI_tuptable->vals[i], desc, 2,
											&isnull);

		if (isnull)
			continue;
		reader->numbers[reader->nkept] =
			DatumGetInt64(SPI_getbinval(SPI_tuptable->vals[i], desc, 1,
										&isnull));
		reader->kept[reader->nkept] = PG_DETOAST_DATUM_COPY(payload);
		if (counters != NULL)
		{
			counters->archived_groups++;
			counters->archived_bytes += VARSIZE_ANY_EXHDR(reader->kept[reader->nkept]);
		}
		reader->nkept++;
	}
	MemoryContextSwitchTo(old);
}

/*
 * FetchNumbers fetches the groups of the reader's copy from one number to another.
 */
static void
FetchNumbers(ArchiveReader *reader, int64 first, int64 last,
			 RunCounters *counters)
{
	Datum		values[] = {
		UUIDPGetDatum(&reader->copy.copy), Int64GetDatum(first),
		Int64GetDatum(last)
	};
	bool		has_snapshot = ActiveSnapshotSet();

	MemoryContextReset(reader->kept_context);
	reader->nkept = 0;
	if (!has_snapshot)
		PushActiveSnapshot(GetLatestSnapshot());
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "could not connect to SPI");
	if (SPI_execute_plan(GetPlan(reader->copy.groups), values, NULL, true,
						 0) != SPI_OK_SELECT)
		elog(ERROR, "could not read archived groups");
	KeepFetched(reader, counters);
	SPI_finish();
	if (!has_snapshot)
		PopActiveSnapshot();
}

/*
 * FetchAround fetches a group, and those that will be asked for next if the last
 * ones were its neighbours, with the rights of the owner of the day.
 */
static void
FetchAround(ArchiveReader *reader, Relation day, int64 number,
			RunCounters *counters)
{
	int64		step = number - reader->last;
	OwnerRights before;

	reader->ahead = reader->ahead > 0 && step != 0 &&
		step >= -MAX_PASSED && step <= MAX_PASSED ?
		Min(reader->ahead * 2, MAX_AHEAD) : 1;
	ZbxhistTakeOwnerRights(&before, day->rd_rel->relowner);
	if (step < 0)
		FetchNumbers(reader, number - reader->ahead + 1, number, counters);
	else
		FetchNumbers(reader, number, number + reader->ahead - 1, counters);
	ZbxhistGiveBackRights(&before);
}

/* ---- fetching ---- */

/*
 * FindKept returns a group that has been fetched, NULL if it has not.
 */
static struct varlena *
FindKept(const ArchiveReader *reader, int64 number)
{
	for (int i = 0; i < reader->nkept; i++)
	{
		if (reader->numbers[i] == number)
			return reader->kept[i];
	}
	return NULL;
}

/*
 * RaiseNotThere raises the error for a group that the server does not have.
 */
static void
RaiseNotThere(const ArchiveReader *reader, Relation day, int64 number)
{
	if (reader->copy.archived_at > GetCurrentTransactionStartTimestamp())
		ereport(ERROR,
				errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				errmsg("packed day \"%s\" was archived on server \"%s\" after this transaction had begun",
					   RelationGetRelationName(day), ServerName(&reader->copy)),
				errhint("Repeat the transaction."),
				errtable(day));
	ereport(ERROR,
			errcode(ERRCODE_DATA_CORRUPTED),
			errmsg("server \"%s\" does not have group " INT64_FORMAT " of archived day \"%s\"",
				   ServerName(&reader->copy), number,
				   RelationGetRelationName(day)),
			errtable(day));
}

/*
 * BeginReader makes a reader in the current context.
 */
static ArchiveReader *
BeginReader(void)
{
	ArchiveReader *reader = palloc0(sizeof(ArchiveReader));

	reader->kept_context = AllocSetContextCreate(CurrentMemoryContext,
												 "zbxhist archived groups",
												 ALLOCSET_DEFAULT_SIZES);
	return reader;
}

/*
 * FindArchived reads what stands for a group, and finds where it is.  If there is no
 * reader yet, it is made in the context.
 */
static void
FindArchived(ArchiveReader **reader, MemoryContext context, Relation day,
			 const struct varlena *archived, ArchivedGroup *group)
{
	if (*reader == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(context);

		*reader = BeginReader();
		MemoryContextSwitchTo(old);
	}
	ReadArchived(archived, group);
	FindGroupsTable(*reader, day, group);
}

/* the arguments of FetchGroup */
typedef struct GroupFetch
{
	ArchiveReader *reader;
	Relation	day;
	int64		number;
	RunCounters *counters;
} GroupFetch;

/*
 * FetchGroup fetches a group, unless it has been already.
 */
static void
FetchGroup(void *arg)
{
	GroupFetch *fetch = arg;

	if (FindKept(fetch->reader, fetch->number) == NULL)
		FetchAround(fetch->reader, fetch->day, fetch->number, fetch->counters);
}

/*
 * ZbxhistIsMissing says whether a group of a day of nrows rows, for which archived
 * stands, is to be left out, and notes that: its server is away.
 */
bool
ZbxhistIsMissing(ArchiveReader **reader, MemoryContext context, Relation day,
				 const struct varlena *archived, int64 nrows,
				 RunCounters *counters)
{
	ArchivedGroup group;
	GroupFetch	fetch = {.day = day,.counters = counters};
	Oid			server;

	FindArchived(reader, context, day, archived, &group);
	fetch.reader = *reader;
	fetch.number = group.number;
	server = GetForeignTable((*reader)->copy.groups)->serverid;
	if (ZbxhistReachServer(server, FetchGroup, &fetch))
		return false;
	ZbxhistNoteMissing(server, day, nrows);
	return true;
}

/*
 * ZbxhistFetchArchived returns the bytes of a group of a day for which archived
 * stands, in the current context.
 */
struct varlena *
ZbxhistFetchArchived(ArchiveReader **reader, MemoryContext context,
					 Relation day, const struct varlena *archived,
					 RunCounters *counters)
{
	ArchivedGroup group;
	GroupFetch	fetch = {.day = day,.counters = counters};
	struct varlena *bytes;
	struct varlena *result;

	FindArchived(reader, context, day, archived, &group);
	fetch.reader = *reader;
	fetch.number = group.number;
	FetchGroup(&fetch);
	bytes = FindKept(*reader, group.number);
	(*reader)->last = group.number;
	if (bytes == NULL)
		RaiseNotThere(*reader, day, group.number);
	if (VARSIZE_ANY_EXHDR(bytes) != group.length || Checksum(bytes) != group.crc)
		ereport(ERROR,
				errcode(ERRCODE_DATA_CORRUPTED),
				errmsg("group " INT64_FORMAT " of archived day \"%s\" is damaged on server \"%s\"",
					   group.number, RelationGetRelationName(day),
					   ServerName(&(*reader)->copy)),
				errtable(day));
	result = palloc(VARSIZE_ANY(bytes));
	memcpy(result, bytes, VARSIZE_ANY(bytes));
	return result;
}
