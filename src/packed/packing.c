/*-------------------------------------------------------------------------
 *
 * packing.c
 *	  Catalog look-ups and locks for the SQL steps of packing.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "access/transam.h"
#include "catalog/dependency.h"
#include "catalog/objectaddress.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "fmgr.h"
#include "nodes/pg_list.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/rel.h"
#include "utils/syscache.h"
#include "utils/xid8.h"

#include "compat.h"
#include "compat_marks.h"
#include "format/layout.h"
#include "tables/move_lock.h"
#include "tables/owned_table.h"
#include "tables/packed_days.h"

PG_FUNCTION_INFO_V1(zbxhist_packed_table);
PG_FUNCTION_INFO_V1(zbxhist_why_not_packable);
PG_FUNCTION_INFO_V1(zbxhist_attach_day);
PG_FUNCTION_INFO_V1(zbxhist_end_older_snapshots);
PG_FUNCTION_INFO_V1(zbxhist_lock_moves);
PG_FUNCTION_INFO_V1(zbxhist_lock_packed_table);

/*
 * zbxhist_lock_moves(parent regclass) makes statements that change rows wait
 * for the end of the transaction, see move_lock.c.
 */
Datum
zbxhist_lock_moves(PG_FUNCTION_ARGS)
{
	ZbxhistRequireOwner(PG_GETARG_OID(0));
	ZbxhistBeginMoving(PG_GETARG_OID(0));
	PG_RETURN_VOID();
}

/*
 * zbxhist_lock_packed_table(packed regclass, readers boolean) locks a foreign table
 * against UPDATE and DELETE, or against readers, too, which LOCK TABLE does not do.
 */
Datum
zbxhist_lock_packed_table(PG_FUNCTION_ARGS)
{
	ZbxhistRequireOwner(PG_GETARG_OID(0));
	LockRelationOid(PG_GETARG_OID(0), PG_GETARG_BOOL(1) ? AccessExclusiveLock :
					ShareRowExclusiveLock);
	PG_RETURN_VOID();
}

/*
 * zbxhist_packed_table(parent regclass) returns the foreign table that stands
 * for the packed days of parent, or null.
 */
Datum
zbxhist_packed_table(PG_FUNCTION_ARGS)
{
	Oid			parent = PG_GETARG_OID(0);
	List	   *children;
	ListCell   *lc;

	if (!SearchSysCacheExists1(RELOID, ObjectIdGetDatum(parent)))
		PG_RETURN_NULL();		/* dropped */
	children = find_inheritance_children(parent, NoLock);
	foreach(lc, children)
	{
		if (ZbxhistIsPackedTable(lfirst_oid(lc)))
			PG_RETURN_OID(lfirst_oid(lc));
	}
	PG_RETURN_NULL();
}

/*
 * zbxhist_why_not_packable(relation regclass) returns the reason, or null.
 */
Datum
zbxhist_why_not_packable(PG_FUNCTION_ARGS)
{
	Relation	rel = try_table_open(PG_GETARG_OID(0), AccessShareLock);
	const char *reason;

	if (rel == NULL)
		PG_RETURN_NULL();
	reason = ZbxhistWhyNotPackable(RelationGetDescr(rel));
	table_close(rel, AccessShareLock);
	if (reason == NULL)
		PG_RETURN_NULL();
	PG_RETURN_TEXT_P(cstring_to_text(reason));
}

/*
 * zbxhist_attach_day(day regclass, packed regclass) records that a packed day's
 * table depends on the foreign table: DROP of that needs CASCADE, and lists the
 * days that are dropped with it.
 */
Datum
zbxhist_attach_day(PG_FUNCTION_ARGS)
{
	ObjectAddress day;
	ObjectAddress packed;

	ZbxhistRequireOwner(PG_GETARG_OID(0));
	ZbxhistRequireOwner(PG_GETARG_OID(1));
	ObjectAddressSet(day, RelationRelationId, PG_GETARG_OID(0));
	ObjectAddressSet(packed, RelationRelationId, PG_GETARG_OID(1));
	recordDependencyOn(&day, &packed, DEPENDENCY_NORMAL);
	PG_RETURN_VOID();
}

/*
 * zbxhist_end_older_snapshots(relation regclass, changed xid8) has standby servers end
 * queries by snapshots that do not see that transaction, before the table is dropped that
 * has the rows for them.  A transaction of another cluster, from a restored dump, is
 * ignored.
 */
Datum
zbxhist_end_older_snapshots(PG_FUNCTION_ARGS)
{
	FullTransactionId changed = PG_GETARG_FULLTRANSACTIONID(1);
	Relation	rel;

	ZbxhistRequireOwner(PG_GETARG_OID(0));
	rel = table_open(PG_GETARG_OID(0), AccessShareLock);
	if (FullTransactionIdPrecedes(changed, ReadNextFullTransactionId()))
		log_snapshot_conflict(rel, XidFromFullTransactionId(changed));
	table_close(rel, NoLock);
	PG_RETURN_VOID();
}
