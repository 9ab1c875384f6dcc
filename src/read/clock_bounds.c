/*-------------------------------------------------------------------------
 *
 * clock_bounds.c
 *	  Parents, their packed days, and parts of conditions.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "tables/triggers.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "nodes/primnodes.h"
#include "utils/rel.h"

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
