/*-------------------------------------------------------------------------
 *
 * stored_setting.c
 *	  Reads a setting of Zabbix from the table that holds it.
 *
 * A query on somebody's table may run his code: a cast of a column's type, a
 * policy, a view in the table's place, or a function in an index's expression
 * that the planner evaluates beforehand.  And between the look at the catalogs
 * and the query he may alter the table.  So the table is locked, looked at and
 * scanned here, and only values of built-in types are taken.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/relation.h"
#include "access/table.h"
#include "access/tableam.h"
#include "catalog/objectaddress.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "executor/tuptable.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/rls.h"
#include "utils/snapmgr.h"

#include "catalog/stored_table.h"
#include "compat.h"

PG_FUNCTION_INFO_V1(zbxhist_stored_setting);

/*
 * ZbxhistIsReadableColumn says whether a column is stored, of one of the types that
 * Zabbix has for settings and names, and open to the user.
 */
bool
ZbxhistIsReadableColumn(Relation rel, AttrNumber attnum)
{
	Form_pg_attribute att;

	if (attnum <= 0)
		return false;
	att = TupleDescAttr(RelationGetDescr(rel), attnum - 1);
	return (att->atttypid == INT4OID || att->atttypid == INT8OID ||
			att->atttypid == TEXTOID || att->atttypid == VARCHAROID) &&
		att->attgenerated == '\0' &&
		(pg_class_aclcheck(RelationGetRelid(rel), GetUserId(),
						   ACL_SELECT) == ACLCHECK_OK ||
		 pg_attribute_aclcheck(RelationGetRelid(rel), attnum, GetUserId(),
							   ACL_SELECT) == ACLCHECK_OK);
}

/*
 * ZbxhistIsReadableTable says whether all rows of a table are open to the user.
 */
bool
ZbxhistIsReadableTable(Relation rel)
{
	return rel->rd_rel->relkind == RELKIND_RELATION &&
		rel->rd_rel->relpersistence != RELPERSISTENCE_TEMP &&
		may_use_schema(RelationGetNamespace(rel)) &&
		check_enable_rls(RelationGetRelid(rel), InvalidOid, true) != RLS_ENABLED;
}

/*
 * ZbxhistGetStoredText returns a column's value as text, palloc'd, or NULL.
 */
char *
ZbxhistGetStoredText(TupleTableSlot *slot, AttrNumber attnum)
{
	Oid			type = TupleDescAttr(slot->tts_tupleDescriptor, attnum - 1)->atttypid;
	bool		isnull;
	Datum		value = slot_getattr(slot, attnum, &isnull);

	if (isnull)
		return NULL;
	if (type == INT4OID)
		return psprintf("%d", DatumGetInt32(value));
	if (type == INT8OID)
		return psprintf(INT64_FORMAT, DatumGetInt64(value));
	return TextDatumGetCString(value);
}

/*
 * FindValue returns the value of the first row, or of the first whose key is
 * that one, or NULL.
 */
static char *
FindValue(Relation rel, AttrNumber value, AttrNumber key, const char *wanted)
{
	TableScanDesc scan = table_beginscan_compat(rel, GetActiveSnapshot());
	TupleTableSlot *slot = table_slot_create(rel, NULL);
	char	   *result = NULL;

	while (table_scan_getnextslot(scan, ForwardScanDirection, slot))
	{
		CHECK_FOR_INTERRUPTS();
		if (wanted != NULL)
		{
			const char *found = ZbxhistGetStoredText(slot, key);

			if (found == NULL || strcmp(found, wanted) != 0)
				continue;
		}
		result = ZbxhistGetStoredText(slot, value);
		break;
	}
	ExecDropSingleTupleTableSlot(slot);
	table_endscan(scan);
	return result;
}

/*
 * zbxhist_stored_setting(relation, value_column, key_column, key) returns what
 * stands in a column of the first row of a table, or of the first with that
 * key, as text; null if nothing does or the user may not read it.
 */
Datum
zbxhist_stored_setting(PG_FUNCTION_ARGS)
{
	Relation	rel;
	AttrNumber	value;
	AttrNumber	key = InvalidAttrNumber;
	bool		has_key = !PG_ARGISNULL(2) && !PG_ARGISNULL(3);
	char	   *result = NULL;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1) ||
		(rel = try_relation_open(PG_GETARG_OID(0), AccessShareLock)) == NULL)
		PG_RETURN_NULL();
	value = get_attnum(RelationGetRelid(rel), NameStr(*PG_GETARG_NAME(1)));
	if (has_key)
		key = get_attnum(RelationGetRelid(rel), NameStr(*PG_GETARG_NAME(2)));
	if (ZbxhistIsReadableTable(rel) && ZbxhistIsReadableColumn(rel, value) &&
		(!has_key || ZbxhistIsReadableColumn(rel, key)))
		result = FindValue(rel, value, key,
						   has_key ? text_to_cstring(PG_GETARG_TEXT_PP(3)) : NULL);
	relation_close(rel, AccessShareLock);
	if (result == NULL)
		PG_RETURN_NULL();
	PG_RETURN_TEXT_P(cstring_to_text(result));
}
