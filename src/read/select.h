/*-------------------------------------------------------------------------
 *
 * select.h
 *	  Plans a SELECT for those children of a parent that have its clocks.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_SELECT_H
#define ZBXHIST_SELECT_H

#include "executor/execdesc.h"
#include "nodes/parsenodes.h"

/* what was done to a query that is about to be planned */
typedef struct NarrowedSelect
{
	Query	   *whole;			/* the query as it was, if its plan is right
								 * only as long as tables are empty */
	List	   *left_out;		/* these; Oids */
	bool		has_no_constraints; /* no table is left of which a constraint
									 * tells more than is known */
} NarrowedSelect;

extern void ZbxhistNarrowSelect(Query *query, NarrowedSelect *narrowed);
extern MemoryContext ZbxhistRefreshPlan(QueryDesc *query, int eflags);

#endif							/* ZBXHIST_SELECT_H */
