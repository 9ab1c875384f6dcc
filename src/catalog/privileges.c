/*-------------------------------------------------------------------------
 *
 * privileges.c
 *	  Whether the current user may do by a function what a plain statement
 *	  would do to all rows of a table.
 *
 * Only privileges on that table count, as for a statement on it, and none on
 * its partitions.  Policies cannot be applied to what goes past the executor,
 * so where they would be there is an error.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/objectaddress.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/rel.h"
#include "utils/rls.h"

#include "catalog/privileges.h"

/*
 * HasPrivilege says whether the user has a privilege on the whole table or on
 * each of its columns.
 */
static bool
HasPrivilege(Oid relid, AclMode privilege)
{
	return pg_class_aclcheck(relid, GetUserId(), privilege) == ACLCHECK_OK ||
		(privilege != ACL_DELETE &&
		 pg_attribute_aclcheck_all(relid, GetUserId(), privilege,
								   ACLMASK_ALL) == ACLCHECK_OK);
}

/*
 * ZbxhistCheckPrivileges raises an error unless the user may do each of the things
 * in privileges to all rows.
 */
void
ZbxhistCheckPrivileges(Relation rel, AclMode privileges)
{
	Oid			relid = RelationGetRelid(rel);
	static const AclMode known[] =
	{ACL_SELECT, ACL_INSERT, ACL_UPDATE, ACL_DELETE};

	for (int i = 0; i < lengthof(known); i++)
	{
		if ((privileges & known[i]) != 0 && !HasPrivilege(relid, known[i]))
			aclcheck_error(ACLCHECK_NO_PRIV,
						   get_relkind_objtype(rel->rd_rel->relkind),
						   RelationGetRelationName(rel));
	}
	if (check_enable_rls(relid, InvalidOid, true) == RLS_ENABLED)
		ereport(ERROR,
				errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				errmsg("function cannot be used on table \"%s\" because row security applies to role \"%s\"",
					   RelationGetRelationName(rel),
					   GetUserNameFromId(GetUserId(), false)),
				errhint("Use SELECT, INSERT or DELETE, which apply the policies."),
				errtable(rel));
}
