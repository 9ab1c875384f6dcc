/*-------------------------------------------------------------------------
 *
 * row_key.c
 *	  The key of a packed row, read from columns of the foreign table.
 *
 * A packed row is identified by its item and a ctid, which contains its clock (see
 * fdw_scan.c).  The rows of the plan have the item in a column of the table.  Since the
 * day was packed, that column may have been renamed, or its type changed.
 *
 * Memory: the context that is current when it begins.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "access/transam.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "nodes/makefuncs.h"
#include "optimizer/appendinfo.h"
#include "optimizer/optimizer.h"
#include "parser/parse_coerce.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "fdw/row_key.h"
#include "packed/conditions.h"

/* the columns of a key, as packed */
static const char *const key_columns[] = {"itemid", "clock", "ns"};

#define KEY_ITEMID 0

/* the column of the plan for the itemid */
#define JUNK_ITEMID "zbxhist_itemid"

struct RowKey
{
	AttrNumber	junk;			/* the itemid in the plan's rows */
	ExprState  *to_itemid;		/* NULL: is of that type */
};

/* ---- planning ---- */

/*
 * RaiseNoItemid raises the error for a table without the column.
 */
static void
RaiseNoItemid(Relation table)
{
	ereport(ERROR,
			errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			errmsg("cannot change packed rows of foreign table \"%s\"",
				   RelationGetRelationName(table)),
			errdetail("The column \"itemid\" by which they are found has been dropped, or holds no numbers."),
			errhint("Unpack the days with zbxhist.undo() first."),
			errtable(table));
}

/*
 * FindItemid returns the column of a foreign table that has the itemid of packed rows.
 */
static Form_pg_attribute
FindItemid(Relation table)
{
	AttrNumber	attnum = ZbxhistFindTyped(table, key_columns[KEY_ITEMID], InvalidOid);

	if (attnum == InvalidAttrNumber)
		RaiseNoItemid(table);
	return TupleDescAttr(RelationGetDescr(table), attnum - 1);
}

/*
 * ZbxhistAddKeyJunk adds to the plan's rows the itemid, which identifies a row together
 * with its ctid.
 */
void
ZbxhistAddKeyJunk(PlannerInfo *root, Index rtindex, Relation table)
{
	Form_pg_attribute att = FindItemid(table);

	add_row_identity_var(root, makeVar(rtindex, att->attnum, att->atttypid,
									   att->atttypmod, att->attcollation, 0),
						 rtindex, JUNK_ITEMID);
}

/*
 * ZbxhistKeyAttributes returns the columns that name rows, ctid included, as
 * pull_varattnos does.
 */
Bitmapset *
ZbxhistKeyAttributes(Relation table)
{
	Bitmapset  *result =
		bms_make_singleton(SelfItemPointerAttributeNumber -
						   FirstLowInvalidHeapAttributeNumber);

	for (int i = 0; i < lengthof(key_columns); i++)
	{
		AttrNumber	attnum = ZbxhistFindTyped(table, key_columns[i],
											  InvalidOid);

		if (attnum != InvalidAttrNumber)
			result = bms_add_member(result, attnum -
									FirstLowInvalidHeapAttributeNumber);
	}
	return result;
}

/*
 * ZbxhistRaiseNewKey raises the error for an UPDATE of a column that rows are found by.
 */
void
ZbxhistRaiseNewKey(Relation table, AttrNumber attnum)
{
	ereport(ERROR,
			errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			errmsg("cannot update column \"%s\" of table \"%s\"",
				   NameStr(TupleDescAttr(RelationGetDescr(table), attnum - 1)->attname),
				   RelationGetRelationName(table)),
			errdetail("Rows of partitions and packed days are found by this column."),
			errhint("DELETE the row and INSERT it with its new key."),
			errtable(table));
}

/* ---- execution ---- */

/*
 * IsBuiltIn says whether a type comes with PostgreSQL: other types run code of users.
 */
static bool
IsBuiltIn(Oid type)
{
	return getBaseType(type) < FirstUnpinnedObjectId;
}

/*
 * MakeItemCast prepares the conversion of a column to the type that items
 * have; returns NULL if it has that.
 */
static ExprState *
MakeItemCast(Relation table, Form_pg_attribute att)
{
	CaseTestExpr *input;
	Node	   *cast;

	if (att->atttypid == INT8OID)
		return NULL;
	if (!IsBuiltIn(att->atttypid))
		RaiseNoItemid(table);
	input = makeNode(CaseTestExpr);
	input->typeId = att->atttypid;
	input->typeMod = att->atttypmod;
	input->collation = att->attcollation;
	cast = coerce_to_target_type(NULL, (Node *) input, att->atttypid, INT8OID,
								 -1, COERCION_EXPLICIT, COERCE_IMPLICIT_CAST,
								 -1);
	if (cast == NULL)
		RaiseNoItemid(table);
	return ExecInitExpr(expression_planner((Expr *) cast), NULL);
}

/*
 * ZbxhistBeginRowKey finds the itemid in rows of the plan.
 */
RowKey *
ZbxhistBeginRowKey(Relation table, List *targets)
{
	RowKey	   *key = palloc0(sizeof(RowKey));

	key->junk = ExecFindJunkAttributeInTlist(targets, JUNK_ITEMID);
	key->to_itemid = MakeItemCast(table, FindItemid(table));
	return key;
}

/*
 * ZbxhistGetItemid reads the item of a row from the plan's row; returns false
 * if there is none.
 */
bool
ZbxhistGetItemid(RowKey *key, EState *estate, TupleTableSlot *plan_slot,
				 int64 *itemid)
{
	bool		isnull;
	Datum		value = ExecGetJunkAttribute(plan_slot, key->junk, &isnull);

	if (!isnull && key->to_itemid != NULL)
	{
		ExprContext *econtext = GetPerTupleExprContext(estate);

		econtext->caseValue_datum = value;
		econtext->caseValue_isNull = false;
		value = ExecEvalExprSwitchContext(key->to_itemid, econtext, &isnull);
	}
	*itemid = isnull ? 0 : DatumGetInt64(value);
	return !isnull;
}
