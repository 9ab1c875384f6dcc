/*-------------------------------------------------------------------------
 *
 * as_owner.c
 *	  Maintenance's statements on a table, run as its owner.
 *
 * Statements contain the names of tables, which are looked up again when the statement
 * runs.  Because it runs with the owner's rights only, a user who has put another table
 * in that place gains nothing by it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "commands/tablecmds.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "compat.h"
#include "packed/archive.h"
#include "tables/owned_table.h"
#include "tables/owner_rights.h"
#include "tables/packed_days.h"

PG_FUNCTION_INFO_V1(zbxhist_execute_as_owner);
PG_FUNCTION_INFO_V1(zbxhist_change_owner);

/* ---- statements ---- */

/*
 * GetStatementResult returns the result of the statement that was just run: the first
 * column of its first row, or the number of rows that it processed; NULL for no row.  It
 * is in the caller's memory.
 */
static char *
GetStatementResult(int code)
{
	char	   *value;

	if (code != SPI_OK_SELECT)
		value = psprintf(UINT64_FORMAT, SPI_processed);
	else if (SPI_processed == 0)
		return NULL;
	else
		value = SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1);
	if (value != NULL)
	{
		char	   *result = SPI_palloc(strlen(value) + 1);

		return strcpy(result, value);
	}
	return NULL;
}

/*
 * Execute runs a statement on a relation, whose parameters are of type text.
 */
static char *
Execute(Oid relid, const char *statement, int nvalues, Datum *values,
		const bool *isnull)
{
	Oid		   *types = palloc(sizeof(Oid) * Max(nvalues, 1));
	char	   *nulls = palloc(Max(nvalues, 1));
	char	   *result;
	int			code;

	for (int i = 0; i < nvalues; i++)
	{
		types[i] = TEXTOID;
		nulls[i] = isnull[i] ? 'n' : ' ';
	}
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "could not connect to SPI");
	if (get_rel_relkind(relid) == RELKIND_FOREIGN_TABLE &&
		!ZbxhistIsPackedTable(relid))
		code = ZbxhistAskArchive(relid, statement, nvalues, types, values,
								 nulls, false, 1);
	else
		code = SPI_execute_with_args(statement, nvalues, types, values, nulls,
									 false, 1);
	if (code < 0)
		elog(ERROR, "could not execute statement: %s",
			 SPI_result_code_string(code));
	result = GetStatementResult(code);
	SPI_finish();
	return result;
}

/*
 * zbxhist_execute_as_owner(relation, statement, VARIADIC arguments) runs a
 * statement with the rights of the relation's owner, for a user who has them;
 * see sql/maintenance/run.sql.
 */
Datum
zbxhist_execute_as_owner(PG_FUNCTION_ARGS)
{
	Oid			relid = PG_GETARG_OID(0);
	char	   *statement = text_to_cstring(PG_GETARG_TEXT_PP(1));
	OwnerRights before;
	Datum	   *values;
	bool	   *nulls;
	int			nvalues;
	char	   *result;

	deconstruct_array(PG_GETARG_ARRAYTYPE_P(2), TEXTOID, -1, false, TYPALIGN_INT,
					  &values, &nulls, &nvalues);
	ZbxhistRequireOwner(relid);
	ZbxhistTakeOwnerRights(&before, get_owner(relid));
	result = Execute(relid, statement, nvalues, values, nulls);
	ZbxhistGiveBackRights(&before);
	if (result == NULL)
		PG_RETURN_NULL();
	PG_RETURN_TEXT_P(cstring_to_text(result));
}

/* ---- owners ---- */

/*
 * zbxhist_change_owner(relation, owner) is ALTER TABLE ... OWNER TO for a table
 * or foreign table that is not named: PostgreSQL checks the rights of the
 * user.  The lock is ACCESS EXCLUSIVE.
 */
Datum
zbxhist_change_owner(PG_FUNCTION_ARGS)
{
	Oid			relid = PG_GETARG_OID(0);
	Oid			owner = PG_GETARG_OID(1);
	char		relkind;

	ZbxhistRequireOwner(relid);
	relkind = get_rel_relkind(relid);
	if (relkind != RELKIND_RELATION && relkind != RELKIND_FOREIGN_TABLE)
		ereport(ERROR,
				errcode(ERRCODE_WRONG_OBJECT_TYPE),
				errmsg("\"%s\" is not a table", get_rel_name(relid)));
	ATExecChangeOwner(relid, owner, false, AccessExclusiveLock);
	CommandCounterIncrement();
	PG_RETURN_VOID();
}
