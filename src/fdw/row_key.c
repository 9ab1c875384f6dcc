/*-------------------------------------------------------------------------
 *
 * row_key.c
 *	  The key of a packed row, read from columns of the foreign table.
 *
 * A packed row is identified by its item and a ctid, which contains its clock (see
 * fdw_scan.c).  The rows of the plan have the item in a column of the table.  Since the
 * day was packed, that column may have been renamed, or its type changed.  If an UPDATE
 * must not change the key, the rows of the plan also have the old key.
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
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/typcache.h"

#include "fdw/row_key.h"
#include "packed/conditions.h"

/* the columns of a key, as packed, and those of the plan for them */
static const struct
{
	const char *column;
	const char *junk;
}			key_columns[] =

{
	{"itemid", "zbxhist_itemid"},
	{"clock", "zbxhist_clock"},
	{"ns", "zbxhist_ns"}
};

#define KEY_ITEMID 0

typedef struct KeyColumn
{
	AttrNumber	attnum;			/* in the table's rows; 0: there is none */
	AttrNumber	junk;			/* in the plan's rows, or 0 */
	Form_pg_attribute att;		/* of the table, which stays open */
	TypeCacheEntry *type;
} KeyColumn;

struct RowKey
{
	KeyColumn	columns[lengthof(key_columns)];
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
 * ZbxhistAddKeyJunk adds to the plan's rows the columns that identify a row besides its
 * ctid, and for UPDATE its key, which must not change.
 */
void
ZbxhistAddKeyJunk(PlannerInfo *root, Index rtindex, Relation table)
{
	for (int i = 0; i < lengthof(key_columns); i++)
	{
		AttrNumber	attnum = ZbxhistFindTyped(table, key_columns[i].column,
											  InvalidOid);
		Form_pg_attribute att;

		if (attnum == InvalidAttrNumber && i == KEY_ITEMID)
			RaiseNoItemid(table);
		if (attnum == InvalidAttrNumber ||
			(i != KEY_ITEMID && root->parse->commandType != CMD_UPDATE))
			continue;
		att = TupleDescAttr(RelationGetDescr(table), attnum - 1);
		add_row_identity_var(root, makeVar(rtindex, attnum, att->atttypid,
										   att->atttypmod, att->attcollation,
										   0),
							 rtindex, key_columns[i].junk);
	}
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
		AttrNumber	attnum = ZbxhistFindTyped(table, key_columns[i].column,
											  InvalidOid);

		if (attnum != InvalidAttrNumber)
			result = bms_add_member(result, attnum -
									FirstLowInvalidHeapAttributeNumber);
	}
	return result;
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
 * ZbxhistBeginRowKey finds the columns in rows of the table and of the plan.
 */
RowKey *
ZbxhistBeginRowKey(Relation table, List *targets)
{
	RowKey	   *key = palloc0(sizeof(RowKey));

	for (int i = 0; i < lengthof(key_columns); i++)
	{
		KeyColumn  *column = &key->columns[i];

		column->junk = ExecFindJunkAttributeInTlist(targets,
													key_columns[i].junk);
		column->attnum = ZbxhistFindTyped(table, key_columns[i].column,
										  InvalidOid);
		if (column->attnum == InvalidAttrNumber)
			continue;
		column->att = TupleDescAttr(RelationGetDescr(table),
									column->attnum - 1);
		column->type = lookup_type_cache(column->att->atttypid,
										 TYPECACHE_EQ_OPR_FINFO);
	}
	key->to_itemid = MakeItemCast(table, key->columns[KEY_ITEMID].att);
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
	Datum		value = ExecGetJunkAttribute(plan_slot,
											 key->columns[KEY_ITEMID].junk,
											 &isnull);

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

/*
 * KeepsColumn says whether a column of the new row, slot, is as it was.
 */
static bool
KeepsColumn(const KeyColumn *column, TupleTableSlot *slot,
			TupleTableSlot *plan_slot)
{
	bool		old_isnull;
	bool		new_isnull;
	Datum		old = ExecGetJunkAttribute(plan_slot, column->junk,
										   &old_isnull);
	Datum		new = slot_getattr(slot, column->attnum, &new_isnull);

	if (old_isnull || new_isnull)
		return old_isnull && new_isnull;
	if (datum_image_eq(old, new, column->att->attbyval, column->att->attlen))
		return true;
	return IsBuiltIn(column->att->atttypid) &&
		OidIsValid(column->type->eq_opr_finfo.fn_oid) &&
		DatumGetBool(FunctionCall2Coll(&column->type->eq_opr_finfo,
									   column->att->attcollation, old, new));
}

/*
 * ZbxhistKeepsKey says whether the new row, slot, has the key of the old one.
 */
bool
ZbxhistKeepsKey(RowKey *key, TupleTableSlot *slot, TupleTableSlot *plan_slot)
{
	for (int i = 0; i < lengthof(key_columns); i++)
	{
		const KeyColumn *column = &key->columns[i];

		if (column->attnum != InvalidAttrNumber &&
			!KeepsColumn(column, slot, plan_slot))
			return false;
	}
	return true;
}
