/*-------------------------------------------------------------------------
 *
 * key_query.c
 *	  Recognises SELECT of rows by a list of their keys.
 *
 * After a duplicate key Zabbix looks up which rows of a batch are there:
 *
 *	SELECT … WHERE (itemid = 5 AND clock = 100 AND ns = 7) OR (…) OR …
 *
 * up to a thousand of them.  Of (itemid, clock, ns) IN ((5, 100, 7), …) the parser makes
 * the same.  Parts may lack ns, or have a range of clocks.  Where a condition is, or
 * implies, such a list of constants item_scan.c reads these rows only.  A condition that
 * says nothing else is taken out of the query.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/nbtree.h"
#include "catalog/pg_opfamily.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "compat.h"
#include "guc.h"
#include "packed/fdw/fdw_quals.h"
#include "plan/clock_bounds.h"
#include "plan/item_query.h"
#include "read_integer.h"
#include "rows/item_index.h"
#include "rows/item_range.h"

/* the columns of a key */
typedef enum KeyColumn
{
	KEY_ITEMID,
	KEY_CLOCK,
	KEY_NS,
	NUM_KEY_COLUMNS
} KeyColumn;

/* fewer ranges of clocks in an OR are planned fast enough */
#define MIN_RANGES 8

/* keys that are being collected */
typedef struct KeyList
{
	Index		rti;			/* the parent, in the query */
	AttrNumber	attnums[NUM_KEY_COLUMNS];
	Oid			operators[NUM_KEY_COLUMNS]; /* equality, of the key before */
	bool		is_exact;		/* all rows of the keys are wanted */
	bool		has_ranges;		/* keys have several clocks */
	int			size;
	int			nkeys;
	KeyRange   *keys;
} KeyList;

/* what is known of a key: its columns are between these, both included */
typedef struct Key
{
	int64		first[NUM_KEY_COLUMNS];
	int64		last[NUM_KEY_COLUMNS];
} Key;

/* a key of which nothing is known */
static const Key any_key = {
	.first = {PG_INT64_MIN, PG_INT32_MIN, PG_INT32_MIN},
	.last = {PG_INT64_MAX, PG_INT32_MAX, PG_INT32_MAX}
};

/* ---- keys ---- */

/*
 * LimitKey limits a column of a key by a comparison with a constant, which is true of
 * nothing if it is null; returns false if it is no constant, or compares items.
 */
static bool
LimitKey(Key *key, int column, int strategy, Node *node)
{
	Const	   *value = (Const *) node;
	int64		number;

	if (!IsA(value, Const))
		value = (Const *) eval_const_expressions(NULL, node);
	if (!IsA(value, Const) ||
		(column == KEY_ITEMID && strategy != BTEqualStrategyNumber))
		return false;
	if (value->constisnull)
	{
		key->last[KEY_CLOCK] = (int64) PG_INT32_MIN - 1;
		return true;
	}
	if (!read_integer(value->consttype, value->constvalue, &number))
		return false;
	/* no clock is beyond these */
	if (column != KEY_ITEMID)
		number = Max(Min(number, (int64) PG_INT32_MAX + 1),
					 (int64) PG_INT32_MIN - 1);
	if (strategy >= BTEqualStrategyNumber)
		key->first[column] = Max(key->first[column], number +
								 (strategy == BTGreaterStrategyNumber));
	if (strategy <= BTEqualStrategyNumber)
		key->last[column] = Min(key->last[column], number -
								(strategy == BTLessStrategyNumber));
	return true;
}

/*
 * AddKeyToList adds a key; returns false if it does not name an item, or all clocks
 * are between its bounds.
 */
static bool
AddKeyToList(KeyList *list, const Key *key)
{
	const int64 *first = key->first;
	const int64 *last = key->last;
	KeyRange   *range;

	for (int i = 0; i < NUM_KEY_COLUMNS; i++)
	{
		if (first[i] > last[i])
			return true;		/* no row has it */
	}
	if (first[KEY_ITEMID] != last[KEY_ITEMID] ||
		(first[KEY_CLOCK] == PG_INT32_MIN && last[KEY_CLOCK] == PG_INT32_MAX))
		return false;
	if (list->nkeys == list->size)
	{
		list->size *= 2;
		list->keys = repalloc_huge(list->keys, sizeof(KeyRange) * list->size);
	}
	range = &list->keys[list->nkeys++];
	range->itemid = first[KEY_ITEMID];
	range->first = make_position((int32) first[KEY_CLOCK],
								 (int32) first[KEY_NS]);
	range->last = make_position((int32) last[KEY_CLOCK], (int32) last[KEY_NS]);
	if (first[KEY_CLOCK] != last[KEY_CLOCK])
	{
		list->has_ranges = true;
		list->is_exact &= first[KEY_NS] == PG_INT32_MIN &&
			last[KEY_NS] == PG_INT32_MAX;
	}
	return true;
}

/*
 * FindPartOfKey returns which column of a key an expression is, -1 if it is
 * none.
 */
static int
FindPartOfKey(const KeyList *list, Node *expr)
{
	const Var  *var = (const Var *) expr;

	if (!IsA(var, Var) || var->varno != list->rti || var->varlevelsup != 0 ||
		var->varattno <= 0)
		return -1;
	for (int i = 0; i < NUM_KEY_COLUMNS; i++)
	{
		if (var->varattno == list->attnums[i])
			return i;
	}
	return -1;
}

/*
 * FindComparison returns which column of a key an operator of integers compares with
 * the value that it sets, and how; -1 if it does something else.
 */
static int
FindComparison(KeyList *list, Node *condition, Node **value, int *strategy)
{
	const OpExpr *op = (const OpExpr *) condition;
	int			column;
	bool		is_swapped;

	if (!IsA(op, OpExpr) || list_length(op->args) != 2)
		return -1;
	*value = lsecond(op->args);
	column = FindPartOfKey(list, linitial(op->args));
	is_swapped = column < 0;
	if (is_swapped)
	{
		*value = linitial(op->args);
		column = FindPartOfKey(list, lsecond(op->args));
	}
	if (column < 0)
		return -1;
	*strategy = BTEqualStrategyNumber;
	if (op->opno == list->operators[column])
		return column;
	*strategy = get_op_opfamily_strategy(op->opno, INTEGER_BTREE_FAM_OID);
	if (*strategy == BTEqualStrategyNumber)
		list->operators[column] = op->opno;
	if (*strategy != 0 && is_swapped)
		*strategy = BTCommuteStrategyNumber(*strategy);
	return *strategy != 0 ? column : -1;
}

/* ---- OR ---- */

/*
 * TakeArm adds the key that a part of an OR is, or that its rows have; returns false
 * if they have none.
 */
static bool
TakeArm(KeyList *list, Node *arm)
{
	Key			key = any_key;
	ListCell   *lc;

	foreach(lc, ZbxhistAddParts(NIL, arm, AND_EXPR))
	{
		Node	   *value;
		int			strategy;
		int			column = FindComparison(list, lfirst(lc), &value, &strategy);

		if (column < 0 || !LimitKey(&key, column, strategy, value))
			list->is_exact = false;
	}
	return AddKeyToList(list, &key);
}

/*
 * TakeOrKeys adds the keys that the parts of an OR are.
 */
static bool
TakeOrKeys(KeyList *list, Node *condition)
{
	ListCell   *lc;

	foreach(lc, ZbxhistAddParts(NIL, condition, OR_EXPR))
	{
		CHECK_FOR_INTERRUPTS();
		if (!TakeArm(list, lfirst(lc)))
			return false;
	}
	return true;
}

/* ---- the query ---- */

/*
 * InitKeyList begins a list of keys of a parent's rows.  Returns false if its
 * columns or indexes are none that these are found by.  What may be null is
 * read as 0, so there must be none.
 */
static bool
InitKeyList(KeyList *list, Index rti, Relation parent, const PartitionSet *set)
{
	TupleDesc	desc = RelationGetDescr(parent);
	KeyColumns	columns;
	Relation	index;

	ZbxhistFindKeyColumns(NULL, parent, rti, &columns);
	if (columns.itemid == InvalidAttrNumber ||
		columns.itemid != set->itemid_attnum ||
		columns.clock != set->clock_attnum ||
		!has_no_nulls(desc, columns.itemid) ||
		!has_no_nulls(desc, columns.clock))
		return false;
	index = ZbxhistFindItemIndex(parent);
	if (index == NULL)
		return false;
	index_close(index, AccessShareLock);
	memset(list, 0, sizeof(KeyList));
	list->rti = rti;
	list->attnums[KEY_ITEMID] = columns.itemid;
	list->attnums[KEY_CLOCK] = columns.clock;
	if (set->ns_attnum != InvalidAttrNumber &&
		has_no_nulls(desc, set->ns_attnum))
		list->attnums[KEY_NS] = set->ns_attnum;
	list->is_exact = true;
	list->size = 64;
	list->keys = palloc(sizeof(KeyRange) * list->size);
	return true;
}

/*
 * AreRangesWanted says whether a query is to be read by a list of keys that have several
 * clocks: not one of groups, nor one of few of them.
 */
static bool
AreRangesWanted(const Query *query, const KeyList *list)
{
	return list->nkeys >= MIN_RANGES && !query->hasAggs &&
		query->groupClause == NIL && query->distinctClause == NIL;
}

/*
 * FindKeys returns the one of a query's conditions, which are ANDed, that leaves only
 * rows of a list of keys, and fills that; NULL if there is none.
 */
static ListCell *
FindKeys(const Query *query, List *conditions, KeyList *list)
{
	ListCell   *lc;

	foreach(lc, conditions)
	{
		list->nkeys = 0;
		list->is_exact = true;
		list->has_ranges = false;
		if (is_orclause(lfirst(lc)) && TakeOrKeys(list, lfirst(lc)) &&
			(!list->has_ranges || AreRangesWanted(query, list)))
			return lc;
	}
	return NULL;
}

/*
 * ZbxhistIsKeyQuery says whether conditions of a query leave only rows of its only relation,
 * an open parent, that a list of keys has, and which rows it wants then.
 */
bool
ZbxhistIsKeyQuery(Query *query, Index rti, Relation parent,
				  const PartitionSet *set, ItemQuery *result)
{
	List	   *conditions;
	KeyList		list;
	ListCell   *lc;

	/* nothing is opened for others */
	if (!zbxhist_enable_item_scan || !zbxhist_enable_packed_scan_pruning ||
		count_relations(query) > 1 || !ZbxhistHasOr(query->jointree->quals) ||
		!InitKeyList(&list, rti, parent, set))
		return false;
	conditions = ZbxhistAddParts(NIL, query->jointree->quals, AND_EXPR);
	lc = FindKeys(query, conditions, &list);
	if (lc == NULL)
		return false;
	if (list.is_exact)
		conditions = list_delete_cell(conditions, lc);
	result->quals = conditions == NIL ? NULL :
		(Node *) make_ands_explicit(conditions);
	list.nkeys = ZbxhistMergeKeyRanges(list.keys, list.nkeys);
	result->is_of_each = true;
	result->is_descending = false;
	result->ranges = (Const *)
		ZbxhistMakeArray((const int64 *) list.keys, list.nkeys *
						 (sizeof(KeyRange) / sizeof(int64)));
	return true;
}
