/*-------------------------------------------------------------------------
 *
 * default_guard.c
 *	  Keeps a new column from making packed rows unreadable.
 *
 * Packed rows lack a column that was added after they had been packed.  They
 * have what the catalog keeps for older rows, if ADD COLUMN had a constant
 * default, or what the foreign table's option "missing" says, or null.  With
 * another default each older row of a plain table would get a value of its
 * own, for which packed ones have no place: that is refused, rather than any
 * later read of them.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "catalog/pg_class.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "catalog/packed_days.h"
#include "catalog/packed_table.h"
#include "maintenance/default_guard.h"

/*
 * IsNewColumn says whether no day has been packed with a foreign table's
 * column.
 */
static bool
IsNewColumn(Oid foreign, const char *name)
{
	ListCell   *lc;

	foreach(lc, ZbxhistReadNewColumns(foreign))
	{
		if (strcmp(lfirst(lc), name) == 0)
			return true;
	}
	return false;
}

/*
 * HasStoredMissing says whether the catalog keeps what a parent's column is in
 * rows from before it came.  The caller's ALTER TABLE has the parent locked.
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
 * ZbxhistGuardDefault raises an error if the default that a column of relid
 * gets leaves it open what packed rows have in it.
 */
void
ZbxhistGuardDefault(Oid relid, AttrNumber attnum)
{
	Oid			parent;
	char	   *name;

	if (get_rel_relkind(relid) != RELKIND_FOREIGN_TABLE ||
		!ZbxhistIsPackedTable(relid) ||
		!OidIsValid(parent = ZbxhistInheritedParent(relid)) ||
		ZbxhistCountPackedDays(parent) == 0)
		return;
	name = get_attname(relid, attnum, false);
	if (IsNewColumn(relid, name) &&
		ZbxhistMissingOption(relid, attnum) == NULL &&
		!HasStoredMissing(parent, name))
		ereport(ERROR,
				errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				errmsg("column \"%s\" cannot have this default, because its value in packed rows would not be known",
					   name),
				errdetail("Table \"%s\" has days that were packed without the column.",
						  get_rel_name(parent)),
				errhint("Add the column with a constant default, which packed rows then have, and change its default afterwards."));
}
