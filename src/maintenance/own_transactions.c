/*-------------------------------------------------------------------------
 *
 * own_transactions.c
 *	  Says in time that a procedure has been called where it cannot commit.
 *
 * PostgreSQL itself says "invalid transaction termination" at the COMMIT, which
 * tells nobody what to do.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "executor/spi.h"
#include "fmgr.h"

#include "maintenance/refuse.h"

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
		ZbxhistLeaveOutOwnContext();
		ereport(ERROR,
				errcode(ERRCODE_ACTIVE_SQL_TRANSACTION),
				errmsg("this procedure cannot run inside a transaction block or a function"),
				errdetail("It works in many short transactions of its own."),
				errhint("End the transaction with COMMIT or ROLLBACK, then send the CALL alone, as one statement."));
	}
	PG_RETURN_VOID();
}
