/*-------------------------------------------------------------------------
 *
 * row_type.c
 *	  Whether rows of one table fit another one.
 *
 * A partition has the columns that it inherits from the parent, in any order, and those
 * that somebody has given to it alone.  PostgreSQL keeps types and names of the inherited
 * ones equal.  The parent's rows have no value for a column that only the partition has,
 * so they do not fit such a partition.
 *
 * Locks: the caller's, on both tables.  Maps are allocated in the current
 * context.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/datum.h"

#include "tables/columns.h"
#include "tables/row_type.h"

/*
 * ZbxhistRowsFit says whether rows of source have a value for each column of target.
 */
bool
ZbxhistRowsFit(TupleDesc source, TupleDesc target)
{
	for (int i = 0; i < target->natts; i++)
	{
		Form_pg_attribute column = TupleDescAttr(target, i);

		if (!column->attisdropped &&
			ZbxhistFindColumn(source, NameStr(column->attname), InvalidOid) == InvalidAttrNumber)
			return false;
	}
	return true;
}

/*
 * SamePlace says whether a target's column, mapped to attnum of source, is at the same
 * place in source; of a dropped column, whether source has one of the same length there.
 */
static bool
SamePlace(TupleDesc source, Form_pg_attribute column, AttrNumber attnum)
{
	Form_pg_attribute other;

	if (!column->attisdropped)
		return attnum == column->attnum;
	if (column->attnum > source->natts)
		return false;
	other = TupleDescAttr(source, column->attnum - 1);
	return other->attisdropped && other->attlen == column->attlen &&
		other->attalign == column->attalign;
}

/*
 * ZbxhistMapColumns returns a map by name from source to target, or NULL if
 * the columns are the same.  A column that source lacks becomes NULL.
 */
AttrMap *
ZbxhistMapColumns(TupleDesc source, TupleDesc target)
{
	AttrMap    *map = make_attrmap(target->natts);
	bool		is_same = source->natts == target->natts;

	for (int i = 0; i < target->natts; i++)
	{
		Form_pg_attribute column = TupleDescAttr(target, i);

		if (!column->attisdropped)
			map->attnums[i] = ZbxhistFindColumn(source, NameStr(column->attname), InvalidOid);
		if (!SamePlace(source, column, map->attnums[i]))
			is_same = false;
	}
	if (!is_same)
		return map;
	free_attrmap(map);
	return NULL;
}

/*
 * ZbxhistSameValues says whether two rows of the same columns have the same values.
 */
bool
ZbxhistSameValues(TupleTableSlot *a, TupleTableSlot *b)
{
	TupleDesc	desc = a->tts_tupleDescriptor;

	slot_getallattrs(a);
	slot_getallattrs(b);
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);

		if (att->attisdropped)
			continue;
		if (a->tts_isnull[i] != b->tts_isnull[i] ||
			(!a->tts_isnull[i] &&
			 !datum_image_eq(a->tts_values[i], b->tts_values[i],
							 att->attbyval, att->attlen)))
			return false;
	}
	return true;
}
