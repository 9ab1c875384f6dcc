/*-------------------------------------------------------------------------
 *
 * key_number.c
 *	  Values of key columns as the numbers by which packed days store them.
 *
 * A parent's columns itemid, clock and ns may be renamed, or get another type, when days
 * are packed already.  The days keep their numbers.  The values of a new row in these
 * columns are converted to such numbers where that is possible.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/transam.h"
#include "fmgr.h"
#include "utils/lsyscache.h"

#include "ingest/key_number.h"
#include "read_integer.h"
#include "tables/packed_days.h"

/*
 * ZbxhistNameInDays returns the name that packed days have for the parent's
 * column of that name.
 */
const char *
ZbxhistNameInDays(const PartitionSet *set, const char *name)
{
	ListCell   *lc;

	foreach(lc, set->renamed)
	{
		RenamedColumn *column = lfirst(lc);

		if (strcmp(NameStr(column->name), name) == 0)
			return NameStr(column->packed);
	}
	return name;
}

/*
 * FindDayColumn returns the number of the column that days have as name, or 0.  The rows
 * of a batch that is reused may have the names from before a column was renamed.
 */
static AttrNumber
FindDayColumn(const PartitionSet *set, const char *name, TupleDesc desc)
{
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);

		if (!att->attisdropped &&
			strcmp(ZbxhistNameInDays(set, NameStr(att->attname)), name) == 0)
			return att->attnum;
	}
	return InvalidAttrNumber;
}

/*
 * ParseNumber converts a value of any built-in type to a number; returns false if that is
 * not possible.
 */
static bool
ParseNumber(Datum datum, Oid type, int64 *value)
{
	Oid			output;
	bool		is_varlena;
	char	   *text;
	char	   *end;

	getTypeOutputInfo(type, &output, &is_varlena);
	text = OidOutputFunctionCall(output, datum);
	errno = 0;
	*value = strtoi64(text, &end, 10);
	return errno == 0 && end > text && *end == '\0';
}

/*
 * ZbxhistGetKeyNumber reads from a row of the parent the column that packed days have as
 * name. known is its number if its name and type have not changed.  Returns false if the
 * value is not a number.
 */
bool
ZbxhistGetKeyNumber(const PartitionSet *set, AttrNumber known,
					const char *name, TupleTableSlot *slot, int64 *value)
{
	AttrNumber	attnum = known != InvalidAttrNumber ? known :
		FindDayColumn(set, name, slot->tts_tupleDescriptor);
	bool		isnull;
	Datum		datum;
	Oid			type;

	if (attnum == InvalidAttrNumber)
		return false;
	datum = slot_getattr(slot, attnum, &isnull);
	type = getBaseType(TupleDescAttr(slot->tts_tupleDescriptor,
									 attnum - 1)->atttypid);
	if (isnull || type >= FirstUnpinnedObjectId)
		return false;
	return read_integer(type, datum, value) || ParseNumber(datum, type, value);
}

/*
 * ZbxhistGetKeyClock reads a row's clock; returns false if no packed day could have it.
 */
bool
ZbxhistGetKeyClock(const PartitionSet *set, TupleTableSlot *slot,
				   int32 *clock)
{
	int64		value;

	if (!ZbxhistGetKeyNumber(set, set->clock_attnum, "clock", slot, &value))
		return false;
	*clock = (int32) value;
	return value == *clock;
}
