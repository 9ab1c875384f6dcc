/*-------------------------------------------------------------------------
 *
 * fdw_quals.h
 *	  Conditions on items and clocks that decide what is read of packed days.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_FDW_QUALS_H
#define ZBXHIST_FDW_QUALS_H

#include "nodes/execnodes.h"
#include "nodes/pathnodes.h"

#include "packed/scan.h"

/* what a value says of a row's item or clock */
typedef enum PackedCondKind
{
	COND_ITEM,					/* the item is the value */
	COND_ITEMS,					/* the item is in the array */
	COND_CLOCK_FROM,			/* the clock is not before the value */
	COND_CLOCK_AFTER,
	COND_CLOCK_TO,				/* the clock is not after the value */
	COND_CLOCK_BEFORE,
	COND_CLOCK,					/* the clock is the value */
	COND_CLOCKS					/* the clock is in the array */
} PackedCondKind;

/* a condition, or what follows from one */
typedef struct PackedCond
{
	PackedCondKind kind;
	Expr	   *value;			/* integer of any size, or array of such */
} PackedCond;

/* the columns that conditions may be about; 0: not of the right type */
typedef struct KeyColumns
{
	PlannerInfo *root;
	Index		varno;
	AttrNumber	itemid;
	AttrNumber	clock;
} KeyColumns;

extern AttrNumber ZbxhistFindTyped(Relation table, const char *name, Oid type);
extern void ZbxhistFindKeyColumns(PlannerInfo *root, Relation table,
								  Index varno, KeyColumns *columns);
extern bool ZbxhistTakeCondition(Expr *clause, const KeyColumns *columns,
								 List **conds);
extern bool ZbxhistIsOneItem(const List *conds);

extern int	ZbxhistSortItems(int64 *items, int nitems);

/* bounds with the items in one array */
extern void ZbxhistInitBounds(ScanBounds *bounds);
extern void ZbxhistApplyCond(ScanBounds *bounds, PackedCondKind kind,
							 Oid type, Datum value, bool isnull);
extern void ZbxhistEvaluateConds(const List *kinds, const List *values,
								 ExprContext *econtext, MemoryContext context,
								 ScanBounds *bounds);

#endif							/* ZBXHIST_FDW_QUALS_H */
