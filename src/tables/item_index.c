/*-------------------------------------------------------------------------
 *
 * item_index.c
 *	  Walks a table item by item in its index (itemid, clock).
 *
 * No index of a Zabbix table begins with clock.  But there are far fewer items than rows.
 * So a range of clocks is searched item by item: one descent of the index finds the next
 * item, another its first or last row in the range (a loose index scan).
 *
 * Locks on the table are the caller's; the index is locked in ACCESS SHARE,
 * until the transaction ends.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relscan.h"
#include "catalog/pg_am.h"
#include "catalog/pg_opfamily.h"
#include "catalog/pg_type.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "compat.h"
#include "tables/index_next.h"
#include "tables/item_index.h"

/*
 * ZbxhistHasOrder says whether an index of all rows begins with two columns of
 * integers, in ascending order.
 */
bool
ZbxhistHasOrder(Relation index, AttrNumber first, AttrNumber second)
{
	Form_pg_index form = index->rd_index;

	if (index->rd_rel->relam != BTREE_AM_OID || !form->indisvalid ||
		form->indnkeyatts < 2 || form->indkey.values[0] != first ||
		form->indkey.values[1] != second || second == InvalidAttrNumber ||
		!heap_attisnull(index->rd_indextuple, Anum_pg_index_indpred, NULL))
		return false;
	for (int i = 0; i < 2; i++)
	{
		if (index->rd_opfamily[i] != INTEGER_BTREE_FAM_OID ||
			index->rd_indoption[i] != 0)
			return false;
	}
	return true;
}

/*
 * ZbxhistFindItemIndex opens an index of rel that begins with (itemid, clock), of
 * Zabbix's types; returns NULL if there is none.  A search item by item does not find
 * rows whose item or clock is null, so both columns must be NOT NULL.
 */
Relation
ZbxhistFindItemIndex(Relation rel)
{
	AttrNumber	itemid = get_attnum(RelationGetRelid(rel), "itemid");
	AttrNumber	clock = get_attnum(RelationGetRelid(rel), "clock");
	TupleDesc	desc = RelationGetDescr(rel);
	ListCell   *lc;

	if (itemid == InvalidAttrNumber || clock == InvalidAttrNumber ||
		!has_no_nulls(desc, itemid) || !has_no_nulls(desc, clock))
		return NULL;
	foreach(lc, RelationGetIndexList(rel))
	{
		Relation	index = index_open(lfirst_oid(lc), AccessShareLock);

		/* the types of the values they are compared with */
		if (ZbxhistHasOrder(index, itemid, clock) &&
			index->rd_opcintype[0] == INT8OID &&
			index->rd_opcintype[1] == INT4OID)
			return index;
		index_close(index, AccessShareLock);
	}
	return NULL;
}

/*
 * ZbxhistHasItemIndex says whether a table has an index that begins with (itemid, clock),
 * columns that are never null.
 */
bool
ZbxhistHasItemIndex(Relation table)
{
	Relation	index = ZbxhistFindItemIndex(table);

	if (index != NULL)
		index_close(index, AccessShareLock);
	return index != NULL;
}

/*
 * ZbxhistNextItem finds the first item after *itemid, or the first of all when
 * is_first; returns false at the end.
 */
bool
ZbxhistNextItem(IndexScanDesc scan, TupleTableSlot *slot, bool is_first,
				int64 *itemid)
{
	ScanKeyData key;
	bool		isnull;
	AttrNumber	attnum = scan->indexRelation->rd_index->indkey.values[0];

	if (is_first)
		ScanKeyInit(&key, 1, BTGreaterEqualStrategyNumber, F_INT8GE,
					Int64GetDatum(PG_INT64_MIN));
	else
		ScanKeyInit(&key, 1, BTGreaterStrategyNumber, F_INT8GT,
					Int64GetDatum(*itemid));
	index_rescan(scan, &key, 1, NULL, 0);
	if (!index_next(scan, ForwardScanDirection, slot))
		return false;
	*itemid = DatumGetInt64(slot_getattr(slot, attnum, &isnull));
	return !isnull;
}

/*
 * ZbxhistInitItemKeys makes the ITEM_SCAN_KEYS keys of a scan for the rows of
 * an item with from_clock <= clock < to_clock.
 */
void
ZbxhistInitItemKeys(ScanKey keys, int64 itemid, int64 from_clock,
					int64 to_clock)
{
	ScanKeyInit(&keys[0], 1, BTEqualStrategyNumber, F_INT8EQ,
				Int64GetDatum(itemid));
	ScanKeyInit(&keys[1], 2, BTGreaterEqualStrategyNumber, F_INT48GE,
				Int64GetDatum(from_clock));
	ScanKeyInit(&keys[2], 2, BTLessStrategyNumber, F_INT48LT,
				Int64GetDatum(to_clock));
	keys[1].sk_subtype = INT8OID;
	keys[2].sk_subtype = INT8OID;
}
