/*-------------------------------------------------------------------------
 *
 * settled.c
 *	  Reads a table and makes sure that every snapshot sees the same rows in it.
 *
 * The table that replaces another one is written frozen, so every snapshot sees its
 * rows.  Therefore each row version of the old table must be visible to all transactions
 * or to none; else the step fails and is tried again later.  Snapshots on standby servers
 * may be older than all of ours: the newest transaction that has stored or deleted
 * a row is returned for them, see log_snapshot_conflict.
 *
 * The version of a packed day shows whether it has been changed.  It is a sum over the
 * live groups of their tuple identifiers and of the transactions that have stored
 * them.  A change that is rolled back, or a VACUUM, leaves it as it was.  Only the headers
 * of the groups are read.
 *
 * Locks: the caller has locked the table.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/transam.h"
#include "catalog/pg_am.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/procarray.h"
#include "utils/rel.h"
#include "utils/xid8.h"

#include "format/row_compare.h"
#include "packed/settled.h"
#include "result_row.h"
#include "tables/owned_table.h"

PG_FUNCTION_INFO_V1(zbxhist_day_version);

typedef struct SettledScan
{
	Relation	rel;
	TransactionId oldest;		/* all transactions see what happened before
								 * it */
	TransactionId newest;		/* stored or changed some of the rows */
} SettledScan;

/*
 * IsVisibleToAll returns true if every transaction sees a row, whose page is locked, and
 * false if none does.  Otherwise it raises an error.  Notes the transaction that has
 * stored or deleted the row.
 */
static bool
IsVisibleToAll(SettledScan *scan, HeapTuple tuple, Buffer buffer)
{
	HTSV_Result state = HeapTupleSatisfiesVacuum(tuple, scan->oldest, buffer);
	TransactionId xid = state == HEAPTUPLE_DEAD ?
		HeapTupleHeaderGetUpdateXid(tuple->t_data) :
		HeapTupleHeaderGetXmin(tuple->t_data);

	if (state != HEAPTUPLE_DEAD &&
		(state != HEAPTUPLE_LIVE || !TransactionIdPrecedes(xid, scan->oldest)))
	{
		LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
		ereport(ERROR,
				errcode(ERRCODE_OBJECT_IN_USE),
				errmsg("table \"%s\" has rows that some transactions see and others do not",
					   RelationGetRelationName(scan->rel)),
				errhint("Try again when the transactions that are running now have ended."),
				errtable(scan->rel));
	}
	if (TransactionIdIsNormal(xid) &&
		(!TransactionIdIsValid(scan->newest) ||
		 TransactionIdFollows(xid, scan->newest)))
		scan->newest = xid;
	return state == HEAPTUPLE_LIVE;
}

/*
 * ReadSettledPage passes the rows of a page to visit.  The page stays pinned, so that
 * they are not moved within it after its lock has been released.
 */
static void
ReadSettledPage(SettledScan *scan, Buffer buffer,
				void (*visit) (void *arg, HeapTuple row), void *arg)
{
	Page		page = BufferGetPage(buffer);
	OffsetNumber offsets[MaxHeapTuplesPerPage];
	int			noffsets = 0;
	HeapTupleData tuple;
	bool		all_visible;

	tuple.t_tableOid = RelationGetRelid(scan->rel);
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	all_visible = PageIsAllVisible(page);
	for (OffsetNumber i = FirstOffsetNumber;
		 i <= PageGetMaxOffsetNumber(page); i++)
	{
		ItemId		item = PageGetItemId(page, i);

		if (!ItemIdIsNormal(item))
			continue;
		tuple.t_data = (HeapTupleHeader) PageGetItem(page, item);
		tuple.t_len = ItemIdGetLength(item);
		ItemPointerSet(&tuple.t_self, BufferGetBlockNumber(buffer), i);
		if (all_visible || IsVisibleToAll(scan, &tuple, buffer))
			offsets[noffsets++] = i;
	}
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);

	for (int i = 0; i < noffsets; i++)
	{
		ItemId		item = PageGetItemId(page, offsets[i]);

		tuple.t_data = (HeapTupleHeader) PageGetItem(page, item);
		tuple.t_len = ItemIdGetLength(item);
		ItemPointerSet(&tuple.t_self, BufferGetBlockNumber(buffer), offsets[i]);
		visit(arg, &tuple);
	}
}

/*
 * ZbxhistReadSettled passes all rows of a table to visit, in the order of the heap, and
 * returns the newest transaction that has stored or deleted a row.  Raises 55006 if
 * transactions see different rows.
 */
TransactionId
ZbxhistReadSettled(Relation rel, void (*visit) (void *arg, HeapTuple row),
				   void *arg)
{
	SettledScan scan = {rel, GetOldestNonRemovableTransactionId(rel),
	InvalidTransactionId};
	BlockNumber nblocks = RelationGetNumberOfBlocks(rel);
	BufferAccessStrategy strategy = GetAccessStrategy(BAS_BULKREAD);

	for (BlockNumber block = 0; block < nblocks; block++)
	{
		Buffer		buffer;

		CHECK_FOR_INTERRUPTS();
		buffer = ReadBufferExtended(rel, MAIN_FORKNUM, block, RBM_NORMAL, strategy);
		ReadSettledPage(&scan, buffer, visit, arg);
		ReleaseBuffer(buffer);
	}
	FreeAccessStrategy(strategy);
	return scan.newest;
}

/* ---- versions of days ---- */

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
 * ZbxhistReadDayVersion finds the version of a day's table that the caller has opened and
 * locked; raises 55006 if transactions see different groups.
 */
void
ZbxhistReadDayVersion(Relation day, DayVersion *version)
{
	memset(version, 0, sizeof(*version));
	version->newest = ZbxhistReadSettled(day, AddToVersion, version);
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
	FullTransactionId next;
	uint32		epoch;
	DayVersion	version;

	if (day->rd_rel->relam != HEAP_TABLE_AM_OID)
		ereport(ERROR,
				errcode(ERRCODE_WRONG_OBJECT_TYPE),
				errmsg("only tables with access method \"heap\" can be packed"));
	ZbxhistReadDayVersion(day, &version);
	values[0] = Int64GetDatum((int64) version.number);
	nulls[1] = !TransactionIdIsNormal(version.newest);
	if (!nulls[1])
	{
		next = ReadNextFullTransactionId();
		epoch = EpochFromFullTransactionId(next);
		if (version.newest > XidFromFullTransactionId(next))
			epoch--;
		values[1] = FullTransactionIdGetDatum(FullTransactionIdFromEpochAndXid(epoch,
																			   version.newest));
	}
	table_close(day, NoLock);
	return result_row(fcinfo, values, nulls);
}
