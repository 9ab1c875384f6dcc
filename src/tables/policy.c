/*-------------------------------------------------------------------------
 *
 * policy.c
 *	  What sessions that store rows have to know of a parent.
 *
 * It is in tables of the extension that a session that only reads does not
 * have to open: whether rows may leave the parent, which clocks are left out, and
 * which partitions surely have no rows in it (tables/stray.c).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/table.h"
#include "access/transam.h"
#include "utils/builtins.h"
#include "utils/rel.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

#include "tables/own_tables.h"
#include "tables/policy.h"
#include "tables/triggers.h"

/*
 * GetPolicyValue returns a column of a row of one of the extension's tables.
 */
static Datum
GetPolicyValue(Relation rel, HeapTuple tuple, const char *name, bool *isnull)
{
	return get_own_value(rel, tuple, ZbxhistOwnColumn(rel, name), isnull);
}

/*
 * GetSeconds returns a column of type interval in seconds, 0 if it is null.  A
 * month is 30 days.
 */
static int64
GetSeconds(Relation rel, HeapTuple tuple, const char *name)
{
	bool		isnull;
	Datum		value = GetPolicyValue(rel, tuple, name, &isnull);
	const Interval *interval = isnull ? NULL : DatumGetIntervalP(value);

	if (isnull)
		return 0;
	return interval->time / USECS_PER_SEC +
		((int64) interval->month * DAYS_PER_MONTH + interval->day) * SECS_PER_DAY;
}

/*
 * ReadConfig fills in what the policy says: whether rows may leave the parent,
 * false only while undo brings them back, and which clocks are left out.  A
 * parent without a policy row routes, so that the order in which a dump is
 * restored does not matter.
 */
static void
ReadConfig(Oid parent, ParentPolicy *policy)
{
	Relation	config = ZbxhistOpenOwnTable("parent_config", AccessShareLock);
	SysScanDesc scan;
	HeapTuple	tuple;

	if (config == NULL)
		return;
	scan = ZbxhistBeginOwnScan(config, "parent", parent, NULL);
	tuple = systable_getnext(scan);
	if (HeapTupleIsValid(tuple))
	{
		bool		isnull;
		Datum		value = GetPolicyValue(config, tuple, "routing", &isnull);

		policy->is_routing = isnull || DatumGetBool(value);
		policy->limits.max_age = GetSeconds(config, tuple, "max_age");
		policy->limits.max_ahead = GetSeconds(config, tuple, "max_ahead");
		value = GetPolicyValue(config, tuple, "out_of_range", &isnull);
		policy->limits.keeps_rows = !isnull &&
			strcmp(TextDatumGetCString(value), "keep") == 0;
	}
	systable_endscan(scan);
	table_close(config, AccessShareLock);
}

/*
 * ZbxhistReadUndoneParents returns the tables of which an undo has begun and is not
 * through, in a list in the current context.
 */
List *
ZbxhistReadUndoneParents(void)
{
	Relation	config = ZbxhistOpenOwnTable("parent_config", AccessShareLock);
	SysScanDesc scan;
	HeapTuple	tuple;
	List	   *result = NIL;

	if (config == NULL)
		return NIL;
	scan = ZbxhistBeginOwnScan(config, "parent", InvalidOid, NULL);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		bool		isnull;
		Datum		parent = GetPolicyValue(config, tuple, "parent", &isnull);
		Datum		routing = GetPolicyValue(config, tuple, "routing", &isnull);

		if (!isnull && !DatumGetBool(routing) &&
			SearchSysCacheExists1(RELOID, parent))
			result = lappend_oid(result, DatumGetObjectId(parent));
	}
	systable_endscan(scan);
	table_close(config, AccessShareLock);
	return result;
}

/*
 * HasStrayMarks says whether strays have been stored since verification.
 */
static bool
HasStrayMarks(Oid parent)
{
	Relation	marks = ZbxhistOpenOwnTable("stray_mark", AccessShareLock);
	SysScanDesc scan;
	bool		result;

	if (marks == NULL)
		return true;
	scan = ZbxhistBeginOwnScan(marks, "parent", parent, NULL);
	result = HeapTupleIsValid(systable_getnext(scan));
	systable_endscan(scan);
	table_close(marks, AccessShareLock);
	return result;
}

/*
 * ReadVerified returns the partitions that maintenance has found to have no rows
 * in the parent, as long as that is sure to be so still, see tables/stray.c.
 */
static List *
ReadVerified(Relation parent)
{
	TransactionId version = ZbxhistTriggerVersion(parent);
	Relation	state;
	SysScanDesc scan;
	HeapTuple	tuple;
	List	   *result = NIL;

	if (!TransactionIdIsValid(version) ||
		(state = ZbxhistOpenOwnTable("partition_state", AccessShareLock)) == NULL)
		return NIL;
	scan = ZbxhistBeginOwnScan(state, "parent", RelationGetRelid(parent), NULL);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		bool		isnull;
		Datum		seen = GetPolicyValue(state, tuple, "verified", &isnull);
		Datum		partition;

		if (isnull || !TransactionIdEquals(DatumGetTransactionId(seen), version))
			continue;
		partition = GetPolicyValue(state, tuple, "partition", &isnull);
		result = lappend_oid(result, DatumGetObjectId(partition));
	}
	systable_endscan(scan);
	table_close(state, AccessShareLock);
	return result;
}

/*
 * ZbxhistPartitionIsSettled says whether maintenance has found that all
 * transactions have ended that ran when a partition of parent was new.
 */
bool
ZbxhistPartitionIsSettled(Oid parent, Oid partition)
{
	Relation	state = ZbxhistOpenOwnTable("partition_state", AccessShareLock);
	SysScanDesc scan;
	HeapTuple	tuple;
	bool		result = false;

	if (state == NULL)
		return false;
	scan = ZbxhistBeginOwnScan(state, "parent", parent, NULL);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		bool		isnull;
		Datum		relid = GetPolicyValue(state, tuple, "partition", &isnull);

		if (DatumGetObjectId(relid) != partition)
			continue;
		(void) GetPolicyValue(state, tuple, "settling", &isnull);
		result = isnull;
		break;
	}
	systable_endscan(scan);
	table_close(state, AccessShareLock);
	return result;
}

/*
 * ZbxhistReadPolicy fills in policy, in the current context.
 */
void
ZbxhistReadPolicy(Relation parent, ParentPolicy *policy)
{
	memset(policy, 0, sizeof(*policy));
	policy->is_routing = true;
	ReadConfig(RelationGetRelid(parent), policy);
	policy->has_marks = HasStrayMarks(RelationGetRelid(parent));
	policy->verified = policy->has_marks ? NIL : ReadVerified(parent);
}
