/*-------------------------------------------------------------------------
 *
 * missing_value.c
 *	  What columns that came after a day was packed are in its rows.
 *
 * That is the value that ADD COLUMN gave to the rows of that time: the column
 * option "missing" of the foreign table, or what the catalog keeps for the
 * parent.  Where neither is there it is null, unless the column has a default:
 * one that ADD COLUMN filled in is forgotten when the table is rewritten.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_class.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "catalog/owner_rights.h"
#include "catalog/packed_table.h"
#include "catalog/partition_set.h"
#include "packed/values/missing_value.h"

/*
 * FindForeignColumn sets attnum to the foreign table's column that is the
 * table's column att, 0 if there is none; returns the foreign table.
 */
static Oid
FindForeignColumn(Relation table, Form_pg_attribute att, AttrNumber *attnum)
{
	Oid			foreign = RelationGetRelid(table);

	*attnum = att->attnum;
	if (table->rd_rel->relkind == RELKIND_FOREIGN_TABLE)
		return foreign;
	foreign = ZbxhistGetPartitions(table)->packed;
	*attnum = OidIsValid(foreign) ?
		get_attnum(foreign, NameStr(att->attname)) : InvalidAttrNumber;
	return foreign;
}

/*
 * GetOption sets value to that of the column option "missing"; returns false
 * if the foreign table's column does not have it.
 */
static bool
GetOption(Relation table, Form_pg_attribute att, Datum *value)
{
	AttrNumber	attnum;
	Oid			foreign = FindForeignColumn(table, att, &attnum);
	char	   *text;
	Oid			input;
	Oid			param;
	bool		is_built_in = ZbxhistIsBuiltInType(att->atttypid);
	OwnerRights before;

	if (attnum == InvalidAttrNumber ||
		(text = ZbxhistMissingOption(foreign, attnum)) == NULL)
		return false;
	getTypeInputInfo(att->atttypid, &input, &param);
	/* of a domain, that checks its constraints */
	if (!is_built_in)
		ZbxhistTakeOwnerRights(&before, table->rd_rel->relowner);
	*value = OidInputFunctionCall(input, text, param, att->atttypmod);
	if (!is_built_in)
		ZbxhistGiveBackRights(&before);
	return true;
}

/*
 * GetStored sets value to the one that the catalog keeps for rows from before
 * the column came; returns false if there is none.
 */
static bool
GetStored(Relation table, Form_pg_attribute att, Datum *value)
{
	Relation	parent = table;
	AttrNumber	attnum = att->attnum;
	bool		isnull = true;

	if (table->rd_rel->relkind == RELKIND_FOREIGN_TABLE)
	{
		parent = table_open(ZbxhistForeignParent(table), AccessShareLock);
		attnum = get_attnum(RelationGetRelid(parent), NameStr(att->attname));
	}
	if (attnum > 0 &&
		TupleDescAttr(RelationGetDescr(parent), attnum - 1)->atttypid == att->atttypid)
		*value = getmissingattr(RelationGetDescr(parent), attnum, &isnull);
	if (!isnull)
		*value = datumCopy(*value, att->attbyval, att->attlen);
	if (parent != table)
		table_close(parent, NoLock);
	return !isnull;
}

/*
 * ZbxhistGetMissing sets value to what a column that days lack is in their
 * rows, in the current context; returns false if nobody has said it.
 */
bool
ZbxhistGetMissing(Relation table, Form_pg_attribute att, Datum *value)
{
	return GetOption(table, att, value) || GetStored(table, att, value);
}

/*
 * ZbxhistHasDefault says whether the foreign table's column has a default.
 */
bool
ZbxhistHasDefault(Relation table, Form_pg_attribute att)
{
	AttrNumber	attnum;
	Oid			foreign = FindForeignColumn(table, att, &attnum);
	HeapTuple	tuple;
	bool		result;

	if (attnum == InvalidAttrNumber)
		return att->atthasdef;
	tuple = SearchSysCache2(ATTNUM, ObjectIdGetDatum(foreign),
							Int16GetDatum(attnum));
	if (!HeapTupleIsValid(tuple))
		return false;
	result = ((Form_pg_attribute) GETSTRUCT(tuple))->atthasdef;
	ReleaseSysCache(tuple);
	return result;
}

/*
 * ZbxhistRaiseNotKnown raises the error for a column that the day lacks, whose
 * value is not known.  Unless is_known the day may have it by another name.
 */
void
ZbxhistRaiseNotKnown(Relation day, Relation table, Form_pg_attribute att,
					 bool is_known)
{
	AttrNumber	attnum;
	Oid			foreign = FindForeignColumn(table, att, &attnum);
	const char *column = quote_identifier(NameStr(att->attname));
	const char *name = quote_qualified_identifier(get_namespace_name(get_rel_namespace(foreign)),
												  get_rel_name(foreign));

	ereport(ERROR,
			errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			errmsg("column \"%s\" cannot be read from packed day \"%s\"",
				   NameStr(att->attname), RelationGetRelationName(day)),
			is_known ?
			errdetail("The column was added later, and its value in older rows is not known.") :
			errdetail("The day does not have it, or has it under another name."),
			!is_known ?
			errhint("Give it the name that it has in %s, or say what it is with ALTER FOREIGN TABLE %s ALTER COLUMN %s OPTIONS (ADD missing '...').",
					quote_qualified_identifier(get_namespace_name(RelationGetNamespace(day)),
											   RelationGetRelationName(day)),
					name, column) :
			att->attnotnull ?
			errhint("Say what it is with ALTER FOREIGN TABLE %s ALTER COLUMN %s OPTIONS (ADD missing '...').",
					name, column) :
			errhint("Say what it is with ALTER FOREIGN TABLE %s ALTER COLUMN %s OPTIONS (ADD missing '...'), or DROP DEFAULT if it is null.",
					name, column),
			errtable(day));
}
