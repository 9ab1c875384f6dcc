/*-------------------------------------------------------------------------
 *
 * value_check.h
 *	  Whether packed bytes are values of a type.
 *
 * Checksums detect damage, not forgery: the owner of a day's table can write anything to
 * it.  PostgreSQL trusts the inside of a value, such as lengths and offsets.  So each
 * value is checked, as the receive function of its type would do, before it becomes a
 * Datum.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_VALUE_CHECK_H
#define ZBXHIST_VALUE_CHECK_H

#include "mb/pg_wchar.h"
#include "format/packed_column.h"

/* what has to be looked at */
typedef enum CheckKind
{
	CHECK_UNKNOWN = 0,			/* not known: no value is accepted */
	CHECK_NOTHING,				/* all bytes of the right length are valid */
	CHECK_NUMBER,				/* passed by value, between a least and a
								 * greatest */
	CHECK_TEXT,
	CHECK_JSON,
	CHECK_NUMERIC,
	CHECK_JSONB
} CheckKind;

/* how to check values of a type */
typedef struct ValueCheck
{
	CheckKind	kind;
	Oid			type;			/* not a domain */
	int32		typmod;
	int16		typlen;
	bool		typbyval;

	/* CHECK_NUMBER; a type's least and greatest number may be infinities */
	int64		least;
	int64		greatest;
	bool		has_infinities;

	/* CHECK_NUMERIC: of unsigned integers; 0: each is looked at */
	uint64		greatest_unsigned;
} ValueCheck;

/*
 * is_valid_text says whether bytes are text in the database's encoding.
 */
static inline bool
is_valid_text(const char *data, size_t length)
{
	return length == 0 ||
		pg_verify_mbstr(GetDatabaseEncoding(), data, (int) length, true);
}

/* value_type.c */
extern bool ZbxhistFindValueCheck(ValueCheck *check, Oid type, int32 typmod);

/* value_check.c */
extern int	ZbxhistFindInvalid(const ValueCheck *check,
							   const PackedColumn *column, int first,
							   int nrows);

extern uint64 ZbxhistGreatestUnsigned(int32 typmod);

#endif							/* ZBXHIST_VALUE_CHECK_H */
