/*-------------------------------------------------------------------------
 *
 * aggregate_path.c
 *	  Plans aggregates over packed days without rows.
 *
 * This adds a path for grouping to queries on one relation that has packed days: a
 * parent, expanded or not (read/select.c), or the packed table itself.  The path is a
 * custom scan that aggregates the segments of packed days and, row by row, the output of
 * the plans of all other tables.  It replaces scans, Append and Aggregate.  HAVING, ORDER
 * BY and expressions of the results are left to the executor.
 *
 * The query's range table does not change, so privileges are checked and tables are
 * locked as usual.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/restrictinfo.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
#include "utils/rel.h"

#include "compat.h"
#include "compat_marks.h"
#include "guc.h"
#include "read/aggregate_path.h"
#include "read/clock_order.h"
#include "read/groups.h"
#include "read/item_path.h"
#include "tables/row_type.h"

/* the share of a scan's cost per row that remains, without conditions and with some */
#define SEGMENT_COST 0.03
#define FILTER_COST 0.1

/* ---- tables ---- */

/*
 * IsReadByRow says whether a relation is read completely, with conditions that are
 * checked row by row.
 */
static bool
IsReadByRow(PlannerInfo *root, const RelOptInfo *rel)
{
	ListCell   *lc;

	foreach(lc, rel->baserestrictinfo)
	{
		if (lfirst_node(RestrictInfo, lc)->pseudoconstant)
			return false;
	}
	return planner_rt_fetch(rel->relid, root)->tablesample == NULL;
}

/*
 * FindMarkedTables finds the tables of a parent whose marked entry one of our scans reads
 * instead of its children, and says whether there are packed days.
 */
static bool
FindMarkedTables(RelOptInfo *rel, const RangeTblEntry *rte, Tables *tables)
{
	ItemQuery	query;
	Relation	parent;
	Relation	packed;
	bool		has_same;

	if (!ZbxhistGetItemMark(rte, &query) || !query.is_by_key)
		return false;
	parent = table_open(rte->relid, NoLock);
	tables->relid = ZbxhistGetPartitions(parent)->packed;
	packed = OidIsValid(tables->relid) ?
		try_table_open(tables->relid, AccessShareLock) : NULL;
	has_same = packed != NULL &&
		ZbxhistMapColumns(RelationGetDescr(parent), RelationGetDescr(packed)) == NULL;
	if (packed != NULL)
		table_close(packed, NoLock);
	table_close(parent, NoLock);
	if (!has_same)
		return false;
	tables->packed = rel;
	tables->about = rel->fdw_private;
	tables->others = list_make1(ZbxhistWithoutPacked(rel));
	return true;
}

/*
 * FindAggregateTables finds the tables of a relation and says whether there are packed
 * days among them and all tables can be aggregated.
 */
static bool
FindAggregateTables(PlannerInfo *root, RelOptInfo *rel, Tables *tables)
{
	const RangeTblEntry *rte = planner_rt_fetch(rel->relid, root);
	ListCell   *lc;

	memset(tables, 0, sizeof(Tables));
	if (!IsReadByRow(root, rel))
		return false;
	if (get_table_mark(rte) != NIL)
		return FindMarkedTables(rel, rte, tables);
	foreach(lc, ZbxhistListTables(root, rel))
	{
		RelOptInfo *child = lfirst(lc);

		if (!IsReadByRow(root, child))
			return false;
		if (tables->packed == NULL && ZbxhistPackedRelOf(child) != NULL)
		{
			tables->packed = child;
			tables->about = ZbxhistPackedRelOf(child);
			tables->relid = planner_rt_fetch(child->relid, root)->relid;
		}
		else if (child->cheapest_total_path == NULL ||
				 child->cheapest_total_path->param_info != NULL)
			return false;
		else
			tables->others = lappend(tables->others, child->cheapest_total_path);
	}
	return tables->packed != NULL;
}

/*
 * PartOf returns the AppendRelInfo by which a table is a child of a relation; NULL if it
 * is the relation itself.
 */
static const AppendRelInfo *
PartOf(PlannerInfo *root, const RelOptInfo *rel)
{
	return root->append_rel_array == NULL ? NULL :
		root->append_rel_array[rel->relid];
}

/*
 * ColumnOf returns a table's expression for a column of the relation that it
 * is a part of.
 */
static Expr *
ColumnOf(const AppendRelInfo *appinfo, Var *column)
{
	return appinfo == NULL ? (Expr *) column :
		list_nth(appinfo->translated_vars, column->varattno - 1);
}

/*
 * FindParentAttribute returns the relation's column that is a column of a
 * table, or 0.
 */
static AttrNumber
FindParentAttribute(PlannerInfo *root, const RelOptInfo *packed,
					AttrNumber attnum)
{
	const AppendRelInfo *appinfo = PartOf(root, packed);
	ListCell   *lc;

	if (appinfo == NULL)
		return attnum;
	foreach(lc, appinfo->translated_vars)
	{
		Var		   *var = lfirst(lc);

		if (var != NULL && IsA(var, Var) && var->varno == packed->relid &&
			var->varattno == attnum)
			return foreach_current_index(lc) + 1;
	}
	return InvalidAttrNumber;
}

/* ---- columns of the input ---- */

/*
 * AddColumns adds the columns of a relation in expressions to a list, each
 * once.
 */
static List *
AddColumns(List *columns, List *exprs)
{
	ListCell   *lc;

	foreach(lc, pull_var_clause((Node *) exprs, 0))
		columns = list_append_unique(columns, lfirst(lc));
	return columns;
}

/*
 * place_columns is a mutator that replaces columns by those of the input.
 */
static Node *
place_columns(Node *node, List *columns)
{
	int			n = 0;
	ListCell   *lc;

	if (node == NULL)
		return NULL;
	if (!IsA(node, Var))
		return expression_tree_mutator(node, place_columns, columns);
	foreach(lc, columns)
	{
		Var		   *column = lfirst(lc);

		n++;
		if (equal(column, node))
			return (Node *) makeVar(OUTER_VAR, n, column->vartype,
									column->vartypmod, column->varcollid, 0);
	}
	elog(ERROR, "column %d of relation %d is not in the input",
		 ((Var *) node)->varattno, ((Var *) node)->varno);
}

/*
 * ZbxhistPlaceColumns returns expressions in columns of the input, ready to be
 * executed.
 */
List *
ZbxhistPlaceColumns(List *exprs, List *columns)
{
	List	   *result = (List *) place_columns((Node *) exprs, columns);

	fix_opfuncids((Node *) result);
	return result;
}

/* ---- the path ---- */

/*
 * ZbxhistAggregateInput makes a path of a table's rows, by one of its paths,
 * with the columns of the input.
 */
Path *
ZbxhistAggregateInput(PlannerInfo *root, Path *path, List *columns)
{
	PathTarget *target = create_empty_pathtarget();
	ListCell   *lc;

	foreach(lc, columns)
		add_column_to_pathtarget(target,
								 ColumnOf(PartOf(root, path->parent), lfirst(lc)),
								 0);
	set_pathtarget_cost_width(root, target);
	return (Path *) create_projection_path(root, path->parent, path, target);
}

/*
 * SetPackedConditions splits the conditions on packed days, and finds the packed table's
 * columns for the columns of the input and of the conditions.  Returns false if we cannot
 * evaluate a condition, or the packed table lacks a column.
 */
static bool
SetPackedConditions(PlannerInfo *root, AggregateChoice *choice)
{
	RelOptInfo *packed = choice->tables.packed;
	List	   *columns = NIL;
	List	   *others = NIL;
	ListCell   *lc;

	ZbxhistSplitConditions(choice->tables.about,
						   packed->baserestrictinfo, &choice->conds,
						   &choice->exact, &others);
	choice->filter = NIL;
	foreach(lc, extract_actual_clauses(others, false))
		choice->filter = ZbxhistAddByCost(choice->filter, lfirst(lc));
	if (ZbxhistHasCond(choice->conds, COND_TIDS, COND_TIDS) ||
		!ZbxhistIsUsable((Node *) choice->filter))
		return false;

	foreach(lc, choice->columns)
	{
		Var		   *var = (Var *) ColumnOf(PartOf(root, packed), lfirst(lc));

		if (!IsA(var, Var) || var->varno != packed->relid ||
			var->vartype != lfirst_node(Var, lc)->vartype)
			return false;
		columns = lappend(columns, var);
	}
	columns = AddColumns(columns, choice->filter);
	foreach(lc, columns)
	{
		AttrNumber	attnum = lfirst_node(Var, lc)->varattno;

		if (attnum <= 0)
			return false;
		choice->attributes = lappend_int(choice->attributes, attnum);
	}
	choice->local = ZbxhistPlaceColumns(choice->filter, columns);
	return true;
}

/*
 * ZbxhistCostPerRow returns the part of a scan's cost per row that remains.
 */
double
ZbxhistCostPerRow(const AggregateChoice *choice)
{
	return choice->filter == NIL ? SEGMENT_COST : FILTER_COST;
}

/*
 * ZbxhistCostOfRows returns the cost of adding rows that are not packed: that of
 * PostgreSQL's aggregation, which has no cost of a row besides that of its expressions.
 */
Cost
ZbxhistCostOfRows(const AggregateChoice *choice, double nrows)
{
	int			nexprs = list_length(choice->query.keys) +
		list_length(choice->query.inputs);

	return nrows * cpu_operator_cost * nexprs;
}

/*
 * ZbxhistSetGroupsCost sets the costs of a path that returns groups; cost is that of
 * making them.  If memory does not hold them, they are written to disk, read, and put
 * together.
 */
void
ZbxhistSetGroupsCost(CustomPath *path, Cost cost, double ngroups)
{
	const AggregateChoice *choice = linitial(path->custom_private);
	double		size = ngroups *
		ZbxhistGroupBytes(list_length(choice->query.keys),
						  list_length(choice->query.inputs));

	if (size > get_hash_memory_limit())
		cost += size / BLCKSZ * 2 * seq_page_cost + ngroups * 2 * cpu_tuple_cost;
	path->path.rows = ngroups;
	path->path.startup_cost = cost;
	path->path.total_cost = cost + cpu_tuple_cost * ngroups;
}

/*
 * ZbxhistMakeAggregatePath makes a path of inputs that gives target.
 */
CustomPath *
ZbxhistMakeAggregatePath(RelOptInfo *output, const AggregateChoice *choice,
						 AggregateRole role, PathTarget *target, List *inputs)
{
	AggregateChoice *own = palloc(sizeof(AggregateChoice));
	CustomPath *path = make_scan_path(output, NULL,
									  &zbxhist_aggregate_path_methods,
									  list_make1(own));

	*own = *choice;
	own->role = role;
	path->path.pathtarget = target;
	path->custom_paths = inputs;
	return path;
}

/*
 * AddSinglePath adds the path of a single process.  Its cost is that of the other tables'
 * rows, of the packed segments, and a little for each packed row.
 */
static void
AddSinglePath(PlannerInfo *root, RelOptInfo *output, const AggregateChoice *choice,
			  double ngroups)
{
	const ScanEstimate *estimate = &choice->tables.about->estimate;
	Cost		cost = estimate->total_cost -
		estimate->cpu_cost * (1 - ZbxhistCostPerRow(choice));
	List	   *inputs = NIL;
	CustomPath *path;
	ListCell   *lc;

	foreach(lc, choice->tables.others)
	{
		Path	   *input = ZbxhistAggregateInput(root, lfirst(lc), choice->columns);

		inputs = lappend(inputs, input);
		cost += input->total_cost + ZbxhistCostOfRows(choice, input->rows);
	}
	path = ZbxhistMakeAggregatePath(output, choice, AGGREGATE_ALL,
									choice->target, inputs);
	ZbxhistSetGroupsCost(path, cost, ngroups);
	add_path(output, &path->path);
}

/*
 * IsOnlyDistinct says whether a query does nothing with the rows but DISTINCT.
 */
static bool
IsOnlyDistinct(const Query *parse)
{
	return parse->groupClause == NIL && !parse->hasAggs &&
		!parse->hasWindowFuncs && !parse->hasDistinctOn &&
		parse->havingQual == NULL;
}

/*
 * HasClockKey says whether a key is the clock itself, so that there are about
 * as many groups as rows.
 */
static bool
HasClockKey(const AggregateQuery *query)
{
	ListCell   *lc;

	foreach(lc, query->keys)
	{
		if (IsA(lfirst(lc), Var) &&
			lfirst_node(Var, lc)->varattno == query->clock)
			return true;
	}
	return false;
}

/*
 * Consider returns a description of the aggregation, or NULL if we cannot do it.
 */
static AggregateChoice *
Consider(PlannerInfo *root, RelOptInfo *input, List *clauses,
		 PathTarget *target)
{
	AggregateChoice *choice = palloc0(sizeof(AggregateChoice));
	AggregateQuery *query = &choice->query;
	const PackedRel *packed;

	if (!FindAggregateTables(root, input, &choice->tables))
		return NULL;
	packed = choice->tables.about;
	query->rti = input->relid;
	query->itemid = FindParentAttribute(root, choice->tables.packed,
										packed->columns.itemid);
	query->clock = FindParentAttribute(root, choice->tables.packed,
									   packed->columns.clock);
	if (query->itemid == InvalidAttrNumber ||
		query->clock == InvalidAttrNumber ||
		!ZbxhistReadAggregateQuery(root, clauses, target, query))
		return NULL;
	choice->target = target;
	choice->columns = AddColumns(AddColumns(AddColumns(NIL, query->keys),
											query->inputs), query->filters);
	return SetPackedConditions(root, choice) ? choice : NULL;
}

/*
 * ZbxhistAddAggregatePath adds the path of a single process to those of a query's
 * grouping, or of its DISTINCT, if it is one that we understand.  Returns what it
 * does, and sets the number of its groups; NULL if there is no such path.
 */
AggregateChoice *
ZbxhistAddAggregatePath(PlannerInfo *root, UpperRelationKind stage,
						RelOptInfo *input, RelOptInfo *output,
						double *ngroups)
{
	const Query *parse = root->parse;
	bool		is_distinct = stage == UPPERREL_DISTINCT;
	AggregateChoice *choice;

	if (!zbxhist_enable_aggregate_scan ||
		input->reloptkind != RELOPT_BASEREL ||
		output->reloptkind != RELOPT_UPPER_REL || IS_DUMMY_REL(input) ||
		!bms_is_empty(input->lateral_relids) ||
		parse->commandType != CMD_SELECT ||
		(is_distinct && !IsOnlyDistinct(parse)))
		return NULL;
	/* PostgreSQL does not set the target of DISTINCT's relation */
	choice = Consider(root, input,
					  is_distinct ? parse->distinctClause : parse->groupClause,
					  is_distinct ? root->upper_targets[stage] : output->reltarget);
	/* rows in the order of items need no hash table */
	if (choice == NULL || (is_distinct && HasClockKey(&choice->query)))
		return NULL;
	/* all others have the same estimate */
	*ngroups = ((Path *) linitial(output->pathlist))->rows;
	AddSinglePath(root, output, choice, *ngroups);
	return choice;
}
