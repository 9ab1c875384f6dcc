/*-------------------------------------------------------------------------
 *
 * aggregate_path.h
 *	  What the planner's parts for aggregates know.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_AGGREGATE_PATH_H
#define ZBXHIST_AGGREGATE_PATH_H

#include "nodes/extensible.h"

#include "fdw/fdw_plan.h"
#include "read/aggregate.h"

/* the tables of a relation */
typedef struct Tables
{
	RelOptInfo *packed;			/* a packed table, or a parent that is not
								 * expanded; NULL: there is none */
	const PackedRel *about;		/* statistics of its packed rows */
	Oid			relid;			/* of the packed table */
	List	   *others;			/* Paths of rows that are not packed */
} Tables;

/* what a path carries to its plan; custom_private has one */
typedef struct AggregateChoice
{
	AggregateQuery query;
	PathTarget *target;			/* output of each group */
	List	   *columns;		/* of the input: Vars of the relation */
	List	   *attributes;		/* IntList: the packed table's, and more of it
								 * for local conditions */
	Tables		tables;
	List	   *conds;			/* what is read of packed days */
	List	   *exact;
	List	   *filter;			/* other conditions on packed rows */
	List	   *local;			/* the same in columns of the input */
	AggregateRole role;
	List	   *partials;		/* IntList: which inputs are shared out, see
								 * AGGREGATE_PARTIALS */
	PathTarget *states;			/* output of AGGREGATE_SHARE */
} AggregateChoice;

/* aggregate_path.c */
extern List *ZbxhistPlaceColumns(List *exprs, List *columns);
extern Path *ZbxhistAggregateInput(PlannerInfo *root, Path *path,
								   List *columns);
extern double ZbxhistCostPerRow(const AggregateChoice *choice);
extern Cost ZbxhistCostOfRows(const AggregateChoice *choice, double nrows);
extern void ZbxhistSetGroupsCost(CustomPath *path, Cost cost, double ngroups);
extern CustomPath *ZbxhistMakeAggregatePath(RelOptInfo *output,
											const AggregateChoice *choice,
											AggregateRole role,
											PathTarget *target, List *inputs);
extern AggregateChoice *ZbxhistAddAggregatePath(PlannerInfo *root,
												UpperRelationKind stage,
												RelOptInfo *input,
												RelOptInfo *output,
												double *ngroups);

/* aggregate_plan.c */
extern const struct CustomPathMethods zbxhist_aggregate_path_methods;

#endif							/* ZBXHIST_AGGREGATE_PATH_H */
