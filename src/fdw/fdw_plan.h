/*-------------------------------------------------------------------------
 *
 * fdw_plan.h
 *	  What the planning functions know of a foreign table, and pass on.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_FDW_PLAN_H
#define ZBXHIST_FDW_PLAN_H

#include "nodes/pathnodes.h"

#include "packed/conditions.h"

/* what a scan costs */
typedef struct ScanEstimate
{
	double		rows;			/* returned */
	double		pages;			/* groups read */
	Cost		startup_cost;
	Cost		total_cost;
	Cost		cpu_cost;		/* part of total_cost that workers share */
} ScanEstimate;

/* packed days in a query, whose rows are those of a foreign table, or are read with
 * others of a parent that is not expanded; RelOptInfo.fdw_private */
typedef struct PackedRel
{
	Oid			parent;
	KeyColumns	columns;
	AttrNumber	ns;				/* never null; or 0 */
	int			ndays;
	PackedDay  *days;			/* sorted by clock */
	double		nrows;			/* in all days */
	double		nitems;			/* about so many have rows */
	List	   *ors;			/* of TakenOr, those of the query's conditions */
	List	   *conds;			/* of PackedCond, by the query's conditions */
	ScanEstimate estimate;		/* of a scan by these */
} PackedRel;

/* what an OR, which may have a thousand parts, says */
typedef struct TakenOr
{
	Expr	   *clause;
	List	   *conds;			/* of PackedCond */
} TakenOr;

/* members of ForeignScan.fdw_private */
enum PackedPlanPart
{
	PLAN_PARENT,				/* OidList of one */
	PLAN_CONDS,					/* IntList: kinds of the conditions whose
								 * values are in fdw_exprs */
	PLAN_ATTRIBUTES,			/* IntList: attnums that are wanted, system
								 * columns as well */
	PLAN_ORDER,					/* IntList, see below */
	PLAN_LOOKS_AGAIN			/* IntList of a bool: finds rows to be
								 * changed, in days that it locks, as they are
								 * then */
};

/* members of PLAN_ORDER, and the first of a path, the order in which rows come */
enum PackedOrderPart
{
	ORDER_IS_DESCENDING,		/* newest first */
	ORDER_READS_ALL				/* of PLAN_ORDER: no LIMIT or the like */
};

/* the other members of a path of some clocks, see ZbxhistMakeClocksPath */
enum PackedClocksPart
{
	CLOCKS_FIRST = ORDER_IS_DESCENDING + 1,
	CLOCKS_LAST
};

/* fdw_plan.c */
extern void ZbxhistSplitConditions(const PackedRel *packed,
								   List *restrictions, List **conds,
								   List **exact, List **local);
extern Path *ZbxhistMakeClocksPath(PlannerInfo *root, RelOptInfo *rel,
								   int32 first_clock, int32 last_clock,
								   double share);
extern const PackedRel *ZbxhistPackedRelOf(const RelOptInfo *rel);
extern PackedRel *ZbxhistPreparePackedRel(PlannerInfo *root, RelOptInfo *rel,
										  Relation table, Relation parent);

/* fdw_estimate.c */
extern PackedRel *ZbxhistMakePackedRel(PlannerInfo *root, RelOptInfo *rel,
									   Relation table, Relation parent);
extern void ZbxhistEstimateScan(PlannerInfo *root, RelOptInfo *rel,
								List *conds, List *local,
								ScanEstimate *estimate);

#endif							/* ZBXHIST_FDW_PLAN_H */
