/*-------------------------------------------------------------------------
 *
 * item_sample.h
 *	  Of how many items a table's rows are, by a few of its pages.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_ITEM_SAMPLE_H
#define ZBXHIST_ITEM_SAMPLE_H

#include "storage/block.h"
#include "utils/relcache.h"

/* pages that are looked at */
#define SAMPLED_PAGES 8

typedef struct ItemSample
{
	double		nrows;			/* that were seen */
	double		nitems;			/* of which these were the last rows */
	double		nsteps;			/* pairs of them that are of one item and
								 * follow each other */
	double		seconds;		/* between these */
	int			nbounds;
	int64		bounds[SAMPLED_PAGES + 1];	/* items between two of which
											 * about as many rows are each;
											 * sorted */
} ItemSample;

/* the i-th of the pages that are looked at */
#define sampled_block(i, nblocks) \
	((BlockNumber) ((uint64) (nblocks) * (i) / SAMPLED_PAGES))

extern void ZbxhistSampleIndex(Relation index, ItemSample *sample);
extern void ZbxhistSortBounds(ItemSample *sample);
extern double ZbxhistCountSampledItems(const ItemSample *sample, double nrows,
									   double seconds);

#endif							/* ZBXHIST_ITEM_SAMPLE_H */
