/*-------------------------------------------------------------------------
 *
 * owner_rights.c
 *	  Runs what may be a table owner's code with the rights of that owner.
 *
 * Expressions of indexes, constraints, triggers, policies, casts and domains of a table
 * are code of its owner.  Users who maintain the table, maybe superusers, or read it must
 * not run that code with their own rights.  So we do as VACUUM and CREATE INDEX do: the
 * code runs with the owner's user id, in a security-restricted operation, from which
 * there is no way back to the session's user, and with a search_path of safe schemas.
 *
 * An error gives the rights back: the (sub)transaction that is aborted
 * restores the user, and the settings of the nest level.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/transam.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/guc.h"

#include "compat.h"
#include "tables/owner_rights.h"

/*
 * ZbxhistTakeOwnerRights goes on as owner, until ZbxhistGiveBackRights.  A user
 * who is nobody else, not even by SET ROLE, has no rights to hide: the owner's
 * code may do what it does when the owner runs it.  The caller has made sure
 * that the user may act as the owner, or that what is run does only what the
 * user may do anyway.
 */
void
ZbxhistTakeOwnerRights(OwnerRights *before, Oid owner)
{
	int			context;

	GetUserIdAndSecContext(&before->user, &before->sec_context);
	context = before->sec_context;
	if (owner != before->user || owner != GetSessionUserId() ||
		owner != GetAuthenticatedUserId())
		context |= SECURITY_RESTRICTED_OPERATION;
	SetUserIdAndSecContext(owner, context);
	before->nest_level = NewGUCNestLevel();
	restrict_search_path();
}

/*
 * ZbxhistGiveBackRights is the end of ZbxhistTakeOwnerRights: what the owner's
 * code has set is undone.
 */
void
ZbxhistGiveBackRights(const OwnerRights *before)
{
	AtEOXact_GUC(false, before->nest_level);
	SetUserIdAndSecContext(before->user, before->sec_context);
}

/* ---- whose code an expression is ---- */

/*
 * ZbxhistIsBuiltInType says whether a type comes with PostgreSQL, so that its
 * functions, and there are no constraints, are code of nobody else.
 */
bool
ZbxhistIsBuiltInType(Oid type)
{
	return type < FirstNormalObjectId;
}

/*
 * is_foreign_function says whether a function did not come with PostgreSQL.
 */
static bool
is_foreign_function(Oid funcid, void *context)
{
	return funcid >= FirstNormalObjectId;
}

/*
 * has_foreign_code looks for a part of a cast that is done by a function, or
 * makes a type, that did not come with PostgreSQL.  What is not a part of
 * casts may be anything.
 */
static bool
has_foreign_code(Node *node, void *context)
{
	if (node == NULL)
		return false;
	switch (nodeTag(node))
	{
		case T_CaseTestExpr:
		case T_Const:
		case T_FuncExpr:
		case T_RelabelType:
		case T_CoerceViaIO:
		case T_ArrayCoerceExpr:
			break;
		default:
			return true;
	}
	return check_functions_in_node(node, is_foreign_function, context) ||
		!ZbxhistIsBuiltInType(exprType(node)) ||
		expression_tree_walker(node, has_foreign_code, context);
}

/*
 * ZbxhistIsBuiltInExpr says whether an expression runs nobody's code.
 */
bool
ZbxhistIsBuiltInExpr(Node *expr)
{
	return !has_foreign_code(expr, NULL);
}
