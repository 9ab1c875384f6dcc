/*-------------------------------------------------------------------------
 *
 * lookup.c
 *	  Looks for the keys of rows that the parent holds where else they may
 *	  be: in a partition that could not be written to, or in a packed day.
 *
 * The row is stored in the parent before its key is looked for, see probe.c.
 * What a partition that is being packed holds does not change meanwhile, so it
 * may be looked at in whatever way it is locked; when it is gone, its rows are
 * in a packed day, and the caller finds out by a new partition set.  So it does
 * when a packed day is gone: another one may have been written in its place.
 *
 * A packed day is read with a fresh snapshot: its rows come from the parent or
 * from a partition, in transactions that lock out who inserts the same key
 * there.  While a day is being unpacked, its rows are in the day or, for newer
 * snapshots, in a partition that nobody else writes to; who finds the key
 * neither in the one nor then in the other has missed nothing.
 *
 * Locks: ACCESS SHARE on what is looked at, until the transaction ends.  Who
 * locks us out is passed over, but for packing, which is soon over itself.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/table.h"
#include "access/transam.h"
#include "access/xact.h"
#include "catalog/index.h"
#include "catalog/pg_index.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "nodes/pg_list.h"
#include "storage/lmgr.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/resowner.h"

#include "catalog/partition_set.h"
#include "ingest/lookup.h"
#include "ingest/probe.h"
#include "maintenance/packing.h"
#include "packed/day.h"

/* a lock that is held for a moment only, as by VACUUM, is waited for */
#define LOCK_TRIES 5
#define LOCK_PAUSE_US 1000

/*
 * LockForLookup locks a table so that keys can be looked up in it; returns
 * false if somebody locks us out.  Who only keeps writers out, such as CREATE
 * INDEX, is not in the way; REINDEX is waited for when the indexes are opened,
 * as any insert into a plain table would.
 */
static bool
LockForLookup(Oid relid)
{
	int			tries = 0;

	while (!ConditionalLockRelationOid(relid, AccessShareLock))
	{
		CHECK_FOR_INTERRUPTS();
		if (!ZbxhistIsBeingPacked(relid) && ++tries >= LOCK_TRIES)
			return false;
		pg_usleep(LOCK_PAUSE_US);
	}
	return true;
}

/*
 * ZbxhistCheckPartitionKeys raises 23505 if a key is in a partition, which is
 * passed over if it is locked away from us.  Returns false if there is no such
 * table any more.
 */
bool
ZbxhistCheckPartitionKeys(Relation parent, Oid partition,
						  TupleTableSlot **slots, int nslots)
{
	Relation	rel;

	if (!LockForLookup(partition))
		return true;
	rel = try_table_open(partition, NoLock);
	if (rel == NULL)
		return false;
	ZbxhistRaiseDuplicates(rel, RelationGetDescr(parent), slots, nslots);
	table_close(rel, NoLock);
	return true;
}

/*
 * KeyInTable says whether some unique index of rel has the slot's key.
 */
static bool
KeyInTable(Relation parent, Relation rel, TupleTableSlot *slot)
{
	KeyProbe   *probe = ZbxhistOpenProbe(rel, RelationGetDescr(parent));
	ItemPointerData found;
	bool		result = ZbxhistProbeKey(probe, slot, false, &found);

	ZbxhistCloseProbe(probe);
	return result;
}

/*
 * ZbxhistKeyInPartition says whether the slot's key is in a partition, waiting
 * for another transaction that is about to insert it.
 */
bool
ZbxhistKeyInPartition(Relation parent, Oid partition, TupleTableSlot *slot)
{
	Relation	rel = try_table_open(partition, AccessShareLock);
	bool		result;

	if (rel == NULL)
		return false;
	result = KeyInTable(parent, rel, slot);
	table_close(rel, NoLock);
	return result;
}

/*
 * IsOnKeyColumns says whether two rows of the same itemid, clock and ns are
 * duplicates to an index.
 */
static bool
IsOnKeyColumns(Relation parent, Relation index)
{
	Form_pg_index form = index->rd_index;

	if (!form->indisunique || !form->indisready ||
		RelationGetIndexPredicate(index) != NIL)
		return false;
	for (int i = 0; i < form->indnkeyatts; i++)
	{
		AttrNumber	attnum = form->indkey.values[i];
		const char *name;

		if (attnum <= 0)
			return false;
		name = NameStr(TupleDescAttr(RelationGetDescr(parent),
									 attnum - 1)->attname);
		if (strcmp(name, "itemid") != 0 && strcmp(name, "clock") != 0 &&
			strcmp(name, "ns") != 0)
			return false;
	}
	return true;
}

/*
 * FindKeyIndex returns the parent's unique index on what packed days are
 * looked up by, or InvalidOid.  What else may be unique keeps a table from
 * being packed.
 */
static Oid
FindKeyIndex(Relation parent)
{
	List	   *indexes = RelationGetIndexList(parent);
	Oid			result = InvalidOid;
	ListCell   *lc;

	foreach(lc, indexes)
	{
		Relation	index = index_open(lfirst_oid(lc), AccessShareLock);

		if (IsOnKeyColumns(parent, index))
			result = RelationGetRelid(index);
		index_close(index, NoLock);
		if (OidIsValid(result))
			break;
	}
	list_free(indexes);
	return result;
}

/*
 * GetKeyColumn takes a column's value as a number between min and max, of
 * whatever type somebody has given to the column since days were packed: known
 * is the column if that is the usual one.  Returns false if there is no such
 * number.
 */
static bool
GetKeyColumn(TupleTableSlot *slot, AttrNumber known, Oid parent,
			 const char *name, int64 *value)
{
	AttrNumber	attnum = known;
	bool		isnull;
	Datum		datum;
	Oid			type;
	Oid			output;
	bool		is_varlena;
	char	   *text;
	char	   *end;

	if (attnum == InvalidAttrNumber)
		attnum = get_attnum(parent, name);
	if (attnum == InvalidAttrNumber)
		return false;
	datum = slot_getattr(slot, attnum, &isnull);
	type = getBaseType(TupleDescAttr(slot->tts_tupleDescriptor,
									 attnum - 1)->atttypid);
	if (isnull || type >= FirstUnpinnedObjectId)
		return false;
	if (type == INT4OID || type == INT8OID)
	{
		*value = type == INT4OID ? DatumGetInt32(datum) : DatumGetInt64(datum);
		return true;
	}
	getTypeOutputInfo(type, &output, &is_varlena);
	text = OidOutputFunctionCall(output, datum);
	errno = 0;
	*value = strtoi64(text, &end, 10);
	return errno == 0 && end > text && *end == '\0';
}

/*
 * HasKey says whether a packed day has the slot's key; *is_gone is set if there
 * is no such table any more.
 */
static bool
HasKey(Relation parent, Oid day, TupleTableSlot *slot, bool *is_gone)
{
	PartitionSet *set = ZbxhistGetPartitionSet(parent);
	Oid			relid = RelationGetRelid(parent);
	bool		result;
	int64		itemid;
	int64		clock;
	int64		ns;
	Relation	rel;

	*is_gone = false;
	if (!GetKeyColumn(slot, set->itemid_attnum, relid, "itemid", &itemid) ||
		!GetKeyColumn(slot, set->clock_attnum, relid, "clock", &clock))
		return false;
	if (!GetKeyColumn(slot, set->ns_attnum, relid, "ns", &ns))
		ns = 0;
	if (clock != (int32) clock || ns != (int32) ns || !LockForLookup(day))
		return false;
	rel = try_table_open(day, NoLock);
	*is_gone = rel == NULL;
	if (*is_gone)
		return false;
	result = ZbxhistDayHasKey(rel, itemid, (int32) clock, (int32) ns);
	table_close(rel, NoLock);
	return result;
}

/*
 * IsFaultOfDay says whether an error is about what was read, not about the
 * session or the server.
 */
static bool
IsFaultOfDay(int sqlstate)
{
	switch (ERRCODE_TO_CATEGORY(sqlstate))
	{
		case ERRCODE_TRANSACTION_ROLLBACK:
		case ERRCODE_INSUFFICIENT_RESOURCES:
		case ERRCODE_OPERATOR_INTERVENTION:
			return false;
		default:
			return sqlstate != ERRCODE_LOCK_NOT_AVAILABLE;
	}
}

/*
 * LogUnreadable says in the server's log, once for each day, why keys cannot
 * be looked up in it.
 */
static void
LogUnreadable(Oid day, const ErrorData *error)
{
	static Oid	last_day = InvalidOid;

	if (day == last_day)
		return;
	last_day = day;
	ereport(LOG,
			errcode(error->sqlerrcode),
			errmsg("could not look for keys in packed day \"%s\": %s",
				   get_rel_name(day), error->message),
			errdetail("New rows of that time are stored all the same."));
}

/*
 * HasKeyIfReadable does so in a subtransaction: a day that is damaged, or that
 * somebody has altered, must not fail an INSERT.  The row stays in the parent
 * then, where maintenance finds out what it is.
 */
static bool
HasKeyIfReadable(Relation parent, Oid day, TupleTableSlot *slot, bool *is_gone)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	volatile bool result = false;

	/* what is written must not be part of the subtransaction */
	ZbxhistFlushDayChanges(day);
	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(context);
	PG_TRY();
	{
		result = HasKey(parent, day, slot, is_gone);
		ReleaseCurrentSubTransaction();
	}
	PG_CATCH();
	{
		ErrorData  *error;

		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
		MemoryContextSwitchTo(context);
		CurrentResourceOwner = owner;
		if (!IsFaultOfDay(error->sqlerrcode))
			ReThrowError(error);
		LogUnreadable(day, error);
		FreeErrorData(error);
	}
	PG_END_TRY();
	MemoryContextSwitchTo(context);
	CurrentResourceOwner = owner;
	return result;
}

/*
 * ZbxhistKeyInDay says whether the slot's key is in a packed day, or in the
 * partition that it is being unpacked to; *is_gone is set if there is no such
 * day any more.
 */
bool
ZbxhistKeyInDay(Relation parent, const PartitionBounds *day,
				TupleTableSlot *slot, bool *is_gone)
{
	Oid			partition = day->partition;

	*is_gone = false;
	if (!OidIsValid(FindKeyIndex(parent)))
		return false;
	return HasKeyIfReadable(parent, day->relid, slot, is_gone) ||
		(OidIsValid(partition) &&
		 ZbxhistKeyInPartition(parent, partition, slot));
}

/*
 * ZbxhistCheckDayKey raises the unique violation that the parent's own index
 * would if the slot's key is in a packed day.  Returns false if there is no
 * such day any more.
 */
bool
ZbxhistCheckDayKey(Relation parent, const PartitionBounds *day,
				   TupleTableSlot *slot)
{
	Relation	index;
	IndexInfo  *info;
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];
	char	   *key;
	bool		is_gone;

	if (!ZbxhistKeyInDay(parent, day, slot, &is_gone))
		return !is_gone;
	index = index_open(FindKeyIndex(parent), AccessShareLock);
	info = BuildIndexInfo(index);
	for (int i = 0; i < info->ii_NumIndexAttrs; i++)
		values[i] = slot_getattr(slot, info->ii_IndexAttrNumbers[i],
								 &isnull[i]);
	key = BuildIndexValueDescription(index, values, isnull);
	ereport(ERROR,
			errcode(ERRCODE_UNIQUE_VIOLATION),
			errmsg("duplicate key value violates unique constraint \"%s\"",
				   RelationGetRelationName(index)),
			key ? errdetail("Key %s already exists.", key) : 0,
			errtableconstraint(parent, RelationGetRelationName(index)));
	return true;				/* keep compiler quiet */
}
