/*-------------------------------------------------------------------------
 *
 * import.c
 *	  Writes the rows of a query into a day's table.
 *
 * The rows come from any table, in any order, and some of them twice.  They are sorted
 * like those of a partition that is packed, and of rows with one key the first is kept.
 * Unlike those, no transaction has seen them before.  So they are not written frozen: a
 * transaction whose snapshot does not have the day does not see its rows either.
 *
 * The rows are read back and compared with those that were to be written.  Memory:
 * maintenance_work_mem for the sort, and one group.
 *
 * The checksum of the source table is computed when it is imported, and again before the
 * user is told that it may be dropped.  It is a sum, so it does not depend on the order
 * of rows.  It is computed from the bytes of values, so it needs no operators of their
 * types.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "executor/tuptable.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "tcop/dest.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "compat.h"
#include "format/row_compare.h"
#include "packed/day_stream.h"
#include "packed/day_write.h"
#include "packed/row_sort.h"
#include "result_row.h"
#include "tables/bounds.h"
#include "tables/columns.h"
#include "tables/item_range.h"
#include "tables/owned_table.h"
#include "tables/owner_rights.h"

/* sums of checksums stay below this, so that SQL can add two of them */
#define CHECKSUM_MASK ((UINT64CONST(1) << 62) - 1)

PG_FUNCTION_INFO_V1(zbxhist_checksum_rows);
PG_FUNCTION_INFO_V1(zbxhist_import_rows);

/* stands for a null */
#define NULL_COLUMN UINT64CONST(0x2f9be6cc1d5a4087)

typedef struct ImportState
{
	DestReceiver receiver;		/* must be first */
	uint64		nread;
	uint64		read_checksum;	/* of the rows of the query */

	Relation	day;			/* NULL: they are not written */
	DayLayout  *layout;
	bool		is_unique;		/* keys must be unique */
	ClockRange	range;			/* clocks that the rows must have */
	/* columns in which the parent has no nulls */
	Datum	   *required_names;
	int			nrequired;
	TupleSource source;			/* of the query's rows */
	RowSort    *sort;
	uint64		nwritten;
	RowBuffer  *hashed;			/* the row written last */
	uint64		checksum;		/* of all of them */
} ImportState;

/* ---- reading ---- */

/*
 * HashValue returns a hash of a value's bytes.  If a type passed by value has fewer than
 * 64 bits, the other bits of the Datum are not defined.
 */
static uint64
HashValue(Datum value, Form_pg_attribute att)
{
	if (!att->attbyval)
		return datum_image_hash(value, false, att->attlen);
	if (att->attlen < sizeof(Datum))
		return (uint64) value & ((UINT64CONST(1) << (8 * att->attlen)) - 1);
	return (uint64) value;
}

/*
 * ReceiveRow takes a row of the query: adds a hash of its values, column by column, and
 * passes it to the sort, if rows are written.  A null in a column that is NOT NULL is an
 * error.
 */
static bool
ReceiveRow(TupleTableSlot *slot, DestReceiver *self)
{
	ImportState *state = (ImportState *) self;
	TupleDesc	desc = slot->tts_tupleDescriptor;
	uint64		hash = 0;
	HeapTuple	tuple;
	int64		itemid;
	int64		position;

	CHECK_FOR_INTERRUPTS();
	slot_getallattrs(slot);
	for (int i = 0; i < desc->natts; i++)
		hash = mix_hash(hash, slot->tts_isnull[i] ? NULL_COLUMN :
						HashValue(slot->tts_values[i], TupleDescAttr(desc, i)));
	state->read_checksum += hash;
	state->nread++;
	if (state->day == NULL)
		return true;

	desc = state->source.desc;
	for (int i = 0; i < desc->natts; i++)
	{
		if (slot->tts_isnull[i] && TupleDescAttr(desc, i)->attnotnull)
			ereport(ERROR,
					errcode(ERRCODE_NOT_NULL_VIOLATION),
					errmsg("null value in column \"%s\" of a row to be imported",
						   NameStr(TupleDescAttr(desc, i)->attname)));
	}
	/* one of a table may be without columns that were added later */
	tuple = heap_form_tuple(desc, slot->tts_values, slot->tts_isnull);
	if (!ZbxhistReadKey(&state->source, tuple, &itemid, &position) ||
		position_clock(position) < state->range.from_clock ||
		position_clock(position) >= state->range.to_clock)
		elog(ERROR, "a row to be imported is not of the packed day");
	ZbxhistSortRow(state->sort, itemid, position, tuple);
	heap_freetuple(tuple);
	return true;
}

/*
 * StartRows finds the day's columns among the query's, whose description does
 * not outlive the query; both must have the same.
 */
static void
StartRows(DestReceiver *self, int operation, TupleDesc desc)
{
	ImportState *state = (ImportState *) self;
	MemoryContext old;

	if (state->day == NULL)
		return;
	old = MemoryContextSwitchTo(GetMemoryChunkContext(state));
	desc = CreateTupleDescCopy(desc);
	for (int i = 0; i < state->nrequired; i++)
	{
		const char *name = NameStr(*DatumGetName(state->required_names[i]));
		Form_pg_attribute att = ZbxhistFindAttribute(desc, name);

		if (att == NULL)
			elog(ERROR, "the rows have no column \"%s\"", name);
		att->attnotnull = true;
	}
	if (!ZbxhistInitTupleSource(&state->source, state->layout, desc))
		ereport(ERROR,
				errcode(ERRCODE_DATATYPE_MISMATCH),
				errmsg("the rows have other columns than packed day \"%s\"",
					   RelationGetRelationName(state->day)),
				errtable(state->day));
	MemoryContextSwitchTo(old);
}

/*
 * EndRows has nothing to do; it also stands for the receiver's destruction.
 */
static void
EndRows(DestReceiver *self)
{
}

/*
 * ReadQuery reads the rows of a query.
 */
static void
ReadQuery(ImportState *state, text * query)
{
	SPIExecuteOptions options = {.dest = &state->receiver,.read_only = true};
	SPIPlanPtr	plan;
	int			code;

	state->receiver.receiveSlot = ReceiveRow;
	state->receiver.rStartup = StartRows;
	state->receiver.rShutdown = EndRows;
	state->receiver.rDestroy = EndRows;
	state->receiver.mydest = DestNone;
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "could not connect to SPI");
	plan = SPI_prepare(text_to_cstring(query), 0, NULL);
	if (plan == NULL)
		elog(ERROR, "could not plan query: %s", SPI_result_code_string(SPI_result));
	code = SPI_execute_plan_extended(plan, &options);
	if (code < 0)
		elog(ERROR, "could not execute query: %s", SPI_result_code_string(code));
	SPI_finish();
}

/* ---- writing ---- */

/*
 * WriteImportedDay writes the sorted rows; returns the bytes that they take.
 */
static uint64
WriteImportedDay(ImportState *state)
{
	DayWriter  *writer = ZbxhistBeginDayWrite(state->day, state->layout, false);
	SortedRow	row;
	int64		itemid = 0;
	int64		position = 0;
	int32		clock;

	state->hashed = ZbxhistCreateRowBuffer(state->layout);
	ZbxhistRowSortPerform(state->sort);
	while (ZbxhistRowSortNext(state->sort, &row))
	{
		CHECK_FOR_INTERRUPTS();
		if (state->is_unique && state->nwritten > 0 &&
			row.itemid == itemid && row.position == position)
			continue;
		state->nwritten++;
		itemid = row.itemid;
		position = row.position;
		clock = position_clock(position);
		ZbxhistDayWriteTuple(writer, &state->source, itemid, clock, &row.tuple);
		ZbxhistBeginRows(state->hashed, itemid);
		ZbxhistLoadTuple(&state->source, &row.tuple, state->hashed,
						 ZbxhistAddRow(state->hashed, clock));
		state->checksum += ZbxhistHashRows(&state->hashed->rows);
	}
	return ZbxhistEndDayWrite(writer, &state->nwritten);
}

/* ---- the functions ---- */

/*
 * zbxhist_checksum_rows(relation, query) counts and hashes the rows of a query, with
 * the rights of a table's owner; see sql/migrate/source.sql.
 */
Datum
zbxhist_checksum_rows(PG_FUNCTION_ARGS)
{
	ImportState state = {.day = NULL};
	Datum		values[2];
	bool		nulls[2] = {false};
	OwnerRights before;
	Relation	rel = ZbxhistOpenOwnedTable(PG_GETARG_OID(0), AccessShareLock);

	ZbxhistTakeOwnerRights(&before, rel->rd_rel->relowner);
	ReadQuery(&state, PG_GETARG_TEXT_PP(1));
	ZbxhistGiveBackRights(&before);
	relation_close(rel, NoLock);
	values[0] = Int64GetDatum((int64) state.nread);
	values[1] = Int64GetDatum((int64) (state.read_checksum & CHECKSUM_MASK));
	return result_row(fcinfo, values, nulls);
}

/*
 * zbxhist_import_rows(query, day, from_clock, to_clock, is_unique, required)
 * writes the rows of a query into the day's table; see sql/migrate/slices.sql.
 */
Datum
zbxhist_import_rows(PG_FUNCTION_ARGS)
{
	ImportState *state = palloc0(sizeof(ImportState));
	Datum		values[4];
	bool		nulls[4] = {false};
	OwnerRights before;

	state->day = ZbxhistOpenOwnedTable(PG_GETARG_OID(1), RowExclusiveLock);
	if (RelationGetNumberOfBlocks(state->day) > 0)
		ereport(ERROR,
				errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				errmsg("table \"%s\" is not empty",
					   RelationGetRelationName(state->day)),
				errtable(state->day));
	state->layout = ZbxhistDayLayout(state->day);
	state->range.from_clock = PG_GETARG_INT64(2);
	state->range.to_clock = PG_GETARG_INT64(3);
	state->is_unique = PG_GETARG_BOOL(4);
	deconstruct_array(PG_GETARG_ARRAYTYPE_P(5), NAMEOID, NAMEDATALEN, false,
					  TYPALIGN_CHAR, &state->required_names, NULL,
					  &state->nrequired);
	ZbxhistTakeOwnerRights(&before, state->day->rd_rel->relowner);
	state->sort = ZbxhistBeginRowSort((Size) maintenance_work_mem * 1024);
	ReadQuery(state, PG_GETARG_TEXT_PP(0));
	values[2] = Int64GetDatum((int64) WriteImportedDay(state));
	ZbxhistVerifyWritten(state->day, state->layout, state->nwritten,
						 state->checksum, NULL, NULL);
	values[0] = Int64GetDatum((int64) state->nread);
	values[1] = Int64GetDatum((int64) state->nwritten);
	values[3] = Int64GetDatum((int64) (state->read_checksum & CHECKSUM_MASK));
	ZbxhistEndRowSort(state->sort);
	ZbxhistGiveBackRights(&before);
	table_close(state->day, NoLock);
	return result_row(fcinfo, values, nulls);
}
