/*-------------------------------------------------------------------------
 *
 * archive_away.c
 *	  Statements that go on without an archive server.
 *
 * With zbxhist.ignore_archive_failure, a server to which no connection can be made is
 * left alone until the transaction ends, and what it has is missing in what its
 * statements return; each says so by a WARNING for each server.  Only rows that go to the
 * client may be missing: not those that COPY, a cursor, CREATE TABLE AS or a
 * function in another language than SQL does something with, nor those that a
 * statement changes or locks.  So no dump lacks a row, whoever has set it.
 *
 * Whether there is a connection is tried in a subtransaction, once in a
 * transaction.  One that is lost later is an error: the transaction has read a part of what
 * is there, and postgres_fdw does not let it commit.
 *
 * Memory: what is known of servers is in a context of its own, which is reset
 * when another transaction asks.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "foreign/foreign.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "guc.h"
#include "packed/archive_away.h"
#include "tables/attempt.h"

/* a server that has been asked in this transaction */
typedef struct ArchiveServer
{
	Oid			server;
	bool		is_there;
	char	   *why;			/* it is away; NULL: not known to be */

	/* what is missing in the statement */
	int64		nrows;
	List	   *days;			/* OIDs of their tables */
	NameData	first;			/* of their names */
	NameData	last;
} ArchiveServer;

static List *servers = NIL;
static MemoryContext servers_context = NULL;
static TimestampTz servers_time;	/* when their transaction began */

/* queries that are being executed, and whether the innermost may miss rows */
static int	depth = 0;
static bool may_miss = false;

/* ---- statements ---- */

/*
 * IsForClient says whether all that a query does is to give rows to the client, to
 * EXPLAIN, or to a query that has called a function of SQL.
 */
static bool
IsForClient(const QueryDesc *query)
{
	if (query->operation != CMD_SELECT || query->plannedstmt->hasModifyingCTE ||
		query->plannedstmt->rowMarks != NIL)
		return false;
	switch (query->dest->mydest)
	{
		case DestNone:
		case DestRemote:
		case DestRemoteExecute:
		case DestSQLFunction:
			return true;
		default:
			return false;
	}
}

/*
 * ForgetMissing forgets what was missing, but not which servers are away.
 */
static void
ForgetMissing(void)
{
	ListCell   *lc;

	foreach(lc, servers)
	{
		ArchiveServer *server = lfirst(lc);

		server->nrows = 0;
		list_free(server->days);
		server->days = NIL;
	}
}

/*
 * ZbxhistBeginReading is called when a query is about to be run.  Returns what
 * ZbxhistEndReading is to be called with however that ends.
 */
bool
ZbxhistBeginReading(const QueryDesc *query)
{
	bool		outer = may_miss;

	may_miss = zbxhist_ignore_archive_failure && IsForClient(query) &&
		(depth == 0 || outer);
	/* one that has failed may have left some */
	if (depth == 0)
		ForgetMissing();
	depth++;
	return outer;
}

/*
 * ZbxhistEndReading is called when it has been run.
 */
void
ZbxhistEndReading(bool outer)
{
	depth--;
	may_miss = outer;
}

/*
 * ZbxhistTellMissing warns of what is missing in a client's statement.
 */
void
ZbxhistTellMissing(void)
{
	ListCell   *lc;

	if (depth > 0)
		return;
	foreach(lc, servers)
	{
		const ArchiveServer *server = lfirst(lc);
		int			ndays = list_length(server->days);

		if (ndays > 0)
			ereport(WARNING,
					errcode(ERRCODE_SQLCLIENT_UNABLE_TO_ESTABLISH_SQLCONNECTION),
					errmsg_plural("%d archived day with up to " INT64_FORMAT " rows is missing, for server \"%s\" cannot be reached",
								  "%d archived days with up to " INT64_FORMAT " rows are missing, for server \"%s\" cannot be reached",
								  ndays, ndays, server->nrows,
								  GetForeignServer(server->server)->servername),
					errdetail("Days: from \"%s\" to \"%s\".  Reason: %s",
							  NameStr(server->first), NameStr(server->last),
							  server->why));
	}
	ForgetMissing();
}

/*
 * ZbxhistMayMiss says whether rows may be missing in what the present query
 * reads.
 */
bool
ZbxhistMayMiss(void)
{
	return may_miss && zbxhist_ignore_archive_failure;
}

/* ---- servers ---- */

/*
 * FindServer returns what the transaction knows of a server.
 */
static ArchiveServer *
FindServer(Oid oid)
{
	TimestampTz now = GetCurrentTransactionStartTimestamp();
	MemoryContext old;
	ArchiveServer *server;
	ListCell   *lc;

	if (servers_context == NULL)
		servers_context = AllocSetContextCreate(TopMemoryContext,
												"zbxhist archive servers",
												ALLOCSET_SMALL_SIZES);
	if (servers_time != now)
	{
		MemoryContextReset(servers_context);
		servers = NIL;
		servers_time = now;
	}
	foreach(lc, servers)
	{
		server = lfirst(lc);
		if (server->server == oid)
			return server;
	}
	old = MemoryContextSwitchTo(servers_context);
	server = palloc0(sizeof(ArchiveServer));
	server->server = oid;
	servers = lappend(servers, server);
	MemoryContextSwitchTo(old);
	return server;
}

/*
 * IsNotReached says whether an error is that of a connection which cannot be
 * made.
 */
static bool
IsNotReached(int sqlerrcode)
{
	return sqlerrcode == ERRCODE_SQLCLIENT_UNABLE_TO_ESTABLISH_SQLCONNECTION;
}

/*
 * ZbxhistReachServer returns false if a server is away.  The first time in a
 * transaction fetch, which is called with arg, reads something there.
 */
bool
ZbxhistReachServer(Oid oid, void (*fetch) (void *), void *arg)
{
	ArchiveServer *server = FindServer(oid);
	ErrorData  *error;

	/* a parallel query cannot try; what it fetches then may fail */
	if (server->is_there || (server->why == NULL && IsInParallelMode()))
		return true;
	if (server->why == NULL)
	{
		error = ZbxhistAttemptIf(fetch, arg, IsNotReached);
		server->is_there = error == NULL;
		if (error != NULL)
			server->why = MemoryContextStrdup(servers_context,
											  error->detail != NULL ? error->detail : error->message);
	}
	return server->is_there;
}

/*
 * ZbxhistMayAskToo says whether a server may be asked in the same query as another one: if
 * that fails because one is away, it must be known which.
 */
bool
ZbxhistMayAskToo(Oid oid)
{
	return !ZbxhistMayMiss() || FindServer(oid)->is_there;
}

/*
 * ZbxhistNoteMissing notes that a group of a day is missing, which has so many
 * rows.
 */
void
ZbxhistNoteMissing(Oid oid, Relation day, int64 nrows)
{
	ArchiveServer *server = FindServer(oid);
	MemoryContext old = MemoryContextSwitchTo(servers_context);
	const char *name = RelationGetRelationName(day);

	if (server->days == NIL || namestrcmp(&server->first, name) > 0)
		namestrcpy(&server->first, name);
	if (server->days == NIL || namestrcmp(&server->last, name) < 0)
		namestrcpy(&server->last, name);
	server->days = list_append_unique_oid(server->days, RelationGetRelid(day));
	server->nrows += nrows;
	MemoryContextSwitchTo(old);
}
