/*-------------------------------------------------------------------------
 *
 * select.c
 *	  Plans a SELECT for those children of a parent that have its clocks.
 *
 * What the planner spends on a SELECT of an hour is mostly the opening of
 * children that have nothing to do with it: each is locked, opened with its
 * indexes and estimated before the hook in exclude.c may leave it out.  So
 * before planning, a parent whose clocks WHERE bounds is replaced
 *
 * - by the one child that has them all, a partition or the foreign table of
 *	 packed days, or by ONLY the parent if there is none;
 * - by several in a UNION ALL of plain tables, which the planner makes into
 *	 the same append relation as the children of a parent are.
 *
 * The parent's own rows have to be read as well, so it is one of these tables
 * unless it is empty.  Partitions of the future are mostly empty, too, and
 * left out likewise.  That may change before the plan is run, or run again,
 * so such a plan carries the query as it was (compat_marks.c).  The executor hook
 * looks again when the query has its snapshot: if one of them is not empty by
 * then, whatever the snapshot sees of it, the query is planned anew, which
 * finds the same.  If all are, no row that the snapshot sees can be there, and
 * a serializable transaction has its predicate locks by then, so that rows
 * that come later count as a conflict just as if the tables had been read.
 *
 * A cursor that is opened while an outer statement is changing rows may see
 * some that come to such a table later; there nothing is left out.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/parallel.h"
#include "access/table.h"
#include "access/xact.h"
#include "executor/executor.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"

#include "parser/parsetree.h"
#include "storage/predicate.h"
#include "tcop/tcopprot.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "compat.h"
#include "compat_marks.h"
#include "guc.h"
#include "ingest/frame.h"
#include "read/clock_bounds.h"
#include "read/interval_query.h"
#include "read/item_path.h"
#include "read/select.h"
#include "read/stand_in.h"

/* more tables with rows than this are left to inheritance */
#define MAX_TABLES 8

/* of more than this nobody looks which ones have rows */
#define MAX_LOOKED_AT 64

/* a parent in a query, and the tables that are to stand for it */
typedef struct Narrowing
{
	Query	   *query;
	Index		rti;
	List	   *tables;			/* Oids */
	List	   *left_out;		/* others, which are empty; Oids */
	bool		is_item_scan;	/* the parent is to be read item_scan.c's way */
	ItemQuery	item_query;
} Narrowing;

static bool FindNarrowings(Node *node, List **narrowings);

/* ---- what can be narrowed ---- */

/* a search for references to a relation's row or system columns */
typedef struct RowReference
{
	Index		rti;
	Index		levelsup;
} RowReference;

/*
 * refers_to_row is the walker of such a search.
 */
static bool
refers_to_row(Node *node, void *context)
{
	RowReference *search = context;
	bool		result;

	if (node == NULL)
		return false;
	if (IsA(node, Var))
	{
		Var		   *var = (Var *) node;

		return var->varattno <= 0 && var->varno == search->rti &&
			var->varlevelsup == search->levelsup;
	}
	if (!IsA(node, Query))
		return expression_tree_walker(node, refers_to_row, context);
	search->levelsup++;
	result = query_tree_walker((Query *) node, refers_to_row, context, 0);
	search->levelsup--;
	return result;
}

/*
 * RefersToRow says whether a query refers to a relation's row as a whole,
 * whose type is the parent's, or to its system columns.
 */
static bool
RefersToRow(Query *query, Index rti)
{
	RowReference search = {.rti = rti};

	return query_tree_walker(query, refers_to_row, &search, 0);
}

/*
 * ListChildren returns the children that may have rows within bounds, in the order
 * of their clocks.
 */
static List *
ListChildren(const PartitionSet *set, const ClockRange *bounds)
{
	List	   *result = NIL;

	if (OidIsValid(set->packed) &&
		(!zbxhist_enable_packed_scan_pruning ||
		 ZbxhistHasPackedDay(set, bounds)))
		result = lappend_oid(result, set->packed);
	for (int i = 0;
		 i < set->npartitions && list_length(result) <= MAX_LOOKED_AT; i++)
	{
		if (clocks_overlap(&set->partitions[i], bounds))
			result = lappend_oid(result, set->partitions[i].relid);
	}
	return result;
}

/*
 * LockAll locks all children of a list and says whether they can stand for the
 * parent; it moves those that are empty to another list.
 */
static bool
LockAll(Relation parent, const PartitionSet *set, List **tables,
		LOCKMODE mode, List **left_out)
{
	List	   *with_rows = NIL;
	ListCell   *lc;

	foreach(lc, *tables)
	{
		Oid			relid = lfirst_oid(lc);
		bool		is_empty;

		if (!ZbxhistLockStandIn(parent, set, relid, mode, &is_empty))
			return false;
		if (is_empty)
			*left_out = lappend_oid(*left_out, relid);
		else
			with_rows = lappend_oid(with_rows, relid);
	}
	*tables = with_rows;
	return true;
}

/*
 * IsForFew says whether a query that all children may have rows for is one for
 * few rows.  Others profit from what is known of the rows of all children.
 */
static bool
IsForFew(const Query *query, const ClockRange *bounds)
{
	return query->limitCount != NULL ||
		(query->hasAggs && query->groupClause == NIL &&
		 query->groupingSets == NIL) ||
		bounds->from_clock > ZBXHIST_CLOCK_MIN ||
		bounds->to_clock < ZBXHIST_CLOCK_END;
}

/*
 * MakeItemScan returns what to do with a parent of which the newest or oldest
 * rows of items are wanted, or rows by their keys; or NULL.
 */
static Narrowing *
MakeItemScan(Query *query, Index rti, Relation parent,
			 const PartitionSet *set)
{
	const RangeTblEntry *rte = rt_fetch(rti, query->rtable);
	Narrowing  *result;
	ItemQuery	item_query = {0};

	if ((!ZbxhistIsItemQuery(query, rti, parent, set, &item_query) &&
		 !ZbxhistIsKeyQuery(query, rti, parent, set, &item_query) &&
		 !ZbxhistIsOrderedQuery(query, rti, parent, set, &item_query)) ||
		!ZbxhistMayStandIn(query, rte, parent) || RefersToRow(query, rti))
		return NULL;
	result = palloc0(sizeof(Narrowing));
	result->query = query;
	result->rti = rti;
	result->is_item_scan = true;
	result->item_query = item_query;
	return result;
}

/*
 * MakeNarrowing returns what to do with the relation rti of a query, an open
 * parent, or NULL if it is left to inheritance.
 */
static Narrowing *
MakeNarrowing(Query *query, Index rti, Relation parent)
{
	const RangeTblEntry *rte = rt_fetch(rti, query->rtable);
	PartitionSet *set = ZbxhistGetPartitions(parent);
	ClockRange	bounds;
	Narrowing  *result;
	List	   *tables;
	List	   *left_out = NIL;

	if (!set->is_exhaustive || set->clock_attnum == InvalidAttrNumber)
		return NULL;
	result = MakeItemScan(query, rti, parent, set);
	if (result != NULL || query->jointree->quals == NULL)
		return result;
	bounds = ZbxhistBoundsInWhere(query, rti, set->clock_attnum);
	if (bounds.from_clock >= bounds.to_clock)
		return NULL;
	tables = ListChildren(set, &bounds);
	if ((list_length(tables) == count_children(set) && !IsForFew(query, &bounds)) ||
		list_length(tables) > MAX_LOOKED_AT ||
		!ZbxhistMayStandIn(query, rte, parent) || RefersToRow(query, rti) ||
		!LockAll(parent, set, &tables, rte->rellockmode, &left_out) ||
		list_length(tables) > MAX_TABLES)
		return NULL;

	result = palloc0(sizeof(Narrowing));
	result->query = query;
	result->rti = rti;
	if (tables == NIL || !ZbxhistIsEmpty(parent))
		tables = lcons_oid(RelationGetRelid(parent), tables);
	else
		left_out = lappend_oid(left_out, RelationGetRelid(parent));
	result->left_out = left_out;
	result->tables = tables;
	return result;
}

/*
 * FindInQuery adds what can be narrowed of one query, without its
 * subqueries, to narrowings.
 */
static void
FindInQuery(Query *query, List **narrowings)
{
	for (Index rti = 1; rti <= list_length(query->rtable); rti++)
	{
		const RangeTblEntry *rte = rt_fetch(rti, query->rtable);
		Narrowing  *narrowing = NULL;
		Relation	rel;

		if (rte->rtekind != RTE_RELATION || !rte->inh ||
			rte->relkind != RELKIND_RELATION)
			continue;
		rel = table_open(rte->relid, NoLock);
		if (ZbxhistIsRouted(rel))
			narrowing = MakeNarrowing(query, rti, rel);
		table_close(rel, NoLock);
		if (narrowing != NULL)
			*narrowings = lappend(*narrowings, narrowing);
	}
}

/*
 * FindNarrowings is a walker that adds what can be narrowed of all queries
 * that it meets.
 */
static bool
FindNarrowings(Node *node, List **narrowings)
{
	Query	   *query = (Query *) node;
	ListCell   *lc;

	if (node == NULL)
		return false;
	if (!IsA(node, Query))
		return expression_tree_walker(node, FindNarrowings, narrowings);
	if (query->commandType != CMD_SELECT)
		return false;
	ZbxhistTakeIntervals(query);
	if (query->rowMarks == NIL &&
		(query->jointree->quals != NULL || query->sortClause != NIL ||
		 ZbxhistMayBeOfEach(query)))
		FindInQuery(query, narrowings);
	/* long lists of values need not be walked */
	if (query->hasSubLinks)
		return query_tree_walker(query, FindNarrowings, narrowings, 0);
	foreach(lc, query->rtable)
	{
		RangeTblEntry *rte = lfirst_node(RangeTblEntry, lc);

		if (rte->rtekind == RTE_SUBQUERY)
			FindNarrowings((Node *) rte->subquery, narrowings);
	}
	foreach(lc, query->cteList)
		FindNarrowings(lfirst_node(CommonTableExpr, lc)->ctequery, narrowings);
	return false;
}

/* ---- narrowing ---- */

/*
 * AddMember adds SELECT of columns FROM ONLY a table to a union.  The planner copies
 * members when it makes them part of the query, so they share lists.
 */
static void
AddMember(Query *whole, RangeTblEntry *model, Oid relid, List *columns)
{
	Query	   *member = makeNode(Query);
	RangeTblEntry *table = makeNode(RangeTblEntry);
	RangeTblEntry *entry = makeNode(RangeTblEntry);
	RangeTblRef *ref = makeNode(RangeTblRef);

	table->rtekind = RTE_RELATION;
	table->relid = relid;
	table->relkind = get_rel_relkind(relid);
	table->rellockmode = model->rellockmode;
	table->eref = makeAlias(model->eref->aliasname, model->eref->colnames);
	table->inFromCl = true;

	member->commandType = CMD_SELECT;
	member->canSetTag = true;
	member->rtable = list_make1(table);
	read_as_owner(member, table);
	ref->rtindex = 1;
	member->jointree = makeFromExpr(list_make1(ref), NULL);
	member->targetList = columns;

	entry->rtekind = RTE_SUBQUERY;
	entry->subquery = member;
	entry->eref = table->eref;
	whole->rtable = lappend(whole->rtable, entry);
}

/*
 * AddSetOperation makes UNION ALL of what a union is so far and its last
 * member.
 */
static void
AddSetOperation(Query *whole, List *columns)
{
	SetOperationStmt *operation = makeNode(SetOperationStmt);
	RangeTblRef *left = makeNode(RangeTblRef);
	RangeTblRef *right = makeNode(RangeTblRef);
	ListCell   *lc;

	left->rtindex = 1;
	right->rtindex = list_length(whole->rtable);
	operation->op = SETOP_UNION;
	operation->all = true;
	operation->larg = whole->setOperations != NULL ? whole->setOperations :
		(Node *) left;
	operation->rarg = (Node *) right;
	foreach(lc, columns)
	{
		Node	   *expr = (Node *) lfirst_node(TargetEntry, lc)->expr;

		operation->colTypes = lappend_oid(operation->colTypes, exprType(expr));
		operation->colTypmods = lappend_int(operation->colTypmods,
											exprTypmod(expr));
		operation->colCollations = lappend_oid(operation->colCollations,
											   exprCollation(expr));
	}
	whole->setOperations = (Node *) operation;
}

/*
 * MakeUnion returns a query of all rows of some tables.
 */
static Query *
MakeUnion(RangeTblEntry *model, List *tables)
{
	Query	   *result = makeNode(Query);
	Relation	parent = table_open(model->relid, NoLock);
	List	   *columns = ZbxhistListColumns(RelationGetDescr(parent), 1);
	ListCell   *lc;

	result->commandType = CMD_SELECT;
	result->canSetTag = true;
	foreach(lc, tables)
	{
		AddMember(result, model, lfirst_oid(lc), columns);
		if (list_length(result->rtable) > 1)
			AddSetOperation(result, columns);
	}
	result->jointree = makeFromExpr(NIL, NULL);
	result->targetList = columns;
	table_close(parent, NoLock);
	return result;
}

/*
 * Narrow puts the tables that are to stand for a parent in its place.
 */
static void
Narrow(Narrowing *narrowing)
{
	RangeTblEntry *rte = rt_fetch(narrowing->rti, narrowing->query->rtable);

	if (narrowing->is_item_scan)
	{
		narrowing->query->jointree->quals = narrowing->item_query.quals;
		ZbxhistMarkItemScan(rte, &narrowing->item_query);
	}
	else if (list_length(narrowing->tables) > 1)
		substitute_subquery(narrowing->query, narrowing->rti,
							MakeUnion(rte, narrowing->tables));
	else if (linitial_oid(narrowing->tables) != rte->relid)
		substitute_relation(narrowing->query, narrowing->rti,
							linitial_oid(narrowing->tables));
	else
		rte->inh = false;
}

/*
 * ZbxhistNarrowSelect replaces parents in a query that is about to be planned
 * and says what it did.
 */
void
ZbxhistNarrowSelect(Query *query, NarrowedSelect *narrowed)
{
	List	   *narrowings = NIL;
	ListCell   *lc;

	memset(narrowed, 0, sizeof(NarrowedSelect));
	if (query->commandType != CMD_SELECT || query->rowMarks != NIL ||
		query->hasModifyingCTE || query->utilityStmt != NULL ||
		!zbxhist_enable_partition_pruning ||
		constraint_exclusion == CONSTRAINT_EXCLUSION_OFF || ZbxhistIsInChange())
		return;
	FindNarrowings((Node *) query, &narrowings);
	if (narrowings == NIL)
		return;
	foreach(lc, narrowings)
		narrowed->left_out = list_concat(narrowed->left_out,
										 ((Narrowing *) lfirst(lc))->left_out);
	if (narrowed->left_out != NIL)
		narrowed->whole = copyObject(query);
	narrowed->has_no_constraints = list_length(query->rtable) == 1 &&
		!query->hasSubLinks;
	foreach(lc, narrowings)
		Narrow(lfirst(lc));
}

/* ---- executing ---- */

/*
 * MayMissRows says whether some of the tables that a plan leaves out may have
 * rows for a query.
 */
static bool
MayMissRows(List *left_out, Snapshot snapshot)
{
	ListCell   *lc;

	if (ZbxhistIsInChange())
		return true;
	foreach(lc, left_out)
	{
		Oid			relid = lfirst_oid(lc);
		Relation	rel;
		bool		is_empty;

		if (!IsolationIsSerializable() &&
			ZbxhistLockIfEmpty(relid, AccessShareLock))
			continue;
		rel = try_table_open(relid, AccessShareLock);
		if (rel == NULL)
			return true;
		/* before the look, so that no row comes in between unnoticed */
		PredicateLockRelation(rel, snapshot);
		is_empty = ZbxhistIsEmpty(rel);
		table_close(rel, NoLock);
		if (!is_empty)
			return true;
	}
	return false;
}

/*
 * PlanAgain gives a query a plan of the query as it was.  It returns the
 * memory that the plan is in, which a function in SQL would keep of each of
 * its calls.
 */
static MemoryContext
PlanAgain(QueryDesc *query, Query *whole, int eflags)
{
	MemoryContext context = AllocSetContextCreate(GetMemoryChunkContext(query),
												  "zbxhist plan",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);

	query->plannedstmt = pg_plan_query_compat(copyObject(whole),
											  query->sourceText,
											  (eflags & EXEC_FLAG_BACKWARD) ?
											  CURSOR_OPT_SCROLL : 0,
											  query->params);
	MemoryContextSwitchTo(old);
	return context;
}

/*
 * ZbxhistRefreshPlan gives a query that is about to be started another plan if
 * its own would miss rows.  Returns the memory that this plan is in, for the
 * caller to make a part of the query's, or NULL.
 */
MemoryContext
ZbxhistRefreshPlan(QueryDesc *query, int eflags)
{
	List	   *left_out;
	Query	   *whole;

	if (query->plannedstmt->commandType == CMD_SELECT && !IsParallelWorker() &&
		(whole = get_whole_query(query->plannedstmt, &left_out)) != NULL &&
		MayMissRows(left_out, query->snapshot))
		return PlanAgain(query, whole, eflags);
	return NULL;
}
