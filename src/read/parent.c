/*-------------------------------------------------------------------------
 *
 * parent.c
 *	  Arguments of the functions that read or change rows: opens a parent, if the calling role could do the same by a plain statement; checks words and limits.
 *
 * Privileges are needed on the parent only, see owned_table.c.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/relation.h"
#include "catalog/pg_class.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "compat.h"
#include "ingest/batch.h"
#include "read/parent.h"
#include "tables/owned_table.h"
#include "tables/partition_set.h"
#include "tables/triggers.h"

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
					quote_literal_cstr(ZbxhistQualifiedName(RelationGetRelid(rel)))),
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

/* ---- words and limits ---- */

/*
 * RaiseUnrecognized raises the error for a word that is not among words.
 */
static void
RaiseUnrecognized(const char *word, const char *name, const char *const *words)
{
	StringInfoData known;

	initStringInfo(&known);
	for (int i = 0; words[i] != NULL; i++)
		appendStringInfo(&known, "%s\"%s\"", i == 0 ? "" : ", ", words[i]);
	ereport(ERROR,
			errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			errmsg("unrecognized value for argument \"%s\": \"%s\"", name,
				   word),
			errhint("Valid values are %s.", known.data));
}

/*
 * ZbxhistGetWord returns which of words, ended by NULL, an argument of type
 * text is.
 */
int
ZbxhistGetWord(FunctionCallInfo fcinfo, int argument, const char *name,
			   const char *const *words)
{
	char	   *word;

	if (PG_ARGISNULL(argument))
		ereport(ERROR,
				errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				errmsg("argument \"%s\" must not be null", name));
	word = text_to_cstring(PG_GETARG_TEXT_PP(argument));
	for (int i = 0; words[i] != NULL; i++)
	{
		if (strcmp(word, words[i]) == 0)
			return i;
	}
	RaiseUnrecognized(word, name, words);
	return -1;
}

/*
 * ZbxhistToLimit returns the highest number of rows, or whatever the argument
 * called name limits, where null means as many as there are.
 */
uint64
ZbxhistToLimit(const char *name, bool isnull, int64 value)
{
	if (isnull)
		return PG_UINT64_MAX;
	if (value < 0)
		ereport(ERROR,
				errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("argument \"%s\" must not be negative", name));
	return (uint64) value;
}
