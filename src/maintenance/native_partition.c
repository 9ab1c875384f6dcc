/*-------------------------------------------------------------------------
 *
 * native_partition.c
 *	  Adds our constraint to partitions of a natively partitioned table.
 *
 * A native partition has only rows within its bounds, so a CHECK constraint with the same
 * bounds is valid, and need not read the rows.  PostgreSQL itself relies on that in
 * DETACH PARTITION CONCURRENTLY.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/indexing.h"
#include "catalog/pg_constraint.h"
#include "fmgr.h"
#include "utils/inval.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "tables/bounds.h"
#include "tables/owned_table.h"

PG_FUNCTION_INFO_V1(zbxhist_trust_bounds);

/*
 * zbxhist_trust_bounds(partition) marks the constraint zbxhist_clock of a native
 * partition as valid.  The caller, sql/migrate/native.sql, has made it of the
 * partition's bounds.  The lock is ACCESS EXCLUSIVE.
 */
Datum
zbxhist_trust_bounds(PG_FUNCTION_ARGS)
{
	Oid			relid = PG_GETARG_OID(0);
	Relation	partition = ZbxhistOpenOwnedTable(relid, AccessExclusiveLock);
	Relation	catalog;
	HeapTuple	tuple;

	if (!partition->rd_rel->relispartition)
		ereport(ERROR,
				errcode(ERRCODE_WRONG_OBJECT_TYPE),
				errmsg("\"%s\" is not a partition of a partitioned table",
					   RelationGetRelationName(partition)),
				errtable(partition));
	catalog = table_open(ConstraintRelationId, RowExclusiveLock);
	tuple = SearchSysCacheCopy1(CONSTROID,
								ObjectIdGetDatum(get_relation_constraint_oid(relid,
																			 ZBXHIST_BOUNDS_CONSTRAINT,
																			 false)));
	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for constraint \"%s\"",
			 ZBXHIST_BOUNDS_CONSTRAINT);
	((Form_pg_constraint) GETSTRUCT(tuple))->convalidated = true;
	CatalogTupleUpdate(catalog, &tuple->t_self, tuple);
	table_close(catalog, RowExclusiveLock);
	CacheInvalidateRelcache(partition);
	table_close(partition, NoLock);
	CommandCounterIncrement();
	PG_RETURN_VOID();
}
