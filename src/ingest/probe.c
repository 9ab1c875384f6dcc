/*-------------------------------------------------------------------------
 *
 * probe.c
 *	  Looks for the keys of rows in another table's unique indexes.
 *
 * A unique index covers one table, but a key can be in the parent (rows from
 * before set-up, rows that had no partition yet) as well as in a partition.
 * So who stores a row in one of the two looks for its key in the other one,
 * in the way of an exclusion constraint: first store, then look, with a dirty
 * snapshot that sees what others have not committed yet, and wait for those.
 * Of two sessions that store the same key on different sides at least one
 * sees the other (see check_exclusion_or_unique_constraint() in
 * executor/execIndexing.c, which does the work here).
 *
 * The usual parent is empty, which its size tells at once: a row is in the
 * file before its inserter looks at the other side.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "catalog/index.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/pg_list.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "compat.h"
#include "ingest/key_match.h"
#include "ingest/key_search.h"
#include "ingest/probe.h"
#include "rows/row_type.h"

/*
 * ZbxhistOpenProbe opens the indexes of rel, which the caller has locked,
 * for rows of the row type source.  Allocates in a child of
 * the current context.
 */
KeyProbe *
ZbxhistOpenProbe(Relation rel, TupleDesc source)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "zbxhist key probe",
												  ALLOCSET_SMALL_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	KeyProbe   *probe = palloc0(sizeof(KeyProbe));

	probe->context = context;
	probe->rel = rel;
	probe->estate = CreateExecutorState();
	probe->map = ZbxhistMapColumns(source, RelationGetDescr(rel));
	if (probe->map != NULL)
		probe->converted =
			MakeSingleTupleTableSlot(CreateTupleDescCopy(RelationGetDescr(rel)),
									 &TTSOpsVirtual);
	probe->rri = makeNode(ResultRelInfo);
	InitResultRelInfo(probe->rri, rel, 0, NULL, 0);
	ExecOpenIndices(probe->rri, true);

	MemoryContextSwitchTo(old);
	return probe;
}

/*
 * LimitProbe has only those indexes asked that the parent has, too, and other
 * keys of the parent searched for.
 */
static void
LimitProbe(KeyProbe *probe, Relation parent)
{
	AttrMap    *map = ZbxhistMapForKeys(probe->rel, parent);
	List	   *keys = ZbxhistReadKeys(probe->rel, false);
	ListCell   *lc;
	ListCell   *other;

	probe->is_asked = palloc0(sizeof(bool) * probe->rri->ri_NumIndices);
	foreach(lc, ZbxhistReadKeys(parent, true))
	{
		TableKey   *key = lfirst(lc);
		bool		found = false;

		foreach(other, keys)
		{
			/* an index that is deferred cannot be asked */
			if (!key->is_immediate ||
				!ZbxhistIsSameKey(lfirst(other), key, map))
				continue;
			found = true;
			for (int i = 0; i < probe->rri->ri_NumIndices; i++)
				probe->is_asked[i] |= ((TableKey *) lfirst(other))->index ==
					RelationGetRelid(probe->rri->ri_IndexRelationDescs[i]);
		}
		if (!found)
			probe->searches = lappend(probe->searches,
									  ZbxhistBeginKeySearch(probe->rel, parent,
															key, map));
	}
}

/*
 * ZbxhistOpenChildProbe opens a probe of a child for keys of its parent; both
 * are locked by the caller.
 */
KeyProbe *
ZbxhistOpenChildProbe(Relation child, Relation parent)
{
	KeyProbe   *probe = ZbxhistOpenProbe(child, RelationGetDescr(parent));
	MemoryContext old = MemoryContextSwitchTo(probe->context);

	LimitProbe(probe, parent);
	MemoryContextSwitchTo(old);
	return probe;
}

/*
 * ZbxhistCloseProbe closes the indexes and frees the probe.
 */
void
ZbxhistCloseProbe(KeyProbe *probe)
{
	ListCell   *lc;

	foreach(lc, probe->searches)
		ZbxhistEndKeySearch(lfirst(lc));
	ExecCloseIndices(probe->rri);
	FreeExecutorState(probe->estate);
	MemoryContextDelete(probe->context);
}

/*
 * ZbxhistRaiseKeyTaken raises the unique violation that an index of rel would
 * for the slot's key.
 */
void
ZbxhistRaiseKeyTaken(Relation rel, Oid relid, TupleTableSlot *slot)
{
	Relation	index = index_open(relid, AccessShareLock);
	EState	   *estate = CreateExecutorState();
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];
	char	   *key;

	GetPerTupleExprContext(estate)->ecxt_scantuple = slot;
	FormIndexDatum(BuildIndexInfo(index), slot, estate, values, isnull);
	key = BuildIndexValueDescription(index, values, isnull);
	ereport(ERROR,
			errcode(ERRCODE_UNIQUE_VIOLATION),
			errmsg("duplicate key value violates unique constraint \"%s\"",
				   RelationGetRelationName(index)),
			key ? errdetail("Key %s already exists.", key) : 0,
			errtableconstraint(rel, RelationGetRelationName(index)));
}

/*
 * SearchKeys searches for those keys of the slot that no index is for.
 */
static bool
SearchKeys(KeyProbe *probe, TupleTableSlot *slot, bool raise)
{
	ListCell   *lc;

	foreach(lc, probe->searches)
	{
		if (!ZbxhistSearchKey(lfirst(lc), slot))
			continue;
		if (raise)
			ereport(ERROR,
					errcode(ERRCODE_UNIQUE_VIOLATION),
					errmsg("duplicate key value violates a unique constraint of the parent of \"%s\"",
						   RelationGetRelationName(probe->rel)),
					errtable(probe->rel));
		return true;
	}
	return false;
}

/*
 * ZbxhistProbeKey says whether some unique index has the slot's key, waiting
 * for transactions that are about to insert or delete it.  found is set to
 * the row that has it; with raise, that is an error.
 */
bool
ZbxhistProbeKey(KeyProbe *probe, TupleTableSlot *slot, bool raise,
				ItemPointer found)
{
	MemoryContext old =
		MemoryContextSwitchTo(GetPerTupleMemoryContext(probe->estate));
	TupleTableSlot *source_slot = slot;
	bool		result = false;

	if (probe->map != NULL)
		slot = execute_attr_map_slot(probe->map, slot, probe->converted);

	for (int i = 0; i < probe->rri->ri_NumIndices && !result; i++)
	{
		Relation	index = probe->rri->ri_IndexRelationDescs[i];

		if (!index->rd_index->indisunique || !index->rd_index->indimmediate ||
			!probe->rri->ri_IndexRelationInfo[i]->ii_ReadyForInserts ||
			(probe->is_asked != NULL && !probe->is_asked[i]))
			continue;
		result =
			!ExecCheckIndexConstraintsCompat(probe->rri, slot, probe->estate,
											 found,
											 list_make1_oid(RelationGetRelid(index)));
		if (result && raise)
			ZbxhistRaiseKeyTaken(probe->rel, RelationGetRelid(index), slot);
	}
	if (!result && probe->searches != NIL)
		result = SearchKeys(probe, source_slot, raise);
	MemoryContextSwitchTo(old);
	ResetPerTupleExprContext(probe->estate);
	return result;
}

/*
 * RaiseAll raises 23505 if a slot's key is found, and closes the probe.
 */
static void
RaiseAll(KeyProbe *probe, TupleTableSlot **slots, int nslots)
{
	ItemPointerData found;

	for (int i = 0; i < nslots; i++)
	{
		CHECK_FOR_INTERRUPTS();
		ZbxhistProbeKey(probe, slots[i], true, &found);
	}
	ZbxhistCloseProbe(probe);
}

/*
 * ZbxhistRaiseDuplicates raises 23505 if a slot's key is in rel, which the
 * caller has locked.
 */
void
ZbxhistRaiseDuplicates(Relation rel, TupleDesc source, TupleTableSlot **slots,
					   int nslots)
{
	RaiseAll(ZbxhistOpenProbe(rel, source), slots, nslots);
}

/*
 * ZbxhistRaiseChildDuplicates does so for the keys of the parent in a child.
 */
void
ZbxhistRaiseChildDuplicates(Relation child, Relation parent,
							TupleTableSlot **slots, int nslots)
{
	RaiseAll(ZbxhistOpenChildProbe(child, parent), slots, nslots);
}
