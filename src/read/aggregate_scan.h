/*-------------------------------------------------------------------------
 *
 * aggregate_scan.h
 *	  The state of an aggregation over packed days.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_AGGREGATE_SCAN_H
#define ZBXHIST_AGGREGATE_SCAN_H

#include "access/htup_details.h"
#include "access/parallel.h"
#include "nodes/execnodes.h"
#include "utils/tuplesort.h"

#include "packed/column_filter.h"
#include "packed/scan.h"
#include "read/aggregate.h"
#include "read/groups.h"

/* what is added up, and where its values are in packed days */
typedef struct InputSource
{
	int			place;			/* the column of the input, from 1; 0: rows
								 * are counted */
	Oid			type;
	ExprState  *check;			/* condition of the rows that count; NULL: all
								 * do */
	ColumnFilter *filter;		/* the same by statistics */

	/* of the current day */
	const LayoutColumn *column;

	/* of the current segment */
	FilterVerdict verdict;		/* of filter */
} InputSource;

/* the values of keys and breaks at some clock */
typedef struct KeyValues
{
	Datum	   *values;
	bool	   *nulls;
	MemoryContext context;		/* owns what is passed by reference */
} KeyValues;

typedef struct AggregateScanState
{
	CustomScanState css;		/* must be first */
	List	   *private;		/* the plan's */
	AggregateRole role;
	List	   *values;			/* ExprStates of conditions' values */

	GroupTable	table;
	ExprState **keys;			/* keys, then breaks */
	int			nbreaks;
	InputSource *sources;		/* of the table's inputs */
	bool		has_filters;	/* some of them have a filter */
	ExprContext *econtext;		/* for rows of the input */
	TupleTableSlot *input;		/* a row of packed days */
	TupleTableSlot *key_input;	/* itemid and clock only */

	/* packed days */
	Relation	packed;
	PackedScan *scan;			/* NULL: not begun yet */
	bool	   *wanted;			/* by attribute */
	ExprState  *local;			/* conditions on rows; NULL: none */
	ColumnFilter *filter;		/* the same by statistics */
	int			ncolumns;		/* of input */
	int		   *attributes;		/* of them, from 0 */
	int			itemid;			/* in input, from 1; 0: not asked for */
	int			clock;
	bool		follows_clock;
	bool		depends_on_clock;	/* keys do */
	MemoryContext bounds_context;	/* owns the items, and filters' values */

	/* of the current day */
	Oid			day;
	const DayReader *reader;	/* whose it is */
	bool		by_column;		/* rows need not be made */
	bool		wanted_packed[MaxHeapAttributeNumber];	/* for inputs only */
	MemoryContext segment_context;

	/* keys at the beginning of the current run of rows, and at another one */
	KeyValues	first;
	KeyValues	other;
	int			usual_run;		/* rows of the last run; 0: none yet */

	/* results */
	bool		is_done;		/* there are groups to return */
	bool		is_part;		/* the groups are a part, see below */
	value_groups_iterator iterator; /* of groups that are returned */
	ScanCounters *counters;		/* the scan's, if there is one */
	Tuplesortstate *spilled;	/* NULL: none yet */
	TupleTableSlot *spilled_slot;	/* the next state; made with the first
									 * sort */

	/*
	 * When memory is full, groups are spilled, or returned by
	 * AGGREGATE_SHARE, and it goes on from here.
	 */
	int			input_number;	/* the current plan below */
	bool		has_input;		/* this process runs it */
	bool		has_packed;		/* the packed days have begun */
} AggregateScanState;

/* aggregate_parallel.c */
extern Datum ZbxhistGroupState(GroupTable *table, const ValueGroup *group);
extern void ZbxhistAggregateState(AggregateScanState *state,
								  TupleTableSlot *slot);
extern bool ZbxhistTakeInput(AggregateScanState *state, int input);
extern Size ZbxhistEstimateAggregate(CustomScanState *node,
									 ParallelContext *context);
extern void ZbxhistInitializeAggregate(CustomScanState *node,
									   ParallelContext *context,
									   void *coordinate);
extern void ZbxhistReInitializeAggregate(CustomScanState *node,
										 ParallelContext *context,
										 void *coordinate);
extern void ZbxhistInitializeAggregateWorker(CustomScanState *node,
											 shm_toc *toc, void *coordinate);
extern void ZbxhistShutdownAggregate(CustomScanState *node);

/* spilled_groups.c */
extern void ZbxhistSpillGroups(AggregateScanState *state);
extern void ZbxhistEndSpilling(AggregateScanState *state);
extern bool ZbxhistNextSpilled(AggregateScanState *state);
extern void ZbxhistForgetSpilled(AggregateScanState *state);

/* segment_groups.c */
extern void ZbxhistAggregateRow(AggregateScanState *state,
								TupleTableSlot *slot);
extern void ZbxhistAddSegment(AggregateScanState *state,
							  const SegmentInfo *info);

/* packed_groups.c */
extern void ZbxhistBeginPackedGroups(AggregateScanState *state);
extern bool ZbxhistAggregatePacked(AggregateScanState *state);
extern void ZbxhistEndPackedGroups(AggregateScanState *state);

#endif							/* ZBXHIST_AGGREGATE_SCAN_H */
