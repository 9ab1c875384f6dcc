/*-------------------------------------------------------------------------
 *
 * table_keys.c
 *	  A table with indexes as a place that may have keys.
 *
 * The table is the parent itself, or a child.  A key is looked for by the
 * table's index of that key.  A child may lack it, for somebody has altered one
 * of the two: then by another btree whose first columns are among those of the
 * key, and what that finds is compared column by column.
 *
 * Without such an index every row of the child would have to be looked at for
 * every row that is stored.  Nothing is looked for then: that somebody has
 * dropped the key of a partition must not bring the writers to a standstill.
 *
 * Locks: the caller's on the tables; ACCESS SHARE on the indexes until the
 * place is closed.
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
	ExprState  *predicate;		/* rows without a key, or NULL */
	Relation	index;			/* NULL: nothing can be looked for */
	bool		is_same;		/* index is of the same columns */
	int			nkeys;			/* columns of index to search by */
	int			keys[INDEX_MAX_KEYS];	/* which of the key's each is */
	IndexScanDesc scan;			/* of the look under way, or NULL */
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
 * FindKeyColumn returns which of the key's columns the column number of an index
 * of the table is, or -1.
 */
static int
FindKeyColumn(const TableKeys *place, const TableKey *key, Relation index,
			  int number)
{
	for (int i = 0; i < key->info->ii_NumIndexKeyAttrs; i++)
	{
		AttrNumber	attnum = key->info->ii_IndexAttrNumbers[i];

		if (place->map->attnums[attnum - 1] ==
			index->rd_index->indkey.values[number] &&
			key->opfamilies[i] == index->rd_opfamily[number] &&
			key->collations[i] == index->rd_indcollation[number])
			return i;
	}
	return -1;
}

/*
 * HasAllColumns says whether the table has all columns of a plain key.
 */
static bool
HasAllColumns(const TableKeys *place, const TableKey *key)
{
	for (int i = 0; i < key->info->ii_NumIndexKeyAttrs; i++)
	{
		if (place->map->attnums[key->info->ii_IndexAttrNumbers[i] - 1] ==
			InvalidAttrNumber)
			return false;
	}
	return true;
}

/*
 * CountKeys returns how many columns of an index can be searched by, and notes
 * them.
 */
static int
CountKeys(const TableKeys *place, KeySearch *search, Relation index)
{
	int			n = 0;

	if (RelationGetIndexPredicate(index) != NIL ||
		!HasAllColumns(place, search->key))
		return 0;
	while (n < index->rd_index->indnkeyatts)
	{
		int			column = FindKeyColumn(place, search->key, index, n);

		if (column < 0)
			break;
		search->keys[n++] = column;
	}
	return n;
}

/*
 * IsSameKey says whether an index of the table is of the key's columns, or
 * expressions, in their order.
 */
static bool
IsSameKey(const TableKeys *place, const TableKey *key, Relation index)
{
	TableKey	other = {.info = BuildIndexInfo(index),
		.collations = index->rd_indcollation,
	.opfamilies = index->rd_opfamily,.is_immediate = key->is_immediate};

	return index->rd_index->indisunique &&
		ZbxhistIsSameKey(&other, key, place->map);
}

/*
 * TryIndex takes an index for the search, if it is better than the one there is.
 */
static void
TryIndex(const TableKeys *place, KeySearch *search, Relation index)
{
	KeySearch	better = *search;

	/* one that is not valid has not all rows, but may refuse ours */
	if (index->rd_rel->relam != BTREE_AM_OID || search->is_same ||
		(!index->rd_index->indisvalid &&
		 RelationGetRelid(index) != search->key->index))
		return;
	better.is_same = IsSameKey(place, search->key, index);
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

/*
 * BeginSearch decides how to look for a key.
 */
static void
BeginSearch(TableKeys *place, KeySearch *search, TableKey *key)
{
	List	   *indexes = RelationGetIndexList(place->base.rel);
	ListCell   *lc;

	search->key = key;
	if (key->info->ii_Predicate != NIL)
		search->predicate = ExecPrepareQual(key->info->ii_Predicate,
											place->estate);
	foreach(lc, indexes)
	{
		Relation	index = index_open(lfirst_oid(lc), AccessShareLock);
		Relation	former = search->index;

		TryIndex(place, search, index);
		if (search->index != index)
			index_close(index, AccessShareLock);
		else if (former != NULL)
			index_close(former, AccessShareLock);
	}
	list_free(indexes);
}

/* ---- looking ---- */

/*
 * StartSearch has the search's scan find rows with the values of a key; returns
 * false if a null among them keeps it from being a duplicate of anything.
 */
static bool
StartSearch(TableKeys *place, KeySearch *search, Snapshot snapshot,
			const Datum *values, const bool *isnull)
{
	TableKey   *key = search->key;
	ScanKeyData keys[INDEX_MAX_KEYS];

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
	return true;
}

/*
 * SearchKey looks for one key of the row among the rows that a snapshot sees, and
 * leaves what it finds in other.
 */
static bool
SearchKey(TableKeys *place, KeySearch *search, Snapshot snapshot)
{
	ExprContext *context = GetPerTupleExprContext(place->estate);
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];

	context->ecxt_scantuple = place->row;
	if (search->predicate != NULL && !ExecQual(search->predicate, context))
		return false;
	FormIndexDatum(search->key->info, place->row, place->estate, values,
				   isnull);
	if (!StartSearch(place, search, snapshot, values, isnull))
		return false;
	while (index_next(search->scan, ForwardScanDirection, place->other))
	{
		CHECK_FOR_INTERRUPTS();
		if (search->is_same ||
			ZbxhistHasSameKey(search->key, values, isnull, place->other,
							  place->map))
			return true;
	}
	return false;
}

/*
 * NoteFound describes what has been found by a snapshot.
 */
static KeyState
NoteFound(const TableKeys *place, const KeySearch *search, Snapshot snapshot,
		  FoundKey *found)
{
	found->key = search->key->index;
	found->index = search->is_same ? RelationGetRelid(search->index) :
		search->key->index;
	found->tid = place->other->tts_tid;
	found->waits_for = InvalidTransactionId;
	found->token = 0;
	if (snapshot->snapshot_type == SNAPSHOT_DIRTY)
	{
		found->token = snapshot->speculativeToken;
		found->waits_for = TransactionIdIsValid(snapshot->xmin) ?
			snapshot->xmin : snapshot->xmax;
	}
	return TransactionIdIsValid(found->waits_for) ? KEY_UNSURE : KEY_TAKEN;
}

/*
 * SearchAllKeys looks for all keys of one row.  A snapshot of the caller's may see
 * what cannot be looked for.
 */
static KeyState
SearchAllKeys(TableKeys *place, Snapshot snapshot, FoundKey *found)
{
	for (int i = 0; i < place->nsearches; i++)
	{
		KeySearch  *search = &place->searches[i];

		if (search->index == NULL)
		{
			if (snapshot->snapshot_type != SNAPSHOT_DIRTY)
				return KEY_TAKEN;
		}
		else if (SearchKey(place, search, snapshot))
			return NoteFound(place, search, snapshot, found);
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
	Snapshot	snapshot = base->snapshot;
	KeyState	result = KEY_FREE;
	SnapshotData dirty;

	InitDirtySnapshot(dirty);
	for (; found->row < base->nrows; found->row++)
	{
		CHECK_FOR_INTERRUPTS();
		ExecStoreHeapTuple(place->rows->tuples[found->row], place->row, false);
		result = SearchAllKeys(place, snapshot == NULL ? &dirty : snapshot, found);
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
 * AddSearches adds one for each key of the parent.  What is deferred is checked
 * by the parent itself, when it has to be.
 */
static void
AddSearches(TableKeys *place, Relation parent)
{
	List	   *keys = ZbxhistReadKeys(parent, place->base.rel != parent);
	ListCell   *lc;

	place->searches = palloc0(sizeof(KeySearch) * (list_length(keys) + 1));
	foreach(lc, keys)
	{
		TableKey   *key = lfirst(lc);

		if (key->is_immediate || place->base.rel != parent)
			BeginSearch(place, &place->searches[place->nsearches++], key);
	}
}

/*
 * ZbxhistOpenTableKeys opens the parent, or a child of it, for a look for keys
 * of rows of the parent; both are locked by the caller.  The rows are borrowed.
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
