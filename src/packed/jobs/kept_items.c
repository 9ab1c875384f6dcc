/*-------------------------------------------------------------------------
 *
 * kept_items.c
 *	  The items whose rows are written when a day is packed or written anew.
 *
 * Values of items that Zabbix has deleted may be left out then.  No items at
 * all are taken for all of them: an empty list is more likely a mistake than
 * a Zabbix without items.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/array.h"

#include "packed/jobs/kept_items.h"

/*
 * ZbxhistGetKeptItems takes the items of an argument, a sorted array.
 */
void
ZbxhistGetKeptItems(FunctionCallInfo fcinfo, int argument, KeptItems *kept)
{
	ArrayType  *array;

	memset(kept, 0, sizeof(*kept));
	array = PG_GETARG_ARRAYTYPE_P(argument);
	if (ARR_HASNULL(array) || ARR_NDIM(array) > 1 ||
		ARR_ELEMTYPE(array) != INT8OID)
		ereport(ERROR,
				errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("items must be an array of bigint without nulls"));
	if (ARR_NDIM(array) == 0)
		return;
	kept->items = (const int64 *) ARR_DATA_PTR(array);
	kept->nitems = ARR_DIMS(array)[0];
	for (int i = 1; i < kept->nitems; i++)
	{
		if (kept->items[i - 1] >= kept->items[i])
			ereport(ERROR,
					errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					errmsg("items must be sorted"));
	}
}

/*
 * ZbxhistKeepsRows says whether an item's rows, of which there are nrows now,
 * are to be written; otherwise counts them.  Items come in their order.
 */
bool
ZbxhistKeepsRows(KeptItems *kept, int64 itemid, uint64 nrows)
{
	if (kept->nitems == 0)
		return true;
	while (kept->next < kept->nitems && kept->items[kept->next] < itemid)
		kept->next++;
	if (kept->next < kept->nitems && kept->items[kept->next] == itemid)
		return true;
	kept->nleft_out += nrows;
	return false;
}
