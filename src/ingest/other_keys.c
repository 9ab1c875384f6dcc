/*-------------------------------------------------------------------------
 *
 * other_keys.c
 *	  Looks for keys in children of a parent that are no partitions.
 *
 * A table that somebody has attached to a parent, a partition that has lost
 * its bounds or overlaps another one, all partitions of a parent whose column
 * clock is not what it was: no row is sent there, but their rows are rows of
 * the parent, and keys are unique among all of them.  So whatever a statement
 * stores is looked for in them, too, after it is stored (probe.c).
 *
 * Locks: ACCESS SHARE on what is looked at, until the transaction ends.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_class.h"
#include "utils/rel.h"

#include "ingest/other_keys.h"
#include "ingest/probe.h"

/*
 * IsLookedAt says whether a child may have rows of its own that nobody else
 * looks for.  The rows of a packed day that is being unpacked are found with
 * the day.
 */
static bool
IsLookedAt(const PartitionSet *set, Oid child)
{
	for (int i = 0; i < set->npacked_days; i++)
	{
		if (set->packed_days[i].partition == child)
			return false;
	}
	return true;
}

/*
 * OpenOthers returns the children to look at, opened.
 */
static List *
OpenOthers(const PartitionSet *set)
{
	List	   *relids = NIL;
	List	   *result = NIL;
	ListCell   *lc;

	/* to lock one may bring in a newer set */
	for (int i = 0; i < set->nothers; i++)
	{
		if (IsLookedAt(set, set->others[i]))
			relids = lappend_oid(relids, set->others[i]);
	}
	foreach(lc, relids)
	{
		Relation	rel = try_table_open(lfirst_oid(lc), AccessShareLock);

		if (rel == NULL)
			continue;
		if (rel->rd_rel->relkind == RELKIND_RELATION)
			result = lappend(result, rel);
		else
			table_close(rel, NoLock);
	}
	return result;
}

/*
 * ZbxhistCheckOtherSlots raises 23505 if a slot's key is in another child.
 */
void
ZbxhistCheckOtherSlots(Relation parent, PartitionSet *set,
					   TupleTableSlot **slots, int nslots)
{
	ListCell   *lc;

	foreach(lc, OpenOthers(set))
	{
		ZbxhistRaiseChildDuplicates(lfirst(lc), parent, slots, nslots);
		table_close(lfirst(lc), NoLock);
	}
}

/*
 * ZbxhistCheckOtherTuples does so for rows of the parent.
 */
void
ZbxhistCheckOtherTuples(Relation parent, PartitionSet *set, HeapTuple *tuples,
						int ntuples)
{
	TupleTableSlot *slot;
	ListCell   *lc;

	if (set->nothers == 0)
		return;
	slot = MakeSingleTupleTableSlot(RelationGetDescr(parent),
									&TTSOpsHeapTuple);
	foreach(lc, OpenOthers(set))
	{
		KeyProbe   *probe = ZbxhistOpenChildProbe(lfirst(lc), parent);
		ItemPointerData found;

		for (int i = 0; i < ntuples; i++)
		{
			ExecStoreHeapTuple(tuples[i], slot, false);
			(void) ZbxhistProbeKey(probe, slot, true, &found);
		}
		ZbxhistCloseProbe(probe);
		table_close(lfirst(lc), NoLock);
	}
	ExecDropSingleTupleTableSlot(slot);
}

/*
 * ZbxhistKeyInOthers says whether a row's key is in another child.
 */
bool
ZbxhistKeyInOthers(Relation parent, PartitionSet *set, HeapTuple tuple)
{
	TupleTableSlot *slot;
	bool		result = false;
	ListCell   *lc;

	if (set->nothers == 0)
		return false;
	slot = MakeSingleTupleTableSlot(RelationGetDescr(parent),
									&TTSOpsHeapTuple);
	ExecStoreHeapTuple(tuple, slot, false);
	foreach(lc, OpenOthers(set))
	{
		KeyProbe   *probe = ZbxhistOpenChildProbe(lfirst(lc), parent);
		ItemPointerData found;

		result = result || ZbxhistProbeKey(probe, slot, false, &found);
		ZbxhistCloseProbe(probe);
		table_close(lfirst(lc), NoLock);
	}
	ExecDropSingleTupleTableSlot(slot);
	return result;
}
