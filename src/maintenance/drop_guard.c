/*-------------------------------------------------------------------------
 *
 * drop_guard.c
 *	  Prevents that packed days are dropped by accident, or copied incompletely.
 *
 * Partitions outlive the extension, packed days cannot: nobody else could read them.  So
 * no command may drop the foreign table that stands for them, or the list of them, while
 * there are values in them, unless the session has set zbxhist.allow_packed_drop.  That
 * covers DROP EXTENSION, DROP TABLE of a single day, and DROP SCHEMA, SERVER, TABLE and
 * OWNED if they would drop the foreign table, too.  When zbxhist itself drops a day, it
 * has already removed it from the list.
 *
 * PostgreSQL drops objects one by one, dependent ones first: a day before its foreign
 * table.  So dropped days are counted from the beginning of the statement, for the moment
 * when the foreign table is dropped.  Days that were dropped without it are checked when
 * the statement ends.
 *
 * An event trigger (sql/packed/guards.sql) has sessions load the library
 * before they drop or alter a table, or make a trigger.
 *
 * Groups are written without firing triggers.  A tool such as pg_repack, which copies a
 * table while it is in use and learns of changes by a trigger, would replace it by a copy
 * without these changes.  So no role can create a trigger on the table of a packed day.
 * Its replica identity, which an event trigger keeps, refuses tools that use logical
 * decoding (create_day).
 *
 * Packed rows have no values of a column that was added later.  They get the value that
 * the catalog has for older rows, if ADD COLUMN had a constant default, or the value of
 * the foreign table's option "missing", or null.  With a volatile default each older row
 * of a plain table would get a value of its own, for which packed rows have no place.  So
 * such an ADD COLUMN is refused.
 *
 * The extension cannot be dropped while an undo is unfinished, either.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/attnum.h"
#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/indexing.h"
#include "catalog/namespace.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_attrdef.h"
#include "catalog/pg_class.h"
#include "catalog/pg_trigger.h"
#include "compat.h"
#include "fmgr.h"
#include "maintenance/drop_guard.h"
#include "nodes/parsenodes.h"
#include "nodes/value.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "guc.h"
#include "tables/owned_table.h"
#include "tables/packed_days.h"
#include "tables/packed_table.h"
#include "tables/policy.h"

/*
 * HasStoredMissing says whether the catalog has the value of a parent's column for rows
 * from before it was added.  The caller's ALTER TABLE has locked the parent.
 */
static bool
HasStoredMissing(Oid parent, const char *name)
{
	Relation	rel = table_open(parent, AccessShareLock);
	AttrNumber	attnum = get_attnum(parent, name);
	bool		result = attnum > 0 &&
		TupleDescAttr(RelationGetDescr(rel), attnum - 1)->atthasmissing;

	table_close(rel, NoLock);
	return result;
}

/*
 * GuardDefault raises an error if the default that a column of relid gets does not
 * determine its value in packed rows.
 */
static void
GuardDefault(Oid relid, AttrNumber attnum)
{
	Oid			parent;
	char	   *name;
	List	   *new_columns;
	List	   *renamed;

	if (get_rel_relkind(relid) != RELKIND_FOREIGN_TABLE ||
		!ZbxhistIsPackedTable(relid) ||
		!OidIsValid(parent = ZbxhistInheritedParent(relid)) ||
		ZbxhistCountPackedDays(parent, NULL) == 0)
		return;
	name = get_attname(relid, attnum, false);
	ZbxhistReadPackedColumns(relid, &new_columns, &renamed);
	if (is_new_column(new_columns, name) &&
		ZbxhistColumnOption(relid, attnum, FDW_OPTION_MISSING) == NULL &&
		!HasStoredMissing(parent, name))
		ereport(ERROR,
				errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				errmsg("column \"%s\" cannot have this default, because its value in packed rows would not be known",
					   name),
				errdetail("Table \"%s\" has days that were packed without the column.",
						  get_rel_name(parent)),
				errhint("Add the column with a constant default, which packed rows then have, and change its default afterwards."));
}

/*
 * GuardTrigger raises an error if a trigger, which has just been created and is not
 * visible yet, is on the table of a packed day.
 */
static void
GuardTrigger(Oid trigger)
{
	Relation	rel = table_open(TriggerRelationId, AccessShareLock);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;
	Oid			relid = InvalidOid;

	ScanKeyInit(&key, Anum_pg_trigger_oid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(trigger));
	scan = systable_beginscan(rel, TriggerOidIndexId, true, SnapshotSelf, 1,
							  &key);
	tuple = systable_getnext(scan);
	if (HeapTupleIsValid(tuple))
		relid = ((Form_pg_trigger) GETSTRUCT(tuple))->tgrelid;
	systable_endscan(scan);
	table_close(rel, AccessShareLock);

	if (OidIsValid(relid) && get_rel_relkind(relid) == RELKIND_RELATION &&
		get_rel_namespace(relid) ==
		get_namespace_oid(ZBXHIST_PACKED_SCHEMA, true))
		ereport(ERROR,
				errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				errmsg("cannot create a trigger on \"%s\", because it is the table of a packed day",
					   get_rel_name(relid)),
				errdetail("Packed values are written without firing triggers: a tool that copies the table and follows its changes by a trigger, such as pg_repack, would lose them."),
				errhint("Leave out the schema \"%s\".  CALL zbxhist.repack(...) makes a packed day compact.",
						ZBXHIST_PACKED_SCHEMA));
}

PG_FUNCTION_INFO_V1(zbxhist_load_guards);

/*
 * packed days with values that the statement under way has dropped so far, and
 * the parent of the last one
 */
static int	dropped_days = 0;
static Oid	dropped_from = InvalidOid;

/*
 * QuoteTable returns a table's name as the argument of a call.
 */
static char *
QuoteTable(Oid relid)
{
	char	   *name = ZbxhistQualifiedName(relid);

	return name == NULL ? "..." : quote_literal_cstr(name);
}

/*
 * TellLoss reports the packed values that the session has agreed to lose.
 */
static void
TellLoss(int ndays)
{
	ereport(NOTICE,
			errmsg_plural("the values of %d packed day are dropped",
						  "the values of %d packed days are dropped",
						  ndays, ndays));
}

/*
 * CheckLoss raises an error if a DROP would lose packed days of parent, or of all parents
 * with InvalidOid; if the session allows it, it only reports them.
 */
static void
CheckLoss(const char *what, Oid parent)
{
	Oid			packed = OidIsValid(parent) ? parent : dropped_from;
	int			ndays = dropped_days + ZbxhistCountPackedDays(parent, &packed);

	dropped_days = 0;
	if (ndays == 0)
		return;
	if (zbxhist_allow_packed_drop)
		TellLoss(ndays);
	else
		ereport(ERROR,
				errcode(ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST),
				errmsg_plural("cannot drop %s because the values of %d packed day would be lost",
							  "cannot drop %s because the values of %d packed days would be lost",
							  ndays, what, ndays),
				errdetail("To delete them, run SET zbxhist.allow_packed_drop = on and repeat the command."),
				errhint("To keep them, run first: CALL zbxhist.undo(%s);",
						QuoteTable(packed)));
}

/*
 * CheckUndo raises an error if the extension would be dropped while an undo is
 * unfinished: nobody could bring the remaining rows back.
 */
static void
CheckUndo(void)
{
	Oid			parent = ZbxhistFindUndoneParent();

	if (OidIsValid(parent) && !zbxhist_allow_packed_drop)
		ereport(ERROR,
				errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				errmsg("cannot drop extension zbxhist because the undo of \"%s\" is not finished",
					   get_rel_name(parent)),
				errdetail("Rows of it are still in partitions, which would stay behind."),
				errhint("Run first: CALL zbxhist.undo(%s);", QuoteTable(parent)));
}

/*
 * CountDay counts a table that is dropped if it is that of a packed day that
 * holds values.
 */
static void
CountDay(Oid relid)
{
	PackedDay	day;

	if (get_rel_namespace(relid) !=
		get_namespace_oid(ZBXHIST_PACKED_SCHEMA, true) ||
		!ZbxhistReadPackedDay(relid, NULL, &day) || day.is_unpacked ||
		lock_if_empty(relid, AccessShareLock, NULL))
		return;
	dropped_days++;
	dropped_from = day.parent;
}

/*
 * IsListOfDays says whether relid is the extension's table of packed days.
 */
static bool
IsListOfDays(Oid relid)
{
	Oid			namespace = get_namespace_oid("zbxhist", true);

	return OidIsValid(namespace) &&
		relid == get_relname_relid("packed_day", namespace);
}

/*
 * DropRelation checks a relation that is about to be dropped.
 */
static void
DropRelation(Oid relid)
{
	switch (get_rel_relkind(relid))
	{
		case RELKIND_FOREIGN_TABLE:
			if (ZbxhistIsPackedTable(relid))
				CheckLoss("the foreign table of packed days",
						  ZbxhistInheritedParent(relid));
			break;
		case RELKIND_RELATION:
			if (IsListOfDays(relid))
			{
				CheckLoss("extension zbxhist", InvalidOid);
				CheckUndo();
			}
			else
				CountDay(relid);
			break;
		default:
			break;
	}
}

/*
 * ZbxhistGuardObject is called for each object before it is dropped, and for each default
 * and trigger that is created.
 */
void
ZbxhistGuardObject(ObjectAccessType access, Oid classId, Oid objectId,
				   int subId)
{
	if (access == OAT_DROP && classId == RelationRelationId && subId == 0)
		DropRelation(objectId);
	else if (access == OAT_POST_CREATE && classId == AttrDefaultRelationId)
		GuardDefault(objectId, subId);
	else if (access == OAT_POST_CREATE && classId == TriggerRelationId)
		GuardTrigger(objectId);
}

/*
 * NamesUs says whether a statement drops the extension.
 */
static bool
NamesUs(const DropStmt *drop)
{
	ListCell   *lc;

	if (drop->removeType != OBJECT_EXTENSION)
		return false;
	foreach(lc, drop->objects)
	{
		if (strcmp(strVal(lfirst(lc)), "zbxhist") == 0)
			return true;
	}
	return false;
}

/*
 * ZbxhistBeginDrop is called before each utility statement.  It returns what the
 * enclosing statement has dropped so far, for ZbxhistEndDrop.  It refuses DROP EXTENSION
 * before PostgreSQL does, which would propose CASCADE.
 */
int
ZbxhistBeginDrop(const Node *statement)
{
	const DropStmt *drop = (const DropStmt *) statement;
	int			outer_days = dropped_days;

	dropped_days = 0;
	if (IsA(statement, DropStmt) && NamesUs(drop) &&
		!zbxhist_allow_packed_drop)
	{
		CheckLoss("extension zbxhist", InvalidOid);
		CheckUndo();
	}
	return outer_days;
}

/*
 * ZbxhistEndDrop is called after each utility statement.  It raises an error if the
 * statement has dropped a packed day's table alone.
 */
void
ZbxhistEndDrop(int outer_days)
{
	int			ndays = dropped_days;

	dropped_days = outer_days;
	if (ndays == 0)
		return;
	if (zbxhist_allow_packed_drop)
		TellLoss(ndays);
	else
		ereport(ERROR,
				errcode(ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST),
				errmsg_plural("cannot drop the table of %d packed day because its values would be lost",
							  "cannot drop the tables of %d packed days because their values would be lost",
							  ndays, ndays),
				errdetail("To delete them, run SET zbxhist.allow_packed_drop = on and repeat the command."),
				errhint("To keep them as ordinary tables, run: CALL zbxhist.detach_day(%s, ...);",
						QuoteTable(dropped_from)));
}

/*
 * zbxhist_load_guards() does nothing but load the library: the event trigger calls it
 * before something is dropped or altered, or a trigger is created.
 */
Datum
zbxhist_load_guards(PG_FUNCTION_ARGS)
{
	PG_RETURN_VOID();
}
