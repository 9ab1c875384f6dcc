/*-------------------------------------------------------------------------
 *
 * moved_rows.h
 *	  Packed rows that go to the parent when they are updated.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_MOVED_ROWS_H
#define ZBXHIST_MOVED_ROWS_H

#include "executor/tuptable.h"
#include "utils/relcache.h"

typedef struct MovedRows MovedRows;

extern MovedRows *ZbxhistBeginMovedRows(Relation table);
extern void ZbxhistMoveRow(MovedRows *moved, int32 clock, TupleTableSlot *slot,
						   CommandId cid);
extern void ZbxhistEndMovedRows(MovedRows *moved);

#endif							/* ZBXHIST_MOVED_ROWS_H */
