/*-------------------------------------------------------------------------
 *
 * packed_groups.c
 *	  Adds packed days to groups.
 *
 * Segments are added column by column (segment_groups.c).  Rows are made if only some
 * rows of a segment may meet a condition, and in days that lack a column or have it with
 * another type.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "compat.h"
#include "packed/day_conflicts.h"
#include "packed/scan_bounds.h"
#include "read/aggregate.h"
#include "read/aggregate_scan.h"

/* ---- beginning ---- */

/*
 * InitKeyValues makes room for the values of keys and breaks.
 */
static void
InitKeyValues(const AggregateScanState *state, KeyValues *values)
{
	int			n = Max(state->table.nkeys + state->nbreaks, 1);

	values->values = palloc0(sizeof(Datum) * n);
	values->nulls = palloc0(sizeof(bool) * n);
	values->context = AllocSetContextCreate(CurrentMemoryContext,
											"zbxhist keys",
											ALLOCSET_SMALL_SIZES);
}

/*
 * PlaceFilter makes a filter on columns of the input one on the packed table's.
 */
static void
PlaceFilter(const AggregateScanState *state, ColumnFilter *filter)
{
	ListCell   *lc;

	if (filter == NULL)
		return;
	foreach(lc, filter->conditions)
	{
		ColumnCondition *condition = lfirst(lc);

		condition->attribute = state->attributes[condition->attribute];
	}
}

/*
 * ZbxhistBeginPackedGroups prepares for the packed days; the query has locked
 * their table.
 */
void
ZbxhistBeginPackedGroups(AggregateScanState *state)
{
	List	   *tables = list_nth(state->private, AGGREGATE_TABLES);
	List	   *attributes = list_nth(state->private, AGGREGATE_ATTRIBUTES);
	EState	   *estate = state->css.ss.ps.state;
	Relation	parent = table_open(lsecond_oid(tables), AccessShareLock);
	TupleDesc	packed_desc;
	TupleDesc	desc;
	ListCell   *lc;

	state->packed = table_open(linitial_oid(tables), AccessShareLock);
	packed_desc = RelationGetDescr(state->packed);

	/*
	 * the columns of the packed table that the input has, and its rows with
	 * these
	 */
	state->wanted = palloc0(sizeof(bool) * Max(packed_desc->natts, 1));
	state->attributes = palloc(sizeof(int) * Max(list_length(attributes), 1));
	desc = CreateTemplateTupleDesc(list_length(attributes));
	foreach(lc, attributes)
	{
		int			attribute = lfirst_int(lc) - 1;

		state->attributes[state->ncolumns++] = attribute;
		state->wanted[attribute] = true;
		TupleDescCopyEntry(desc, state->ncolumns, packed_desc, attribute + 1);
	}
	TupleDescFinalize(desc);
	state->input = ExecInitExtraTupleSlot(estate, desc, &TTSOpsVirtual);
	state->key_input = ExecInitExtraTupleSlot(estate, desc, &TTSOpsVirtual);
	memset(state->key_input->tts_isnull, true, sizeof(bool) * desc->natts);
	ExecStoreVirtualTuple(state->key_input);
	if (state->itemid > 0)
		state->key_input->tts_isnull[state->itemid - 1] = false;
	if (state->clock > 0)
		state->key_input->tts_isnull[state->clock - 1] = false;
	PlaceFilter(state, state->filter);
	for (int i = 0; i < state->table.ninputs; i++)
		PlaceFilter(state, state->sources[i].filter);
	InitKeyValues(state, &state->first);
	InitKeyValues(state, &state->other);
	state->bounds_context = AllocSetContextCreate(CurrentMemoryContext,
												  "zbxhist aggregate bounds",
												  ALLOCSET_SMALL_SIZES);
	state->segment_context = AllocSetContextCreate(CurrentMemoryContext,
												   "zbxhist aggregate segment",
												   ALLOCSET_DEFAULT_SIZES);
	ZbxhistNotePackedRead(parent, estate->es_snapshot);
	table_close(parent, NoLock);
	state->scan = ZbxhistBeginPackedScan(state->packed, lsecond_oid(tables),
										 estate->es_snapshot, state->wanted,
										 false);
	state->scan->open.spec.filter = state->filter;
}

/*
 * ZbxhistEndPackedGroups closes what is open.
 */
void
ZbxhistEndPackedGroups(AggregateScanState *state)
{
	if (state->scan == NULL)
		return;
	ZbxhistEndPackedScan(state->scan);
	table_close(state->packed, NoLock);
	state->scan = NULL;
}

/* ---- days ---- */

/*
 * FindInputColumn returns the day's column that has the values of a column of
 * the input, counted from 1, as they are, or NULL.
 */
static const LayoutColumn *
FindInputColumn(const AggregateScanState *state, int place, Oid type)
{
	const LayoutColumn *column =
		ZbxhistDirectColumn(state->reader->map, state->attributes[place - 1]);

	return column != NULL && column->type == type ? column : NULL;
}

/*
 * EnterAggregatedDay finds out how the current day is added up: by its columns if it
 * has those of all inputs, and which packed ones are needed.  Rows are counted as the
 * item, which is never null.
 */
static void
EnterAggregatedDay(AggregateScanState *state)
{
	const DayLayout *layout = state->scan->open.reader->layout;

	state->reader = state->scan->open.reader;
	state->by_column = true;
	memset(state->wanted_packed, false, sizeof(state->wanted_packed));
	for (int i = 0; i < state->table.ninputs; i++)
	{
		InputSource *source = &state->sources[i];

		source->column = source->place == 0 ? &layout->columns[layout->itemid] :
			FindInputColumn(state, source->place, source->type);
		state->by_column &= source->column != NULL;
		if (source->column != NULL && source->column->packed >= 0)
			state->wanted_packed[source->column->packed] = true;
	}
}

/* ---- adding ---- */

/*
 * SetFilter evaluates what a filter compares with.
 */
static void
SetFilter(AggregateScanState *state, ColumnFilter *filter)
{
	if (filter != NULL)
		ZbxhistSetFilterValues(filter, state->econtext, state->bounds_context);
}

/*
 * ZbxhistAggregatePacked adds the packed days, by the conditions' values of when it
 * begins; returns false if there is more, for which there is no memory now.
 */
bool
ZbxhistAggregatePacked(AggregateScanState *state)
{
	const SegmentInfo *info;
	ScanBounds	bounds;

	if (!state->has_packed)
	{
		ZbxhistEvaluateConds(list_nth(state->private, AGGREGATE_CONDS),
							 state->values, state->css.ss.ps.ps_ExprContext,
							 state->bounds_context, &bounds);
		SetFilter(state, state->filter);
		for (int i = 0; i < state->table.ninputs; i++)
			SetFilter(state, state->sources[i].filter);
		ZbxhistStartPackedScan(state->scan, &bounds);
		state->day = InvalidOid;
		state->has_packed = true;
	}
	while (!groups_are_full(&state->table))
	{
		MemoryContext old;

		info = ZbxhistPackedScanFind(state->scan);
		if (info == NULL)
			return true;
		CHECK_FOR_INTERRUPTS();
		old = MemoryContextSwitchTo(state->segment_context);
		if (RelationGetRelid(state->scan->open.reader->rel) != state->day)
		{
			EnterAggregatedDay(state);
			state->day = RelationGetRelid(state->reader->rel);
		}
		ZbxhistAddSegment(state, info);
		MemoryContextSwitchTo(old);
		MemoryContextReset(state->segment_context);
		ZbxhistDayReaderSkip(state->scan->open.reader);
	}
	return false;
}
