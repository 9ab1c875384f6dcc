/*-------------------------------------------------------------------------
 *
 * fast_insert.h
 *	  INSERT of literals into a parent without planner and row trigger.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_FAST_INSERT_H
#define ZBXHIST_FAST_INSERT_H

#include "nodes/parsenodes.h"
#include "nodes/plannodes.h"

#include "custom_scan.h"

/* members of custom_private; all but the first are lists of integers */
typedef enum FastInsertPrivate
{
	FAST_ROWS,					/* lists of expressions, one for each row */
	FAST_ROW_ATTNUMS,			/* column of each, 0: not stored */
	FAST_CONSTANTS,				/* expressions that all rows have */
	FAST_CONSTANT_ATTNUMS		/* column of each */
} FastInsertPrivate;

/* exec_insert.c */
extern const ScanNode zbxhist_insert_scan;

/* fast_insert.c */
extern PlannedStmt *ZbxhistPlanFastInsert(const Query *query);

#endif							/* ZBXHIST_FAST_INSERT_H */
