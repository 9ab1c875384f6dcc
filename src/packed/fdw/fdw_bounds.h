/*-------------------------------------------------------------------------
 *
 * fdw_bounds.h
 *	  What conditions on items, clocks and ctids leave to be read.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_FDW_BOUNDS_H
#define ZBXHIST_FDW_BOUNDS_H

#include "nodes/execnodes.h"

#include "packed/day/scan.h"

/* what a value says of a row's item, clock or ctid */
typedef enum PackedCondKind
{
	COND_ITEM,					/* the item is the value */
	COND_ITEM_FROM,				/* the item is not less than the value */
	COND_ITEM_AFTER,
	COND_ITEM_TO,				/* the item is not more than the value */
	COND_ITEM_BEFORE,
	COND_CLOCK,					/* the same of clocks, in the same order */
	COND_CLOCK_FROM,
	COND_CLOCK_AFTER,
	COND_CLOCK_TO,
	COND_CLOCK_BEFORE,
	COND_ITEMS,					/* the item is in the array */
	COND_CLOCKS,				/* the clock is in the array */
	COND_TID,					/* the ctid is the value; from here on they
								 * are not only of the item, or only of the
								 * clock */
	COND_TIDS,					/* the ctid is in the array */
	COND_KEYS					/* the array has the item, the first clock and
								 * the last one, of each key one after the
								 * other, and the row's item and clock are of
								 * one of these */
} PackedCondKind;

extern int	ZbxhistSortItems(int64 *items, int nitems);

/* bounds with the items in one array */
extern void ZbxhistInitBounds(ScanBounds *bounds);
extern void ZbxhistApplyCond(ScanBounds *bounds, PackedCondKind kind,
							 Oid type, Datum value, bool isnull);
extern void ZbxhistSettleBounds(ScanBounds *bounds);
extern void ZbxhistEvaluateConds(const List *kinds, const List *values,
								 ExprContext *econtext, MemoryContext context,
								 ScanBounds *bounds);

#endif							/* ZBXHIST_FDW_BOUNDS_H */
