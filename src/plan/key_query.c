/*-------------------------------------------------------------------------
 *
 * key_query.c
 *	  Recognises SELECT of rows by a list of their keys.
 *
 * After a duplicate key Zabbix looks up which rows of a batch are there:
 *
 *	SELECT … WHERE (itemid = 5 AND clock = 100 AND ns = 7) OR (…) OR …
 *
 * up to a thousand of them.  Others write the same as
 *
 *	SELECT … WHERE (itemid, clock, ns) IN ((5, 100, 7), …)
 *	SELECT … WHERE (itemid, clock, ns) IN (VALUES (5, 100, 7), …)
 *
 * also without ns, or join with VALUES.  Where a condition is, or implies, such a list
 * of constants key_scan.c reads these rows only.  A condition of WHERE that says nothing
 * else is taken out of the query, unless there are other relations, of which an outer
 * join may add rows that it keeps away.  All others stay as they are.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/stratnum.h"
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
#include "plan/implied.h"
#include "plan/key_query.h"
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

/* keys that are being collected */
typedef struct KeyList
{
	Index		rti;			/* the parent, in the query */
	AttrNumber	attnums[NUM_KEY_COLUMNS];
	Oid			operators[NUM_KEY_COLUMNS]; /* equality, of the key before */
	bool		is_exact;		/* all rows of the keys are wanted */
	int			size;
	int			nkeys;
	KeyRange   *keys;
} KeyList;

/* one key, as far as it is known */
typedef struct Key
{
	bool		is_known[NUM_KEY_COLUMNS];
	int64		values[NUM_KEY_COLUMNS];
	bool		is_of_none;		/* no row has it */
} Key;

/* ---- keys ---- */

/*
 * SetValue sets a column of a key to the value of a constant, which nothing
 * equals if it is null; returns false if it is no constant.
 */
static bool
SetValue(Key *key, int column, Node *node)
{
	Const	   *value = (Const *) node;
	int64		number;

	if (!IsA(value, Const))
		value = (Const *) eval_const_expressions(NULL, node);
	if (!IsA(value, Const))
		return false;
	if (value->constisnull)
	{
		key->is_of_none = true;
		return true;
	}
	if (!read_integer(value->consttype, value->constvalue, &number))
		return false;
	if ((key->is_known[column] && key->values[column] != number) ||
		(column != KEY_ITEMID &&
		 (number < PG_INT32_MIN || number > PG_INT32_MAX)))
		key->is_of_none = true;
	key->is_known[column] = true;
	key->values[column] = number;
	return true;
}

/*
 * AddKeyToList adds a key; returns false if it does not name item and clock.
 */
static bool
AddKeyToList(KeyList *list, const Key *key)
{
	KeyRange   *range;
	int32		clock = (int32) key->values[KEY_CLOCK];
	bool		has_ns = key->is_known[KEY_NS];

	if (key->is_of_none)
		return true;
	if (!key->is_known[KEY_ITEMID] || !key->is_known[KEY_CLOCK])
		return false;
	if (list->nkeys == list->size)
	{
		list->size *= 2;
		list->keys = repalloc_huge(list->keys, sizeof(KeyRange) * list->size);
	}
	range = &list->keys[list->nkeys++];
	range->itemid = key->values[KEY_ITEMID];
	range->first = make_position(clock, has_ns ? (int32) key->values[KEY_NS] :
								 PG_INT32_MIN);
	range->last = make_position(clock, has_ns ? (int32) key->values[KEY_NS] :
								PG_INT32_MAX);
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
 * FindEquality returns which column of a key an operator compares with the value
 * that it sets, if it is equality of integers; -1 if it does something else.
 */
static int
FindEquality(KeyList *list, Node *condition, Node **value)
{
	const OpExpr *op = (const OpExpr *) condition;
	int			column;

	if (!IsA(op, OpExpr) || list_length(op->args) != 2)
		return -1;
	*value = lsecond(op->args);
	column = FindPartOfKey(list, linitial(op->args));
	if (column < 0)
	{
		*value = linitial(op->args);
		column = FindPartOfKey(list, lsecond(op->args));
	}
	if (column < 0)
		return -1;
	if (op->opno != list->operators[column] &&
		get_op_opfamily_strategy(op->opno, INTEGER_BTREE_FAM_OID) !=
		BTEqualStrategyNumber)
		return -1;
	list->operators[column] = op->opno;
	return column;
}

/* ---- OR ---- */

/*
 * TakeArm adds the key that a part of an OR is, or that its rows have; returns false
 * if they have none.
 */
static bool
TakeArm(KeyList *list, Node *arm)
{
	Key			key = {0};
	ListCell   *lc;

	foreach(lc, ZbxhistAddParts(NIL, arm, AND_EXPR))
	{
		Node	   *value;
		int			column = FindEquality(list, lfirst(lc), &value);

		if (column < 0 || !SetValue(&key, column, value))
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

/* ---- VALUES ---- */

/*
 * IsList says whether a subquery is nothing but VALUES.  Of a single row the parser
 * makes a SELECT without FROM.
 */
static bool
IsList(const Query *query)
{
	const FromExpr *from = query->jointree;

	if (query->commandType != CMD_SELECT || query->hasTargetSRFs ||
		query->hasAggs || query->hasWindowFuncs || query->cteList != NIL ||
		query->setOperations != NULL || query->groupClause != NIL ||
		query->groupingSets != NIL || query->havingQual != NULL ||
		query->limitCount != NULL || query->limitOffset != NULL ||
		query->distinctClause != NIL || from->quals != NULL)
		return false;
	return query->rtable == NIL ||
		(list_length(query->rtable) == 1 && list_length(from->fromlist) == 1 &&
		 linitial_node(RangeTblEntry, query->rtable)->rtekind == RTE_VALUES);
}

/*
 * FindResult returns which result of a subquery an expression is: of relation varno, or
 * of a subquery of IN if that is 0.  Returns 0 if it is something else.
 */
static int
FindResult(Node *expr, Index varno)
{
	const Param *param = (const Param *) expr;
	const Var  *var = (const Var *) expr;

	if (varno == 0)
		return IsA(param, Param) && param->paramkind == PARAM_SUBLINK ?
			param->paramid : 0;
	return IsA(var, Var) && var->varno == varno && var->varlevelsup == 0 ?
		var->varattno : 0;
}

/*
 * TakeKeyRow adds the key that is in a row of VALUES, or of a SELECT without
 * FROM if row is NIL.  columns has, for each result of the subquery, its place
 * in the key, or -1.
 */
static bool
TakeKeyRow(KeyList *list, const List *results, const int *columns,
		   const List *row)
{
	Key			key = {0};
	ListCell   *lc;

	foreach(lc, results)
	{
		Node	   *value = (Node *) lfirst_node(TargetEntry, lc)->expr;
		int			column = columns[foreach_current_index(lc)];

		if (column < 0)
			continue;
		if (row != NIL && IsA(value, Var))
			value = list_nth(row, ((Var *) value)->varattno - 1);
		if (!SetValue(&key, column, value))
			return false;
	}
	return AddKeyToList(list, &key);
}

/*
 * TakeRows adds the keys of all rows of such a subquery, of which conditions, which
 * are ANDed, compare a column of a key with results: relation varno of the query has
 * them, or they are parameters of IN if it is 0.
 */
static bool
TakeRows(KeyList *list, const Query *values, List *conditions, Index varno)
{
	int			nresults = list_length(values->targetList);
	int		   *columns = palloc(sizeof(int) * Max(nresults, 1));
	ListCell   *lc;

	memset(columns, -1, sizeof(int) * nresults);
	foreach(lc, conditions)
	{
		Node	   *value;
		int			column = FindEquality(list, lfirst(lc), &value);
		int			result = column < 0 ? 0 : FindResult(value, varno);

		if (result >= 1 && result <= nresults)
			columns[result - 1] = column;
		else if (varno == 0)
			return false;
	}
	if (values->rtable == NIL)
		return TakeKeyRow(list, values->targetList, columns, NIL);
	foreach(lc, linitial_node(RangeTblEntry, values->rtable)->values_lists)
	{
		CHECK_FOR_INTERRUPTS();
		if (!TakeKeyRow(list, values->targetList, columns, lfirst(lc)))
			return false;
	}
	return true;
}

/*
 * TakeIn adds the keys that IN (VALUES …) has.
 */
static bool
TakeIn(KeyList *list, const SubLink *in)
{
	const Query *values = (const Query *) in->subselect;

	return in->subLinkType == ANY_SUBLINK && in->testexpr != NULL &&
		IsList(values) &&
		TakeRows(list, values, ZbxhistAddParts(NIL, in->testexpr, AND_EXPR), 0);
}

/*
 * TakeJoin adds the keys of VALUES in FROM that the parent is joined with.
 */
static bool
TakeJoin(KeyList *list, const Query *query, List *conditions)
{
	ListCell   *lc;

	list->is_exact = false;
	foreach(lc, query->rtable)
	{
		const RangeTblEntry *rte = lfirst_node(RangeTblEntry, lc);

		list->nkeys = 0;
		if (rte->rtekind == RTE_SUBQUERY && IsList(rte->subquery) &&
			TakeRows(list, rte->subquery, conditions,
					 foreach_current_index(lc) + 1))
			return true;
	}
	return false;
}

/* ---- the query ---- */

/*
 * compare_query_keys orders keys by item and time.
 */
static int
compare_query_keys(const void *a, const void *b)
{
	const KeyRange *left = a;
	const KeyRange *right = b;

	return compare_places(left->itemid, left->first, right->itemid,
						  right->first);
}

/*
 * MergeQueryKeys sorts keys, and makes one of those that overlap, so that no
 * row is read twice.
 */
static void
MergeQueryKeys(KeyList *list)
{
	KeyRange   *keys = list->keys;
	int			nkept = 0;

	qsort(keys, list->nkeys, sizeof(KeyRange), compare_query_keys);
	for (int i = 0; i < list->nkeys; i++)
	{
		if (nkept > 0 && keys[i].itemid == keys[nkept - 1].itemid &&
			keys[i].first <= keys[nkept - 1].last)
			keys[nkept - 1].last = Max(keys[nkept - 1].last, keys[i].last);
		else
			keys[nkept++] = keys[i];
	}
	list->nkeys = nkept;
}

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
 * TakeKeyCondition adds the keys that all rows have for which a condition
 * holds; returns false if it is none of these.
 */
static bool
TakeKeyCondition(KeyList *list, Node *condition)
{
	list->nkeys = 0;
	list->is_exact = true;
	if (is_orclause(condition))
		return TakeOrKeys(list, condition);
	return IsA(condition, SubLink) && TakeIn(list, (SubLink *) condition);
}

/*
 * MayHaveKeys says whether a query has conditions that keys may be found in, so that
 * for others nothing is opened.
 */
static bool
MayHaveKeys(const Query *query, List *conditions)
{
	ListCell   *lc;

	if (!zbxhist_enable_item_scan || !zbxhist_enable_packed_scan_pruning)
		return false;
	foreach(lc, conditions)
	{
		if (is_orclause(lfirst(lc)) || IsA(lfirst(lc), SubLink))
			return true;
	}
	foreach(lc, query->rtable)
	{
		const RangeTblEntry *rte = lfirst_node(RangeTblEntry, lc);

		if (rte->rtekind == RTE_SUBQUERY && IsList(rte->subquery))
			return true;
	}
	return false;
}

/*
 * ZbxhistIsKeyQuery says whether conditions of a query leave only rows of relation rti,
 * an open parent, that a list of keys has, and which rows it wants then.
 */
bool
ZbxhistIsKeyQuery(Query *query, Index rti, Relation parent,
				  const PartitionSet *set, KeyQuery *result)
{
	List	   *conditions = ZbxhistGetConjuncts(query);
	bool		is_alone = count_relations(query) == 1;
	KeyList		list;
	ListCell   *lc;

	if (!MayHaveKeys(query, conditions) ||
		!InitKeyList(&list, rti, parent, set))
		return false;
	result->quals = query->jointree->quals;
	foreach(lc, conditions)
	{
		if (TakeKeyCondition(&list, lfirst(lc)))
			break;
	}
	if (lc == NULL && (is_alone || !TakeJoin(&list, query, conditions)))
		return false;
	if (lc != NULL && is_alone && list.is_exact)
	{
		conditions = list_delete_cell(conditions, lc);
		result->quals = conditions == NIL ? NULL :
			(Node *) make_ands_explicit(conditions);
	}
	MergeQueryKeys(&list);
	result->nkeys = list.nkeys;
	result->keys = list.keys;
	return true;
}
