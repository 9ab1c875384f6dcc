/*-------------------------------------------------------------------------
 *
 * last_values.c
 *	  SQL function last_values: the newest rows of many items at once.
 *
 * Each item is searched from the newest partition backwards until it has its
 * rows; the partitions' indexes stay open from one item to the next.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "utils/array.h"

#include "read/arguments.h"
#include "read/row_set.h"

PG_FUNCTION_INFO_V1(zbxhist_last_values);

/*
 * compare_items orders ranges by their items.
 */
static int
compare_items(const void *a, const void *b)
{
	return compare_places(((const ItemRange *) a)->itemid, 0,
						  ((const ItemRange *) b)->itemid, 0);
}

/*
 * MakeRanges makes a range for each item of an array, in the order of their
 * numbers and each once, as itemid = ANY (array) would find them.
 */
static ItemRange *
MakeRanges(ArrayType *array, int64 first, int *nranges)
{
	Datum	   *items;
	bool	   *nulls;
	int			nitems;
	ItemRange  *ranges;
	int			n = 0;
	int			nunique = 0;

	deconstruct_array(array, INT8OID, sizeof(int64), FLOAT8PASSBYVAL,
					  TYPALIGN_DOUBLE, &items, &nulls, &nitems);
	ranges = palloc(sizeof(ItemRange) * Max(nitems, 1));
	for (int i = 0; i < nitems; i++)
	{
		if (nulls[i])
			continue;
		ZbxhistWholeItem(&ranges[n], DatumGetInt64(items[i]));
		ZbxhistStartAt(&ranges[n], first);
		ranges[n].is_descending = true;
		n++;
	}
	qsort(ranges, n, sizeof(ItemRange), compare_items);
	for (int i = 0; i < n; i++)
	{
		if (nunique == 0 || ranges[i].itemid != ranges[nunique - 1].itemid)
			ranges[nunique++] = ranges[i];
	}
	*nranges = nunique;
	return ranges;
}

/*
 * zbxhist_last_values(row type, itemids, max_rows, since_clock [, since_ns])
 * returns the newest rows of each item, newest first, with clocks not before
 * since_clock unless that is null.
 */
Datum
zbxhist_last_values(PG_FUNCTION_ARGS)
{
	int64		first = PG_ARGISNULL(3) ? PG_INT64_MIN :
		make_position(PG_GETARG_INT32(3),
					  PG_NARGS() > 4 ? PG_GETARG_INT32(4) : PG_INT32_MIN);
	ItemRange  *ranges = NULL;
	int			nranges = 0;

	if (!PG_ARGISNULL(1))
		ranges = MakeRanges(PG_GETARG_ARRAYTYPE_P(1), first, &nranges);
	return ZbxhistReturnRows(fcinfo, ranges, nranges,
							 ZbxhistToLimit("max_rows", PG_ARGISNULL(2),
											PG_GETARG_INT32(2)));
}
