/*-------------------------------------------------------------------------
 *
 * own_tables.h
 *	  Rows of the extension's own tables.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_OWN_TABLES_H
#define ZBXHIST_OWN_TABLES_H

#include "access/attnum.h"
#include "access/genam.h"
#include "access/htup_details.h"
#include "storage/lockdefs.h"
#include "utils/rel.h"
#include "utils/snapshot.h"

/* a column and what it gets */
typedef struct OwnValue
{
	const char *column;
	Datum		value;
} OwnValue;

extern Relation ZbxhistOpenOwnTable(const char *name, LOCKMODE mode);
extern AttrNumber ZbxhistOwnColumn(Relation rel, const char *name);
extern SysScanDesc ZbxhistBeginOwnScan(Relation rel, const char *column,
									   Oid value, Snapshot snapshot);
extern void ZbxhistStoreOwnRow(Relation rel, const OwnValue *row, int nvalues);

/*
 * get_own_value returns a column of a row; null if the table has no such
 * column, because it is of another version than the library.
 */
static inline Datum
get_own_value(Relation rel, HeapTuple tuple, AttrNumber attnum, bool *isnull)
{
	if (attnum == InvalidAttrNumber)
	{
		*isnull = true;
		return (Datum) 0;
	}
	return heap_getattr(tuple, attnum, RelationGetDescr(rel), isnull);
}

#endif							/* ZBXHIST_OWN_TABLES_H */
