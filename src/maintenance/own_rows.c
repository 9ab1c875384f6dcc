/*-------------------------------------------------------------------------
 *
 * own_rows.c
 *	  Finds and counts rows of a single table without a query.
 *
 * Planning a query on a table may run code that its owner has put into expressions of
 * indexes and constraints.  A role that monitors or maintains the table must not run that
 * code.  So rows are counted and found here; clocks are found by an index if possible
 * (tables/item_index.c).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/table.h"
#include "access/tableam.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "compat.h"
#include "tables/bounds.h"
#include "tables/item_index.h"
#include "tables/moving.h"
#include "tables/owned_table.h"

PG_FUNCTION_INFO_V1(zbxhist_count_own_rows);
PG_FUNCTION_INFO_V1(zbxhist_has_own_rows);
PG_FUNCTION_INFO_V1(zbxhist_waiting_clock);

/* question about the rows of a range of clocks */
typedef enum ClockQuestion
{
	OLDEST_CLOCK,
	NEWEST_CLOCK,
	ANY_CLOCK,					/* the first that is found */
	COUNT_CLOCKS
} ClockQuestion;

typedef struct ClockSearch
{
	ClockQuestion question;
	RowWalk		walk;			/* narrows its clocks while it proceeds */
	AttrNumber	clock;			/* 0: rows without a clock count, too */
	int64		count;			/* of rows that have been found */
	int64		result;			/* clock of the last one */
} ClockSearch;

/*
 * OpenReadable opens a plain table of which the user may read all rows, and
 * which must have clocks of Zabbix's type if needs_clock.
 */
static Relation
OpenReadable(Oid relid, bool needs_clock)
{
	Relation	rel = ZbxhistOpenPlainTable(relid, AccessShareLock);

	ZbxhistCheckPrivileges(rel, ACL_SELECT);
	if (needs_clock)
		ZbxhistRequireClock(rel);
	return rel;
}

/* ---- clocks ---- */

/*
 * VisitClock adds one row to the search.  If the oldest or newest clock is asked for,
 * the search then continues with older or newer clocks only.  Returns false if no
 * further row can change the answer.
 */
static bool
VisitClock(void *state, TupleTableSlot *slot)
{
	ClockSearch *search = state;
	RowWalk    *walk = &search->walk;
	bool		isnull;

	search->count++;
	if (search->question == ANY_CLOCK || search->question == COUNT_CLOCKS)
		return search->question == COUNT_CLOCKS;
	search->result = DatumGetInt32(slot_getattr(slot, search->clock, &isnull));
	if (search->question == NEWEST_CLOCK)
		walk->from_clock = search->result + 1;
	else
		walk->to_clock = search->result;
	return walk->from_clock < walk->to_clock;
}

/*
 * SearchClocks answers a question about the rows of the table relid alone, between
 * two clocks unless is_of_all.
 */
static void
SearchClocks(ClockSearch *search, Oid relid, bool is_of_all, int64 from_clock,
			 int64 to_clock)
{
	Relation	rel = OpenReadable(relid, !is_of_all);
	Relation	index = search->question == COUNT_CLOCKS ? NULL :
		ZbxhistFindItemIndex(rel);
	int64		itemid = 0;

	search->clock = get_attnum(relid, "clock");
	search->walk = (RowWalk)
	{
		.source = rel,
			.snapshot = GetActiveSnapshot(),
			.is_of_all = is_of_all,
			.from_clock = from_clock,
			.to_clock = to_clock,
			.is_of_ends = true,
			.is_backward = search->question == NEWEST_CLOCK,
			.visit = VisitClock,
			.state = search
	};
	if (from_clock < to_clock)
		(void) ZbxhistWalkRows(&search->walk, index, true, &itemid);
	if (index != NULL)
		index_close(index, NoLock);
	table_close(rel, NoLock);
}

/*
 * zbxhist_waiting_clock(parent, from_clock, to_clock, newest) returns the
 * newest or oldest clock, in seconds, from_clock <= clock < to_clock, among
 * the rows of the parent itself; null if there is none.
 */
Datum
zbxhist_waiting_clock(PG_FUNCTION_ARGS)
{
	ClockSearch search = {
		.question = PG_GETARG_BOOL(3) ? NEWEST_CLOCK : OLDEST_CLOCK
	};

	SearchClocks(&search, PG_GETARG_OID(0), false, PG_GETARG_INT64(1),
				 PG_GETARG_INT64(2));
	if (search.count == 0)
		PG_RETURN_NULL();
	PG_RETURN_INT64(search.result);
}

/*
 * zbxhist_has_own_rows(parent, since_clock) says whether the parent itself
 * holds a row, or one with clock >= since_clock.
 */
Datum
zbxhist_has_own_rows(PG_FUNCTION_ARGS)
{
	ClockSearch search = {.question = ANY_CLOCK};

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	SearchClocks(&search, PG_GETARG_OID(0), PG_ARGISNULL(1),
				 PG_ARGISNULL(1) ? ZBXHIST_CLOCK_MIN : PG_GETARG_INT64(1),
				 ZBXHIST_CLOCK_END);
	PG_RETURN_BOOL(search.count > 0);
}

/*
 * zbxhist_count_own_rows(relation, from_clock, to_clock) returns the number of
 * rows in the table itself with from_clock <= clock < to_clock, in seconds;
 * of all rows if both are null.
 */
Datum
zbxhist_count_own_rows(PG_FUNCTION_ARGS)
{
	ClockSearch search = {.question = COUNT_CLOCKS};

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	SearchClocks(&search, PG_GETARG_OID(0), PG_ARGISNULL(1) && PG_ARGISNULL(2),
				 PG_ARGISNULL(1) ? ZBXHIST_CLOCK_MIN : PG_GETARG_INT64(1),
				 PG_ARGISNULL(2) ? ZBXHIST_CLOCK_END : PG_GETARG_INT64(2));
	PG_RETURN_INT64(search.count);
}
