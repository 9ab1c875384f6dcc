/*-------------------------------------------------------------------------
 *
 * spilled_groups.c
 *	  Groups that memory does not hold.
 *
 * When memory is full, all groups are passed to a sort, in the form in which a
 * participant of a parallel query returns them: keys and a state (aggregate_parallel.c).
 * They are sorted by the hash of the keys.  So when all rows have been added, all states
 * of a group come one after the other, and groups are made of them, as many at a time as
 * memory holds.  No input is read twice.
 *
 * Memory: that of the sort, in the query's.  Its files are closed with the scan,
 * or by the resource owner.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/tuplesort.h"

#include "read/aggregate_scan.h"

/*
 * MakeSlot makes the slot for keys, a state and the hash.
 */
static TupleTableSlot *
MakeSlot(AggregateScanState *state)
{
	const GroupTable *table = &state->table;
	TupleDesc	desc = CreateTemplateTupleDesc(table->nkeys + 2);

	for (int i = 0; i < table->nkeys; i++)
		TupleDescInitEntry(desc, i + 1, NULL, table->keys[i].type, -1, 0);
	TupleDescInitEntry(desc, table->nkeys + 1, NULL, BYTEAOID, -1, 0);
	TupleDescInitEntry(desc, table->nkeys + 2, NULL, INT4OID, -1, 0);
	TupleDescFinalize(desc);
	return ExecInitExtraTupleSlot(state->css.ss.ps.state, desc,
								  &TTSOpsMinimalTuple);
}

/*
 * BeginSpilling begins the sort.
 */
static void
BeginSpilling(AggregateScanState *state)
{
	AttrNumber	hash = state->table.nkeys + 2;
	Oid			operator = Int4LessOperator;
	Oid			collation = InvalidOid;
	bool		nulls_first = false;

	if (state->spilled_slot == NULL)
		state->spilled_slot = MakeSlot(state);
	state->spilled = tuplesort_begin_heap(state->spilled_slot->tts_tupleDescriptor,
										  1, &hash, &operator, &collation,
										  &nulls_first, work_mem, NULL,
										  TUPLESORT_NONE);
}

/*
 * ZbxhistSpillGroups gives all groups to the sort and forgets them.  The current
 * memory context is the query's.
 */
void
ZbxhistSpillGroups(AggregateScanState *state)
{
	GroupTable *table = &state->table;
	int			nkeys = table->nkeys;
	value_groups_iterator iterator;
	GroupEntry *entry;
	TupleTableSlot *slot;

	if (state->spilled == NULL)
		BeginSpilling(state);
	slot = state->spilled_slot;
	value_groups_start_iterate(table->groups, &iterator);
	while ((entry = value_groups_iterate(table->groups, &iterator)) != NULL)
	{
		const ValueGroup *group = entry->group;

		CHECK_FOR_INTERRUPTS();
		ExecClearTuple(slot);
		memcpy(slot->tts_values, group->keys, sizeof(Datum) * nkeys);
		memcpy(slot->tts_isnull, group->nulls, sizeof(bool) * nkeys);
		slot->tts_values[nkeys] = ZbxhistGroupState(table, group);
		slot->tts_values[nkeys + 1] = Int32GetDatum((int32) group->hash);
		slot->tts_isnull[nkeys] = slot->tts_isnull[nkeys + 1] = false;
		tuplesort_puttupleslot(state->spilled, ExecStoreVirtualTuple(slot));
	}
	ExecClearTuple(slot);
	state->counters->groups_spilled += table->groups->members;
	ZbxhistEmptyGroups(table);
}

/*
 * ZbxhistEndSpilling says that all rows have been added.  If groups have been
 * spilled, those that memory has are as well.
 */
void
ZbxhistEndSpilling(AggregateScanState *state)
{
	if (state->spilled == NULL)
		return;
	ZbxhistSpillGroups(state);
	tuplesort_performsort(state->spilled);
	(void) tuplesort_gettupleslot(state->spilled, true, false,
								  state->spilled_slot, NULL);
}

/*
 * ZbxhistNextSpilled makes the next groups, of which spilled_slot has the first
 * state; returns false if there are no more.
 */
bool
ZbxhistNextSpilled(AggregateScanState *state)
{
	TupleTableSlot *slot = state->spilled_slot;
	int			hash = state->table.nkeys + 1;
	Datum		last_hash = (Datum) 0;

	if (state->spilled == NULL || TupIsNull(slot))
		return false;
	ZbxhistEmptyGroups(&state->table);
	do
	{
		CHECK_FOR_INTERRUPTS();
		slot_getallattrs(slot);
		if (groups_are_full(&state->table) && slot->tts_values[hash] != last_hash)
			break;
		last_hash = slot->tts_values[hash];
		ResetExprContext(state->econtext);
		ZbxhistAggregateState(state, slot);
	} while (tuplesort_gettupleslot(state->spilled, true, false, slot, NULL));
	return true;
}

/*
 * ZbxhistForgetSpilled ends the sort.
 */
void
ZbxhistForgetSpilled(AggregateScanState *state)
{
	if (state->spilled == NULL)
		return;
	ExecClearTuple(state->spilled_slot);
	tuplesort_end(state->spilled);
	state->spilled = NULL;
}
