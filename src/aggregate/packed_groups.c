/*-------------------------------------------------------------------------
 *
 * packed_groups.c
 *	  Adds packed segments to groups.
 *
 * A segment has rows of one item in the order of clocks.  If its first and
 * last row are of the same group (clock_keys.c) then all are, and if its
 * statistics say what is asked for, it is not even decoded.  Otherwise those
 * of its columns are that are added up, and rows of the same group, which
 * follow one another, are added column by column.
 *
 * Rows are made only of days where that is not possible: a column has got
 * another type since, is one that the day lacks, or is part of an expression;
 * or conditions have to be checked row by row.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/datum.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "aggregate/aggregate.h"
#include "aggregate/aggregate_scan.h"
#include "binary_search.h"
#include "packed/day/day_conflicts.h"
#include "packed/fdw/fdw_bounds.h"

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
	{
		Form_pg_attribute att = TupleDescAttr(desc, state->attributes[i]);

		TupleDescInitEntry(result, i + 1, NULL, att->atttypid, att->atttypmod,
						   0);
		TupleDescInitEntryCollation(result, i + 1, att->attcollation);
	}
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
	state->columns = palloc0(sizeof(LayoutColumn *) *
							 Max(state->table.ninputs, 1));
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
 * FindColumn returns the day's column that has the values of an input as they
 * are added up, or NULL.
 */
static const LayoutColumn *
FindColumn(const AggregateScanState *state, int input)
{
	Var		   *var = (Var *) state->inputs[input]->expr;
	const LayoutColumn *column;

	if (!IsA(var, Var))
		return NULL;
	column = ZbxhistDirectColumn(state->reader->map,
								 state->attributes[var->varattno - 1]);
	return column != NULL && column->type == var->vartype ? column : NULL;
}

/*
 * WantInputs says which packed columns the inputs need.
 */
static void
WantInputs(AggregateScanState *state)
{
	int			npacked = state->reader->layout->npacked;

	if (npacked > state->nwanted)
	{
		MemoryContext context = state->css.ss.ps.state->es_query_cxt;

		state->wanted_packed = MemoryContextAlloc(context,
												  sizeof(bool) * npacked);
		state->nwanted = npacked;
	}
	memset(state->wanted_packed, false, sizeof(bool) * npacked);
	if (!state->by_column)
		ZbxhistAddPackedWanted(state->reader->map, state->wanted_packed);
	for (int i = 0; state->by_column && i < state->table.ninputs; i++)
	{
		if (state->columns[i]->packed >= 0)
			state->wanted_packed[state->columns[i]->packed] = true;
	}
}

/*
 * EnterDay finds out how the day in hand is added up.
 */
static void
EnterDay(AggregateScanState *state)
{
	state->reader = state->scan->open.reader;
	state->by_column = state->local == NULL || state->filters_items;
	for (int i = 0; state->by_column && i < state->table.ninputs; i++)
	{
		state->columns[i] = FindColumn(state, i);
		state->by_column = state->columns[i] != NULL;
	}
	WantInputs(state);
}

/* ---- keys ---- */

/*
 * EvaluateKeys sets keys and breaks as they are at a clock of an item.
 */
static void
EvaluateKeys(AggregateScanState *state, int64 itemid, int32 clock,
			 KeyValues *result)
{
	TupleTableSlot *slot = state->key_input;
	int			n = state->table.nkeys + state->nbreaks;
	MemoryContext old;

	if (state->itemid > 0)
		slot->tts_values[state->itemid - 1] = Int64GetDatum(itemid);
	if (state->clock > 0)
		slot->tts_values[state->clock - 1] = Int32GetDatum(clock);
	state->econtext->ecxt_outertuple = slot;
	MemoryContextReset(result->context);
	old = MemoryContextSwitchTo(result->context);
	for (int i = 0; i < n; i++)
		result->values[i] = ExecEvalExpr(state->keys[i], state->econtext,
										 &result->nulls[i]);
	MemoryContextSwitchTo(old);
}

/*
 * IsSame says whether keys and breaks at a clock are those at the beginning of
 * the run.
 */
static bool
IsSame(AggregateScanState *state, int64 itemid, int32 clock)
{
	const KeyValues *first = &state->first;
	const KeyValues *other = &state->other;
	int			n = state->table.nkeys + state->nbreaks;

	EvaluateKeys(state, itemid, clock, &state->other);
	for (int i = 0; i < n; i++)
	{
		const GroupKey *key = &state->table.keys[i];

		if (first->nulls[i] != other->nulls[i] ||
			(!first->nulls[i] &&
			 !datumIsEqual(first->values[i], other->values[i], key->typbyval,
						   key->typlen)))
			return false;
	}
	return true;
}

/*
 * BeginRun evaluates the keys at the first row of a run and returns the group,
 * or NULL if it is for another pass.
 */
static ValueGroup *
BeginRun(AggregateScanState *state, int64 itemid, int32 clock)
{
	EvaluateKeys(state, itemid, clock, &state->first);
	return ZbxhistFindGroup(&state->table, state->first.values,
							state->first.nulls);
}

/*
 * IsInRun says whether all rows up to a clock, which come after the first one
 * of the run, are of its group.
 */
static bool
IsInRun(AggregateScanState *state, int64 itemid, int32 first_clock,
		int32 last_clock)
{
	return !state->depends_on_clock || first_clock == last_clock ||
		(state->follows_clock && IsSame(state, itemid, last_clock));
}

/*
 * FindRunEnd returns the first row after a run.  Runs are mostly as long as
 * the one before.
 */
static int
FindRunEnd(AggregateScanState *state, int64 itemid, const int64 *clocks,
		   int row, int to)
{
	int			last = row;		/* known to be of the run */
	int			end = to;		/* known not to be */
	int			usual = state->usual_run;

	if (IsInRun(state, itemid, (int32) clocks[row], (int32) clocks[to - 1]))
		return to;
	end = to - 1;
	if (!state->follows_clock)
	{
		/* each clock has to be looked at */
		for (last = row + 1; last < to; last++)
		{
			if (clocks[last] != clocks[last - 1] &&
				!IsSame(state, itemid, (int32) clocks[last]))
				break;
		}
		return last;
	}
	for (int attempt = 0; end - last > 1; attempt++)
	{
		int			middle = last + (end - last) / 2;

		if (attempt < 2 && row + usual - 1 + attempt > last &&
			row + usual - 1 + attempt < end)
			middle = row + usual - 1 + attempt;
		if (IsSame(state, itemid, (int32) clocks[middle]))
			last = middle;
		else
			end = middle;
	}
	return end;
}

/* ---- statistics ---- */

/*
 * IsKnown says whether a segment's statistics, and its place, tell of all
 * values of an input what is asked for.
 */
static bool
IsKnown(const AggregateScanState *state, int input, const SegmentStats *stats)
{
	const GroupInput *wanted = &state->table.inputs[input];
	const LayoutColumn *column = state->columns[input];
	const DayLayout *layout = state->reader->layout;

	if (column->packed < 0)
		return true;
	if (column->packed == 0)
		return !wanted->wants_sum;
	if (layout->value < 0 ||
		column->packed != layout->columns[layout->value].packed ||
		!stats->is_set)
		return false;
	if (stats->count == 0 || wanted->kind == TOTAL_COUNT)
		return true;
	return wanted->kind == TOTAL_NUMERIC ? stats->kind == PACKED_UNSIGNED :
		wanted->kind == TOTAL_DOUBLE && stats->kind == PACKED_DOUBLE &&
		(stats->has_rest || !wanted->wants_sum);
}

/*
 * ReadStats reads the statistics of the segment that has been found.
 */
static void
ReadStats(const DayReader *reader, const SegmentInfo *info,
		  SegmentStats *stats)
{
	const DayLayout *layout = reader->layout;

	memset(stats, 0, sizeof(SegmentStats));
	if (layout->value < 0)
		return;
	if (!ZbxhistReadStats(&reader->group.reader, reader->segment, stats) ||
		(stats->is_set && stats->kind != layout->columns[layout->value].kind))
		ZbxhistRaiseCorrupt(reader->rel, info->itemid);
}

/*
 * AddStats adds a whole segment to a group without decoding it, if that can be
 * done.
 */
static bool
AddStats(AggregateScanState *state, ValueGroup *group, const SegmentInfo *info)
{
	SegmentStats stats;

	if (state->table.ninputs > 0)
		ReadStats(state->reader, info, &stats);
	for (int i = 0; i < state->table.ninputs; i++)
	{
		if (!IsKnown(state, i, &stats))
			return false;
	}
	for (int i = 0; i < state->table.ninputs; i++)
	{
		const GroupInput *input = &state->table.inputs[i];
		Total	   *total = &group->totals[i];

		if (state->columns[i]->packed < 0)
			ZbxhistTotalAddSame(total, input->kind, info->itemid, info->nrows);
		else if (state->columns[i]->packed == 0)
			ZbxhistTotalAddBounds(total, info->first_clock, info->last_clock,
								  info->nrows);
		else
			(void) ZbxhistTotalAddStats(total, input->kind, input->wants_sum,
										&stats, state->table.context);
	}
	group->nrows += info->nrows;
	state->counters.segments_by_stats++;
	return true;
}

/* ---- rows ---- */

/*
 * Decode decodes the segment that has been found, and its clocks if they are
 * asked for.
 */
static void
Decode(AggregateScanState *state, bool wants_clocks, SegmentRows *rows)
{
	const DayReader *reader = state->reader;
	bool		had_clocks = state->wanted_packed[0];

	if (wants_clocks)
		state->wanted_packed[0] = true;
	ZbxhistDecodeDaySegment(reader->rel, reader->layout,
							&reader->group.reader, reader->segment,
							state->wanted_packed, rows);
	state->wanted_packed[0] = had_clocks;
	state->counters.segments_decoded++;
	state->counters.values_decoded += rows->nrows;
}

/*
 * AddRun adds rows of a segment to a group.
 */
static void
AddRun(AggregateScanState *state, ValueGroup *group, const SegmentRows *rows,
	   int from, int to)
{
	for (int i = 0; i < state->table.ninputs; i++)
	{
		const GroupInput *input = &state->table.inputs[i];
		const LayoutColumn *column = state->columns[i];

		if (column->packed < 0)
			ZbxhistTotalAddSame(&group->totals[i], input->kind, rows->itemid,
								to - from);
		else
			ZbxhistTotalAddColumn(&group->totals[i], input->kind, input->type,
								  column, &rows->columns[column->packed],
								  from, to, state->table.context);
	}
	group->nrows += to - from;
}

/*
 * AddRuns adds the rows of a segment from one to another, excluded, to their
 * groups.
 */
static void
AddRuns(AggregateScanState *state, const SegmentRows *rows, int from, int to)
{
	const int64 *clocks = rows->columns[0].ints;
	int			row = from;

	while (row < to)
	{
		ValueGroup *group = BeginRun(state, rows->itemid, (int32) clocks[row]);
		int			end = FindRunEnd(state, rows->itemid, clocks, row, to);

		if (group != NULL)
			AddRun(state, group, rows, row, end);
		state->usual_run = end - row;
		row = end;
	}
}

/*
 * AddRows does the same row by row, as far as the conditions hold.
 */
static void
AddRows(AggregateScanState *state, const SegmentRows *rows, int from, int to)
{
	TupleTableSlot *slot = state->input;
	int			natts = RelationGetDescr(state->packed)->natts;
	Datum	   *values = palloc(sizeof(Datum) * Max(natts, 1));
	bool	   *nulls = palloc(sizeof(bool) * Max(natts, 1));

	ZbxhistMapSegment(state->reader->map, rows);
	for (int row = from; row < to; row++)
	{
		MemoryContext old;

		CHECK_FOR_INTERRUPTS();
		ResetExprContext(state->econtext);
		old = MemoryContextSwitchTo(state->econtext->ecxt_per_tuple_memory);
		ZbxhistMapRow(state->reader->map, row, values, nulls);
		MemoryContextSwitchTo(old);
		ExecClearTuple(slot);
		for (int i = 0; i < state->ncolumns; i++)
		{
			slot->tts_values[i] = values[state->attributes[i]];
			slot->tts_isnull[i] = nulls[state->attributes[i]];
		}
		ExecStoreVirtualTuple(slot);
		state->econtext->ecxt_outertuple = slot;
		if (ExecQual(state->local, state->econtext))
			ZbxhistAggregateRow(state, slot);
	}
}

/*
 * FindClock returns the first row whose clock is not before one.
 */
static int
FindClock(const SegmentRows *rows, int64 clock)
{
	int			i;

	find_first(i, rows->nrows, rows->columns[0].ints[i] >= clock);
	return i;
}

/*
 * AddPart adds those rows of the segment that are between the clocks asked
 * for.
 */
static void
AddPart(AggregateScanState *state)
{
	const ScanBounds *bounds = &state->scan->bounds;
	SegmentRows rows;
	int			from;
	int			to;

	Decode(state, true, &rows);
	from = FindClock(&rows, bounds->from_clock);
	to = bounds->to_clock >= PG_INT32_MAX ? rows.nrows :
		FindClock(&rows, bounds->to_clock + 1);
	if (state->by_column)
		AddRuns(state, &rows, from, to);
	else
		AddRows(state, &rows, from, to);
}

/*
 * IsItemWanted says whether conditions on the item hold.
 */
static bool
IsItemWanted(AggregateScanState *state, int64 itemid)
{
	TupleTableSlot *slot = state->key_input;

	if (state->itemid > 0)
		slot->tts_values[state->itemid - 1] = Int64GetDatum(itemid);
	ResetExprContext(state->econtext);
	state->econtext->ecxt_outertuple = slot;
	return ExecQual(state->local, state->econtext);
}

/*
 * AddSegment adds the segment that has been found.
 */
static void
AddSegment(AggregateScanState *state, const SegmentInfo *info)
{
	const ScanBounds *bounds = &state->scan->bounds;
	SegmentRows rows;
	ValueGroup *group;

	if (state->filters_items && !IsItemWanted(state, info->itemid))
		return;
	if (!state->by_column || info->first_clock < bounds->from_clock ||
		info->last_clock > bounds->to_clock)
	{
		AddPart(state);
		return;
	}
	group = BeginRun(state, info->itemid, info->first_clock);
	if (!IsInRun(state, info->itemid, info->first_clock, info->last_clock))
	{
		AddPart(state);
		return;
	}
	if (group == NULL || AddStats(state, group, info))
		return;
	Decode(state, false, &rows);
	AddRun(state, group, &rows, 0, rows.nrows);
}

/*
 * ZbxhistAggregatePacked adds the packed days.
 */
void
ZbxhistAggregatePacked(AggregateScanState *state)
{
	List	   *kinds = list_nth(state->private, AGGREGATE_CONDS);
	Oid			day = InvalidOid;
	ScanBounds	bounds;
	const SegmentInfo *info;

	ZbxhistEvaluateConds(kinds, state->values,
						 state->css.ss.ps.ps_ExprContext,
						 state->bounds_context, &bounds);
	ZbxhistStartPackedScan(state->scan, &bounds);
	while ((info = ZbxhistPackedScanFind(state->scan)) != NULL)
	{
		MemoryContext old;

		CHECK_FOR_INTERRUPTS();
		old = MemoryContextSwitchTo(state->segment_context);
		if (RelationGetRelid(state->scan->open.reader->rel) != day)
		{
			EnterDay(state);
			day = RelationGetRelid(state->reader->rel);
		}
		AddSegment(state, info);
		MemoryContextSwitchTo(old);
		MemoryContextReset(state->segment_context);
		ZbxhistDayReaderSkip(state->scan->open.reader);
	}
}
