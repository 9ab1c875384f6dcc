/*-------------------------------------------------------------------------
 *
 * day_pages.h
 *	  Writes the pages of a day's table that is new, each once.
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
