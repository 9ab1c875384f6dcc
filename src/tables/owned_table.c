/*-------------------------------------------------------------------------
 *
 * owned_table.c
 *	  Opens ordinary tables, for their owner, and says whether the current user may
 *	  do by a function what a plain statement would do to all rows of a table.
 *
 * Only privileges on that table are needed, as for a statement on it, and none on its
 * partitions.  Row security cannot be applied without the executor, so if it would apply,
 * there is an error.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/relation.h"
#include "catalog/objectaddress.h"
#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/rls.h"
#include "utils/syscache.h"

#include "compat.h"
#include "tables/owned_table.h"

/*
 * ZbxhistQualifiedName returns the quoted name of a relation with its schema;
 * NULL if it is gone.
 */
char *
ZbxhistQualifiedName(Oid relid)
{
	char	   *name = get_rel_name(relid);

	return name == NULL ? NULL :
		quote_qualified_identifier(get_namespace_name(get_rel_namespace(relid)),
								   name);
}

/*
 * ZbxhistRequireOwner raises an error unless the user owns a relation that
 * exists.
 */
void
ZbxhistRequireOwner(Oid relid)
{
	if (!SearchSysCacheExists1(RELOID, ObjectIdGetDatum(relid)))
		ereport(ERROR,
				errcode(ERRCODE_UNDEFINED_TABLE),
				errmsg("relation with OID %u does not exist", relid));
	if (!owns_relation(relid, GetUserId()))
		aclcheck_error(ACLCHECK_NOT_OWNER,
					   get_relkind_objtype(get_rel_relkind(relid)),
					   get_rel_name(relid));
}

/*
 * ZbxhistOpenPlainTable opens and locks what must be an ordinary table; the
 * lock lasts until the transaction ends.
 */
Relation
ZbxhistOpenPlainTable(Oid relid, LOCKMODE lockmode)
{
	Relation	rel = try_relation_open(relid, lockmode);

	if (rel == NULL)
		ereport(ERROR,
				errcode(ERRCODE_UNDEFINED_TABLE),
				errmsg("relation with OID %u does not exist", relid));
	if (rel->rd_rel->relkind != RELKIND_RELATION)
		ereport(ERROR,
				errcode(ERRCODE_WRONG_OBJECT_TYPE),
				errmsg("\"%s\" is not a table", RelationGetRelationName(rel)),
				errtable(rel));
	return rel;
}

/*
 * ZbxhistOpenOwnedTable does so for the owner of the table.
 */
Relation
ZbxhistOpenOwnedTable(Oid relid, LOCKMODE lockmode)
{
	ZbxhistRequireOwner(relid);
	return ZbxhistOpenPlainTable(relid, lockmode);
}

/*
 * ZbxhistRequireSameOwner raises an error unless a child, between which and its
 * parent rows are moved, belongs to the same role.  It inherits the parent's
 * constraints, so the owner of the one would run code of the other's.
 */
void
ZbxhistRequireSameOwner(Relation parent, Relation child)
{
	const char *owner;
	const char *name;

	if (parent->rd_rel->relowner == child->rd_rel->relowner)
		return;
	owner = GetUserNameFromId(parent->rd_rel->relowner, false);
	name = ZbxhistQualifiedName(RelationGetRelid(child));
	ereport(ERROR,
			errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			errmsg("table \"%s\" does not belong to the owner of table \"%s\"",
				   RelationGetRelationName(child),
				   RelationGetRelationName(parent)),
			errhint("ALTER TABLE %s OWNER TO %s;", name,
					quote_identifier(owner)),
			errtable(child));
}

/* ---- privileges ---- */

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
