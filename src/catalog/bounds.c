/*-------------------------------------------------------------------------
 *
 * bounds.c
 *	  Reads a partition's range of clocks from its CHECK constraint.
 *
 * A partition is an inheritance child with a constraint
 *
 *		CONSTRAINT zbxhist_clock CHECK (clock >= X AND clock < Y)
 *
 * The planner excludes partitions by that very constraint, so what routing
 * believes and what readers see cannot differ: there is no other catalog of
 * partitions that could go stale, be restored wrongly or be forgotten when
 * somebody drops a table.  Either half may be missing at the ends of int4.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "nodes/primnodes.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "catalog/bounds.h"

/*
 * ReadBound takes one half, "clock >= const" or "clock < const", into
 * bounds; returns false if expr is anything else.
 */
static bool
ReadBound(Node *expr, AttrNumber clock_attnum, PartitionBounds *bounds)
{
	OpExpr	   *op = (OpExpr *) expr;
	Var		   *var;
	Const	   *value;
	RegProcedure proc;

	if (!IsA(expr, OpExpr) || list_length(op->args) != 2 ||
		!IsA(linitial(op->args), Var) || !IsA(lsecond(op->args), Const))
		return false;

	var = (Var *) linitial(op->args);
	value = (Const *) lsecond(op->args);
	if (var->varattno != clock_attnum || value->consttype != INT4OID ||
		value->constisnull)
		return false;

	proc = get_opcode(op->opno);
	if (proc == F_INT4GE)
		bounds->from_clock = DatumGetInt32(value->constvalue);
	else if (proc == F_INT4LT)
		bounds->to_clock = DatumGetInt32(value->constvalue);
	else
		return false;
	return true;
}

/*
 * ReadBoundsExpr takes a constraint's expression into bounds, which the
 * caller has set to the whole range.
 */
static bool
ReadBoundsExpr(Node *expr, AttrNumber clock_attnum, PartitionBounds *bounds)
{
	ListCell   *lc;

	if (!is_andclause(expr))
		return ReadBound(expr, clock_attnum, bounds);

	foreach(lc, ((BoolExpr *) expr)->args)
	{
		if (!ReadBound((Node *) lfirst(lc), clock_attnum, bounds))
			return false;
	}
	return true;
}

/*
 * GetBoundsConstraint returns the text of the bounds constraint's
 * expression, palloc'd, or NULL if relid has none that is valid.
 */
static char *
GetBoundsConstraint(Oid relid)
{
	Relation	catalog = table_open(ConstraintRelationId, AccessShareLock);
	ScanKeyData key[3];
	SysScanDesc scan;
	HeapTuple	tuple;
	char	   *result = NULL;

	ScanKeyInit(&key[0], Anum_pg_constraint_conrelid,
				BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(relid));
	ScanKeyInit(&key[1], Anum_pg_constraint_contypid,
				BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(InvalidOid));
	ScanKeyInit(&key[2], Anum_pg_constraint_conname,
				BTEqualStrategyNumber, F_NAMEEQ,
				CStringGetDatum(ZBXHIST_BOUNDS_CONSTRAINT));
	scan = systable_beginscan(catalog, ConstraintRelidTypidNameIndexId, true,
							  NULL, lengthof(key), key);
	tuple = systable_getnext(scan);
	if (HeapTupleIsValid(tuple) &&
		((Form_pg_constraint) GETSTRUCT(tuple))->contype == CONSTRAINT_CHECK &&
		((Form_pg_constraint) GETSTRUCT(tuple))->convalidated)
	{
		bool		isnull;
		Datum		conbin = heap_getattr(tuple, Anum_pg_constraint_conbin,
										  RelationGetDescr(catalog), &isnull);

		if (!isnull)
			result = TextDatumGetCString(conbin);
	}
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
	return result;
}

/*
 * ZbxhistReadBounds fills bounds for the table relid; returns false if it
 * has no valid bounds constraint of our shape.  Needs no lock on relid: a
 * table dropped meanwhile simply has no constraint.
 */
bool
ZbxhistReadBounds(Oid relid, PartitionBounds *bounds)
{
	AttrNumber	clock_attnum = get_attnum(relid, "clock");
	char	   *conbin;

	bounds->relid = relid;
	bounds->from_clock = ZBXHIST_CLOCK_MIN;
	bounds->to_clock = ZBXHIST_CLOCK_END;
	bounds->is_verified = false;
	bounds->is_compared = false;
	bounds->has_same_keys = false;

	if (clock_attnum == InvalidAttrNumber ||
		(conbin = GetBoundsConstraint(relid)) == NULL)
		return false;

	return ReadBoundsExpr((Node *) stringToNode(conbin), clock_attnum,
						  bounds) &&
		bounds->from_clock < bounds->to_clock;
}
