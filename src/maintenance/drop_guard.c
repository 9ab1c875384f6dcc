/*-------------------------------------------------------------------------
 *
 * drop_guard.c
 *	  Keeps packed days from being dropped unawares.
 *
 * Partitions outlive the extension, packed days cannot: nobody else could
 * read them.  So no command may drop the foreign table that stands for them,
 * or the list of them, while there are values in them, unless the session has
 * set zbxhist.allow_packed_drop.  That covers DROP EXTENSION, and DROP SCHEMA,
 * SERVER, TABLE and OWNED, where the foreign table goes with something else.
 * A single day's table may be dropped by whoever may drop it.
 *
 * Objects are dropped one by one, those that depend on others first: a day
 * before its foreign table.  Days that are gone when that one's turn comes
 * are therefore counted as they go, from the beginning of the statement.
 *
 * An event trigger (sql/packed/load_guards.sql) has sessions load the library
 * before they drop or alter a table.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_attrdef.h"
#include "catalog/pg_class.h"
#include "fmgr.h"
#include "lib/stringinfo.h"
#include "nodes/parsenodes.h"
#include "nodes/value.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "catalog/packed_days.h"
#include "catalog/packed_table.h"
#include "guc.h"
#include "maintenance/default_guard.h"
#include "maintenance/drop_guard.h"

PG_FUNCTION_INFO_V1(zbxhist_load_guards);

/* packed days with values that the statement under way has dropped so far */
static int	dropped_days = 0;

/*
 * UndoCommands returns the calls that bring the packed values of parent, or
 * with InvalidOid of all parents, back into tables, in the current memory
 * context.
 */
static char *
UndoCommands(Oid parent)
{
	StringInfoData buf;
	List	   *parents = OidIsValid(parent) ?
		list_make1_oid(parent) : ZbxhistReadPackedParents();
	ListCell   *lc;

	initStringInfo(&buf);
	foreach(lc, parents)
	{
		Oid			relid = lfirst_oid(lc);
		char	   *name = get_rel_name(relid);

		if (name == NULL)
			continue;
		name = quote_qualified_identifier(get_namespace_name(get_rel_namespace(relid)),
										  name);
		appendStringInfo(&buf, "%sCALL zbxhist.undo(%s);",
						 buf.len > 0 ? " " : "", quote_literal_cstr(name));
	}
	return buf.data;
}

/*
 * CheckLoss raises an error if packed days, of parent or with InvalidOid all,
 * would be lost with what is dropped, or says so if the session allows it.
 */
static void
CheckLoss(const char *what, Oid parent)
{
	int			ndays = dropped_days + ZbxhistCountPackedDays(parent);

	if (ndays == 0)
		return;
	if (zbxhist_allow_packed_drop)
		ereport(NOTICE,
				errmsg_plural("the values of %d packed day are dropped",
							  "the values of %d packed days are dropped",
							  ndays, ndays));
	else
		ereport(ERROR,
				errcode(ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST),
				errmsg_plural("cannot drop %s because the values of %d packed day would be lost",
							  "cannot drop %s because the values of %d packed days would be lost",
							  ndays, what, ndays),
				errdetail("To delete them, run SET zbxhist.allow_packed_drop = on and repeat the command."),
				errhint("To keep them, run first: %s", UndoCommands(parent)));
}

/*
 * IsDay says whether relid is the table of a packed day that holds its values.
 */
static bool
IsDay(Oid relid)
{
	bool		is_unpacked;

	return get_rel_namespace(relid) ==
		get_namespace_oid(ZBXHIST_PACKED_SCHEMA, true) &&
		ZbxhistReadPackedDay(relid, NULL, &is_unpacked) && !is_unpacked;
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
 * DropRelation looks at a relation that is about to be dropped.
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
			if (IsDay(relid))
				dropped_days++;
			else if (IsListOfDays(relid))
				CheckLoss("extension zbxhist", InvalidOid);
			break;
		default:
			break;
	}
}

/*
 * ZbxhistGuardObject is told of each object that is dropped, before it goes,
 * and of each default that is made.
 */
void
ZbxhistGuardObject(ObjectAccessType access, Oid classId, Oid objectId,
				   int subId)
{
	if (access == OAT_DROP && classId == RelationRelationId && subId == 0)
		DropRelation(objectId);
	else if (access == OAT_POST_CREATE && classId == AttrDefaultRelationId)
		ZbxhistGuardDefault(objectId, subId);
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
 * ZbxhistBeginDrop is called before each utility statement.  It refuses to
 * drop the extension as such before PostgreSQL does, who would propose
 * CASCADE.
 */
void
ZbxhistBeginDrop(const Node *statement)
{
	const DropStmt *drop = (const DropStmt *) statement;

	dropped_days = 0;
	if (IsA(statement, DropStmt) && NamesUs(drop) &&
		!zbxhist_allow_packed_drop)
		CheckLoss("extension zbxhist", InvalidOid);
}

/*
 * zbxhist_load_guards() has the library loaded, which is all: the event
 * trigger calls it before something is dropped or altered.
 */
Datum
zbxhist_load_guards(PG_FUNCTION_ARGS)
{
	PG_RETURN_VOID();
}
