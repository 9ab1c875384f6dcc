/*-------------------------------------------------------------------------
 *
 * fdw_lock.c
 *	  Refuses SELECT FOR UPDATE and the like of packed rows.
 *
 * A packed row has no tuple header in which it could be marked as locked.  A statement
 * fails when it is about to lock such a row, which is after joins and all conditions.
 * Rows of partitions are locked as usual.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/datetime.h"
#include "utils/rel.h"

#include "fdw/fdw.h"
#include "format/row_offset.h"
#include "tables/owned_table.h"
#include "tables/packed_table.h"

/*
 * GetRowMarkType makes LockRows call RefetchForeignRow for a row that is to be locked.
 */
static RowMarkType
GetRowMarkType(RangeTblEntry *rte, LockClauseStrength strength)
{
	switch (strength)
	{
		case LCS_FORKEYSHARE:
			return ROW_MARK_KEYSHARE;
		case LCS_FORSHARE:
			return ROW_MARK_SHARE;
		case LCS_FORNOKEYUPDATE:
			return ROW_MARK_NOKEYEXCLUSIVE;
		case LCS_FORUPDATE:
			return ROW_MARK_EXCLUSIVE;
		default:
			return ROW_MARK_COPY;
	}
}

/*
 * RefetchForeignRow refuses to lock a row.
 */
static void
RefetchForeignRow(EState *estate, ExecRowMark *mark, Datum tid,
				  TupleTableSlot *slot, bool *updated)
{
	Relation	table = mark->relation;
	PackedRowId id;
	int			year;
	int			month;
	int			day;

	(void) get_packed_tid((ItemPointer) DatumGetPointer(tid), &id);
	j2date(UNIX_EPOCH_JDATE + id.clock / SECS_PER_DAY -
		   (id.clock % SECS_PER_DAY < 0), &year, &month, &day);
	ereport(ERROR,
			errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			errmsg("cannot lock packed rows of foreign table \"%s\"",
				   RelationGetRelationName(table)),
			errhint("Leave the locking clause out, or unpack the day: CALL zbxhist.unpack('%s', '%04d-%02d-%02d').",
					ZbxhistQualifiedName(ZbxhistForeignParent(table)),
					year, month, day),
			errtable(table));
}

/*
 * ZbxhistFdwLockInit sets the functions of row locks.
 */
void
ZbxhistFdwLockInit(FdwRoutine *routine)
{
	routine->GetForeignRowMarkType = GetRowMarkType;
	routine->RefetchForeignRow = RefetchForeignRow;
}
