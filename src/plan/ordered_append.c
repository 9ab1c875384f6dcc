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
 * select.c marks the entry of such a union in the range table.  The parent's
 * own rows have any clock, and which packed days there are is known when the
 * plan is run, so neither is in a union that is marked.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_opfamily.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "parser/parsetree.h"

#include "compat.h"
#include "plan/ordered_append.h"

static set_rel_pathlist_hook_type prev_set_rel_pathlist = NULL;

/*
 * ZbxhistMarkOrdered marks the entry of a union of tables, which are in the
 * order of their clocks, in fields that have no other use in an entry of this
 * kind.
 */
void
ZbxhistMarkOrdered(RangeTblEntry *rte, List *tables, AttrNumber clock_attnum)
{
	rte->coltypes = tables;
	rte->coltypmods = list_make1_int(clock_attnum);
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
 * ListOrderedPaths returns a path for each table that gives its rows in the
 * order that the query wants; NIL if there is none for some table.
 */
static List *
ListOrderedPaths(PlannerInfo *root, Index rti, List *tables,
				 bool is_descending)
{
	List	   *result = NIL;
	ListCell   *lc;

	foreach(lc, tables)
	{
		RelOptInfo *member = FindMember(root, rti, lfirst_oid(lc));
		Path	   *path;

		if (member == NULL)
			return NIL;
		if (IS_DUMMY_REL(member))
			continue;
		path = get_cheapest_path_for_pathkeys(member->pathlist,
											  root->query_pathkeys, NULL,
											  TOTAL_COST, false);
		if (path == NULL)
			return NIL;
		result = is_descending ? lcons(path, result) : lappend(result, path);
	}
	return result;
}

/*
 * ConsiderOrderedAppend is the hook.
 */
static void
ConsiderOrderedAppend(PlannerInfo *root, RelOptInfo *rel, Index rti,
					  RangeTblEntry *rte)
{
	List	   *paths;
	bool		is_descending;

	if (prev_set_rel_pathlist)
		(*prev_set_rel_pathlist) (root, rel, rti, rte);
	if (rte->rtekind != RTE_SUBQUERY || rte->coltypmods == NIL || !rte->inh ||
		rel->reloptkind != RELOPT_BASEREL || IS_DUMMY_REL(rel) ||
		!bms_is_empty(rel->lateral_relids) ||
		!GetClockOrder(root, rel, linitial_int(rte->coltypmods),
					   &is_descending))
		return;
	paths = ListOrderedPaths(root, rti, rte->coltypes, is_descending);
	if (paths != NIL)
		add_path(rel, (Path *)
				 create_append_path(root, rel, paths, NIL,
									root->query_pathkeys, NULL, 0, false, -1));
}

/*
 * ZbxhistOrderedAppendInit installs the hook, keeping one that is there.
 */
void
ZbxhistOrderedAppendInit(void)
{
	prev_set_rel_pathlist = set_rel_pathlist_hook;
	set_rel_pathlist_hook = ConsiderOrderedAppend;
}
