/*-------------------------------------------------------------------------
 *
 * delete.c
 *	  SQL function delete_values: deletes rows of an item by a DELETE.
 *
 * Locks are those of the DELETE.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/rel.h"

#include "compat.h"
#include "read/parent.h"
#include "tables/owned_table.h"
#include "tables/owner_rights.h"
#include "tables/partition_set.h"

PG_FUNCTION_INFO_V1(zbxhist_delete_values);

/* the operators that the words of the argument "which" stand for */
static const char *const words[] =
{"equal", "less_or_equal", "less", "greater_or_equal", "greater", NULL};
static const char *const operators[] = {"=", "<=", "<", ">=", ">"};
static const char *const clock_operators[] = {"=", "<=", "<=", ">=", ">="};

/*
 * DeleteStatement returns the statement for a parent.  With ns it compares the clock alone,
 * too, so that partitions can be excluded.  Without ns it compares only the clock: then
 * packed rows can be deleted without checking each.
 */
static char *
DeleteStatement(Relation parent, const char *clock_operator,
				const char *operator, int32 ns)
{
	bool		has_ns =
		ZbxhistGetPartitionSet(parent)->ns_attnum != InvalidAttrNumber;
	bool		needs_ns = strcmp(operator, ">=") != 0 || ns != PG_INT32_MIN;
	char	   *moment = !needs_ns ? "" :
		psprintf(" AND ROW(clock, %s) OPERATOR(pg_catalog.%s) ROW($2, $3)",
				 has_ns ? "ns" : "0", operator);

	return psprintf("DELETE FROM %s WHERE itemid OPERATOR(pg_catalog.=) $1 "
					"AND clock OPERATOR(pg_catalog.%s) $2%s",
					ZbxhistQualifiedName(RelationGetRelid(parent)), clock_operator, moment);
}

/*
 * BecomeOwner switches to the rights of the parent's owner if the user may act as that
 * role, because delete_item changes tables that the user has not named, and their
 * triggers are code of their owners.  Returns false if the user only has privileges, as
 * for a DELETE.
 */
static bool
BecomeOwner(Relation parent, OwnerRights *before)
{
	if (!owns_relation(RelationGetRelid(parent), GetUserId()))
		return false;
	ZbxhistTakeOwnerRights(before, parent->rd_rel->relowner);
	ZbxhistCheckPrivileges(parent, ACL_SELECT | ACL_DELETE);
	return true;
}

/*
 * zbxhist_delete_values(parent, itemid, clock, ns, which) deletes an item's
 * rows at, before or after a moment and returns their number.
 */
Datum
zbxhist_delete_values(PG_FUNCTION_ARGS)
{
	Oid			types[] = {INT8OID, INT4OID, INT4OID};
	Datum		values[] = {PG_GETARG_DATUM(1), PG_GETARG_DATUM(2), PG_GETARG_DATUM(3)};
	int			which = ZbxhistGetWord(fcinfo, 4, "which", words);
	Relation	parent;
	OwnerRights before;
	bool		is_owner;
	int64		deleted;

	PreventCommandIfReadOnly("DELETE");
	PreventCommandIfParallelMode("DELETE");
	parent = ZbxhistOpenParent(PG_GETARG_OID(0), RowExclusiveLock,
							   ACL_SELECT | ACL_DELETE);
	is_owner = BecomeOwner(parent, &before);
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "could not connect to SPI");
	if (SPI_execute_with_args(DeleteStatement(parent, clock_operators[which],
											  operators[which],
											  PG_GETARG_INT32(3)),
							  lengthof(types), types, values, NULL, false,
							  0) < 0)
		elog(ERROR, "could not execute DELETE");
	deleted = (int64) SPI_processed;
	SPI_finish();
	if (is_owner)
		ZbxhistGiveBackRights(&before);
	table_close(parent, NoLock);
	PG_RETURN_INT64(deleted);
}
