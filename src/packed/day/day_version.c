/*-------------------------------------------------------------------------
 *
 * day_version.c
 *	  Whether a packed day has been changed.
 *
 * The version is a sum over the groups that there are: of their places, and of
 * the transactions that have stored them.  It is the same again when a change
 * is rolled back, or the table is vacuumed.  Headers are all that is read of
 * the groups.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "access/transam.h"
#include "catalog/pg_am.h"
#include "fmgr.h"
#include "utils/rel.h"
#include "utils/xid8.h"

#include "catalog/owned_table.h"
#include "packed/day/day_version.h"
#include "packed/day/settled.h"
#include "packed/values/row_compare.h"
#include "result_row.h"

PG_FUNCTION_INFO_V1(zbxhist_day_version);

/*
 * AddToVersion mixes a group into the version.
 */
static void
AddToVersion(void *arg, HeapTuple row)
{
	DayVersion *version = arg;
	uint64		place = (uint64) ItemPointerGetBlockNumber(&row->t_self) << 16 |
		ItemPointerGetOffsetNumber(&row->t_self);

	version->number += mix_hash(mix_hash(0, place),
								HeapTupleHeaderGetRawXmin(row->t_data));
	version->nbytes += row->t_len;
	version->ngroups++;
}

/*
 * ZbxhistReadDayVersion finds the version of a day's table that the caller has
 * opened and locked; raises 55006 while some transactions see other groups
 * than others.
 */
void
ZbxhistReadDayVersion(Relation day, DayVersion *version)
{
	memset(version, 0, sizeof(*version));
	version->newest = ZbxhistReadSettled(day, AddToVersion, version);
}

/*
 * GetNewestChange returns the newest transaction that has changed a day.
 */
static Datum
GetNewestChange(const DayVersion *version, bool *isnull)
{
	FullTransactionId next = ReadNextFullTransactionId();
	uint32		epoch = EpochFromFullTransactionId(next);

	*isnull = !TransactionIdIsNormal(version->newest);
	if (*isnull)
		return (Datum) 0;
	if (version->newest > XidFromFullTransactionId(next))
		epoch--;
	return FullTransactionIdGetDatum(FullTransactionIdFromEpochAndXid(epoch,
																	  version->newest));
}

/*
 * zbxhist_day_version(day) returns the version of a day, and the newest
 * transaction that has changed it; see sql/packed/days.sql.
 */
Datum
zbxhist_day_version(PG_FUNCTION_ARGS)
{
	Relation	day = ZbxhistOpenOwnedTable(PG_GETARG_OID(0), AccessShareLock);
	Datum		values[2];
	bool		nulls[2] = {false};
	DayVersion	version;

	if (day->rd_rel->relam != HEAP_TABLE_AM_OID)
		ereport(ERROR,
				errcode(ERRCODE_WRONG_OBJECT_TYPE),
				errmsg("only tables with access method \"heap\" can be packed"));
	ZbxhistReadDayVersion(day, &version);
	values[0] = Int64GetDatum((int64) version.number);
	values[1] = GetNewestChange(&version, &nulls[1]);
	table_close(day, NoLock);
	return result_row(fcinfo, values, nulls);
}
