/*-------------------------------------------------------------------------
 *
 * stored_texts.c
 *	  Reads tables of Zabbix's beside those of values: a setting, rows by their
 *	  key, as of items or hosts, and all keys.
 *
 * A query on somebody's table may run his code: a cast of a column's type, a
 * policy, a view in the table's place, or a function in an index's expression
 * that the planner evaluates beforehand.  And between the look at the catalogs
 * and the query he may alter the table.  So the table is locked, looked at and
 * read here, by a plain index on its key where there are many rows, and only
 * values of built-in types are taken.
 *
 * Locks: ACCESS SHARE on the table, and of rows by keys on its index, until the
 * transaction ends.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/tableam.h"
#include "catalog/pg_am.h"
#include "catalog/pg_class.h"
#include "catalog/pg_opfamily.h"
#include "catalog/pg_type.h"
#include "executor/tuptable.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/rls.h"
#include "utils/snapmgr.h"
#include "utils/tuplestore.h"

#include "compat.h"
#include "read_integer.h"

PG_FUNCTION_INFO_V1(zbxhist_stored_setting);
PG_FUNCTION_INFO_V1(zbxhist_stored_texts);
PG_FUNCTION_INFO_V1(zbxhist_stored_keys);

/*
 * IsReadableColumn says whether a column is stored, of one of the types that
 * Zabbix has for settings and names, and open to the user.
 */
static bool
IsReadableColumn(Relation rel, AttrNumber attnum)
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
 * IsReadableTable says whether all rows of a table are open to the user.
 */
static bool
IsReadableTable(Relation rel)
{
	return rel->rd_rel->relkind == RELKIND_RELATION &&
		rel->rd_rel->relpersistence != RELPERSISTENCE_TEMP &&
		may_use_schema(RelationGetNamespace(rel)) &&
		check_enable_rls(RelationGetRelid(rel), InvalidOid, true) != RLS_ENABLED;
}

/*
 * GetStoredText returns a column's value as text, palloc'd, or NULL.
 */
static char *
GetStoredText(TupleTableSlot *slot, AttrNumber attnum)
{
	Oid			type = TupleDescAttr(slot->tts_tupleDescriptor, attnum - 1)->atttypid;
	bool		isnull;
	Datum		value = slot_getattr(slot, attnum, &isnull);
	int64		number;

	if (isnull)
		return NULL;
	return read_integer(type, value, &number) ?
		psprintf(INT64_FORMAT, number) : TextDatumGetCString(value);
}

/* ---- a setting ---- */

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
			const char *found = GetStoredText(slot, key);

			if (found == NULL || strcmp(found, wanted) != 0)
				continue;
		}
		result = GetStoredText(slot, value);
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
	if (IsReadableTable(rel) && IsReadableColumn(rel, value) &&
		(!has_key || IsReadableColumn(rel, key)))
		result = FindValue(rel, value, key,
						   has_key ? text_to_cstring(PG_GETARG_TEXT_PP(3)) : NULL);
	relation_close(rel, AccessShareLock);
	if (result == NULL)
		PG_RETURN_NULL();
	PG_RETURN_TEXT_P(cstring_to_text(result));
}

/* ---- tables by an index ---- */

/* the table and what is asked of it */
typedef struct TextSource
{
	Relation	rel;
	Relation	index;			/* on the key; NULL: there is none */
	AttrNumber *columns;
	int			ncolumns;
} TextSource;

/*
 * OpenIndexOfColumn opens a unique index on nothing but that column, of type bigint;
 * returns NULL if there is none.
 */
static Relation
OpenIndexOfColumn(Relation rel, AttrNumber key)
{
	List	   *indexes = RelationGetIndexList(rel);
	ListCell   *lc;

	foreach(lc, indexes)
	{
		Relation	index = index_open(lfirst_oid(lc), AccessShareLock);
		Form_pg_index form = index->rd_index;

		if (index->rd_rel->relam == BTREE_AM_OID && form->indisvalid &&
			form->indisunique && form->indnkeyatts == 1 &&
			form->indkey.values[0] == key &&
			index->rd_opcintype[0] == INT8OID &&
			index->rd_opfamily[0] == INTEGER_BTREE_FAM_OID &&
			heap_attisnull(index->rd_indextuple, Anum_pg_index_indpred, NULL))
			return index;
		index_close(index, AccessShareLock);
	}
	return NULL;
}

/*
 * OpenTextTable opens a table and an index on its key; returns false if the user may
 * not read it, or it is not what Zabbix has.
 */
static bool
OpenTextTable(TextSource *source, Oid relid, const char *key)
{
	AttrNumber	attnum;

	source->rel = try_relation_open(relid, AccessShareLock);
	if (source->rel == NULL || !IsReadableTable(source->rel))
		return false;
	attnum = get_attnum(relid, key);
	if (!IsReadableColumn(source->rel, attnum))
		return false;
	source->index = OpenIndexOfColumn(source->rel, attnum);
	return source->index != NULL;
}

/*
 * CloseTable closes what has been opened; locks stay.
 */
static void
CloseTable(const TextSource *source)
{
	if (source->index != NULL)
		index_close(source->index, NoLock);
	if (source->rel != NULL)
		relation_close(source->rel, NoLock);
}

/* ---- rows by their keys ---- */

/*
 * OpenRows opens a table; returns false if the user may not read all of it
 * that is asked for, or it is not what Zabbix has.
 */
static bool
OpenRows(TextSource *source, Oid relid, const char *key, ArrayType *columns)
{
	Datum	   *names;

	if (!OpenTextTable(source, relid, key))
		return false;
	deconstruct_array(columns, NAMEOID, NAMEDATALEN, false, TYPALIGN_CHAR,
					  &names, NULL, &source->ncolumns);
	source->columns = palloc(sizeof(AttrNumber) * (source->ncolumns + 1));
	for (int i = 0; i < source->ncolumns; i++)
	{
		source->columns[i] = get_attnum(relid, NameStr(*DatumGetName(names[i])));
		if (!IsReadableColumn(source->rel, source->columns[i]))
			return false;
	}
	return true;
}

/*
 * PutText adds what is asked of a row to the result.
 */
static void
PutText(ReturnSetInfo *rsinfo, const TextSource *source, int64 key,
		TupleTableSlot *slot)
{
	Datum		values[2];
	bool		nulls[2] = {false};
	Datum	   *texts = palloc(sizeof(Datum) * (source->ncolumns + 1));
	bool	   *missing = palloc(sizeof(bool) * (source->ncolumns + 1));
	int			count = source->ncolumns;
	int			lower = 1;

	for (int i = 0; i < source->ncolumns; i++)
	{
		char	   *text = GetStoredText(slot, source->columns[i]);

		missing[i] = text == NULL;
		texts[i] = missing[i] ? (Datum) 0 : CStringGetTextDatum(text);
	}
	values[0] = Int64GetDatum(key);
	values[1] = PointerGetDatum(construct_md_array(texts, missing, 1, &count,
												   &lower, TEXTOID, -1, false,
												   TYPALIGN_INT));
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
}

/*
 * FindRows adds the rows of all keys to the result.
 */
static void
FindRows(ReturnSetInfo *rsinfo, const TextSource *source, const Datum *keys,
		 const bool *nulls, int nkeys)
{
	IndexScanDesc scan = index_beginscan_compat(source->rel, source->index,
												GetActiveSnapshot(), 1);
	TupleTableSlot *slot = table_slot_create(source->rel, NULL);

	for (int i = 0; i < nkeys; i++)
	{
		ScanKeyData key;

		CHECK_FOR_INTERRUPTS();
		if (nulls[i])
			continue;
		ScanKeyInit(&key, 1, BTEqualStrategyNumber, F_INT8EQ, keys[i]);
		index_rescan(scan, &key, 1, NULL, 0);
		if (index_getnext_slot(scan, ForwardScanDirection, slot))
			PutText(rsinfo, source, DatumGetInt64(keys[i]), slot);
	}
	ExecDropSingleTupleTableSlot(slot);
	index_endscan(scan);
}

/*
 * zbxhist_stored_texts(relation, key_column, keys, columns) returns, of each
 * row with one of the keys, the key and the columns as texts.
 */
Datum
zbxhist_stored_texts(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	TextSource	source = {0};
	Datum	   *keys;
	bool	   *nulls;
	int			nkeys;

	InitMaterializedSRF(fcinfo, 0);
	deconstruct_array(PG_GETARG_ARRAYTYPE_P(2), INT8OID, sizeof(int64), FLOAT8PASSBYVAL,
					  TYPALIGN_DOUBLE, &keys, &nulls, &nkeys);
	if (OpenRows(&source, PG_GETARG_OID(0), NameStr(*PG_GETARG_NAME(1)),
				 PG_GETARG_ARRAYTYPE_P(3)))
		FindRows(rsinfo, &source, keys, nulls, nkeys);
	CloseTable(&source);
	return (Datum) 0;
}

/* ---- all keys ---- */

/*
 * ReadTextKeys returns the keys of all rows, sorted, as an array.  Whatever
 * snapshot the caller has, rows are those that are committed now.
 */
static ArrayType *
ReadTextKeys(const TextSource *source)
{
	Snapshot	snapshot = RegisterSnapshot(GetLatestSnapshot());
	IndexScanDesc scan = index_beginscan_compat(source->rel, source->index,
												snapshot, 0);
	TupleTableSlot *slot = table_slot_create(source->rel, NULL);
	AttrNumber	attnum = source->index->rd_index->indkey.values[0];
	ArrayBuildState *keys = initArrayResult(INT8OID, CurrentMemoryContext,
											false);

	index_rescan(scan, NULL, 0, NULL, 0);
	while (index_getnext_slot(scan, ForwardScanDirection, slot))
	{
		bool		isnull;
		Datum		key = slot_getattr(slot, attnum, &isnull);

		CHECK_FOR_INTERRUPTS();
		if (!isnull)
			accumArrayResult(keys, key, false, INT8OID, CurrentMemoryContext);
	}
	ExecDropSingleTupleTableSlot(slot);
	index_endscan(scan);
	UnregisterSnapshot(snapshot);
	return DatumGetArrayTypeP(makeArrayResult(keys, CurrentMemoryContext));
}

/*
 * zbxhist_stored_keys(relation, key_column) returns the keys of all rows, sorted;
 * null if the user may not read them, or no index has them.
 */
Datum
zbxhist_stored_keys(PG_FUNCTION_ARGS)
{
	TextSource	source = {0};
	ArrayType  *result = NULL;

	if (OpenTextTable(&source, PG_GETARG_OID(0), NameStr(*PG_GETARG_NAME(1))))
		result = ReadTextKeys(&source);
	CloseTable(&source);
	if (result == NULL)
		PG_RETURN_NULL();
	PG_RETURN_ARRAYTYPE_P(result);
}
