/*-------------------------------------------------------------------------
 *
 * timeouts.c
 *	  Sets the timeouts of maintenance, and commits what it does.
 *
 * The statement_timeout of a role or database is for statements that somebody waits for.
 * If one table takes longer than that, each run would end at it, and the other tables
 * would never be maintained.  The timer was started when the CALL began, so it is not
 * enough to set the parameter.
 *
 * Instead, the timer limits how long maintenance waits for an answer of an archive server,
 * whose processes may be stopped.  Such a server has to commit, too, and PL/pgSQL catches no error
 * of its own COMMIT, which would end the run.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "fmgr.h"
#include "funcapi.h"
#include "nodes/parsenodes.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/timeout.h"

#include "packed/archive.h"

PG_FUNCTION_INFO_V1(zbxhist_set_timeouts);
PG_FUNCTION_INFO_V1(zbxhist_try_commit);

/*
 * SwitchOff sets a timeout to none until the transaction ends, if this PostgreSQL
 * has it.
 */
static void
SwitchOff(const char *parameter)
{
	if (GetConfigOption(parameter, true, false) != NULL)
		(void) set_config_option(parameter, "0", PGC_USERSET, PGC_S_SESSION,
								 GUC_ACTION_LOCAL, true, 0, false);
}

/*
 * zbxhist_set_timeouts(answer_limit) switches off the timeouts of the current statement
 * and transaction.  Each answer of an archive server must come within answer_limit
 * milliseconds.  The next statement has its own.
 */
Datum
zbxhist_set_timeouts(PG_FUNCTION_ARGS)
{
	disable_timeout(STATEMENT_TIMEOUT, false);
	SwitchOff("statement_timeout");
	SwitchOff("transaction_timeout");
	ZbxhistLimitAnswers(PG_GETARG_INT32(0));
	PG_RETURN_VOID();
}

/*
 * zbxhist_try_commit(OUT state, OUT problem) is a COMMIT that says why it has failed; then the
 * transaction has been rolled back.  A cancel is an error.
 */
Datum
zbxhist_try_commit(PG_FUNCTION_ARGS)
{
	ErrorData  *error = ZbxhistTryCommit(castNode(CallContext, fcinfo->context)->atomic);
	TupleDesc	desc;
	Datum		values[2] = {0, 0};
	bool		isnull[2] = {true, true};

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	if (error != NULL)
	{
		values[0] = CStringGetTextDatum(unpack_sql_state(error->sqlerrcode));
		values[1] = CStringGetTextDatum(error->message);
		isnull[0] = isnull[1] = false;
	}
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values, isnull)));
}
