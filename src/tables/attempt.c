/*-------------------------------------------------------------------------
 *
 * attempt.c
 *	  Work that may fail without failing the statement.
 *
 * If an INSERT fails, Zabbix loses a whole batch of values.  So an INSERT must not fail
 * by what it only reads or counts on its way.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "utils/resowner.h"

#include "tables/attempt.h"

/*
 * ZbxhistIsBearable says whether an error is not one that ends the statement
 * whatever it does: a cancel or shutdown, a deadlock, a serialization failure, a
 * lock that the session did not want to wait for so long.
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
 * IsOfWork says whether an error is bearable and does not come from a lack of
 * memory, which says nothing of what was looked at.
 */
static bool
IsOfWork(int sqlerrcode)
{
	return ZbxhistIsBearable(sqlerrcode) &&
		ERRCODE_TO_CATEGORY(sqlerrcode) != ERRCODE_INSUFFICIENT_RESOURCES;
}

/*
 * ZbxhistAttemptIf calls work with arg in a subtransaction, in the current memory
 * context.  Returns NULL, or the error that it ended with, by which all that it
 * did is undone, allocated in the current context; an error that is not expected
 * is raised.
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
 * ZbxhistAttempt does the same, and expects whatever comes from the work itself.
 */
ErrorData *
ZbxhistAttempt(void (*work) (void *arg), void *arg)
{
	return ZbxhistAttemptIf(work, arg, IsOfWork);
}

/*
 * ZbxhistIsDamage says whether an error is one that damaged files cause.
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
		case ERRCODE_UNDEFINED_FILE:	/* of the relation, or of the state of
										 * a transaction that never was */
			return true;
		default:
			return false;
	}
}

/*
 * ZbxhistIsIndexDamage says the same of one that may come from a damaged index,
 * or say that it cannot be used.
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
