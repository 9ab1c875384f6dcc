/*-------------------------------------------------------------------------
 *
 * clock_checks.c
 *	  CHECK constraints that hold for all rows of some clocks.
 *
 * Tables may have a CHECK against absurd clocks, such as clock > 1000000000.
 * Where the clocks of an hour imply it, nobody has to evaluate it for each
 * row.  Its expression is somebody else's code, and not evaluated here either:
 * only operators of PostgreSQL's own operator families are, on constants.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "access/table.h"
#include "catalog/pg_opfamily_d.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "catalog/clock_checks.h"
#include "catalog/columns.h"

PG_FUNCTION_INFO_V1(zbxhist_open_check);

/*
 * MakeBound makes the condition that the column clock has to a constant.
 */
static Expr *
MakeBound(AttrNumber attnum, int strategy, int64 clock)
{
	Oid			op = get_opfamily_member(INTEGER_BTREE_FAM_OID, INT4OID,
										 INT4OID, strategy);

	return make_opclause(op, BOOLOID, false,
						 (Expr *) makeVar(1, attnum, INT4OID, -1, InvalidOid,
										  0),
						 (Expr *) makeConst(INT4OID, -1, InvalidOid,
											sizeof(int32),
											Int32GetDatum((int32) clock),
											false, true),
						 InvalidOid, InvalidOid);
}

/*
 * MakeRange makes the conditions that rows of a range of clocks meet.
 */
static List *
MakeRange(AttrNumber attnum, const ClockRange *range)
{
	return list_make2(MakeBound(attnum, BTGreaterEqualStrategyNumber,
								Max(range->from_clock, ZBXHIST_CLOCK_MIN)),
					  MakeBound(attnum, BTLessEqualStrategyNumber,
								Min(range->to_clock, ZBXHIST_CLOCK_END) - 1));
}

/*
 * ZbxhistOpenCheck returns the name of a CHECK constraint that a row of these
 * clocks might violate, or NULL if there is none.  The caller has a lock on
 * the table.
 */
const char *
ZbxhistOpenCheck(Relation rel, const ClockRange *range)
{
	const TupleConstr *constr = RelationGetDescr(rel)->constr;
	AttrNumber	attnum = ZbxhistFindColumn(RelationGetDescr(rel), "clock",
										   INT4OID);

	for (int i = 0; constr != NULL && i < constr->num_check; i++)
	{
		Expr	   *check = stringToNode(constr->check[i].ccbin);
		List	   *quals = make_ands_implicit(canonicalize_qual(check, true));

		if (attnum == InvalidAttrNumber ||
			!predicate_implied_by(quals, MakeRange(attnum, range), false))
			return constr->check[i].ccname;
	}
	return NULL;
}

/*
 * zbxhist_open_check returns the same for a table by its OID.
 */
Datum
zbxhist_open_check(PG_FUNCTION_ARGS)
{
	Relation	rel = table_open(PG_GETARG_OID(0), AccessShareLock);
	ClockRange	range = {
		.from_clock = PG_GETARG_INT64(1),
		.to_clock = PG_GETARG_INT64(2)
	};
	const char *name = ZbxhistOpenCheck(rel, &range);
	Datum		result = name == NULL ? (Datum) 0 : CStringGetTextDatum(name);

	table_close(rel, AccessShareLock);
	if (name == NULL)
		PG_RETURN_NULL();
	PG_RETURN_DATUM(result);
}
