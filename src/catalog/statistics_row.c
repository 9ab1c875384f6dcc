/*-------------------------------------------------------------------------
 *
 * statistics_row.c
 *	  Rows of pg_statistic that are made, not read.
 *
 * They say of a column of integers how many values it has and what they lie
 * between, as ANALYZE would: no value is null or more frequent than others.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_operator_d.h"
#include "catalog/pg_statistic.h"
#include "catalog/pg_type.h"
#include "utils/array.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "catalog/statistics_row.h"

/*
 * MakeBounds makes the array of bounds.
 */
static Datum
MakeBounds(Oid type, const int64 *bounds, int nbounds)
{
	Datum	   *values = palloc(sizeof(Datum) * nbounds);

	for (int i = 0; i < nbounds; i++)
		values[i] = type == INT4OID ? Int32GetDatum((int32) bounds[i]) :
			Int64GetDatum(bounds[i]);
	return PointerGetDatum(type == INT4OID ?
						   construct_array(values, nbounds, INT4OID, sizeof(int32),
										   true, TYPALIGN_INT) :
						   construct_array(values, nbounds, INT8OID, sizeof(int64),
										   FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}

/*
 * ZbxhistSetStatisticsRow makes the row of a column of type int4 or int8, which has
 * ndistinct values; about as many rows are between two bounds each.  The row stays
 * until the next one takes its place.
 */
void
ZbxhistSetStatisticsRow(HeapTuple *row, Oid type, double ndistinct,
						const int64 *bounds, int nbounds)
{
	Relation	table = table_open(StatisticRelationId, AccessShareLock);
	Datum		values[Natts_pg_statistic] = {0};
	bool		nulls[Natts_pg_statistic] = {false};
	MemoryContext old;

	for (int i = 0; i < STATISTIC_NUM_SLOTS; i++)
	{
		nulls[Anum_pg_statistic_stanumbers1 - 1 + i] = true;
		nulls[Anum_pg_statistic_stavalues1 - 1 + i] = true;
	}
	values[Anum_pg_statistic_stawidth - 1] =
		Int32GetDatum(type == INT4OID ? sizeof(int32) : sizeof(int64));
	values[Anum_pg_statistic_stadistinct - 1] = Float4GetDatum((float4) ndistinct);
	if (nbounds > 1)
	{
		values[Anum_pg_statistic_stakind1 - 1] =
			Int16GetDatum(STATISTIC_KIND_HISTOGRAM);
		values[Anum_pg_statistic_staop1 - 1] =
			ObjectIdGetDatum(type == INT4OID ? Int4LessOperator : Int8LessOperator);
		values[Anum_pg_statistic_stavalues1 - 1] = MakeBounds(type, bounds, nbounds);
		nulls[Anum_pg_statistic_stavalues1 - 1] = false;
	}
	if (*row != NULL)
		heap_freetuple(*row);
	*row = NULL;
	old = MemoryContextSwitchTo(CacheMemoryContext);
	*row = heap_form_tuple(RelationGetDescr(table), values, nulls);
	MemoryContextSwitchTo(old);
	table_close(table, AccessShareLock);
}
