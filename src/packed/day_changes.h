/*-------------------------------------------------------------------------
 *
 * day_changes.h
 *	  Changes of rows of packed days.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_DAY_CHANGES_H
#define ZBXHIST_DAY_CHANGES_H

#include "nodes/execnodes.h"

#include "format/row_offset.h"

/* what a statement changes in the packed days of a table */
typedef struct DayChanges DayChanges;

/*
 * A change locks the row's day against other changes until the transaction ends,
 * and is written when the statement ends.  A caller that looks again has found
 * the row in the day as it is now, others by the statement's snapshot.  Returns
 * false if the row is gone, or the statement has changed it already.
 */
extern DayChanges *ZbxhistDayChangesOf(EState *estate, Relation table);
extern bool ZbxhistDeleteDayRow(DayChanges *changes, const PackedRowId *id,
								bool looks_again);
extern bool ZbxhistUpdateDayRow(DayChanges *changes, const PackedRowId *id,
								bool looks_again, TupleTableSlot *slot);
extern void ZbxhistWriteDayChanges(EState *estate);
extern bool ZbxhistIsBeingDeleted(Oid day, const ItemPointerData *tid, int row);

#endif							/* ZBXHIST_DAY_CHANGES_H */
