/*-------------------------------------------------------------------------
 *
 * item_usage.c
 *	  SQL function item_usage: the items that take most of a parent.
 *
 * The tables of a parent are visited as a reader of one item visits them
 * (reader.c), each once.
 *
 * Locks: ACCESS SHARE on the parent, its packed table and each table while it
 * is read; those of partitions last until the transaction ends.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/relation.h"
#include "access/table.h"
#include "catalog/pg_class.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/tuplestore.h"

#include "catalog/partition_set.h"
#include "packed/changes/day_conflicts.h"
#include "packed/day/scan.h"
#include "read/arguments.h"
#include "read/parent.h"
#include "read/usage_tables.h"
#include "rows/partition_walk.h"

PG_FUNCTION_INFO_V1(zbxhist_item_usage);

/* ---- the parent's tables ---- */

/*
 * AddOthers adds the parent itself, and children that are no partitions.
 */
static void
AddOthers(UsageSums *sums, Relation parent, Snapshot snapshot)
{
	PartitionSet *set = ZbxhistGetPartitions(parent);
	int			nothers = set->nothers;
	Oid		   *others = palloc(sizeof(Oid) * (nothers + 1));

	if (nothers > 0)
		memcpy(others, set->others, sizeof(Oid) * nothers);
	ZbxhistAddTableUsage(sums, parent, snapshot);
	for (int i = 0; i < nothers; i++)
	{
		Relation	rel = try_relation_open(others[i], AccessShareLock);

		if (rel == NULL)
			continue;
		if (rel->rd_rel->relkind == RELKIND_RELATION)
			ZbxhistAddTableUsage(sums, rel, snapshot);
		relation_close(rel, NoLock);
	}
}

/*
 * AddStep adds a partition or packed day, if it still is one.
 */
static void
AddStep(UsageSums *sums, PartitionWalk *walk, const WalkStep *step,
		Snapshot snapshot)
{
	Relation	rel = step->is_day ?
		ZbxhistOpenDay(step->relid, InvalidOid, AccessShareLock, ACL_SELECT) :
		try_table_open(step->relid, AccessShareLock);

	if (rel == NULL)
		return;
	if (!ZbxhistWalkKnows(walk, step->relid))
	{
		table_close(rel, NoLock);
		return;
	}
	if (step->is_day)
		ZbxhistAddDayUsage(sums, rel, snapshot);
	else
		ZbxhistAddTableUsage(sums, rel, snapshot);
	ZbxhistWalkArrived(walk, step);
	/* of hundreds of days; the lock on the packed table keeps them */
	table_close(rel, step->is_day ? AccessShareLock : NoLock);
}

/*
 * AddTables adds all tables of a parent that may have rows of the range.
 */
static void
AddTables(UsageSums *sums, Relation parent, Snapshot snapshot)
{
	PartitionSet *set = ZbxhistGetPartitions(parent);
	ItemRange	range;
	PartitionWalk walk = {0};
	WalkStep	step;

	if (OidIsValid(set->packed))
	{
		LockRelationOid(set->packed, AccessShareLock);
		ZbxhistNotePackedRead(parent, snapshot);
	}
	AddOthers(sums, parent, snapshot);
	ZbxhistWholeItem(&range, 0);
	ZbxhistStartAt(&range, make_position(sums->from_clock, PG_INT32_MIN));
	if (sums->to_clock <= PG_INT32_MAX)
		ZbxhistEndBefore(&range, make_position(sums->to_clock, PG_INT32_MIN));
	ZbxhistBeginWalk(&walk, parent, &range);
	while (ZbxhistWalkNext(&walk, &step))
	{
		CHECK_FOR_INTERRUPTS();
		AddStep(sums, &walk, &step, snapshot);
	}
}

/* ---- the function ---- */

/*
 * PutItems adds a row to the result for each of the largest items.
 */
static void
PutItems(ReturnSetInfo *rsinfo, const UsageSums *sums, uint64 max_items)
{
	int64		nitems;
	ItemUsage **items = ZbxhistLargestItems(sums, &nitems);

	for (int64 i = 0; i < nitems && (uint64) i < max_items; i++)
	{
		const ItemUsage *item = items[i];
		Datum		values[7];
		bool		nulls[7] = {false};

		values[0] = Int64GetDatum(item->itemid);
		values[1] = Int64GetDatum((int64) rint(item->packed.nrows));
		values[2] = Int64GetDatum((int64) rint(item->packed.nbytes));
		values[3] = Int64GetDatum((int64) rint(item->heap.nrows));
		values[4] = Int64GetDatum((int64) rint(item->heap.nbytes));
		values[5] = BoolGetDatum(sums->is_exact);
		values[6] = Int64GetDatum((int64) rint(sums->total));
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values,
							 nulls);
	}
}

/*
 * GetClock returns an argument that is a clock, within what a column of clocks
 * can have and the first after it; outer if it is null.
 */
static int64
GetClock(FunctionCallInfo fcinfo, int argument, int64 outer)
{
	if (PG_ARGISNULL(argument))
		return outer;
	return Max(PG_INT32_MIN, Min((int64) PG_INT32_MAX + 1,
								 PG_GETARG_INT64(argument)));
}

/*
 * zbxhist_item_usage(parent, from_clock, to_clock, max_items) returns what the
 * largest items take; see sql/operate/usage.sql.
 */
Datum
zbxhist_item_usage(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	UsageSums	sums;
	uint64		max_items = ZbxhistToLimit("max_items", PG_ARGISNULL(3),
										   PG_GETARG_INT32(3));
	Relation	parent;
	Snapshot	snapshot;

	if (PG_ARGISNULL(0))
		ereport(ERROR,
				errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				errmsg("argument \"%s\" must not be null", "parent"),
				errhint("SELECT parent FROM zbxhist.parents;"));
	InitMaterializedSRF(fcinfo, 0);
	ZbxhistInitUsage(&sums, GetClock(fcinfo, 1, PG_INT32_MIN),
					 GetClock(fcinfo, 2, (int64) PG_INT32_MAX + 1));
	if (sums.from_clock > sums.to_clock)
		ereport(ERROR,
				errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("range of time ends before it begins"));
	parent = ZbxhistOpenParent(PG_GETARG_OID(0), AccessShareLock, ACL_SELECT);
	snapshot = RegisterSnapshot(GetActiveSnapshot());
	if (sums.from_clock < sums.to_clock)
		AddTables(&sums, parent, snapshot);
	UnregisterSnapshot(snapshot);
	table_close(parent, NoLock);
	PutItems(rsinfo, &sums, max_items);
	return (Datum) 0;
}
