/*-------------------------------------------------------------------------
 *
 * day_prefetch.h
 *	  Asks for pages of packed days before they are read.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_DAY_PREFETCH_H
#define ZBXHIST_DAY_PREFETCH_H

#include "storage/lockdefs.h"
#include "utils/relcache.h"

#include "rows/item_range.h"

/* how many days ahead; all zeros at the beginning */
typedef struct DayPrefetch
{
	int			distance;		/* while days come from disk */
} DayPrefetch;

extern void ZbxhistPrefetchLeaveDay(DayPrefetch *prefetch, bool has_read);
extern int	ZbxhistPrefetchDistance(const DayPrefetch *prefetch,
									Relation day);
extern void ZbxhistPrefetchDay(Oid relid, LOCKMODE lockmode,
							   const ItemRange *range);

#endif							/* ZBXHIST_DAY_PREFETCH_H */
