/*-------------------------------------------------------------------------
 *
 * segment_groups.c
 *	  Adds a row, or a packed segment, to groups.
 *
 * A segment has rows of one item in the order of clocks.  If its first and last row are
 * in the same group (clock_keys.c), all of its rows are; and if its statistics have what
 * is needed, it is not decoded.  Otherwise only the columns that are aggregated are
 * decoded, and consecutive rows of one group are added column by column.
 *
 * Conditions are decided by statistics as well (column_filter.c).  If these do not decide
 * it, the rows that may pass are made, as a scan of packed days makes them, and each is
 * checked.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/datum.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "binary_search.h"
#include "read/aggregate_scan.h"

/* ---- a row ---- */

/*
 * ZbxhistAggregateRow adds a row of the input, whose memory the caller frees.
 */
void
ZbxhistAggregateRow(AggregateScanState *state, TupleTableSlot *slot)
{
	ExprContext *econtext = state->econtext;
	KeyValues  *keys = &state->first;
	MemoryContext old;
	ValueGroup *group;

	econtext->ecxt_outertuple = slot;
	old = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
	for (int i = 0; i < state->table.nkeys; i++)
		keys->values[i] = ExecEvalExpr(state->keys[i], econtext,
									   &keys->nulls[i]);
	group = ZbxhistFindGroup(&state->table, keys->values, keys->nulls);
	for (int i = 0; i < state->table.ninputs; i++)
	{
		const InputSource *source = &state->sources[i];
		Datum		value = (Datum) 0;
		bool		isnull = false;

		if (source->check != NULL && !ExecQual(source->check, econtext))
			continue;
		if (source->place > 0)
			value = slot_getattr(slot, source->place, &isnull);
		if (!isnull)
			ZbxhistTotalAdd(&group->totals[i], state->table.inputs[i].kind, value,
							source->type, state->table.context);
	}
	group->nrows++;
	MemoryContextSwitchTo(old);
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
 * IsSameGroup says whether keys and breaks at a clock are those at the
 * beginning of the run.
 */
static bool
IsSameGroup(AggregateScanState *state, int64 itemid, int32 clock)
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
 * FindGroup returns the group of the current run.
 */
static ValueGroup *
FindGroup(AggregateScanState *state)
{
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
		(state->follows_clock && IsSameGroup(state, itemid, last_clock));
}

/*
 * FindRunEnd returns the first row after a run.  Runs are mostly as long as
 * the one before.  Sets *looked to the row whose keys are in state->other.
 */
static int
FindRunEnd(AggregateScanState *state, int64 itemid, const int64 *clocks,
		   int row, int to, int *looked)
{
	int			last = row;		/* known to belong to the run */
	int			end = to;		/* known not to be */

	*looked = -1;
	if (!state->depends_on_clock)
		return to;
	for (int attempt = 0; end - last > 1; attempt++)
	{
		int			guess = row + state->usual_run - 1 + attempt;
		int			middle = end == to ? to - 1 : last + (end - last) / 2;

		if (!state->follows_clock)
			middle = last + 1;	/* each clock must be checked */
		else if (attempt < 2 && guess > last && guess < end)
			middle = guess;
		if (clocks[middle] != clocks[last])
			*looked = middle;
		if (clocks[middle] == clocks[last] ||
			IsSameGroup(state, itemid, (int32) clocks[middle]))
			last = middle;
		else
			end = middle;
	}
	return end;
}

/* ---- statistics ---- */

/*
 * IsKnownByStats says whether a segment's statistics, item and clocks are enough for an
 * input's aggregates.
 */
static bool
IsKnownByStats(const AggregateScanState *state, int input,
			   const SegmentStats *stats)
{
	const GroupInput *wanted = &state->table.inputs[input];
	const InputSource *source = &state->sources[input];
	const LayoutColumn *column = source->column;
	const DayLayout *layout = state->reader->layout;

	if (source->filter != NULL && source->verdict == FILTER_NONE)
		return true;
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
 * AddStats adds a whole segment to a group without decoding it, if that can be
 * done.
 */
static bool
AddStats(AggregateScanState *state, ValueGroup *group, const SegmentInfo *info)
{
	SegmentStats stats;

	if (state->table.ninputs > 0)
		ZbxhistDayReaderStats(state->reader, info, &stats);
	for (int i = 0; i < state->table.ninputs; i++)
	{
		if (!IsKnownByStats(state, i, &stats))
			return false;
	}
	for (int i = 0; i < state->table.ninputs; i++)
	{
		const GroupInput *input = &state->table.inputs[i];
		const InputSource *source = &state->sources[i];
		Total	   *total = &group->totals[i];

		if (source->filter != NULL && source->verdict == FILTER_NONE)
			continue;
		if (source->column->packed < 0)
			ZbxhistTotalAddSame(total, input->kind, info->itemid, info->nrows);
		else if (source->column->packed == 0)
			ZbxhistTotalAddBounds(total, info->first_clock, info->last_clock,
								  info->nrows);
		else
			(void) ZbxhistTotalAddStats(total, input->kind, input->wants_sum,
										&stats, state->table.context);
	}
	group->nrows += info->nrows;
	state->counters->segments_by_stats++;
	return true;
}

/* ---- rows ---- */

/*
 * DecodeInputs decodes the wanted columns of the segment that has been found, and its
 * clocks if they are asked for.
 */
static void
DecodeInputs(AggregateScanState *state, bool wants_clocks, SegmentRows *rows)
{
	const DayReader *reader = state->reader;
	bool	   *wanted = state->wanted_packed;
	bool		had_clocks = wanted[0];

	wanted[0] |= wants_clocks;
	ZbxhistDayScanLoad(reader->scan, &state->scan->open.reader->group);
	ZbxhistDecodeDaySegment(reader->rel, reader->layout,
							&reader->group.reader, reader->segment,
							wanted, rows);
	state->counters->segments_read++;
	state->counters->values_decoded += rows->nrows;
	wanted[0] = had_clocks;
}

/*
 * AddSameRows adds rows of a segment to a group.
 */
static void
AddSameRows(AggregateScanState *state, ValueGroup *group,
			const SegmentRows *rows,
			int from, int to)
{
	for (int i = 0; i < state->table.ninputs; i++)
	{
		const GroupInput *input = &state->table.inputs[i];
		const InputSource *source = &state->sources[i];
		const LayoutColumn *column = source->column;

		if (source->filter != NULL && source->verdict == FILTER_NONE)
			continue;
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
	int			looked = -1;

	while (row < to)
	{
		int			end;

		if (looked == row)
		{
			KeyValues	other = state->other;

			state->other = state->first;
			state->first = other;
		}
		else
			EvaluateKeys(state, rows->itemid, (int32) clocks[row],
						 &state->first);
		end = FindRunEnd(state, rows->itemid, clocks, row, to, &looked);
		AddSameRows(state, FindGroup(state), rows, row, end);
		state->usual_run = end - row;
		row = end;
	}
}

/*
 * AddRowByRow makes the rows of the segment that has been found and may pass the filter,
 * and adds those for which the conditions hold.
 */
static void
AddRowByRow(AggregateScanState *state, const SegmentInfo *info, FilterVerdict verdict)
{
	DayReader  *reader = state->scan->open.reader;
	TupleTableSlot *slot = state->input;
	int			natts = RelationGetDescr(state->packed)->natts;
	Datum	   *values = palloc(sizeof(Datum) * Max(natts, 1));
	bool	   *nulls = palloc(sizeof(bool) * Max(natts, 1));

	ZbxhistDayReaderEnter(reader, info, verdict);
	while (next_in_segment(reader))
	{
		MemoryContext old;

		CHECK_FOR_INTERRUPTS();
		ResetExprContext(state->econtext);
		old = MemoryContextSwitchTo(state->econtext->ecxt_per_tuple_memory);
		ZbxhistMapRow(reader->map, reader->row, values, nulls);
		MemoryContextSwitchTo(old);
		ExecClearTuple(slot);
		for (int i = 0; i < state->ncolumns; i++)
		{
			slot->tts_values[i] = values[state->attributes[i]];
			slot->tts_isnull[i] = nulls[state->attributes[i]];
		}
		ExecStoreVirtualTuple(slot);
		state->counters->rows_made++;
		state->econtext->ecxt_outertuple = slot;
		if (ExecQual(state->local, state->econtext))
			ZbxhistAggregateRow(state, slot);
	}
}

/*
 * FindFirstClock returns the first row whose clock is not before one.
 */
static int
FindFirstClock(const SegmentRows *rows, int64 clock)
{
	int			i;

	find_first(i, rows->nrows, rows->columns[0].ints[i] >= clock);
	return i;
}

/*
 * AddSegmentPart adds those rows of the segment that are between the clocks
 * asked for.
 */
static void
AddSegmentPart(AggregateScanState *state)
{
	const ScanBounds *bounds = &state->scan->bounds;
	SegmentRows rows;
	int			from;
	int			to;

	DecodeInputs(state, true, &rows);
	if (rows.nrows == 0)
		return;
	from = FindFirstClock(&rows, bounds->from_clock);
	to = bounds->to_clock >= PG_INT32_MAX ? rows.nrows :
		FindFirstClock(&rows, bounds->to_clock + 1);
	AddRuns(state, &rows, from, to);
}

/*
 * AddWhole adds the rows of a segment, all of which are of the current run.
 */
static void
AddWhole(AggregateScanState *state, const SegmentInfo *info)
{
	SegmentRows rows;

	if (AddStats(state, FindGroup(state), info))
		return;
	DecodeInputs(state, false, &rows);
	AddSameRows(state, FindGroup(state), &rows, 0, rows.nrows);
}

/*
 * Judge says whether all, some or no rows of the segment pass the filter, and sets the
 * same for inputs with filters of their own; with FILTER_SOME rows must be checked.
 */
static FilterVerdict
Judge(AggregateScanState *state, const SegmentInfo *info)
{
	const DayReader *reader = state->reader;
	FilterVerdict result = FILTER_ALL;
	SegmentStats stats;

	if (state->filter == NULL && !state->has_filters)
		return result;
	ZbxhistDayReaderStats(state->reader, info, &stats);
	if (state->filter != NULL)
		result = ZbxhistJudgeSegment(state->filter, reader->map, reader->layout,
									 info, &stats);
	for (int i = 0; result == FILTER_ALL && i < state->table.ninputs; i++)
	{
		InputSource *source = &state->sources[i];

		if (source->filter == NULL)
			continue;
		source->verdict = ZbxhistJudgeSegment(source->filter, reader->map,
											  reader->layout, info, &stats);
		if (source->verdict == FILTER_SOME)
			result = FILTER_SOME;
	}
	return result;
}

/*
 * ZbxhistAddSegment adds the segment that has been found.
 */
void
ZbxhistAddSegment(AggregateScanState *state, const SegmentInfo *info)
{
	const ScanBounds *bounds = &state->scan->bounds;
	FilterVerdict verdict = Judge(state, info);
	bool		by_rows = !state->by_column || verdict == FILTER_SOME;

	if (verdict == FILTER_NONE)
	{
		state->counters->segments_excluded++;
		return;
	}

	/*
	 * keys are evaluated for rows that are wanted only: for others they may
	 * fail
	 */
	if (!by_rows && info->first_clock >= bounds->from_clock &&
		info->last_clock <= bounds->to_clock)
	{
		EvaluateKeys(state, info->itemid, info->first_clock, &state->first);
		if (IsInRun(state, info->itemid, info->first_clock, info->last_clock))
		{
			AddWhole(state, info);
			return;
		}
	}
	if (by_rows)
		AddRowByRow(state, info, verdict);
	else
		AddSegmentPart(state);
}
