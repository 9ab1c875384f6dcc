/*-------------------------------------------------------------------------
 *
 * arguments.c
 *	  Reads arguments that several SQL functions have.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "utils/builtins.h"

#include "read/arguments.h"

/*
 * RaiseUnrecognized raises the error for a word that is not among words.
 */
static void
RaiseUnrecognized(const char *word, const char *name, const char *const *words)
{
	StringInfoData known;

	initStringInfo(&known);
	for (int i = 0; words[i] != NULL; i++)
		appendStringInfo(&known, "%s\"%s\"", i == 0 ? "" : ", ", words[i]);
	ereport(ERROR,
			errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			errmsg("unrecognized value for argument \"%s\": \"%s\"", name,
				   word),
			errhint("Valid values are %s.", known.data));
}

/*
 * ZbxhistGetWord returns which of words, ended by NULL, an argument of type
 * text is.
 */
int
ZbxhistGetWord(FunctionCallInfo fcinfo, int argument, const char *name,
			   const char *const *words)
{
	char	   *word;

	if (PG_ARGISNULL(argument))
		ereport(ERROR,
				errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				errmsg("argument \"%s\" must not be null", name));
	word = text_to_cstring(PG_GETARG_TEXT_PP(argument));
	for (int i = 0; words[i] != NULL; i++)
	{
		if (strcmp(word, words[i]) == 0)
			return i;
	}
	RaiseUnrecognized(word, name, words);
	return -1;
}

/*
 * ZbxhistGetSort returns true for "desc".  Rows of "none" may come in any
 * order; they come oldest first.
 */
bool
ZbxhistGetSort(FunctionCallInfo fcinfo, int argument)
{
	static const char *const words[] = {"asc", "desc", "none", NULL};

	return ZbxhistGetWord(fcinfo, argument, "sort", words) == 1;
}

/*
 * ZbxhistToLimit returns the highest number of rows, or whatever the argument
 * called name limits, where null means as many as there are.
 */
uint64
ZbxhistToLimit(const char *name, bool isnull, int64 value)
{
	if (isnull)
		return PG_UINT64_MAX;
	if (value < 0)
		ereport(ERROR,
				errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("argument \"%s\" must not be negative", name));
	return (uint64) value;
}
