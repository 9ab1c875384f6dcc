/*-------------------------------------------------------------------------
 *
 * copy_to.c
 *	  Refuses COPY of a parent, which would have its own rows only.
 *
 * COPY history TO copies the rows that are stored in the parent itself: mostly
 * none, and nothing says so.  A partitioned table is refused by PostgreSQL.
 *
 * pg_dump wants just these rows, and copies children by themselves; so does
 * the first synchronisation of a logical subscription.  Both have an empty
 * search_path by then, which SET search_path cannot make: that of '' has
 * quotes around it.
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
 * ZbxhistRefuseCopyTo raises an error for COPY of a parent with children TO
 * wherever, unless a dump sends it.  It locks what COPY locks.
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
