/*-------------------------------------------------------------------------
 *
 * clock_keys.c
 *	  Grouping keys that rise or fall with the clock.
 *
 * If a key is a monotonic function of the clock and has the same value at two clocks, it
 * has that value between them.  So if the first and the last row of a segment are in one
 * group, all of its rows are.  In other segments groups are found without evaluating the
 * key for each row.  The executor evaluates the keys; this file only finds out whether
 * they are monotonic:
 *
 *		clock / 3600 * 3600, clock - clock % 300, round(900.0 * (clock - a) / b, 0),
 *		to_timestamp(clock), date_bin(...), floor(clock / 60.0)
 *
 * A remainder is monotonic as long as its quotient is the same, and a day of a time zone
 * as long as the zone's offset from UTC is the same.  Such expressions are breaks: a key
 * is monotonic between two clocks if the breaks are equal at both.
 *
 * All of these functions round correctly or not at all, which keeps them monotonic.  The
 * quotient of numerics has at least 16 digits.  Constants must be of reasonable size, so
 * that the quotients of different clocks differ before the last of these digits.
 * Functions that are not known are not taken to be monotonic.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/transam.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"

#include "read/clock_keys.h"

/* constants outside of these may have too many digits for the others */
#define LEAST_CONSTANT 1e-12
#define GREATEST_CONSTANT 1e12

/* seconds that something has the same result that is not known here */
#define USUAL_PERIOD 60

/* how an expression changes as the clock rises */
typedef enum Direction
{
	SAME,						/* does not depend on the clock */
	RISES,						/* or stays */
	FALLS,						/* or stays */
	NOT_KNOWN
} Direction;

/* what is looked at */
typedef struct KeySearch
{
	Index		varno;
	AttrNumber	clock;
	List	   *breaks;
} KeySearch;

static Direction FindDirection(Node *node, KeySearch *search);

/* ---- directions ---- */

/*
 * opposite returns the direction of the negative.
 */
static inline Direction
opposite(Direction direction)
{
	return direction == RISES ? FALLS : direction == FALLS ? RISES :
		direction;
}

/*
 * sum_of returns the direction of the sum of two expressions.
 */
static inline Direction
sum_of(Direction left, Direction right)
{
	if (left == SAME)
		return right;
	if (right == SAME || left == right)
		return left;
	return NOT_KNOWN;
}

/*
 * GetNumber sets the number that an expression is, if it is a constant
 * one.
 */
static bool
GetNumber(Node *node, double *number)
{
	Const	   *constant = (Const *) node;

	if (!IsA(node, Const) || constant->constisnull)
		return false;
	switch (constant->consttype)
	{
		case INT4OID:
			*number = DatumGetInt32(constant->constvalue);
			return true;
		case INT8OID:
			*number = (double) DatumGetInt64(constant->constvalue);
			return true;
		case FLOAT8OID:
			*number = DatumGetFloat8(constant->constvalue);
			return true;
		case NUMERICOID:
			*number = strtod(DatumGetCString(DirectFunctionCall1(numeric_out,
																 constant->constvalue)),
							 NULL);
			return true;
		default:
			return false;
	}
}

/*
 * GetSign returns 1 or -1 if an expression is a constant of reasonable size,
 * else 0.
 */
static int
GetSign(Node *node)
{
	double		number;

	if (!GetNumber(node, &number) ||
		!(fabs(number) > LEAST_CONSTANT && fabs(number) < GREATEST_CONSTANT))
		return 0;
	return number < 0 ? -1 : 1;
}

/*
 * IsReasonable says whether an operand that does not depend on the clock is not so large
 * or small that digits of the clock are lost.
 */
static bool
IsReasonable(Node *node)
{
	double		number;

	return GetSign(node) != 0 ||
		(GetNumber(node, &number) && number == 0);
}

/*
 * IsTextConst says whether an expression is a certain text.
 */
static bool
IsTextConst(Node *node, const char *const *texts)
{
	Const	   *constant = (Const *) node;
	char	   *word;

	if (!IsA(node, Const) || constant->constisnull ||
		constant->consttype != TEXTOID)
		return false;
	word = TextDatumGetCString(constant->constvalue);
	for (; *texts != NULL; texts++)
	{
		if (pg_strcasecmp(word, *texts) == 0)
			return true;
	}
	return false;
}

/* ---- functions ---- */

/*
 * MakeCall returns a call of a function of two arguments.
 */
static Node *
MakeCall(Oid function, Oid result, Node *left, Node *right, Oid collation)
{
	return (Node *) makeFuncExpr(function, result, list_make2(left, right),
								 InvalidOid, collation, COERCE_EXPLICIT_CALL);
}

/*
 * IsNumber says whether an expression is of a type that is computed with here.
 */
static bool
IsNumber(Node *node)
{
	Oid			type = exprType(node);

	return type == INT4OID || type == INT8OID || type == FLOAT8OID ||
		type == NUMERICOID;
}

/*
 * RemainderQuotient returns the quotient that belongs to the remainder of
 * two expressions.
 */
static Node *
RemainderQuotient(Node *left, Node *right)
{
	Oid			type = exprType(left);

	return MakeCall(type == INT4OID ? F_INT4DIV : type == INT8OID ? F_INT8DIV :
					F_NUMERIC_DIV_TRUNC, type, left, right, InvalidOid);
}

/*
 * FindCall returns the function that an expression calls, with its arguments;
 * InvalidOid if it is another expression.
 */
static Oid
FindCall(Node *node, List **args)
{
	if (IsA(node, FuncExpr))
	{
		*args = ((FuncExpr *) node)->args;
		return ((FuncExpr *) node)->funcid;
	}
	if (IsA(node, OpExpr))
	{
		*args = ((OpExpr *) node)->args;
		return get_opcode(((OpExpr *) node)->opno);
	}
	return InvalidOid;
}

/*
 * ArithmeticOf returns which arithmetic of numbers an expression is, with its arguments:
 * '+', '-', '*', '/' or '%', 'r' for a cast or rounding; 0 if it is something else.
 */
static char
ArithmeticOf(Node *node, List **args)
{
	static const char *const roundings[] = {"int4", "int8", "float8", "numeric",
	"round", "trunc", "ceil", "ceiling", "floor", "dround", "dtrunc", NULL};
	Oid			function = FindCall(node, args);
	const char *name;
	ListCell   *lc;

	if (!OidIsValid(function) || function >= FirstNormalObjectId || *args == NIL)
		return 0;
	foreach(lc, *args)
	{
		if (!IsNumber(lfirst(lc)))
			return 0;
	}
	name = IsA(node, OpExpr) ? get_opname(((OpExpr *) node)->opno) :
		get_func_name(function);
	if (list_length(*args) == 2 && strcmp(name, "mod") == 0)
		return '%';
	if (IsA(node, OpExpr))
		return list_length(*args) == 2 && strlen(name) == 1 &&
			strchr("+-*/%", *name) != NULL ? *name : 0;
	for (int i = 0; roundings[i] != NULL; i++)
	{
		if (strcmp(name, roundings[i]) == 0)
			return 'r';
	}
	return 0;
}

/*
 * IsMultiple says whether left - right is left less its remainder, which is a
 * multiple of a constant.
 */
static bool
IsMultiple(Node *left, Node *right)
{
	List	   *args;

	return ArithmeticOf(right, &args) == '%' && equal(left, linitial(args)) &&
		GetSign(lsecond(args)) != 0;
}

/*
 * DirectionOfSum handles additions and subtractions.
 */
static Direction
DirectionOfSum(Node *left, Node *right, bool is_minus, KeySearch *search)
{
	Direction	first = FindDirection(left, search);
	Direction	second;

	if (is_minus && IsMultiple(left, right))
		return first;
	second = FindDirection(right, search);
	if ((first == SAME && second != SAME && !IsReasonable(left)) ||
		(second == SAME && first != SAME && !IsReasonable(right)))
		return NOT_KNOWN;
	return sum_of(first, is_minus ? opposite(second) : second);
}

/*
 * DirectionOfProduct handles multiplications, and divisions by constants.
 */
static Direction
DirectionOfProduct(Node *left, Node *right, bool is_division,
				   KeySearch *search)
{
	Node	   *factor = right;
	Direction	direction;
	int			sign = GetSign(right);

	if (sign == 0 && !is_division)
	{
		factor = left;
		sign = GetSign(left);
	}
	if (sign == 0)
		return NOT_KNOWN;
	direction = FindDirection(factor == right ? left : right, search);
	return sign > 0 ? direction : opposite(direction);
}

/*
 * DirectionOfRemainder handles remainders of divisions by constants.
 */
static Direction
DirectionOfRemainder(Node *left, Node *right, KeySearch *search)
{
	Direction	direction = FindDirection(left, search);

	if (GetSign(right) == 0 || direction == NOT_KNOWN || direction == SAME)
		return NOT_KNOWN;
	search->breaks = lappend(search->breaks, RemainderQuotient(left, right));
	return direction;
}

/*
 * DirectionOfTruncated handles times that are truncated.  A local day begins
 * where the zone says.
 */
static Direction
DirectionOfTruncated(Node *unit, Node *time, bool is_local, KeySearch *search)
{
	static const char *const units[] = {"second", "minute", "hour", "day", NULL};
	Direction	direction = FindDirection(time, search);
	Const	   *timezone;

	if (!IsA(unit, Const))
		return NOT_KNOWN;
	if (!is_local)
		return direction;
	if (!IsTextConst(unit, units) || direction == NOT_KNOWN)
		return NOT_KNOWN;
	timezone = makeConst(TEXTOID, -1, exprCollation(unit), -1,
						 CStringGetTextDatum("timezone"), false, false);
	search->breaks = lappend(search->breaks,
							 MakeCall(F_EXTRACT_TEXT_TIMESTAMPTZ, NUMERICOID,
									  (Node *) timezone, time,
									  exprCollation(unit)));
	return direction;
}

/*
 * DirectionOfTime handles functions of times.
 */
static Direction
DirectionOfTime(Oid function, List *args, KeySearch *search)
{
	static const char *const utc[] = {"UTC", "GMT", "Z", NULL};

	switch (function)
	{
		case F_TO_TIMESTAMP_FLOAT8:
			return FindDirection(linitial(args), search);
		case F_TIMEZONE_TEXT_TIMESTAMPTZ:
		case F_TIMEZONE_TEXT_TIMESTAMP:
			return IsTextConst(linitial(args), utc) ?
				FindDirection(lsecond(args), search) : NOT_KNOWN;
		case F_DATE_TRUNC_TEXT_TIMESTAMP:
			return DirectionOfTruncated(linitial(args), lsecond(args), false,
										search);
		case F_DATE_TRUNC_TEXT_TIMESTAMPTZ:
			return DirectionOfTruncated(linitial(args), lsecond(args), true,
										search);
		case F_DATE_TRUNC_TEXT_TIMESTAMPTZ_TEXT:
			return IsTextConst(lthird(args), utc) ?
				DirectionOfTruncated(linitial(args), lsecond(args), false,
									 search) : NOT_KNOWN;
		case F_DATE_BIN_INTERVAL_TIMESTAMP_TIMESTAMP:
		case F_DATE_BIN_INTERVAL_TIMESTAMPTZ_TIMESTAMPTZ:
			return IsA(linitial(args), Const) && IsA(lthird(args), Const) ?
				FindDirection(lsecond(args), search) : NOT_KNOWN;
		default:
			return NOT_KNOWN;
	}
}

/*
 * refers_to_clock is a walker that says whether an expression depends on the
 * clock.
 */
static bool
refers_to_clock(Node *node, KeySearch *search)
{
	if (node == NULL)
		return false;
	if (IsA(node, Var))
		return ((Var *) node)->varno == search->varno &&
			((Var *) node)->varattno == search->clock;
	return expression_tree_walker(node, refers_to_clock, search);
}

/*
 * FindDirection returns the direction of an expression and adds its breaks.
 */
static Direction
FindDirection(Node *node, KeySearch *search)
{
	List	   *args = NIL;
	char		kind;

	if (!refers_to_clock(node, search))
		return SAME;
	if (IsA(node, Var))
		return RISES;
	if (IsA(node, RelabelType))
		return FindDirection((Node *) ((RelabelType *) node)->arg, search);
	switch ((kind = ArithmeticOf(node, &args)))
	{
		case '+':
		case '-':
			return DirectionOfSum(linitial(args), lsecond(args), kind == '-',
								  search);
		case '*':
		case '/':
			return DirectionOfProduct(linitial(args), lsecond(args), kind == '/',
									  search);
		case '%':
			return DirectionOfRemainder(linitial(args), lsecond(args), search);
		case 'r':
			return list_length(args) == 1 || IsA(lsecond(args), Const) ?
				FindDirection(linitial(args), search) : NOT_KNOWN;
		default:
			return DirectionOfTime(FindCall(node, &args), args, search);
	}
}

/*
 * ZbxhistFollowsClock says whether a key, an expression of columns of relation varno, is
 * constant between two clocks if it is equal at both and the breaks are, which it adds to
 * a list.
 */
bool
ZbxhistFollowsClock(Node *key, Index varno, AttrNumber clock, List **breaks)
{
	KeySearch	search = {.varno = varno,.clock = clock,.breaks = *breaks};

	if (FindDirection(key, &search) == NOT_KNOWN)
		return false;
	*breaks = search.breaks;
	return true;
}

/* ---- how many ---- */

/*
 * IsOfColumn says whether an expression has this column and no other.
 */
static bool
IsOfColumn(Node *expr, AttrNumber attnum)
{
	List	   *vars = pull_var_clause(expr, 0);
	ListCell   *lc;

	foreach(lc, vars)
	{
		if (lfirst_node(Var, lc)->varattno != attnum)
			return false;
	}
	return vars != NIL;
}

/*
 * FindPeriod returns for about how many seconds an expression of clocks is constant, and
 * sets by how much it rises in a second.
 */
static double
FindPeriod(Node *node, double *slope)
{
	List	   *args = NIL;
	char		kind = ArithmeticOf(node, &args);
	bool		is_constant_first;
	double		constant;
	double		period;

	*slope = 1;
	if (IsA(node, RelabelType))
		return FindPeriod((Node *) ((RelabelType *) node)->arg, slope);
	if (kind == 0 && list_length(args) == 1 && IsNumber(linitial(args)))
		return FindPeriod(linitial(args), slope);
	if (kind == 0)
		return args == NIL ? 1 : USUAL_PERIOD;
	is_constant_first = GetNumber(linitial(args), &constant);
	period = FindPeriod(is_constant_first ? llast(args) : linitial(args), slope);
	if (kind == '*' && (is_constant_first ||
						GetNumber(lsecond(args), &constant)))
		*slope *= constant;
	else if (kind != 'r' && !is_constant_first &&
			 !GetNumber(lsecond(args), &constant))
	{
		double		other;

		/* clock - clock % 300, or a parameter */
		period = Max(period, FindPeriod(lsecond(args), &other));
		if (kind == '/' && IsA(lsecond(args), Param))
			period = Max(period, USUAL_PERIOD);
	}
	else if (kind == '/' && constant != 0)
		*slope /= constant;
	else if (kind == '%')
		period = Max(period, fabs(constant));
	if (*slope != 0 &&
		(kind == 'r' || exprType(node) == INT4OID || exprType(node) == INT8OID))
		period = Max(period, 1 / fabs(*slope));
	return period;
}

/*
 * ZbxhistCountResults estimates how many distinct results an expression of column clock
 * has for a number of clocks; 0 if that is not known.  PostgreSQL assumes as many as
 * clock has.
 */
double
ZbxhistCountResults(Node *expr, AttrNumber clock, double nclocks)
{
	double		slope;

	if (nclocks < 1 || IsA(expr, Var) || !IsOfColumn(expr, clock))
		return 0;
	return 1 + nclocks / FindPeriod(expr, &slope);
}
