/*-------------------------------------------------------------------------
 *
 * add.c
 *	  SQL function add: stores many values given as arrays.
 *
 * The rows take the same way as those of an INSERT (ingest/batch_route.c),
 * without a statement, and are written together.  Values are converted as an INSERT would; columns
 * that are not given have their defaults.  A table on which INSERT does more
 * (triggers of users, rules) gets an INSERT instead.
 *
 * With on_conflict "ignore" or "update" the keys are looked up first, and
 * what is new is stored in a subtransaction: if another transaction has stored
 * one of them meanwhile, that is rolled back and everything is looked up
 * again.
 *
 * Locks: ROW EXCLUSIVE on the parent; partitions as in ingest/batch_flush.c.
 * Memory is that of the call.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/pg_type.h"
#include "commands/trigger.h"
#include "executor/executor.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "parser/parse_coerce.h"
#include "rewrite/rewriteHandler.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "ingest/batch.h"
#include "ingest/insert_triggers.h"
#include "read/parent.h"
#include "read/reader.h"
#include "tables/attempt.h"
#include "tables/columns.h"
#include "tables/owned_table.h"
#include "tables/partition_set.h"

PG_FUNCTION_INFO_V1(zbxhist_add);

typedef enum OnConflict
{
	CONFLICT_ERROR,
	CONFLICT_IGNORE,
	CONFLICT_UPDATE
} OnConflict;

typedef enum AddedRowState
{
	ROW_NEW,					/* to be inserted */
	ROW_EXISTS,					/* to be updated, or ignored */
	ROW_SUPERSEDED				/* another row of the call has its key */
} AddedRowState;

typedef struct AddedRow
{
	int64		itemid;
	int64		position;
	int			arrival;
	bool		has_key;
	AddedRowState state;
	HeapTuple	tuple;			/* in the parent's row type */
} AddedRow;

typedef struct AddCall
{
	Relation	parent;
	PartitionSet *set;
	AttrNumber	value_attnum;
	OnConflict	on_conflict;
	AddedRow   *rows;
	int			nrows;

	/* what came of the last attempt to store them */
	int			nexisting;		/* rows whose keys were there */
	int64		nstored;
} AddCall;

/* so many attempts in a row that find the same keys are enough */
#define MAX_VAIN_ATTEMPTS 5

/* ---- making rows ---- */

/* one of the arrays */
typedef struct ArrayArgument
{
	Datum	   *values;
	bool	   *nulls;
	int			length;
	Oid			type;
} ArrayArgument;

/*
 * GetArray takes an argument apart.
 */
static void
GetArray(FunctionCallInfo fcinfo, int argument, const char *name,
		 ArrayArgument *array)
{
	ArrayType  *value;
	int16		length;
	bool		by_value;
	char		align;

	if (PG_ARGISNULL(argument))
		ereport(ERROR,
				errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				errmsg("argument \"%s\" must not be null", name));
	value = PG_GETARG_ARRAYTYPE_P(argument);
	array->type = ARR_ELEMTYPE(value);
	get_typlenbyvalalign(array->type, &length, &by_value, &align);
	deconstruct_array(value, array->type, length, by_value, align,
					  &array->values, &array->nulls, &array->length);
}

/*
 * MakeConversion returns an expression that converts a value of a type, as
 * the case value of its context, to the column's type as an assignment does.
 * Text, which is what an untyped literal becomes, converts to anything.
 */
static ExprState *
MakeConversion(Form_pg_attribute column, Oid type, EState *estate)
{
	CaseTestExpr *value = makeNode(CaseTestExpr);
	Node	   *expr;

	value->typeId = type;
	value->typeMod = -1;
	value->collation = get_typcollation(type);
	expr = coerce_to_target_type(NULL, (Node *) value, type, column->atttypid,
								 column->atttypmod, COERCION_ASSIGNMENT,
								 COERCE_IMPLICIT_CAST, -1);
	if (expr == NULL && type == TEXTOID)
		expr = coerce_to_target_type(NULL, (Node *) value, type,
									 column->atttypid, column->atttypmod,
									 COERCION_EXPLICIT, COERCE_IMPLICIT_CAST,
									 -1);
	if (expr == NULL)
		ereport(ERROR,
				errcode(ERRCODE_DATATYPE_MISMATCH),
				errmsg("column \"%s\" is of type %s but values are of type %s",
					   NameStr(column->attname),
					   format_type_be(column->atttypid),
					   format_type_be(type)));
	return ExecPrepareExpr((Expr *) expr, estate);
}

/*
 * MakeDefault returns the expression of a column's default, or NULL.
 */
static ExprState *
MakeDefault(Relation parent, AttrNumber attnum, EState *estate)
{
	Form_pg_attribute column = TupleDescAttr(RelationGetDescr(parent),
											 attnum - 1);
	Node	   *expr;

	if (column->attisdropped || column->attgenerated != '\0')
		return NULL;
	expr = build_column_default(parent, attnum);
	return expr == NULL ? NULL : ExecPrepareExpr((Expr *) expr, estate);
}

/*
 * MakeTuples makes the tuples: given columns from the arrays, by the number of
 * the column, the others by their defaults.
 */
static void
MakeTuples(AddCall *call, ArrayArgument **given)
{
	TupleDesc	desc = RelationGetDescr(call->parent);
	EState	   *estate = CreateExecutorState();
	ExprContext *econtext = GetPerTupleExprContext(estate);
	ExprState **exprs = palloc0(sizeof(ExprState *) * desc->natts);
	Datum	   *values = palloc(sizeof(Datum) * desc->natts);
	bool	   *nulls = palloc(sizeof(bool) * desc->natts);

	for (int i = 0; i < desc->natts; i++)
		exprs[i] = given[i] != NULL ?
			MakeConversion(TupleDescAttr(desc, i), given[i]->type, estate) :
			MakeDefault(call->parent, i + 1, estate);

	for (int row = 0; row < call->nrows; row++)
	{
		ResetExprContext(econtext);
		for (int i = 0; i < desc->natts; i++)
		{
			nulls[i] = true;
			if (given[i] != NULL)
			{
				econtext->caseValue_datum = given[i]->values[row];
				econtext->caseValue_isNull = given[i]->nulls[row];
			}
			if (exprs[i] != NULL)
				values[i] = ExecEvalExprSwitchContext(exprs[i], econtext,
													  &nulls[i]);
		}
		call->rows[row].tuple = heap_form_tuple(desc, values, nulls);
	}
	FreeExecutorState(estate);
}

/*
 * CheckLengths raises an error unless the arrays have as many elements.
 */
static void
CheckLengths(const ArrayArgument *arrays, int narrays)
{
	for (int i = 1; i < narrays; i++)
	{
		if (arrays[i].length != arrays[0].length)
			ereport(ERROR,
					errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					errmsg("arrays must have the same number of elements"));
	}
}

/*
 * MakeRows makes the call's rows of its arguments.
 */
static void
MakeRows(FunctionCallInfo fcinfo, AddCall *call)
{
	ArrayArgument arrays[4];
	ArrayArgument **given = palloc0(sizeof(ArrayArgument *) *
									RelationGetDescr(call->parent)->natts);

	GetArray(fcinfo, 1, "itemids", &arrays[0]);
	GetArray(fcinfo, 2, "clocks", &arrays[1]);
	GetArray(fcinfo, 3, "ns", &arrays[2]);
	GetArray(fcinfo, 4, "values", &arrays[3]);
	CheckLengths(arrays, lengthof(arrays));
	given[call->set->itemid_attnum - 1] = &arrays[0];
	given[call->set->clock_attnum - 1] = &arrays[1];
	given[call->set->ns_attnum - 1] = &arrays[2];
	given[call->value_attnum - 1] = &arrays[3];

	call->nrows = arrays[0].length;
	call->rows = palloc_extended(sizeof(AddedRow) * Max(call->nrows, 1),
								 MCXT_ALLOC_HUGE);
	for (int i = 0; i < call->nrows; i++)
	{
		AddedRow   *row = &call->rows[i];

		row->itemid = DatumGetInt64(arrays[0].values[i]);
		row->position = make_position(DatumGetInt32(arrays[1].values[i]),
									  DatumGetInt32(arrays[2].values[i]));
		row->has_key = !arrays[0].nulls[i] && !arrays[1].nulls[i] &&
			!arrays[2].nulls[i];
		row->arrival = i;
		row->state = ROW_NEW;
	}
	MakeTuples(call, given);
}

/* ---- inserting ---- */

/*
 * InsertByStatement inserts the new rows one by one with a prepared INSERT.
 */
static int64
InsertByStatement(AddCall *call)
{
	char	   *name = ZbxhistQualifiedName(RelationGetRelid(call->parent));
	Oid			type = call->parent->rd_rel->reltype;
	SPIPlanPtr	plan;
	int64		result = 0;

	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "could not connect to SPI");
	plan = SPI_prepare(psprintf("INSERT INTO %s SELECT ($1).*", name), 1, &type);
	if (plan == NULL)
		elog(ERROR, "could not prepare INSERT");
	for (int i = 0; i < call->nrows; i++)
	{
		Datum		value;

		if (call->rows[i].state != ROW_NEW)
			continue;
		value = heap_copy_tuple_as_datum(call->rows[i].tuple,
										 RelationGetDescr(call->parent));
		if (SPI_execute_plan(plan, &value, NULL, false, 0) < 0)
			elog(ERROR, "could not execute INSERT");
		result += SPI_processed;
	}
	SPI_finish();
	return result;
}

/*
 * FireTriggers fires the AFTER ROW triggers that partitions have, at the end of
 * what would be a statement.
 */
static void
FireTriggers(void)
{
	EState	   *estate = CreateExecutorState();

	AfterTriggerEndQuery(estate);
	ExecCloseResultRelations(estate);
	ExecResetTupleTable(estate->es_tupleTable, false);
	FreeExecutorState(estate);
}

/*
 * InsertRows inserts the new rows; returns their number.
 */
static int64
InsertRows(AddCall *call)
{
	InsertBatch *batch;
	int64		result = 0;

	/* an INSERT into the parent may do more than our trigger */
	if (ZbxhistHasOtherTriggers(call->parent) ||
		call->parent->rd_rules != NULL)
		return InsertByStatement(call);

	AfterTriggerBeginQuery();
	batch = ZbxhistOpenBatch(call->parent, call, GetCurrentCommandId(true),
							 PATH_FUNCTION);
	for (int i = 0; i < call->nrows; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (call->rows[i].state != ROW_NEW)
			continue;
		if (OidIsValid(ZbxhistRouteTuple(batch, call->parent,
										 call->rows[i].tuple)))
			result++;
	}
	(void) ZbxhistCloseBatch(batch);
	FireTriggers();
	return result;
}

/* ---- keys that are there ---- */

/*
 * compare_row_keys orders rows by key, then as they came.
 */
static int
compare_row_keys(const void *a, const void *b)
{
	const AddedRow *left = a;
	const AddedRow *right = b;
	int			order = compare_places(left->itemid, left->position,
									   right->itemid, right->position);

	if (order != 0)
		return order;
	return left->arrival < right->arrival ? -1 : 1;
}

/*
 * SupersedeRows leaves one row of each key: the first to be stored if others
 * are ignored, the last if each replaces the one before.
 */
static void
SupersedeRows(AddCall *call)
{
	qsort(call->rows, call->nrows, sizeof(AddedRow), compare_row_keys);
	for (int i = 1; i < call->nrows; i++)
	{
		AddedRow   *row = &call->rows[i];

		if (!row->has_key || !row[-1].has_key ||
			row->itemid != row[-1].itemid || row->position != row[-1].position)
			continue;
		if (call->on_conflict == CONFLICT_UPDATE)
			row[-1].state = ROW_SUPERSEDED;
		else
			row->state = ROW_SUPERSEDED;
	}
}

/*
 * FindExisting finds out which rows' keys are there in the active snapshot.
 */
static void
FindExisting(AddCall *call)
{
	ItemReader *reader = ZbxhistOpenReader(call->parent, GetActiveSnapshot(),
										   true);

	call->nexisting = 0;
	for (int i = 0; i < call->nrows; i++)
	{
		AddedRow   *row = &call->rows[i];
		ItemRange	range;

		CHECK_FOR_INTERRUPTS();
		if (row->state == ROW_SUPERSEDED || !row->has_key)
			continue;
		ZbxhistWholeItem(&range, row->itemid);
		ZbxhistStartAt(&range, row->position);
		ZbxhistEndAt(&range, row->position);
		ZbxhistReadItem(reader, &range);
		row->state = ZbxhistReadNext(reader) ? ROW_EXISTS : ROW_NEW;
		call->nexisting += row->state == ROW_EXISTS;
	}
	ZbxhistCloseReader(reader);
}

/*
 * RaiseMissed raises the error for an UPDATE that has not found a row, which is
 * another transaction's doing unless it comes again.
 */
static void
RaiseMissed(const AddCall *call, const AddedRow *row)
{
	ereport(ERROR,
			errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			errmsg("UPDATE of table \"%s\" does not reach a row that is there",
				   RelationGetRelationName(call->parent)),
			errdetail("It has itemid %lld, clock %d and ns %d.",
					  (long long) row->itemid, position_clock(row->position),
					  position_ns(row->position)),
			errhint("Triggers or rules of the table, or of the partition, may keep it from being updated."),
			errtable(call->parent));
}

/*
 * UpdateRows gives the rows that are there their new values, and counts them.
 */
static void
UpdateRows(AddCall *call)
{
	TupleDesc	desc = RelationGetDescr(call->parent);
	char	   *name = ZbxhistQualifiedName(RelationGetRelid(call->parent));
	Oid			types[] = {INT8OID, INT4OID, INT4OID, InvalidOid};
	SPIPlanPtr	plan;

	types[3] = TupleDescAttr(desc, call->value_attnum - 1)->atttypid;
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "could not connect to SPI");
	plan = SPI_prepare(psprintf("UPDATE %s SET value = $4 "
								"WHERE itemid OPERATOR(pg_catalog.=) $1 "
								"AND clock OPERATOR(pg_catalog.=) $2 "
								"AND ns OPERATOR(pg_catalog.=) $3", name),
					   4, types);
	if (plan == NULL)
		elog(ERROR, "could not prepare UPDATE");
	for (int i = 0; i < call->nrows; i++)
	{
		AddedRow   *row = &call->rows[i];
		Datum		values[4];
		bool		isnull;
		char		nulls[4] = {' ', ' ', ' ', ' '};

		if (row->state != ROW_EXISTS)
			continue;
		values[0] = Int64GetDatum(row->itemid);
		values[1] = Int32GetDatum(position_clock(row->position));
		values[2] = Int32GetDatum(position_ns(row->position));
		values[3] = heap_getattr(row->tuple, call->value_attnum, desc, &isnull);
		nulls[3] = isnull ? 'n' : ' ';
		if (SPI_execute_plan(plan, values, nulls, false, 0) < 0)
			elog(ERROR, "could not execute UPDATE");
		if (SPI_processed == 0)
			RaiseMissed(call, row);
		call->nstored += SPI_processed;
	}
	SPI_finish();
}

/*
 * StoreOnce looks the keys up and stores the rows.
 */
static void
StoreOnce(void *arg)
{
	AddCall    *call = arg;

	CommandCounterIncrement();
	PushActiveSnapshot(GetTransactionSnapshot());
	FindExisting(call);
	call->nstored = InsertRows(call);
	if (call->on_conflict == CONFLICT_UPDATE)
		UpdateRows(call);
	PopActiveSnapshot();
}

/*
 * IsOvertaken says whether an error may be that another transaction came in
 * between.
 */
static bool
IsOvertaken(int sqlerrcode)
{
	return sqlerrcode == ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE ||
		(sqlerrcode == ERRCODE_UNIQUE_VIOLATION && !IsolationUsesXactSnapshot());
}

/*
 * StoreRows stores the rows and returns their number.  What other transactions
 * have stored or deleted meanwhile is looked up again, as often as that is
 * something new: a duplicate of another unique index stays one, and so does a
 * row that cannot be updated.
 */
static int64
StoreRows(AddCall *call)
{
	int			nexisting = -1;
	int			nvain = 0;
	ErrorData  *error;

	while ((error = ZbxhistAttemptIf(StoreOnce, call, IsOvertaken)) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		if (call->nexisting != nexisting)
			nvain = 0;
		if (++nvain == MAX_VAIN_ATTEMPTS)
			ReThrowError(error);
		nexisting = call->nexisting;
		FreeErrorData(error);
	}
	return call->nstored;
}

/* ---- the function ---- */

/*
 * OpenForAdding opens the parent for what the call is to do with it.
 */
static void
OpenForAdding(FunctionCallInfo fcinfo, AddCall *call)
{
	static const char *const words[] = {"error", "ignore", "update", NULL};
	AclMode		privileges = ACL_INSERT;

	call->on_conflict = ZbxhistGetWord(fcinfo, 5, "on_conflict", words);
	if (call->on_conflict != CONFLICT_ERROR)
		privileges |= ACL_SELECT;
	if (call->on_conflict == CONFLICT_UPDATE)
		privileges |= ACL_UPDATE;
	call->parent = ZbxhistOpenParent(ZbxhistRowTypeParent(fcinfo),
									 RowExclusiveLock, privileges);
	call->set = ZbxhistGetPartitionSet(call->parent);
	call->value_attnum = ZbxhistFindColumn(RelationGetDescr(call->parent),
										   "value", InvalidOid);
	if (call->value_attnum == InvalidAttrNumber ||
		call->set->ns_attnum == InvalidAttrNumber)
		ereport(ERROR,
				errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("table \"%s\" has no columns \"value\" and \"ns\"",
					   RelationGetRelationName(call->parent)),
				errtable(call->parent));
}

/*
 * zbxhist_add(row type, itemids, clocks, ns, values, on_conflict) stores a row
 * for each element of the arrays and returns the number of rows stored.
 */
Datum
zbxhist_add(PG_FUNCTION_ARGS)
{
	AddCall		call = {0};
	int64		stored = 0;

	PreventCommandIfReadOnly("INSERT");
	PreventCommandIfParallelMode("INSERT");
	OpenForAdding(fcinfo, &call);
	MakeRows(fcinfo, &call);
	if (call.on_conflict == CONFLICT_ERROR)
	{
		PushActiveSnapshot(GetTransactionSnapshot());
		stored = InsertRows(&call);
		PopActiveSnapshot();
	}
	else
	{
		SupersedeRows(&call);
		stored = StoreRows(&call);
	}
	CommandCounterIncrement();
	table_close(call.parent, NoLock);
	PG_RETURN_INT64(stored);
}
