/*-------------------------------------------------------------------------
 *
 * row_type.h
 *	  Whether rows of one table fit another one, or are those of another one.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_ROW_TYPE_H
#define ZBXHIST_ROW_TYPE_H

#include "access/attmap.h"
#include "access/tupdesc.h"
#include "executor/tuptable.h"

extern bool ZbxhistRowsFit(TupleDesc source, TupleDesc target);
extern bool ZbxhistSameValues(TupleTableSlot *a, TupleTableSlot *b);
extern AttrMap *ZbxhistMapColumns(TupleDesc source, TupleDesc target);

#endif							/* ZBXHIST_ROW_TYPE_H */
