/*-------------------------------------------------------------------------
 *
 * missing_value.h
 *	  What columns that came after a day was packed are in its rows.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_MISSING_VALUE_H
#define ZBXHIST_MISSING_VALUE_H

#include "catalog/pg_attribute.h"
#include "utils/relcache.h"

extern bool ZbxhistGetMissing(Relation table, Form_pg_attribute att,
							  Datum *value);
extern bool ZbxhistHasDefault(Relation table, Form_pg_attribute att);
extern void ZbxhistRaiseNotKnown(Relation day, Relation table,
								 Form_pg_attribute att, bool is_known);

#endif							/* ZBXHIST_MISSING_VALUE_H */
