/*-------------------------------------------------------------------------
 *
 * drop_guard.c
 *	  Keeps packed days from being dropped with the extension unawares.
 *
 * Partitions outlive the extension, packed days cannot: nobody could read
 * them.  PostgreSQL refuses DROP EXTENSION without CASCADE, as always when
 * something depends on it, and proposes CASCADE; in sessions that have loaded
 * the library this says first what to do instead.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "nodes/parsenodes.h"
#include "nodes/value.h"

#include "catalog/packed_days.h"
#include "maintenance/drop_guard.h"

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
 * ZbxhistGuardDrop raises an error if a utility statement would drop the
 * extension while days are packed; with CASCADE, it warns.
 */
void
ZbxhistGuardDrop(const Node *statement)
{
	const DropStmt *drop = (const DropStmt *) statement;
	int			ndays;

	if (!IsA(statement, DropStmt) || !NamesUs(drop) ||
		(ndays = ZbxhistCountPackedDays()) == 0)
		return;
	if (drop->behavior == DROP_CASCADE)
		ereport(WARNING,
				errcode(ERRCODE_WARNING),
				errmsg_plural("the values of %d packed day are dropped with the extension",
							  "the values of %d packed days are dropped with the extension",
							  ndays, ndays));
	else
		ereport(ERROR,
				errcode(ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST),
				errmsg_plural("cannot drop extension zbxhist because %d day is packed",
							  "cannot drop extension zbxhist because %d days are packed",
							  ndays, ndays),
				errdetail("Nothing else can read packed days."),
				errhint("Unpack them first: CALL zbxhist.undo(...) for each table in zbxhist.parents.  "
						"DROP EXTENSION zbxhist CASCADE deletes their values."));
}
