/*-------------------------------------------------------------------------
 *
 * kept_rows.h
 *	  Keys of rows that a statement has stored in the parent.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_KEPT_ROWS_H
#define ZBXHIST_KEPT_ROWS_H

#include "access/htup.h"
#include "access/tupdesc.h"
#include "utils/relcache.h"

extern void ZbxhistCheckKeptRows(Relation parent, TupleDesc desc,
								 HeapTuple *tuples, int ntuples,
								 bool *has_strays);

#endif							/* ZBXHIST_KEPT_ROWS_H */
