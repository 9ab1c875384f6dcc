/*-------------------------------------------------------------------------
 *
 * item_read.h
 *	  SELECT of the rows of items, without the planner.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_ITEM_READ_H
#define ZBXHIST_ITEM_READ_H

#include "nodes/parsenodes.h"
#include "nodes/plannodes.h"

#include "custom_scan.h"

/* members of the plan's custom_private */
typedef enum ItemReadPrivate
{
	ITEM_READ_CONDS,			/* IntList: kinds of the conditions on item
								 * and clock, whose values are custom_exprs */
	ITEM_READ_ATTNUMS,			/* IntList: the parent's column of each target */
	ITEM_READ_ORDER,			/* IntList: see ReadOrderPart */
	ITEM_READ_LIMIT,			/* expression, or NULL */
	ITEM_READ_QUALS				/* the same conditions as a list */
} ItemReadPrivate;

/* numbers of the order */
enum ReadOrderPart
{
	ORDER_IS_DESCENDING,		/* rows of an item */
	ORDER_ITEMS_DESCENDING,		/* items */
	ORDER_LIMITS_ITEM			/* the limit is of each item's rows, which are
								 * sorted by the plan above */
};

/* item_read.c */
extern const ScanNode zbxhist_item_read;

/* item_select.c */
extern PlannedStmt *ZbxhistPlanItemSelect(const Query *query, int cursor_options);

#endif							/* ZBXHIST_ITEM_READ_H */
