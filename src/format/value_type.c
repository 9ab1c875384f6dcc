/*-------------------------------------------------------------------------
 *
 * value_type.c
 *	  Which types have values that can be checked, and how.
 *
 * Only these types and domains of them can be packed.  Types whose values are OIDs
 * of objects that a user can create are not among them: in a dump the values are
 * bytes, and the objects get other OIDs where it is restored.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "datatype/timestamp.h"
#include "utils/lsyscache.h"

#include "format/value_check.h"

/* built-in types; without bounds a number may be any of its width */
static const struct
{
	Oid			type;
	CheckKind	kind;
	int64		least;
	int64		greatest;
	bool		has_infinities;
}			known_types[] =

{
	{INT4OID, CHECK_NUMBER},
	{FLOAT8OID, CHECK_NOTHING},
	{NUMERICOID, CHECK_NUMERIC},
	{VARCHAROID, CHECK_TEXT},
	{TEXTOID, CHECK_TEXT},
	{BYTEAOID, CHECK_NOTHING},
	{JSONOID, CHECK_JSON},
	{JSONBOID, CHECK_JSONB},
	{BOOLOID, CHECK_NUMBER, false, true},
	{CHAROID, CHECK_NUMBER},
	{INT2OID, CHECK_NUMBER},
	{INT8OID, CHECK_NUMBER},
	{FLOAT4OID, CHECK_NUMBER},	/* any bits */
	{OIDOID, CHECK_NUMBER},
	{DATEOID, CHECK_NUMBER,
		DATETIME_MIN_JULIAN - POSTGRES_EPOCH_JDATE,
	DATE_END_JULIAN - POSTGRES_EPOCH_JDATE - 1, true},
	{TIMEOID, CHECK_NUMBER, 0, USECS_PER_DAY},
	{TIMESTAMPOID, CHECK_NUMBER, MIN_TIMESTAMP, END_TIMESTAMP - 1, true},
	{TIMESTAMPTZOID, CHECK_NUMBER, MIN_TIMESTAMP, END_TIMESTAMP - 1, true},
	{INTERVALOID, CHECK_NOTHING},
	{UUIDOID, CHECK_NOTHING},
	{BPCHAROID, CHECK_TEXT}
};

/*
 * SetWidthBounds sets the bounds of a number that is limited by its width only.
 */
static void
SetWidthBounds(ValueCheck *check)
{
	int			width = check->typlen * BITS_PER_BYTE;

	if (check->kind != CHECK_NUMBER || check->least != check->greatest)
		return;
	check->least = width == 64 ? PG_INT64_MIN : -(INT64CONST(1) << (width - 1));
	check->greatest = -(check->least + 1);
}

/*
 * FindKnownType finds the check of a built-in type; returns false if there is
 * none.
 */
static bool
FindKnownType(ValueCheck *check)
{
	for (int i = 0; i < lengthof(known_types); i++)
	{
		if (known_types[i].type != check->type)
			continue;
		check->kind = known_types[i].kind;
		check->least = known_types[i].least;
		check->greatest = known_types[i].greatest;
		check->has_infinities = known_types[i].has_infinities;
		SetWidthBounds(check);
		if (check->kind == CHECK_NUMERIC)
			check->greatest_unsigned = ZbxhistGreatestUnsigned(check->typmod);
		return true;
	}
	return false;
}

/*
 * ZbxhistFindValueCheck finds how values of a type are checked; returns false
 * if that is not known.  Allocates in the current context.
 */
bool
ZbxhistFindValueCheck(ValueCheck *check, Oid type, int32 typmod)
{
	memset(check, 0, sizeof(*check));
	check->typmod = typmod;
	check->type = getBaseTypeAndTypmod(type, &check->typmod);
	get_typlenbyval(check->type, &check->typlen, &check->typbyval);
	return FindKnownType(check);
}
