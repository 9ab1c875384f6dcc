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
#include "ingest/probe.h"
#include "ingest/row_type.h"

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
 * ZbxhistCloseProbe closes the indexes and frees the probe.
 */
void
ZbxhistCloseProbe(KeyProbe *probe)
{
	ExecCloseIndices(probe->rri);
	FreeExecutorState(probe->estate);
	MemoryContextDelete(probe->context);
}

/*
 * RaiseDuplicate raises the unique violation that the index itself would.
 */
static void
RaiseDuplicate(KeyProbe *probe, int number, TupleTableSlot *slot)
{
	Relation	index = probe->rri->ri_IndexRelationDescs[number];
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];
	char	   *key;

	FormIndexDatum(probe->rri->ri_IndexRelationInfo[number], slot,
				   probe->estate, values, isnull);
	key = BuildIndexValueDescription(index, values, isnull);
	ereport(ERROR,
			errcode(ERRCODE_UNIQUE_VIOLATION),
			errmsg("duplicate key value violates unique constraint \"%s\"",
				   RelationGetRelationName(index)),
			key ? errdetail("Key %s already exists.", key) : 0,
			errtableconstraint(probe->rel, RelationGetRelationName(index)));
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
	bool		result = false;

	if (probe->map != NULL)
		slot = execute_attr_map_slot(probe->map, slot, probe->converted);

	for (int i = 0; i < probe->rri->ri_NumIndices && !result; i++)
	{
		Relation	index = probe->rri->ri_IndexRelationDescs[i];

		if (!index->rd_index->indisunique || !index->rd_index->indimmediate ||
			!probe->rri->ri_IndexRelationInfo[i]->ii_ReadyForInserts)
			continue;
		result =
			!ExecCheckIndexConstraintsCompat(probe->rri, slot, probe->estate,
											 found,
											 list_make1_oid(RelationGetRelid(index)));
		if (result && raise)
			RaiseDuplicate(probe, i, slot);
	}
	MemoryContextSwitchTo(old);
	ResetPerTupleExprContext(probe->estate);
	return result;
}

/*
 * ZbxhistRaiseDuplicates raises 23505 if a slot's key is in rel, which the
 * caller has locked.
 */
void
ZbxhistRaiseDuplicates(Relation rel, TupleDesc source, TupleTableSlot **slots,
					   int nslots)
{
	KeyProbe   *probe = ZbxhistOpenProbe(rel, source);
	ItemPointerData found;

	for (int i = 0; i < nslots; i++)
	{
		CHECK_FOR_INTERRUPTS();
		ZbxhistProbeKey(probe, slots[i], true, &found);
	}
	ZbxhistCloseProbe(probe);
}
