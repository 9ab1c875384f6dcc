/*
 * stream.c
 *		The values that a simulated Zabbix collects.
 *
 * Each value depends on seed, item and pass only.  So each store gets the same
 * rows, with any speed and any number of connections, and the numbers of rows
 * and checksums can be compared.
 *
 * A pass is one value of each item and takes "step" seconds of simulated time.
 * As in Zabbix, an item is due at itemid modulo its interval, so the items of a
 * batch are spread over the whole range of itemids.  Within the batch they are
 * sorted by itemid, with one value each.  The clocks of a batch are within a
 * second or two, or "spread" seconds, as with proxies and slow pollers.
 */
#include "stream.h"

#include <stdio.h>
#include <stdlib.h>

/* The finalizer of splitmix64, a good hash of 64 bits. */
uint64_t
stream_hash(uint64_t x)
{
	x += 0x9e3779b97f4a7c15ULL;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
	return x ^ (x >> 31);
}

static int
compare_long(const void *a, const void *b)
{
	long		left = *(const long *) a;
	long		right = *(const long *) b;

	return (left > right) - (left < right);
}

/* Lists the items by the second in which they are due. */
static void
order_by_due_second(Stream *stream)
{
	long		filled = 0;

	for (int second = 0; second < stream->options.step; second++)
		for (long item = second; item < stream->options.items;
			 item += stream->options.step)
			stream->order[filled++] = item;
}

/* Sorts the items within each batch, as Zabbix does before it writes. */
static void
sort_batches(Stream *stream)
{
	long		batch = stream->options.batch;

	for (long from = 0; from < stream->options.items; from += batch)
	{
		long		left = stream->options.items - from;

		qsort(stream->order + from, left < batch ? left : batch,
			  sizeof(long), compare_long);
	}
}

/* Prepares the order of items; the stream is read-only afterwards. */
void
stream_init(Stream *stream, const StreamOptions *options)
{
	stream->options = *options;
	stream->batches_per_pass =
		(options->items + options->batch - 1) / options->batch;
	stream->order = malloc(sizeof(long) * options->items);
	if (stream->order == NULL)
	{
		fprintf(stderr, "loader: out of memory\n");
		exit(1);
	}
	order_by_due_second(stream);
	sort_batches(stream);
}

/* The type of an item, which never changes. */
static ValueType
item_type(const StreamOptions *options, long item)
{
	int			percent;

	if (options->mix != MIX_ZABBIX)
		return (ValueType) options->mix;
	percent = stream_hash(options->seed ^ stream_hash(item)) % 100;
	if (percent < 46)
		return VALUE_FLOAT;
	if (percent < 92)
		return VALUE_UINT;
	if (percent < 96)
		return VALUE_STR;
	return percent < 98 ? VALUE_TEXT : VALUE_LOG;
}

/* Does the mix have items of a type? */
bool
stream_has_type(const StreamOptions *options, ValueType type)
{
	return options->mix == MIX_ZABBIX || (ValueType) options->mix == type;
}

/* Fills in one item's value of one pass. */
void
stream_value(const Stream *stream, long item, long pass, Value *value)
{
	const StreamOptions *options = &stream->options;
	uint64_t	random;

	random = stream_hash(stream_hash(options->seed + (uint64_t) item) +
						 (uint64_t) pass);
	value->itemid = options->first_itemid + item;
	value->clock = options->clock + (int) (pass * options->step) +
		(int) (item % options->step);
	if (options->spread > 1)
		value->clock -= (int) (stream_hash(random + 1) % options->spread);
	value->ns = (int) (random % 1000000000);
	value->type = item_type(options, item);
	value->random = stream_hash(random ^ 0x5bd1e995);
	value->is_duplicate = false;
}

/* Fills in the values of a batch, sorted by itemid; returns their number. */
int
stream_batch(const Stream *stream, long batch, Value *values)
{
	long		pass = batch / stream->batches_per_pass;
	long		from = batch % stream->batches_per_pass * stream->options.batch;
	int			count = 0;

	while (count < stream->options.batch &&
		   from + count < stream->options.items)
	{
		stream_value(stream, stream->order[from + count], pass,
					 &values[count]);
		count++;
	}
	return count;
}
