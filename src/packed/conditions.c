/*-------------------------------------------------------------------------
 *
 * conditions.c
 *	  Conditions on items and clocks, which limit what is read of packed days.
 *
 * When a query is planned, each condition becomes a kind and a value that does not
 * depend on the row.  When it is executed, the values become bounds.  Comparisons
 * of itemid or clock with integers of any size are exact, so the executor need not
 * check them again.  So are comparisons with numerics, and comparisons of the clock as
 * another type of number or as a time.  An OR of such conditions becomes a list of items
 * and a range of clocks, and every row is checked again.  (Zabbix divides long lists of
 * items.)
 *
 * A row comparison, (itemid, clock) > (5, 1795130262), tells where to begin.
 *
 * A ctid contains a row's clock.  Zabbix's housekeeper deletes the rows of an item by
 * batches of ctids.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "access/sysattr.h"
#include "catalog/pg_class.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_opfamily.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/array.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/typcache.h"

#include "compat.h"
#include "make_room.h"
#include "packed/conditions.h"
#include "tables/columns.h"
#include "tables/partition_set.h"

/* ---- columns ---- */

/*
 * ZbxhistFindTyped returns the number of the live column that was packed as
 * name, if it has that type, or 0; InvalidOid stands for any type.
 */
AttrNumber
ZbxhistFindTyped(Relation table, const char *name, Oid type)
{
	const PartitionSet *set = ZbxhistFindPartitions(RelationGetRelid(table));

	if (set != NULL && set->packed == RelationGetRelid(table))
		name = ZbxhistPresentName(set, name);
	return name == NULL ? InvalidAttrNumber :
		ZbxhistFindColumn(RelationGetDescr(table), name, type);
}

/*
 * ZbxhistFindKeyColumns finds the key columns of a parent or of its packed table.
 * Conditions on ctid are used for the packed table only.
 */
void
ZbxhistFindKeyColumns(PlannerInfo *root, Relation table, Index varno,
					  KeyColumns *columns)
{
	columns->root = root;
	columns->varno = varno;
	columns->itemid = ZbxhistFindTyped(table, "itemid", INT8OID);
	columns->clock = ZbxhistFindTyped(table, "clock", INT4OID);
	columns->ctid = table->rd_rel->relkind == RELKIND_FOREIGN_TABLE ?
		SelfItemPointerAttributeNumber : InvalidAttrNumber;
}

/*
 * ZbxhistTakeKeyColumns sets the key columns of a parent that is relation 1 of a query;
 * returns false if rows cannot be found by them.
 */
bool
ZbxhistTakeKeyColumns(const PartitionSet *set, KeyColumns *columns)
{
	memset(columns, 0, sizeof(*columns));
	columns->varno = 1;
	columns->itemid = set->itemid_attnum;
	columns->clock = set->clock_attnum;
	return set->is_exhaustive && columns->itemid != InvalidAttrNumber &&
		columns->clock != InvalidAttrNumber;
}

/* ---- taking conditions apart ---- */

/*
 * GetKey returns the number of the column if expr is one of the two, or the ctid, else 0.
 */
static AttrNumber
GetKey(Node *expr, const KeyColumns *columns)
{
	Var		   *var = (Var *) expr;

	if (expr == NULL || !IsA(expr, Var) || var->varno != columns->varno ||
		var->varlevelsup != 0)
		return InvalidAttrNumber;
	return var->varattno == columns->itemid || var->varattno == columns->clock ||
		var->varattno == columns->ctid ? var->varattno : InvalidAttrNumber;
}

/*
 * has_subplan is a walker that returns true at a subquery that is executed for each row.
 * (An uncorrelated one that gives an array or a value is executed once, and is a
 * parameter when the query is planned.)
 */
static bool
has_subplan(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, SubLink))
		return ((SubLink *) node)->subLinkType != ARRAY_SUBLINK &&
			((SubLink *) node)->subLinkType != EXPR_SUBLINK;
	if (IsA(node, SubPlan) || IsA(node, AlternativeSubPlan))
		return true;
	return expression_tree_walker(node, has_subplan, context);
}

/*
 * IsFixedExpr says whether an expression has the same value for all rows.
 */
static bool
IsFixedExpr(Node *expr, const KeyColumns *columns)
{
	return !bms_is_member(columns->varno, pull_varnos(columns->root, expr)) &&
		!contain_volatile_functions(expr) && !has_subplan(expr, NULL);
}

/*
 * AddCond adds a condition to a list.
 */
static void
AddCond(List **conds, PackedCondKind kind, Node *value)
{
	PackedCond *cond = palloc(sizeof(PackedCond));

	cond->kind = kind;
	cond->value = (Expr *) value;
	*conds = lappend(*conds, cond);
}

/*
 * IntegerOfExpr returns the integer of an expression that has it as a number of
 * another type, or as a time, in the same order; or else the expression.
 */
static Node *
IntegerOfExpr(Node *expr)
{
	FuncExpr   *call = (FuncExpr *) expr;

	if (expr == NULL || !IsA(expr, FuncExpr))
		return expr;
	switch (call->funcid)
	{
		case F_INT8_INT4:
		case F_FLOAT8_INT4:
		case F_NUMERIC_INT4:
		case F_NUMERIC_INT8:
			return linitial(call->args);
		case F_TO_TIMESTAMP_FLOAT8:
			call = linitial(call->args);
			if (IsA(call, FuncExpr) && call->funcid == F_FLOAT8_INT4)
				return linitial(call->args);
			return expr;
		default:
			return expr;
	}
}

/*
 * GetStrategy returns the btree strategy of an operator for a column's type and a value's
 * type, 0 if it has none.
 */
static int
GetStrategy(Oid operator, Oid type, Oid value_type)
{
	switch (type)
	{
		case TIDOID:
			return operator == TIDEqualOperator ? BTEqualStrategyNumber : 0;
		case FLOAT8OID:
		case NUMERICOID:
		case TIMESTAMPTZOID:
			return type != value_type ? 0 :
				get_op_opfamily_strategy(operator,
										 lookup_type_cache(type, TYPECACHE_BTREE_OPFAMILY)->btree_opf);
		default:
			return get_op_opfamily_strategy(operator, INTEGER_BTREE_FAM_OID);
	}
}

/*
 * MakeTidArray makes an array of one ctid.
 */
static Node *
MakeTidArray(Node *tid)
{
	ArrayExpr  *array = makeNode(ArrayExpr);

	array->array_typeid = TIDARRAYOID;
	array->element_typeid = TIDOID;
	array->elements = list_make1(tid);
	array->location = -1;
	return eval_const_expressions(NULL, (Node *) array);
}

/*
 * TakeQualComparison takes "column op value" or "value op column".
 */
static bool
TakeQualComparison(OpExpr *op, const KeyColumns *columns, List **conds)
{
	Node	   *left = linitial(op->args);
	Node	   *right = list_length(op->args) == 2 ? lsecond(op->args) : NULL;
	Oid			operator = op->opno;
	AttrNumber	key = GetKey(IntegerOfExpr(left), columns);
	int			strategy;

	if (key == InvalidAttrNumber)
	{
		Node	   *swap = left;

		left = right;
		right = swap;
		key = GetKey(IntegerOfExpr(left), columns);
		if (key == InvalidAttrNumber)
			return false;
		operator = get_commutator(operator);
	}
	if (right == NULL ||
		!OidIsValid(operator) || !IsFixedExpr(right, columns) ||
		(strategy = GetStrategy(operator, exprType(left),
								exprType(right))) == 0)
		return false;

	/*
	 * a numeric beyond the range of bigint becomes its least or greatest
	 * number, which an item may have
	 */
	if (key == columns->itemid && exprType(left) == NUMERICOID &&
		strategy != BTEqualStrategyNumber)
		return false;
	if (key == columns->ctid)
		AddCond(conds, COND_TIDS, MakeTidArray(right));
	else
		AddCond(conds, (key == columns->clock ? COND_CLOCK_BEFORE : COND_ITEM_BEFORE) +
				strategy - BTLessStrategyNumber, right);
	return true;
}

/*
 * TakeAny takes "column = ANY (array)".  For clocks only the first and the
 * last one count.
 */
static bool
TakeAny(ScalarArrayOpExpr *any, const KeyColumns *columns, List **conds)
{
	Node	   *left = linitial(any->args);
	AttrNumber	key = GetKey(IntegerOfExpr(left), columns);
	Node	   *array = lsecond(any->args);

	if (key == InvalidAttrNumber || !any->useOr ||
		GetStrategy(any->opno, exprType(left),
					get_base_element_type(exprType(array))) != BTEqualStrategyNumber ||
		!IsFixedExpr(array, columns))
		return false;
	AddCond(conds, key == columns->ctid ? COND_TIDS :
			key == columns->clock ? COND_CLOCKS : COND_ITEMS, array);
	return key != columns->clock;
}

/*
 * ToInt8 casts an integer of any size that is the same for all rows to int8; returns NULL
 * if the expression is not one.
 */
static Node *
ToInt8(Node *expr, const KeyColumns *columns)
{
	Oid			type = exprType(expr);
	Oid			cast = type == INT4OID ? F_INT8_INT4 : F_INT8_INT2;

	if ((type != INT8OID && type != INT4OID && type != INT2OID) ||
		!IsFixedExpr(expr, columns))
		return NULL;
	return type == INT8OID ? expr :
		(Node *) makeFuncExpr(cast, INT8OID, list_make1(expr), InvalidOid, InvalidOid,
							  COERCE_IMPLICIT_CAST);
}

/*
 * TakeRowComparison takes what "(itemid, clock, …) op (value, value, …)", or the other
 * way round, says about itemid and clock: rows that are equal in both may be wanted, or
 * not.
 */
static void
TakeRowComparison(RowCompareExpr *row, const KeyColumns *columns, List **conds)
{
	int			strategy = row_comparison_strategy(row);
	bool		is_commuted = GetKey(linitial(row->largs), columns) != columns->itemid;
	List	   *keys = is_commuted ? row->rargs : row->largs;
	List	   *values = is_commuted ? row->largs : row->rargs;
	bool		is_from = (strategy >= BTGreaterEqualStrategyNumber) != is_commuted;
	ArrayExpr  *place = makeNode(ArrayExpr);
	Node	   *itemid;
	Node	   *clock = NULL;

	if (columns->itemid == InvalidAttrNumber ||
		GetKey(linitial(keys), columns) != columns->itemid ||
		linitial_oid(row->opfamilies) != INTEGER_BTREE_FAM_OID ||
		(itemid = ToInt8(linitial(values), columns)) == NULL)
		return;
	if (GetKey(lsecond(keys), columns) == columns->clock &&
		columns->clock != InvalidAttrNumber)
		clock = ToInt8(lsecond(values), columns);
	if (clock == NULL)
		clock = (Node *) makeNullConst(INT8OID, -1, InvalidOid);
	place->array_typeid = INT8ARRAYOID;
	place->element_typeid = INT8OID;
	place->elements = list_make2(itemid, clock);
	place->location = -1;
	AddCond(conds, is_from ? COND_PLACES_FROM : COND_PLACES_TO,
			eval_const_expressions(columns->root, (Node *) place));
}

/*
 * TakeNotNull takes "column IS NOT NULL", which always holds.
 */
static bool
TakeNotNull(NullTest *test, const KeyColumns *columns)
{
	return test->nulltesttype == IS_NOT_NULL &&
		GetKey((Node *) test->arg, columns) != InvalidAttrNumber;
}

/* ---- OR ---- */

/*
 * ZbxhistGetConstBounds takes conditions with constants into bounds.
 */
void
ZbxhistGetConstBounds(List *conds, ScanBounds *bounds)
{
	ListCell   *lc;

	ZbxhistInitBounds(bounds);
	foreach(lc, conds)
	{
		PackedCond *cond = lfirst(lc);
		Const	   *value = (Const *) cond->value;

		if (IsA(value, Const))
			ZbxhistApplyCond(bounds, cond->kind, value->consttype,
							 value->constvalue, value->constisnull);
	}
	ZbxhistSettleBounds(bounds);
}

/*
 * MakeInt8 makes a constant.
 */
static Node *
MakeInt8(int64 value)
{
	return (Node *) makeConst(INT8OID, -1, InvalidOid, sizeof(int64),
							  Int64GetDatum(value), false,
							  FLOAT8PASSBYVAL);
}

/*
 * ZbxhistMakeArray makes a constant of integers.
 */
Node *
ZbxhistMakeArray(const int64 *integers, int n)
{
	ArrayType  *array;

	StaticAssertStmt(sizeof(Datum) == sizeof(int64), "integers are Datums");
	array = construct_array((Datum *) integers, n, INT8OID, sizeof(int64), true,
							TYPALIGN_DOUBLE);
	return (Node *) makeConst(INT8ARRAYOID, -1, InvalidOid, -1,
							  PointerGetDatum(array), false, false);
}

/* what the parts of an OR leave */
typedef struct OrParts
{
	bool		has_items;		/* each part has conditions on items */
	int			size;
	int			nitems;
	int64	   *items;
	int64		from_clock;		/* of all parts */
	int64		to_clock;
} OrParts;

/*
 * AddOrPart adds the items and clocks of an alternative of an OR.
 */
static void
AddOrPart(OrParts *parts, const ScanBounds *part)
{
	if (part->from_clock > part->to_clock)
		return;
	parts->from_clock = Min(parts->from_clock, part->from_clock);
	parts->to_clock = Max(parts->to_clock, part->to_clock);
	parts->has_items &= part->items != NULL;
	for (int i = 0; i < part->nitems; i++)
	{
		make_room(parts->items, parts->nitems, parts->size);
		parts->items[parts->nitems++] = part->items[i];
	}
}

/*
 * TakeOrClocks takes what follows from an OR whose alternatives have constants: the items
 * of all, unless an alternative does not name its items, and the range of all clocks.
 */
static void
TakeOrClocks(BoolExpr *or, const KeyColumns *columns, List **conds)
{
	OrParts		parts = {
		.has_items = true,
		.from_clock = PG_INT64_MAX,
		.to_clock = PG_INT64_MIN
	};
	ListCell   *lc;

	foreach(lc, or->args)
	{
		List	   *part = NIL;
		ScanBounds	bounds;

		CHECK_FOR_INTERRUPTS();
		(void) ZbxhistTakeCondition(lfirst(lc), columns, &part);
		ZbxhistGetConstBounds(part, &bounds);
		AddOrPart(&parts, &bounds);
	}
	if (parts.has_items)
		AddCond(conds, COND_ITEMS, ZbxhistMakeArray(parts.items, parts.nitems));
	AddCond(conds, COND_CLOCK_FROM, MakeInt8(parts.from_clock));
	AddCond(conds, COND_CLOCK_TO, MakeInt8(parts.to_clock));
}

/*
 * ZbxhistTakeCondition adds what a condition says about items and clocks to conds.
 * Returns true if that is all of the condition.
 */
bool
ZbxhistTakeCondition(Expr *clause, const KeyColumns *columns, List **conds)
{
	bool		is_all = true;
	ListCell   *lc;

	switch (nodeTag(clause))
	{
		case T_OpExpr:
			return TakeQualComparison((OpExpr *) clause, columns, conds);
		case T_ScalarArrayOpExpr:
			return TakeAny((ScalarArrayOpExpr *) clause, columns, conds);
		case T_RowCompareExpr:
			TakeRowComparison((RowCompareExpr *) clause, columns, conds);
			return false;
		case T_NullTest:
			return TakeNotNull((NullTest *) clause, columns);
		case T_BoolExpr:
			if (is_orclause(clause))
				TakeOrClocks((BoolExpr *) clause, columns, conds);
			if (!is_andclause(clause))
				return false;
			foreach(lc, ((BoolExpr *) clause)->args)
				is_all &= ZbxhistTakeCondition(lfirst(lc), columns, conds);
			return is_all;
		default:
			return false;
	}
}

/*
 * ZbxhistKindsOf returns the kinds of conditions, as ZbxhistEvaluateConds wants them, and
 * adds what they compare with to values.
 */
List *
ZbxhistKindsOf(const List *conds, List **values)
{
	List	   *result = NIL;
	ListCell   *lc;

	foreach(lc, conds)
	{
		const PackedCond *cond = lfirst(lc);

		result = lappend_int(result, cond->kind);
		*values = lappend(*values, cond->value);
	}
	return result;
}

/*
 * ZbxhistHasCond says whether a condition is of one of the kinds from first to last.
 */
bool
ZbxhistHasCond(const List *conds, PackedCondKind first, PackedCondKind last)
{
	ListCell   *lc;

	foreach(lc, conds)
	{
		PackedCondKind kind = ((PackedCond *) lfirst(lc))->kind;

		if (kind >= first && kind <= last)
			return true;
	}
	return false;
}
