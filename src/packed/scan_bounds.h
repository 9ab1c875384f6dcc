/*-------------------------------------------------------------------------
 *
 * scan_bounds.h
 *	  The bounds of a scan, from its conditions on items, clocks and ctids.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_SCAN_BOUNDS_H
#define ZBXHIST_SCAN_BOUNDS_H

#include "access/stratnum.h"
#include "nodes/execnodes.h"
#include "packed/scan.h"

/* what a value says of a row's item, clock or ctid */
typedef enum PackedCondKind
{
	/* comparisons, in the order of btree's strategies */
	COND_ITEM_BEFORE,			/* the item is less than the value */
	COND_ITEM_TO,
	COND_ITEM,
	COND_ITEM_FROM,
	COND_ITEM_AFTER,
	COND_CLOCK_BEFORE,			/* the same of clocks */
	COND_CLOCK_TO,
	COND_CLOCK,
	COND_CLOCK_FROM,
	COND_CLOCK_AFTER,
	COND_CLOCKS,				/* the clock is in the array */
	COND_ITEMS,					/* the item is in the array */
	COND_TIDS,					/* the ctid is in the array */
	COND_PLACES_FROM,			/* item and clock are not before those in the
								 * array, in the order of rows */
	COND_PLACES_TO				/* nor after them */
} PackedCondKind;

/*
 * strategy_of_cond returns btree's strategy of a comparison.
 */
static inline int
strategy_of_cond(PackedCondKind kind)
{
	Assert(kind <= COND_CLOCK_AFTER);
	return (kind - COND_ITEM_BEFORE) % BTMaxStrategyNumber + 1;
}

extern int	ZbxhistSortItems(int64 *items, int nitems);

/* bounds with the items in one array */
extern void ZbxhistInitBounds(ScanBounds *bounds);
extern void ZbxhistApplyCond(ScanBounds *bounds, PackedCondKind kind,
							 Oid type, Datum value, bool isnull);
extern void ZbxhistSettleBounds(ScanBounds *bounds);
extern void ZbxhistEvaluateConds(const List *kinds, const List *values,
								 ExprContext *econtext, MemoryContext context,
								 ScanBounds *bounds);

#endif							/* ZBXHIST_SCAN_BOUNDS_H */
