/*-------------------------------------------------------------------------
 *
 * query_rows.c
 *	  Receives the rows of a query, and counts and hashes them.
 *
 * The checksum of a table that is imported is made when it is read, and once
 * more before anybody is told that it may be dropped.  It is a sum, so it does
 * not depend on the order of rows; and one over the bytes of values, so it needs
 * no operators of their types.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/relation.h"
#include "executor/spi.h"
#include "executor/tuptable.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "tcop/dest.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/rel.h"

#include "catalog/owned_table.h"
#include "catalog/owner_rights.h"
#include "packed/jobs/query_rows.h"
#include "packed/values/row_hash.h"
#include "result_row.h"

PG_FUNCTION_INFO_V1(zbxhist_checksum_rows);

/* stands for a null */
#define NULL_COLUMN UINT64CONST(0x2f9be6cc1d5a4087)

typedef struct ChecksumState
{
	DestReceiver receiver;		/* must be first */
	uint64		nrows;
	uint64		checksum;
} ChecksumState;

/*
 * HashValue returns a hash of a value's bytes.  Of a number of less than 64 bits
 * nobody has said what the others are.
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
 * ZbxhistHashSlot returns a hash of a row's values, column by column.
 */
uint64
ZbxhistHashSlot(TupleTableSlot *slot)
{
	TupleDesc	desc = slot->tts_tupleDescriptor;
	uint64		hash = 0;

	slot_getallattrs(slot);
	for (int i = 0; i < desc->natts; i++)
	{
		hash = mix_hash(hash, slot->tts_isnull[i] ? NULL_COLUMN :
						HashValue(slot->tts_values[i], TupleDescAttr(desc, i)));
	}
	return hash;
}

/*
 * ZbxhistReceiveQuery gives the rows of a query to a receiver.
 */
void
ZbxhistReceiveQuery(const char *query, DestReceiver *receiver)
{
	SPIExecuteOptions options = {0};
	SPIPlanPtr	plan;
	int			code;

	options.dest = receiver;
	options.read_only = true;
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "could not connect to SPI");
	plan = SPI_prepare(query, 0, NULL);
	if (plan == NULL)
		elog(ERROR, "could not plan query: %s", SPI_result_code_string(SPI_result));
	code = SPI_execute_plan_extended(plan, &options);
	if (code < 0)
		elog(ERROR, "could not execute query: %s", SPI_result_code_string(code));
	SPI_finish();
}

/*
 * AddRow adds a row to the checksum.
 */
static bool
AddRow(TupleTableSlot *slot, DestReceiver *self)
{
	ChecksumState *state = (ChecksumState *) self;

	CHECK_FOR_INTERRUPTS();
	state->checksum += ZbxhistHashSlot(slot);
	state->nrows++;
	return true;
}

/*
 * StartRows has nothing to do.
 */
static void
StartRows(DestReceiver *self, int operation, TupleDesc desc)
{
}

/*
 * EndRows has nothing to do; it also stands for the receiver's destruction.
 */
static void
EndRows(DestReceiver *self)
{
}

/*
 * zbxhist_checksum_rows(relation, query) counts and hashes the rows of a query, with
 * the rights of a table's owner; see sql/migrate/source.sql.
 */
Datum
zbxhist_checksum_rows(PG_FUNCTION_ARGS)
{
	ChecksumState state = {0};
	Datum		values[2];
	bool		nulls[2] = {false};
	OwnerRights before;
	Relation	rel;

	rel = ZbxhistOpenOwnedTable(PG_GETARG_OID(0), AccessShareLock);
	state.receiver.receiveSlot = AddRow;
	state.receiver.rStartup = StartRows;
	state.receiver.rShutdown = EndRows;
	state.receiver.rDestroy = EndRows;
	state.receiver.mydest = DestNone;
	ZbxhistTakeOwnerRights(&before, rel->rd_rel->relowner);
	ZbxhistReceiveQuery(text_to_cstring(PG_GETARG_TEXT_PP(1)), &state.receiver);
	ZbxhistGiveBackRights(&before);
	relation_close(rel, NoLock);
	values[0] = Int64GetDatum((int64) state.nrows);
	values[1] = Int64GetDatum((int64) (state.checksum & CHECKSUM_MASK));
	return result_row(fcinfo, values, nulls);
}
