/*-------------------------------------------------------------------------
 *
 * fdw_plan.c
 *	  Plans scans of packed days.
 *
 * A scan evaluates the conditions on itemid and clock (conditions.c), the executor all
 * others.  Rows of one item come in the order of (clock, ns), either way, which lets an
 * ordered Append or MergeAppend with a LIMIT stop after the newest few.  A join on itemid
 * may scan for each item of the other side.  In a parallel query each worker reads some of
 * the days.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "access/table.h"
#include "catalog/pg_opfamily.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/planmain.h"
#include "optimizer/restrictinfo.h"
#include "parser/parsetree.h"
#include "utils/rel.h"

#include "compat.h"
#include "fdw/fdw.h"
#include "fdw/fdw_plan.h"
#include "guc.h"
#include "tables/packed_table.h"

/* ---- conditions ---- */

/*
 * TakeOrs takes the ORs among RestrictInfos apart, once for all paths.
 */
static void
TakeOrs(PackedRel *packed, List *restrictions)
{
	ListCell   *lc;

	foreach(lc, restrictions)
	{
		Expr	   *clause = lfirst_node(RestrictInfo, lc)->clause;
		TakenOr    *taken;

		if (!is_orclause(clause))
			continue;
		taken = palloc(sizeof(TakenOr));
		taken->clause = clause;
		taken->conds = NIL;
		(void) ZbxhistTakeCondition(clause, &packed->columns, &taken->conds);
		packed->ors = lappend(packed->ors, taken);
	}
}

/*
 * TakeNewCondition calls ZbxhistTakeCondition, except for an OR that has been
 * taken apart before.
 */
static bool
TakeNewCondition(const PackedRel *packed, Expr *clause, List **conds)
{
	ListCell   *lc;

	foreach(lc, packed->ors)
	{
		const TakenOr *taken = lfirst(lc);

		if (taken->clause == clause)
		{
			*conds = list_concat(*conds, taken->conds);
			return false;
		}
	}
	return ZbxhistTakeCondition(clause, &packed->columns, conds);
}

/*
 * ZbxhistSplitConditions divides RestrictInfos into those that the scan takes
 * care of, whose clauses go to exact, and local ones; conds gets what the scan
 * is to do.
 */
void
ZbxhistSplitConditions(const PackedRel *packed, List *restrictions,
					   List **conds, List **exact, List **local)
{
	ListCell   *lc;

	foreach(lc, restrictions)
	{
		RestrictInfo *restriction = lfirst_node(RestrictInfo, lc);

		if (restriction->pseudoconstant)
			continue;
		if (zbxhist_enable_packed_scan_pruning &&
			TakeNewCondition(packed, restriction->clause, conds))
			*exact = lappend(*exact, restriction->clause);
		else
			*local = lappend(*local, restriction);
	}
}

/*
 * Estimate estimates a scan by some conditions, and returns what it is to do by these.
 */
static List *
Estimate(PlannerInfo *root, RelOptInfo *rel, List *restrictions,
		 ScanEstimate *estimate)
{
	List	   *conds = NIL;
	List	   *exact = NIL;
	List	   *local = NIL;

	ZbxhistSplitConditions(rel->fdw_private, restrictions, &conds, &exact,
						   &local);
	ZbxhistEstimateScan(root, rel, conds, local, estimate);
	return conds;
}

/*
 * ZbxhistPreparePackedRel collects what is known of packed days in a query, and estimates a
 * scan of them.
 */
PackedRel *
ZbxhistPreparePackedRel(PlannerInfo *root, RelOptInfo *rel, Relation table,
						Relation parent)
{
	PackedRel  *packed = ZbxhistMakePackedRel(root, rel, table, parent);

	rel->fdw_private = packed;
	if (zbxhist_enable_packed_scan_pruning)
		TakeOrs(packed, rel->baserestrictinfo);
	packed->conds = Estimate(root, rel, rel->baserestrictinfo, &packed->estimate);
	return packed;
}

/*
 * OpenParent opens the table whose days a foreign table stands for.  Mostly
 * the query came by way of that table, so it is known.
 */
static Relation
OpenParent(Relation table)
{
	const PartitionSet *set = ZbxhistFindPartitions(RelationGetRelid(table));

	return table_open(set != NULL && set->packed == RelationGetRelid(table) ?
					  set->parent : ZbxhistForeignParent(table),
					  AccessShareLock);
}

/*
 * GetForeignRelSize estimates how many rows there will be.  TABLESAMPLE comes here
 * with a parent only, and PostgreSQL would take each packed row into the sample.
 */
static void
GetForeignRelSize(PlannerInfo *root, RelOptInfo *rel, Oid relid)
{
	Relation	table = table_open(relid, NoLock);
	Relation	parent = OpenParent(table);
	List	   *restrictions = rel->baserestrictinfo;
	PackedRel  *packed = ZbxhistPreparePackedRel(root, rel, table, parent);

	if (packed->ndays > 0 && planner_rt_fetch(rel->relid, root)->tablesample != NULL)
		ereport(ERROR,
				errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				errmsg("packed rows cannot be sampled by TABLESAMPLE"),
				errhint("Use a condition such as random() < 0.01, and bounds of clock."));
	/* only for the width: our estimate of rows is better */
	rel->baserestrictinfo = NIL;
	set_baserel_size_estimates(root, rel);
	rel->baserestrictinfo = restrictions;
	cost_qual_eval(&rel->baserestrictcost, restrictions, root);
	rel->rows = packed->estimate.rows;
	table_close(parent, NoLock);
	table_close(table, NoLock);
}

/* ---- order ---- */

/*
 * MatchPathKey says whether a sort key is the column attnum; sets its
 * direction.
 */
static bool
MatchPathKey(RelOptInfo *rel, const PathKey *key, AttrNumber attnum,
			 bool *is_descending)
{
	if (attnum == InvalidAttrNumber ||
		key->pk_opfamily != INTEGER_BTREE_FAM_OID ||
		key->pk_eclass->ec_has_volatile ||
		find_equivalence_member(key->pk_eclass, rel, attnum) == NULL)
		return false;
	*is_descending = pathkey_is_descending(key);
	return true;
}

/*
 * FindPathKeys returns how much of the order that the query wants can be that of rows by
 * clock and ns, and its direction.
 */
static List *
FindPathKeys(PlannerInfo *root, RelOptInfo *rel, bool has_one_clock, bool *is_descending)
{
	const PackedRel *packed = rel->fdw_private;
	AttrNumber	columns[2];
	int			next = has_one_clock ? 1 : 0;
	List	   *result = NIL;
	ListCell   *lc;

	columns[0] = packed->columns.clock;
	columns[1] = packed->ns;
	foreach(lc, root->query_pathkeys)
	{
		PathKey    *key = lfirst_node(PathKey, lc);
		bool		descending;

		if (next == lengthof(columns) ||
			!MatchPathKey(rel, key, columns[next], &descending) ||
			(result != NIL && descending != *is_descending))
			break;
		*is_descending = descending;
		result = lappend(result, key);
		next++;
	}
	return result;
}

/* ---- paths ---- */

/*
 * MakeForeignPath makes a path.
 */
static ForeignPath *
MakeForeignPath(PlannerInfo *root, RelOptInfo *rel,
				const ScanEstimate *estimate,
				List *pathkeys, bool is_descending, Relids outer)
{
	return create_foreignscan_path_compat(root, rel, estimate->rows,
										  estimate->startup_cost,
										  estimate->total_cost, pathkeys,
										  outer,
										  list_make1_int(is_descending));
}

/*
 * AddPlainPaths adds a path by the table's own conditions, and one in the
 * order that the query wants, if the scan has it.
 */
static void
AddPlainPaths(PlannerInfo *root, RelOptInfo *rel, const ScanEstimate *estimate)
{
	const List *conds = ((PackedRel *) rel->fdw_private)->conds;
	List	   *pathkeys = NIL;
	bool		is_descending = false;

	if (leaves_one_item(conds))
		pathkeys = FindPathKeys(root, rel, ZbxhistHasCond(conds, COND_CLOCK, COND_CLOCK),
								&is_descending);
	add_path(rel, (Path *) MakeForeignPath(root, rel, estimate, pathkeys, is_descending,
										   rel->lateral_relids));
}

/*
 * AddPartialPath adds a path whose days are divided among workers.  A small scan is not
 * worth starting workers.  For children PostgreSQL decides that by costs only, where a
 * guess at the rows of an item, made without statistics, may mislead it; so it is decided
 * here.  Returns whether a path was added.
 */
static bool
AddPartialPath(PlannerInfo *root, RelOptInfo *rel, const ScanEstimate *estimate)
{
	const PackedRel *packed = rel->fdw_private;
	ScanEstimate share = *estimate;
	ForeignPath *path;
	double		divisor;
	int			nworkers = compute_parallel_worker(rel, estimate->pages, -1,
												   max_parallel_workers_per_gather);

	nworkers = Min(nworkers, packed->ndays);
	if (nworkers <= 0 || estimate->pages < min_parallel_table_scan_size)
		return false;
	divisor = nworkers;
	if (parallel_leader_participation)
		divisor += Max(1.0 - 0.3 * nworkers, 0);
	share.rows = clamp_row_est(estimate->rows / divisor);
	share.total_cost -= estimate->cpu_cost * (1 - 1 / divisor);
	path = MakeForeignPath(root, rel, &share, NIL, false, NULL);
	path->path.parallel_aware = true;
	path->path.parallel_workers = nworkers;
	add_partial_path(rel, (Path *) path);
	return true;
}

/*
 * KeepFromWorkers prevents that workers read a parent most of whose rows are packed: one
 * worker would read all of these while the others have nothing to do.
 */
static void
KeepFromWorkers(PlannerInfo *root, RelOptInfo *rel)
{
	const AppendRelInfo *appinfo = root->append_rel_array == NULL ? NULL :
		root->append_rel_array[rel->relid];
	ListCell   *lc;

	if (appinfo == NULL ||
		rel->rows * 2 < root->simple_rel_array[appinfo->parent_relid]->rows)
		return;
	foreach(lc, rel->pathlist)
		((Path *) lfirst(lc))->parallel_safe = false;
}

/*
 * IsItemMember says whether a member of an equivalence class is our itemid;
 * a callback of generate_implied_equalities_for_column.
 */
static bool
IsItemMember(PlannerInfo *root, RelOptInfo *rel, EquivalenceClass *ec,
			 EquivalenceMember *em, void *arg)
{
	const PackedRel *packed = rel->fdw_private;
	Var		   *var = (Var *) em->em_expr;

	return IsA(var, Var) && var->varno == rel->relid &&
		var->varattno == packed->columns.itemid;
}

/*
 * AddOuterOf adds the relations that a join condition on the item needs to outers, unless
 * they are in it already.
 */
static List *
AddOuterOf(RelOptInfo *rel, RestrictInfo *join, List *outers)
{
	const PackedRel *packed = rel->fdw_private;
	List	   *conds = NIL;
	Relids		outer;
	ListCell   *lc;

	if (!join_clause_is_movable_to(join, rel) ||
		!ZbxhistTakeCondition(join->clause, &packed->columns, &conds) ||
		!leaves_one_item(conds))
		return outers;
	outer = bms_difference(bms_union(join->clause_relids, rel->lateral_relids),
						   rel->relids);
	foreach(lc, outers)
	{
		if (bms_equal(lfirst(lc), outer))
			return outers;
	}
	return lappend(outers, outer);
}

/*
 * AddJoinPaths adds a path for each set of relations whose rows give the item to
 * read.
 */
static void
AddJoinPaths(PlannerInfo *root, RelOptInfo *rel)
{
	List	   *outers = NIL;
	ListCell   *lc;

	foreach(lc, rel->joininfo)
		outers = AddOuterOf(rel, lfirst(lc), outers);
	if (rel->has_eclass_joins)
	{
		List	   *joins =
			generate_implied_equalities_for_column(root, rel, IsItemMember,
												   NULL,
												   rel->lateral_referencers);

		foreach(lc, joins)
			outers = AddOuterOf(rel, lfirst(lc), outers);
	}
	foreach(lc, outers)
	{
		ParamPathInfo *info = get_baserel_parampathinfo(root, rel, lfirst(lc));
		ScanEstimate estimate;

		(void) Estimate(root, rel, list_concat_copy(rel->baserestrictinfo,
													info->ppi_clauses), &estimate);
		info->ppi_rows = estimate.rows;
		add_path(rel, (Path *) MakeForeignPath(root, rel, &estimate, NIL, false,
											   lfirst(lc)));
	}
}

/*
 * ZbxhistMakeClocksPath makes a path of the rows between two clocks, which are included,
 * that are about a share of all.  It is not among the paths of the table.
 */
Path *
ZbxhistMakeClocksPath(PlannerInfo *root, RelOptInfo *rel, int32 first_clock,
					  int32 last_clock, double share)
{
	ScanEstimate estimate = ((PackedRel *) rel->fdw_private)->estimate;
	ForeignPath *path;

	estimate.rows = clamp_row_est(estimate.rows * share);
	estimate.total_cost = estimate.startup_cost +
		(estimate.total_cost - estimate.startup_cost) * share;
	path = MakeForeignPath(root, rel, &estimate, NIL, false, rel->lateral_relids);
	path->fdw_private = lappend_int(lappend_int(path->fdw_private, first_clock),
									last_clock);
	return &path->path;
}

/*
 * GetForeignPaths adds all paths of a foreign table.
 */
static void
GetForeignPaths(PlannerInfo *root, RelOptInfo *rel, Oid relid)
{
	const PackedRel *packed = rel->fdw_private;

	AddPlainPaths(root, rel, &packed->estimate);
	if (rel->consider_parallel && bms_is_empty(rel->lateral_relids) &&
		!AddPartialPath(root, rel, &packed->estimate))
		KeepFromWorkers(root, rel);
	if (zbxhist_enable_packed_scan_pruning)
		AddJoinPaths(root, rel);
}

/* ---- the plan ---- */

/*
 * WantedAttributes returns the numbers of the columns that have to be read:
 * those returned, and those of local conditions.
 */
static List *
WantedAttributes(RelOptInfo *rel, List *local)
{
	Bitmapset  *attributes = NULL;
	List	   *result = NIL;
	int			member = -1;

	pull_varattnos((Node *) rel->reltarget->exprs, rel->relid, &attributes);
	pull_varattnos((Node *) local, rel->relid, &attributes);
	while ((member = bms_next_member(attributes, member)) >= 0)
		result = lappend_int(result,
							 member + FirstLowInvalidHeapAttributeNumber);
	return result;
}

/*
 * AddClocks adds the clock bounds of a path that is limited to some clocks.
 */
static void
AddClocks(List **conds, const List *path)
{
	for (int i = CLOCKS_FIRST; i <= CLOCKS_LAST; i++)
	{
		PackedCond *cond = palloc(sizeof(PackedCond));

		cond->kind = i == CLOCKS_FIRST ? COND_CLOCK_FROM : COND_CLOCK_TO;
		cond->value = (Expr *) makeConst(INT4OID, -1, InvalidOid, sizeof(int32),
										 Int32GetDatum(list_nth_int(path, i)), false,
										 true);
		*conds = lappend(*conds, cond);
	}
}

/*
 * GetForeignPlan makes the plan of a path.
 */
static ForeignScan *
GetForeignPlan(PlannerInfo *root, RelOptInfo *rel, Oid relid,
			   ForeignPath *path, List *targets, List *restrictions,
			   Plan *outer)
{
	const PackedRel *packed = rel->fdw_private;
	List	   *conds = NIL;
	List	   *exact = NIL;
	List	   *local = NIL;
	List	   *values = NIL;
	List	   *private;

	ZbxhistSplitConditions(packed, restrictions, &conds, &exact, &local);
	local = extract_actual_clauses(local, false);
	if (list_length(path->fdw_private) > CLOCKS_FIRST)
		AddClocks(&conds, path->fdw_private);
	private = list_make5(list_make1_oid(packed->parent), ZbxhistKindsOf(conds, &values),
						 WantedAttributes(rel, local),
						 lappend_int(list_copy_head(path->fdw_private, CLOCKS_FIRST),
									 root->tuple_fraction == 0),
						 list_make1_int(false));
	return make_foreignscan(targets, local, rel->relid, values, private, NIL,
							exact, outer);
}

/*
 * ZbxhistPackedRelOf returns what is known of a foreign table of packed days,
 * NULL if rel is another relation.
 */
const PackedRel *
ZbxhistPackedRelOf(const RelOptInfo *rel)
{
	return rel->fdwroutine != NULL &&
		rel->fdwroutine->GetForeignPlan == GetForeignPlan ?
		rel->fdw_private : NULL;
}

/*
 * ZbxhistFdwPlanInit sets the functions of planning.
 */
void
ZbxhistFdwPlanInit(FdwRoutine *routine)
{
	routine->GetForeignRelSize = GetForeignRelSize;
	routine->GetForeignPaths = GetForeignPaths;
	routine->GetForeignPlan = GetForeignPlan;
}
