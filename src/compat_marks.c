/*-------------------------------------------------------------------------
 *
 * compat_marks.c
 *	  Uses PostgreSQL's structures for other purposes than their own.
 *
 * Each of these relies on behaviour that PostgreSQL does not promise.  With each new
 * version of PostgreSQL check them one by one:
 *
 * - mark_table: how a table is to be read goes from the query that the planner
 *	 hook has changed to the hook that is asked for paths, in a list of the
 *	 table's entry.  Relies on VALUES being the only kind of entry whose
 *	 values_lists anything looks at, on copyObject() copying them for all kinds,
 *	 and on the planner emptying them in the finished plan.
 *
 * - make_plan: a plan that no planner has made.  Relies on a scan's being
 *	 fit to be the plan of an INSERT, UPDATE or DELETE with nothing of ModifyTable around it, and on
 *	 the executor's looking at no other fields of PlannedStmt than those set here.
 *
 * - skip_check: the executor makes a table's CHECK expressions when it checks the first
 *	 row, unless they are there.  Relies on NULL being one that is always true.
 *
 * - log_snapshot_conflict: a record of the WAL that says that an index's page is
 *	 used again stands for "snapshots that old are at an end".  Relies on replay
 *	 doing nothing else with it, and looking at no page.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/nbtree.h"
#include "access/nbtxlog.h"
#include "access/transam.h"
#include "access/xlog.h"
#include "access/xloginsert.h"
#include "nodes/makefuncs.h"
#include "utils/rel.h"

#include "compat.h"
#include "compat_marks.h"

/*
 * mark_table attaches a mark to the range table entry of a table.
 */
void
mark_table(RangeTblEntry *rte, List *content)
{
	rte->values_lists = content;
}

/*
 * get_table_mark returns the content of such a mark, or NIL.
 */
List *
get_table_mark(const RangeTblEntry *rte)
{
	return rte->rtekind == RTE_VALUES ? NIL : rte->values_lists;
}

/*
 * set_plan_relations gives a plan its range table, of which entry 1 is the only
 * relation.  16 moved privileges to a list of their own (a61b1f748);
 * 18 wants to be told which relations are not pruned (cbc127917); 19 has a set
 * of those that are changed.
 */
static void
set_plan_relations(PlannedStmt *stmt, const Query *query, List *rtable)
{
	stmt->rtable = rtable;
#if PG_VERSION_NUM >= 160000
	stmt->permInfos = query->rteperminfos;
#endif
#if PG_VERSION_NUM >= 180000
	stmt->unprunableRelids = bms_make_singleton(1);
#endif
	if (query->resultRelation == 0)
		return;
#if PG_VERSION_NUM >= 190000
	stmt->resultRelationRelids = bms_make_singleton(1);
#else
	stmt->resultRelations = list_make1_int(1);
#endif
}

/*
 * make_plan makes the plan that standard_planner would, of a SELECT, or of a statement that
 * changes rows, with a plan in place of ModifyTable.
 */
PlannedStmt *
make_plan(const Query *query, List *rtable, Plan *plan)
{
	PlannedStmt *stmt = makeNode(PlannedStmt);

	stmt->commandType = query->commandType;
	stmt->queryId = query->queryId;
	stmt->canSetTag = query->canSetTag;
	stmt->planTree = plan;
	stmt->relationOids =
		list_make1_oid(linitial_node(RangeTblEntry, rtable)->relid);
	stmt->stmt_location = query->stmt_location;
	stmt->stmt_len = query->stmt_len;
	set_plan_relations(stmt, query, rtable);
	return stmt;
}

/*
 * skip_check keeps the executor from evaluating the only CHECK constraint of a table.  18
 * renames what is known of these.
 */
void
skip_check(ResultRelInfo *table)
{
#if PG_VERSION_NUM >= 180000
	table->ri_CheckConstraintExprs = palloc0(sizeof(ExprState *));
#else
	table->ri_ConstraintExprs = palloc0(sizeof(ExprState *));
#endif
}

/*
 * log_snapshot_conflict makes standby servers cancel queries whose snapshots do not see
 * xid as ended, before they replay later records.  It uses the record for the reuse of an
 * index page, which has no other effect. 16 renames its members.
 */
void
log_snapshot_conflict(Relation rel, TransactionId xid)
{
	FullTransactionId next = ReadNextFullTransactionId();
	uint32		epoch = EpochFromFullTransactionId(next);
	FullTransactionId full;
	xl_btree_reuse_page record;

	if (!TransactionIdIsNormal(xid) || !RelationNeedsWAL(rel) ||
		!XLogStandbyInfoActive())
		return;
	if (xid > XidFromFullTransactionId(next))
		epoch--;
	full = FullTransactionIdFromEpochAndXid(epoch, xid);
	memset(&record, 0, sizeof(record));
	record.block = 0;
#if PG_VERSION_NUM >= 160000
	record.locator = rel->rd_locator;
	record.snapshotConflictHorizon = full;
	record.isCatalogRel = false;
#else
	record.node = rel->rd_node;
	record.latestRemovedFullXid = full;
#endif
	XLogBeginInsert();
	XLogRegisterData((char *) &record, SizeOfBtreeReusePage);
	(void) XLogInsert(RM_BTREE_ID, XLOG_BTREE_REUSE_PAGE);
}
