/*-------------------------------------------------------------------------
 *
 * fdw_newest.h
 *	  A packed row as it is now.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_FDW_NEWEST_H
#define ZBXHIST_FDW_NEWEST_H

#include "packed/changes/modify.h"
#include "packed/fdw/row_key.h"

extern RowState ZbxhistReadNewest(Relation table, Oid day,
								  const RowKey *key, TupleTableSlot *seen,
								  int64 itemid, int64 position,
								  TupleTableSlot *newest);

#endif							/* ZBXHIST_FDW_NEWEST_H */
