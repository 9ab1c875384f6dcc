/*-------------------------------------------------------------------------
 *
 * columns.h
 *	  Finds columns by name.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_COLUMNS_H
#define ZBXHIST_COLUMNS_H

#include "access/tupdesc.h"

extern Form_pg_attribute ZbxhistFindAttribute(TupleDesc desc,
											  const char *name);
extern AttrNumber ZbxhistFindColumn(TupleDesc desc, const char *name,
									Oid type);

#endif							/* ZBXHIST_COLUMNS_H */
