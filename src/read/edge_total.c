/*-------------------------------------------------------------------------
 *
 * edge_total.c
 *	  The first or the last value of a group.
 *
 * Of (array_agg(value ORDER BY clock, ns))[1], or with DESC, no more of the array
 * is made than the element that is asked for.  As in the array, it may be null.
 *
 * Memory: numerics of a total are in the context that its caller names.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/array.h"
#include "utils/lsyscache.h"

#include "read/numbers.h"
#include "read/total.h"

/*
 * ZbxhistEdgeTime returns a part of a row's time, of which null is the greatest.
 */
int64
ZbxhistEdgeTime(int32 time, bool isnull)
{
	return isnull ? PG_INT64_MAX : time;
}

/*
 * ZbxhistSetEdgeValue sets the value of a row, which is not copied.
 */
void
ZbxhistSetEdgeValue(EdgeTotal *edge, Datum value, bool isnull, Oid type)
{
	bool		is_numeric = type == NUMERICOID && !isnull;

	edge->isnull = isnull;
	edge->value = is_numeric ? (Datum) 0 : value;
	edge->number = is_numeric ? DatumGetNumeric(value) : NULL;
}

/*
 * IsBeyond says whether a row comes before the first or after the last one of a total.
 */
static bool
IsBeyond(TotalKind kind, const EdgeTotal *edge, const EdgeTotal *other)
{
	if (edge->clock == other->clock)
		return kind == TOTAL_FIRST ? edge->ns < other->ns :
			edge->ns > other->ns;
	return kind == TOTAL_FIRST ? edge->clock < other->clock :
		edge->clock > other->clock;
}

/*
 * ZbxhistAddEdge adds the first or the last of count rows.
 */
void
ZbxhistAddEdge(Total *total, TotalKind kind, const EdgeTotal *edge, int64 count,
			   MemoryContext owner)
{
	EdgeTotal  *e = &total->u.e;
	Numeric		number = e->number;
	bool		is_first = total->count == 0;

	total->count += count;
	if (!is_first && !IsBeyond(kind, edge, e))
		return;
	*e = *edge;
	e->number = number;
	if (edge->number != NULL)
		ZbxhistReplaceNumber(&e->number, NumericGetDatum(edge->number), owner);
}

/*
 * ZbxhistEdgeArray returns an array of the value, in the current context.
 */
Datum
ZbxhistEdgeArray(const EdgeTotal *edge, Oid type)
{
	Datum		value = type == NUMERICOID ? NumericGetDatum(edge->number) :
		edge->value;
	bool		isnull = edge->isnull;
	int			one = 1;
	int16		typlen;
	bool		typbyval;
	char		typalign;

	get_typlenbyvalalign(type, &typlen, &typbyval, &typalign);
	return PointerGetDatum(construct_md_array(&value, &isnull, 1, &one, &one,
											  type, typlen, typbyval, typalign));
}
