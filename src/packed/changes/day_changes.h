/*-------------------------------------------------------------------------
 *
 * day_changes.h
 *	  Changes of rows of whichever packed days have them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_DAY_CHANGES_H
#define ZBXHIST_DAY_CHANGES_H

#include "nodes/parsenodes.h"

#include "packed/changes/modify.h"

typedef struct DayChanges DayChanges;

extern DayChanges *ZbxhistBeginDayChanges(Relation table, Snapshot snapshot);
extern DayModify *ZbxhistChangesOfRow(DayChanges *changes, int64 itemid,
									  int64 position, LOCKMODE mode);
extern uint64 ZbxhistDeleteFromDays(DayChanges *changes,
									const ItemRange *ranges, int nranges);
extern void ZbxhistEndDayChanges(DayChanges *changes);

#endif							/* ZBXHIST_DAY_CHANGES_H */
