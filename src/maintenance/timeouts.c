/*-------------------------------------------------------------------------
 *
 * timeouts.c
 *	  Maintenance goes on for as long as it takes.
 *
 * A role's or database's statement_timeout is for statements that somebody waits for.
 * One that is shorter than what one table takes would end each run there,
 * and no other table would ever have its turn.  The timer was set when
 * the CALL began, so to set the parameter is not enough.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/guc.h"
#include "utils/timeout.h"

PG_FUNCTION_INFO_V1(zbxhist_stop_timeouts);

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
 * zbxhist_stop_timeouts() has neither the statement under way nor its
 * present transaction end by a timeout.  The next statement has its own.
 */
Datum
zbxhist_stop_timeouts(PG_FUNCTION_ARGS)
{
	if (get_timeout_active(STATEMENT_TIMEOUT))
		disable_timeout(STATEMENT_TIMEOUT, false);
	SwitchOff("statement_timeout");
	SwitchOff("transaction_timeout");
	PG_RETURN_VOID();
}
