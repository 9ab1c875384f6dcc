/*-------------------------------------------------------------------------
 *
 * fuzz_rows.c
 *	  Packs and unpacks random rows (libFuzzer).
 *
 * The input is a small program that makes the rows: each byte chooses how the
 * next few values of a column are made.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "format/segment.h"
#include "rows.h"
#include "shim.h"

extern int	LLVMFuzzerTestOneInput(const uint8 *data, size_t size);

#define MAX_COLUMNS 5
#define MAX_ITEMS 3
#define MAX_ROWS 5000
#define FEW_ROWS 300

/* the input that is left; zeros follow it */
typedef struct Input
{
	const uint8 *next;
	const uint8 *end;
	uint64		random;
} Input;

static uint8
take_byte(Input *input)
{
	return input->next < input->end ? *input->next++ : 0;
}

static uint64
take_number(Input *input, int bytes)
{
	uint64		number = 0;

	while (bytes-- > 0)
		number = number << 8 | take_byte(input);
	return number;
}

static uint64
random_number(Input *input)
{
	input->random ^= input->random << 13;
	input->random ^= input->random >> 7;
	input->random ^= input->random << 17;
	return input->random;
}

/* Makes n numbers of 64 bits from the input. */
static void
make_numbers(Input *input, uint64 *numbers, int n)
{
	uint64		last = 0;
	uint64		step = 0;
	uint64		mask = 0;
	uint64		jitter = 0;
	int			mode = 0;
	int			left = 0;
	int			i;

	for (i = 0; i < n; i++)
	{
		if (left-- == 0)
		{
			uint8		what = take_byte(input);

			mode = what % 8;
			left = what / 8 < 16 ? what / 8 : (what / 8 - 15) * 64;
			if (mode == 1 || mode == 3)
				step = take_number(input, 1) - 128;
			else if (mode == 2)
				step = take_number(input, 8);
			else if (mode >= 5)
				mask = ~UINT64CONST(0) >> take_byte(input) % 64;
		}
		switch (mode)
		{
			case 0:				/* the same */
				break;
			case 1:				/* around a straight line */
			case 2:
				last += step;
				jitter = random_number(input) & mask;
				break;
			case 3:				/* growing faster and faster */
				step += step;
				last += step;
				break;
			case 4:				/* anything */
				last = take_number(input, 8);
				break;
			case 5:				/* random, of a given width */
				last = random_number(input) & mask;
				break;
			case 6:				/* random steps */
				last += random_number(input) & mask;
				break;
			case 7:				/* one of a few */
				last = (random_number(input) & mask) % 5 * mask;
				break;
		}
		numbers[i] = last + jitter;
		jitter = 0;
	}
}

/* Makes clocks that do not decrease. */
static void
make_clocks(Input *input, int64 *clocks, int n)
{
	uint64	   *numbers = palloc(n * sizeof(uint64));
	int64		clock = (int32) take_number(input, 4);
	int			i;

	make_numbers(input, numbers, n);
	for (i = 0; i < n; i++)
	{
		clock += numbers[i] % 4096 * (numbers[i] % 3);
		clocks[i] = clock = Min(clock, PG_INT32_MAX);
	}
	pfree(numbers);
}

/* Makes doubles from numbers: with these bits, or decimals. */
static void
make_doubles(Input *input, double *doubles, const uint64 *numbers, int n)
{
	static const double divisors[] = {1, 10, 100, 1000, 1e4, 3, 1e9, 1e15};
	uint8		how = take_byte(input);
	int			i;

	for (i = 0; i < n; i++)
	{
		if (how < 64 || numbers[i] % 251 == how)
			memcpy(&doubles[i], &numbers[i], sizeof(double));
		else
			doubles[i] = (double) ((int64) numbers[i] >> how % 64) /
				divisors[how % lengthof(divisors)];
	}
}

/* Makes strings from numbers. */
static void
make_strings(Input *input, PackedBytes *strings, const uint64 *numbers, int n)
{
	uint8		how = take_byte(input);
	int			i,
				at;

	for (i = 0; i < n; i++)
	{
		int			length = numbers[i] % 97 * (how % 4);
		char	   *data = palloc(length + 1);

		for (at = 0; at < length; at++)
			data[at] = how < 128 ? 'a' + (numbers[i] + at) % 20 :
				(char) random_number(input);
		strings[i].data = data;
		strings[i].len = length;
	}
}

/* Makes the values of a column, some of them null. */
static void
make_values(Input *input, PackedColumn *column, int n)
{
	uint64	   *numbers = palloc(n * sizeof(uint64));
	uint8		nulls = take_byte(input);
	int			i;

	make_numbers(input, numbers, n);
	if (column->kind == PACKED_INT)
		memcpy(column->ints, numbers, n * sizeof(uint64));
	else if (column->kind == PACKED_UNSIGNED)
		memcpy(column->unsigneds, numbers, n * sizeof(uint64));
	else if (column->kind == PACKED_DOUBLE)
		make_doubles(input, column->doubles, numbers, n);
	else
		make_strings(input, column->bytes, numbers, n);
	if (nulls >= 128)
	{
		column->nulls = palloc(n * sizeof(bool));
		for (i = 0; i < n; i++)
			column->nulls[i] = random_number(input) % 128 < nulls - 127;
	}
	pfree(numbers);
}

/* Makes the rows of an item; many rows only if groups are not tiny. */
static void
make_item(Input *input, SegmentRows *rows, int64 itemid,
		  const PackedKind *kinds, int ncolumns, size_t max_size)
{
	uint64		n = take_number(input, 2);
	bool		is_many = max_size > 1000 && (n >> 8) % 16 == 0;
	int			i;

	memset(rows, 0, sizeof(*rows));
	rows->itemid = itemid;
	rows->nrows = n % (is_many ? MAX_ROWS : FEW_ROWS) + 1;
	rows->ncolumns = ncolumns;
	rows->columns = make_columns(kinds, ncolumns, rows->nrows);
	make_clocks(input, rows->columns[0].ints, rows->nrows);
	for (i = 1; i < ncolumns; i++)
		make_values(input, &rows->columns[i], rows->nrows);
}

int
LLVMFuzzerTestOneInput(const uint8 *data, size_t size)
{
	Input		input = {data, data + size, UINT64CONST(88172645463325252)};
	PackedKind	kinds[MAX_COLUMNS] = {PACKED_INT};
	SegmentRows items[MAX_ITEMS];
	uint64		itemid;
	PackedSize	packed;
	const char *error;
	size_t		max_size;
	int			ncolumns = take_byte(&input) % MAX_COLUMNS + 1;
	int			nitems = take_byte(&input) % MAX_ITEMS + 1;
	int			stats_column;
	int			i;

	max_size = take_number(&input, 2) % 16384;
	stats_column = (int) (take_byte(&input) % (ncolumns + 1)) - 1;
	for (i = 1; i < ncolumns; i++)
		kinds[i] = take_byte(&input) % 4 + 1;
	itemid = take_number(&input, 8);
	for (i = 0; i < nitems; i++)
	{
		make_item(&input, &items[i], (int64) itemid, kinds, ncolumns,
				  max_size);
		/* sorted, up to the greatest */
		itemid += (PG_INT64_MAX - itemid) / 2 + 1;
		if ((int64) itemid < items[i].itemid)
			nitems = i + 1;
	}
	error = round_trip(items, nitems, stats_column, max_size, &packed);
	if (error != NULL)
	{
		(void) fprintf(stderr, "%s\n", error);
		abort();
	}
	shim_reset();
	return 0;
}
