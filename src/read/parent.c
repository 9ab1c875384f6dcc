/*-------------------------------------------------------------------------
 *
 * parent.c
 *	  Opens a parent for a function that reads or changes its rows, if the
 *	  role that calls it could do the same by a plain statement.
 *
 * The privileges that count are those on the parent, as for a statement on
 * it; partitions' own are not asked for.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/relation.h"
#include "catalog/objectaddress.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/rls.h"

#include "catalog/partition_set.h"
#include "compat.h"
#include "ingest/batch.h"
#include "read/parent.h"

/*
 * ZbxhistQualifiedName returns the quoted name of a table with its schema.
 */
char *
ZbxhistQualifiedName(Relation rel)
{
	return quote_qualified_identifier(get_namespace_name(RelationGetNamespace(rel)),
									  RelationGetRelationName(rel));
}

/*
 * RaiseUnmanaged raises the error for a table that is not a parent.
 */
static void
RaiseUnmanaged(Relation rel)
{
	PartitionBounds bounds;
	bool		is_partition = ZbxhistReadBounds(RelationGetRelid(rel),
												 &bounds);

	ereport(ERROR,
			errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
			errmsg("table \"%s\" is not managed by zbxhist",
				   RelationGetRelationName(rel)),
			is_partition ?
			errhint("It is a partition.  Pass its parent.") :
			rel->rd_rel->relkind != RELKIND_RELATION ? 0 :
			errhint("SELECT zbxhist.create_parent(%s);",
					quote_literal_cstr(ZbxhistQualifiedName(rel))),
			errtable(rel));
}

/*
 * CheckManaged raises 42P17 unless rel is a parent with columns to read by.
 */
static void
CheckManaged(Relation rel)
{
	PartitionSet *set;

	if (rel->rd_rel->relkind != RELKIND_RELATION || !ZbxhistHasRouteTrigger(rel))
		RaiseUnmanaged(rel);
	set = ZbxhistGetPartitionSet(rel);
	if (set->itemid_attnum == InvalidAttrNumber ||
		set->clock_attnum == InvalidAttrNumber ||
		has_virtual_columns(RelationGetDescr(rel)->constr))
		ereport(ERROR,
				errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
				errmsg("table \"%s\" cannot be read by item and clock",
					   RelationGetRelationName(rel)),
				errdetail("It needs stored columns \"itemid\" of type bigint and \"clock\" of type integer."),
				errtable(rel));
}

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
 * CheckPrivileges raises an error unless the user may do each of the things
 * in privileges to all rows.
 */
static void
CheckPrivileges(Relation rel, AclMode privileges)
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

/*
 * ZbxhistOpenParent locks and opens a parent, checks that the user has the
 * privileges on it, and writes what statements in progress have buffered, so
 * that it is seen.  Partitions that came up to now are known on return.
 */
Relation
ZbxhistOpenParent(Oid relid, LOCKMODE lockmode, AclMode privileges)
{
	Relation	rel = try_relation_open(relid, lockmode);

	if (rel == NULL)
		ereport(ERROR,
				errcode(ERRCODE_UNDEFINED_TABLE),
				errmsg("relation with OID %u does not exist", relid));
	AcceptInvalidationMessages();
	CheckManaged(rel);
	CheckPrivileges(rel, privileges);
	ZbxhistFlushForNestedQuery();
	return rel;
}

/*
 * ZbxhistRowTypeParent returns the table whose row type the function's first
 * argument has.
 */
Oid
ZbxhistRowTypeParent(FunctionCallInfo fcinfo)
{
	Oid			type = get_fn_expr_argtype(fcinfo->flinfo, 0);
	Oid			relid = OidIsValid(type) ? get_typ_typrelid(type) : InvalidOid;

	if (!OidIsValid(relid) || get_rel_relkind(relid) != RELKIND_RELATION)
		ereport(ERROR,
				errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
				errmsg("type %s is not the row type of a table",
					   OidIsValid(type) ? format_type_be(type) : "unknown"),
				errhint("Pass the managed table as NULL::history."));
	return relid;
}

/*
 * ZbxhistFindColumn returns the number of a parent's column, or 0.
 */
AttrNumber
ZbxhistFindColumn(Relation parent, const char *name)
{
	AttrNumber	attnum = get_attnum(RelationGetRelid(parent), name);

	return attnum > 0 ? attnum : InvalidAttrNumber;
}
