/*-------------------------------------------------------------------------
 *
 * kept_rows.h
 *	  Keys of rows that a statement has stored in the parent.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_KEPT_ROWS_H
#define ZBXHIST_KEPT_ROWS_H

#include "ingest/batch.h"

extern void ZbxhistCheckKeptRows(InsertBatch *batch, Relation parent,
								 HeapTuple *tuples, int ntuples);

#endif							/* ZBXHIST_KEPT_ROWS_H */
