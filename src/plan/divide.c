/*-------------------------------------------------------------------------
 *
 * divide.c
 *	  The parts of a long OR that each of some tables needs.
 *
 * Of an OR of many conditions,
 *
 *	   WHERE (itemid = 5 AND clock BETWEEN 100 AND 160) OR (...) OR ...
 *
 * that are no keys (key_query.c), the planner gives each child of a parent all, to
 * make paths of and to look up, although few are within its clocks.  So where
 * tables stand for a parent in a union (select.c), its members get WHERE as their
 * own, a partition and the packed days without what is not of their clocks.  Members
 * are read as their owner, so functions that might tell statistics stay outside.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "optimizer/clauses.h"

#include "plan/clock_bounds.h"
#include "plan/divide.h"

/* fewer conditions in an OR are planned fast enough */
#define MIN_CONDITIONS 8

/* WHERE, of which one condition is a long OR */
typedef struct DividedWhere
{
	List	   *others;			/* conditions */
	List	   *arms;			/* of the OR */
	ClockRange *bounds;			/* that each leaves */
} DividedWhere;

/*
 * FindOr finds the first long OR among the conditions of WHERE; returns false if
 * there is none.
 */
static bool
FindOr(Node *quals, DividedWhere *where)
{
	ListCell   *lc;

	where->others = ZbxhistAddParts(NIL, quals, AND_EXPR);
	foreach(lc, where->others)
	{
		where->arms = ZbxhistAddParts(NIL, lfirst(lc), OR_EXPR);
		if (list_length(where->arms) < MIN_CONDITIONS)
			continue;
		where->others = foreach_delete_current(where->others, lc);
		return true;
	}
	return false;
}

/*
 * ReadBounds finds the clocks that each part of the OR leaves.
 */
static void
ReadBounds(DividedWhere *where, AttrNumber clock_attnum)
{
	ClockRange *bounds = palloc(sizeof(ClockRange) * list_length(where->arms));
	ListCell   *lc;

	where->bounds = bounds;
	foreach(lc, where->arms)
	{
		CHECK_FOR_INTERRUPTS();
		bounds->from_clock = ZBXHIST_CLOCK_MIN;
		bounds->to_clock = ZBXHIST_CLOCK_END;
		ZbxhistNarrowBounds(lfirst(lc), 1, clock_attnum, bounds++);
	}
}

/*
 * MayHave says whether a table, a partition or the foreign table of packed days, may
 * have rows within bounds.
 */
static bool
MayHave(const PartitionSet *set, const PartitionBounds *partition,
		const ClockRange *bounds)
{
	if (bounds->from_clock >= bounds->to_clock)
		return false;
	if (partition != NULL)
		return clocks_overlap(partition, bounds);
	return bounds->from_clock + 1 < bounds->to_clock ||
		ZbxhistFindPackedDay(set, (int32) bounds->from_clock) != NULL;
}

/*
 * MakeTablePart returns WHERE of a table: of that partition, or of packed
 * days.
 */
static Node *
MakeTablePart(const DividedWhere *where, const PartitionSet *set,
			  const PartitionBounds *partition)
{
	List	   *arms = NIL;
	List	   *conditions;
	ListCell   *lc;

	foreach(lc, where->arms)
	{
		if (MayHave(set, partition,
					&where->bounds[foreach_current_index(lc)]))
			arms = lappend(arms, lfirst(lc));
	}
	conditions = lappend(list_copy(where->others),
						 arms == NIL ? (Expr *) makeBoolConst(false, false) :
						 list_length(arms) == 1 ? linitial(arms) :
						 make_orclause(arms));
	return (Node *) make_ands_explicit(conditions);
}

/*
 * FindBounds returns those of a partition, or NULL.
 */
static const PartitionBounds *
FindBounds(const PartitionSet *set, Oid relid)
{
	for (int i = 0; i < set->npartitions; i++)
	{
		if (set->partitions[i].relid == relid)
			return &set->partitions[i];
	}
	return NULL;
}

/*
 * ZbxhistDivideConditions returns, for each of the tables that stand for the only
 * relation of a query, which is a parent, the conditions of WHERE that its rows have to
 * satisfy; or NIL if there is no long OR, or paths are wanted that only tables without
 * conditions of their own have.
 */
List *
ZbxhistDivideConditions(const Query *query, const PartitionSet *set,
						List *tables)
{
	DividedWhere where;
	List	   *result = NIL;
	ListCell   *lc;

	if (list_length(query->rtable) != 1 || query->hasSubLinks ||
		query->hasAggs || query->groupClause != NIL ||
		list_length(tables) < 2 || !FindOr(query->jointree->quals, &where) ||
		contain_leaked_vars(query->jointree->quals))
		return NIL;
	ReadBounds(&where, set->clock_attnum);
	foreach(lc, tables)
	{
		const PartitionBounds *partition = FindBounds(set, lfirst_oid(lc));

		result = lappend(result, partition != NULL || lfirst_oid(lc) == set->packed ?
						 MakeTablePart(&where, set, partition) :
						 query->jointree->quals);
	}
	return result;
}
