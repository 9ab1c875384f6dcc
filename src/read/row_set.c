/*-------------------------------------------------------------------------
 *
 * row_set.c
 *	  Gives rows of items out as the result of an SQL function.
 *
 * They go straight to the executor's tuplestore; what reads them one by one, in
 * FROM, is in plan/range_scan.c.
 *
 * Locks: ACCESS SHARE on the parent and on each partition that is read, until
 * the transaction ends.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "storage/lockdefs.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/tuplestore.h"

#include "read/parent.h"
#include "read/row_set.h"

/*
 * ZbxhistOpenRowSet opens the parent relid, which the user must be allowed to
 * read, for up to max_rows rows of each range.  ranges must stay.
 */
void
ZbxhistOpenRowSet(RowSet *set, Oid relid, const ItemRange *ranges, int nranges,
				  uint64 max_rows)
{
	set->parent = ZbxhistOpenParent(relid, AccessShareLock, ACL_SELECT);
	set->snapshot = RegisterSnapshot(GetActiveSnapshot());
	set->reader = ZbxhistOpenReader(set->parent, set->snapshot,
									nranges > 1);
	set->ranges = ranges;
	set->nranges = max_rows > 0 ? nranges : 0;
	set->next_range = 0;
	set->max_rows = max_rows;
	set->rows_left = 0;
}

/*
 * ZbxhistNextRange begins with the next range, which ZbxhistNextRow does when
 * it has to; returns false if there is none.
 */
bool
ZbxhistNextRange(RowSet *set)
{
	CHECK_FOR_INTERRUPTS();
	if (set->next_range == set->nranges)
		return false;
	ZbxhistReadItem(set->reader, &set->ranges[set->next_range++]);
	set->rows_left = set->max_rows;
	return true;
}

/*
 * ZbxhistNextRow goes to the next row; returns false if there is none.
 */
bool
ZbxhistNextRow(RowSet *set)
{
	for (;;)
	{
		if (set->rows_left > 0 && ZbxhistReadNext(set->reader))
		{
			set->rows_left--;
			return true;
		}
		set->rows_left = 0;
		if (!ZbxhistNextRange(set))
			return false;
	}
}

/*
 * ZbxhistCloseRowSet closes everything; locks stay.
 */
void
ZbxhistCloseRowSet(RowSet *set)
{
	ZbxhistCloseReader(set->reader);
	UnregisterSnapshot(set->snapshot);
	table_close(set->parent, NoLock);
}

/*
 * ZbxhistReturnRows returns up to max_rows rows of each range, of the parent
 * whose row type is the first argument.
 */
Datum
ZbxhistReturnRows(FunctionCallInfo fcinfo, const ItemRange *ranges,
				  int nranges, uint64 max_rows)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	Oid			parent = ZbxhistRowTypeParent(fcinfo);
	RowSet		set;

	InitMaterializedSRF(fcinfo, 0);
	ZbxhistOpenRowSet(&set, parent, ranges, nranges, max_rows);
	while (ZbxhistNextRow(&set))
		tuplestore_puttupleslot(rsinfo->setResult,
								ZbxhistReadSlot(set.reader));
	ZbxhistCloseRowSet(&set);
	return (Datum) 0;
}
