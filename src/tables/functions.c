/*-------------------------------------------------------------------------
 *
 * functions.c
 *	  SQL functions about a parent's partitions.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_class.h"
#include "fmgr.h"
#include "funcapi.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/tuplestore.h"

#include "compat.h"
#include "result_row.h"
#include "tables/bounds.h"
#include "tables/owned_table.h"

PG_FUNCTION_INFO_V1(zbxhist_partition_bounds);
PG_FUNCTION_INFO_V1(zbxhist_list_partitions);
PG_FUNCTION_INFO_V1(zbxhist_invalidate);
PG_FUNCTION_INFO_V1(zbxhist_own_pages);
PG_FUNCTION_INFO_V1(zbxhist_day_bytes);

/*
 * zbxhist_partition_bounds(partition regclass) returns its from_clock
 * (included) and to_clock (excluded), in seconds, or nulls if it is not a
 * partition.
 */
Datum
zbxhist_partition_bounds(PG_FUNCTION_ARGS)
{
	Oid			relid = PG_GETARG_OID(0);
	PartitionBounds bounds;
	Datum		values[2] = {0};
	bool		nulls[2] = {true, true};

	if (get_rel_relkind(relid) == RELKIND_RELATION &&
		ZbxhistReadBounds(relid, &bounds))
	{
		values[0] = Int64GetDatum(bounds.from_clock);
		values[1] = Int64GetDatum(bounds.to_clock);
		nulls[0] = nulls[1] = false;
	}
	return result_row(fcinfo, values, nulls);
}

/*
 * zbxhist_list_partitions(parent regclass) returns partition, from_clock and
 * to_clock of each partition, in the order of their clocks.
 */
Datum
zbxhist_list_partitions(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	PartitionBounds *partitions;
	int			npartitions;

	InitMaterializedSRF(fcinfo, 0);
	if (!SearchSysCacheExists1(RELOID, PG_GETARG_DATUM(0)))
		return (Datum) 0;		/* dropped */
	partitions = ZbxhistReadPartitions(PG_GETARG_OID(0), &npartitions);
	for (int i = 0; i < npartitions; i++)
	{
		Datum		values[3];
		bool		nulls[3] = {false};

		values[0] = ObjectIdGetDatum(partitions[i].relid);
		values[1] = Int64GetDatum(partitions[i].from_clock);
		values[2] = Int64GetDatum(partitions[i].to_clock);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
	return (Datum) 0;
}

/*
 * zbxhist_invalidate(parent regclass) makes all sessions read the parent's partitions and
 * policy again when this transaction commits.
 */
Datum
zbxhist_invalidate(PG_FUNCTION_ARGS)
{
	Oid			relid = PG_GETARG_OID(0);

	ZbxhistRequireOwner(relid);
	CacheInvalidateRelcacheByRelid(relid);
	PG_RETURN_VOID();
}

/*
 * zbxhist_own_pages(parent regclass) returns the number of pages of the table itself.
 */
Datum
zbxhist_own_pages(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT64(count_blocks(PG_GETARG_OID(0), NULL));
}

/*
 * zbxhist_day_bytes(day regclass) returns the size of a table and its TOAST table.
 */
Datum
zbxhist_day_bytes(PG_FUNCTION_ARGS)
{
	Oid			toast = InvalidOid;
	int64		blocks = count_blocks(PG_GETARG_OID(0), &toast);

	if (OidIsValid(toast))
		blocks += count_blocks(toast, NULL);
	PG_RETURN_INT64(blocks * BLCKSZ);
}
