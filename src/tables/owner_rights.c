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
 * ZbxhistTakeOwnerRights switches to the rights of owner, until ZbxhistGiveBackRights.
 * If the user is the owner, and not only by SET ROLE, nothing is switched: there are no
 * other rights to protect.  The caller has made sure that the user may act as the owner,
 * or that what is run does only what the user may do anyway.
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
 * ZbxhistGiveBackRights returns to the rights from before ZbxhistTakeOwnerRights, and
 * undoes settings that the owner's code has changed.
 */
void
ZbxhistGiveBackRights(const OwnerRights *before)
{
	AtEOXact_GUC(false, before->nest_level);
	SetUserIdAndSecContext(before->user, before->sec_context);
}

/* ---- does an expression run code of users? ---- */

/*
 * ZbxhistIsBuiltInType says whether a type comes with PostgreSQL.  Such a type has no
 * constraints, and its functions are PostgreSQL's code.
 */
bool
ZbxhistIsBuiltInType(Oid type)
{
	return type < FirstNormalObjectId;
}

/*
 * is_foreign_function says whether a function does not come with PostgreSQL.
 */
static bool
is_foreign_function(Oid funcid, void *context)
{
	return funcid >= FirstNormalObjectId;
}

/*
 * has_foreign_code is a walker that looks for a function or a result type in a cast that
 * does not come with PostgreSQL.  Kinds of nodes that no cast has count as foreign code,
 * too.
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
 * ZbxhistIsBuiltInExpr says whether an expression runs PostgreSQL's code only.
 */
bool
ZbxhistIsBuiltInExpr(Node *expr)
{
	return !has_foreign_code(expr, NULL);
}
