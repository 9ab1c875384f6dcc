/*-------------------------------------------------------------------------
 *
 * statistics.c
 *	  Statistics of items and clocks without ANALYZE.
 *
 * The hour that values come to now has not been analyzed, or was when it had other
 * rows; PostgreSQL then takes a range that covers it for half a per cent of it.  Nor
 * does anything analyze a parent with its children, or packed days.  But bounds say
 * which clocks are in a partition, as far as these have come, and a few pages of its
 * index of how many items they are; of packed days the catalog and the directories of
 * their groups (fdw_sample.c).  What ANALYZE has found out about items, and about the
 * clocks of a partition to which no more come, is used.
 *
 * What is found is kept for the session (catalog/partition_set.c): of items until the
 * table has twice as many pages, of clocks until there are some per cent more.
 *
 * The tables are locked by the planner.  Statistics that are made are those of columns
 * that may be hidden from the user: PostgreSQL shows them to leakproof operators only.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/pg_type.h"
#include "nodes/pathnodes.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
#include "storage/bufmgr.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

#include "aggregate/clock_keys.h"
#include "catalog/partition_set.h"
#include "catalog/statistics_row.h"
#include "compat.h"
#include "packed/fdw/fdw_plan.h"
#include "plan/clock_bounds.h"
#include "plan/statistics.h"
#include "rows/item_index.h"
#include "rows/item_sample.h"

/* seconds between two clocks of trends */
#define TREND_SECONDS 3600

/* of the clocks of a table, those that may have come since they were counted */
#define NEW_CLOCKS (1.0 / 64)

/* of the parent's own, whose clocks no bounds tell, so many do not count */
#define MAX_OWN_BLOCKS 64

/*
 * IsAnalyzed says whether ANALYZE has found something out about a column.
 */
static bool
IsAnalyzed(Oid relid, AttrNumber attnum, bool inherited)
{
	return SearchSysCacheExists3(STATRELATTINH, ObjectIdGetDatum(relid),
								 Int16GetDatum(attnum), BoolGetDatum(inherited));
}

/*
 * GetNow returns the clock at which the statement came.
 */
static int64
GetNow(void)
{
	return timestamptz_to_time_t(GetCurrentStatementStartTimestamp());
}

/*
 * HasManyOwnRows says whether a parent, which is locked, has so many rows of its own that
 * the bounds of its children say little about clocks.
 */
static bool
HasManyOwnRows(Oid parent)
{
	Relation	rel = table_open(parent, NoLock);
	bool		result = RelationGetNumberOfBlocks(rel) > MAX_OWN_BLOCKS;

	table_close(rel, NoLock);
	return result;
}

/* ---- clocks ---- */

/*
 * FindClocks adds the clocks of a member of a set to a range; returns false if they are
 * not known: those of the parent's own rows.
 */
static bool
FindClocks(const PartitionSet *set, Oid relid, ClockRange *range)
{
	const PartitionBounds *partition = partition_of(set, relid);
	ClockRange	found = {0};

	if (relid == set->packed && set->npacked_days > 0)
	{
		found.from_clock = set->packed_days[0].from_clock;
		found.to_clock = set->packed_days[set->npacked_days - 1].to_clock;
	}
	else if (partition != NULL)
	{
		found.from_clock = partition->from_clock;
		found.to_clock = partition->to_clock;
	}
	if (found.from_clock == found.to_clock)
		return false;
	range->from_clock = Min(range->from_clock, found.from_clock);
	range->to_clock = Max(range->to_clock, found.to_clock);
	return true;
}

/*
 * MakeClocks returns the statistics of clocks in a range, as far as they have come by
 * now, and keeps them with what is known of a member.
 */
static HeapTuple
MakeClocks(const PartitionSet *set, Oid member, const ClockRange *range)
{
	MemberStatistics *known = ZbxhistFindStatistics(member);
	int64		now = GetNow();
	int64		bounds[2] = {range->from_clock, range->to_clock - 1};
	double		nclocks;

	if (known == NULL)
		return NULL;
	if (now > range->from_clock)
		bounds[1] = Min(bounds[1], now);
	nclocks = (double) bounds[1] - bounds[0] + 1;
	if (known->clocks != NULL && known->clocks_from == bounds[0] &&
		known->clocks_to <= bounds[1] &&
		bounds[1] - known->clocks_to <= nclocks * NEW_CLOCKS)
		return known->clocks;
	if (set->ns_attnum == InvalidAttrNumber)
		nclocks = Max(nclocks / TREND_SECONDS, 1);
	ZbxhistSetStatisticsRow(&known->clocks, INT4OID, nclocks, bounds, 2);
	known->clocks_from = bounds[0];
	known->clocks_to = bounds[1];
	return known->clocks;
}

/* ---- items ---- */

/*
 * SampleItems looks for the items of a partition in its index.
 */
static void
SampleItems(const PartitionSet *set, const RelOptInfo *rel, Oid relid,
			MemberStatistics *known)
{
	Relation	table = table_open(relid, NoLock);
	Relation	index = ZbxhistFindItemIndex(table);
	ClockRange	clocks = {ZBXHIST_CLOCK_END, ZBXHIST_CLOCK_MIN};
	ItemSample	sample;

	known->nblocks = rel->pages;
	known->nitems = 0;
	if (index != NULL)
	{
		ZbxhistSampleIndex(index, &sample);
		index_close(index, NoLock);
		if (FindClocks(set, relid, &clocks))
			known->nitems =
				ZbxhistCountSampledItems(&sample, rel->tuples,
										 Min(clocks.to_clock, GetNow()) -
										 clocks.from_clock);
	}
	table_close(table, NoLock);
	if (known->nitems > 0)
		ZbxhistSetStatisticsRow(&known->items, INT8OID, known->nitems,
								sample.bounds, sample.nbounds);
}

/*
 * FindItemRow returns the statistics of the items of a member, of which rel, if it is not
 * NULL, says how large it is; those of the packed table were made when that was planned.
 */
static HeapTuple
FindItemRow(const PartitionSet *set, const RelOptInfo *rel, Oid relid)
{
	MemberStatistics *known = ZbxhistFindStatistics(relid);

	if (known == NULL)
		return NULL;
	if (rel != NULL && relid != set->packed && relid != set->parent &&
		(known->nblocks == 0 || rel->pages >= 2 * known->nblocks) &&
		rel->pages > 0)
		SampleItems(set, rel, relid, known);
	return known->nitems > 0 ? known->items : NULL;
}

/* ---- tables ---- */

/*
 * FindOfTable returns the statistics of the items or clocks of one table.
 */
static HeapTuple
FindOfTable(const PartitionSet *set, const RelOptInfo *rel, Oid relid, bool is_item)
{
	ClockRange	clocks = {ZBXHIST_CLOCK_END, ZBXHIST_CLOCK_MIN};

	if (is_item)
		return IsAnalyzed(relid, set->itemid_attnum, false) ? NULL :
			FindItemRow(set, rel, relid);
	if (!FindClocks(set, relid, &clocks) ||
		(clocks.to_clock <= GetNow() &&
		 IsAnalyzed(relid, set->clock_attnum, false)))
		return NULL;
	return MakeClocks(set, relid, &clocks);
}

/*
 * FindOfTables returns the statistics of a column of several members: of their items
 * those of the first one of which something is known.
 */
static HeapTuple
FindOfTables(const PartitionSet *set, List *members, AttrNumber attnum)
{
	ClockRange	clocks = {ZBXHIST_CLOCK_END, ZBXHIST_CLOCK_MIN};
	bool		has_clocks = false;
	ListCell   *lc;

	foreach(lc, members)
	{
		HeapTuple	items;

		if (attnum == set->clock_attnum)
			has_clocks |= FindClocks(set, lfirst_oid(lc), &clocks);
		else if ((items = FindItemRow(set, NULL, lfirst_oid(lc))) != NULL)
			return items;
	}
	return has_clocks && !HasManyOwnRows(set->parent) ?
		MakeClocks(set, set->parent, &clocks) : NULL;
}

/*
 * ListOfChildren returns the children of a parent.
 */
static List *
ListOfChildren(const PartitionSet *set)
{
	List	   *result = OidIsValid(set->packed) ? list_make1_oid(set->packed) : NIL;

	for (int i = 0; i < set->npartitions; i++)
		result = lappend_oid(result, set->partitions[i].relid);
	return result;
}

/*
 * ListOfUnion returns the tables of a UNION ALL, which select.c has put in a parent's
 * place, and sets whose they are; NIL if it is another one.
 */
static List *
ListOfUnion(const Query *query, const PartitionSet **set)
{
	List	   *result = NIL;
	ListCell   *lc;

	*set = NULL;
	foreach(lc, query->rtable)
	{
		const RangeTblEntry *entry = lfirst_node(RangeTblEntry, lc);
		const RangeTblEntry *table;

		if (entry->rtekind != RTE_SUBQUERY ||
			list_length(entry->subquery->rtable) != 1)
			return NIL;
		table = linitial_node(RangeTblEntry, entry->subquery->rtable);
		if (table->rtekind != RTE_RELATION ||
			(*set != NULL && ZbxhistFindPartitions(table->relid) != *set) ||
			(*set = ZbxhistFindPartitions(table->relid)) == NULL)
			return NIL;
		result = lappend_oid(result, table->relid);
	}
	return result;
}

/*
 * ListMembers returns the tables of a set whose rows an entry of FROM gives, but for the
 * parent's own; NIL if it is none of ours.
 */
static List *
ListMembers(const RangeTblEntry *rte, const PartitionSet **set)
{
	if (rte->rtekind == RTE_SUBQUERY && rte->inh)
		return ListOfUnion(rte->subquery, set);
	if (rte->rtekind != RTE_RELATION ||
		(*set = ZbxhistFindPartitions(rte->relid)) == NULL)
		return NIL;
	if (rte->relid != (*set)->parent)
		return list_make1_oid(rte->relid);
	return rte->inh ? ListOfChildren(*set) : NIL;
}

/*
 * HasName says whether a column of an entry is called so.  CLUSTER's entry has no
 * names.
 */
static bool
HasName(const RangeTblEntry *rte, AttrNumber attnum, const char *name)
{
	return attnum > 0 && rte->eref != NULL &&
		attnum <= list_length(rte->eref->colnames) &&
		strcmp(strVal(list_nth(rte->eref->colnames, attnum - 1)), name) == 0;
}

/*
 * FindStatistics returns the statistics of a column of an entry of FROM, or NULL if
 * none are made for it.
 */
static HeapTuple
FindStatistics(const RangeTblEntry *rte, AttrNumber attnum, const RelOptInfo *rel)
{
	const PartitionSet *set;
	List	   *members;
	bool		is_item = HasName(rte, attnum, "itemid");

	if (!is_item && !HasName(rte, attnum, "clock"))
		return NULL;
	if (rte->rtekind == RTE_RELATION && !rte->inh)
	{
		set = ZbxhistFindPartitions(rte->relid);
		return set != NULL && rte->relid != set->parent &&
			attnum == (is_item ? set->itemid_attnum : set->clock_attnum) ?
			FindOfTable(set, rel, rte->relid, is_item) : NULL;
	}
	members = ListMembers(rte, &set);
	if (members == NIL || attnum != (is_item ? set->itemid_attnum : set->clock_attnum))
		return NULL;
	if (is_item && rte->rtekind == RTE_RELATION &&
		IsAnalyzed(set->parent, attnum, true))
		return NULL;
	return FindOfTables(set, members, attnum);
}

/*
 * ZbxhistGetStatistics gives the planner statistics of a column, if it is one of items
 * or clocks of a parent or its children; returns false if it is to use its own.
 */
bool
ZbxhistGetStatistics(RangeTblEntry *rte, AttrNumber attnum, VariableStatData *stats)
{
	HeapTuple	row = FindStatistics(rte, attnum, stats->rel);

	if (row == NULL)
		return false;
	stats->statsTuple = heap_copytuple(row);
	stats->freefunc = heap_freetuple;
	return true;
}

/* ---- groups ---- */

/*
 * CountClocksOf returns how many clocks rows of rel may have, by its tables and conditions.
 */
static double
CountClocksOf(const RelOptInfo *rel, const PartitionSet *set, List *members)
{
	ClockRange	wanted = {ZBXHIST_CLOCK_MIN, GetNow()};
	double		result = 0;
	ListCell   *lc;

	foreach(lc, rel->baserestrictinfo)
		ZbxhistNarrowBounds((Node *) lfirst_node(RestrictInfo, lc)->clause, rel->relid,
							set->clock_attnum, &wanted);
	foreach(lc, members)
	{
		ClockRange	clocks = {ZBXHIST_CLOCK_END, ZBXHIST_CLOCK_MIN};

		(void) FindClocks(set, lfirst_oid(lc), &clocks);
		result += Max((double) Min(clocks.to_clock, wanted.to_clock) -
					  Max(clocks.from_clock, wanted.from_clock), 0);
	}
	return result;
}

/*
 * CountListed returns how many values a condition on a column lists, however many rows
 * have them; 0 if it is no list.
 */
static double
CountListed(PlannerInfo *root, Expr *clause)
{
	if (IsA(clause, OpExpr))
	{
		OpExpr	   *expr = (OpExpr *) clause;

		return list_length(expr->args) == 2 && get_oprrest(expr->opno) == F_EQSEL &&
			(IsA(linitial(expr->args), Var) || IsA(lsecond(expr->args), Var));
	}
	if (IsA(clause, ScalarArrayOpExpr))
	{
		ScalarArrayOpExpr *expr = (ScalarArrayOpExpr *) clause;

		if (expr->useOr && get_oprrest(expr->opno) == F_EQSEL &&
			IsA(linitial(expr->args), Var))
			return estimate_array_length_compat(root, lsecond(expr->args));
	}
	return 0;
}

/*
 * CountItems returns how many items the conditions on these leave.
 */
static double
CountItems(PlannerInfo *root, const RelOptInfo *rel, Var *itemid)
{
	double		listed = 0;
	List	   *clauses = NIL;
	ListCell   *lc;

	foreach(lc, rel->baserestrictinfo)
	{
		RestrictInfo *restriction = lfirst_node(RestrictInfo, lc);

		if (!ZbxhistIsOfColumn((Node *) restriction->clause, itemid->varattno))
			continue;
		clauses = lappend(clauses, restriction);
		if (listed == 0)
			listed = CountListed(root, restriction->clause);
	}
	if (listed > 0)
		return listed;
	return ZbxhistCountValues(root, rel, itemid->varattno, itemid->vartype) *
		clauselist_selectivity(root, clauses, rel->relid, JOIN_INNER, NULL);
}

/*
 * CountGroups returns how many groups expressions make of rows of rel.
 */
static double
CountGroups(PlannerInfo *root, const RelOptInfo *rel, List *exprs,
			const PartitionSet *set, double nclocks)
{
	List	   *left = NIL;
	double		result = 1;
	ListCell   *lc;

	foreach(lc, exprs)
	{
		Var		   *var = lfirst(lc);
		double		nresults = ZbxhistCountResults(lfirst(lc), set->clock_attnum,
												   nclocks);

		if (nresults > 0)
			result *= nresults;
		else if (IsA(var, Var) && var->varattno == set->clock_attnum)
			result *= nclocks;
		else if (IsA(var, Var) && var->varattno == set->itemid_attnum)
			result *= clamp_row_est(CountItems(root, rel, var));
		else
			left = lappend(left, lfirst(lc));
	}
	if (left != NIL)
		result *= estimate_num_groups(root, left, rel->rows, NULL, NULL);
	return clamp_row_est(result);
}

/*
 * ZbxhistCorrectGroups has the paths of grouping, or of DISTINCT, give no more rows than
 * there are items and intervals: PostgreSQL takes an expression of clock to have as many
 * values as clock has, and the items of a list to be any.
 */
void
ZbxhistCorrectGroups(PlannerInfo *root, const RelOptInfo *input, RelOptInfo *output,
					 List *clauses)
{
	const PartitionSet *set;
	const RangeTblEntry *rte = planner_rt_fetch(input->relid, root);
	List	   *members;
	double		ngroups;
	ListCell   *lc;

	if (input->reloptkind != RELOPT_BASEREL || output->reloptkind != RELOPT_UPPER_REL ||
		clauses == NIL || root->parse->groupingSets != NIL)
		return;
	members = ListMembers(rte, &set);
	if (members == NIL || set->clock_attnum == InvalidAttrNumber ||
		(linitial_oid(members) != rte->relid && set->npacked_days == 0 &&
		 HasManyOwnRows(set->parent)))
		return;
	ngroups = CountGroups(root, input,
						  get_sortgrouplist_exprs(clauses, root->processed_tlist),
						  set, CountClocksOf(input, set, members));
	foreach(lc, output->pathlist)
	{
		Path	   *path = lfirst(lc);

		path->rows = Min(path->rows, ngroups);
	}
}
