/*-------------------------------------------------------------------------
 *
 * refuse.c
 *	  Raises errors of the extension's PL/pgSQL functions like errors of C functions.
 *
 * An error by RAISE has a line of context for each of our functions between it and the
 * user's statement.  These lines do not help a user who has given a wrong argument.
 * refuse() leaves them out, and keeps those of the caller.  Unexpected errors keep all of
 * theirs.
 *
 * A procedure that was called where it cannot commit says so at its beginning.
 * PostgreSQL's own error, "invalid transaction termination" at the COMMIT, does not tell
 * the user what to do.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "utils/builtins.h"

PG_FUNCTION_INFO_V1(zbxhist_refuse);

/*
 * IsOwnContext says whether a callback's line of context, made in the current
 * memory context, names something of the extension's schemas.  Functions are
 * named with these, as they run without them in their search_path.
 */
static bool
IsOwnContext(const ErrorContextCallback *callback)
{
	ErrorContextCallback *const whole = error_context_stack;
	ErrorContextCallback alone = *callback;
	char	   *line;

	alone.previous = NULL;
	error_context_stack = &alone;
	line = GetErrorContextStack();
	error_context_stack = whole;
	return line != NULL &&
		(strstr(line, "zbxhist.") != NULL || strstr(line, "zbxhist_internal.") != NULL);
}

/*
 * LeaveOutOwnContext removes from the context of the error that the caller raises all
 * lines up to the outermost one of ours.  The function that catches the error gets back
 * its callbacks.
 */
static void
LeaveOutOwnContext(void)
{
	ErrorContextCallback *callback;
	ErrorContextCallback *behind = error_context_stack;

	for (callback = error_context_stack; callback != NULL; callback = callback->previous)
	{
		if (IsOwnContext(callback))
			behind = callback->previous;
	}
	error_context_stack = behind;
}

/*
 * zbxhist_refuse(code text, message text, detail text, hint text) raises an
 * error with that SQLSTATE.
 */
Datum
zbxhist_refuse(PG_FUNCTION_ARGS)
{
	char	   *code;
	char	   *message;
	char	   *detail = PG_ARGISNULL(2) ? NULL : text_to_cstring(PG_GETARG_TEXT_PP(2));
	char	   *hint = PG_ARGISNULL(3) ? NULL : text_to_cstring(PG_GETARG_TEXT_PP(3));

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		ereport(ERROR,
				errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				errmsg("code and message of an error must not be null"));
	code = text_to_cstring(PG_GETARG_TEXT_PP(0));
	message = text_to_cstring(PG_GETARG_TEXT_PP(1));
	if (strlen(code) != 5 || strspn(code, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ") != 5)
		ereport(ERROR,
				errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("invalid SQLSTATE code \"%s\"", code));
	LeaveOutOwnContext();
	ereport(ERROR,
			errcode(MAKE_SQLSTATE(code[0], code[1], code[2], code[3], code[4])),
			errmsg_internal("%s", message),
			detail != NULL ? errdetail_internal("%s", detail) : 0,
			hint != NULL ? errhint("%s", hint) : 0);
	PG_RETURN_VOID();
}

PG_FUNCTION_INFO_V1(zbxhist_require_own_transactions);

/*
 * zbxhist_require_own_transactions() raises an error unless the procedure that
 * calls it can commit: it has been called by CALL at the top level, or by such
 * procedures, outside of a transaction block.
 */
Datum
zbxhist_require_own_transactions(PG_FUNCTION_ARGS)
{
	if (IsTransactionBlock() || IsSubTransaction() ||
		!SPI_inside_nonatomic_context())
	{
		LeaveOutOwnContext();
		ereport(ERROR,
				errcode(ERRCODE_ACTIVE_SQL_TRANSACTION),
				errmsg("this procedure cannot run inside a transaction block or a function"),
				errdetail("It works in many short transactions of its own."),
				errhint("End the transaction with COMMIT or ROLLBACK, then send the CALL alone, as one statement."));
	}
	PG_RETURN_VOID();
}
