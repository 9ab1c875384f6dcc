/*-------------------------------------------------------------------------
 *
 * packed_groups.c
 *	  Adds packed days to groups.
 *
 * Segments are added column by column (segment_groups.c).  Rows are made only
 * of days where that is not possible: a column has got another type since, or is
 * one that the day lacks.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "packed/day_conflicts.h"
#include "packed/scan_bounds.h"
#include "read/aggregate.h"
#include "read/aggregate_scan.h"

/* ---- beginning ---- */

/*
 * MakeInputDesc describes a row of the input as packed days have it.
 */
static TupleDesc
MakeInputDesc(const AggregateScanState *state)
{
	TupleDesc	desc = RelationGetDescr(state->packed);
	TupleDesc	result = CreateTemplateTupleDesc(state->ncolumns);

	for (int i = 0; i < state->ncolumns; i++)
		TupleDescCopyEntry(result, i + 1, desc, state->attributes[i] + 1);
	return result;
}

/*
 * MakeSlots makes the slots of rows of the input.
 */
static void
MakeSlots(AggregateScanState *state)
{
	EState	   *estate = state->css.ss.ps.state;
	TupleDesc	desc = MakeInputDesc(state);

	state->input = ExecInitExtraTupleSlot(estate, desc, &TTSOpsVirtual);
	state->key_input = ExecInitExtraTupleSlot(estate, desc, &TTSOpsVirtual);
	memset(state->key_input->tts_isnull, true, sizeof(bool) * desc->natts);
	ExecStoreVirtualTuple(state->key_input);
	if (state->itemid > 0)
		state->key_input->tts_isnull[state->itemid - 1] = false;
	if (state->clock > 0)
		state->key_input->tts_isnull[state->clock - 1] = false;
}

/*
 * SetColumns says which columns of the packed table the input has.
 */
static void
SetColumns(AggregateScanState *state)
{
	List	   *attributes = list_nth(state->private, AGGREGATE_ATTRIBUTES);
	int			natts = RelationGetDescr(state->packed)->natts;
	ListCell   *lc;

	state->wanted = palloc0(sizeof(bool) * Max(natts, 1));
	state->attributes = palloc(sizeof(int) * Max(list_length(attributes), 1));
	foreach(lc, attributes)
	{
		int			attribute = lfirst_int(lc) - 1;

		state->attributes[state->ncolumns++] = attribute;
		state->wanted[attribute] = true;
	}
}

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
 * ZbxhistBeginPackedGroups prepares for the packed days; the query has locked
 * their table.
 */
void
ZbxhistBeginPackedGroups(AggregateScanState *state)
{
	List	   *tables = list_nth(state->private, AGGREGATE_TABLES);
	EState	   *estate = state->css.ss.ps.state;
	Relation	parent = table_open(lsecond_oid(tables), AccessShareLock);

	state->packed = table_open(linitial_oid(tables), AccessShareLock);
	SetColumns(state);
	MakeSlots(state);
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
 * FindFilterColumns finds the columns of the filter's conditions; returns
 * false if the day has not got all of them.
 */
static bool
FindFilterColumns(const AggregateScanState *state, const ColumnFilter *filter)
{
	ColumnCondition *condition = filter->condition;
	bool		result = true;
	ListCell   *lc;

	if (condition != NULL)
	{
		condition->column = FindInputColumn(state, condition->place,
											condition->type);
		result = condition->column != NULL;
	}
	foreach(lc, filter->parts)
		result &= FindFilterColumns(state, lfirst(lc));
	return result;
}

/*
 * WantFilter says which packed columns a filter needs.
 */
static void
WantFilter(const ColumnFilter *filter, bool *wanted)
{
	ListCell   *lc;

	if (filter->condition != NULL && filter->condition->column->packed >= 0)
		wanted[filter->condition->column->packed] = true;
	foreach(lc, filter->parts)
		WantFilter(lfirst(lc), wanted);
}

/*
 * WantInputs says which packed columns the inputs need, and with them the
 * filter.
 */
static void
WantInputs(AggregateScanState *state)
{
	memset(state->wanted_packed, false, sizeof(state->wanted_packed));
	if (!state->by_column)
		ZbxhistAddPackedWanted(state->reader->map, state->wanted_packed);
	for (int i = 0; state->by_column && i < state->table.ninputs; i++)
	{
		const InputSource *source = &state->sources[i];

		if (source->column->packed >= 0)
			state->wanted_packed[source->column->packed] = true;
		if (source->filter != NULL)
			WantFilter(source->filter, state->wanted_packed);
	}
	memcpy(state->wanted_filter, state->wanted_packed,
		   sizeof(state->wanted_packed));
	if (state->by_column && state->filter != NULL)
		WantFilter(state->filter, state->wanted_filter);
}

/*
 * FindSource finds the column of an input, and those of its filter; returns false
 * if the day has not got all of them.  Rows are counted as the item, which is never null.
 */
static bool
FindSource(const AggregateScanState *state, InputSource *source)
{
	const DayLayout *layout = state->reader->layout;

	source->column = source->place == 0 ? &layout->columns[layout->itemid] :
		FindInputColumn(state, source->place, source->type);
	return source->column != NULL &&
		(source->filter == NULL || FindFilterColumns(state, source->filter));
}

/*
 * EnterAggregatedDay finds out how the day in hand is added up.
 */
static void
EnterAggregatedDay(AggregateScanState *state)
{
	state->reader = state->scan->open.reader;
	state->by_column = state->filter == NULL ||
		FindFilterColumns(state, state->filter);
	for (int i = 0; state->by_column && i < state->table.ninputs; i++)
		state->by_column = FindSource(state, &state->sources[i]);
	WantInputs(state);
}

/* ---- adding ---- */

/*
 * BeginPacked goes to the first packed day, with the conditions' values of
 * now.
 */
static void
BeginPacked(AggregateScanState *state)
{
	List	   *kinds = list_nth(state->private, AGGREGATE_CONDS);
	ScanBounds	bounds;

	ZbxhistEvaluateConds(kinds, state->values,
						 state->css.ss.ps.ps_ExprContext,
						 state->bounds_context, &bounds);
	/* a segment is added once, its rows are looked at */
	bounds.keys = NULL;
	bounds.nkeys = 0;
	state->has_values = false;
	ZbxhistStartPackedScan(state->scan, &bounds);
	state->day = InvalidOid;
	state->has_packed = true;
}

/*
 * ZbxhistAggregatePacked adds the packed days; returns false if there is more,
 * for which there is no memory now.
 */
bool
ZbxhistAggregatePacked(AggregateScanState *state)
{
	const SegmentInfo *info;

	if (!state->has_packed)
		BeginPacked(state);
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
