/*-------------------------------------------------------------------------
 *
 * modify.h
 *	  Changes rows of a packed day.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_MODIFY_H
#define ZBXHIST_MODIFY_H

#include "packed/day/day.h"
#include "packed/values/row_offset.h"

typedef struct DayModify DayModify;

/* how a row is that a snapshot sees, by now */
typedef enum RowState
{
	ROW_SAME,
	ROW_CHANGED,				/* another transaction has updated it */
	ROW_GONE
} RowState;

/*
 * Changes are collected while rows come in any order, and written when many
 * are there and at the end.  They lock the day against other changes until
 * the transaction ends.  Rows are those that the snapshot sees, or the newest
 * there are; what is returned says how they were, and only those that were
 * the same are changed (above READ COMMITTED any other is 40001).
 */
extern DayModify *ZbxhistBeginDayModify(Relation day, Relation table,
										Snapshot snapshot);
extern RowState ZbxhistDayDeleteRow(DayModify *modify, const PackedRowId *id,
									bool is_newest);
extern RowState ZbxhistDayUpdateRow(DayModify *modify, const PackedRowId *id,
									bool is_newest, TupleTableSlot *slot);
extern uint64 ZbxhistDayDeleteRange(DayModify *modify, const ItemRange *range);
extern void ZbxhistEndDayModify(DayModify *modify);
extern void ZbxhistFlushDayChanges(Oid day, DayModify *modify);

#endif							/* ZBXHIST_MODIFY_H */
