/*-------------------------------------------------------------------------
 *
 * fresh_snapshot.c
 *	  Statements whose snapshot is older than their locks.
 *
 * Who changes or locks rows of a parent waits for moves of its rows before he
 * takes his snapshot, see rows/move_lock.c.  Two kinds of statements
 * have one by then:
 *
 * - those that a utility statement executes: EXPLAIN ANALYZE, EXECUTE, DECLARE
 *	 CURSOR and COPY take a snapshot before they plan, or lock what a plan
 *	 needs;
 * - those that have a plan for one partition from earlier (prune.c), which
 *	 says nothing of the move lock.
 *
 * In READ COMMITTED a statement may see whatever has been committed before it
 * begins, so these get a new snapshot here, before they begin.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "access/xact.h"
#include "catalog/pg_class.h"
#include "nodes/parsenodes.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "ingest/frame.h"
#include "plan/clock_bounds.h"
#include "plan/fresh_snapshot.h"
#include "plan/prune.h"
#include "rows/move_lock.h"

/*
 * IsParent says whether a table, locked by its query, is a parent of ours.
 */
static bool
IsParent(Oid relid)
{
	Relation	rel = table_open(relid, NoLock);
	bool		result = ZbxhistIsRouted(rel);

	table_close(rel, NoLock);
	return result;
}

/*
 * ChangesParent says whether a plan changes or locks rows of a parent.
 */
static bool
ChangesParent(const PlannedStmt *stmt)
{
	ListCell   *lc;

	foreach(lc, stmt->rtable)
	{
		const RangeTblEntry *rte = lfirst_node(RangeTblEntry, lc);

		if (rte->rtekind == RTE_RELATION &&
			rte->relkind == RELKIND_RELATION &&
			rte->rellockmode >= RowShareLock && IsParent(rte->relid))
			return true;
	}
	return false;
}

/*
 * ZbxhistPrepareChange is called before a query is started.
 */
void
ZbxhistPrepareChange(QueryDesc *query)
{
	Oid			parent = ZbxhistParentOfPlan(query->plannedstmt);
	bool		is_old = OidIsValid(parent) && ZbxhistBeginChanging(parent);

	if (!is_old)
		is_old = ZbxhistSnapshotIsOld() && ChangesParent(query->plannedstmt);
	if (!is_old || IsolationUsesXactSnapshot() ||
		query->crosscheck_snapshot != InvalidSnapshot)
		return;
	UnregisterSnapshot(query->snapshot);
	query->snapshot = RegisterSnapshot(GetTransactionSnapshot());
}
