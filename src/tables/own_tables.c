/*-------------------------------------------------------------------------
 *
 * own_tables.c
 *	  Rows of the extension's own tables.
 *
 * A session may have loaded a library of another version than the tables are
 * of: between the installation of new files and ALTER EXTENSION UPDATE, or
 * after it.  So columns are found by their names, one that is not there is
 * null, and one that is not known here is left null.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/table.h"
#include "catalog/dependency.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "commands/extension.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

#include "tables/columns.h"
#include "tables/own_tables.h"

/*
 * ZbxhistOpenOwnTable opens one of the extension's tables, or returns NULL if
 * it is not there (the extension is being created, dropped or restored, or was
 * dropped while we waited for the lock).  A table of that name that somebody
 * else has made is not ours.
 */
Relation
ZbxhistOpenOwnTable(const char *name, LOCKMODE mode)
{
	Oid			namespace = get_namespace_oid("zbxhist", true);
	Oid			relid = OidIsValid(namespace) ?
		get_relname_relid(name, namespace) : InvalidOid;
	Oid			extension = OidIsValid(relid) ?
		getExtensionOfObject(RelationRelationId, relid) : InvalidOid;

	if (!OidIsValid(extension) ||
		extension != get_extension_oid("zbxhist", true))
		return NULL;
	return try_table_open(relid, mode);
}

/*
 * ZbxhistOwnColumn returns the number of a column, or 0.
 */
AttrNumber
ZbxhistOwnColumn(Relation rel, const char *name)
{
	return ZbxhistFindColumn(RelationGetDescr(rel), name, InvalidOid);
}

/*
 * ZbxhistBeginOwnScan begins a scan for the rows whose column, of type oid or
 * regclass, is value; for all rows if value is InvalidOid.  The snapshot is a
 * fresh one with NULL.  An index named after table and column is used.
 */
SysScanDesc
ZbxhistBeginOwnScan(Relation rel, const char *column, Oid value,
					Snapshot snapshot)
{
	char		name[NAMEDATALEN];
	Oid			index;
	ScanKeyData key;

	snprintf(name, sizeof(name), "%s_%s", RelationGetRelationName(rel), column);
	index = get_relname_relid(name, RelationGetNamespace(rel));
	ScanKeyInit(&key, ZbxhistOwnColumn(rel, column), BTEqualStrategyNumber,
				F_OIDEQ, ObjectIdGetDatum(value));
	return systable_beginscan(rel, index,
							  OidIsValid(index) && OidIsValid(value),
							  snapshot, OidIsValid(value) ? 1 : 0, &key);
}

/*
 * ZbxhistStoreOwnRow inserts a row into a table that has no indexes, whatever
 * the privileges of the user, who only wants to change a parent.
 */
void
ZbxhistStoreOwnRow(Relation rel, const OwnValue *row, int nvalues)
{
	int			natts = RelationGetNumberOfAttributes(rel);
	Datum	   *values = palloc0(sizeof(Datum) * natts);
	bool	   *nulls = palloc(sizeof(bool) * natts);
	HeapTuple	tuple;

	memset(nulls, true, sizeof(bool) * natts);
	for (int i = 0; i < nvalues; i++)
	{
		AttrNumber	attnum = ZbxhistOwnColumn(rel, row[i].column);

		if (attnum == InvalidAttrNumber)
			continue;
		values[attnum - 1] = row[i].value;
		nulls[attnum - 1] = false;
	}
	tuple = heap_form_tuple(RelationGetDescr(rel), values, nulls);
	simple_heap_insert(rel, tuple);
	heap_freetuple(tuple);
	pfree(values);
	pfree(nulls);
}
