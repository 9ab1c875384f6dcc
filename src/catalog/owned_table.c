/*-------------------------------------------------------------------------
 *
 * owned_table.c
 *	  Opens ordinary tables, for their owner.
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
#include "utils/syscache.h"

#include "catalog/owned_table.h"
#include "compat.h"

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
	name = quote_qualified_identifier(get_namespace_name(RelationGetNamespace(child)),
									  RelationGetRelationName(child));
	ereport(ERROR,
			errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			errmsg("table \"%s\" does not belong to the owner of table \"%s\"",
				   RelationGetRelationName(child),
				   RelationGetRelationName(parent)),
			errhint("ALTER TABLE %s OWNER TO %s;", name,
					quote_identifier(owner)),
			errtable(child));
}
