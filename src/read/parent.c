/*-------------------------------------------------------------------------
 *
 * parent.c
 *	  Opens a parent for a function that reads or changes its rows, if the
 *	  role that calls it could do the same by a plain statement.
 *
 * The privileges that count are those on the parent, see privileges.c.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/relation.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "catalog/partition_set.h"
#include "catalog/privileges.h"
#include "catalog/triggers.h"
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
	set = ZbxhistGetPartitions(rel);
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
	ZbxhistCheckPrivileges(rel, privileges);
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
