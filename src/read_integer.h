/*-------------------------------------------------------------------------
 *
 * read_integer.h
 *	  Values of PostgreSQL's integer types as numbers.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_READ_INTEGER_H
#define ZBXHIST_READ_INTEGER_H

#include "catalog/pg_type.h"

/*
 * read_integer sets number to a value of an integer type; returns false if its
 * type is another one.
 */
static inline bool
read_integer(Oid type, Datum value, int64 *number)
{
	if (type == INT2OID)
		*number = DatumGetInt16(value);
	else if (type == INT4OID)
		*number = DatumGetInt32(value);
	else if (type == INT8OID)
		*number = DatumGetInt64(value);
	else
		return false;
	return true;
}

#endif							/* ZBXHIST_READ_INTEGER_H */
