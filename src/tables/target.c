/*-------------------------------------------------------------------------
 *
 * target.c
 *	  Inserts many rows into one table, as COPY does: table_multi_insert,
 *	  then the indexes.
 *
 * The usual partition of a Zabbix table has one constraint, its bounds, which routing has
 * already checked, and one plain btree.  There the rows are inserted index by index,
 * without the executor's work for each row.  Everything else that a table may have
 * (triggers, generated columns, CHECKs, expression or deferred indexes, another column
 * order) goes through the executor's own functions, see CopyFrom() and
 * CopyMultiInsertBufferFlush() in commands/copyfrom.c.
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
 * ZbxhistOpenTarget prepares rel, which the caller has opened and locked, for
 * rows of the row type source.  Takes over the reference: ZbxhistCloseTarget
 * closes it and leaves the lock.  If root, which must stay open as long, is not
 * NULL, errors about rows show what the user may see of it, as for a native
 * partition.  Everything is allocated below outer.
 */
InsertTarget *
ZbxhistOpenTarget(Relation rel, TupleDesc source, TargetKind kind,
				  Relation root, MemoryContext outer)
{
	MemoryContext context = AllocSetContextCreate(outer,
												  "zbxhist insert target",
												  ALLOCSET_SMALL_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	const TupleConstr *constr = RelationGetDescr(rel)->constr;
	const TriggerDesc *trigdesc;
	InsertTarget *target = palloc0(sizeof(InsertTarget));

	target->context = context;
	target->scratch = AllocSetContextCreate(context, "zbxhist insertion",
											ALLOCSET_DEFAULT_SIZES);
	target->rel = rel;
	target->map = convert_tuples_by_name(source, RelationGetDescr(rel));
	target->estate = CreateExecutorState();
	target->rri = makeNode(ResultRelInfo);
	InitResultRelInfo(target->rri, rel, 0, NULL, 0);
	if (root != NULL)
	{
		target->rri->ri_RootResultRelInfo = makeNode(ResultRelInfo);
		target->rri->ri_RootResultRelInfo->ri_RelationDesc = root;
	}
	ExecOpenIndices(target->rri, false);

	trigdesc = target->rri->ri_TrigDesc;
	target->fires_before = kind == TARGET_PARTITION && trigdesc != NULL &&
		trigdesc->trig_insert_before_row;
	target->fires_after = kind != TARGET_MOVE && trigdesc != NULL &&
		trigdesc->trig_insert_after_row;
	target->needs_generated = constr != NULL && constr->has_generated_stored;
	/* rows satisfy the partition's bounds, because these routed them */
	target->needs_constraints = constr != NULL && constr->num_check > 0 &&
		(kind == TARGET_PARENT || !ZbxhistHasOnlyBounds(RelationGetDescr(rel)));
	/* index_insert can take plain column values for all indexes */
	target->has_plain_indexes = !target->fires_after;
	for (int i = 0; i < target->rri->ri_NumIndices; i++)
	{
		const IndexInfo *info = target->rri->ri_IndexRelationInfo[i];

		if (info->ii_Expressions != NIL || info->ii_Predicate != NIL ||
			info->ii_ExclusionOps != NULL ||
			!target->rri->ri_IndexRelationDescs[i]->rd_index->indimmediate)
			target->has_plain_indexes = false;
	}

	MemoryContextSwitchTo(old);
	return target;
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
 * PrepareRows does what ExecInsert does before it stores rows: triggers, generated
 * columns, constraints.  Moves the rows that no trigger has skipped to the front;
 * returns their number.
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
		{
			slots[n++] = slot;
			continue;
		}
		slot->tts_tableOid = RelationGetRelid(target->rel);
		if (target->fires_before)
		{
			if (!ExecBRInsertTriggers(target->estate, target->rri, slot))
				continue;
			/* a trigger's row is in memory that is reset below */
			ExecMaterializeSlot(slot);
		}
		if (target->needs_generated)
			ExecComputeStoredGenerated(target->rri, target->estate, slot,
									   CMD_INSERT);
		if (RelationGetDescr(target->rel)->constr != NULL)
			ExecConstraints(target->rri, slot, target->estate);
		ResetPerTupleExprContext(target->estate);
		slots[n++] = slot;
	}
	return n;
}

/*
 * FillPlainIndexes fills index after index: each stays in the processor's
 * caches while the rows, in key order, walk through it.  Taking the few key columns
 * from the tuple at their cached offsets is cheaper than FormIndexDatum, which
 * deforms the whole of it.
 */
static void
FillPlainIndexes(InsertTarget *target, TupleTableSlot **slots, int nslots)
{
	MemoryContext old =
		MemoryContextSwitchTo(GetPerTupleMemoryContext(target->estate));

	for (int number = 0; number < target->rri->ri_NumIndices; number++)
	{
		Relation	index = target->rri->ri_IndexRelationDescs[number];
		IndexInfo  *info = target->rri->ri_IndexRelationInfo[number];
		IndexUniqueCheck check = index->rd_index->indisunique ?
			UNIQUE_CHECK_YES : UNIQUE_CHECK_NO;
		Datum		values[INDEX_MAX_KEYS];
		bool		isnull[INDEX_MAX_KEYS];

		if (!info->ii_ReadyForInserts)
			continue;
		for (int i = 0; i < nslots; i++)
		{
			HeapTuple	tuple = ((HeapTupleTableSlot *) slots[i])->tuple;

			for (int j = 0; j < info->ii_NumIndexAttrs; j++)
				values[j] = heap_getattr(tuple, info->ii_IndexAttrNumbers[j],
										 RelationGetDescr(target->rel),
										 &isnull[j]);
			index_insert(index, values, isnull, &slots[i]->tts_tid, target->rel,
						 check, false, info);
		}
		MemoryContextReset(CurrentMemoryContext);
	}
	MemoryContextSwitchTo(old);
}

/*
 * StoreInTarget puts rows into the heap and the indexes.  AFTER ROW triggers are
 * queued, row by row, and fire with those of the statement that is executing.
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
	{
		FillPlainIndexes(target, slots, nslots);
		return;
	}
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
			/* no trigger would check a deferrable constraint again */
			ereport(ERROR,
					errcode(ERRCODE_UNIQUE_VIOLATION),
					errmsg("duplicate key value violates a deferrable unique constraint of table \"%s\"",
						   RelationGetRelationName(target->rel)),
					errtable(target->rel));
		ResetPerTupleExprContext(target->estate);
	}
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
	{
		TupleDesc	desc = CreateTupleDescCopy(RelationGetDescr(target->rel));
		TupleTableSlot **own = palloc(sizeof(TupleTableSlot *) * nslots);

		for (int i = 0; i < nslots; i++)
		{
			own[i] = MakeSingleTupleTableSlot(desc, &TTSOpsHeapTuple);
			execute_attr_map_slot(target->map->attrMap, slots[i], own[i]);
			ExecMaterializeSlot(own[i]);
		}
		slots = own;
	}
	target->estate->es_output_cid = cid;

	/* one by one, if a trigger may read the rows before */
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
