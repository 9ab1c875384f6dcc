/*-------------------------------------------------------------------------
 *
 * packed_days.c
 *	  Which of a parent's days are packed, and what stands for them.
 *
 * The days are rows of zbxhist.packed_day.  One of the parent's children, a
 * foreign table of our wrapper, stands for all of them in queries.  Those of
 * its columns that days have been packed with have an option that says so, and
 * under which name (sql/packed/columns.sql); it goes when the column is
 * dropped, stays when that is renamed, and a dump keeps it.
 *
 * A day may be dropped at any time by whoever has the right to; that its row
 * is still there then does no harm, as long as tables are opened with
 * try_table_open.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/reloptions.h"
#include "access/table.h"
#include "catalog/dependency.h"
#include "catalog/namespace.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_class.h"
#include "catalog/pg_foreign_data_wrapper.h"
#include "catalog/pg_foreign_server.h"
#include "catalog/pg_foreign_table.h"
#include "commands/defrem.h"
#include "commands/extension.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

#include "catalog/own_tables.h"
#include "catalog/packed_days.h"

/* ---- the days ---- */

/* where a row's values are */
typedef struct PackedDayColumns
{
	AttrNumber	parent;
	AttrNumber	day;
	AttrNumber	from_clock;
	AttrNumber	to_clock;
	AttrNumber	partition;
	AttrNumber	unpacked;
	AttrNumber	nrows;
	AttrNumber	runs;
	AttrNumber	packed_at;
} PackedDayColumns;

/*
 * FindDayColumns finds the columns of zbxhist.packed_day.
 */
static void
FindDayColumns(Relation rel, PackedDayColumns *columns)
{
	columns->parent = ZbxhistOwnColumn(rel, "parent");
	columns->day = ZbxhistOwnColumn(rel, "day");
	columns->from_clock = ZbxhistOwnColumn(rel, "from_clock");
	columns->to_clock = ZbxhistOwnColumn(rel, "to_clock");
	columns->partition = ZbxhistOwnColumn(rel, "partition");
	columns->unpacked = ZbxhistOwnColumn(rel, "unpacked");
	columns->nrows = ZbxhistOwnColumn(rel, "nrows");
	columns->runs = ZbxhistOwnColumn(rel, "runs");
	columns->packed_at = ZbxhistOwnColumn(rel, "packed_at");
}

/*
 * ReadDay takes a row into day.  What is null is 0, which is InvalidOid.
 */
static void
ReadDay(Relation rel, const PackedDayColumns *columns, HeapTuple tuple,
		PackedDay *day)
{
	bool		isnull;
	Datum		partition;

	day->relid = DatumGetObjectId(get_own_value(rel, tuple, columns->day,
												&isnull));
	day->from_clock = DatumGetInt64(get_own_value(rel, tuple,
												  columns->from_clock,
												  &isnull));
	day->to_clock = DatumGetInt64(get_own_value(rel, tuple, columns->to_clock,
												&isnull));
	partition = get_own_value(rel, tuple, columns->partition, &isnull);
	day->partition = isnull ? InvalidOid : DatumGetObjectId(partition);
	day->is_unpacked = DatumGetBool(get_own_value(rel, tuple,
												  columns->unpacked,
												  &isnull));
	day->nrows = DatumGetInt64(get_own_value(rel, tuple, columns->nrows,
											 &isnull));
	day->has_runs = DatumGetBool(get_own_value(rel, tuple, columns->runs,
											   &isnull));
	day->is_verified = false;
}

/*
 * compare_days orders days by the beginning of their range.
 */
static int
compare_days(const void *a, const void *b)
{
	const PackedDay *left = a;
	const PackedDay *right = b;

	if (left->from_clock != right->from_clock)
		return left->from_clock < right->from_clock ? -1 : 1;
	return 0;
}

/*
 * ZbxhistReadPackedDays returns the packed days of parent as committed now,
 * sorted by clock, in an array palloc'd in the current context.
 */
PackedDay *
ZbxhistReadPackedDays(Oid parent, int *ndays)
{
	Relation	rel = ZbxhistOpenOwnTable("packed_day", AccessShareLock);
	int			capacity = 32;
	PackedDay  *days = palloc(sizeof(PackedDay) * capacity);
	PackedDayColumns columns;
	SysScanDesc scan;
	HeapTuple	tuple;

	*ndays = 0;
	if (rel == NULL)
		return days;
	FindDayColumns(rel, &columns);
	scan = ZbxhistBeginOwnScan(rel, "parent", parent, NULL);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		if (*ndays == capacity)
		{
			capacity *= 2;
			days = repalloc(days, sizeof(PackedDay) * capacity);
		}
		ReadDay(rel, &columns, tuple, &days[(*ndays)++]);
	}
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	qsort(days, *ndays, sizeof(PackedDay), compare_days);
	return days;
}

/*
 * ZbxhistReadPackedDay says whether a day is known to a snapshot, NULL for the
 * newest, and has been unpacked.
 */
bool
ZbxhistReadPackedDay(Oid day, Snapshot snapshot, bool *is_unpacked)
{
	Relation	rel = ZbxhistOpenOwnTable("packed_day", AccessShareLock);
	SysScanDesc scan;
	HeapTuple	tuple;
	bool		found;

	if (rel == NULL)
		return false;
	scan = ZbxhistBeginOwnScan(rel, "day", day, snapshot);
	tuple = systable_getnext(scan);
	found = HeapTupleIsValid(tuple);
	if (found)
	{
		bool		isnull;

		*is_unpacked =
			DatumGetBool(get_own_value(rel, tuple,
									   ZbxhistOwnColumn(rel, "unpacked"),
									   &isnull));
	}
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	return found;
}

/*
 * ReadDayRow finds the row of a day, as committed now, and when it was packed;
 * returns false if there is none.
 */
static bool
ReadDayRow(Relation rel, const PackedDayColumns *columns, Oid relid,
		   PackedDay *day, Oid *parent, TimestampTz *packed_at)
{
	SysScanDesc scan = ZbxhistBeginOwnScan(rel, "day", relid, NULL);
	HeapTuple	tuple = systable_getnext(scan);
	bool		found = HeapTupleIsValid(tuple);
	bool		isnull;

	if (found)
	{
		ReadDay(rel, columns, tuple, day);
		*parent = DatumGetObjectId(get_own_value(rel, tuple, columns->parent,
												 &isnull));
		*packed_at =
			DatumGetTimestampTz(get_own_value(rel, tuple, columns->packed_at,
											  &isnull));
	}
	systable_endscan(scan);
	return found;
}

/*
 * ZbxhistWasPacked says whether the rows of a packed day were packed already
 * for a snapshot, be it in another table, which has been repacked since, or in
 * several, which have been compacted: then the one that was packed last counts.
 */
bool
ZbxhistWasPacked(Oid day, Snapshot snapshot)
{
	Relation	rel = ZbxhistOpenOwnTable("packed_day", AccessShareLock);
	bool		found = false;
	PackedDayColumns columns;
	PackedDay	bounds;
	TimestampTz packed_at;
	Oid			parent;

	if (rel == NULL)
		return false;
	FindDayColumns(rel, &columns);
	if (ReadDayRow(rel, &columns, day, &bounds, &parent, &packed_at))
	{
		ScanKeyData keys[4];
		SysScanDesc scan;

		ScanKeyInit(&keys[0], columns.parent, BTEqualStrategyNumber, F_OIDEQ,
					ObjectIdGetDatum(parent));
		ScanKeyInit(&keys[1], columns.from_clock,
					BTGreaterEqualStrategyNumber, F_INT8GE,
					Int64GetDatum(bounds.from_clock));
		ScanKeyInit(&keys[2], columns.to_clock, BTLessEqualStrategyNumber,
					F_INT8LE, Int64GetDatum(bounds.to_clock));
		ScanKeyInit(&keys[3], columns.packed_at, BTEqualStrategyNumber,
					F_TIMESTAMPTZ_EQ, TimestampTzGetDatum(packed_at));
		scan = systable_beginscan(rel, InvalidOid, false, snapshot, 4, keys);
		found = HeapTupleIsValid(systable_getnext(scan));
		systable_endscan(scan);
	}
	table_close(rel, AccessShareLock);
	return found;
}

/*
 * ZbxhistFindDayEntry fills in day by its table and returns the one whose
 * packed day it is; InvalidOid if it is none's.
 */
Oid
ZbxhistFindDayEntry(Oid relid, PackedDay *day)
{
	Relation	rel = ZbxhistOpenOwnTable("packed_day", AccessShareLock);
	PackedDayColumns columns;
	TimestampTz packed_at;
	Oid			parent;
	bool		found;

	if (rel == NULL)
		return InvalidOid;
	FindDayColumns(rel, &columns);
	found = ReadDayRow(rel, &columns, relid, day, &parent, &packed_at);
	table_close(rel, AccessShareLock);
	return found ? parent : InvalidOid;
}

/*
 * ZbxhistDayIsUnpacked says whether the rows of a packed day are in a
 * partition by now, and in the day only for older snapshots.
 */
bool
ZbxhistDayIsUnpacked(Oid day)
{
	bool		is_unpacked;

	return ZbxhistReadPackedDay(day, NULL, &is_unpacked) && is_unpacked;
}

/*
 * ZbxhistCountPackedDays returns the number of parent's packed days, or of all
 * parents' with InvalidOid, whose tables are there and hold values: a day that
 * has been unpacked has them in a partition.
 */
int
ZbxhistCountPackedDays(Oid parent)
{
	Relation	rel = ZbxhistOpenOwnTable("packed_day", AccessShareLock);
	PackedDayColumns columns;
	SysScanDesc scan;
	HeapTuple	tuple;
	int			result = 0;

	if (rel == NULL)
		return 0;
	FindDayColumns(rel, &columns);
	scan = ZbxhistBeginOwnScan(rel, "parent", parent, NULL);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		PackedDay	day;

		ReadDay(rel, &columns, tuple, &day);
		if (!day.is_unpacked &&
			SearchSysCacheExists1(RELOID, ObjectIdGetDatum(day.relid)))
			result++;
	}
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	return result;
}

/*
 * ZbxhistReadPackedParents returns the OIDs of the tables that have packed
 * days, in a list in the current context.
 */
List *
ZbxhistReadPackedParents(void)
{
	Relation	rel = ZbxhistOpenOwnTable("packed_day", AccessShareLock);
	List	   *result = NIL;
	AttrNumber	column;
	SysScanDesc scan;
	HeapTuple	tuple;

	if (rel == NULL)
		return NIL;
	column = ZbxhistOwnColumn(rel, "parent");
	scan = ZbxhistBeginOwnScan(rel, "parent", InvalidOid, NULL);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		bool		isnull;
		Datum		parent = get_own_value(rel, tuple, column, &isnull);

		result = list_append_unique_oid(result, DatumGetObjectId(parent));
	}
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	return result;
}

/* ---- the foreign table ---- */

/*
 * GetServer returns the server of a foreign table and whether its option
 * "parent" is set; InvalidOid if it is no foreign table.
 */
static Oid
GetServer(Oid relid, bool *names_parent)
{
	HeapTuple	tuple = SearchSysCache1(FOREIGNTABLEREL,
										ObjectIdGetDatum(relid));
	Oid			result;
	Datum		options;
	bool		isnull;

	*names_parent = false;
	if (!HeapTupleIsValid(tuple))
		return InvalidOid;
	result = ((Form_pg_foreign_table) GETSTRUCT(tuple))->ftserver;
	options = SysCacheGetAttr(FOREIGNTABLEREL, tuple,
							  Anum_pg_foreign_table_ftoptions, &isnull);
	if (!isnull)
	{
		ListCell   *lc;

		foreach(lc, untransformRelOptions(options))
		{
			if (strcmp(lfirst_node(DefElem, lc)->defname,
					   ZBXHIST_PARENT_OPTION) == 0)
				*names_parent = true;
		}
	}
	ReleaseSysCache(tuple);
	return result;
}

/*
 * IsOurServer says whether a server is one of our foreign-data wrapper.
 */
static bool
IsOurServer(Oid server)
{
	HeapTuple	tuple = SearchSysCache1(FOREIGNSERVEROID,
										ObjectIdGetDatum(server));
	Oid			wrapper;
	Oid			extension = get_extension_oid("zbxhist", true);

	if (!HeapTupleIsValid(tuple))
		return false;
	wrapper = ((Form_pg_foreign_server) GETSTRUCT(tuple))->srvfdw;
	ReleaseSysCache(tuple);
	return OidIsValid(extension) &&
		getExtensionOfObject(ForeignDataWrapperRelationId,
							 wrapper) == extension;
}

/*
 * ZbxhistIsPackedTable says whether relid is a foreign table that stands for
 * the packed days of the table that it inherits from.
 */
bool
ZbxhistIsPackedTable(Oid relid)
{
	bool		names_parent;
	Oid			server = GetServer(relid, &names_parent);

	return OidIsValid(server) && !names_parent && IsOurServer(server);
}

/*
 * GetPackedName returns the name under which days have a column of a foreign
 * table, of whose catalog row tuple is; NULL if none has been packed with it.
 */
static const char *
GetPackedName(HeapTuple tuple)
{
	bool		isnull;
	Datum		options = SysCacheGetAttr(ATTNUM, tuple,
										  Anum_pg_attribute_attfdwoptions,
										  &isnull);
	ListCell   *lc;

	if (isnull)
		return NULL;
	foreach(lc, untransformRelOptions(options))
	{
		DefElem    *def = lfirst_node(DefElem, lc);

		if (strcmp(def->defname, ZBXHIST_PACKED_OPTION) == 0)
			return defGetString(def);
	}
	return NULL;
}

/*
 * ZbxhistHasPackedName says whether it is noted under which name days have a
 * column of a foreign table.
 */
bool
ZbxhistHasPackedName(Oid foreign, AttrNumber attnum)
{
	HeapTuple	tuple = SearchSysCache2(ATTNUM, ObjectIdGetDatum(foreign),
										Int16GetDatum(attnum));
	bool		result;

	if (!HeapTupleIsValid(tuple))
		return false;
	result = GetPackedName(tuple) != NULL;
	ReleaseSysCache(tuple);
	return result;
}

/*
 * ReadPackedColumn adds a column of a foreign table to one of the lists.
 * Returns whether days have been packed with it.
 */
static bool
ReadPackedColumn(HeapTuple tuple, List **new_columns, List **renamed)
{
	Form_pg_attribute att = (Form_pg_attribute) GETSTRUCT(tuple);
	const char *name = GetPackedName(tuple);

	if (att->attisdropped)
		return name != NULL;
	if (name != NULL && strcmp(name, NameStr(att->attname)) != 0)
	{
		RenamedColumn *column = palloc(sizeof(RenamedColumn));

		column->name = att->attname;
		namestrcpy(&column->packed, name);
		*renamed = lappend(*renamed, column);
	}
	else if (name == NULL && att->attinhcount > 0)
		*new_columns = lappend(*new_columns, pstrdup(NameStr(att->attname)));
	return name != NULL;
}

/*
 * ZbxhistReadPackedColumns sets new_columns to the names of those columns of a
 * foreign table that no day has been packed with: what a day has under such a
 * name is another column, which was dropped.  If none is known to have been
 * packed, neither is any to be new.  It sets renamed to those that days have
 * under another name, as a list of RenamedColumn.  Allocates in the current
 * context.
 */
void
ZbxhistReadPackedColumns(Oid foreign, List **new_columns, List **renamed)
{
	bool		is_known = false;

	*new_columns = NIL;
	*renamed = NIL;
	/* there is a row for each that was dropped, too */
	for (AttrNumber attnum = 1;; attnum++)
	{
		HeapTuple	tuple = SearchSysCache2(ATTNUM, ObjectIdGetDatum(foreign),
											Int16GetDatum(attnum));

		if (!HeapTupleIsValid(tuple))
			break;
		is_known |= ReadPackedColumn(tuple, new_columns, renamed);
		ReleaseSysCache(tuple);
	}
	if (!is_known)
		*new_columns = NIL;
}

/*
 * ZbxhistReadNewColumns returns the former alone.
 */
List *
ZbxhistReadNewColumns(Oid foreign)
{
	List	   *new_columns;
	List	   *renamed;

	ZbxhistReadPackedColumns(foreign, &new_columns, &renamed);
	return new_columns;
}
