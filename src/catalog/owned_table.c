/*-------------------------------------------------------------------------
 *
 * owned_table.c
 *	  Opens a table for its owner.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "catalog/objectaddress.h"
#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/rel.h"

#include "compat.h"
#include "catalog/owned_table.h"

/*
 * ZbxhistOpenOwnedTable opens and locks a table for its owner; the lock lasts
 * until the transaction ends.
 */
Relation
ZbxhistOpenOwnedTable(Oid relid, LOCKMODE lockmode)
{
	Relation	rel;

	if (!owns_relation(relid, GetUserId()))
		aclcheck_error(ACLCHECK_NOT_OWNER,
					   get_relkind_objtype(get_rel_relkind(relid)),
					   get_rel_name(relid));
	rel = try_table_open(relid, lockmode);
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
