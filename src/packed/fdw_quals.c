/*-------------------------------------------------------------------------
 *
 * fdw_quals.c
 *	  Conditions on items and clocks that decide what is read of packed days.
 *
 * When a query is planned, its conditions are taken apart into a kind and a
 * value that does not depend on the row; when it is executed, the values
 * become bounds.  A comparison of itemid or clock with an integer of any size
 * is taken exactly, so that the executor need not look at it again.  Of an OR
 * of such conditions (Zabbix looks for up to 1000 keys at once, and cuts long
 * lists of items up) only the items and the clocks are taken, and every row
 * is looked at again.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "catalog/pg_opfamily.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "packed/fdw_quals.h"

/* ---- columns ---- */

/*
 * ZbxhistFindTyped returns the number of a live column of that name and type,
 * or 0.
 */
AttrNumber
ZbxhistFindTyped(Relation table, const char *name, Oid type)
{
	TupleDesc	desc = RelationGetDescr(table);

	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);

		if (!att->attisdropped && att->atttypid == type &&
			strcmp(NameStr(att->attname), name) == 0)
			return att->attnum;
	}
	return InvalidAttrNumber;
}

/*
 * ZbxhistFindKeyColumns finds the columns of a foreign table.
 */
void
ZbxhistFindKeyColumns(PlannerInfo *root, Relation table, Index varno,
					  KeyColumns *columns)
{
	columns->root = root;
	columns->varno = varno;
	columns->itemid = ZbxhistFindTyped(table, "itemid", INT8OID);
	columns->clock = ZbxhistFindTyped(table, "clock", INT4OID);
}

/* ---- taking conditions apart ---- */

/*
 * GetKey returns the number of the column if expr is one of the two, else 0.
 */
static AttrNumber
GetKey(Node *expr, const KeyColumns *columns)
{
	Var		   *var = (Var *) expr;

	if (expr == NULL || !IsA(expr, Var) || var->varno != columns->varno ||
		var->varlevelsup != 0 || var->varattno <= 0 ||
		(var->varattno != columns->itemid && var->varattno != columns->clock))
		return InvalidAttrNumber;
	return var->varattno;
}

/*
 * IsFixed says whether an expression has the same value for all rows.
 */
static bool
IsFixed(Node *expr, const KeyColumns *columns)
{
	return !bms_is_member(columns->varno, pull_varnos(columns->root, expr)) &&
		!contain_volatile_functions(expr) && !contain_subplans(expr);
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
 * GetStrategy returns what an operator does as one of integers' ordering, 0
 * if it is none.
 */
static int
GetStrategy(Oid operator)
{
	return get_op_opfamily_strategy(operator, INTEGER_BTREE_FAM_OID);
}

/*
 * ClockKind returns the kind of a comparison of the clock.
 */
static PackedCondKind
ClockKind(int strategy)
{
	switch (strategy)
	{
		case BTLessStrategyNumber:
			return COND_CLOCK_BEFORE;
		case BTLessEqualStrategyNumber:
			return COND_CLOCK_TO;
		case BTGreaterEqualStrategyNumber:
			return COND_CLOCK_FROM;
		case BTGreaterStrategyNumber:
			return COND_CLOCK_AFTER;
		default:
			return COND_CLOCK;
	}
}

/*
 * TakeComparison takes "column op value" or "value op column".
 */
static bool
TakeComparison(OpExpr *op, const KeyColumns *columns, List **conds)
{
	Node	   *left = linitial(op->args);
	Node	   *right = list_length(op->args) == 2 ? lsecond(op->args) : NULL;
	Oid			operator = op->opno;
	AttrNumber	key = GetKey(left, columns);
	int			strategy;

	if (key == InvalidAttrNumber)
	{
		Node	   *swap = left;

		left = right;
		right = swap;
		key = GetKey(left, columns);
		operator = get_commutator(operator);
	}
	if (key == InvalidAttrNumber || right == NULL ||
		!OidIsValid(operator) || !IsFixed(right, columns) ||
		(strategy = GetStrategy(operator)) == 0)
		return false;
	if (key == columns->clock)
		AddCond(conds, ClockKind(strategy), right);
	else if (strategy == BTEqualStrategyNumber)
		AddCond(conds, COND_ITEM, right);
	else
		return false;
	return true;
}

/*
 * TakeAny takes "column = ANY (array)".  For clocks only the first and the
 * last one count.
 */
static bool
TakeAny(ScalarArrayOpExpr *any, const KeyColumns *columns, List **conds)
{
	AttrNumber	key = GetKey(linitial(any->args), columns);
	Node	   *array = lsecond(any->args);

	if (key == InvalidAttrNumber || !any->useOr ||
		GetStrategy(any->opno) != BTEqualStrategyNumber ||
		!IsFixed(array, columns))
		return false;
	AddCond(conds, key == columns->clock ? COND_CLOCKS : COND_ITEMS, array);
	return key != columns->clock;
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
 * GetConstBounds takes conditions with constants into bounds.
 */
static void
GetConstBounds(List *conds, ScanBounds *bounds)
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
 * MakeArray makes a constant of items.
 */
static Node *
MakeArray(const int64 *items, int nitems)
{
	Datum	   *values = palloc(sizeof(Datum) * Max(nitems, 1));
	ArrayType  *array;

	for (int i = 0; i < nitems; i++)
		values[i] = Int64GetDatum(items[i]);
	array = construct_array(values, nitems, INT8OID, sizeof(int64),
							FLOAT8PASSBYVAL, TYPALIGN_DOUBLE);
	return (Node *) makeConst(INT8ARRAYOID, -1, InvalidOid, -1,
							  PointerGetDatum(array), false, false);
}

/*
 * TakeOr takes what follows from an OR whose parts have constants: the items
 * of all its parts, and the clocks between the first and the last.
 */
static void
TakeOr(BoolExpr *or, const KeyColumns *columns, List **conds)
{
	int64		from_clock = PG_INT64_MAX;
	int64		to_clock = PG_INT64_MIN;
	int64	   *items = NULL;
	int			nitems = 0;
	bool		has_items = true;
	ListCell   *lc;

	foreach(lc, or->args)
	{
		List	   *part = NIL;
		ScanBounds	bounds;

		(void) ZbxhistTakeCondition(lfirst(lc), columns, &part);
		GetConstBounds(part, &bounds);
		from_clock = Min(from_clock, bounds.from_clock);
		to_clock = Max(to_clock, bounds.to_clock);
		has_items = has_items && bounds.items != NULL;
		if (has_items && bounds.nitems > 0)
		{
			Size		size = sizeof(int64) * (nitems + bounds.nitems);

			items = items == NULL ? palloc(size) : repalloc(items, size);
			memcpy(items + nitems, bounds.items, sizeof(int64) * bounds.nitems);
			nitems += bounds.nitems;
		}
	}
	if (has_items)
		AddCond(conds, COND_ITEMS, MakeArray(items, nitems));
	AddCond(conds, COND_CLOCK_FROM, MakeInt8(from_clock));
	AddCond(conds, COND_CLOCK_TO, MakeInt8(to_clock));
}

/*
 * ZbxhistTakeCondition adds what a condition says of items and clocks to
 * conds.  Returns true if that is all it says.
 */
bool
ZbxhistTakeCondition(Expr *clause, const KeyColumns *columns, List **conds)
{
	bool		is_all = true;
	ListCell   *lc;

	switch (nodeTag(clause))
	{
		case T_OpExpr:
			return TakeComparison((OpExpr *) clause, columns, conds);
		case T_ScalarArrayOpExpr:
			return TakeAny((ScalarArrayOpExpr *) clause, columns, conds);
		case T_NullTest:
			return TakeNotNull((NullTest *) clause, columns);
		case T_BoolExpr:
			if (is_orclause(clause))
				TakeOr((BoolExpr *) clause, columns, conds);
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
 * ZbxhistIsOneItem says whether conditions leave no more than one item.
 */
bool
ZbxhistIsOneItem(const List *conds)
{
	ListCell   *lc;

	foreach(lc, conds)
	{
		if (((PackedCond *) lfirst(lc))->kind == COND_ITEM)
			return true;
	}
	return false;
}

/* ---- bounds ---- */

/*
 * ZbxhistInitBounds sets bounds to everything, oldest first.
 */
void
ZbxhistInitBounds(ScanBounds *bounds)
{
	bounds->nitems = 0;
	bounds->items = NULL;
	bounds->from_clock = PG_INT64_MIN;
	bounds->to_clock = PG_INT64_MAX;
	bounds->is_descending = false;
}

/*
 * compare_int64 orders items.
 */
static int
compare_int64(const void *a, const void *b)
{
	int64		left = *(const int64 *) a;
	int64		right = *(const int64 *) b;

	return left < right ? -1 : left > right;
}

/*
 * GetInteger returns an integer of any size.
 */
static int64
GetInteger(Oid type, Datum value)
{
	switch (type)
	{
		case INT2OID:
			return DatumGetInt16(value);
		case INT4OID:
			return DatumGetInt32(value);
		default:
			return DatumGetInt64(value);
	}
}

/*
 * ZbxhistSortItems sorts items, leaves each once and returns their number.
 */
int
ZbxhistSortItems(int64 *items, int nitems)
{
	int			nunique = 0;

	qsort(items, nitems, sizeof(int64), compare_int64);
	for (int i = 0; i < nitems; i++)
	{
		if (nunique == 0 || items[i] != items[nunique - 1])
			items[nunique++] = items[i];
	}
	return nunique;
}

/*
 * GetIntegers returns the members of an array, sorted and each once, palloc'd;
 * nulls are equal to nothing.
 */
static int64 *
GetIntegers(Datum value, int *n)
{
	ArrayType  *array = DatumGetArrayTypeP(value);
	Oid			type = ARR_ELEMTYPE(array);
	int16		length;
	bool		byval;
	char		align;
	Datum	   *values;
	bool	   *nulls;
	int			nvalues;
	int64	   *result;

	get_typlenbyvalalign(type, &length, &byval, &align);
	deconstruct_array(array, type, length, byval, align, &values, &nulls,
					  &nvalues);
	result = palloc(sizeof(int64) * Max(nvalues, 1));
	*n = 0;
	for (int i = 0; i < nvalues; i++)
	{
		if (!nulls[i])
			result[(*n)++] = GetInteger(type, values[i]);
	}
	*n = ZbxhistSortItems(result, *n);
	return result;
}

/*
 * LimitItems leaves of the bounds' items those that are among others, too.
 */
static void
LimitItems(ScanBounds *bounds, int64 *items, int nitems)
{
	int			n = 0;

	if (bounds->items != NULL)
	{
		for (int i = 0; i < nitems; i++)
		{
			if (bsearch(&items[i], bounds->items, bounds->nitems,
						sizeof(int64), compare_int64) != NULL)
				items[n++] = items[i];
		}
		nitems = n;
	}
	bounds->items = items;
	bounds->nitems = nitems;
}

/*
 * LimitClocks leaves the clocks of bounds that are between two, both included.
 */
static void
LimitClocks(ScanBounds *bounds, int64 from_clock, int64 to_clock)
{
	bounds->from_clock = Max(bounds->from_clock, from_clock);
	bounds->to_clock = Min(bounds->to_clock, to_clock);
}

/*
 * ApplyArray limits bounds to the values of an array.
 */
static void
ApplyArray(ScanBounds *bounds, PackedCondKind kind, Datum value)
{
	int			n;
	int64	   *values = GetIntegers(value, &n);

	if (kind == COND_ITEMS)
		LimitItems(bounds, values, n);
	else if (n == 0)
		LimitClocks(bounds, PG_INT64_MAX, PG_INT64_MIN);
	else
		LimitClocks(bounds, values[0], values[n - 1]);
}

/*
 * ZbxhistApplyCond limits bounds by a condition, whose value is of that type.
 * Nothing is equal to null, or more or less.  The items of bounds are palloc'd
 * in the current context.
 */
void
ZbxhistApplyCond(ScanBounds *bounds, PackedCondKind kind, Oid type,
				 Datum value, bool isnull)
{
	int64		number;
	int64	   *item;

	if (isnull)
	{
		LimitClocks(bounds, PG_INT64_MAX, PG_INT64_MIN);
		return;
	}
	if (kind == COND_ITEMS || kind == COND_CLOCKS)
	{
		ApplyArray(bounds, kind, value);
		return;
	}
	number = GetInteger(type, value);
	switch (kind)
	{
		case COND_ITEM:
			item = palloc(sizeof(int64));
			*item = number;
			LimitItems(bounds, item, 1);
			break;
		case COND_CLOCK_FROM:
			LimitClocks(bounds, number, PG_INT64_MAX);
			break;
		case COND_CLOCK_AFTER:
			LimitClocks(bounds, number == PG_INT64_MAX ? number : number + 1,
						number == PG_INT64_MAX ? PG_INT64_MIN : PG_INT64_MAX);
			break;
		case COND_CLOCK_TO:
			LimitClocks(bounds, PG_INT64_MIN, number);
			break;
		case COND_CLOCK_BEFORE:
			LimitClocks(bounds,
						number == PG_INT64_MIN ? PG_INT64_MAX : PG_INT64_MIN,
						number == PG_INT64_MIN ? number : number - 1);
			break;
		default:
			LimitClocks(bounds, number, number);
			break;
	}
}

/*
 * ZbxhistEvaluateConds makes bounds of conditions of such kinds by what the
 * ExprStates of their values evaluate to now, in a context that is reset
 * before and has the items afterwards.
 */
void
ZbxhistEvaluateConds(const List *kinds, const List *values,
					 ExprContext *econtext, MemoryContext context,
					 ScanBounds *bounds)
{
	MemoryContext old;
	ListCell   *value;
	ListCell   *kind;

	MemoryContextReset(context);
	old = MemoryContextSwitchTo(context);
	ZbxhistInitBounds(bounds);
	forboth(value, values, kind, kinds)
	{
		ExprState  *expr = lfirst(value);
		bool		isnull;
		Datum		result = ExecEvalExpr(expr, econtext, &isnull);

		ZbxhistApplyCond(bounds, lfirst_int(kind),
						 exprType((Node *) expr->expr), result, isnull);
	}
	MemoryContextSwitchTo(old);
}
