/*-------------------------------------------------------------------------
 *
 * seen_key.c
 *	  Whether the transaction's snapshot sees a row with some key.
 *
 * At REPEATABLE READ and SERIALIZABLE, ON CONFLICT DO NOTHING must not pass over
 * a row because of one that the transaction does not see: it would act upon
 * what has been committed since.  The executor raises 40001 then (see
 * ExecCheckTupleVisible() in executor/nodeModifyTable.c); so do we for the rows
 * that it does not know.
 *
 * Rows do not stay in one place: maintenance moves, packs and merges them.  So it
 * is not asked whether the very row is seen that has the key now, but any with
 * that key, wherever it has been.  A row that was updated since is seen
 * as it was, and passed over.
 *
 * Locks: ACCESS SHARE on what is looked at, until the transaction ends.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "access/xact.h"
#include "catalog/pg_class.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "catalog/partition_set.h"
#include "ingest/day_search.h"
#include "ingest/key_number.h"
#include "ingest/key_search.h"
#include "ingest/seen_key.h"

/*
 * FindTables returns the tables besides packed days that may have the slot's key,
 * and sets day to the packed day, or InvalidOid.
 */
static List *
FindTables(Relation parent, TupleTableSlot *slot, Oid *day)
{
	const PartitionSet *set = ZbxhistGetPartitionSet(parent);
	List	   *result = list_make1_oid(RelationGetRelid(parent));
	int32		clock;

	*day = InvalidOid;
	for (int i = 0; i < set->nothers; i++)
		result = lappend_oid(result, set->others[i]);
	if (ZbxhistGetKeyClock(set, slot, &clock))
	{
		const PartitionBounds *partition = ZbxhistFindPartition(set, clock);
		const PackedDay *found = ZbxhistFindPackedDay(set, clock);

		if (partition != NULL)
			result = lappend_oid(result, partition->relid);
		if (found != NULL)
		{
			*day = found->relid;
			if (OidIsValid(found->partition))
				result = lappend_oid(result, found->partition);
		}
	}
	return result;
}

/*
 * SeenInTable says whether a snapshot sees a row of a table with a key of
 * the slot's.
 */
static bool
SeenInTable(Relation parent, Oid relid, TupleTableSlot *slot,
			Snapshot snapshot)
{
	Relation	rel = try_table_open(relid, AccessShareLock);
	AttrMap    *map;
	bool		result = false;
	ListCell   *lc;

	if (rel == NULL)
		return false;
	map = ZbxhistMapForKeys(rel, parent);
	foreach(lc, ZbxhistReadKeys(parent, true))
	{
		TableKey   *key = lfirst(lc);
		KeySearch  *search;

		if (result || !key->is_immediate ||
			rel->rd_rel->relkind != RELKIND_RELATION)
			continue;
		search = ZbxhistBeginKeySearch(rel, parent, key, map);
		result = ZbxhistSeesKey(search, slot, snapshot);
		ZbxhistEndKeySearch(search);
	}
	table_close(rel, NoLock);
	return result;
}

/*
 * IsSeen says whether a snapshot sees a row with a key of the slot's.
 */
static bool
IsSeen(Relation parent, TupleTableSlot *slot, Snapshot snapshot)
{
	Oid			day;
	ListCell   *lc;

	foreach(lc, FindTables(parent, slot, &day))
	{
		if (SeenInTable(parent, lfirst_oid(lc), slot, snapshot))
			return true;
	}
	return OidIsValid(day) &&
		OidIsValid(ZbxhistSearchDay(parent, day, slot, snapshot));
}

/*
 * ZbxhistRequireSeenKey raises 40001 unless the transaction's snapshot sees a row
 * of the parent with a key of the tuple's, as it does all that the transaction
 * itself has stored, in this very command too.
 */
void
ZbxhistRequireSeenKey(Relation parent, HeapTuple tuple)
{
	TupleTableSlot *slot = MakeSingleTupleTableSlot(RelationGetDescr(parent),
													&TTSOpsHeapTuple);
	Snapshot	snapshot;

	ExecStoreHeapTuple(tuple, slot, false);
	PushCopiedSnapshot(GetTransactionSnapshot());
	snapshot = GetActiveSnapshot();
	snapshot->curcid = GetCurrentCommandId(false) + 1;
	if (!IsSeen(parent, slot, snapshot))
		ereport(ERROR,
				errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				errmsg("could not serialize access due to concurrent update"));
	PopActiveSnapshot();
	ExecDropSingleTupleTableSlot(slot);
}
