/*-------------------------------------------------------------------------
 *
 * kept_rows.c
 *	  Looks for the keys of rows that a statement has stored in the parent.
 *
 * They may be in partitions, those there were and those made meanwhile, which a
 * session that inserts the same key may already use, or in packed days.
 *
 * A packed day that cannot be read must not fail the statement, see
 * lookup_day.c.  The subtransaction that takes costs as much as a look, so there
 * is one for all rows; if it fails, all are looked at again one by one.
 *
 * Locks: the statement's on the parent, see lookup.c for others.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "executor/tuptable.h"
#include "utils/inval.h"

#include "catalog/partition_set.h"
#include "ingest/kept_rows.h"
#include "ingest/key_number.h"
#include "ingest/lookup.h"
#include "ingest/lookup_day.h"
#include "packed/day/day.h"
#include "rows/attempt.h"
#include "rows/stray.h"

typedef struct KeptRows
{
	Relation	parent;
	TupleDesc	desc;			/* of the tuples */
	HeapTuple  *tuples;
	int			ntuples;
	bool	   *has_strays;		/* others have been told of them */
	bool		is_attempt;		/* in a subtransaction for all of them */
} KeptRows;

/*
 * CheckRow raises 23505 if the kept row's key is in the partition, or the
 * packed day, that its clock has by now.  Either may be changed for the other
 * while we look.
 */
static void
CheckRow(const KeptRows *rows, HeapTuple tuple, TupleTableSlot *slot)
{
	Relation	parent = rows->parent;
	bool		is_checked = false;

	ExecStoreHeapTuple(tuple, slot, false);
	while (!is_checked)
	{
		PartitionSet *set = ZbxhistGetPartitionSet(parent);
		const PartitionBounds *partition;
		const PackedDay *day;
		int32		clock;

		is_checked = true;
		if (!ZbxhistGetKeyClock(set, slot, &clock))
			continue;
		partition = ZbxhistFindPartition(set, clock);
		day = ZbxhistFindPackedDay(set, clock);
		if (partition != NULL)
		{
			Oid			relid = partition->relid;

			/* its partition may be a new one */
			ZbxhistNoteStrayOnce(parent, rows->has_strays);
			is_checked = ZbxhistCheckPartitionKeys(parent, relid, &slot, 1) ||
				ZbxhistPartitionSetIsValid(set);
		}
		else if (day != NULL)
		{
			PackedDay	copy = *day;

			/* before our transaction ends it may have a partition */
			if (OidIsValid(copy.partition) || copy.has_runs)
				ZbxhistNoteStrayOnce(parent, rows->has_strays);
			is_checked = ZbxhistCheckDayKey(parent, &copy, slot,
											rows->is_attempt) ||
				ZbxhistPartitionSetIsValid(set);
		}
	}
	ExecClearTuple(slot);
}

/*
 * CheckRows does so for all rows.
 */
static void
CheckRows(void *arg)
{
	const KeptRows *rows = arg;
	TupleTableSlot *slot = MakeSingleTupleTableSlot(rows->desc,
													&TTSOpsHeapTuple);

	for (int i = 0; i < rows->ntuples; i++)
		CheckRow(rows, rows->tuples[i], slot);
	ExecDropSingleTupleTableSlot(slot);
}

/*
 * IsOfPackedDay says whether some row is of a packed day, as far as is known.
 */
static bool
IsOfPackedDay(const KeptRows *rows)
{
	const PartitionSet *set = ZbxhistGetPartitionSet(rows->parent);

	if (set->npacked_days == 0 || set->clock_attnum == InvalidAttrNumber)
		return set->npacked_days > 0;
	for (int i = 0; i < rows->ntuples; i++)
	{
		bool		isnull;
		Datum		clock = heap_getattr(rows->tuples[i], set->clock_attnum,
										 rows->desc, &isnull);

		if (!isnull && ZbxhistFindPackedDay(set, DatumGetInt32(clock)) != NULL)
			return true;
	}
	return false;
}

/*
 * ZbxhistCheckKeptRows raises 23505 if the key of one of the tuples, which are
 * in the parent by now, is elsewhere too.  *has_strays says whether the
 * statement has told other sessions of strays, as it does here if some are.
 */
void
ZbxhistCheckKeptRows(Relation parent, TupleDesc desc, HeapTuple *tuples,
					 int ntuples, bool *has_strays)
{
	KeptRows	rows = {parent, desc, tuples, ntuples, has_strays, false};
	bool		had_strays = *has_strays;
	ErrorData  *error;

	AcceptInvalidationMessages();
	if (IsOfPackedDay(&rows))
	{
		/* what is written must not be undone if reading fails */
		ZbxhistFlushDayChanges(InvalidOid);
		rows.is_attempt = true;
		error = ZbxhistAttempt(CheckRows, &rows);
		if (error == NULL)
			return;
		if (error->sqlerrcode == ERRCODE_UNIQUE_VIOLATION)
			ReThrowError(error);
		FreeErrorData(error);
		rows.is_attempt = false;
		*has_strays = had_strays;
	}
	CheckRows(&rows);
}
