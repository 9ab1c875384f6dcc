/*-------------------------------------------------------------------------
 *
 * day_index.c
 *	  The index of a day's table on (first_itemid, first_clock).
 *
 * Locks: the caller has locked the table.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/skey.h"
#include "catalog/pg_type.h"
#include "utils/fmgroids.h"
#include "utils/rel.h"

#include "format/layout.h"
#include "packed/day_index.h"
#include "tables/item_index.h"

/*
 * ZbxhistOpenGroupIndex opens the index of a day's table on (first_itemid, first_clock),
 * locked ACCESS SHARE.
 */
Relation
ZbxhistOpenGroupIndex(Relation day)
{
	List	   *indexes = RelationGetIndexList(day);
	ListCell   *lc;

	foreach(lc, indexes)
	{
		Relation	index = index_open(lfirst_oid(lc), AccessShareLock);

		if (index->rd_index->indisunique &&
			index->rd_index->indnkeyatts == NUM_GROUP_KEYS &&
			ZbxhistHasOrder(index, DAY_ATTNUM_FIRST_ITEMID,
							DAY_ATTNUM_FIRST_CLOCK))
		{
			list_free(indexes);
			return index;
		}
		index_close(index, AccessShareLock);
	}
	ereport(ERROR,
			errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			errmsg("packed day \"%s\" has no valid index on (first_itemid, first_clock)",
				   RelationGetRelationName(day)),
			errhint("Add its primary key again."),
			errtable(day));
}

/*
 * InitGroupKey makes key the comparison of (first_itemid, first_clock)
 * with a place; members are two keys that belong to it.
 */
static void
InitGroupKey(ScanKey key, ScanKey members, StrategyNumber strategy,
			 int64 itemid, int32 clock)
{
	ScanKeyEntryInitialize(&members[0], SK_ROW_MEMBER, 1, strategy,
						   INT8OID, InvalidOid, F_BTINT8CMP,
						   Int64GetDatum(itemid));
	ScanKeyEntryInitialize(&members[1], SK_ROW_MEMBER | SK_ROW_END, 2,
						   strategy, INT4OID, InvalidOid, F_BTINT4CMP,
						   Int32GetDatum(clock));
	memset(key, 0, sizeof(*key));
	key->sk_flags = SK_ROW_HEADER;
	key->sk_attno = 1;
	key->sk_strategy = strategy;
	key->sk_argument = PointerGetDatum(members);
}

/*
 * ZbxhistStartGroupScan starts an index scan, which has NUM_GROUP_KEYS keys, at
 * the groups that begin after a place, or there (strategy), and not after
 * another place.  keys must stay as long as the scan.
 */
void
ZbxhistStartGroupScan(IndexScanDesc scan, GroupKeys *keys,
					  StrategyNumber strategy,
					  int64 from_itemid, int32 from_clock,
					  int64 to_itemid, int32 to_clock)
{
	InitGroupKey(&keys->keys[0], keys->members[0], strategy,
				 from_itemid, from_clock);
	InitGroupKey(&keys->keys[1], keys->members[1],
				 BTLessEqualStrategyNumber, to_itemid, to_clock);
	index_rescan(scan, keys->keys, NUM_GROUP_KEYS, NULL, 0);
}
