/*-------------------------------------------------------------------------
 *
 * stored_texts.c
 *	  Reads Zabbix's tables of settings, items and hosts.
 *
 * A query on a table may run code of its owner: a cast of a column's type, a policy, a view
 * in the table's place, or a function in an index expression that the planner evaluates.
 * Checking the catalogs before the query is not enough, because the owner may alter the
 * table in between.  So the table is locked, checked and read here, and only values of
 * built-in types are accepted.
 *
 * Locks: ACCESS SHARE on the table, and on the index by which rows are found,
 * until the transaction ends.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/tableam.h"
#include "access/xact.h"
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

PG_FUNCTION_INFO_V1(zbxhist_stored_texts);

/* a table and what is asked of it */
typedef struct TextTable
{
	Relation	rel;
	AttrNumber	key;			/* 0: none is asked for */
	Relation	index;			/* unique index on the key alone; NULL: not
								 * opened */
	int			ncolumns;
	AttrNumber *columns;
} TextTable;

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
 * OpenTextTable opens a table.  Returns false if the user may not read all that is asked
 * for, or if a key is given and has no unique index.
 */
static bool
OpenTextTable(TextTable *table, Oid relid, const char *key, ArrayType *columns)
{
	Datum	   *names;

	table->rel = try_relation_open(relid, AccessShareLock);
	if (table->rel == NULL || !IsReadableTable(table->rel))
		return false;
	if (key != NULL)
	{
		table->key = get_attnum(relid, key);
		if (!IsReadableColumn(table->rel, table->key))
			return false;
		table->index = OpenIndexOfColumn(table->rel, table->key);
		if (table->index == NULL)
			return false;
	}
	deconstruct_array(columns, NAMEOID, NAMEDATALEN, false, TYPALIGN_CHAR,
					  &names, NULL, &table->ncolumns);
	table->columns = palloc(sizeof(AttrNumber) * (table->ncolumns + 1));
	for (int i = 0; i < table->ncolumns; i++)
	{
		table->columns[i] = get_attnum(relid, NameStr(*DatumGetName(names[i])));
		if (!IsReadableColumn(table->rel, table->columns[i]))
			return false;
	}
	return true;
}

/*
 * PutTexts adds what is asked of a row to the result.
 */
static void
PutTexts(ReturnSetInfo *rsinfo, const TextTable *table, TupleTableSlot *slot)
{
	Datum		values[2] = {0};
	bool		nulls[2] = {true, false};
	Datum	   *texts = palloc(sizeof(Datum) * (table->ncolumns + 1));
	bool	   *missing = palloc(sizeof(bool) * (table->ncolumns + 1));
	int			count = table->ncolumns;
	int			lower = 1;

	for (int i = 0; i < count; i++)
	{
		char	   *text = GetStoredText(slot, table->columns[i]);

		missing[i] = text == NULL;
		texts[i] = missing[i] ? (Datum) 0 : CStringGetTextDatum(text);
	}
	if (table->key != InvalidAttrNumber)
		values[0] = slot_getattr(slot, table->key, &nulls[0]);
	values[1] = PointerGetDatum(construct_md_array(texts, missing, 1, &count,
												   &lower, TEXTOID, -1, false,
												   TYPALIGN_INT));
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
}

/*
 * PutRowsOfKeys adds the rows that have one of the keys to the result.
 */
static void
PutRowsOfKeys(ReturnSetInfo *rsinfo, const TextTable *table, ArrayType *array)
{
	IndexScanDesc scan = index_beginscan_compat(table->rel, table->index,
												GetActiveSnapshot(), 1);
	TupleTableSlot *slot = table_slot_create(table->rel, NULL);
	Datum	   *keys;
	bool	   *nulls;
	int			nkeys;

	deconstruct_array(array, INT8OID, sizeof(int64), FLOAT8PASSBYVAL,
					  TYPALIGN_DOUBLE, &keys, &nulls, &nkeys);
	for (int i = 0; i < nkeys; i++)
	{
		ScanKeyData key;

		CHECK_FOR_INTERRUPTS();
		if (nulls[i])
			continue;
		ScanKeyInit(&key, 1, BTEqualStrategyNumber, F_INT8EQ, keys[i]);
		index_rescan(scan, &key, 1, NULL, 0);
		if (index_getnext_slot(scan, ForwardScanDirection, slot))
			PutTexts(rsinfo, table, slot);
	}
	ExecDropSingleTupleTableSlot(slot);
	index_endscan(scan);
}

/*
 * PutAllRows adds all rows to the result: those that are committed now, even if
 * the caller's snapshot is older.
 */
static void
PutAllRows(ReturnSetInfo *rsinfo, const TextTable *table)
{
	Snapshot	snapshot = RegisterSnapshot(IsInParallelMode() ?
											GetActiveSnapshot() : GetLatestSnapshot());
	TableScanDesc scan = table_beginscan_compat(table->rel, snapshot);
	TupleTableSlot *slot = table_slot_create(table->rel, NULL);
	MemoryContext row = AllocSetContextCreate(CurrentMemoryContext,
											  "zbxhist stored row",
											  ALLOCSET_SMALL_SIZES);
	MemoryContext old = CurrentMemoryContext;

	while (table_scan_getnextslot(scan, ForwardScanDirection, slot))
	{
		CHECK_FOR_INTERRUPTS();
		MemoryContextSwitchTo(row);
		PutTexts(rsinfo, table, slot);
		MemoryContextSwitchTo(old);
		MemoryContextReset(row);
	}
	MemoryContextDelete(row);
	ExecDropSingleTupleTableSlot(slot);
	table_endscan(scan);
	UnregisterSnapshot(snapshot);
}

/*
 * zbxhist_stored_texts(relation, key_column, keys, columns) returns the key and the
 * columns as texts: of each row that has one of the keys, or of all rows if keys is
 * null.  Returns no rows if the user may not read what is asked for.
 */
Datum
zbxhist_stored_texts(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	const char *key = PG_ARGISNULL(1) ? NULL : NameStr(*PG_GETARG_NAME(1));
	TextTable	table = {0};

	InitMaterializedSRF(fcinfo, 0);
	if (PG_ARGISNULL(0) || PG_ARGISNULL(3) || (key == NULL && !PG_ARGISNULL(2)))
		return (Datum) 0;
	if (OpenTextTable(&table, PG_GETARG_OID(0), key, PG_GETARG_ARRAYTYPE_P(3)))
	{
		if (PG_ARGISNULL(2))
			PutAllRows(rsinfo, &table);
		else
			PutRowsOfKeys(rsinfo, &table, PG_GETARG_ARRAYTYPE_P(2));
	}
	if (table.index != NULL)
		index_close(table.index, NoLock);
	if (table.rel != NULL)
		relation_close(table.rel, NoLock);
	return (Datum) 0;
}
