/*-------------------------------------------------------------------------
 *
 * literal.h
 *	  Constants, parameters and casts of them: what can be evaluated without
 *	  planning.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_LITERAL_H
#define ZBXHIST_LITERAL_H

#include "fmgr.h"
#include "nodes/execnodes.h"

/* more different casts in one statement than this are looked up again */
#define MAX_LITERAL_CASTS 8

/* a cast function that the statement's user may execute */
typedef struct LiteralCast
{
	Oid			funcid;
	FmgrInfo	flinfo;
} LiteralCast;

/* what evaluation needs; lives as long as the statement */
typedef struct LiteralState
{
	PlanState  *parent;
	ExprContext *econtext;		/* of parent */
	int			ncasts;
	LiteralCast casts[MAX_LITERAL_CASTS];
} LiteralState;

extern bool ZbxhistIsLiteral(const Node *expr);
extern void ZbxhistInitLiterals(LiteralState *state, PlanState *parent);
extern Datum ZbxhistEvalLiteral(LiteralState *state, Node *expr, bool *isnull);

#endif							/* ZBXHIST_LITERAL_H */
