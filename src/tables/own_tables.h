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

/* rows of a table, one after the other */
typedef struct OwnScan
{
	Relation	rel;			/* NULL: it is not there */
	SysScanDesc scan;
	HeapTuple	tuple;			/* the present row */
} OwnScan;

extern Relation ZbxhistOpenOwnTable(const char *name, LOCKMODE mode);
extern AttrNumber ZbxhistOwnColumn(Relation rel, const char *name);
extern void ZbxhistBeginOwnScan(OwnScan *scan, const char *table,
								const char *column, Oid value,
								Snapshot snapshot);
extern bool ZbxhistNextOwnRow(OwnScan *scan);
extern void ZbxhistEndOwnScan(OwnScan *scan);
extern Datum ZbxhistOwnValue(const OwnScan *scan, const char *column,
							 bool *isnull);
extern bool ZbxhistStoreOwnRow(const char *table, const OwnValue *row,
							   int nvalues);

/*
 * get_own_value returns a column of the scan's row; null if there is no such
 * column.
 */
static inline Datum
get_own_value(const OwnScan *scan, AttrNumber attnum, bool *isnull)
{
	if (attnum == InvalidAttrNumber)
	{
		*isnull = true;
		return (Datum) 0;
	}
	return heap_getattr(scan->tuple, attnum, RelationGetDescr(scan->rel), isnull);
}

#endif							/* ZBXHIST_OWN_TABLES_H */
