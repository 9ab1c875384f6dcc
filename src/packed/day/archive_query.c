/*-------------------------------------------------------------------------
 *
 * archive_query.c
 *	  The query for groups of packed days that are stored on other servers.
 *
 * Each foreign table's groups are a part of it; several are a UNION ALL, whose
 * parts PostgreSQL executes asynchronously (async_capable): all servers are at work at
 * once.  Ranges that are repeated make few queries of many, so that their plans
 * can be kept, in memory of the session.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "lib/stringinfo.h"
#include "port/pg_bitutils.h"
#include "utils/memutils.h"

#include "catalog/owned_table.h"
#include "packed/day/archive_query.h"

/* what a query compares a group with, and its parameters for each range */
#define RANGE_CONDITION "(copy OPERATOR(pg_catalog.=) $%d AND number OPERATOR(pg_catalog.>=) $%d AND number OPERATOR(pg_catalog.<=) $%d)"
#define RANGE_PARAMETERS 3

/* those of a query: each table may have nearly twice its ranges */
#define MAX_PARAMETERS (2 * MAX_RANGES * RANGE_PARAMETERS)

/* a query of some shape, with its parameters */
typedef struct RangeQuery
{
	StringInfoData text;
	int			nvalues;
	Datum		values[MAX_PARAMETERS];
} RangeQuery;

/* a plan that is kept */
typedef struct KeptPlan
{
	SPIPlanPtr	plan;
	char	   *query;
} KeptPlan;

/*
 * PreparePlan replaces a plan by one for another query of so many parameters.
 */
static void
PreparePlan(KeptPlan *kept, const char *query, int nvalues)
{
	Oid			types[MAX_PARAMETERS];
	SPIPlanPtr	made;

	for (int i = 0; i < nvalues; i++)
		types[i] = i % RANGE_PARAMETERS == 0 ? UUIDOID : INT8OID;
	if (kept->plan != NULL)
	{
		SPI_freeplan(kept->plan);
		pfree(kept->query);
	}
	kept->plan = NULL;
	made = SPI_prepare_cursor(query, nvalues, types, CURSOR_OPT_GENERIC_PLAN);
	if (made == NULL)
		elog(ERROR, "could not prepare query: %s",
			 SPI_result_code_string(SPI_result));
	kept->query = MemoryContextStrdup(TopMemoryContext, query);
	SPI_keepplan(made);
	kept->plan = made;
}

/*
 * GetPlan returns the plan of a query; of each number of ranges, as a power of two,
 * that which was executed last is kept.
 */
static SPIPlanPtr
GetPlan(const RangeQuery *query)
{
	static KeptPlan plans[8];
	KeptPlan   *kept = &plans[pg_leftmost_one_pos32(query->nvalues / RANGE_PARAMETERS)];

	StaticAssertDecl(1 << (lengthof(plans) - 1) == 2 * MAX_RANGES,
					 "plans for all numbers of ranges");

	if (kept->plan == NULL || strcmp(query->text.data, kept->query) != 0)
		PreparePlan(kept, query->text.data, query->nvalues);
	return kept->plan;
}

/*
 * AddRanges adds so many ranges of a table's to the query, the last one as often as
 * makes their number a power of two: there are few queries then.
 */
static void
AddRanges(RangeQuery *query, const GroupRange *ranges, int nranges)
{
	appendStringInfo(&query->text, "%sSELECT copy, number, payload FROM %s WHERE ",
					 query->nvalues == 0 ? "" : " UNION ALL ",
					 ZbxhistQualifiedName(ranges->groups));
	for (int i = 0; i < pg_nextpower2_32(nranges); i++)
	{
		const GroupRange *range = &ranges[Min(i, nranges - 1)];
		int			n = query->nvalues;

		appendStringInfo(&query->text, "%s" RANGE_CONDITION,
						 i == 0 ? "" : " OR ", n + 1, n + 2, n + 3);
		query->values[n] = UUIDPGetDatum(&range->copy);
		query->values[n + 1] = Int64GetDatum(range->first);
		query->values[n + 2] = Int64GetDatum(range->last);
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
 * ZbxhistQueryRanges has the groups of some ranges as the result of SPI, to which the caller
 * has connected, and sorts the ranges.
 */
void
ZbxhistQueryRanges(GroupRange *ranges, int nranges)
{
	RangeQuery	query = {.nvalues = 0};
	int			first = 0;

	initStringInfo(&query.text);
	qsort(ranges, nranges, sizeof(GroupRange), CompareTables);
	for (int i = 1; i <= nranges; i++)
	{
		if (i < nranges && ranges[i].groups == ranges[first].groups)
			continue;
		AddRanges(&query, &ranges[first], i - first);
		first = i;
	}
	if (SPI_execute_plan(GetPlan(&query), query.values, NULL, true,
						 0) != SPI_OK_SELECT)
		elog(ERROR, "could not read archived groups");
}
