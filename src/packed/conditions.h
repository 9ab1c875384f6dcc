/*-------------------------------------------------------------------------
 *
 * conditions.h
 *	  Conditions on items and clocks, which limit what is read of packed days.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_CONDITIONS_H
#define ZBXHIST_CONDITIONS_H

#include "nodes/pathnodes.h"

#include "packed/scan_bounds.h"
#include "tables/partition_set.h"

/* a condition, or what follows from one */
typedef struct PackedCond
{
	PackedCondKind kind;
	Expr	   *value;			/* integer of any size, numeric, ctid, or
								 * array of such; for a clock another number
								 * or a time */
} PackedCond;

/* the columns that conditions may be about; 0: not of the right type */
typedef struct KeyColumns
{
	PlannerInfo *root;
	Index		varno;
	AttrNumber	itemid;
	AttrNumber	clock;
	AttrNumber	ctid;			/* has the rows' clocks, if it is one */
} KeyColumns;

extern AttrNumber ZbxhistFindTyped(Relation table, const char *name, Oid type);
extern void ZbxhistFindKeyColumns(PlannerInfo *root, Relation table,
								  Index varno, KeyColumns *columns);
extern bool ZbxhistTakeKeyColumns(const PartitionSet *set, KeyColumns *columns);
extern Node *ZbxhistMakeArray(const int64 *integers, int n);
extern bool ZbxhistTakeCondition(Expr *clause, const KeyColumns *columns,
								 List **conds);
extern void ZbxhistGetConstBounds(List *conds, ScanBounds *bounds);
extern List *ZbxhistKindsOf(const List *conds, List **values);
extern bool ZbxhistHasCond(const List *conds, PackedCondKind first,
						   PackedCondKind last);

/*
 * leaves_one_item says whether conditions leave no more than one item.
 */
static inline bool
leaves_one_item(const List *conds)
{
	return ZbxhistHasCond(conds, COND_ITEM, COND_ITEM);
}

/*
 * names_items says whether conditions leave one item, or those of an array.
 */
static inline bool
names_items(const List *conds)
{
	return leaves_one_item(conds) || ZbxhistHasCond(conds, COND_ITEMS, COND_ITEMS);
}

#endif							/* ZBXHIST_CONDITIONS_H */
