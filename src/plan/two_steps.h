/*-------------------------------------------------------------------------
 *
 * two_steps.h
 *	  A query whose aggregates are made in two steps.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_TWO_STEPS_H
#define ZBXHIST_TWO_STEPS_H

#include "nodes/parsenodes.h"

/* a query, and what becomes of it */
typedef struct TwoSteps
{
	Query	   *query;
	Index		rti;			/* of the parent, or the UNION ALL of parents */
	Query	   *whole;			/* a copy of that; NULL: there is none */
	List	   *members;		/* Queries that are to make groups */
	AttrNumber	itemid;			/* columns of rti */
	AttrNumber	clock;
	List	   *keys;			/* Exprs in columns of rti; the item first */
	List	   *clauses;		/* a SortGroupClause for each */
	List	   *totals;			/* Aggrefs in columns of rti */
	List	   *moved;			/* conditions that hold below */
	bool		has_left_join;
	bool		is_refused;		/* there is something that is not understood */
} TwoSteps;

/* combine.c */
extern bool ZbxhistIsOfSource(const TwoSteps *steps, Node *node);
extern List *ZbxhistCombineGroups(TwoSteps *steps, List *exprs);
extern void ZbxhistJoinGroups(TwoSteps *steps);

/* group_source.c */
extern bool ZbxhistReachesSource(TwoSteps *steps, Node *item);
extern bool ZbxhistFindGroupSource(TwoSteps *steps);
extern void ZbxhistAddToMember(const TwoSteps *steps, Query *member,
							   List *conditions);
extern void ZbxhistPutGroups(TwoSteps *steps);

#endif							/* ZBXHIST_TWO_STEPS_H */
