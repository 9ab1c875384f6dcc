/*-------------------------------------------------------------------------
 *
 * stand_in.c
 *	  Tables that take a parent's place in a query.
 *
 * The planner expands a parent to all of its children before it looks at a
 * single condition.  For UPDATE and DELETE prune.c puts one child into the query
 * instead of it, for SELECT select.c a scan of ours.  Here is what both need to
 * know: what the bounds are, and whether something can take the parent's place.
 *
 * Privileges are those of the parent: its entry stays in the range table, see
 * substitute_relation, which also makes the plan depend on the parent, whose
 * invalidation tells of every child that comes or goes.  A child is locked as
 * inheritance would lock it; the other children are not, as with native
 * partitions.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "storage/bufmgr.h"
#include "utils/acl.h"
#include "utils/rel.h"

#include "compat.h"
#include "read/clock_bounds.h"
#include "read/stand_in.h"
#include "tables/row_type.h"

/*
 * ZbxhistBoundsInWhere returns the clocks that WHERE leaves of the relation
 * rti.  A row outside of them is not wanted on whichever side of a join the
 * relation is: the comparisons are strict.
 */
ClockRange
ZbxhistBoundsInWhere(const Query *query, Index rti, AttrNumber clock_attnum)
{
	ClockRange	bounds = ANY_CLOCKS;

	ZbxhistNarrowBounds(query->jointree->quals, rti, clock_attnum, &bounds);
	return bounds;
}

/*
 * ZbxhistDropEntry puts an entry that nothing refers to in the place of one.
 */
void
ZbxhistDropEntry(Query *query, Index rti)
{
	RangeTblEntry *rte = makeNode(RangeTblEntry);

	rte->rtekind = RTE_RESULT;
	rte->eref = makeAlias("*RESULT*", NIL);
	lfirst(list_nth_cell(query->rtable, rti - 1)) = rte;
}

/*
 * OwnerMayRead says whether a table's owner has kept the privilege to read it.
 */
static bool
OwnerMayRead(Relation rel)
{
	return pg_class_aclcheck(RelationGetRelid(rel), rel->rd_rel->relowner,
							 ACL_SELECT) == ACLCHECK_OK;
}

/*
 * ZbxhistMayStandIn says whether a query's parent may be replaced by tables
 * whose statistics the planner then takes to be readable: an operator that
 * leaks them must not see values which the user may not read.
 */
bool
ZbxhistMayStandIn(const Query *query, const RangeTblEntry *rte,
				  Relation parent)
{
	Oid			user = relation_user(query, rte);

	return rte->securityQuals == NIL && rte->tablesample == NULL &&
		!has_virtual_columns(RelationGetDescr(parent)->constr) &&
		pg_class_aclcheck(RelationGetRelid(parent),
						  OidIsValid(user) ? user : GetUserId(),
						  ACL_SELECT) == ACLCHECK_OK &&
		OwnerMayRead(parent);
}

/*
 * HasSameColumns says whether a child has the parent's columns at the same
 * places, and all of them stored.
 */
static bool
HasSameColumns(TupleDesc parent, TupleDesc child)
{
	return !has_virtual_columns(child->constr) &&
		ZbxhistMapColumns(parent, child) == NULL;
}

/*
 * ZbxhistIsEmpty says whether a locked table has no rows for any snapshot
 * that has been taken: those deleted or moved out of it are still there as
 * long as a snapshot may see them.
 */
bool
ZbxhistIsEmpty(Relation rel)
{
	return rel->rd_rel->relkind == RELKIND_RELATION &&
		RelationGetNumberOfBlocks(rel) == 0;
}

/*
 * ZbxhistAskLocked asks something of a table that the caller has locked.
 */
bool
ZbxhistAskLocked(Oid relid, bool (*question) (Relation rel))
{
	Relation	rel = table_open(relid, NoLock);
	bool		result = question(rel);

	table_close(rel, NoLock);
	return result;
}

/*
 * ZbxhistLockStandIn locks a child for a query and says whether it is still
 * the one that the set says it is, and can take the parent's place.
 */
bool
ZbxhistLockStandIn(Relation parent, const PartitionSet *set, Oid relid,
				   LOCKMODE mode)
{
	Relation	child;
	bool		result;

	child = try_table_open(relid, mode);
	if (child == NULL)
		return false;
	/* the lock took in what happened meanwhile */
	result = ZbxhistPartitionSetIsValid(set) &&
		HasSameColumns(RelationGetDescr(parent), RelationGetDescr(child)) &&
		OwnerMayRead(child);
	table_close(child, NoLock);
	return result;
}
