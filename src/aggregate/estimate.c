/*-------------------------------------------------------------------------
 *
 * estimate.c
 *	  How many groups there will be.
 *
 * PostgreSQL takes an expression of clock to have as many values as clock has.
 * Here it is looked at what the expression divides by and rounds, so that
 * there are as many groups as hours, or whatever it makes of clocks, between
 * the clocks that are asked for.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

#include "aggregate/clock_keys.h"
#include "aggregate/estimate.h"

/* seconds that something has the same result that is not known here */
#define USUAL_PERIOD 60

/* what an expression makes of clocks */
typedef struct Steps
{
	double		slope;			/* how much it rises in a second, about */
	double		period;			/* how many seconds it stays the same */
} Steps;

static void FindSteps(Node *node, Steps *steps);

/*
 * Round says that the result is an integer.
 */
static void
Round(Steps *steps)
{
	if (steps->slope != 0)
		steps->period = Max(steps->period, 1 / fabs(steps->slope));
}

/*
 * IsInteger says whether a value is one.
 */
static bool
IsInteger(Node *node)
{
	Oid			type = exprType(node);

	return type == INT4OID || type == INT8OID;
}

/*
 * FindStepsOfTwo handles functions of two expressions.
 */
static void
FindStepsOfTwo(Oid function, Node *left, Node *right, Steps *steps)
{
	const char *name = get_func_name(function);
	double		constant;

	FindSteps(left, steps);
	if (ZbxhistGetNumber(left, &constant))
	{
		FindSteps(right, steps);
		if (strstr(name, "mul") != NULL)
			steps->slope *= constant;
	}
	else if (!ZbxhistGetNumber(right, &constant) || constant == 0)
	{
		Steps		other;

		FindSteps(right, &other);
		/* clock - clock % 300, or a parameter */
		steps->period = Max(steps->period, other.period);
		if (IsA(right, Param) && strstr(name, "div") != NULL)
			steps->period = Max(steps->period, USUAL_PERIOD);
	}
	else if (strstr(name, "mul") != NULL)
		steps->slope *= constant;
	else if (strstr(name, "div") != NULL)
		steps->slope /= constant;
	else if (strstr(name, "mod") != NULL)
		steps->period = Max(steps->period, fabs(constant));
}

/*
 * FindSteps says what an expression makes of clocks.
 */
static void
FindSteps(Node *node, Steps *steps)
{
	List	   *args = NIL;
	Oid			function = ZbxhistCallOf(node, &args);

	steps->slope = 1;
	steps->period = 1;
	if (IsA(node, RelabelType))
	{
		FindSteps((Node *) ((RelabelType *) node)->arg, steps);
		return;
	}
	if (list_length(args) == 0)
		return;
	switch (exprType(linitial(args)))
	{
		case INT4OID:
		case INT8OID:
		case FLOAT8OID:
		case NUMERICOID:
			if (list_length(args) == 1 || function == F_ROUND_NUMERIC_INT4 ||
				function == F_TRUNC_NUMERIC_INT4)
				FindSteps(linitial(args), steps);
			else
				FindStepsOfTwo(function, linitial(args), lsecond(args), steps);
			break;
		default:
			steps->period = USUAL_PERIOD;
			break;
	}
	if (IsInteger(node) || function == F_ROUND_NUMERIC_INT4 ||
		function == F_TRUNC_NUMERIC_INT4 || function == F_FLOOR_NUMERIC ||
		function == F_ROUND_NUMERIC || function == F_FLOOR_FLOAT8 ||
		function == F_TRUNC_NUMERIC || function == F_CEIL_NUMERIC)
		Round(steps);
}

/*
 * ZbxhistIsOfColumn says whether an expression has this column and no other.
 */
bool
ZbxhistIsOfColumn(Node *expr, AttrNumber attnum)
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
 * ZbxhistCountResults returns how many results an expression of column clock has for
 * so many clocks; 0 if it is none that something is known of.
 */
double
ZbxhistCountResults(Node *expr, AttrNumber clock, double nclocks)
{
	Steps		steps;

	if (nclocks < 1 || IsA(expr, Var) || !ZbxhistIsOfColumn(expr, clock))
		return 0;
	FindSteps(expr, &steps);
	return 1 + nclocks / steps.period;
}
