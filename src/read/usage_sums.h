/*-------------------------------------------------------------------------
 *
 * usage_sums.h
 *	  How much of a parent is each item's: sums over its tables.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_USAGE_SUMS_H
#define ZBXHIST_USAGE_SUMS_H

#include "utils/hsearch.h"

/* what an item takes of some tables */
typedef struct UsagePart
{
	double		nrows;
	double		nbytes;
} UsagePart;

typedef struct ItemUsage
{
	int64		itemid;			/* hash key - must be first */
	UsagePart	packed;
	UsagePart	heap;

	/* of the table in hand */
	UsagePart	found;			/* nbytes: those of rows or segments alone */
	struct ItemUsage *next;		/* whose is found, too */
} ItemUsage;

typedef struct UsageSums
{
	HTAB	   *items;
	ItemUsage  *last;			/* that something was added to */
	int64		from_clock;		/* rows that count */
	int64		to_clock;		/* the first that does not */
	bool		is_exact;		/* no table has been sampled */
	double		total;			/* bytes of all items */

	/* of the table in hand */
	ItemUsage  *found;			/* list of those that have rows in it */
	double		nbytes;			/* of all rows, also those that do not count */
} UsageSums;

/* usage_sums.c */
extern void ZbxhistInitUsage(UsageSums *sums, int64 from_clock,
							 int64 to_clock);
extern void ZbxhistAddUsage(UsageSums *sums, int64 itemid, double nrows,
							double nbytes);
extern void ZbxhistEndUsageOf(UsageSums *sums, double table_bytes,
							  double fraction, bool is_packed);
extern ItemUsage **ZbxhistLargestItems(const UsageSums *sums, int64 *nitems);

#endif							/* ZBXHIST_USAGE_SUMS_H */
