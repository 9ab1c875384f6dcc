/*-------------------------------------------------------------------------
 *
 * compat_marks.h
 *	  Uses PostgreSQL's structures in ways that they were not made for.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_COMPAT_MARKS_H
#define ZBXHIST_COMPAT_MARKS_H

#include "nodes/execnodes.h"
#include "nodes/parsenodes.h"
#include "nodes/plannodes.h"
#include "utils/relcache.h"

extern void mark_table(RangeTblEntry *rte, List *content);
extern List *get_table_mark(const RangeTblEntry *rte);
extern PlannedStmt *make_plan(const Query *query, List *rtable, Plan *plan);
extern void skip_check(ResultRelInfo *table);
extern void log_snapshot_conflict(Relation rel, TransactionId xid);

#endif							/* ZBXHIST_COMPAT_MARKS_H */
