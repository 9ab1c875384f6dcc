/*-------------------------------------------------------------------------
 *
 * target.c
 *	  Inserts many rows into one table, as COPY does: table_multi_insert,
 *	  then the indexes.
 *
 * The usual partition of a Zabbix table has one constraint that routing has
 * already made sure of (its bounds) and one plain btree; for it the indexes
 * are filled index by index without the executor's per-row work.  Everything
 * else that a table may have (triggers, generated columns, CHECKs, expression
 * or deferred indexes, another column order) goes through the executor's own
 * functions, see CopyFrom() and CopyMultiInsertBufferFlush() in
 * commands/copyfrom.c.
 *
 * Locks are the caller's.  The relation reference and the indexes belong to
 * the current resource owner: on error they are closed by it, and the memory
 * goes with the caller's context.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/tableam.h"
#include "commands/trigger.h"
#include "executor/executor.h"
#include "executor/nodeModifyTable.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "compat.h"
#include "tables/bounds.h"
#include "tables/target.h"

/*
 * HasPlainIndexes says whether every index is one that index_insert can be
 * called for with plain column values.
 */
static bool
HasPlainIndexes(const ResultRelInfo *rri)
{
	for (int i = 0; i < rri->ri_NumIndices; i++)
	{
		const IndexInfo *info = rri->ri_IndexRelationInfo[i];

		if (info->ii_Expressions != NIL || info->ii_Predicate != NIL ||
			info->ii_ExclusionOps != NULL ||
			!rri->ri_IndexRelationDescs[i]->rd_index->indimmediate)
			return false;
	}
	return true;
}

/*
 * HasOtherConstraints says whether a table has CHECK constraints besides a
 * partition's bounds, which its rows meet because they were routed by them.
 */
static bool
HasOtherConstraints(Relation rel, TargetKind kind)
{
	const TupleConstr *constr = RelationGetDescr(rel)->constr;

	if (constr == NULL || constr->num_check == 0)
		return false;
	return kind == TARGET_PARENT || constr->num_check > 1 ||
		strcmp(constr->check[0].ccname, ZBXHIST_BOUNDS_CONSTRAINT) != 0;
}

/*
 * DescribeTarget notes what the rows need besides being stored.
 */
static void
DescribeTarget(InsertTarget *target, TargetKind kind)
{
	const TupleConstr *constr = RelationGetDescr(target->rel)->constr;
	const TriggerDesc *trigdesc = target->rri->ri_TrigDesc;

	target->fires_before = kind == TARGET_PARTITION && trigdesc != NULL &&
		trigdesc->trig_insert_before_row;
	target->fires_after = kind != TARGET_MOVE && trigdesc != NULL &&
		trigdesc->trig_insert_after_row;
	target->needs_constraints = HasOtherConstraints(target->rel, kind);
	target->needs_generated = constr != NULL && constr->has_generated_stored;
	target->has_plain_indexes = HasPlainIndexes(target->rri) &&
		!target->fires_after;
}

/*
 * ZbxhistOpenTarget prepares rel, which the caller has opened and locked, for
 * rows of the row type source.  Takes over the reference: ZbxhistCloseTarget
 * closes it and leaves the lock.  Everything is allocated below parent.
 */
InsertTarget *
ZbxhistOpenTarget(Relation rel, TupleDesc source, TargetKind kind,
				  MemoryContext parent)
{
	MemoryContext context = AllocSetContextCreate(parent,
												  "zbxhist insert target",
												  ALLOCSET_SMALL_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	InsertTarget *target = palloc0(sizeof(InsertTarget));

	target->context = context;
	target->scratch = AllocSetContextCreate(context, "zbxhist insertion",
											ALLOCSET_DEFAULT_SIZES);
	target->rel = rel;
	target->map = convert_tuples_by_name(source, RelationGetDescr(rel));
	target->estate = CreateExecutorState();
	target->rri = makeNode(ResultRelInfo);
	InitResultRelInfo(target->rri, rel, 0, NULL, 0);
	ExecOpenIndices(target->rri, false);
	DescribeTarget(target, kind);

	MemoryContextSwitchTo(old);
	return target;
}

/*
 * ZbxhistReportForParent has the errors about a partition's rows show what the
 * user may see of the parent, as for a native partition.  parent must stay open
 * as long as the target.
 */
void
ZbxhistReportForParent(InsertTarget *target, Relation parent)
{
	MemoryContext old = MemoryContextSwitchTo(target->context);
	ResultRelInfo *root = makeNode(ResultRelInfo);

	root->ri_RelationDesc = parent;
	target->rri->ri_RootResultRelInfo = root;
	MemoryContextSwitchTo(old);
}

/*
 * ZbxhistCloseTarget closes the table and frees everything; the lock stays
 * until the transaction ends.
 */
void
ZbxhistCloseTarget(InsertTarget *target)
{
	ExecCloseIndices(target->rri);
	ExecCloseResultRelations(target->estate);
	ExecResetTupleTable(target->estate->es_tupleTable, false);
	FreeExecutorState(target->estate);
	table_close(target->rel, NoLock);
	MemoryContextDelete(target->context);
}

/*
 * ConvertRows returns slots of the target's own row type, in the scratch
 * context.  Their number and order are the same.
 */
static TupleTableSlot **
ConvertRows(InsertTarget *target, TupleTableSlot **slots, int nslots)
{
	TupleTableSlot **result = palloc(sizeof(TupleTableSlot *) * nslots);
	TupleDesc	desc = CreateTupleDescCopy(RelationGetDescr(target->rel));

	for (int i = 0; i < nslots; i++)
	{
		result[i] = MakeSingleTupleTableSlot(desc, &TTSOpsHeapTuple);
		execute_attr_map_slot(target->map->attrMap, slots[i], result[i]);
		ExecMaterializeSlot(result[i]);
	}
	return result;
}

/*
 * PrepareRow does for one row what ExecInsert does before it stores it:
 * triggers, generated columns, constraints.  Returns false if a trigger said
 * to skip the row.
 */
static bool
PrepareRow(InsertTarget *target, TupleTableSlot *slot)
{
	slot->tts_tableOid = RelationGetRelid(target->rel);

	if (target->fires_before)
	{
		if (!ExecBRInsertTriggers(target->estate, target->rri, slot))
			return false;
		/* a trigger's row is in the memory that is reset below */
		ExecMaterializeSlot(slot);
	}

	if (target->needs_generated)
		ExecComputeStoredGenerated(target->rri, target->estate, slot,
								   CMD_INSERT);

	if (RelationGetDescr(target->rel)->constr != NULL)
		ExecConstraints(target->rri, slot, target->estate);
	ResetPerTupleExprContext(target->estate);
	return true;
}

/*
 * PrepareRows prepares those rows that need it and moves the ones to be
 * stored to the front; returns their number.
 */
static int
PrepareRows(InsertTarget *target, TupleTableSlot **slots, int nslots)
{
	bool		prepare_all = target->fires_before || target->needs_generated ||
		target->needs_constraints || target->map != NULL;
	int			n = 0;

	for (int i = 0; i < nslots; i++)
	{
		TupleTableSlot *slot = slots[i];
		HeapTuple	tuple = ((HeapTupleTableSlot *) slot)->tuple;

		/* a tuple without nulls cannot violate NOT NULL */
		if (!prepare_all && tuple != NULL && !HeapTupleHasNulls(tuple))
			slots[n++] = slot;
		else if (PrepareRow(target, slot))
			slots[n++] = slot;
	}
	return n;
}

/*
 * FillPlainIndex adds all rows to one index.  Taking the few key columns from
 * the tuple at their cached offsets is cheaper than FormIndexDatum, which
 * deforms the whole of it.
 */
static void
FillPlainIndex(InsertTarget *target, int number, TupleTableSlot **slots,
			   int nslots)
{
	Relation	index = target->rri->ri_IndexRelationDescs[number];
	IndexInfo  *info = target->rri->ri_IndexRelationInfo[number];
	IndexUniqueCheck check = index->rd_index->indisunique ?
		UNIQUE_CHECK_YES : UNIQUE_CHECK_NO;
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];

	if (!info->ii_ReadyForInserts)
		return;
	for (int i = 0; i < nslots; i++)
	{
		HeapTuple	tuple = ((HeapTupleTableSlot *) slots[i])->tuple;

		for (int j = 0; j < info->ii_NumIndexAttrs; j++)
			values[j] = heap_getattr(tuple, info->ii_IndexAttrNumbers[j],
									 RelationGetDescr(target->rel), &isnull[j]);
		index_insert(index, values, isnull, &slots[i]->tts_tid, target->rel,
					 check, false, info);
	}
	MemoryContextReset(CurrentMemoryContext);
}

/*
 * FillPlainIndexes fills index after index: each stays in the processor's
 * caches while the rows, in key order, walk through it.
 */
static void
FillPlainIndexes(InsertTarget *target, TupleTableSlot **slots, int nslots)
{
	MemoryContext old =
		MemoryContextSwitchTo(GetPerTupleMemoryContext(target->estate));

	for (int i = 0; i < target->rri->ri_NumIndices; i++)
		FillPlainIndex(target, i, slots, nslots);
	MemoryContextSwitchTo(old);
}

/*
 * RefuseDeferred raises the error for a key that a deferrable constraint
 * would have to check again later, where there is no trigger to do it.
 */
static void
RefuseDeferred(InsertTarget *target)
{
	ereport(ERROR,
			errcode(ERRCODE_UNIQUE_VIOLATION),
			errmsg("duplicate key value violates a deferrable unique constraint of table \"%s\"",
				   RelationGetRelationName(target->rel)),
			errtable(target->rel));
}

/*
 * FillIndexes fills any indexes and queues AFTER ROW triggers, row by row.
 * They fire with those of the statement that is executing.
 */
static void
FillIndexes(InsertTarget *target, TupleTableSlot **slots, int nslots)
{
	for (int i = 0; i < nslots; i++)
	{
		List	   *recheck = NIL;

		if (target->rri->ri_NumIndices > 0)
			recheck = ExecInsertIndexTuplesCompat(target->rri, slots[i],
												  target->estate);
		if (target->fires_after)
			ExecARInsertTriggers(target->estate, target->rri, slots[i],
								 recheck, NULL);
		else if (recheck != NIL)
			RefuseDeferred(target);
		ResetPerTupleExprContext(target->estate);
	}
}

/*
 * StoreInTarget puts rows into the heap and the indexes.
 */
static void
StoreInTarget(InsertTarget *target, TupleTableSlot **slots, int nslots,
			  CommandId cid)
{
	if (nslots == 1)
		table_tuple_insert(target->rel, slots[0], cid, 0, NULL);
	else
		table_multi_insert(target->rel, slots, nslots, cid, 0, NULL);

	if (target->has_plain_indexes)
		FillPlainIndexes(target, slots, nslots);
	else
		FillIndexes(target, slots, nslots);
}

/*
 * ZbxhistInsertRows inserts rows, in slots of the source's row type, which
 * own their tuples (TTSOpsHeapTuple).  slots may be reordered.
 */
void
ZbxhistInsertRows(InsertTarget *target, TupleTableSlot **slots, int nslots,
				  CommandId cid)
{
	MemoryContext old = MemoryContextSwitchTo(target->scratch);

	if (target->map != NULL)
		slots = ConvertRows(target, slots, nslots);
	target->estate->es_output_cid = cid;

	/* one by one if a trigger may look at the rows before it */
	if (target->fires_before)
	{
		for (int i = 0; i < nslots; i++)
		{
			if (PrepareRows(target, &slots[i], 1) == 1)
				StoreInTarget(target, &slots[i], 1, cid);
		}
	}
	else
	{
		nslots = PrepareRows(target, slots, nslots);
		if (nslots > 0)
			StoreInTarget(target, slots, nslots, cid);
	}

	MemoryContextSwitchTo(old);
	MemoryContextReset(target->scratch);
}
