/*-------------------------------------------------------------------------
 *
 * fuzz_run.c
 *	  Any bytes are read as a run (libFuzzer).
 *
 * The first byte is the number of columns, and which of them is ns.  What can
 * be decoded is written again, and must come back the same.  Checksums are off,
 * see include.
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
		!ZbxhistDecodeRun(data, length, rows->ncolumns, &again) ||
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

int
LLVMFuzzerTestOneInput(const uint8 *data, size_t size)
{
	int64	   *keys[3];
	RunRows		rows;
	int			ncolumns;
	int			nkeys;
	int			row;

	if (size < 1)
		return 0;
	ncolumns = data[0] % 16 + 1;
	if (ZbxhistDecodeRunKeys(data + 1, size - 1, ncolumns, data[0] / 16 - 1,
							 &keys[0], &keys[1], &keys[2], &nkeys))
	{
		for (row = 1; row < nkeys; row++)
			if (keys[0][row] < keys[0][row - 1])
				abort();
	}
	if (ZbxhistDecodeRun(data + 1, size - 1, ncolumns, &rows) &&
		count_strings(&rows) <= MAX_STRINGS)
		check_again(&rows);
	if (shim_peak() > MAX_MEMORY)
		abort();
	shim_reset();
	return 0;
}
