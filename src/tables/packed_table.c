/*-------------------------------------------------------------------------
 *
 * packed_table.c
 *	  Options of foreign tables that stand for packed days.
 *
 * A foreign table that maintenance has made stands for the packed days of the table from
 * which it inherits.  An option of a column that was added later has its value in older
 * days; an option of any other column has its name in packed days.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/reloptions.h"
#include "access/table.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_inherits.h"
#include "commands/defrem.h"
#include "fmgr.h"
#include "foreign/foreign.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/rel.h"

#include "tables/packed_days.h"
#include "tables/packed_table.h"

PG_FUNCTION_INFO_V1(zbxhist_fdw_validator);

/*
 * zbxhist_fdw_validator(options, catalog) raises an error if there is an option
 * that objects of the catalog cannot have.
 */
Datum
zbxhist_fdw_validator(PG_FUNCTION_ARGS)
{
	List	   *options = untransformRelOptions(PG_GETARG_DATUM(0));
	bool		is_column = PG_GETARG_OID(1) == AttributeRelationId;
	ListCell   *lc;

	foreach(lc, options)
	{
		const char *name = lfirst_node(DefElem, lc)->defname;

		if (!is_column || (strcmp(name, FDW_OPTION_MISSING) != 0 &&
						   strcmp(name, ZBXHIST_PACKED_OPTION) != 0))
			ereport(ERROR,
					errcode(ERRCODE_FDW_INVALID_OPTION_NAME),
					errmsg("invalid option \"%s\"", name),
					is_column ?
					errhint("Valid options in this context are: %s, %s",
							FDW_OPTION_MISSING, ZBXHIST_PACKED_OPTION) :
					errhint("There are no valid options in this context."));
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
	Oid			result = ZbxhistInheritedParent(RelationGetRelid(foreign));

	if (!OidIsValid(result))
		ereport(ERROR,
				errcode(ERRCODE_FDW_DYNAMIC_PARAMETER_VALUE_NEEDED),
				errmsg("foreign table \"%s\" does not belong to a managed table",
					   RelationGetRelationName(foreign)),
				errdetail("It inherits from none."),
				errtable(foreign));
	return result;
}

/*
 * ZbxhistColumnOption returns an option of a foreign table's column, or NULL if there is
 * none.
 */
char *
ZbxhistColumnOption(Oid relid, AttrNumber attnum, const char *name)
{
	return ZbxhistFindOption(GetForeignColumnOptions(relid, attnum), name);
}
