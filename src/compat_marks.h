/*-------------------------------------------------------------------------
 *
 * compat_marks.h
 *	  What we leave in PostgreSQL's structures beside their meaning.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_COMPAT_MARKS_H
#define ZBXHIST_COMPAT_MARKS_H

#include "nodes/parsenodes.h"
#include "nodes/plannodes.h"
#include "utils/relcache.h"

/* how a table of a query is to be read */
typedef enum TableMark
{
	MARK_ITEM_SCAN,				/* plan/item_scan.c */
	MARK_ORDERED				/* plan/ordered_append.c */
} TableMark;

extern void mark_table(RangeTblEntry *rte, TableMark mark, void *content);
extern void *get_table_mark(const RangeTblEntry *rte, TableMark mark);
extern void keep_whole_query(PlannedStmt *stmt, Query *whole,
							 List *left_out);
extern Query *get_whole_query(const PlannedStmt *stmt, List **left_out);
extern PlannedStmt *make_insert_plan(const Query *query, List *rtable,
									 Plan *plan);
extern void log_snapshot_conflict(Relation rel, TransactionId xid);

#endif							/* ZBXHIST_COMPAT_MARKS_H */
