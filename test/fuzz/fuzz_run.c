/*-------------------------------------------------------------------------
 *
 * fuzz_run.c
 *	  Any bytes are read as a run (libFuzzer).
 *
 * The first byte is the number of columns, and which of them is wanted alone.  What can
 * be decoded is written again, and must come back the same; an item's rows
 * must be those that are cut out of all.  Checksums are off, see include.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "packed/format/run.h"
#include "rows.h"
#include "shim.h"

extern int	LLVMFuzzerTestOneInput(const uint8 *data, size_t size);

/* no input of a few kilobytes may need more memory than this */
#define MAX_MEMORY ((size_t) 640 * 1024 * 1024)

/* strings longer than this are not written again */
#define MAX_STRINGS (1024 * 1024)

/* The length of all strings. */
static size_t
count_strings(const RunRows *rows)
{
	size_t		total = 0;
	int			i,
				row;

	for (i = 0; i < rows->ncolumns; i++)
	{
		if (rows->columns[i].kind != PACKED_BYTES)
			continue;
		for (row = 0; row < rows->nrows; row++)
			total += rows->columns[i].bytes[row].len;
	}
	return total;
}

/* Writes the rows again and compares. */
static void
check_again(const RunRows *rows)
{
	uint8	   *data;
	size_t		length;
	RunRows		again;
	int			row,
				i;

	if (ZbxhistEncodeRun(rows, 0, MaxAllocSize, &data, &length) != rows->nrows ||
		!ZbxhistDecodeRun(data, length, rows->ncolumns, NULL, NULL, &again) ||
		again.nrows != rows->nrows)
		abort();
	for (row = 0; row < rows->nrows; row++)
	{
		if (again.itemids[row] != rows->itemids[row])
			abort();
		for (i = 0; i < rows->ncolumns; i++)
			if (!same_value(&again.columns[i], row, &rows->columns[i], row))
				abort();
	}
}

/* Reads an item's rows, which must be those from first to before end. */
static void
check_item(const uint8 *data, size_t size, const RunRows *rows, int64 itemid,
		   int first, int end)
{
	RunRows		item;
	int			row,
				i;

	if (!ZbxhistDecodeRun(data, size, rows->ncolumns, NULL, &itemid, &item) ||
		item.nall != rows->nrows || item.nrows != end - first ||
		(item.nrows > 0 && item.first != first))
		abort();
	for (row = 0; row < item.nrows; row++)
	{
		if (item.itemids[row] != itemid)
			abort();
		for (i = 0; i < rows->ncolumns; i++)
			if (!same_value(&item.columns[i], row, &rows->columns[i],
							first + row))
				abort();
	}
}

/* Reads the rows of up to twenty items, and of those that lie between. */
static void
check_items(const uint8 *data, size_t size, const RunRows *rows)
{
	int			nleft = 20;
	int			first,
				end;

	for (first = 0; first < rows->nrows && nleft-- > 0; first = end)
	{
		int64		itemid = rows->itemids[first];

		for (end = first; end < rows->nrows && rows->itemids[end] == itemid;)
			end++;
		check_item(data, size, rows, itemid, first, end);
		if (itemid < PG_INT64_MAX &&
			(end == rows->nrows || rows->itemids[end] > itemid + 1))
			check_item(data, size, rows, itemid + 1, end, end);
	}
}

/* Reads an item's rows, which may be damaged, of items that may be there. */
static void
touch_items(const uint8 *data, size_t size, int ncolumns)
{
	static const int64 itemids[] = {0, 1, 10000, 30000, PG_INT64_MAX};
	RunRows		item;
	int			i;

	for (i = 0; i < lengthof(itemids); i++)
		(void) ZbxhistDecodeRun(data, size, ncolumns, NULL, &itemids[i], &item);
}

int
LLVMFuzzerTestOneInput(const uint8 *data, size_t size)
{
	bool		wanted[16] = {false};
	RunRows		rows;
	int			ncolumns;
	int			row;

	if (size < 1)
		return 0;
	ncolumns = data[0] % 16 + 1;
	wanted[data[0] / 16] = true;
	if (ZbxhistDecodeRun(data + 1, size - 1, ncolumns, wanted, NULL, &rows))
	{
		for (row = 1; row < rows.nrows; row++)
			if (rows.itemids[row] < rows.itemids[row - 1])
				abort();
	}
	touch_items(data + 1, size - 1, ncolumns);
	if (ZbxhistDecodeRun(data + 1, size - 1, ncolumns, NULL, NULL, &rows) &&
		count_strings(&rows) <= MAX_STRINGS)
	{
		check_again(&rows);
		check_items(data + 1, size - 1, &rows);
	}
	if (shim_peak() > MAX_MEMORY)
		abort();
	shim_reset();
	return 0;
}
