/*-------------------------------------------------------------------------
 *
 * day_pages.h
 *	  Writes each page of a new day's table once.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_DAY_PAGES_H
#define ZBXHIST_DAY_PAGES_H

#include "executor/tuptable.h"
#include "utils/relcache.h"

typedef struct DayPages DayPages;

extern DayPages *ZbxhistBeginDayPages(Relation day);
extern void ZbxhistAddToDayPages(DayPages *pages, TupleTableSlot *slot);
extern void ZbxhistEndDayPages(DayPages *pages);

#endif							/* ZBXHIST_DAY_PAGES_H */
