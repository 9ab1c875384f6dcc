/*-------------------------------------------------------------------------
 *
 * clock_bounds.c
 *	  Finds the range of clocks that the conditions of a query allow.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "tables/triggers.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "nodes/primnodes.h"
#include "utils/rel.h"

#include "packed/conditions.h"
#include "read/clock_bounds.h"

/*
 * ZbxhistIsRouted says whether a table is a parent with children: a cheap test
 * that keeps other tables out of the cache of partitions.
 */
bool
ZbxhistIsRouted(Relation rel)
{
	return rel->rd_rel->relhassubclass && rel->trigdesc != NULL &&
		rel->trigdesc->trig_insert_before_row && ZbxhistHasRouteTrigger(rel);
}

/*
 * ZbxhistAddParts adds the members of an AND or OR to a list, flattening nested ones,
 * which the parser makes of a list of rows; any other expression is added itself.
 */
List *
ZbxhistAddParts(List *parts, Node *quals, BoolExprType kind)
{
	ListCell   *lc;

	check_stack_depth();
	if (quals == NULL)
		return parts;
	if (!IsA(quals, BoolExpr) || ((BoolExpr *) quals)->boolop != kind)
		return lappend(parts, quals);
	foreach(lc, ((BoolExpr *) quals)->args)
		parts = ZbxhistAddParts(parts, lfirst(lc), kind);
	return parts;
}

/*
 * ZbxhistHasOr says whether some of conditions that are ANDed is an OR.
 */
bool
ZbxhistHasOr(Node *quals)
{
	ListCell   *lc;

	if (quals == NULL || is_orclause(quals))
		return quals != NULL;
	if (!is_andclause(quals))
		return false;
	foreach(lc, ((BoolExpr *) quals)->args)
	{
		if (ZbxhistHasOr(lfirst(lc)))
			return true;
	}
	return false;
}

/*
 * NarrowBoundsByOne narrows bounds by one condition, if it compares the clock of the
 * relation varno with a constant of any type.  The conditions by which packed days are
 * read hold for the clock of any table, except those on ctid.
 */
static void
NarrowBoundsByOne(Node *expr, Index varno, AttrNumber clock_attnum,
				  ClockRange *bounds)
{
	KeyColumns	columns = {.varno = varno,.clock = clock_attnum};
	List	   *args = IsA(expr, OpExpr) ? ((OpExpr *) expr)->args :
		IsA(expr, ScalarArrayOpExpr) ? ((ScalarArrayOpExpr *) expr)->args : NIL;
	List	   *conds = NIL;
	ScanBounds	left;

	if (list_length(args) != 2 ||
		(!IsA(linitial(args), Const) && !IsA(lsecond(args), Const)))
		return;
	(void) ZbxhistTakeCondition((Expr *) expr, &columns, &conds);
	if (conds == NIL || ZbxhistHasCond(conds, COND_TIDS, COND_TIDS))
		return;
	ZbxhistGetConstBounds(conds, &left);
	bounds->from_clock = Max(bounds->from_clock, left.from_clock);
	if (left.to_clock < bounds->to_clock)
		bounds->to_clock = left.to_clock + 1;
}

/*
 * NarrowBoundsByOr narrows bounds to the union of what the alternatives of an OR allow.
 */
static void
NarrowBoundsByOr(BoolExpr *or, Index varno, AttrNumber clock_attnum,
				 ClockRange *bounds)
{
	ClockRange	all = {
		.from_clock = ZBXHIST_CLOCK_END,
		.to_clock = ZBXHIST_CLOCK_MIN
	};
	ListCell   *lc;

	foreach(lc, or->args)
	{
		ClockRange	part = *bounds;

		CHECK_FOR_INTERRUPTS();
		ZbxhistNarrowBounds(lfirst(lc), varno, clock_attnum, &part);
		if (part.from_clock >= part.to_clock)
			continue;
		all.from_clock = Min(all.from_clock, part.from_clock);
		all.to_clock = Max(all.to_clock, part.to_clock);
		if (all.from_clock <= bounds->from_clock &&
			all.to_clock >= bounds->to_clock)
			return;
	}
	*bounds = all;
}

/*
 * ZbxhistNarrowBounds narrows bounds by conditions that are ANDed or ORed: those
 * on the clock of the relation varno that compare it with a constant.
 */
void
ZbxhistNarrowBounds(Node *quals, Index varno, AttrNumber clock_attnum,
					ClockRange *bounds)
{
	ListCell   *lc;

	if (quals == NULL)
		return;
	if (is_orclause(quals))
	{
		NarrowBoundsByOr((BoolExpr *) quals, varno, clock_attnum, bounds);
		return;
	}
	if (!is_andclause(quals))
	{
		NarrowBoundsByOne(quals, varno, clock_attnum, bounds);
		return;
	}
	foreach(lc, ((BoolExpr *) quals)->args)
		ZbxhistNarrowBounds(lfirst(lc), varno, clock_attnum, bounds);
}

/*
 * ZbxhistHasPackedDay says whether some packed day is within bounds.
 */
bool
ZbxhistHasPackedDay(const PartitionSet *set, const ClockRange *bounds)
{
	for (int i = 0; i < set->npacked_days; i++)
	{
		if (clocks_overlap(&set->packed_days[i], bounds))
			return true;
	}
	return false;
}
