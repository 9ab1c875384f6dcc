/*-------------------------------------------------------------------------
 *
 * table_keys.c
 *	  Looks for keys in a table, by its indexes.
 *
 * The table is the parent itself, or a child.  A key is looked for by the table's index
 * of that key.  A child may lack that index, because somebody has altered parent or
 * child.  Then another btree is used whose first columns are among those of the key, and
 * each row that it finds is compared column by column.
 *
 * Without such an index, storing a row would mean reading all rows of the child.  Then
 * nothing is looked for: dropping the key of a partition must not stop the writers.
 *
 * Locks: the caller has locked the tables; indexes are locked ACCESS SHARE until the
 * table is closed.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/tableam.h"
#include "catalog/index.h"
#include "catalog/pg_am.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "compat.h"
#include "ingest/key_match.h"
#include "ingest/table_keys.h"
#include "tables/index_next.h"

/* a key of the parent, and how it is looked for */
typedef struct KeySearch
{
	TableKey   *key;
	ExprState  *predicate;		/* condition of a partial index, or NULL */
	Relation	index;			/* NULL: no key can be looked up */
	bool		is_same;		/* index is of the same columns */
	int			nkeys;			/* columns of index to search by */
	int			keys[INDEX_MAX_KEYS];	/* its number in the key */
	IndexScanDesc scan;			/* the scan in progress, or NULL */
} KeySearch;

typedef struct TableKeys
{
	KeyHolder	base;			/* must be first */
	const KeyRows *rows;
	AttrMap    *map;			/* from the parent's columns */
	int			nsearches;
	KeySearch  *searches;
	EState	   *estate;
	TupleTableSlot *row;		/* that is looked for */
	TupleTableSlot *other;		/* that is found */
	MemoryContext context;		/* owns all this */
} TableKeys;

/* ---- what to search by ---- */

/*
 * CountKeys returns how many columns of an index can be searched by, and notes
 * them: the first ones, as long as they are among those of the key, if the table has
 * all of these.
 */
static int
CountKeys(const TableKeys *place, KeySearch *search, Relation index)
{
	const TableKey *key = search->key;
	int			ncolumns = key->info->ii_NumIndexKeyAttrs;
	int			n = 0;

	if (RelationGetIndexPredicate(index) != NIL)
		return 0;
	for (int i = 0; i < ncolumns; i++)
	{
		if (place->map->attnums[key->info->ii_IndexAttrNumbers[i] - 1] ==
			InvalidAttrNumber)
			return 0;
	}
	for (; n < index->rd_index->indnkeyatts; n++)
	{
		int			i = 0;

		while (i < ncolumns &&
			   (place->map->attnums[key->info->ii_IndexAttrNumbers[i] - 1] !=
				index->rd_index->indkey.values[n] ||
				key->opfamilies[i] != index->rd_opfamily[n] ||
				key->collations[i] != index->rd_indcollation[n]))
			i++;
		if (i == ncolumns)
			break;
		search->keys[n] = i;
	}
	return n;
}

/*
 * TryIndex takes an index for the search, if it is better than the one there is.
 */
static void
TryIndex(const TableKeys *place, KeySearch *search, Relation index)
{
	KeySearch	better = *search;
	TableKey	other = {.collations = index->rd_indcollation,
		.opfamilies = index->rd_opfamily,
	.is_immediate = search->key->is_immediate};

	/* an invalid index lacks rows, but may refuse ours */
	if (index->rd_rel->relam != BTREE_AM_OID || search->is_same ||
		(!index->rd_index->indisvalid &&
		 RelationGetRelid(index) != search->key->index))
		return;
	/* of the key's columns, or expressions, in their order */
	other.info = BuildIndexInfo(index);
	better.is_same = index->rd_index->indisunique &&
		ZbxhistIsSameKey(&other, search->key, place->map);
	if (better.is_same)
	{
		better.nkeys = search->key->info->ii_NumIndexKeyAttrs;
		for (int i = 0; i < better.nkeys; i++)
			better.keys[i] = i;
	}
	else if (ZbxhistIsPlainKey(search->key))
		better.nkeys = CountKeys(place, &better, index);
	if (!better.is_same && better.nkeys <= search->nkeys)
		return;
	better.index = index;
	*search = better;
}

/* ---- looking ---- */

/*
 * HasSameKey says whether the row that was found has these values of a plain key.
 */
static bool
HasSameKey(const TableKeys *place, const TableKey *key, const Datum *values,
		   const bool *isnull)
{
	for (int i = 0; i < key->info->ii_NumIndexKeyAttrs; i++)
	{
		AttrNumber	attnum = key->info->ii_IndexAttrNumbers[i];
		bool		other_isnull;
		Datum		other = slot_getattr(place->other, place->map->attnums[attnum - 1],
										 &other_isnull);

		if (isnull[i] != other_isnull ||
			(!isnull[i] &&
			 !DatumGetBool(FunctionCall2Coll(&key->equal[i], key->collations[i],
											 values[i], other))))
			return false;
	}
	return true;
}

/*
 * SearchKey looks for one key of the row among the rows that a snapshot sees, and puts
 * the row that it finds into other.  A row with a null may be a duplicate of nothing.
 */
static bool
SearchKey(TableKeys *place, KeySearch *search, Snapshot snapshot)
{
	TableKey   *key = search->key;
	ExprContext *context = GetPerTupleExprContext(place->estate);
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];
	ScanKeyData keys[INDEX_MAX_KEYS];

	context->ecxt_scantuple = place->row;
	if (search->predicate != NULL && !ExecQual(search->predicate, context))
		return false;
	FormIndexDatum(key->info, place->row, place->estate, values, isnull);
	for (int i = 0; i < key->info->ii_NumIndexKeyAttrs; i++)
	{
		if (isnull[i] && !key->info->ii_NullsNotDistinct)
			return false;
	}
	for (int i = 0; i < search->nkeys; i++)
	{
		int			column = search->keys[i];

		ScanKeyEntryInitializeWithInfo(&keys[i], isnull[column] ?
									   SK_ISNULL | SK_SEARCHNULL : 0, i + 1,
									   BTEqualStrategyNumber, InvalidOid,
									   key->collations[column],
									   &key->equal[column],
									   values[column]);
	}
	if (search->scan == NULL)
		search->scan = index_beginscan_compat(place->base.rel, search->index,
											  snapshot, search->nkeys);
	index_rescan(search->scan, keys, search->nkeys, NULL, 0);
	while (index_next(search->scan, ForwardScanDirection, place->other))
	{
		CHECK_FOR_INTERRUPTS();
		if (search->is_same ||
			HasSameKey(place, key, values, isnull))
			return true;
	}
	return false;
}

/*
 * SearchAllKeys looks for all keys of one row, and describes what it finds.
 */
static KeyState
SearchAllKeys(TableKeys *place, Snapshot dirty, FoundKey *found)
{
	for (int i = 0; i < place->nsearches; i++)
	{
		KeySearch  *search = &place->searches[i];

		if (search->index == NULL || !SearchKey(place, search, dirty))
			continue;
		found->key = search->key->index;
		found->index = search->is_same ? RelationGetRelid(search->index) :
			search->key->index;
		found->tid = place->other->tts_tid;
		found->token = dirty->speculativeToken;
		found->waits_for = TransactionIdIsValid(dirty->xmin) ? dirty->xmin :
			dirty->xmax;
		return TransactionIdIsValid(found->waits_for) ? KEY_UNSURE : KEY_TAKEN;
	}
	return KEY_FREE;
}

/*
 * LookInTable is the method "look".
 */
static KeyState
LookInTable(KeyHolder *base, FoundKey *found)
{
	TableKeys  *place = (TableKeys *) base;
	KeyState	result = KEY_FREE;
	SnapshotData dirty;

	InitDirtySnapshot(dirty);
	for (; found->row < base->nrows; found->row++)
	{
		CHECK_FOR_INTERRUPTS();
		ExecStoreHeapTuple(place->rows->tuples[found->row], place->row, false);
		result = SearchAllKeys(place, &dirty, found);
		ResetPerTupleExprContext(place->estate);
		if (result != KEY_FREE)
			break;
	}
	ExecClearTuple(place->row);
	ExecClearTuple(place->other);
	for (int i = 0; i < place->nsearches; i++)
	{
		if (place->searches[i].scan != NULL)
			index_endscan(place->searches[i].scan);
		place->searches[i].scan = NULL;
	}
	return result;
}

/* ---- the place ---- */

/*
 * CloseTableKeys is the method "close".
 */
static void
CloseTableKeys(KeyHolder *base)
{
	TableKeys  *place = (TableKeys *) base;

	for (int i = 0; i < place->nsearches; i++)
	{
		if (place->searches[i].index != NULL)
			index_close(place->searches[i].index, AccessShareLock);
	}
	ExecDropSingleTupleTableSlot(place->row);
	ExecDropSingleTupleTableSlot(place->other);
	FreeExecutorState(place->estate);
	MemoryContextDelete(place->context);
}

/*
 * AddSearches decides how to look for each key of the parent.  Deferred keys are checked
 * by the parent itself when they are due.
 */
static void
AddSearches(TableKeys *place, Relation parent)
{
	Relation	rel = place->base.rel;
	List	   *keys = ZbxhistReadKeys(parent, rel != parent);
	List	   *indexes = RelationGetIndexList(rel);
	ListCell   *lc;
	ListCell   *cell;

	place->searches = palloc0(sizeof(KeySearch) * (list_length(keys) + 1));
	foreach(lc, keys)
	{
		TableKey   *key = lfirst(lc);
		KeySearch  *search = &place->searches[place->nsearches];

		if (!key->is_immediate && rel == parent)
			continue;
		place->nsearches++;
		search->key = key;
		if (key->info->ii_Predicate != NIL)
			search->predicate = ExecPrepareQual(key->info->ii_Predicate,
												place->estate);
		foreach(cell, indexes)
		{
			Relation	index = index_open(lfirst_oid(cell), AccessShareLock);
			Relation	former = search->index;

			TryIndex(place, search, index);
			if (search->index != index)
				index_close(index, AccessShareLock);
			else if (former != NULL)
				index_close(former, AccessShareLock);
		}
	}
	list_free(indexes);
}

/*
 * ZbxhistOpenTableKeys opens the parent, or a child of it, to look for keys of rows of
 * the parent; the caller has locked both.  The rows are not copied.
 */
KeyHolder *
ZbxhistOpenTableKeys(Relation rel, Relation parent, const KeyRows *rows)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "zbxhist keys of a table",
												  ALLOCSET_SMALL_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	TableKeys  *place = palloc0(sizeof(TableKeys));

	place->context = context;
	place->base.rel = rel;
	place->base.nrows = rows->ntuples;
	place->base.look = LookInTable;
	place->base.close = CloseTableKeys;
	place->rows = rows;
	place->map = ZbxhistMapForKeys(rel, parent);
	place->estate = CreateExecutorState();
	place->row = MakeSingleTupleTableSlot(rows->desc, &TTSOpsHeapTuple);
	place->other = table_slot_create(rel, NULL);
	AddSearches(place, parent);
	MemoryContextSwitchTo(old);
	return &place->base;
}
