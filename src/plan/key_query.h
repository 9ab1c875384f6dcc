/*-------------------------------------------------------------------------
 *
 * key_query.h
 *	  Recognises SELECT of rows by a list of their keys.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_KEY_QUERY_H
#define ZBXHIST_KEY_QUERY_H

#include "nodes/parsenodes.h"
#include "utils/relcache.h"

#include "catalog/partition_set.h"

/* rows of an item between two positions, both included: mostly one */
typedef struct KeyRange
{
	int64		itemid;
	int64		first;
	int64		last;
} KeyRange;

/* the rows that a query wants */
typedef struct KeyQuery
{
	int			nkeys;
	KeyRange   *keys;			/* sorted; none overlaps another */
	Node	   *quals;			/* WHERE as it is to be planned */
} KeyQuery;

extern bool ZbxhistIsKeyQuery(Query *query, Index rti, Relation parent,
							  const PartitionSet *set, KeyQuery *result);

#endif							/* ZBXHIST_KEY_QUERY_H */
