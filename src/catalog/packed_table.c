/*-------------------------------------------------------------------------
 *
 * packed_table.c
 *	  Options of foreign tables that stand for packed days.
 *
 * A foreign table that maintenance has made needs none: it has the packed
 * days of the table that it inherits from.  One that is made by hand may name
 * that table, with its schema: else each reader's search_path would choose.  A
 * column that was added after days had been packed says what
 * those have in it; one that days have been packed with says so.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/reloptions.h"
#include "access/table.h"
#include "catalog/namespace.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_foreign_table.h"
#include "catalog/pg_inherits.h"
#include "commands/defrem.h"
#include "fmgr.h"
#include "foreign/foreign.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/rel.h"
#include "utils/varlena.h"

#include "catalog/packed_days.h"
#include "catalog/packed_table.h"

PG_FUNCTION_INFO_V1(zbxhist_fdw_validator);

/*
 * IsKnownOption says whether objects of a catalog may have an option.
 */
static bool
IsKnownOption(const char *name, Oid catalog)
{
	if (catalog == ForeignTableRelationId)
		return strcmp(name, FDW_OPTION_PARENT) == 0;
	if (catalog == AttributeRelationId)
		return strcmp(name, FDW_OPTION_MISSING) == 0 ||
			strcmp(name, ZBXHIST_PACKED_OPTION) == 0;
	return false;
}

/*
 * ParseTableName returns the table that a value of the option "parent" names,
 * NULL unless it is schema.table, in one schema for all sessions.
 */
static RangeVar *
ParseTableName(const char *value)
{
	List	   *names = textToQualifiedNameList(cstring_to_text(value));

	if (list_length(names) != 2 ||
		strcmp(strVal(linitial(names)), "pg_temp") == 0)
		return NULL;
	return makeRangeVarFromNameList(names);
}

/*
 * RaiseNotQualified raises the error for a value of the option "parent".
 */
static void
RaiseNotQualified(const char *value)
{
	ereport(ERROR,
			errcode(ERRCODE_FDW_INVALID_ATTRIBUTE_VALUE),
			errmsg("invalid value for option \"%s\": \"%s\"",
				   FDW_OPTION_PARENT, value),
			errhint("Name the table with its schema: parent 'schema.table'."));
}

/*
 * zbxhist_fdw_validator(options, catalog) raises an error if there is an option
 * that objects of the catalog cannot have, or a parent that depends on the user
 * who looks for it.
 */
Datum
zbxhist_fdw_validator(PG_FUNCTION_ARGS)
{
	List	   *options = untransformRelOptions(PG_GETARG_DATUM(0));
	Oid			catalog = PG_GETARG_OID(1);
	ListCell   *lc;

	foreach(lc, options)
	{
		DefElem    *def = lfirst(lc);

		if (!IsKnownOption(def->defname, catalog))
			ereport(ERROR,
					errcode(ERRCODE_FDW_INVALID_OPTION_NAME),
					errmsg("invalid option \"%s\"", def->defname),
					catalog == ForeignTableRelationId ?
					errhint("Valid options in this context are: %s",
							FDW_OPTION_PARENT) :
					catalog == AttributeRelationId ?
					errhint("Valid options in this context are: %s, %s",
							FDW_OPTION_MISSING, ZBXHIST_PACKED_OPTION) :
					errhint("There are no valid options in this context."));
		if (catalog == ForeignTableRelationId &&
			ParseTableName(defGetString(def)) == NULL)
			RaiseNotQualified(defGetString(def));
	}
	PG_RETURN_VOID();
}

/*
 * ZbxhistInheritedParent returns the table that relid inherits from, InvalidOid if
 * there is none.
 */
Oid
ZbxhistInheritedParent(Oid relid)
{
	Relation	catalog = table_open(InheritsRelationId, AccessShareLock);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;
	Oid			result = InvalidOid;

	ScanKeyInit(&key, Anum_pg_inherits_inhrelid, BTEqualStrategyNumber,
				F_OIDEQ, ObjectIdGetDatum(relid));
	scan = systable_beginscan(catalog, InheritsRelidSeqnoIndexId, true, NULL,
							  1, &key);
	tuple = systable_getnext(scan);
	if (HeapTupleIsValid(tuple))
		result = ((Form_pg_inherits) GETSTRUCT(tuple))->inhparent;
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
	return result;
}

/*
 * ZbxhistForeignParent returns the table whose packed days a foreign table
 * stands for.
 */
Oid
ZbxhistForeignParent(Relation foreign)
{
	ForeignTable *table = GetForeignTable(RelationGetRelid(foreign));
	char	   *name = ZbxhistFindOption(table->options, FDW_OPTION_PARENT);
	Oid			result;

	if (name != NULL)
	{
		RangeVar   *parent = ParseTableName(name);

		/* from before that was asked for */
		if (parent == NULL)
			RaiseNotQualified(name);
		return RangeVarGetRelid(parent, NoLock, false);
	}
	result = ZbxhistInheritedParent(RelationGetRelid(foreign));
	if (!OidIsValid(result))
		ereport(ERROR,
				errcode(ERRCODE_FDW_DYNAMIC_PARAMETER_VALUE_NEEDED),
				errmsg("foreign table \"%s\" does not belong to a managed table",
					   RelationGetRelationName(foreign)),
				errhint("Name the table in its option \"%s\".",
						FDW_OPTION_PARENT),
				errtable(foreign));
	return result;
}

/*
 * ZbxhistMissingOption returns what a column of a foreign table is in days
 * that lack it, as text, or NULL if nothing is said.
 */
char *
ZbxhistMissingOption(Oid relid, AttrNumber attnum)
{
	return ZbxhistFindOption(GetForeignColumnOptions(relid, attnum),
							 FDW_OPTION_MISSING);
}
