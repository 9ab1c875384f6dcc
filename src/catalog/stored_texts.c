/*-------------------------------------------------------------------------
 *
 * stored_texts.c
 *	  Reads rows of a table of Zabbix's, as its items or hosts, by their key,
 *	  and all its keys.
 *
 * Without a query, for the reasons in stored_setting.c: the table is locked,
 * looked at and read here, by a plain index on its key.
 *
 * Locks: ACCESS SHARE on table and index until the transaction ends.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/tableam.h"
#include "catalog/pg_am.h"
#include "catalog/pg_opfamily.h"
#include "catalog/pg_type.h"
#include "executor/tuptable.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/tuplestore.h"

#include "catalog/stored_table.h"
#include "compat.h"

PG_FUNCTION_INFO_V1(zbxhist_stored_texts);
PG_FUNCTION_INFO_V1(zbxhist_stored_keys);

/* the table and what is asked of it */
typedef struct TextSource
{
	Relation	rel;
	Relation	index;			/* on the key; NULL: there is none */
	AttrNumber *columns;
	int			ncolumns;
} TextSource;

/*
 * FindKeyIndex opens a unique index on nothing but that column, of type bigint;
 * returns NULL if there is none.
 */
static Relation
FindKeyIndex(Relation rel, AttrNumber key)
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
	if (source->rel == NULL || !ZbxhistIsReadableTable(source->rel))
		return false;
	attnum = get_attnum(relid, key);
	if (!ZbxhistIsReadableColumn(source->rel, attnum))
		return false;
	source->index = FindKeyIndex(source->rel, attnum);
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
		if (!ZbxhistIsReadableColumn(source->rel, source->columns[i]))
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
		char	   *text = ZbxhistGetStoredText(slot, source->columns[i]);

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
