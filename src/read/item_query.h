/*-------------------------------------------------------------------------
 *
 * item_query.h
 *	  Recognises SELECT of rows of items.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_ITEM_QUERY_H
#define ZBXHIST_ITEM_QUERY_H

#include "nodes/parsenodes.h"
#include "utils/array.h"
#include "utils/relcache.h"

#include "tables/partition_set.h"

/* positions of one item that are asked for */
typedef struct KeyRange
{
	int64		itemid;
	int64		first;			/* included */
	int64		last;			/* included */
} KeyRange;

/* which rows a query wants */
typedef struct ItemQuery
{
	bool		is_descending;	/* newest first */
	bool		is_of_each;		/* one of each item */
	bool		is_by_key;		/* all, item after item */
	bool		items_descending;	/* from the last item on */
	Node	   *quals;			/* WHERE as it is to be planned */

	/*
	 * interval_query.c; expressions are of relation 1, quals that leave the
	 * rows among which
	 */
	bool		is_of_intervals;	/* of each item the first of each interval */
	bool		has_ns;			/* rows of the same clock and ns, not only of
								 * the same clock */
	List	   *keys;			/* equal for all rows of an interval */

	/* key_query.c */
	Const	   *ranges;			/* rows of these KeyRanges, which are sorted
								 * and do not overlap; or NULL */
} ItemQuery;

/*
 * read_key_ranges returns the KeyRanges of an array of their numbers, and sets how many
 * they are.
 */
static inline const KeyRange *
read_key_ranges(Datum value, int *n)
{
	ArrayType  *array = DatumGetArrayTypeP(value);

	*n = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array)) /
		(int) (sizeof(KeyRange) / sizeof(int64));
	return (const KeyRange *) ARR_DATA_PTR(array);
}

extern double ZbxhistCountRows(Relation parent);
extern bool ZbxhistIsItemColumn(Node *expr, Relation table, AttrNumber attnum);
extern bool ZbxhistFindExtremes(Node *expr, Relation parent, AttrNumber attnum,
								bool *has_max, bool *has_min);
extern bool ZbxhistTakeItemConditions(const ItemQuery *wanted,
									  const PartitionSet *set, List **conds);
extern bool ZbxhistMayReplace(const Query *query, const RangeTblEntry *rte,
							  Relation parent);
extern bool ZbxhistIsItemQuery(Query *query, Relation parent,
							   const PartitionSet *set, ItemQuery *result);

/* key_query.c */
extern bool ZbxhistIsKeyQuery(Query *query, Relation parent,
							  const PartitionSet *set, ItemQuery *result);

#endif							/* ZBXHIST_ITEM_QUERY_H */
