/*
 * nullwrite.c
 *		The papers' "Null Write": a BEFORE ROW trigger that stores nothing.
 *
 * The statement is parsed, planned and executed and the trigger is called for
 * each row, but no row reaches a table: the upper bound for any store that is
 * fed by PostgreSQL INSERT statements through a row trigger.
 */
#include "postgres.h"

#include "commands/trigger.h"
#include "fmgr.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(nullwrite_skip);

/* Returns NULL: the row is skipped. */
Datum
nullwrite_skip(PG_FUNCTION_ARGS)
{
	if (!CALLED_AS_TRIGGER(fcinfo))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("nullwrite_skip must be called as a trigger")));

	return PointerGetDatum(NULL);
}
