/*-------------------------------------------------------------------------
 *
 * aggregate.h
 *	  Aggregates over packed days, without rows.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_AGGREGATE_H
#define ZBXHIST_AGGREGATE_H

#include "nodes/pathnodes.h"

#include "custom_scan.h"

/* a query that is aggregated; expressions are in columns of relation rti */
typedef struct AggregateQuery
{
	Index		rti;
	AttrNumber	itemid;
	AttrNumber	clock;
	List	   *keys;			/* Exprs to group by */
	List	   *equals;			/* Oids of their equality operators */
	bool		follows_clock;	/* keys are the same between two clocks if
								 * they and breaks are at both */
	List	   *breaks;			/* Exprs */
	List	   *inputs;			/* Vars that are added up; NULL: rows are
								 * counted */
	List	   *filters;		/* for each an Expr that rows must satisfy;
								 * NULL: all rows count */
	List	   *kinds;			/* IntList: a TotalKind for each */
	List	   *sums;			/* IntList: is its sum asked for? */
	List	   *aggrefs;		/* of the query, each once */
	List	   *parts;			/* IntList: a TotalPart for each */
	List	   *sources;		/* IntList: which input; -1: all rows */
} AggregateQuery;

/* members of the plan's custom_private */
typedef enum AggregatePrivate
{
	AGGREGATE_KEYS,
	AGGREGATE_EQUALS,
	AGGREGATE_BREAKS,
	AGGREGATE_INPUTS,
	AGGREGATE_FILTERS,
	AGGREGATE_KINDS,
	AGGREGATE_SUMS,
	AGGREGATE_PARTS,
	AGGREGATE_SOURCES,
	AGGREGATE_PLACES,			/* IntList, see below */
	AGGREGATE_TABLES,			/* OidList: packed table and parent */
	AGGREGATE_ATTRIBUTES,		/* IntList: the packed table's column of each
								 * column of the input */
	AGGREGATE_CONDS,			/* IntList: kinds of the conditions whose
								 * values custom_exprs are */
	AGGREGATE_EXACT,			/* these conditions, for EXPLAIN: in columns
								 * of relation 1, the packed table */
	AGGREGATE_LOCAL,			/* other conditions */
	AGGREGATE_FILTER,			/* the same for EXPLAIN */
	AGGREGATE_PARTIALS			/* IntList of bools: whether all participants
								 * of a parallel query run an input, each for
								 * a part of its rows, or only one does */
} AggregatePrivate;

/* members of AGGREGATE_PLACES; columns of the input are counted from 1 */
enum AggregatePlace
{
	PLACE_ITEMID,				/* 0: not among them */
	PLACE_CLOCK,
	PLACE_FOLLOWS_CLOCK,		/* bool */
	PLACE_ROLE					/* AggregateRole */
};

/* what a node does */
typedef enum AggregateRole
{
	AGGREGATE_ALL,				/* everything */
	AGGREGATE_SHARE,			/* a share of the rows, below Gather */
	AGGREGATE_COMBINE			/* puts shares together */
} AggregateRole;

/* aggregate_query.c */
extern bool ZbxhistIsUsable(Node *node);
extern List *ZbxhistAddByCost(List *quals, Expr *qual);
extern bool ZbxhistReadAggregateQuery(PlannerInfo *root, List *clauses,
									  PathTarget *target,
									  AggregateQuery *query);

/* parallel_path.c */
extern void ZbxhistConsiderAggregateScan(PlannerInfo *root,
										 UpperRelationKind stage,
										 RelOptInfo *input,
										 RelOptInfo *output);

/* aggregate_scan.c */
extern const ScanNode zbxhist_aggregate_scan;

#endif							/* ZBXHIST_AGGREGATE_H */
