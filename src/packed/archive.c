/*-------------------------------------------------------------------------
 *
 * archive.c
 *	  Reads groups of packed days that are stored on another server.
 *
 * The groups are rows of a foreign table of postgres_fdw (sql/packed/archive.sql).  One
 * query fetches the group that is needed now and groups that will be needed next, up to
 * work_mem.  A caller that knows the next groups names them, of many days at once
 * (ZbxhistWantArchived).  Otherwise the query fetches the groups that follow in the same
 * day, if groups have been read in that order so far.  A reader that may stop early
 * fetches one group first, and each time up to four times as many as before.
 *
 * If several servers have groups, the query is a UNION ALL of their foreign tables,
 * which PostgreSQL executes asynchronously (async_capable).
 *
 * The directory of a group may be stored here.  Then reading the directory needs no
 * query.
 *
 * A transaction keeps one snapshot of each server from the first query on, so it does
 * not find groups that were archived later.  A group that is not found is therefore an
 * error, which says to repeat the transaction if that may be the reason.
 *
 * Rights: whoever may read a day may read its archived groups.  The query is run as
 * the owner of the day's table, with that owner's user mapping.
 *
 * Memory: a reader is allocated in the context that is current when it is made, which
 * must live as long.  What it returns is allocated in the current context.
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
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/timeout.h"
#include "utils/timestamp.h"

#include "format/day_decode.h"
#include "packed/archive.h"
#include "packed/archived_group.h"
#include "tables/own_tables.h"
#include "tables/owned_table.h"
#include "tables/owner_rights.h"

/* most neighbours that are fetched at once */
#define MAX_NEIGHBOURS 256

/* up to so many groups that a reader passes over, it still reads them in order */
#define MAX_PASSED 4

/* factor by which the number of groups grows with each query */
#define GROWTH 4

/* a copy of a day, as zbxhist.archive_copy has it */
typedef struct ArchiveCopy
{
	pg_uuid_t	copy;
	Oid			groups;			/* the foreign table */
	TimestampTz archived_at;
} ArchiveCopy;

/* most ranges of groups that a query fetches */
#define MAX_RANGES 64

/* groups of a copy */
typedef struct GroupRange
{
	Oid			groups;			/* the foreign table */
	pg_uuid_t	copy;
	int64		first;			/* number */
	int64		last;
} GroupRange;

/* what a query compares a group with, and its parameters for each range */
#define RANGE_CONDITION "(copy OPERATOR(pg_catalog.=) $%d AND number OPERATOR(pg_catalog.>=) $%d AND number OPERATOR(pg_catalog.<=) $%d)"
#define RANGE_PARAMETERS 3

/* those of a query */
#define MAX_PARAMETERS (MAX_RANGES * RANGE_PARAMETERS)

/* a query with its parameters */
typedef struct RangeQuery
{
	StringInfoData text;
	int			nvalues;
	Oid			types[MAX_PARAMETERS];
	Datum		values[MAX_PARAMETERS];
} RangeQuery;

/* a group that has been fetched, by its copy and number (no padding) */
typedef struct FetchedKey
{
	pg_uuid_t	copy;
	int64		number;
} FetchedKey;

typedef struct FetchedGroup
{
	FetchedKey	key;
	struct varlena *bytes;
} FetchedGroup;

struct ArchiveReader
{
	ArchiveAhead ahead;			/* says what will be needed next; may be NULL */
	void	   *ahead_arg;
	bool		keeps_all;		/* that is fetched */
	ArchiveCopy copy;			/* with which the next query begins */
	bool		has_copy;
	int64		last;			/* number of the group last asked for */
	int64		most;			/* groups that the next query may fetch */

	/* what the next query fetches, first the group asked for */
	int			nranges;
	GroupRange *ranges;			/* room for the largest number */
	int64		nwanted;		/* groups */
	Size		nbytes;			/* of them */

	/* groups that have been fetched */
	int64		nused;			/* how often a group was found here */
	int64		nfetched;
	HTAB	   *fetched;		/* of FetchedGroup */
	MemoryContext fetched_context;	/* owns them; NULL before the first query */
	MemoryContext context;		/* owns all this */
};

/* the current statement of maintenance: when it began, and how long it waits */
static TimestampTz limited_statement;
static int	answer_limit;		/* milliseconds */
static Oid	silent_server;		/* server that did not answer in time */

/* when the transaction that last asked a server began, and which server */
static TimestampTz asking_transaction;
static Oid	asked_server;

/* ---- asking a server ---- */

/*
 * ZbxhistLimitAnswers limits the time, in milliseconds, that the current statement waits
 * for each answer of an archive server.  It has no other timeout.  If the transaction has
 * asked a server, the limit applies from now on, for its COMMIT.
 */
void
ZbxhistLimitAnswers(int limit)
{
	TimestampTz statement = GetCurrentStatementStartTimestamp();

	if (statement != limited_statement)
		silent_server = InvalidOid;
	limited_statement = statement;
	answer_limit = limit;
	if (asking_transaction == GetCurrentTransactionStartTimestamp())
		enable_timeout_after(STATEMENT_TIMEOUT, limit);
}

/*
 * SilentMessage says that the silent server has not answered.
 */
static char *
SilentMessage(void)
{
	return psprintf("server \"%s\" has not answered for %g seconds",
					GetForeignServer(silent_server)->servername, answer_limit / 1000.0);
}

/*
 * RaiseSilent raises that message as an error.
 */
static void
RaiseSilent(void)
{
	ereport(ERROR,
			errcode(ERRCODE_CONNECTION_FAILURE),
			errmsg_internal("%s", SilentMessage()));
}

/*
 * EndLimit stops the timer of an answer; returns whether the time was up.  If nobody has
 * reacted to the timer's cancel, it is forgotten: before PostgreSQL 16 postgres_fdw does
 * not react while it connects.
 */
static bool
EndLimit(void)
{
	bool		is_over = !get_timeout_active(STATEMENT_TIMEOUT);

	disable_timeout(STATEMENT_TIMEOUT, true);
	if (get_timeout_indicator(STATEMENT_TIMEOUT, true))
		QueryCancelPending = false;
	return is_over;
}

/*
 * ZbxhistAskArchive executes by SPI a query that needs the server of a foreign table.  If
 * the current statement has a limit, that the server does not answer within it is an error,
 * and the statement does not ask this server again.  A user's cancel is reported as such.
 */
int
ZbxhistAskArchive(Oid groups, const char *query, int nvalues, Oid *types,
				  Datum *values, const char *nulls, bool read_only, long count)
{
	MemoryContext context = CurrentMemoryContext;
	int			result;

	if (answer_limit == 0 ||
		limited_statement != GetCurrentStatementStartTimestamp())
		return SPI_execute_with_args(query, nvalues, types, values, nulls,
									 read_only, count);
	asked_server = GetForeignTable(groups)->serverid;
	if (asked_server == silent_server)
		RaiseSilent();
	asking_transaction = GetCurrentTransactionStartTimestamp();
	enable_timeout_after(STATEMENT_TIMEOUT, answer_limit);
	PG_TRY();
	{
		result = SPI_execute_with_args(query, nvalues, types, values, nulls,
									   read_only, count);
	}
	PG_CATCH();
	{
		if (!EndLimit() || geterrcode() != ERRCODE_QUERY_CANCELED)
			PG_RE_THROW();
		MemoryContextSwitchTo(context);
		FlushErrorState();
		silent_server = asked_server;
		RaiseSilent();
	}
	PG_END_TRY();
	(void) EndLimit();
	return result;
}

/*
 * ZbxhistTryCommit commits the transaction and begins another one.  If it cannot be committed,
 * it has been rolled back; returns the error then, in the current context, which must outlive
 * transactions, else NULL.  postgres_fdw first commits on the servers.  If the one that was
 * asked does not answer, that is such an error; a user's cancel is raised.
 */
ErrorData *
ZbxhistTryCommit(bool is_atomic)
{
	MemoryContext context = CurrentMemoryContext;
	bool		is_limited = asking_transaction == GetCurrentTransactionStartTimestamp();
	ErrorData  *error = NULL;

	if (SPI_connect_ext(is_atomic ? 0 : SPI_OPT_NONATOMIC) != SPI_OK_CONNECT)
		elog(ERROR, "could not connect to SPI");
	PG_TRY();
	{
		SPI_commit();
	}
	PG_CATCH();
	{
		bool		is_over = EndLimit() && is_limited;

		if (geterrcode() == ERRCODE_QUERY_CANCELED && !is_over)
			PG_RE_THROW();
		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		FlushErrorState();
		if (is_over && error->sqlerrcode == ERRCODE_QUERY_CANCELED)
		{
			silent_server = asked_server;
			error->sqlerrcode = ERRCODE_CONNECTION_FAILURE;
			error->message = SilentMessage();
		}
	}
	PG_END_TRY();
	SPI_finish();
	return error;
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
 * FindCopy finds a copy of a day and sets result; returns false if there is none.
 * If copy is NULL, it looks for any copy, and leaves result alone.
 */
static bool
FindCopy(Oid day, const pg_uuid_t *copy, ArchiveCopy *result)
{
	OwnScan		scan;
	bool		found = false;

	ZbxhistBeginOwnScan(&scan, "archive_copy", "day", day, NULL);
	while (!found && ZbxhistNextOwnRow(&scan))
	{
		bool		isnull;
		Datum		value = ZbxhistOwnValue(&scan, "copy", &isnull);

		found = copy == NULL ||
			(!isnull && IsSameCopy(DatumGetUUIDP(value), copy));
		if (!found || copy == NULL)
			continue;
		result->copy = *copy;
		value = ZbxhistOwnValue(&scan, "groups", &isnull);
		result->groups = DatumGetObjectId(value);
		value = ZbxhistOwnValue(&scan, "archived_at", &isnull);
		result->archived_at = DatumGetTimestampTz(value);
	}
	ZbxhistEndOwnScan(&scan);
	return found;
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
 * FindGroupsTable sets the reader's copy to the one that has a group.
 */
static void
FindGroupsTable(ArchiveReader *reader, Relation day,
				const ArchivedGroup *group)
{
	if (reader->has_copy && IsSameCopy(&reader->copy.copy, &group->copy))
		return;
	reader->has_copy = false;
	if (!FindCopy(RelationGetRelid(day), &group->copy, &reader->copy) ||
		get_rel_relkind(reader->copy.groups) != RELKIND_FOREIGN_TABLE)
	{
		/* bytes that only look like an archived group's */
		if (!FindCopy(RelationGetRelid(day), NULL, NULL))
			ZbxhistRaiseCorrupt(day, 0);
		ereport(ERROR,
				errcode(ERRCODE_UNDEFINED_TABLE),
				errmsg("the foreign table of the archive that has packed day \"%s\" does not exist",
					   RelationGetRelationName(day)),
				errhint("SELECT * FROM zbxhist.check();"),
				errtable(day));
	}
	reader->has_copy = true;
}

/* ---- the query ---- */

/*
 * AddRanges adds ranges of one table to the query.
 */
static void
AddRanges(RangeQuery *query, const GroupRange *ranges, int nranges)
{
	appendStringInfo(&query->text, "%sSELECT copy, number, payload FROM %s WHERE ",
					 query->nvalues == 0 ? "" : " UNION ALL ",
					 ZbxhistQualifiedName(ranges->groups));
	for (int i = 0; i < nranges; i++)
	{
		const GroupRange *range = &ranges[i];
		int			n = query->nvalues;

		appendStringInfo(&query->text, "%s" RANGE_CONDITION,
						 i == 0 ? "" : " OR ", n + 1, n + 2, n + 3);
		query->values[n] = UUIDPGetDatum(&range->copy);
		query->values[n + 1] = Int64GetDatum(range->first);
		query->values[n + 2] = Int64GetDatum(range->last);
		query->types[n] = UUIDOID;
		query->types[n + 1] = INT8OID;
		query->types[n + 2] = INT8OID;
		query->nvalues += RANGE_PARAMETERS;
	}
}

/*
 * CompareTables orders ranges by their foreign tables.
 */
static int
CompareTables(const void *a, const void *b)
{
	Oid			left = ((const GroupRange *) a)->groups;
	Oid			right = ((const GroupRange *) b)->groups;

	return left < right ? -1 : left > right;
}

/*
 * FetchRanges fetches the wanted groups.  Groups that were fetched before are
 * dropped, unless the reader keeps all.  Sorts the ranges.
 */
static void
FetchRanges(ArchiveReader *reader, ArchiveCounters *counters)
{
	bool		has_snapshot = ActiveSnapshotSet();
	GroupRange *ranges = reader->ranges;
	RangeQuery	query = {.nvalues = 0};
	int			first = 0;
	MemoryContext old;

	if (!reader->keeps_all)
	{
		MemoryContextReset(reader->fetched_context);
		reader->nfetched = 0;
		reader->nused = 0;
	}
	if (!has_snapshot)
		PushActiveSnapshot(GetLatestSnapshot());
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "could not connect to SPI");

	initStringInfo(&query.text);
	qsort(ranges, reader->nranges, sizeof(GroupRange), CompareTables);
	for (int i = 1; i <= reader->nranges; i++)
	{
		if (i < reader->nranges && ranges[i].groups == ranges[first].groups)
			continue;
		AddRanges(&query, &ranges[first], i - first);
		first = i;
	}
	if (ZbxhistAskArchive(ranges->groups, query.text.data, query.nvalues, query.types,
						  query.values, NULL, true, 0) != SPI_OK_SELECT)
		elog(ERROR, "could not read archived groups");

	old = MemoryContextSwitchTo(reader->fetched_context);
	if (reader->nfetched == 0)
	{
		HASHCTL		ctl = {.keysize = sizeof(FetchedKey),.entrysize = sizeof(FetchedGroup),.hcxt = reader->fetched_context};

		reader->fetched = hash_create("zbxhist archived groups",
									  Max(SPI_processed, 1), &ctl,
									  HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	}
	for (uint64 i = 0; i < SPI_processed; i++)
	{
		HeapTuple	tuple = SPI_tuptable->vals[i];
		TupleDesc	desc = SPI_tuptable->tupdesc;
		FetchedKey	key;
		FetchedGroup *fetched;
		bool		is_known;
		bool		isnull;
		Datum		payload = SPI_getbinval(tuple, desc, 3, &isnull);

		if (isnull)
			continue;
		key.copy = *DatumGetUUIDP(SPI_getbinval(tuple, desc, 1, &isnull));
		key.number = DatumGetInt64(SPI_getbinval(tuple, desc, 2, &isnull));
		fetched = hash_search(reader->fetched, &key, HASH_ENTER, &is_known);
		if (is_known)
			continue;
		fetched->bytes = PG_DETOAST_DATUM_COPY(payload);
		if (counters != NULL)
		{
			counters->ngroups++;
			counters->nbytes += VARSIZE_ANY_EXHDR(fetched->bytes);
		}
		reader->nfetched++;
	}
	MemoryContextSwitchTo(old);
	SPI_finish();
	if (!has_snapshot)
		PopActiveSnapshot();
}

/* ---- what is wanted ---- */

/*
 * SetRange makes a range of one group, which a foreign table has.
 */
static void
SetRange(GroupRange *range, Oid groups, const ArchivedGroup *group)
{
	range->groups = groups;
	range->copy = group->copy;
	range->first = group->number;
	range->last = group->number;
}

/*
 * ZbxhistWantArchived adds a group of a day, given by its stand-in, to the next query.
 * Groups are added in the order of the day or in the opposite one.  Returns false if
 * the query is full.  A group whose foreign table is missing is left out.
 */
bool
ZbxhistWantArchived(ArchiveReader *reader, Relation day,
					const struct varlena *archived, bool is_descending)
{
	const GroupRange *asked = &reader->ranges[0];
	GroupRange *last = &reader->ranges[reader->nranges - 1];
	Oid			groups = last->groups;
	ArchivedGroup group;
	ArchiveCopy copy;
	bool		is_last_copy;

	ZbxhistReadArchived(archived, &group);
	is_last_copy = IsSameCopy(&last->copy, &group.copy);
	/* the reader does not need the groups before this one any more */
	if (IsSameCopy(&asked->copy, &group.copy) &&
		(is_descending ? group.number >= asked->last :
		 group.number <= asked->first))
		return true;
	if (is_last_copy && group.number >= last->first &&
		group.number <= last->last)
		return true;
	if (reader->nwanted >= reader->most ||
		reader->nbytes + group.length > (Size) work_mem * 1024)
		return false;

	if (!is_last_copy)
	{
		if (!FindCopy(RelationGetRelid(day), &group.copy, &copy) ||
			(copy.groups != reader->copy.groups &&
			 get_rel_relkind(copy.groups) != RELKIND_FOREIGN_TABLE))
			return true;
		groups = copy.groups;
	}
	if (is_last_copy &&
		(group.number == last->last + 1 || group.number == last->first - 1))
	{
		last->first = Min(last->first, group.number);
		last->last = Max(last->last, group.number);
	}
	else if (reader->nranges == MAX_RANGES)
		return false;
	else
		SetRange(&reader->ranges[reader->nranges++], groups, &group);
	reader->nwanted++;
	reader->nbytes += group.length;
	return true;
}

/*
 * FetchGroup fetches a group and those that will be needed next, with the rights of the
 * day's owner.  The reader's callback names the latter.  If it cannot, the group's
 * neighbours in its day are fetched, if the group before was near.
 */
static void
FetchGroup(ArchiveReader *reader, Relation day, const ArchivedGroup *group,
		   ArchiveCounters *counters)
{
	bool		is_same = reader->nranges > 0 &&
		IsSameCopy(&reader->copy.copy, &group->copy);
	int64		step = is_same ? group->number - reader->last : PG_INT32_MAX;
	int64		most;
	OwnerRights before;

	FindGroupsTable(reader, day, group);
	/* fetch more than before if at least half of those were needed */
	if (reader->nfetched > 0 && reader->nused >= reader->nfetched / 2 &&
		reader->most < PG_INT32_MAX)
		reader->most *= GROWTH;
	/* most readers never run a query */
	if (reader->fetched_context == NULL)
	{
		reader->ranges = MemoryContextAlloc(reader->context,
											sizeof(GroupRange) * MAX_RANGES);
		reader->fetched_context = AllocSetContextCreate(reader->context,
														"zbxhist archived groups",
														ALLOCSET_DEFAULT_SIZES);
	}
	reader->nranges = 1;
	SetRange(&reader->ranges[0], reader->copy.groups, group);
	reader->nwanted = 1;
	reader->nbytes = group->length;
	if (reader->ahead == NULL || !reader->ahead(reader->ahead_arg))
	{
		most = Min(Min(reader->most, MAX_NEIGHBOURS),
				   (int64) work_mem * 1024 / Max(group->length, 1));
		if (most > 1 && step < 0 && step >= -MAX_PASSED)
			reader->ranges[0].first -= most - 1;
		else if (most > 1 && step >= 0 && step <= MAX_PASSED)
			reader->ranges[0].last += most - 1;
	}
	ZbxhistTakeOwnerRights(&before, day->rd_rel->relowner);
	FetchRanges(reader, counters);
	ZbxhistGiveBackRights(&before);
}

/* ---- fetching ---- */

/*
 * FindFetched returns the bytes of a group if they have been fetched, else NULL.
 */
static struct varlena *
FindFetched(const ArchiveReader *reader, const ArchivedGroup *group)
{
	FetchedKey	key = {group->copy, group->number};
	const FetchedGroup *found;

	if (reader->nfetched == 0)
		return NULL;
	found = hash_search(reader->fetched, &key, HASH_FIND, NULL);
	return found == NULL ? NULL : found->bytes;
}

/*
 * ZbxhistHasFetched says whether a reader has fetched the group for which archived
 * stands.
 */
bool
ZbxhistHasFetched(const ArchiveReader *reader, const struct varlena *archived)
{
	ArchivedGroup group;

	ZbxhistReadArchived(archived, &group);
	return FindFetched(reader, &group) != NULL;
}

/*
 * ZbxhistBeginArchiveReader makes a reader in the current context.  The callback
 * ahead, which may be NULL, names the groups that will be needed next by calling
 * ZbxhistWantArchived; it returns false if it does not know them.
 */
ArchiveReader *
ZbxhistBeginArchiveReader(ArchiveAhead ahead, void *arg)
{
	ArchiveReader *reader = palloc0(sizeof(ArchiveReader));

	reader->ahead = ahead;
	reader->ahead_arg = arg;
	reader->most = 1;
	reader->context = CurrentMemoryContext;
	return reader;
}

/*
 * ZbxhistKeepArchived makes a reader keep all groups that it fetches.
 */
void
ZbxhistKeepArchived(ArchiveReader *reader)
{
	reader->keeps_all = true;
}

/*
 * ZbxhistRestartArchive prepares for another range; reads_all says whether all of
 * its groups will be read.
 */
void
ZbxhistRestartArchive(ArchiveReader *reader, bool reads_all)
{
	reader->most = reads_all ? PG_INT32_MAX : 1;
	reader->nused = 0;
}

/*
 * ZbxhistFetchArchived returns the bytes of a group of a day for which archived
 * stands, in the current context.
 */
struct varlena *
ZbxhistFetchArchived(ArchiveReader *reader, Relation day,
					 const struct varlena *archived, ArchiveCounters *counters)
{
	ArchivedGroup group;
	struct varlena *bytes;
	struct varlena *result;

	ZbxhistReadArchived(archived, &group);
	bytes = FindFetched(reader, &group);
	if (bytes == NULL)
	{
		FetchGroup(reader, day, &group, counters);
		bytes = FindFetched(reader, &group);
	}
	reader->last = group.number;
	reader->nused++;
	if (bytes == NULL || !ZbxhistIsGroup(&group, bytes))
	{
		FindGroupsTable(reader, day, &group);
		if (bytes == NULL &&
			reader->copy.archived_at > GetCurrentTransactionStartTimestamp())
			ereport(ERROR,
					errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
					errmsg("packed day \"%s\" was archived on server \"%s\" after this transaction had begun",
						   RelationGetRelationName(day), ServerName(&reader->copy)),
					errhint("Repeat the transaction."),
					errtable(day));
		if (bytes == NULL)
			ereport(ERROR,
					errcode(ERRCODE_DATA_CORRUPTED),
					errmsg("server \"%s\" does not have group " INT64_FORMAT " of archived day \"%s\"",
						   ServerName(&reader->copy), group.number,
						   RelationGetRelationName(day)),
					errtable(day));
		ereport(ERROR,
				errcode(ERRCODE_DATA_CORRUPTED),
				errmsg("group " INT64_FORMAT " of archived day \"%s\" is damaged on server \"%s\"",
					   group.number, RelationGetRelationName(day),
					   ServerName(&reader->copy)),
				errtable(day));
	}
	result = palloc(VARSIZE_ANY(bytes));
	memcpy(result, bytes, VARSIZE_ANY(bytes));
	return result;
}
