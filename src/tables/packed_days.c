/*-------------------------------------------------------------------------
 *
 * packed_days.c
 *	  Which of a parent's days are packed, and what stands for them.
 *
 * The days are rows of zbxhist.packed_day.  One of the parent's children, a foreign table
 * of our wrapper, stands for all of them in queries.  A column with which days have been
 * packed has an option with its name in them (sql/packed/columns.sql).  DROP COLUMN
 * removes the option, RENAME COLUMN and dumps keep it.
 *
 * A user may drop a day's table at any time.  The row that remains does no harm, because
 * tables are opened with try_table_open.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/reloptions.h"
#include "access/table.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_foreign_table.h"
#include "commands/defrem.h"
#include "foreign/foreign.h"
#include "utils/builtins.h"
#include "utils/rel.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

#include "make_room.h"
#include "tables/own_tables.h"
#include "tables/packed_days.h"

/* ---- the days ---- */

/* columns of zbxhist.packed_day, in the order of ReadDay */
static const char *const column_names[] = {
	"day", "parent", "from_clock", "to_clock", "partition", "unpacked",
	"nrows", "packed_at"
};

#define NCOLUMNS lengthof(column_names)

/*
 * ReadDay reads a row into day.  Nulls become 0, which is InvalidOid.
 */
static void
ReadDay(const OwnScan *scan, const AttrNumber *attnums, PackedDay *day)
{
	Datum		values[NCOLUMNS];
	bool		isnull;

	for (int i = 0; i < NCOLUMNS; i++)
		values[i] = get_own_value(scan, attnums[i], &isnull);
	day->relid = DatumGetObjectId(values[0]);
	day->parent = DatumGetObjectId(values[1]);
	day->from_clock = DatumGetInt64(values[2]);
	day->to_clock = DatumGetInt64(values[3]);
	day->partition = DatumGetObjectId(values[4]);
	day->is_unpacked = DatumGetBool(values[5]);
	day->nrows = DatumGetInt64(values[6]);
	day->packed_at = DatumGetTimestampTz(values[7]);
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
 * ReadDays returns the packed days whose column "parent" or "day" is value, or
 * all if that is InvalidOid, as a snapshot sees them, or as committed now if it
 * is NULL, in an array palloc'd in the current context.
 */
static PackedDay *
ReadDays(const char *column, Oid value, Snapshot snapshot, int *ndays)
{
	int			capacity = 32;
	PackedDay  *days = palloc(sizeof(PackedDay) * capacity);
	AttrNumber	attnums[NCOLUMNS];
	OwnScan		scan;

	*ndays = 0;
	ZbxhistBeginOwnScan(&scan, "packed_day", column, value, snapshot);
	for (int i = 0; scan.rel != NULL && i < NCOLUMNS; i++)
		attnums[i] = ZbxhistOwnColumn(scan.rel, column_names[i]);
	while (ZbxhistNextOwnRow(&scan))
	{
		make_room(days, *ndays, capacity);
		ReadDay(&scan, attnums, &days[(*ndays)++]);
	}
	ZbxhistEndOwnScan(&scan);
	return days;
}

/*
 * ZbxhistReadPackedDays returns the packed days of parent as committed now,
 * sorted by clock, in an array palloc'd in the current context.
 */
PackedDay *
ZbxhistReadPackedDays(Oid parent, int *ndays)
{
	PackedDay  *days = ReadDays("parent", parent, NULL, ndays);

	qsort(days, *ndays, sizeof(PackedDay), compare_days);
	return days;
}

/*
 * ZbxhistReadPackedDay fills in day by its table, as a snapshot sees it, or as
 * committed now if that is NULL; returns false if there is none.
 */
bool
ZbxhistReadPackedDay(Oid relid, Snapshot snapshot, PackedDay *day)
{
	int			n;
	PackedDay  *days = ReadDays("day", relid, snapshot, &n);

	if (n > 0)
		*day = days[0];
	pfree(days);
	return n > 0;
}

/*
 * ZbxhistWasPacked says whether a snapshot saw the rows of a packed day as packed.  They
 * may have been in another table then, if the day has been repacked since, or in several,
 * if it has been compacted: then the one that was packed last counts.
 */
bool
ZbxhistWasPacked(Oid relid, Snapshot snapshot)
{
	PackedDay	day;
	PackedDay  *days;
	int			n;
	bool		result = false;

	if (!ZbxhistReadPackedDay(relid, NULL, &day))
		return false;
	days = ReadDays("parent", day.parent, snapshot, &n);
	for (int i = 0; i < n && !result; i++)
		result = days[i].from_clock >= day.from_clock &&
			days[i].to_clock <= day.to_clock &&
			days[i].packed_at == day.packed_at;
	pfree(days);
	return result;
}

/*
 * ZbxhistCountPackedDays returns the number of parent's packed days, or of all parents'
 * with InvalidOid, whose tables exist and have values (those of a day that has been
 * unpacked are in a partition).  If there are any, *found, unless it is NULL, is set to
 * the parent of one.
 */
int
ZbxhistCountPackedDays(Oid parent, Oid *found)
{
	int			n;
	PackedDay  *days = ReadDays("parent", parent, NULL, &n);
	int			result = 0;

	for (int i = 0; i < n; i++)
	{
		if (days[i].is_unpacked ||
			!SearchSysCacheExists1(RELOID, ObjectIdGetDatum(days[i].relid)))
			continue;
		result++;
		if (found != NULL)
			*found = days[i].parent;
	}
	pfree(days);
	return result;
}

/* ---- the foreign table ---- */

/*
 * ZbxhistFindOption returns the value of an option, or NULL.
 */
char *
ZbxhistFindOption(List *options, const char *name)
{
	ListCell   *lc;

	foreach(lc, options)
	{
		DefElem    *def = lfirst_node(DefElem, lc);

		if (strcmp(def->defname, name) == 0)
			return defGetString(def);
	}
	return NULL;
}

/*
 * IsOurServer says whether a server is one of our foreign-data wrapper, which has
 * the extension's name.
 */
static bool
IsOurServer(Oid serverid)
{
	const ForeignServer *server = GetForeignServerExtended(serverid, FSV_MISSING_OK);

	return server != NULL &&
		server->fdwid == get_foreign_data_wrapper_oid("zbxhist", true);
}

/*
 * ZbxhistIsPackedTable says whether relid is a foreign table that stands for
 * the packed days of the table that it inherits from.
 */
bool
ZbxhistIsPackedTable(Oid relid)
{
	HeapTuple	tuple = SearchSysCache1(FOREIGNTABLEREL,
										ObjectIdGetDatum(relid));
	bool		result;

	if (!HeapTupleIsValid(tuple))
		return false;
	result = IsOurServer(((Form_pg_foreign_table) GETSTRUCT(tuple))->ftserver);
	ReleaseSysCache(tuple);
	return result;
}

/*
 * GetPackedName returns the name that a column of a foreign table has in packed days,
 * from the column's catalog row; NULL if no day was packed with it.
 */
static const char *
GetPackedName(HeapTuple tuple)
{
	bool		isnull;
	Datum		options = SysCacheGetAttr(ATTNUM, tuple,
										  Anum_pg_attribute_attfdwoptions,
										  &isnull);

	return isnull ? NULL :
		ZbxhistFindOption(untransformRelOptions(options),
						  ZBXHIST_PACKED_OPTION);
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
		*new_columns = lappend(*new_columns,
							   makeString(pstrdup(NameStr(att->attname))));
	return name != NULL;
}

/*
 * ZbxhistReadPackedColumns sets new_columns to the names of the columns with which no day
 * has been packed.  If a day has a column of such a name, that is another one, which was
 * dropped.  If no column has the option, none counts as new.  Sets renamed to the columns
 * that have another name in packed days, as a list of RenamedColumn.  Allocates in the
 * current context.
 */
void
ZbxhistReadPackedColumns(Oid foreign, List **new_columns, List **renamed)
{
	bool		is_known = false;

	*new_columns = NIL;
	*renamed = NIL;
	/* dropped days have a row, too */
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
