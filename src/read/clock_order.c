/*-------------------------------------------------------------------------
 *
 * clock_order.c
 *	  Plans rows of a parent in the order of their clocks.
 *
 *	SELECT * FROM history WHERE itemid IN (5, 6, 7) ORDER BY clock DESC LIMIT 10
 *	SELECT max(clock) FROM history
 *
 * Partitions and packed days do not overlap.  So if they are read in the order of their
 * clocks, and the rows of each are sorted, all rows are in the order of clocks, and a
 * LIMIT stops at the first tables.  PostgreSQL does this for partitioned tables only; for
 * others it sorts all rows, or the rows of all tables.  This file adds a path with an
 * Append in the order of clocks.
 *
 * In this Append the packed table is scanned several times, each time between two clocks:
 * once for each group of days with no partition in between.  These clocks cover all days,
 * whatever days there are when the plan is executed.  The first days are a group each.
 * Later groups become larger, so a thousand days are ten groups.
 *
 * Rows of the parent itself, which may be of any clock, are merged with these.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "catalog/pg_opfamily.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "compat.h"
#include "fdw/fdw_plan.h"
#include "guc.h"
#include "read/clock_order.h"
#include "tables/partition_set.h"

/* a partition, or a packed day, with rows of these clocks */
typedef struct ClockTable
{
	int64		from_clock;
	int64		to_clock;		/* excluded */
	const PackedDay *day;		/* NULL: a partition */
	RelOptInfo *rel;
} ClockTable;

/* the tables of a parent in a query */
typedef struct ClockTables
{
	PartitionSet *set;
	RelOptInfo *packed;			/* or NULL */
	int			ntables;
	ClockTable *tables;			/* sorted by clock */
	List	   *others;			/* of RelOptInfo: those with rows of any clock */
} ClockTables;

/* ---- tables ---- */

/*
 * compare_clock_tables orders tables by their clocks.
 */
static int
compare_clock_tables(const void *a, const void *b)
{
	int64		left = ((const ClockTable *) a)->from_clock;
	int64		right = ((const ClockTable *) b)->from_clock;

	return left < right ? -1 : left > right;
}

/*
 * AddClockTable adds a table, or a packed day.
 */
static void
AddClockTable(ClockTables *tables, RelOptInfo *rel, int64 from_clock, int64 to_clock,
			  const PackedDay *day)
{
	ClockTable *table = &tables->tables[tables->ntables++];

	table->from_clock = from_clock;
	table->to_clock = to_clock;
	table->day = day;
	table->rel = rel;
}

/*
 * AddChild adds a table of the relation; returns false if it does not belong to the
 * parent's partition set.
 */
static bool
AddChild(PlannerInfo *root, ClockTables *tables, RelOptInfo *rel)
{
	Oid			relid = planner_rt_fetch(rel->relid, root)->relid;
	const PackedRel *packed = ZbxhistPackedRelOf(rel);
	const PartitionBounds *partition = partition_of(tables->set, relid);

	if (packed == NULL && (rel->cheapest_total_path == NULL ||
						   rel->cheapest_total_path->param_info != NULL))
		return false;
	if (packed != NULL)
	{
		if (tables->packed != NULL || relid != tables->set->packed)
			return false;
		tables->packed = rel;
		for (int i = 0; i < packed->ndays; i++)
			AddClockTable(tables, rel, packed->days[i].from_clock,
						  packed->days[i].to_clock, &packed->days[i]);
	}
	else if (partition != NULL)
		AddClockTable(tables, rel, partition->from_clock, partition->to_clock, NULL);
	else
		tables->others = lappend(tables->others, rel);
	return true;
}

/*
 * ZbxhistListTables lists the tables of a relation that have not been left out: its
 * children, or the relation itself if it is not expanded.
 */
List *
ZbxhistListTables(PlannerInfo *root, RelOptInfo *rel)
{
	List	   *result = NIL;
	ListCell   *lc;

	if (!planner_rt_fetch(rel->relid, root)->inh)
		return list_make1(rel);
	foreach(lc, root->append_rel_list)
	{
		AppendRelInfo *appinfo = lfirst_node(AppendRelInfo, lc);
		RelOptInfo *child = root->simple_rel_array[appinfo->child_relid];

		if (appinfo->parent_relid == rel->relid && child != NULL &&
			!IS_DUMMY_REL(child))
			result = lappend(result, child);
	}
	return result;
}

/*
 * FindClockTables finds the tables of a relation; returns false unless they are tables of
 * one parent whose clocks do not overlap.
 */
static bool
FindClockTables(PlannerInfo *root, RelOptInfo *rel, ClockTables *tables)
{
	List	   *children = ZbxhistListTables(root, rel);
	int			n = 0;
	ListCell   *lc;

	memset(tables, 0, sizeof(ClockTables));
	foreach(lc, children)
	{
		RelOptInfo *child = lfirst(lc);
		RangeTblEntry *rte = planner_rt_fetch(child->relid, root);

		if (rte->rtekind != RTE_RELATION || rte->inh)
			return false;
		if (tables->set == NULL)
			tables->set = ZbxhistFindPartitions(rte->relid);
		n += 1 + (ZbxhistPackedRelOf(child) == NULL ? 0 :
				  ZbxhistPackedRelOf(child)->ndays);
	}
	if (tables->set == NULL || !tables->set->is_exhaustive)
		return false;
	tables->tables = palloc(sizeof(ClockTable) * n);
	foreach(lc, children)
	{
		if (!AddChild(root, tables, lfirst(lc)))
			return false;
	}
	qsort(tables->tables, tables->ntables, sizeof(ClockTable), compare_clock_tables);
	for (int i = 1; i < tables->ntables; i++)
	{
		if (tables->tables[i].from_clock < tables->tables[i - 1].to_clock)
			return false;
	}
	return tables->ntables > 1;
}

/* ---- the order ---- */

/*
 * IsClockOf says whether a column of a relation is the clock of all its tables.
 */
static bool
IsClockOf(PlannerInfo *root, RelOptInfo *rel, AttrNumber attnum)
{
	ListCell   *lc;

	if (ZbxhistPackedRelOf(rel) != NULL)
		return attnum == ZbxhistPackedRelOf(rel)->columns.clock;
	foreach(lc, root->append_rel_list)
	{
		AppendRelInfo *appinfo = lfirst_node(AppendRelInfo, lc);
		Var		   *var;

		if (appinfo->parent_relid != rel->relid)
			continue;
		if (attnum > list_length(appinfo->translated_vars))
			return false;
		var = list_nth(appinfo->translated_vars, attnum - 1);
		if (var == NULL || !IsA(var, Var) || var->varattno !=
			get_attnum(planner_rt_fetch(appinfo->child_relid, root)->relid, "clock"))
			return false;
	}
	return true;
}

/*
 * FindColumn returns the number of the column of a relation that is a sort key, or 0.
 */
static AttrNumber
FindColumn(RelOptInfo *rel, const PathKey *key)
{
	if (key->pk_eclass->ec_has_volatile)
		return InvalidAttrNumber;
	for (AttrNumber attnum = 1; attnum <= rel->max_attr; attnum++)
	{
		if (find_equivalence_member(key->pk_eclass, rel, attnum) != NULL)
			return attnum;
	}
	return InvalidAttrNumber;
}

/*
 * FindClockOrder returns the leading sort keys of the query that are columns, the first
 * of them the clock; NIL if it is not.
 */
static List *
FindClockOrder(PlannerInfo *root, RelOptInfo *rel)
{
	List	   *result = NIL;
	ListCell   *lc;

	foreach(lc, root->query_pathkeys)
	{
		PathKey    *key = lfirst_node(PathKey, lc);
		AttrNumber	attnum = FindColumn(rel, key);

		if (attnum == InvalidAttrNumber ||
			(result == NIL && (key->pk_opfamily != INTEGER_BTREE_FAM_OID ||
							   !IsClockOf(root, rel, attnum))))
			break;
		result = lappend(result, key);
	}
	return result;
}

/*
 * HasClockOfEach says whether a parent's clock is never null.
 */
static bool
HasClockOfEach(const PartitionSet *set)
{
	Relation	parent = table_open(set->parent, NoLock);
	bool		result = set->clock_attnum != InvalidAttrNumber &&
		has_no_nulls(RelationGetDescr(parent), set->clock_attnum);

	table_close(parent, NoLock);
	return result;
}

/* ---- paths ---- */

/*
 * EndOfGroup returns the table behind the last of a group of days, of which tables has the
 * first; step goes from one to the next.
 */
static int
EndOfGroup(const ClockTables *tables, int first, int step, int ndays)
{
	int			i = first;

	while (i >= 0 && i < tables->ntables && tables->tables[i].day != NULL && ndays-- > 0)
		i += step;
	return i;
}

/*
 * FindDayNear returns the packed day from a table on, or NULL.
 */
static const ClockTable *
FindDayNear(const ClockTables *tables, int i, int step)
{
	while (i >= 0 && i < tables->ntables && tables->tables[i].day == NULL)
		i += step;
	return i >= 0 && i < tables->ntables ? &tables->tables[i] : NULL;
}

/*
 * MakeGroupPath makes a path of a group of days, from first to last, and of all clocks up
 * to the neighbouring groups; NULL if the conditions exclude all of these.
 */
static Path *
MakeGroupPath(PlannerInfo *root, const ClockTables *tables, int first, int last,
			  const ScanBounds *bounds)
{
	const PackedRel *packed = ZbxhistPackedRelOf(tables->packed);
	const ClockTable *next = FindDayNear(tables, last + 1, 1);
	int64		first_clock = FindDayNear(tables, first - 1, -1) == NULL ?
		PG_INT32_MIN : tables->tables[first].from_clock;
	int64		last_clock = next == NULL ? PG_INT32_MAX : next->from_clock - 1;
	double		nrows = 0;

	if (first_clock > bounds->to_clock || last_clock < bounds->from_clock)
		return NULL;
	for (int i = first; i <= last; i++)
		nrows += tables->tables[i].day->nrows;
	return ZbxhistMakeClocksPath(root, tables->packed, (int32) first_clock,
								 (int32) last_clock, nrows / Max(packed->nrows, 1));
}

/*
 * ListPaths returns paths of the tables, one after the other in the order of their clocks.
 */
static List *
ListPaths(PlannerInfo *root, const ClockTables *tables, bool is_descending)
{
	List	   *result = NIL;
	ScanBounds	bounds;
	int			step = is_descending ? -1 : 1;
	int			i = is_descending ? tables->ntables - 1 : 0;
	int			ndays = 1;

	ZbxhistGetConstBounds(tables->packed == NULL ? NIL :
						  ZbxhistPackedRelOf(tables->packed)->conds, &bounds);
	while (i >= 0 && i < tables->ntables)
	{
		int			end = EndOfGroup(tables, i, step, ndays);
		Path	   *path;

		if (end == i)
		{
			result = lappend(result, tables->tables[i].rel->cheapest_total_path);
			i += step;
			continue;
		}
		path = MakeGroupPath(root, tables, Min(i, end - step), Max(i, end - step),
							 &bounds);
		i = end;
		if (path == NULL)
			continue;
		result = lappend(result, path);
		ndays *= 2;
	}
	return result;
}

/*
 * MakeAppend makes an Append of paths in that order.  PostgreSQL would count the sorts of
 * all of them before the first row; here only those count that a LIMIT needs, or for
 * max(clock) the first row.
 */
static Path *
MakeAppend(PlannerInfo *root, RelOptInfo *rel, List *paths, List *order)
{
	Path	   *result = (Path *) create_append_path_compat(root, rel, paths, order);
	double		nwanted = root->limit_tuples > 0 ? root->limit_tuples : 1;
	double		nrows = 0;
	ListCell   *lc;

	result->startup_cost = 0;
	foreach(lc, paths)
	{
		const Path *path = lfirst(lc);

		if (nrows >= nwanted)
			break;
		/* each row is compared with those that are kept, or a few others */
		result->startup_cost += path->total_cost + 2 * cpu_operator_cost * path->rows;
		nrows += path->rows;
	}
	result->startup_cost = Min(result->startup_cost, result->total_cost);
	return result;
}

/*
 * ZbxhistConsiderClockOrder adds a path of a parent's rows in the order of their clocks, if
 * the query wants them so.
 */
void
ZbxhistConsiderClockOrder(PlannerInfo *root, RelOptInfo *rel, RangeTblEntry *rte)
{
	ClockTables tables;
	List	   *order;
	List	   *paths;
	Path	   *path;
	ListCell   *lc;

	if ((!rte->inh && ZbxhistPackedRelOf(rel) == NULL) ||
		root->query_pathkeys == NIL || !zbxhist_enable_item_scan ||
		!zbxhist_enable_packed_scan_pruning || rel->reloptkind != RELOPT_BASEREL ||
		IS_DUMMY_REL(rel) || !bms_is_empty(rel->lateral_relids) ||
		root->parse->commandType != CMD_SELECT || root->rowMarks != NIL)
		return;
	order = FindClockOrder(root, rel);
	if (order == NIL || !FindClockTables(root, rel, &tables) ||
		!HasClockOfEach(tables.set))
		return;
	paths = ListPaths(root, &tables, pathkey_is_descending(linitial_node(PathKey, order)));
	if (list_length(paths) < 2)
		return;
	path = MakeAppend(root, rel, paths, order);
	if (tables.others != NIL)
	{
		paths = list_make1(path);
		foreach(lc, tables.others)
			paths = lappend(paths, ((RelOptInfo *) lfirst(lc))->cheapest_total_path);
		path = (Path *) create_merge_append_path_compat(root, rel, paths, order);
	}
	add_path(rel, path);
}
