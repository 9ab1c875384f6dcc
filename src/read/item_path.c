/*-------------------------------------------------------------------------
 *
 * item_path.c
 *	  Plans SELECT of rows of items.
 *
 * The range table entry of such a query is marked before it is planned (select.c,
 * interval_query.c).  The planner prepares the conditions.  Then set_rel_pathlist_hook
 * takes them, and replaces all paths by a scan of item_scan.c.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "catalog/pg_opfamily.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "rewrite/rewriteManip.h"
#include "utils/rel.h"

#include "compat.h"
#include "compat_marks.h"
#include "fdw/fdw.h"
#include "fdw/fdw_plan.h"
#include "read/clock_bounds.h"
#include "read/clock_keys.h"
#include "read/item_path.h"
#include "read/item_scan.h"

/* assumed number of rows of an item; a LIMIT stops reading them */
#define USUAL_ROWS 1000

/* members of the mark on a table's entry, of which the path has copies */
enum ItemMark
{
	MARKED_QUERY,				/* as ITEM_QUERY */
	MARKED_KEYS,
	MARKED_QUALS,
	MARKED_RANGES
};

/* ---- the mark ---- */

/*
 * ZbxhistMarkItemScan marks the entry of the table of such a query.
 */
void
ZbxhistMarkItemScan(RangeTblEntry *rte, const ItemQuery *query)
{
	List	   *numbers = list_make5_int(query->is_descending,
										 query->is_of_each,
										 query->is_of_intervals,
										 query->has_ns,
										 list_length(query->keys));

	numbers = lappend_int(lappend_int(numbers, query->is_by_key),
						  query->items_descending);
	numbers = lappend_int(lappend_int(numbers, false), false);
	rte->inh = false;
	mark_table(rte,
			   list_make4(numbers, query->keys,
						  query->is_of_intervals ? query->quals : NULL,
						  query->ranges));
}

/*
 * ZbxhistGetItemMark reads the mark of a table's entry; returns false if it is not marked
 * for an item scan.
 */
bool
ZbxhistGetItemMark(const RangeTblEntry *rte, ItemQuery *query)
{
	List	   *mark = get_table_mark(rte);

	if (mark == NIL)
		return false;
	read_item_numbers(list_nth(mark, MARKED_QUERY), query);
	query->keys = list_nth(mark, MARKED_KEYS);
	query->quals = list_nth(mark, MARKED_QUALS);
	query->ranges = list_nth(mark, MARKED_RANGES);
	return true;
}

/*
 * TakeMarked splits the conditions of a query for intervals, and adds all of them to
 * exact.  They are in the mark, so the planner has not processed them.
 */
static void
TakeMarked(PlannerInfo *root, Node *quals, const KeyColumns *columns, List **conds,
		   List **exact)
{
	ListCell   *lc;

	if (quals == NULL)
		return;
	(void) ZbxhistTakeCondition((Expr *) quals, columns, conds);
	foreach(lc, *conds)
	{
		PackedCond *cond = lfirst(lc);

		cond->value = (Expr *) eval_const_expressions(root, (Node *) cond->value);
	}
	*exact = ZbxhistAddParts(NIL, eval_const_expressions(root, quals), AND_EXPR);
}

/*
 * TakeClauses splits the conditions on the table: those that the scan does not evaluate
 * are left to the executor.  So are all conditions of a query for intervals, which are on
 * the rows that it has chosen, and of one for ranges.
 */
static void
TakeClauses(PlannerInfo *root, const List *mark, const KeyColumns *columns,
			List *clauses, List **conds, List **exact, List **local)
{
	ItemQuery	query;
	ListCell   *lc;

	*conds = NIL;
	*exact = NIL;
	*local = NIL;
	read_item_numbers(list_nth(mark, MARKED_QUERY), &query);
	if (query.is_of_intervals)
		TakeMarked(root, list_nth(mark, MARKED_QUALS), columns, conds, exact);
	foreach(lc, clauses)
	{
		RestrictInfo *restriction = lfirst_node(RestrictInfo, lc);

		if (restriction->pseudoconstant)
			continue;
		if (!query.is_of_intervals && list_nth(mark, MARKED_RANGES) == NULL &&
			ZbxhistTakeCondition(restriction->clause, columns, conds))
			*exact = lappend(*exact, restriction->clause);
		else if (!list_member(*exact, restriction->clause))
			*local = lappend(*local, restriction->clause);
	}
}

/*
 * PlanItem makes the plan of the path.
 */
static Plan *
PlanItem(PlannerInfo *root, RelOptInfo *rel, CustomPath *path, List *tlist,
		 List *clauses, List *custom_plans)
{
	CustomScan *scan = makeNode(CustomScan);
	const List *mark = lsecond(path->custom_private);
	List	   *conds;
	List	   *kinds;
	List	   *exact;

	TakeClauses(root, mark, linitial(path->custom_private), clauses, &conds, &exact,
				&scan->scan.plan.qual);
	kinds = ZbxhistKindsOf(conds, &scan->custom_exprs);
	scan->custom_exprs = list_concat(scan->custom_exprs, list_nth(mark, MARKED_KEYS));
	scan->custom_exprs = list_concat(scan->custom_exprs, exact);
	scan->scan.plan.targetlist = tlist;
	scan->scan.scanrelid = rel->relid;
	scan->flags = path->flags;
	scan->custom_private = list_make3(kinds, list_nth(mark, MARKED_QUERY),
									  list_nth(mark, MARKED_RANGES));
	scan->methods = list_nth(mark, MARKED_RANGES) != NULL ?
		&zbxhist_key_scan.methods : &zbxhist_item_scan.methods;
	return &scan->scan.plan;
}

static const CustomPathMethods item_path_methods = {
	.CustomName = "ZbxhistItem",
	.PlanCustomPath = PlanItem
};

/*
 * EstimateItemRows estimates the number of items, or of intervals of items, that have
 * rows.
 */
static double
EstimateItemRows(PlannerInfo *root, RelOptInfo *rel, Oid relid,
				 const KeyColumns *columns, const List *mark)
{
	List	   *conds;
	List	   *exact;
	List	   *local;
	ScanBounds	bounds;
	double		result;
	int			nranges;
	ListCell   *lc;

	if (list_nth(mark, MARKED_RANGES) != NULL)
	{
		(void) read_key_ranges(list_nth_node(Const, mark, MARKED_RANGES)->constvalue,
							   &nranges);
		return clamp_row_est(nranges);
	}
	TakeClauses(root, mark, columns, rel->baserestrictinfo, &conds, &exact, &local);
	ZbxhistGetConstBounds(conds, &bounds);
	if (bounds.items != NULL)
		result = bounds.nitems;
	else if (leaves_one_item(conds))
		result = 1;
	else
	{
		result = ZbxhistCountItems(relid, columns->itemid, 0);
		if (result <= 0)
			result = USUAL_ROWS;
	}
	foreach(lc, list_nth(mark, MARKED_KEYS))
		result *= Min(Max(ZbxhistCountResults(lfirst(lc), columns->clock,
											  (double) bounds.to_clock -
											  (double) bounds.from_clock), 1),
					  USUAL_ROWS);
	return clamp_row_est(result);
}

/*
 * HasItemOrder says whether the query wants rows in the order of their items.  Further
 * sort keys do not matter, as there is only one row of each item.
 */
static bool
HasItemOrder(PlannerInfo *root, RelOptInfo *rel, AttrNumber itemid)
{
	const PathKey *key;

	if (root->query_pathkeys == NIL)
		return false;
	key = linitial_node(PathKey, root->query_pathkeys);
	return key->pk_opfamily == INTEGER_BTREE_FAM_OID &&
		!pathkey_is_descending(key) && !key->pk_eclass->ec_has_volatile &&
		find_equivalence_member(key->pk_eclass, rel, itemid) != NULL;
}

/*
 * IsKeyOf says whether a sort key is a column of type integer of the table, and sets its
 * direction.
 */
static bool
IsKeyOf(const PathKey *key, RelOptInfo *rel, AttrNumber attnum, bool *is_descending)
{
	*is_descending = pathkey_is_descending(key);
	return attnum != InvalidAttrNumber && key->pk_opfamily == INTEGER_BTREE_FAM_OID &&
		!key->pk_eclass->ec_has_volatile &&
		find_equivalence_member(key->pk_eclass, rel, attnum) != NULL;
}

/*
 * FindKeyOrder returns the leading sort keys of the query that rows item after item
 * satisfy, and notes their directions for the scan.  The planner omits sort keys that
 * conditions make constant.
 */
static List *
FindKeyOrder(PlannerInfo *root, RelOptInfo *rel, Relation table, List *mark,
			 const KeyColumns *columns, const List *conds)
{
	List	   *numbers = list_nth(mark, MARKED_QUERY);
	int		   *items_descending = &lfirst_int(list_nth_cell(numbers, QUERY_ITEMS_DESCENDING));
	int		   *is_descending = &lfirst_int(list_nth_cell(numbers, QUERY_IS_DESCENDING));
	AttrNumber	ns = ZbxhistFindTyped(table, "ns", INT4OID);
	AttrNumber	attnums[3];
	int			first = !leaves_one_item(conds) ? 0 :
		ZbxhistHasCond(conds, COND_CLOCK, COND_CLOCK) ? 2 : 1;
	List	   *result = NIL;
	ListCell   *lc;

	attnums[0] = columns->itemid;
	attnums[1] = columns->clock;
	attnums[2] = ns != InvalidAttrNumber && has_no_nulls(RelationGetDescr(table), ns) ?
		ns : InvalidAttrNumber;
	foreach(lc, root->query_pathkeys)
	{
		PathKey    *key = lfirst_node(PathKey, lc);
		int			i = first + foreach_current_index(lc);
		bool		descending;

		if (i == lengthof(attnums) || !IsKeyOf(key, rel, attnums[i], &descending) ||
			(i == 2 && first < 2 && descending != *is_descending))
			break;
		if (i == 0)
			*items_descending = descending;
		else
			*is_descending = descending;
		result = lappend(result, key);
	}
	return result;
}

/*
 * EstimateKeyRows estimates a scan of all rows of all items, or of named ones.  Packed
 * rows are estimated as by a foreign scan, which has its estimates in the relation's
 * fdw_private.
 */
static void
EstimateKeyRows(PlannerInfo *root, RelOptInfo *rel, Relation parent, Path *path,
				List **conds)
{
	const PackedRel *packed = ZbxhistPreparePackedRel(root, rel, parent, parent);
	List	   *exact = NIL;
	List	   *local = NIL;
	ScanBounds	bounds;

	ZbxhistSplitConditions(packed, rel->baserestrictinfo, conds, &exact, &local);
	path->total_cost = random_page_cost + packed->estimate.total_cost;
	if (names_items(*conds))
	{
		ZbxhistGetConstBounds(*conds, &bounds);
		path->rows = ZbxhistCountItemRows(ZbxhistGetPartitions(parent),
										  bounds.items == NULL ? 1 : bounds.nitems,
										  bounds.from_clock, bounds.to_clock);
		path->rows = Max(path->rows, packed->estimate.rows);
		path->total_cost += (path->rows - packed->estimate.rows) *
			(cpu_tuple_cost + cpu_index_tuple_cost);
	}
	else
	{
		path->rows = ZbxhistCountRows(parent);
		path->total_cost = random_page_cost +
			path->rows * (cpu_tuple_cost + cpu_index_tuple_cost);
		local = rel->baserestrictinfo;
	}
	path->rows = clamp_row_est(path->rows *
							   clauselist_selectivity(root, local, rel->relid,
													  JOIN_INNER, NULL));
}

/*
 * MakeItemPath makes the path.
 */
static CustomPath *
MakeItemPath(PlannerInfo *root, RelOptInfo *rel, Relation parent, List *mark,
			 const ItemQuery *query)
{
	CustomPath *path;
	KeyColumns *columns = palloc(sizeof(KeyColumns));
	List	   *conds = NIL;

	ZbxhistFindKeyColumns(root, parent, rel->relid, columns);
	path = make_scan_path(rel,
						  get_baserel_parampathinfo(root, rel,
													rel->lateral_relids),
						  &item_path_methods, list_make2(columns, mark));
	if (query->is_by_key)
	{
		EstimateKeyRows(root, rel, parent, &path->path, &conds);
		path->path.pathkeys = FindKeyOrder(root, rel, parent, mark, columns, conds);
		lfirst_int(list_nth_cell(linitial(mark), QUERY_READS_ALL)) =
			root->tuple_fraction == 0;
		return path;
	}
	path->path.rows = EstimateItemRows(root, rel, RelationGetRelid(parent), columns,
									   mark);
	path->path.total_cost =
		random_page_cost * (query->ranges != NULL ? path->path.rows : 1) +
		path->path.rows * (cpu_tuple_cost + cpu_index_tuple_cost);
	if (!query->is_of_intervals && query->ranges == NULL &&
		HasItemOrder(root, rel, columns->itemid))
		path->path.pathkeys = root->query_pathkeys;
	return path;
}

/*
 * ZbxhistWithoutPacked returns a path of the rows of such a relation that are not packed.
 */
Path *
ZbxhistWithoutPacked(const RelOptInfo *rel)
{
	const PackedRel *packed = rel->fdw_private;
	const Path *whole = rel->cheapest_total_path;
	CustomPath *path = makeNode(CustomPath);
	List	   *mark;

	while (IsA(whole, ProjectionPath))
		whole = ((const ProjectionPath *) whole)->subpath;
	*path = *(const CustomPath *) whole;
	mark = copyObject(lsecond(path->custom_private));
	lfirst_int(list_nth_cell(linitial(mark), QUERY_LEAVES_PACKED)) = true;
	path->custom_private = list_make2(linitial(path->custom_private), mark);
	path->path.rows = clamp_row_est(path->path.rows - packed->estimate.rows);
	path->path.total_cost -= packed->estimate.total_cost;
	return &path->path;
}

/*
 * ZbxhistConsiderItemScan replaces the planner's paths of a marked table by ours.
 */
void
ZbxhistConsiderItemScan(PlannerInfo *root, RelOptInfo *rel, Index rti,
						RangeTblEntry *rte)
{
	ItemQuery	query;
	Relation	parent;
	List	   *mark;
	CustomPath *path;

	if (!ZbxhistGetItemMark(rte, &query) || IS_DUMMY_REL(rel))
		return;
	mark = copyObject(get_table_mark(rte));
	ChangeVarNodes((Node *) list_copy_tail(mark, MARKED_KEYS), 1, rel->relid, 0);
	parent = table_open(rte->relid, NoLock);
	path = MakeItemPath(root, rel, parent, mark, &query);
	table_close(parent, NoLock);
	/* set for the parent's own rows, of which there are mostly none */
	rel->rows = path->path.rows;
	rel->tuples = Max(rel->tuples, rel->rows);
	rel->pathlist = NIL;
	rel->partial_pathlist = NIL;
	add_path(rel, &path->path);
}
