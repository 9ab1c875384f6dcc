/*-------------------------------------------------------------------------
 *
 * shared_items.c
 *	  Finds items with the same times while a packed day is written.
 *
 * Zabbix gives all items that depend on a master the master's clock and ns, and all
 * values of one request the same clock and ns.  The ids of such items are near each
 * other.  Items wait in a queue, so that it is known of the first one whether others with
 * its times follow.  Times are kept for a while after their last item has left the queue.
 *
 * An item whose times are a subset of another's shares these.  Two items that have
 * different subsets of times that no item has in full are not detected.
 *
 * A reader has to fetch shared times from another page.  So times of few rows, and times
 * that take little space (with a constant ns), are not shared.
 *
 * Memory: some megabytes, in the context that is current at the beginning.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "binary_search.h"
#include "packed/day.h"
#include "packed/shared_items.h"
#include "tables/item_range.h"

/* items in the queue, and bytes of their rows */
#define MAX_ITEMS 64
#define MAX_BYTES ((size_t) 4 * 1024 * 1024)

/* times that are known */
#define MAX_TIMES 128

/* fewest rows for which reading another page pays */
#define MIN_ROWS 64

/* of other times, an item must have one row in so many */
#define MAX_RATIO 16

/* times that one or more items have had lately */
typedef struct KnownTimes
{
	SharedTimes times;			/* number: 0 until it is written */
	int64	   *clocks;			/* those of times; NULL: unused */
	int64	   *ns;
	uint64		hash;
	int			nwaiting;		/* items in the queue */
	uint64		used;			/* greater: later */
} KnownTimes;

typedef struct WaitingItem
{
	RowBuffer  *buffer;
	KnownTimes *known;			/* NULL: its times are not compared */
	size_t		nbytes;
} WaitingItem;

struct SharedItems
{
	const DayLayout *layout;
	int			ns_column;		/* among the packed ones */

	WaitingItem queue[MAX_ITEMS];
	int			first;
	int			nitems;
	size_t		nbytes;
	RowBuffer  *spare[MAX_ITEMS + 1];
	int			nspare;

	KnownTimes	known[MAX_TIMES];
	uint64		clock;			/* of `used` */
	uint64		last_number;
	int		   *places;			/* of the item written last */
	MemoryContext context;
};

/*
 * ZbxhistBeginSharedItems makes an empty queue; NULL if rows of that layout
 * have no times that could be shared.
 */
SharedItems *
ZbxhistBeginSharedItems(const DayLayout *layout)
{
	SharedItems *items;

	if (layout->ns < 0 || layout->columns[layout->ns].kind != PACKED_INT)
		return NULL;
	items = palloc0(sizeof(SharedItems));
	items->layout = layout;
	items->ns_column = layout->columns[layout->ns].packed;
	items->places = palloc(sizeof(int) * SHARED_MAX_ROWS);
	items->context = CurrentMemoryContext;
	return items;
}

/* ---- times ---- */

/*
 * AreWorthwhile says whether sharing some times saves enough.
 */
static bool
AreWorthwhile(const SharedTimes *times)
{
	int			nchanges = 0;

	if (times->ntimes < MIN_ROWS || times->ntimes > SHARED_MAX_ROWS ||
		times->clocks[times->ntimes - 1] >= TIMES_CLOCK)
		return false;
	for (int i = 1; i < times->ntimes; i++)
		nchanges += times->ns[i] != times->ns[i - 1];
	return nchanges > times->ntimes / 2;
}

/*
 * HashTimes returns a hash of times.
 */
static uint64
HashTimes(const SharedTimes *times)
{
	uint64		hash = times->ntimes;

	for (int i = 0; i < times->ntimes; i++)
	{
		hash ^= (uint64) times->clocks[i] << 32 ^ (uint64) times->ns[i];
		hash *= UINT64CONST(0x9E3779B97F4A7C15);
		hash ^= hash >> 29;
	}
	return hash;
}

/*
 * AreSame compares two times, byte by byte.
 */
static bool
AreSame(const SharedTimes *a, const SharedTimes *b)
{
	return a->ntimes == b->ntimes &&
		memcmp(a->clocks, b->clocks, sizeof(int64) * a->ntimes) == 0 &&
		memcmp(a->ns, b->ns, sizeof(int64) * a->ntimes) == 0;
}

/*
 * FindPlace returns the first row of times that is not before a position.
 */
static int
FindPlace(const SharedTimes *times, int64 position)
{
	int			i;

	find_first(i, times->ntimes,
			   make_position(times->clocks[i], times->ns[i]) >= position);
	return i;
}

/*
 * IsPart says whether all rows of some times are among those of others, which
 * are more but not too many; if so, it sets places.
 */
static bool
IsPart(const SharedTimes *part, const SharedTimes *whole, int *places)
{
	int			place;

	if (part->ntimes >= whole->ntimes ||
		part->ntimes < whole->ntimes / MAX_RATIO)
		return false;
	place = FindPlace(whole, make_position(part->clocks[0], part->ns[0]));
	for (int i = 0; i < part->ntimes; i++, place++)
	{
		while (place < whole->ntimes &&
			   (whole->clocks[place] < part->clocks[i] ||
				(whole->clocks[place] == part->clocks[i] &&
				 whole->ns[place] < part->ns[i])))
			place++;
		if (place == whole->ntimes ||
			whole->clocks[place] != part->clocks[i] ||
			whole->ns[place] != part->ns[i])
			return false;
		places[i] = place;
	}
	return true;
}

/*
 * ReplaceOldestTimes forgets the times that no item has had for longest, and
 * returns their place.
 */
static KnownTimes *
ReplaceOldestTimes(SharedItems *items)
{
	KnownTimes *oldest = NULL;

	for (int i = 0; i < MAX_TIMES; i++)
	{
		KnownTimes *known = &items->known[i];

		if (known->clocks == NULL)
			return known;
		if (known->nwaiting == 0 &&
			(oldest == NULL || known->used < oldest->used))
			oldest = known;
	}
	/* there are more times than items */
	Assert(oldest != NULL);
	pfree(oldest->clocks);
	pfree(oldest->ns);
	return oldest;
}

/*
 * Know returns the entry of an item's times; NULL if they are not worth sharing.
 */
static KnownTimes *
Know(SharedItems *items, const SegmentRows *rows)
{
	const PackedColumn *ns = &rows->columns[items->ns_column];
	SharedTimes times = {0, rows->nrows, rows->columns[0].ints, ns->ints};
	Size		size = sizeof(int64) * rows->nrows;
	KnownTimes *known;
	uint64		hash;

	if (ns->kind != PACKED_INT || ns->nulls != NULL || !AreWorthwhile(&times))
		return NULL;
	hash = HashTimes(&times);
	for (int i = 0; i < MAX_TIMES; i++)
	{
		known = &items->known[i];
		if (known->clocks != NULL && known->hash == hash &&
			AreSame(&known->times, &times))
			return known;
	}
	known = ReplaceOldestTimes(items);
	memset(known, 0, sizeof(*known));
	known->hash = hash;
	known->clocks = MemoryContextAlloc(items->context, size);
	known->ns = MemoryContextAlloc(items->context, size);
	memcpy(known->clocks, times.clocks, size);
	memcpy(known->ns, times.ns, size);
	known->times.ntimes = times.ntimes;
	known->times.clocks = known->clocks;
	known->times.ns = known->ns;
	return known;
}

/* ---- the queue ---- */

/*
 * ZbxhistQueueItem adds all rows of an item, which are in buffer; returns an empty
 * buffer in its place.
 */
RowBuffer *
ZbxhistQueueItem(SharedItems *items, RowBuffer *buffer)
{
	WaitingItem *item = &items->queue[(items->first + items->nitems) % MAX_ITEMS];
	MemoryContext old;

	Assert(items->nitems < MAX_ITEMS);
	item->buffer = buffer;
	item->nbytes = buffer->nbytes + sizeof(int64) * (Size) buffer->rows.nrows *
		buffer->rows.ncolumns;
	item->known = Know(items, &buffer->rows);
	if (item->known != NULL)
	{
		item->known->nwaiting++;
		item->known->used = ++items->clock;
	}
	items->nitems++;
	items->nbytes += item->nbytes;
	if (items->nspare > 0)
		return items->spare[--items->nspare];
	old = MemoryContextSwitchTo(items->context);
	buffer = ZbxhistCreateRowBuffer(items->layout);
	MemoryContextSwitchTo(old);
	return buffer;
}

/*
 * FindWhole returns times that have all rows of an item and more; NULL if
 * there are none.
 */
static KnownTimes *
FindWhole(SharedItems *items, const KnownTimes *part)
{
	for (int i = 0; i < MAX_TIMES; i++)
	{
		KnownTimes *known = &items->known[i];

		if (known->clocks != NULL &&
			(known->times.number != 0 || known->nwaiting > 0) &&
			IsPart(&part->times, &known->times, items->places))
			return known;
	}
	return NULL;
}

/*
 * HasParts says whether waiting items have some of the rows of times.
 */
static bool
HasParts(SharedItems *items, const KnownTimes *whole)
{
	for (int i = 0; i < MAX_TIMES; i++)
	{
		const KnownTimes *known = &items->known[i];

		if (known->clocks != NULL && known->nwaiting > 0 &&
			IsPart(&known->times, &whole->times, items->places))
			return true;
	}
	return false;
}

/*
 * Choose says which times the rows of an item are to share; *fresh is set to
 * them if nobody has so far.
 */
static void
Choose(SharedItems *items, KnownTimes *own, SegmentRows *rows,
	   const SharedTimes **fresh)
{
	KnownTimes *known = own;

	if (own->times.number == 0 && own->nwaiting < 2)
	{
		known = FindWhole(items, own);
		if (known != NULL)
			rows->places = items->places;
		else if (HasParts(items, own))
			known = own;
		else
			return;
	}
	if (known->times.number == 0)
	{
		if (items->last_number == TIMES_MAX_NUMBER)
			return;
		known->times.number = ++items->last_number;
		*fresh = &known->times;
	}
	known->used = ++items->clock;
	rows->shared = &known->times;
	rows->ns_column = items->ns_column;
}

/*
 * ZbxhistTakeItem takes the first item out of the queue if that is full, or no
 * other ones will come; NULL if not.  If its rows are the first to share some
 * times, *fresh is set to these, which must be written.  The buffer must be given
 * back before the next call.
 */
RowBuffer *
ZbxhistTakeItem(SharedItems *items, bool is_end, const SharedTimes **fresh)
{
	WaitingItem *item = &items->queue[items->first];

	*fresh = NULL;
	if (items->nitems == 0 ||
		(!is_end && items->nitems < MAX_ITEMS && items->nbytes < MAX_BYTES))
		return NULL;
	items->first = (items->first + 1) % MAX_ITEMS;
	items->nitems--;
	items->nbytes -= item->nbytes;
	if (item->known != NULL)
	{
		Choose(items, item->known, &item->buffer->rows, fresh);
		item->known->nwaiting--;
	}
	return item->buffer;
}

/*
 * ZbxhistReleaseItem gives back a buffer whose rows have been packed.
 */
void
ZbxhistReleaseItem(SharedItems *items, RowBuffer *buffer)
{
	buffer->rows.shared = NULL;
	buffer->rows.places = NULL;
	ZbxhistBeginRows(buffer, 0);
	items->spare[items->nspare++] = buffer;
}
