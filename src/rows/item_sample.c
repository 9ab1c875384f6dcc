/*-------------------------------------------------------------------------
 *
 * item_sample.c
 *	  Of how many items a table's rows are, by a few of its pages.
 *
 * An index on (itemid, clock) has the rows of an item beside each other: the
 * items that end in some of its pages are to all items as the entries of these
 * pages are to all entries.  Where an item has more rows than a page holds, the
 * seconds between two of them say how many it has.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/nbtree.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"

#include "rows/item_range.h"
#include "rows/item_sample.h"

/* items that have to be seen for their number to mean something */
#define MIN_ITEMS SAMPLED_PAGES

/*
 * AddLeaf adds the entries of a page of an index to a sample; returns false if it
 * is no leaf, or has none.  That an item ends with the page is seen by its high key.
 */
static bool
AddLeaf(Relation index, Page page, ItemSample *sample)
{
	TupleDesc	desc = RelationGetDescr(index);
	BTPageOpaque opaque = BTPageGetOpaque(page);
	OffsetNumber first = P_FIRSTDATAKEY(opaque);
	OffsetNumber last = PageGetMaxOffsetNumber(page);
	int64		itemid = 0;
	int32		clock = 0;

	if (!P_ISLEAF(opaque) || P_IGNORE(opaque) || last < first)
		return false;
	for (OffsetNumber i = first; i <= last + 1; i++)
	{
		bool		is_end = i > last;
		bool		isnull;
		int64		next_itemid;
		int32		next_clock;
		IndexTuple	entry;

		if (is_end && P_RIGHTMOST(opaque))
		{
			sample->nitems++;
			break;
		}
		entry = (IndexTuple) PageGetItem(page, PageGetItemId(page, is_end ?
															 P_HIKEY : i));
		next_itemid = DatumGetInt64(index_getattr(entry, 1, desc, &isnull));
		if (i > first && next_itemid != itemid)
			sample->nitems++;
		if (is_end)
			break;
		next_clock = DatumGetInt32(index_getattr(entry, 2, desc, &isnull));
		if (i == first)
			sample->bounds[sample->nbounds++] = next_itemid;
		else if (next_itemid == itemid)
		{
			sample->nsteps++;
			sample->seconds += (double) next_clock - clock;
		}
		itemid = next_itemid;
		clock = next_clock;
	}
	sample->nrows += last - first + 1;
	return true;
}

/*
 * ZbxhistSampleIndex looks at some pages of an index as ZbxhistFindItemIndex finds
 * one, which the caller has locked.
 */
void
ZbxhistSampleIndex(Relation index, ItemSample *sample)
{
	BlockNumber nblocks = RelationGetNumberOfBlocks(index);
	BlockNumber next = BTREE_METAPAGE + 1;

	memset(sample, 0, sizeof(ItemSample));
	for (int i = 0; i < SAMPLED_PAGES; i++)
	{
		bool		is_added = false;

		for (next = Max(next, sampled_block(i, nblocks));
			 next < nblocks && !is_added; next++)
		{
			Buffer		buffer = ReadBuffer(index, next);

			CHECK_FOR_INTERRUPTS();
			LockBuffer(buffer, BT_READ);
			if (!PageIsNew(BufferGetPage(buffer)))
				is_added = AddLeaf(index, BufferGetPage(buffer), sample);
			UnlockReleaseBuffer(buffer);
		}
	}
	ZbxhistSortBounds(sample);
}

/*
 * ZbxhistSortBounds sorts the bounds of a sample.
 */
void
ZbxhistSortBounds(ItemSample *sample)
{
	qsort(sample->bounds, sample->nbounds, sizeof(int64), compare_itemids);
}

/*
 * ZbxhistCountSampledItems returns of how many items nrows rows of so many seconds
 * are; 0 if the sample does not tell.
 */
double
ZbxhistCountSampledItems(const ItemSample *sample, double nrows, double seconds)
{
	double		result = 0;

	if (sample->nitems >= MIN_ITEMS)
		result = nrows * sample->nitems / sample->nrows;
	else if (sample->seconds > 0 && seconds > 0)
		result = nrows * sample->seconds / sample->nsteps / seconds;
	else
		return 0;
	return Max(Min(result, nrows), 1);
}
