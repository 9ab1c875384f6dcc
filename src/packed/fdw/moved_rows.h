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

#include "packed/values/row_offset.h"

typedef struct MovedRows MovedRows;

extern MovedRows *ZbxhistBeginMovedRows(Relation table);
extern bool ZbxhistIsMoved(MovedRows *moved, const PackedRowId *id);
extern void ZbxhistMoveRow(MovedRows *moved, const PackedRowId *id,
						   TupleTableSlot *slot, CommandId cid);
extern void ZbxhistEndMovedRows(MovedRows *moved);

#endif							/* ZBXHIST_MOVED_ROWS_H */
