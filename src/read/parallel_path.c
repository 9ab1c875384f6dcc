/*-------------------------------------------------------------------------
 *
 * parallel_path.c
 *	  Plans aggregates over packed days for several processes.
 *
 * Each participant aggregates a share of the packed days and of the other tables' rows,
 * and returns the keys of its groups and, in one bytea, their totals.  Above Gather
 * another node of ours adds the totals of equal keys (aggregate_parallel.c).
 * PostgreSQL's own partial aggregates would round sums of doubles at every step.
 *
 * Another table is divided among the participants if it has a partial path that is
 * cheaper than reading all of it; else one participant reads all of it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/planner.h"
#include "optimizer/tlist.h"

#include "read/aggregate_path.h"

/*
 * Starting workers costs so many times parallel_setup_cost: they must first fill their
 * caches of packed days, and the work to share out is much less than making rows.
 */
#define EXTRA_SETUPS 2

/* the share of a participant */
typedef struct Share
{
	List	   *inputs;			/* Paths */
	List	   *partials;		/* IntList: see AggregateChoice */
	int			nworkers;
	double		divisor;		/* participants, weighted by the rows that
								 * they add */
} Share;

/* ---- workers ---- */

/*
 * CountWorkers returns how many workers to start: as many as for a foreign scan of the
 * packed days, or for a scan of one of the other tables.
 */
static int
CountWorkers(const AggregateChoice *choice)
{
	const PackedRel *packed = choice->tables.about;
	double		pages = packed->estimate.pages;
	int			result = 0;
	ListCell   *lc;

	if (pages >= min_parallel_table_scan_size)
		result = Min(compute_parallel_worker(choice->tables.packed, pages, -1,
											 max_parallel_workers_per_gather),
					 packed->ndays);
	foreach(lc, choice->tables.others)
	{
		const RelOptInfo *rel = ((Path *) lfirst(lc))->parent;

		if (rel->partial_pathlist != NIL)
			result = Max(result,
						 ((Path *) linitial(rel->partial_pathlist))->parallel_workers);
	}
	return result;
}

/* ---- other tables ---- */

/*
 * ShareInputs makes the paths of other tables' rows, partial ones if these are
 * cheaper, and sets what they cost a participant; returns false if workers may not read
 * one.
 */
static bool
ShareInputs(PlannerInfo *root, const AggregateChoice *choice, Share *share,
			Cost *cost)
{
	Cost		total = 0;
	Cost		greatest = 0;
	ListCell   *lc;

	*cost = 0;
	foreach(lc, choice->tables.others)
	{
		Path	   *path = lfirst(lc);
		const RelOptInfo *rel = path->parent;
		Path	   *partial = rel->partial_pathlist == NIL ? NULL :
			linitial(rel->partial_pathlist);
		bool		is_partial = partial != NULL &&
			(!path->parallel_safe || partial->total_cost < path->total_cost);
		Cost		own;

		if (!is_partial && !path->parallel_safe)
			return false;
		path = ZbxhistAggregateInput(root, is_partial ? partial : path,
									 choice->columns);
		if (!path->parallel_safe)
			return false;
		share->inputs = lappend(share->inputs, path);
		share->partials = lappend_int(share->partials, is_partial);
		own = path->total_cost + ZbxhistCostOfRows(choice, path->rows);
		if (is_partial)
			*cost += own;
		else
		{
			total += own;
			greatest = Max(greatest, own);
		}
	}
	*cost += Max(total / share->divisor, greatest);
	return true;
}

/* ---- paths ---- */

/*
 * MakeStates makes the output of a participant: the keys, and for the totals one of the
 * query's aggregates as a partial one, with a type of our own.
 */
static PathTarget *
MakeStates(PlannerInfo *root, const AggregateQuery *query)
{
	PathTarget *target = create_empty_pathtarget();
	Aggref	   *state = makeNode(Aggref);
	ListCell   *lc;

	*state = *linitial_node(Aggref, query->aggrefs);
	mark_partial_aggref(state, AGGSPLIT_INITIAL_SERIAL);
	state->aggtype = BYTEAOID;
	state->aggcollid = InvalidOid;
	foreach(lc, query->keys)
		add_column_to_pathtarget(target, lfirst(lc), 0);
	add_column_to_pathtarget(target, (Expr *) state, 0);
	return set_pathtarget_cost_width(root, target);
}

/*
 * MakeSharePath makes the path of a participant.
 */
static CustomPath *
MakeSharePath(RelOptInfo *output, const AggregateChoice *choice,
			  const Share *share, Cost cost, double ngroups)
{
	const ScanEstimate *estimate = &choice->tables.about->estimate;
	CustomPath *path = ZbxhistMakeAggregatePath(output, choice,
												AGGREGATE_SHARE,
												choice->states, share->inputs);

	cost += estimate->total_cost -
		estimate->cpu_cost * (1 - ZbxhistCostPerRow(choice) / share->divisor);
	path->path.parallel_aware = true;
	path->path.parallel_safe = true;
	path->path.parallel_workers = share->nworkers;
	path->path.rows = ngroups;
	path->path.startup_cost = cost;
	path->path.total_cost = cost + cpu_tuple_cost * ngroups;
	return path;
}

/*
 * AddParallelPath adds a path that shares the work out, if workers
 * may do it.
 */
static void
AddParallelPath(PlannerInfo *root, RelOptInfo *input, RelOptInfo *output,
				AggregateChoice *choice, double ngroups)
{
	Share		share = {0};
	double		nstates;
	Cost		cost;
	Path	   *gather;
	CustomPath *path;
	bool		is_safe;
	bool		by_clock = false;
	ListCell   *lc;

	share.nworkers = CountWorkers(choice);
	if (!input->consider_parallel || !output->consider_parallel ||
		share.nworkers <= 0 || choice->query.aggrefs == NIL)
		return;
	/* can workers evaluate all expressions on packed rows? */
	is_safe = is_parallel_safe(root, (Node *) choice->query.keys) &&
		is_parallel_safe(root, (Node *) choice->query.breaks) &&
		is_parallel_safe(root, (Node *) choice->query.filters) &&
		is_parallel_safe(root, (Node *) choice->filter);
	foreach(lc, choice->conds)
		is_safe = is_safe &&
		is_parallel_safe(root, (Node *) ((PackedCond *) lfirst(lc))->value);
	if (!is_safe)
		return;
	share.divisor = share.nworkers;
	if (parallel_leader_participation)
		share.divisor += Max(1.0 - 0.3 * share.nworkers, 0);
	if (!ShareInputs(root, choice, &share, &cost))
		return;
	choice->states = MakeStates(root, &choice->query);
	choice->partials = share.partials;
	/* participants have different days, so mostly different groups by clock */
	foreach(lc, pull_var_clause((Node *) choice->query.keys, 0))
		by_clock |= lfirst_node(Var, lc)->varattno == choice->query.clock;
	nstates = by_clock ? ngroups : ngroups * (share.nworkers + 1);
	gather = (Path *)
		create_gather_path(root, output,
						   (Path *) MakeSharePath(output, choice, &share, cost,
												  nstates / (share.nworkers + 1)),
						   choice->states, NULL, &nstates);
	path = ZbxhistMakeAggregatePath(output, choice, AGGREGATE_COMBINE,
									choice->target, list_make1(gather));
	ZbxhistSetGroupsCost(path,
						 gather->total_cost +
						 EXTRA_SETUPS * parallel_setup_cost +
						 ZbxhistCostOfRows(choice, nstates),
						 ngroups);
	add_path(output, &path->path);
}

/*
 * ZbxhistConsiderAggregateScan adds our paths to those of a query's grouping, or
 * of its DISTINCT.
 */
void
ZbxhistConsiderAggregateScan(PlannerInfo *root, UpperRelationKind stage,
							 RelOptInfo *input, RelOptInfo *output)
{
	double		ngroups;
	AggregateChoice *choice = ZbxhistAddAggregatePath(root, stage, input,
													  output, &ngroups);

	if (choice != NULL)
		AddParallelPath(root, input, output, choice, ngroups);
}
