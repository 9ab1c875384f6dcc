/*-------------------------------------------------------------------------
 *
 * own_tables.c
 *	  Rows of the extension's own tables.
 *
 * The library that a session has loaded may be of another version than the tables:
 * between the installation of new files and ALTER EXTENSION UPDATE, or after it.  So
 * columns are found by their names.  A column that is missing is read as null, and a
 * column that the library does not know is stored as null.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/table.h"
#include "catalog/namespace.h"
#include "commands/extension.h"
#include "storage/bufmgr.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

#include "tables/columns.h"
#include "tables/own_tables.h"

/*
 * ZbxhistOpenOwnTable opens one of the extension's tables, or returns NULL if it is not
 * there (the extension is being created, dropped or restored, or was dropped while we
 * waited for the lock).  Where the extension is, a table of that name in its schema is
 * part of it: CREATE EXTENSION would have failed on any other.  Its schema stays when it
 * is dropped, and anybody may own a table of that name then.  But zbxhist_internal is
 * part of the extension, so that is looked for once for each such schema.
 */
Relation
ZbxhistOpenOwnTable(const char *name, LOCKMODE mode)
{
	static Oid	known = InvalidOid;
	Oid			internal = get_namespace_oid("zbxhist_internal", true);
	Oid			namespace = get_namespace_oid("zbxhist", true);
	Oid			relid;

	if ((internal != known || !OidIsValid(internal)) &&
		!OidIsValid(get_extension_oid("zbxhist", true)))
		return NULL;
	known = internal;
	relid = OidIsValid(namespace) ?
		get_relname_relid(name, namespace) : InvalidOid;
	return OidIsValid(relid) ? try_table_open(relid, mode) : NULL;
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
 * ZbxhistBeginOwnScan opens a table and begins a scan for the rows whose column, of
 * type oid or regclass, is value; for all rows if value is InvalidOid.  The
 * snapshot is a fresh one with NULL.  An index named after table and column is used,
 * unless opening it would take longer than reading the table.
 */
void
ZbxhistBeginOwnScan(OwnScan *scan, const char *table, const char *column,
					Oid value, Snapshot snapshot)
{
	char		name[NAMEDATALEN];
	Oid			index = InvalidOid;
	ScanKeyData key;

	scan->rel = ZbxhistOpenOwnTable(table, AccessShareLock);
	if (scan->rel == NULL)
		return;
	snprintf(name, sizeof(name), "%s_%s", table, column);
	if (OidIsValid(value) && RelationGetNumberOfBlocks(scan->rel) > 2)
		index = get_relname_relid(name, RelationGetNamespace(scan->rel));
	ScanKeyInit(&key, ZbxhistOwnColumn(scan->rel, column),
				BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(value));
	scan->scan = systable_beginscan(scan->rel, index, OidIsValid(index),
									snapshot, OidIsValid(value) ? 1 : 0, &key);
}

/*
 * ZbxhistNextOwnRow goes to the next row; returns false at the end, and if there
 * is no such table.
 */
bool
ZbxhistNextOwnRow(OwnScan *scan)
{
	if (scan->rel == NULL)
		return false;
	scan->tuple = systable_getnext(scan->scan);
	return HeapTupleIsValid(scan->tuple);
}

/*
 * ZbxhistEndOwnScan ends the scan and closes the table.
 */
void
ZbxhistEndOwnScan(OwnScan *scan)
{
	if (scan->rel == NULL)
		return;
	systable_endscan(scan->scan);
	table_close(scan->rel, AccessShareLock);
}

/*
 * ZbxhistOwnValue returns a column of the scan's row; null if the table has no
 * such column, because it is of another version than the library.
 */
Datum
ZbxhistOwnValue(const OwnScan *scan, const char *column, bool *isnull)
{
	return get_own_value(scan, ZbxhistOwnColumn(scan->rel, column), isnull);
}

/*
 * ZbxhistStoreOwnRow inserts a row into a table that has no indexes.  The user, who only
 * wants to change a parent, needs no privileges on it.  Returns false if there is no such
 * table.
 */
bool
ZbxhistStoreOwnRow(const char *table, const OwnValue *row, int nvalues)
{
	Relation	rel = ZbxhistOpenOwnTable(table, RowExclusiveLock);
	int			natts = rel == NULL ? 0 : RelationGetNumberOfAttributes(rel);
	Datum	   *values;
	bool	   *nulls;
	HeapTuple	tuple;

	if (rel == NULL)
		return false;
	values = palloc0(sizeof(Datum) * natts);
	nulls = palloc(sizeof(bool) * natts);
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
	table_close(rel, NoLock);
	return true;
}
