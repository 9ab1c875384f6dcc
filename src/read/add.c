/*-------------------------------------------------------------------------
 *
 * add.c
 *	  SQL function add: stores many values given as arrays.
 *
 * The rows are stored by one INSERT ... SELECT of the arrays.
 *
 * With on_conflict "ignore" or "update" the keys are looked up first, and new rows are
 * stored in a subtransaction.  If another transaction has stored one of their keys
 * meanwhile, the subtransaction is rolled back, and all keys are looked up again.
 *
 * Locks: those of the INSERT and of the UPDATEs.  Memory is that of the call.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "access/xact.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "parser/parse_coerce.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

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
	ROW_EXISTS,					/* update or ignore existing rows */
	ROW_SUPERSEDED				/* another row of this call has the same key */
} AddedRowState;

typedef struct AddedRow
{
	int64		itemid;
	int64		position;
	int			arrival;
	bool		has_key;
	AddedRowState state;
} AddedRow;

/* one of the arrays */
typedef struct ArrayArgument
{
	ArrayType  *array;
	Datum	   *values;
	bool	   *nulls;
	int			length;
} ArrayArgument;

/* the arrays, in the order of the arguments */
enum
{
	ITEMIDS,
	CLOCKS,
	NS,
	VALUES,
	NARRAYS
};

typedef struct AddCall
{
	Relation	parent;
	OnConflict	on_conflict;
	ArrayArgument arrays[NARRAYS];
	Oid			column_type;
	AddedRow   *rows;
	int			nrows;

	/* result of the last attempt to store them */
	int			nexisting;		/* rows whose keys existed */
	int64		nstored;
} AddCall;

/* after so many attempts in a row that find the same keys, the error is raised */
#define MAX_VAIN_ATTEMPTS 5

/* ---- making rows ---- */

/*
 * GetArray reads an array argument.
 */
static void
GetArray(FunctionCallInfo fcinfo, int argument, const char *name,
		 ArrayArgument *array)
{
	Oid			type;
	int16		length;
	bool		by_value;
	char		align;

	if (PG_ARGISNULL(argument))
		ereport(ERROR,
				errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				errmsg("argument \"%s\" must not be null", name));
	array->array = PG_GETARG_ARRAYTYPE_P(argument);
	type = ARR_ELEMTYPE(array->array);
	get_typlenbyvalalign(type, &length, &by_value, &align);
	deconstruct_array(array->array, type, length, by_value, align,
					  &array->values, &array->nulls, &array->length);
}

/*
 * MakeRows makes the call's rows of its arguments.
 */
static void
MakeRows(FunctionCallInfo fcinfo, AddCall *call)
{
	static const char *const names[] = {"itemids", "clocks", "ns", "values"};
	const ArrayArgument *arrays = call->arrays;

	for (int i = 0; i < NARRAYS; i++)
	{
		GetArray(fcinfo, i + 1, names[i], &call->arrays[i]);
		if (arrays[i].length != arrays[0].length)
			ereport(ERROR,
					errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					errmsg("arrays must have the same number of elements"));
	}
	call->nrows = arrays[0].length;
	call->rows = palloc_extended(sizeof(AddedRow) * Max(call->nrows, 1),
								 MCXT_ALLOC_HUGE);
	for (int i = 0; i < call->nrows; i++)
	{
		AddedRow   *row = &call->rows[i];

		row->itemid = DatumGetInt64(arrays[ITEMIDS].values[i]);
		row->position = make_position(DatumGetInt32(arrays[CLOCKS].values[i]),
									  DatumGetInt32(arrays[NS].values[i]));
		row->has_key = !arrays[ITEMIDS].nulls[i] && !arrays[CLOCKS].nulls[i] &&
			!arrays[NS].nulls[i];
		row->arrival = i;
		row->state = ROW_NEW;
	}
}

/*
 * ValueExpression returns the SQL that makes a value for the column of one of
 * the array.  Text, which is what an untyped literal becomes, converts to
 * anything; other types do as in an INSERT.
 */
static const char *
ValueExpression(const AddCall *call, const char *value)
{
	Oid			type = ARR_ELEMTYPE(call->arrays[VALUES].array);

	if (type != TEXTOID ||
		can_coerce_type(1, &type, &call->column_type, COERCION_ASSIGNMENT))
		return value;
	return psprintf("CAST(%s AS %s)", value,
					format_type_be_qualified(call->column_type));
}

/* ---- inserting ---- */

/*
 * InsertRows inserts the new rows and returns their number.
 */
static int64
InsertRows(const AddCall *call)
{
	Datum	   *are_new = palloc_extended(sizeof(Datum) * Max(call->nrows, 1),
										  MCXT_ALLOC_HUGE);
	Oid			types[NARRAYS + 1];
	Datum		arguments[NARRAYS + 1];
	int64		result;

	for (int i = 0; i < call->nrows; i++)
		are_new[call->rows[i].arrival] =
			BoolGetDatum(call->rows[i].state == ROW_NEW);
	for (int i = 0; i < NARRAYS; i++)
	{
		ArrayType  *array = call->arrays[i].array;

		types[i] = get_array_type(ARR_ELEMTYPE(array));
		arguments[i] = PointerGetDatum(array);
	}
	types[NARRAYS] = BOOLARRAYOID;
	arguments[NARRAYS] =
		PointerGetDatum(construct_array(are_new, call->nrows, BOOLOID,
										sizeof(bool), true, TYPALIGN_CHAR));

	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "could not connect to SPI");
	if (SPI_execute_with_args(psprintf("INSERT INTO %s (itemid, clock, ns, value) "
									   "SELECT itemid, clock, ns, %s "
									   "FROM unnest($1, $2, $3, $4, $5) "
									   "AS added (itemid, clock, ns, value, is_new) "
									   "WHERE is_new",
									   ZbxhistQualifiedName(RelationGetRelid(call->parent)),
									   ValueExpression(call, "value")),
							  lengthof(types), types, arguments, NULL, false, 0) < 0)
		elog(ERROR, "could not execute INSERT");
	result = (int64) SPI_processed;
	SPI_finish();
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
 * FindExisting finds out which keys exist in the active snapshot.
 */
static void
FindExisting(AddCall *call)
{
	ItemReaderSpec spec = {.keeps_sources = true};
	ItemReader *reader = ZbxhistOpenReader(call->parent, GetActiveSnapshot(), &spec);

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
 * RaiseMissed raises the error for an UPDATE that has not found a row; unless it happens
 * again, another transaction was the cause.
 */
static void
RaiseMissed(const AddCall *call, const AddedRow *row)
{
	ereport(ERROR,
			errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			errmsg("could not update an existing row of table \"%s\"",
				   RelationGetRelationName(call->parent)),
			errdetail("The row has itemid %lld, clock %d and ns %d.",
					  (long long) row->itemid, position_clock(row->position),
					  position_ns(row->position)),
			errhint("A trigger or rule of the table or of the partition may suppress the UPDATE."),
			errtable(call->parent));
}

/*
 * UpdateRows gives the rows that are there their new values, and counts them.
 */
static void
UpdateRows(AddCall *call)
{
	const ArrayArgument *added = &call->arrays[VALUES];
	Oid			types[] = {INT8OID, INT4OID, INT4OID, ARR_ELEMTYPE(added->array)};
	SPIPlanPtr	plan;

	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "could not connect to SPI");
	plan = SPI_prepare(psprintf("UPDATE %s SET value = %s "
								"WHERE itemid OPERATOR(pg_catalog.=) $1 "
								"AND clock OPERATOR(pg_catalog.=) $2 "
								"AND ns OPERATOR(pg_catalog.=) $3",
								ZbxhistQualifiedName(RelationGetRelid(call->parent)),
								ValueExpression(call, "$4")),
					   lengthof(types), types);
	if (plan == NULL)
		elog(ERROR, "could not prepare UPDATE");
	for (int i = 0; i < call->nrows; i++)
	{
		AddedRow   *row = &call->rows[i];
		Datum		values[4];
		char		nulls[4] = {' ', ' ', ' ', ' '};

		if (row->state != ROW_EXISTS)
			continue;
		values[0] = Int64GetDatum(row->itemid);
		values[1] = Int32GetDatum(position_clock(row->position));
		values[2] = Int32GetDatum(position_ns(row->position));
		values[3] = added->values[row->arrival];
		nulls[3] = added->nulls[row->arrival] ? 'n' : ' ';
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
 * IsOvertaken says whether another transaction may be the cause of an error.
 */
static bool
IsOvertaken(int sqlerrcode)
{
	return sqlerrcode == ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE ||
		(sqlerrcode == ERRCODE_UNIQUE_VIOLATION && !IsolationUsesXactSnapshot());
}

/*
 * StoreRows stores the rows and returns their number.  If other transactions have stored
 * or deleted some of the keys meanwhile, it looks them up again, as long as it finds
 * other keys each time.  (A duplicate of another unique index, or a row that cannot be
 * updated, will not change.)
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
 * OpenForAdding opens the parent, with the lock and privileges that the
 * call needs.
 */
static void
OpenForAdding(FunctionCallInfo fcinfo, AddCall *call)
{
	static const char *const words[] = {"error", "ignore", "update", NULL};
	AclMode		privileges = ACL_INSERT;
	AttrNumber	attnum;

	call->on_conflict = ZbxhistGetWord(fcinfo, 5, "on_conflict", words);
	if (call->on_conflict != CONFLICT_ERROR)
		privileges |= ACL_SELECT;
	if (call->on_conflict == CONFLICT_UPDATE)
		privileges |= ACL_UPDATE;
	call->parent = ZbxhistOpenParent(ZbxhistRowTypeParent(fcinfo),
									 RowExclusiveLock, privileges);
	attnum = ZbxhistFindColumn(RelationGetDescr(call->parent), "value",
							   InvalidOid);
	if (attnum == InvalidAttrNumber ||
		ZbxhistGetPartitionSet(call->parent)->ns_attnum == InvalidAttrNumber)
		ereport(ERROR,
				errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("table \"%s\" has no columns \"value\" and \"ns\"",
					   RelationGetRelationName(call->parent)),
				errtable(call->parent));
	call->column_type = TupleDescAttr(RelationGetDescr(call->parent),
									  attnum - 1)->atttypid;
}

/*
 * zbxhist_add(row type, itemids, clocks, ns, values, on_conflict) stores a row
 * for each element of the arrays and returns the number of rows stored.
 */
Datum
zbxhist_add(PG_FUNCTION_ARGS)
{
	AddCall		call = {0};
	int64		stored;

	PreventCommandIfReadOnly("INSERT");
	OpenForAdding(fcinfo, &call);
	MakeRows(fcinfo, &call);
	if (call.on_conflict == CONFLICT_ERROR)
		stored = InsertRows(&call);
	else
	{
		SupersedeRows(&call);
		stored = StoreRows(&call);
	}
	CommandCounterIncrement();
	table_close(call.parent, NoLock);
	PG_RETURN_INT64(stored);
}
