/*-------------------------------------------------------------------------
 *
 * key_search.c
 *	  Looks for keys of a parent in a table that has no such index.
 *
 * A partition that lacks a unique index of its parent may have rows with that
 * key all the same.  They are looked for by another btree of the partition
 * whose first columns are among those of the key; what it finds is compared
 * column by column.  As probe.c does, this sees what others have not committed
 * yet, and waits for them.
 *
 * Without such an index every row of the partition would have to be looked at
 * for every row that is stored.  Nothing is looked for then: that somebody has
 * dropped the key of a partition must not bring the writers to a standstill.
 *
 * Locks: the caller's on the tables; ACCESS SHARE on the index until the
 * search ends.  Allocates in the context that is current when it begins.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/heapam.h"
#include "access/tableam.h"
#include "catalog/index.h"
#include "catalog/pg_am.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "compat.h"
#include "ingest/key_search.h"
#include "rows/index_next.h"

/* a column of the key */
typedef struct SearchColumn
{
	AttrNumber	parent;
	AttrNumber	child;
	Oid			collation;
	Oid			opfamily;
	FmgrInfo	equal;			/* of the key's index */
} SearchColumn;

struct KeySearch
{
	Relation	child;
	Relation	index;			/* NULL: nothing can be looked for */
	bool		nulls_equal;	/* NULLS NOT DISTINCT */
	int			ncolumns;
	SearchColumn columns[INDEX_MAX_KEYS];
	int			nkeys;			/* columns of index to search by */
	int			keys[INDEX_MAX_KEYS];	/* which of the columns each is */
	TupleTableSlot *found;
};

/* ---- what to search by ---- */

/*
 * ReadColumns fills in the columns of the key; returns false if it is on
 * anything but plain columns that the child has, too.
 */
static bool
ReadColumns(KeySearch *search, Relation parent, const TableKey *key,
			const AttrMap *map)
{
	Relation	index = index_open(key->index, AccessShareLock);
	IndexInfo  *info = BuildIndexInfo(index);
	bool		result = info->ii_Expressions == NIL &&
		info->ii_Predicate == NIL;

	if (result)
		BuildSpeculativeIndexInfo(index, info);
	search->nulls_equal = info->ii_NullsNotDistinct;
	for (int i = 0; i < info->ii_NumIndexKeyAttrs && result; i++)
	{
		SearchColumn *column = &search->columns[search->ncolumns++];

		column->parent = info->ii_IndexAttrNumbers[i];
		column->child = map->attnums[column->parent - 1];
		column->collation = key->collations[i];
		column->opfamily = key->opfamilies[i];
		fmgr_info(info->ii_UniqueProcs[i], &column->equal);
		result = column->child != InvalidAttrNumber;
	}
	index_close(index, AccessShareLock);
	return result;
}

/*
 * FindColumn returns which of the key's columns the column number of an index
 * of the child is, or -1.
 */
static int
FindColumn(const KeySearch *search, Relation index, int number)
{
	for (int i = 0; i < search->ncolumns; i++)
	{
		const SearchColumn *column = &search->columns[i];

		if (column->child == index->rd_index->indkey.values[number] &&
			column->opfamily == index->rd_opfamily[number] &&
			column->collation == index->rd_indcollation[number])
			return i;
	}
	return -1;
}

/*
 * CountKeys returns how many columns of an index of the child can be searched
 * by, and notes them.
 */
static int
CountKeys(KeySearch *search, Relation index)
{
	int			n = 0;

	if (index->rd_rel->relam != BTREE_AM_OID || !index->rd_index->indisvalid ||
		RelationGetIndexPredicate(index) != NIL)
		return 0;
	while (n < index->rd_index->indnkeyatts)
	{
		int			column = FindColumn(search, index, n);

		if (column < 0)
			break;
		search->keys[n++] = column;
	}
	return n;
}

/*
 * FindIndex opens the index of the child that has most of the key's columns
 * in front.
 */
static void
FindIndex(KeySearch *search)
{
	List	   *indexes = RelationGetIndexList(search->child);
	ListCell   *lc;
	Oid			best = InvalidOid;

	foreach(lc, indexes)
	{
		Relation	index = index_open(lfirst_oid(lc), AccessShareLock);
		int			nkeys = CountKeys(search, index);

		if (nkeys > search->nkeys)
		{
			search->nkeys = nkeys;
			best = RelationGetRelid(index);
		}
		index_close(index, AccessShareLock);
	}
	list_free(indexes);
	if (!OidIsValid(best))
		return;
	search->index = index_open(best, AccessShareLock);
	(void) CountKeys(search, search->index);
	search->found = table_slot_create(search->child, NULL);
}

/*
 * ZbxhistBeginKeySearch prepares a search for a key of the parent; map is from
 * the parent's columns to the child's.
 */
KeySearch *
ZbxhistBeginKeySearch(Relation child, Relation parent, const TableKey *key,
					  const AttrMap *map)
{
	KeySearch  *search = palloc0(sizeof(KeySearch));

	search->child = child;
	if (ReadColumns(search, parent, key, map))
		FindIndex(search);
	return search;
}

/*
 * ZbxhistEndKeySearch closes the index.
 */
void
ZbxhistEndKeySearch(KeySearch *search)
{
	if (search->index == NULL)
		return;
	ExecDropSingleTupleTableSlot(search->found);
	index_close(search->index, AccessShareLock);
}

/* ---- searching ---- */

/*
 * IsEqual says whether a column of the row that was found is as in the
 * parent's row, slot.
 */
static bool
IsEqual(KeySearch *search, SearchColumn *column, TupleTableSlot *slot)
{
	bool		left_isnull;
	bool		right_isnull;
	Datum		left = slot_getattr(slot, column->parent, &left_isnull);
	Datum		right = slot_getattr(search->found, column->child,
									 &right_isnull);

	if (left_isnull || right_isnull)
		return left_isnull && right_isnull && search->nulls_equal;
	return DatumGetBool(FunctionCall2Coll(&column->equal, column->collation,
										  left, right));
}

/*
 * HasSameKey says whether the row that was found has the slot's key.
 */
static bool
HasSameKey(KeySearch *search, TupleTableSlot *slot)
{
	for (int i = 0; i < search->ncolumns; i++)
	{
		if (!IsEqual(search, &search->columns[i], slot))
			return false;
	}
	return true;
}

/*
 * MakeKeys sets the scan's keys to the slot's values; returns false if one is
 * null, which equals nothing that an index could be searched for.
 */
static bool
MakeKeys(KeySearch *search, TupleTableSlot *slot, ScanKey keys)
{
	for (int i = 0; i < search->nkeys; i++)
	{
		SearchColumn *column = &search->columns[search->keys[i]];
		bool		isnull;
		Datum		value = slot_getattr(slot, column->parent, &isnull);

		if (isnull)
			return false;
		ScanKeyEntryInitialize(&keys[i], 0, i + 1, BTEqualStrategyNumber,
							   InvalidOid, column->collation,
							   column->equal.fn_oid, value);
	}
	return true;
}

/*
 * FindRow looks for the slot's key once, among the rows that a snapshot sees.
 */
static bool
FindRow(KeySearch *search, TupleTableSlot *slot, ScanKey keys,
		Snapshot snapshot)
{
	IndexScanDesc scan;
	bool		result = false;

	scan = index_beginscan_compat(search->child, search->index, snapshot,
								  search->nkeys);
	index_rescan(scan, keys, search->nkeys, NULL, 0);
	while (!result &&
		   index_next(scan, ForwardScanDirection, search->found))
	{
		CHECK_FOR_INTERRUPTS();
		result = HasSameKey(search, slot);
	}
	index_endscan(scan);
	return result;
}

/*
 * ZbxhistSearchKey says whether the child has a row with the key of the
 * parent's row in slot, waiting for transactions that are about to insert or
 * delete it.
 */
bool
ZbxhistSearchKey(KeySearch *search, TupleTableSlot *slot)
{
	ScanKeyData keys[INDEX_MAX_KEYS];
	SnapshotData dirty;

	InitDirtySnapshot(dirty);
	if (search->index == NULL || !MakeKeys(search, slot, keys))
		return false;
	while (FindRow(search, slot, keys, &dirty))
	{
		ItemPointerData tid = search->found->tts_tid;
		TransactionId xid = TransactionIdIsValid(dirty.xmin) ?
			dirty.xmin : dirty.xmax;

		ExecClearTuple(search->found);
		if (!TransactionIdIsValid(xid))
			return true;
		XactLockTableWait(xid, search->child, &tid, XLTW_InsertIndex);
	}
	ExecClearTuple(search->found);
	return false;
}

/*
 * ZbxhistSeesKey says whether a snapshot sees a row of the child with the key of
 * the parent's row in slot, or nothing can be looked for.
 */
bool
ZbxhistSeesKey(KeySearch *search, TupleTableSlot *slot, Snapshot snapshot)
{
	ScanKeyData keys[INDEX_MAX_KEYS];
	bool		result;

	if (search->index == NULL)
		return true;
	result = MakeKeys(search, slot, keys) &&
		FindRow(search, slot, keys, snapshot);
	ExecClearTuple(search->found);
	return result;
}
