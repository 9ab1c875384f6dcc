/*-------------------------------------------------------------------------
 *
 * aggregate_parallel.c
 *	  Aggregates packed days in several processes.
 *
 * A participant that is free takes the next packed day, as in a parallel foreign scan
 * (fdw/fdw_parallel.c).  Of the plans below, all participants run the partial ones; each
 * other plan is run by the first participant that reaches it.  If a participant's memory
 * is full, it returns the groups that it has, and begins again: they are put together
 * above Gather in any case.
 *
 * The state of a group, a bytea that never leaves the query, is the number of
 * its rows and its totals as they are in memory, followed by the numerics that
 * they point to.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/parallel.h"
#include "storage/shm_toc.h"

#include "compat.h"
#include "read/aggregate_scan.h"

/* ---- states of groups ---- */

/*
 * NumericsOf returns the numerics to which a total points, and sets their number.
 */
static Numeric *
NumericsOf(Total *total, TotalKind kind, int *n)
{
	StaticAssertStmt(offsetof(NumericTotal, other_sum) ==
					 offsetof(NumericTotal, other_min) + 2 * sizeof(Numeric),
					 "the three numerics of a total are one array");

	*n = kind == TOTAL_NUMERIC && total->u.n.other_sum != NULL ? 3 : 0;
	return &total->u.n.other_min;
}

/*
 * ZbxhistGroupState returns the state of a group, which is valid until the next call.
 */
Datum
ZbxhistGroupState(GroupTable *table, const ValueGroup *group)
{
	static const char padding[MAXIMUM_ALIGNOF];
	StringInfo	state = &table->state;

	resetStringInfo(state);
	appendBinaryStringInfo(state, padding, VARHDRSZ);
	appendBinaryStringInfo(state, (const char *) &group->nrows, sizeof(int64));
	appendBinaryStringInfo(state, (const char *) group->totals,
						   sizeof(Total) * table->ninputs);
	for (int i = 0; i < table->ninputs; i++)
	{
		int			nnumerics;
		const Numeric *numerics = NumericsOf((Total *) &group->totals[i],
											 table->inputs[i].kind, &nnumerics);

		for (int n = 0; n < nnumerics; n++)
		{
			int			size = VARSIZE(numerics[n]);

			appendBinaryStringInfo(state, (const char *) numerics[n], size);
			appendBinaryStringInfo(state, padding, MAXALIGN(size) - size);
		}
	}
	SET_VARSIZE(state->data, state->len);
	return PointerGetDatum(state->data);
}

/*
 * AddState adds a state to a group.
 */
static void
AddState(const GroupTable *table, ValueGroup *group, bytea *state)
{
	Size		size = VARSIZE_ANY_EXHDR(state);
	char	   *data = palloc(size);
	Total	   *totals = (Total *) (data + sizeof(int64));
	char	   *next = (char *) (totals + table->ninputs);

	Assert(size >= next - data);
	/* its address may be unaligned */
	memcpy(data, VARDATA_ANY(state), size);
	group->nrows += *(int64 *) data;
	for (int i = 0; i < table->ninputs; i++)
	{
		int			nnumerics;
		Numeric    *numerics = NumericsOf(&totals[i], table->inputs[i].kind,
										  &nnumerics);

		for (int n = 0; n < nnumerics; n++)
		{
			numerics[n] = (Numeric) next;
			next += MAXALIGN(VARSIZE(next));
		}
		ZbxhistTotalMerge(&group->totals[i], table->inputs[i].kind, &totals[i],
						  table->context);
	}
}

/*
 * ZbxhistAggregateState adds a row of a participant, or a spilled one: keys and
 * a state.  The caller frees its memory.
 */
void
ZbxhistAggregateState(AggregateScanState *state, TupleTableSlot *slot)
{
	GroupTable *table = &state->table;
	MemoryContext old =
		MemoryContextSwitchTo(state->econtext->ecxt_per_tuple_memory);

	slot_getallattrs(slot);
	AddState(table,
			 ZbxhistFindGroup(table, slot->tts_values, slot->tts_isnull),
			 (bytea *) DatumGetPointer(slot->tts_values[table->nkeys]));
	MemoryContextSwitchTo(old);
}

/* ---- sharing out ---- */

/*
 * ZbxhistTakeInput says whether this participant is to run a plan below.  All
 * participants reach these plans in the same order.
 */
bool
ZbxhistTakeInput(AggregateScanState *state, int input)
{
	const List *partials = list_nth(state->private, AGGREGATE_PARTIALS);
	uint32		nbefore = 0;

	if (state->scan == NULL || state->scan->shared == NULL ||
		list_nth_int(partials, input))
		return true;
	for (int i = 0; i < input; i++)
		nbefore += list_nth_int(partials, i) ? 0 : 1;
	return pg_atomic_compare_exchange_u32(&state->scan->shared->next_input,
										  &nbefore, nbefore + 1);
}

/*
 * ZbxhistEstimateAggregate returns how much shared memory is needed.
 */
Size
ZbxhistEstimateAggregate(CustomScanState *node, ParallelContext *context)
{
	return ZbxhistSizeOfSharedDays(((AggregateScanState *) node)->scan);
}

/*
 * ZbxhistReInitializeAggregate lets all shares be taken again.
 */
void
ZbxhistReInitializeAggregate(CustomScanState *node, ParallelContext *context,
							 void *coordinate)
{
	ZbxhistShareDaysAgain(coordinate);
}

/*
 * ZbxhistInitializeAggregate fills the shared memory, and makes the leader take
 * its share from there.
 */
void
ZbxhistInitializeAggregate(CustomScanState *node, ParallelContext *context,
						   void *coordinate)
{
	ZbxhistShareDays(((AggregateScanState *) node)->scan, coordinate);
}

/*
 * ZbxhistInitializeAggregateWorker makes a worker take its share from there.
 */
void
ZbxhistInitializeAggregateWorker(CustomScanState *node, shm_toc *toc,
								 void *coordinate)
{
	((AggregateScanState *) node)->scan->shared = coordinate;
}

/*
 * ZbxhistShutdownAggregate takes what workers have done before the shared
 * memory goes.
 */
void
ZbxhistShutdownAggregate(CustomScanState *node)
{
	AggregateScanState *state = (AggregateScanState *) node;

	if (state->scan != NULL)
		ZbxhistStopSharing(state->scan);
}
