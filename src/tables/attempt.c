/*-------------------------------------------------------------------------
 *
 * attempt.c
 *	  Work that may fail without failing the statement.
 *
 * If an INSERT fails, Zabbix loses a whole batch of values.  So an INSERT must not fail
 * because of something that it only reads or counts.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "utils/resowner.h"

#include "tables/attempt.h"

/*
 * ZbxhistIsBearable says whether a statement may continue after an error.  It may not
 * after a cancel, a shutdown, a deadlock, a serialization failure or a lock timeout.
 */
bool
ZbxhistIsBearable(int sqlerrcode)
{
	switch (ERRCODE_TO_CATEGORY(sqlerrcode))
	{
		case ERRCODE_TRANSACTION_ROLLBACK:
		case ERRCODE_OPERATOR_INTERVENTION:
			return false;
		default:
			return sqlerrcode != ERRCODE_LOCK_NOT_AVAILABLE;
	}
}

/*
 * IsOfWork says whether an error is bearable and comes from the work, which a lack of
 * memory does not.
 */
static bool
IsOfWork(int sqlerrcode)
{
	return ZbxhistIsBearable(sqlerrcode) &&
		ERRCODE_TO_CATEGORY(sqlerrcode) != ERRCODE_INSUFFICIENT_RESOURCES;
}

/*
 * ZbxhistAttemptIf calls work with arg in a subtransaction, in the current memory
 * context.  Returns NULL if it succeeds.  If it fails with an expected error, its changes
 * are rolled back, and the error is returned, allocated in the current context.  Other
 * errors are raised.
 */
ErrorData *
ZbxhistAttemptIf(void (*work) (void *arg), void *arg,
				 bool (*is_expected) (int sqlerrcode))
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
	if (error != NULL && !(*is_expected) (error->sqlerrcode))
		ReThrowError(error);
	return error;
}

/*
 * ZbxhistAttempt does the same, and expects all errors that come from the work itself.
 */
ErrorData *
ZbxhistAttempt(void (*work) (void *arg), void *arg)
{
	return ZbxhistAttemptIf(work, arg, IsOfWork);
}

/*
 * ZbxhistIsDamage says whether an error comes from damaged files.
 */
bool
ZbxhistIsDamage(int sqlerrcode)
{
	switch (sqlerrcode)
	{
		case ERRCODE_DATA_CORRUPTED:
		case ERRCODE_INDEX_CORRUPTED:
		case ERRCODE_INTERNAL_ERROR:
		case ERRCODE_IO_ERROR:
		case ERRCODE_UNDEFINED_FILE:	/* of the relation, or in the status
										 * of a transaction */
			return true;
		default:
			return false;
	}
}

/*
 * ZbxhistIsIndexDamage says whether an error may come from a damaged or unusable index.
 */
bool
ZbxhistIsIndexDamage(int sqlerrcode)
{
	return ZbxhistIsDamage(sqlerrcode) ||
		sqlerrcode == ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE;
}

/*
 * ZbxhistTry runs a function in a subtransaction, in the current context.
 * Returns false and sets error to the message if it fails as expected.
 */
bool
ZbxhistTry(void (*run) (void *), void *arg, bool (*is_expected) (int),
		   char **error)
{
	ErrorData  *data = ZbxhistAttemptIf(run, arg, is_expected);

	if (data != NULL)
		*error = data->message;
	return data == NULL;
}
