/*-------------------------------------------------------------------------
 *
 * key_query.c
 *	  Recognises SELECT of rows by a list of their keys.
 *
 * After a duplicate key Zabbix looks up which rows of a batch are there:
 *
 *	SELECT … WHERE (itemid = 5 AND clock = 100 AND ns = 7) OR (…) OR …
 *
 * up to a thousand of them.  The parser makes the same of (itemid, clock, ns) IN ((5,
 * 100, 7), …).  An alternative may lack ns, or have other conditions.  If a condition is
 * such a list of constants, or implies one, item_scan.c reads these rows only.  A
 * condition that is only this list is removed from the query.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "catalog/pg_opfamily.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "compat.h"
#include "packed/conditions.h"
#include "read/clock_bounds.h"
#include "read/item_query.h"
#include "read_integer.h"
#include "tables/item_index.h"
#include "tables/item_range.h"

/* the columns of a key */
typedef enum KeyColumn
{
	KEY_ITEMID,
	KEY_CLOCK,
	KEY_NS,
	NUM_KEY_COLUMNS
} KeyColumn;

/* keys that are being collected */
typedef struct KeyList
{
	AttrNumber	attnums[NUM_KEY_COLUMNS];
	Oid			operators[NUM_KEY_COLUMNS]; /* equality, of the key before */
	bool		is_exact;		/* all rows of the keys are returned */
	int			size;
	int			nkeys;
	KeyRange   *keys;
} KeyList;

/* a constant that a column is equal to */
typedef struct KeyValue
{
	bool		is_known;
	int64		number;
} KeyValue;

/* ---- keys ---- */

/*
 * compare_key_ranges orders keys by item and position.
 */
static int
compare_key_ranges(const void *a, const void *b)
{
	const KeyRange *left = a;
	const KeyRange *right = b;

	return compare_places(left->itemid, left->first, right->itemid,
						  right->first);
}

/*
 * MergeKeyRanges sorts keys, merges those that overlap, and returns how many are
 * left.
 */
static int
MergeKeyRanges(KeyRange *keys, int nkeys)
{
	int			nkept = 0;

	qsort(keys, nkeys, sizeof(KeyRange), compare_key_ranges);
	for (int i = 0; i < nkeys; i++)
	{
		if (nkept > 0 && keys[i].itemid == keys[nkept - 1].itemid &&
			keys[i].first <= keys[nkept - 1].last)
			keys[nkept - 1].last = Max(keys[nkept - 1].last, keys[i].last);
		else
			keys[nkept++] = keys[i];
	}
	return nkept;
}

/*
 * FindPartOfKey returns which column of the key an expression is, -1 if it is not one.
 */
static int
FindPartOfKey(const KeyList *list, Node *expr)
{
	const Var  *var = (const Var *) expr;

	if (!IsA(var, Var) || var->varno != 1 || var->varlevelsup != 0 ||
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
 * FindEquality returns which column of a key a condition says is equal to a constant, which
 * it sets; -1 if it says something else.
 */
static int
FindEquality(KeyList *list, Node *condition, Const **value)
{
	const OpExpr *op = (const OpExpr *) condition;
	int			column;
	Node	   *other;

	if (!IsA(op, OpExpr) || list_length(op->args) != 2)
		return -1;
	other = lsecond(op->args);
	column = FindPartOfKey(list, linitial(op->args));
	if (column < 0)
	{
		other = linitial(op->args);
		column = FindPartOfKey(list, lsecond(op->args));
	}
	if (column < 0)
		return -1;
	if (op->opno != list->operators[column])
	{
		if (get_op_opfamily_strategy(op->opno, INTEGER_BTREE_FAM_OID) !=
			BTEqualStrategyNumber)
			return -1;
		list->operators[column] = op->opno;
	}
	if (!IsA(other, Const))
		other = eval_const_expressions(NULL, other);
	*value = (Const *) other;
	return IsA(other, Const) ? column : -1;
}

/*
 * AddKeyOfArm adds the key that an alternative of an OR names; returns false if it names
 * none.  No row has a key with a null, with two values for one column, or with a value
 * out of the range of its type.
 */
static bool
AddKeyOfArm(KeyList *list, Node *arm)
{
	KeyValue	key[NUM_KEY_COLUMNS] = {0};
	bool		is_of_no_row = false;
	KeyRange   *range;
	int32		clock;
	ListCell   *lc;

	foreach(lc, ZbxhistAddParts(NIL, arm, AND_EXPR))
	{
		Const	   *value;
		int			column = FindEquality(list, lfirst(lc), &value);
		int64		number = 0;

		if (column < 0 ||
			(!value->constisnull &&
			 !read_integer(value->consttype, value->constvalue, &number)))
		{
			list->is_exact = false;
			continue;
		}
		is_of_no_row |= value->constisnull ||
			(key[column].is_known && key[column].number != number) ||
			(column != KEY_ITEMID && number != (int32) number);
		key[column].is_known = true;
		key[column].number = number;
	}
	if (is_of_no_row)
		return true;
	if (!key[KEY_ITEMID].is_known || !key[KEY_CLOCK].is_known)
		return false;
	if (list->nkeys == list->size)
	{
		list->size *= 2;
		list->keys = repalloc_huge(list->keys, sizeof(KeyRange) * list->size);
	}
	clock = (int32) key[KEY_CLOCK].number;
	range = &list->keys[list->nkeys++];
	range->itemid = key[KEY_ITEMID].number;
	range->first = make_position(clock, key[KEY_NS].is_known ?
								 (int32) key[KEY_NS].number : PG_INT32_MIN);
	range->last = make_position(clock, key[KEY_NS].is_known ?
								(int32) key[KEY_NS].number : PG_INT32_MAX);
	return true;
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
		if (!AddKeyOfArm(list, lfirst(lc)))
			return false;
	}
	return true;
}

/* ---- the query ---- */

/*
 * InitKeyList begins a list of keys of a parent's rows.  Returns false if the parent
 * lacks the index, whose columns are never null.  So must ns be, because a null would be
 * read as 0.
 */
static bool
InitKeyList(KeyList *list, Relation parent, const PartitionSet *set)
{
	if (!ZbxhistHasItemIndex(parent))
		return false;
	memset(list, 0, sizeof(KeyList));
	list->attnums[KEY_ITEMID] = set->itemid_attnum;
	list->attnums[KEY_CLOCK] = set->clock_attnum;
	if (set->ns_attnum != InvalidAttrNumber &&
		has_no_nulls(RelationGetDescr(parent), set->ns_attnum))
		list->attnums[KEY_NS] = set->ns_attnum;
	list->is_exact = true;
	list->size = 64;
	list->keys = palloc(sizeof(KeyRange) * list->size);
	return true;
}

/*
 * FindKeys returns the one of ANDed conditions that allows only rows of a list of keys,
 * and fills the list; NULL if there is none.
 */
static ListCell *
FindKeys(List *conditions, KeyList *list)
{
	ListCell   *lc;

	foreach(lc, conditions)
	{
		list->nkeys = 0;
		list->is_exact = true;
		if (is_orclause(lfirst(lc)) && TakeOrKeys(list, lfirst(lc)))
			return lc;
	}
	return NULL;
}

/*
 * ZbxhistIsKeyQuery says whether a query's conditions allow only rows of a list of keys, and
 * sets this list.  The query's only relation is an open parent.
 */
bool
ZbxhistIsKeyQuery(Query *query, Relation parent, const PartitionSet *set,
				  ItemQuery *result)
{
	List	   *conditions;
	KeyList		list;
	ListCell   *lc;

	if (!ZbxhistHasOr(query->jointree->quals) ||
		!InitKeyList(&list, parent, set))
		return false;
	conditions = ZbxhistAddParts(NIL, query->jointree->quals, AND_EXPR);
	lc = FindKeys(conditions, &list);
	if (lc == NULL)
		return false;
	if (list.is_exact)
		conditions = list_delete_cell(conditions, lc);
	result->quals = conditions == NIL ? NULL :
		(Node *) make_ands_explicit(conditions);
	list.nkeys = MergeKeyRanges(list.keys, list.nkeys);
	result->is_of_each = true;
	result->is_descending = false;
	result->ranges = (Const *)
		ZbxhistMakeArray((const int64 *) list.keys, list.nkeys *
						 (sizeof(KeyRange) / sizeof(int64)));
	return true;
}
