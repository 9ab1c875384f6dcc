/*-------------------------------------------------------------------------
 *
 * columns.c
 *	  Finds columns by name.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "tables/columns.h"

/*
 * ZbxhistFindAttribute returns the live column of that name, or NULL.
 */
Form_pg_attribute
ZbxhistFindAttribute(TupleDesc desc, const char *name)
{
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);

		if (!att->attisdropped && strcmp(NameStr(att->attname), name) == 0)
			return att;
	}
	return NULL;
}

/*
 * ZbxhistFindColumn returns the number of that column if it has that type, or
 * any, if that is InvalidOid; else InvalidAttrNumber.
 */
AttrNumber
ZbxhistFindColumn(TupleDesc desc, const char *name, Oid type)
{
	Form_pg_attribute att = ZbxhistFindAttribute(desc, name);

	return att != NULL && (att->atttypid == type || type == InvalidOid) ?
		att->attnum : InvalidAttrNumber;
}
