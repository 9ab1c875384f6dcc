/*-------------------------------------------------------------------------
 *
 * literal.c
 *	  Recognises and evaluates literals as parse analysis leaves them.
 *
 * A literal is a constant, a parameter of the statement, or a cast of one by an immutable
 * function of PostgreSQL's own: parse analysis turns 5 for a bigint column into int8(5).
 * The planner would fold such a cast by building an executor for it.  Here the function
 * is called directly, or, for a double, its work is done here.  Rare kinds are evaluated
 * by the executor.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/transam.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_proc.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

#include "compat.h"
#include "ingest/literal.h"
#include "ingest/numeric_double.h"

/* casts take the value, a type modifier and whether they are explicit */
#define MAX_CAST_ARGS 3

/* how many functions are remembered as casts */
#define MAX_KNOWN_CASTS 32

static Oid	known_casts[MAX_KNOWN_CASTS];
static int	nknown_casts = 0;

/* ---- recognising ---- */

/*
 * IsSafeFunction says whether a function is PostgreSQL's own and immutable.
 * This does not change, so it is remembered for the session.
 */
static bool
IsSafeFunction(Oid funcid)
{
	if (funcid >= FirstUnpinnedObjectId)
		return false;
	for (int i = 0; i < nknown_casts; i++)
	{
		if (known_casts[i] == funcid)
			return true;
	}
	if (func_volatile(funcid) != PROVOLATILE_IMMUTABLE)
		return false;
	if (nknown_casts < MAX_KNOWN_CASTS)
		known_casts[nknown_casts++] = funcid;
	return true;
}

/*
 * IsCast says whether a function call is a cast that we can make.
 */
static bool
IsCast(const FuncExpr *func)
{
	ListCell   *lc;

	if ((func->funcformat != COERCE_IMPLICIT_CAST &&
		 func->funcformat != COERCE_EXPLICIT_CAST) ||
		func->funcretset || func->funcvariadic ||
		list_length(func->args) > MAX_CAST_ARGS ||
		!IsSafeFunction(func->funcid))
		return false;
	foreach(lc, func->args)
	{
		if (!ZbxhistIsLiteral(lfirst(lc)))
			return false;
	}
	return true;
}

/*
 * IsCastByText says whether a cast by way of the text form is between types
 * of PostgreSQL's own, whose functions have no side effects.
 */
static bool
IsCastByText(const CoerceViaIO *cast)
{
	return cast->resulttype < FirstUnpinnedObjectId &&
		exprType((Node *) cast->arg) < FirstUnpinnedObjectId &&
		ZbxhistIsLiteral((Node *) cast->arg);
}

/*
 * ZbxhistIsLiteral says whether ZbxhistEvalLiteral can evaluate expr.
 */
bool
ZbxhistIsLiteral(const Node *expr)
{
	if (IsA(expr, Const))
		return true;

	check_stack_depth();
	switch (nodeTag(expr))
	{
		case T_Param:
			return ((const Param *) expr)->paramkind == PARAM_EXTERN;
		case T_FuncExpr:
			return IsCast((const FuncExpr *) expr);
		case T_RelabelType:
			return ZbxhistIsLiteral((Node *) ((const RelabelType *) expr)->arg);
		case T_CoerceViaIO:
			return IsCastByText((const CoerceViaIO *) expr);
		default:
			return false;
	}
}

/* ---- evaluating ---- */

/*
 * ZbxhistInitLiterals prepares the evaluation of literals for a plan node
 * that has an expression context.
 */
void
ZbxhistInitLiterals(LiteralState *state, PlanState *parent)
{
	state->parent = parent;
	state->econtext = parent->ps_ExprContext;
	state->ncasts = 0;
}

/*
 * GetCast returns the entry of a cast function, or NULL if there are too many.
 * As in the executor, the user of the statement must have the right to execute
 * it.
 */
static LiteralCast *
GetCast(LiteralState *state, const FuncExpr *func)
{
	LiteralCast *cast;

	for (int i = 0; i < state->ncasts; i++)
	{
		if (state->casts[i].funcid == func->funcid)
			return &state->casts[i];
	}
	if (state->ncasts == MAX_LITERAL_CASTS)
		return NULL;

	check_function_execute(func->funcid);
	InvokeFunctionExecuteHook(func->funcid);

	cast = &state->casts[state->ncasts++];
	cast->funcid = func->funcid;
	fmgr_info_cxt(func->funcid, &cast->flinfo,
				  state->econtext->ecxt_per_query_memory);
	return cast;
}

/*
 * CallCast calls a cast function.
 */
static Datum
CallCast(LiteralState *state, const FuncExpr *func, LiteralCast *cast,
		 bool *isnull)
{
	LOCAL_FCINFO(fcinfo, MAX_CAST_ARGS);
	Datum		result;
	FmgrInfo   *flinfo = &cast->flinfo;
	int			nargs = 0;
	ListCell   *lc;

	InitFunctionCallInfoData(*fcinfo, flinfo, list_length(func->args),
							 func->inputcollid, NULL, NULL);
	foreach(lc, func->args)
	{
		NullableDatum *arg = &fcinfo->args[nargs++];

		arg->value = ZbxhistEvalLiteral(state, lfirst(lc), &arg->isnull);
		if (arg->isnull && flinfo->fn_strict)
		{
			*isnull = true;
			return (Datum) 0;
		}
	}
	result = FunctionCallInvoke(fcinfo);
	*isnull = fcinfo->isnull;
	return result;
}

/*
 * EvalByExecutor evaluates any expression as the executor does.
 */
static Datum
EvalByExecutor(LiteralState *state, Node *expr, bool *isnull)
{
	ExprState  *exprstate = ExecInitExpr((Expr *) expr, state->parent);

	return ExecEvalExpr(exprstate, state->econtext, isnull);
}

/*
 * EvalCast evaluates a cast.
 */
static Datum
EvalCast(LiteralState *state, FuncExpr *func, bool *isnull)
{
	LiteralCast *cast = GetCast(state, func);
	Datum		value;

	if (cast == NULL)
		return EvalByExecutor(state, (Node *) func, isnull);
	if (cast->funcid != F_FLOAT8_NUMERIC)
		return CallCast(state, func, cast, isnull);

	value = ZbxhistEvalLiteral(state, linitial(func->args), isnull);
	return *isnull ? (Datum) 0 : ZbxhistNumericToFloat8(value);
}

/*
 * ZbxhistEvalLiteral evaluates what ZbxhistIsLiteral accepts.  The result may
 * be part of the expression, or is in the current memory context.
 */
Datum
ZbxhistEvalLiteral(LiteralState *state, Node *expr, bool *isnull)
{
	switch (nodeTag(expr))
	{
		case T_Const:
			*isnull = ((Const *) expr)->constisnull;
			return ((Const *) expr)->constvalue;
		case T_FuncExpr:
			return EvalCast(state, (FuncExpr *) expr, isnull);
		case T_RelabelType:
			return ZbxhistEvalLiteral(state,
									  (Node *) ((RelabelType *) expr)->arg,
									  isnull);
		default:
			return EvalByExecutor(state, expr, isnull);
	}
}
