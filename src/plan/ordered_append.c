/*-------------------------------------------------------------------------
 *
 * ordered_append.c
 *	  Reads partitions one after the other where their order is wanted.
 *
 * The newest values of an item are asked for by ORDER BY clock DESC LIMIT n.
 * For a union of tables the planner merges their rows, for which it has to
 * look into each of them.  Where these are partitions of one parent, each has
 * the clocks of its constraint, so reading one after the other gives the order
 * as well, as with native partitions, and mostly the LIMIT is reached in the
 * first.
 *
 * Packed days come first, as far as all of them are before the partitions.
 * Which ones there are is known when the plan is run; those that belong after
 * the first partition by then are left out: they have come after the query was
 * planned, like a partition that comes then.  The parent's own rows have any
 * clock; where it has some, they are merged with the others.
 *
 * select.c marks the entry of such a union in the range table.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_opfamily.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "parser/parsetree.h"

#include "compat.h"
#include "compat_marks.h"
#include "packed/fdw/fdw.h"
#include "plan/ordered_append.h"

/* numbers in the mark of a union, which follow the list of its tables */
enum OrderMark
{
	MARK_CLOCK_ATTNUM,
	MARK_HAS_PARENT,
	MARK_PACKED_END,			/* less one, so that it is an int */
	MARK_PACKED					/* an Oid */
};

#define mark_number(mark, number) list_nth_int(lsecond(mark), number)

/*
 * ZbxhistMarkOrdered marks the entry of a union of tables.  They are in the order
 * of their clocks, but for the parent, which comes before the others if it is
 * there.
 */
void
ZbxhistMarkOrdered(RangeTblEntry *rte, List *tables, bool has_parent,
				   const TableOrder *order)
{
	mark_table(rte, MARK_ORDERED,
			   list_make2(tables,
						  list_make4_int(order->clock_attnum, has_parent,
										 (int) (order->packed_end - 1),
										 (int) order->packed)));
}

/*
 * GetClockOrder says whether rows of rel are wanted in the order of their
 * clocks first of all, and sets in which direction.
 */
static bool
GetClockOrder(PlannerInfo *root, RelOptInfo *rel, AttrNumber clock_attnum,
			  bool *is_descending)
{
	const PathKey *key;

	if (root->query_pathkeys == NIL)
		return false;
	key = linitial_node(PathKey, root->query_pathkeys);
	*is_descending = pathkey_is_descending(key);
	return key->pk_opfamily == INTEGER_BTREE_FAM_OID &&
		!key->pk_eclass->ec_has_volatile &&
		find_equivalence_member(key->pk_eclass, rel, clock_attnum) != NULL;
}

/*
 * FindMember returns the member of an append relation that is a scan of the
 * table relid.
 */
static RelOptInfo *
FindMember(PlannerInfo *root, Index rti, Oid relid)
{
	ListCell   *lc;

	foreach(lc, root->append_rel_list)
	{
		const AppendRelInfo *appinfo = lfirst_node(AppendRelInfo, lc);

		if (appinfo->parent_relid == rti &&
			planner_rt_fetch(appinfo->child_relid, root)->relid == relid)
			return root->simple_rel_array[appinfo->child_relid];
	}
	return NULL;
}

/*
 * FindOrderedPath returns a path for a table that gives its rows in the order
 * that the query wants, or NULL; of packed days, those before packed_end.
 */
static Path *
FindOrderedPath(PlannerInfo *root, const RelOptInfo *member, bool is_packed,
				int64 packed_end)
{
	Path	   *path = get_cheapest_path_for_pathkeys(member->pathlist,
													  root->query_pathkeys,
													  NULL, TOTAL_COST, false);

	if (path == NULL || !is_packed)
		return path;
	return ZbxhistEndPackedPath(path, packed_end);
}

/*
 * ListOrderedPaths returns a path for each table that gives its rows in the
 * order that the query wants; NIL if there is none for some table.
 */
static List *
ListOrderedPaths(PlannerInfo *root, Index rti, const List *mark,
				 List *tables, bool is_descending)
{
	int64		packed_end = mark_number(mark, MARK_PACKED_END) + (int64) 1;
	Oid			packed = (Oid) mark_number(mark, MARK_PACKED);
	List	   *result = NIL;
	ListCell   *lc;

	foreach(lc, tables)
	{
		Oid			relid = lfirst_oid(lc);
		RelOptInfo *member = FindMember(root, rti, relid);
		Path	   *path;

		if (member == NULL)
			return NIL;
		if (IS_DUMMY_REL(member))
			continue;
		path = FindOrderedPath(root, member, relid == packed, packed_end);
		if (path == NULL)
			return NIL;
		result = is_descending ? lcons(path, result) : lappend(result, path);
	}
	return result;
}

/*
 * AddOrderedPath adds the path that reads one table after the other, and
 * merges the parent's rows with them.
 */
static void
AddOrderedPath(PlannerInfo *root, RelOptInfo *rel, Index rti,
			   const List *mark, bool is_descending)
{
	int			first = mark_number(mark, MARK_HAS_PARENT) ? 1 : 0;
	List	   *parent = list_copy_head(linitial(mark), first);
	List	   *tables = list_copy_tail(linitial(mark), first);
	List	   *paths = ListOrderedPaths(root, rti, mark, tables, is_descending);
	List	   *parent_paths = ListOrderedPaths(root, rti, mark, parent,
												is_descending);
	Path	   *path;

	if (list_length(paths) < 2 || (parent != NIL && parent_paths == NIL))
		return;
	path = create_append_path_compat(root, rel, paths, root->query_pathkeys);
	if (parent_paths != NIL)
		path = create_merge_append_path_compat(root, rel,
											   lappend(parent_paths, path),
											   root->query_pathkeys);
	add_path(rel, path);
}

/*
 * ZbxhistConsiderOrderedAppend adds that path where the order of clocks is asked for.
 */
void
ZbxhistConsiderOrderedAppend(PlannerInfo *root, RelOptInfo *rel, Index rti,
							 RangeTblEntry *rte)
{
	const List *mark = get_table_mark(rte, MARK_ORDERED);
	bool		is_descending;

	if (mark != NIL && rte->inh && rel->reloptkind == RELOPT_BASEREL &&
		!IS_DUMMY_REL(rel) && bms_is_empty(rel->lateral_relids) &&
		GetClockOrder(root, rel, mark_number(mark, MARK_CLOCK_ATTNUM),
					  &is_descending))
		AddOrderedPath(root, rel, rti, mark, is_descending);
}
