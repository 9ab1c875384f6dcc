/*-------------------------------------------------------------------------
 *
 * policy.c
 *	  What sessions that store rows must know about a parent.
 *
 * It is read from tables of the extension: whether rows may leave the parent, which clocks
 * are left out, and for which partitions the parent surely has no rows (tables/stray.c).  A
 * session that only reads need not open these tables.
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
 * GetSeconds returns a column of type interval in seconds, 0 if it is null.  A
 * month is 30 days.
 */
static int64
GetSeconds(const OwnScan *scan, const char *name)
{
	bool		isnull;
	Datum		value = ZbxhistOwnValue(scan, name, &isnull);
	const Interval *interval = isnull ? NULL : DatumGetIntervalP(value);

	if (isnull)
		return 0;
	return interval->time / USECS_PER_SEC +
		((int64) interval->month * DAYS_PER_MONTH + interval->day) * SECS_PER_DAY;
}

/*
 * ZbxhistReadPolicy fills in whether rows may leave the parent (false only while undo
 * brings them back) and which clocks are left out.  A parent without a row in
 * parent_config routes, so that the order in which a dump is restored does not matter.
 */
void
ZbxhistReadPolicy(Oid parent, ParentPolicy *policy)
{
	OwnScan		scan;

	memset(policy, 0, sizeof(*policy));
	policy->is_routing = true;
	ZbxhistBeginOwnScan(&scan, "parent_config", "parent", parent, NULL);
	if (ZbxhistNextOwnRow(&scan))
	{
		bool		isnull;
		Datum		value = ZbxhistOwnValue(&scan, "routing", &isnull);

		policy->is_routing = isnull || DatumGetBool(value);
		policy->limits.max_age = GetSeconds(&scan, "max_age");
		policy->limits.max_ahead = GetSeconds(&scan, "max_ahead");
		value = ZbxhistOwnValue(&scan, "out_of_range", &isnull);
		policy->limits.keeps_rows = !isnull &&
			strcmp(TextDatumGetCString(value), "keep") == 0;
	}
	ZbxhistEndOwnScan(&scan);
}

/*
 * ZbxhistFindUndoneParent returns a table whose undo has begun and is not finished, or
 * InvalidOid.
 */
Oid
ZbxhistFindUndoneParent(void)
{
	OwnScan		scan;
	Oid			result = InvalidOid;

	ZbxhistBeginOwnScan(&scan, "parent_config", "parent", InvalidOid, NULL);
	while (!OidIsValid(result) && ZbxhistNextOwnRow(&scan))
	{
		bool		isnull;
		Datum		parent = ZbxhistOwnValue(&scan, "parent", &isnull);
		Datum		routing = ZbxhistOwnValue(&scan, "routing", &isnull);

		if (!isnull && !DatumGetBool(routing) &&
			SearchSysCacheExists1(RELOID, parent))
			result = DatumGetObjectId(parent);
	}
	ZbxhistEndOwnScan(&scan);
	return result;
}

/*
 * ZbxhistHasStrayMarks says whether strays have been stored since verification.
 */
bool
ZbxhistHasStrayMarks(Oid parent)
{
	OwnScan		scan;
	bool		result;

	ZbxhistBeginOwnScan(&scan, "stray_mark", "parent", parent, NULL);
	result = scan.rel == NULL || ZbxhistNextOwnRow(&scan);
	ZbxhistEndOwnScan(&scan);
	return result;
}

/*
 * ZbxhistReadVerified returns the partitions of which the parent has no rows, as verified
 * by maintenance and still certain (tables/stray.c), as a list of OIDs in the current
 * context.
 */
List *
ZbxhistReadVerified(Relation parent)
{
	TransactionId version = ZbxhistTriggerVersion(parent);
	OwnScan		scan;
	List	   *result = NIL;

	if (!TransactionIdIsValid(version))
		return NIL;
	ZbxhistBeginOwnScan(&scan, "partition_state", "parent",
						RelationGetRelid(parent), NULL);
	while (ZbxhistNextOwnRow(&scan))
	{
		bool		isnull;
		Datum		seen = ZbxhistOwnValue(&scan, "verified", &isnull);

		if (!isnull && TransactionIdEquals(DatumGetTransactionId(seen), version))
			result = lappend_oid(result, DatumGetObjectId(ZbxhistOwnValue(&scan, "partition",
																		  &isnull)));
	}
	ZbxhistEndOwnScan(&scan);
	return result;
}

/*
 * ZbxhistPartitionIsSettled says whether maintenance has found that all
 * transactions have ended that ran when a partition of parent was new.
 */
bool
ZbxhistPartitionIsSettled(Oid parent, Oid partition)
{
	OwnScan		scan;
	bool		result = false;

	ZbxhistBeginOwnScan(&scan, "partition_state", "parent", parent, NULL);
	while (!result && ZbxhistNextOwnRow(&scan))
	{
		bool		isnull;
		Datum		relid = ZbxhistOwnValue(&scan, "partition", &isnull);

		(void) ZbxhistOwnValue(&scan, "settling", &isnull);
		result = DatumGetObjectId(relid) == partition && isnull;
	}
	ZbxhistEndOwnScan(&scan);
	return result;
}
