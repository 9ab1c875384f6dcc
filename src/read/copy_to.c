/*-------------------------------------------------------------------------
 *
 * copy_to.c
 *	  Refuses COPY TO of a parent, which would copy its own rows only.
 *
 * COPY history TO copies only the rows that are stored in the parent itself, mostly none,
 * without a warning.  PostgreSQL refuses it for partitioned tables.
 *
 * pg_dump needs just these rows, and copies children separately; so does the initial
 * synchronization of a logical subscription.  Both are recognised by their empty
 * search_path.  SET search_path cannot make it empty: SET search_path = '' gives a pair
 * of quotes.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "catalog/namespace.h"
#include "nodes/parsenodes.h"
#include "utils/rel.h"

#include "read/clock_bounds.h"
#include "read/copy_to.h"

/*
 * ZbxhistRefuseCopyTo raises an error for COPY TO of a parent with children, unless a
 * dump sends it.  It takes COPY's lock.
 */
void
ZbxhistRefuseCopyTo(const Node *statement)
{
	const CopyStmt *copy = (const CopyStmt *) statement;
	Relation	rel;

	if (!IsA(statement, CopyStmt) || copy->is_from || copy->relation == NULL ||
		namespace_search_path[0] == '\0')
		return;
	rel = table_openrv_extended(copy->relation, AccessShareLock, true);
	if (rel == NULL)
		return;
	if (ZbxhistIsRouted(rel))
		ereport(ERROR,
				errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				errmsg("cannot copy from table \"%s\", whose rows are in partitions and packed days",
					   RelationGetRelationName(rel)),
				errhint("Use COPY (SELECT ... FROM %s) TO.",
						RelationGetRelationName(rel)),
				errtable(rel));
	table_close(rel, NoLock);
}
