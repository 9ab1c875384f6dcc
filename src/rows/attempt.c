/*-------------------------------------------------------------------------
 *
 * attempt.c
 *	  Work that may fail without failing the statement.
 *
 * A batch of values whose INSERT fails is lost to Zabbix.  What an INSERT only
 * looks at on its way, or counts, must not do that.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "utils/memutils.h"
#include "utils/resowner.h"

#include "rows/attempt.h"

/*
 * IsForSession says whether an error is one that ends the statement whatever it
 * does: a cancel or shutdown, a deadlock, a serialization failure, a lock that
 * the session did not want to wait for so long.
 */
static bool
IsForSession(int sqlstate)
{
	switch (ERRCODE_TO_CATEGORY(sqlstate))
	{
		case ERRCODE_TRANSACTION_ROLLBACK:
		case ERRCODE_OPERATOR_INTERVENTION:
			return true;
		default:
			return sqlstate == ERRCODE_LOCK_NOT_AVAILABLE;
	}
}

/*
 * ZbxhistAttempt calls work with arg in a subtransaction, in the current memory
 * context.  Returns NULL, or the error that it ended with, by which all that it
 * did is undone, allocated in the current context; errors that are for the
 * session are raised.
 */
ErrorData *
ZbxhistAttempt(void (*work) (void *arg), void *arg)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	ErrorData  *volatile error = NULL;

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(context);
	PG_TRY();
	{
		(*work) (arg);
		ReleaseCurrentSubTransaction();
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
	}
	PG_END_TRY();
	MemoryContextSwitchTo(context);
	CurrentResourceOwner = owner;
	if (error != NULL && IsForSession(error->sqlerrcode))
		ReThrowError(error);
	return error;
}
