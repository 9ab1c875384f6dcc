/*-------------------------------------------------------------------------
 *
 * usage_sums.c
 *	  How much of a parent is each item's: sums over its tables.
 *
 * Of each table is found what the rows or segments of an item take.  The whole
 * of the table, with its indexes and what is free in its pages, is divided in
 * that proportion, so that the items' bytes add up to the disk's.
 *
 * Memory: an entry for each item, in a context below the current one of
 * ZbxhistInitUsage.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "read/usage_sums.h"

/*
 * ZbxhistInitUsage makes sums of no table, for rows with from_clock <= clock <
 * to_clock.
 */
void
ZbxhistInitUsage(UsageSums *sums, int64 from_clock, int64 to_clock)
{
	HASHCTL		control = {0};

	memset(sums, 0, sizeof(*sums));
	control.keysize = sizeof(int64);
	control.entrysize = sizeof(ItemUsage);
	control.hcxt = CurrentMemoryContext;
	sums->items = hash_create("zbxhist item usage", 1024, &control,
							  HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	sums->from_clock = from_clock;
	sums->to_clock = to_clock;
	sums->is_exact = true;
}

/*
 * FindItem returns an item's entry, and has it among those of the table in
 * hand.
 */
static ItemUsage *
FindItem(UsageSums *sums, int64 itemid)
{
	bool		found;
	ItemUsage  *item;

	if (sums->last != NULL && sums->last->itemid == itemid)
		return sums->last;
	item = hash_search(sums->items, &itemid, HASH_ENTER, &found);
	if (!found)
		memset((char *) item + sizeof(int64), 0,
			   sizeof(ItemUsage) - sizeof(int64));
	if (item->found.nrows == 0)
	{
		item->next = sums->found;
		sums->found = item;
	}
	sums->last = item;
	return item;
}

/*
 * ZbxhistAddUsage adds rows of the table in hand that count, and their bytes.
 */
void
ZbxhistAddUsage(UsageSums *sums, int64 itemid, double nrows, double nbytes)
{
	ItemUsage  *item = FindItem(sums, itemid);

	item->found.nrows += nrows;
	item->found.nbytes += nbytes;
}

/*
 * ZbxhistEndUsageOf takes what has been added for the table in hand, which has
 * so many bytes, into the sums.  Only a fraction of its rows was read.
 */
void
ZbxhistEndUsageOf(UsageSums *sums, double table_bytes, double fraction,
				  bool is_packed)
{
	ItemUsage  *item = sums->found;

	while (item != NULL)
	{
		ItemUsage  *next = item->next;
		UsagePart  *part = is_packed ? &item->packed : &item->heap;
		double		nbytes = item->found.nbytes * table_bytes / sums->nbytes;

		part->nrows += item->found.nrows / fraction;
		part->nbytes += nbytes;
		sums->total += nbytes;
		memset(&item->found, 0, sizeof(item->found));
		item->next = NULL;
		item = next;
	}
	sums->found = NULL;
	sums->last = NULL;
	sums->nbytes = 0;
}

/*
 * CompareUsage sorts entries by bytes, the most first.
 */
static int
CompareUsage(const void *a, const void *b)
{
	const ItemUsage *left = *(ItemUsage *const *) a;
	const ItemUsage *right = *(ItemUsage *const *) b;
	double		difference = left->packed.nbytes + left->heap.nbytes -
		right->packed.nbytes - right->heap.nbytes;

	if (difference != 0)
		return difference > 0 ? -1 : 1;
	return left->itemid < right->itemid ? -1 : left->itemid > right->itemid;
}

/*
 * ZbxhistLargestItems returns all items, those that take most first, palloc'd.
 */
ItemUsage **
ZbxhistLargestItems(const UsageSums *sums, int64 *nitems)
{
	ItemUsage **result;
	ItemUsage  *item;
	HASH_SEQ_STATUS status;

	*nitems = 0;
	result = MemoryContextAllocHuge(CurrentMemoryContext,
									sizeof(ItemUsage *) *
									(hash_get_num_entries(sums->items) + 1));
	hash_seq_init(&status, sums->items);
	while ((item = hash_seq_search(&status)) != NULL)
		result[(*nitems)++] = item;
	qsort(result, *nitems, sizeof(ItemUsage *), CompareUsage);
	return result;
}
