/*-------------------------------------------------------------------------
 *
 * lookup_day.c
 *	  Looks for the keys of rows that the parent holds in packed days.
 *
 * A packed day is read with a fresh snapshot: its rows come from the parent or
 * from a partition, in transactions that lock out who inserts the same key
 * there.  While a day is being unpacked, its rows are in the day or, for newer
 * snapshots, in a partition that nobody else writes to; who finds the key
 * neither in the one nor then in the other has missed nothing.
 *
 * A day that is damaged, or that somebody has altered, must not fail an INSERT:
 * what cannot be read does not have the key.  The row stays in the parent then,
 * where maintenance finds out what it is.
 *
 * Locks: ACCESS SHARE on the day, until the transaction ends.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/table.h"
#include "catalog/pg_index.h"
#include "nodes/pg_list.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/relcache.h"

#include "catalog/partition_set.h"
#include "ingest/day_search.h"
#include "ingest/key_number.h"
#include "ingest/lookup.h"
#include "ingest/lookup_day.h"
#include "ingest/probe.h"
#include "ingest/run_keys.h"
#include "packed/day/day.h"
#include "rows/attempt.h"

/*
 * IsOnKeyColumns says whether two rows of the same itemid, clock and ns are
 * duplicates to an index.
 */
static bool
IsOnKeyColumns(Relation parent, Relation index)
{
	const PartitionSet *set = ZbxhistGetPartitions(parent);
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
		name = ZbxhistNameInDays(set,
								 NameStr(TupleDescAttr(RelationGetDescr(parent),
													   attnum - 1)->attname));
		if (strcmp(name, "itemid") != 0 && strcmp(name, "clock") != 0 &&
			strcmp(name, "ns") != 0)
			return false;
	}
	return true;
}

/*
 * ZbxhistFindKeyIndex returns the parent's unique index on what packed days are
 * looked up by, or InvalidOid.  What else may be unique keeps a table from
 * being packed, but see day_search.c.
 */
Oid
ZbxhistFindKeyIndex(Relation parent)
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
 * CountIndexes returns how many indexes a table has.
 */
static int
CountIndexes(Relation rel)
{
	List	   *indexes = RelationGetIndexList(rel);
	int			result = list_length(indexes);

	list_free(indexes);
	return result;
}

/*
 * HasKey says whether a packed day has the slot's key; *is_gone is set if there
 * is no such table any more.
 */
static bool
HasKey(Relation parent, const PackedDay *day, TupleTableSlot *slot,
	   bool *is_gone)
{
	PartitionSet *set = ZbxhistGetPartitionSet(parent);
	bool		result;
	int64		itemid;
	int32		clock;
	int64		ns;
	Relation	rel;

	if (!ZbxhistGetKeyNumber(set, set->itemid_attnum, "itemid", slot,
							 &itemid) ||
		!ZbxhistGetKeyClock(set, slot, &clock))
		return false;
	if (!ZbxhistGetKeyNumber(set, set->ns_attnum, "ns", slot, &ns))
		ns = 0;
	if (ns != (int32) ns)
		return false;
	ZbxhistLockForLookup(day->relid);
	rel = try_table_open(day->relid, NoLock);
	*is_gone = rel == NULL;
	if (*is_gone)
		return false;
	result = day->has_runs ?
		ZbxhistRunsHaveKey(parent, rel, itemid, clock, (int32) ns) :
		ZbxhistDayHasKey(rel, itemid, clock, (int32) ns);
	table_close(rel, NoLock);
	return result;
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

/* what is asked of a day, and its answer */
typedef struct DayLookup
{
	Relation	parent;
	const PackedDay *day;
	Oid			usual;			/* the index on what days are looked up by */
	TupleTableSlot *slot;
	Oid			found;			/* the index whose key the day has, or 0 */
	bool		is_gone;		/* there is no such table any more */
} DayLookup;

/*
 * LookUp finds out whether a packed day has a key of the slot's.
 */
static void
LookUp(void *arg)
{
	DayLookup  *lookup = arg;

	if (OidIsValid(lookup->usual) &&
		HasKey(lookup->parent, lookup->day, lookup->slot, &lookup->is_gone))
		lookup->found = lookup->usual;
	else if (!lookup->is_gone &&
			 CountIndexes(lookup->parent) > OidIsValid(lookup->usual))
		lookup->found = ZbxhistSearchDay(lookup->parent, lookup->day->relid,
										 lookup->slot, NULL);
}

/*
 * FindKey returns the parent's index whose key of the slot a packed day has, or
 * InvalidOid; *is_gone is set if there is no such table any more.  In an
 * attempt, which the caller makes, errors are raised; else a day that cannot be
 * read has no key.
 */
static Oid
FindKey(Relation parent, const PackedDay *day, Oid usual,
		TupleTableSlot *slot, bool is_attempt, bool *is_gone)
{
	DayLookup	lookup = {parent, day, usual, slot, InvalidOid, false};
	ErrorData  *error = NULL;

	if (is_attempt)
		LookUp(&lookup);
	else
	{
		/* what is written must not be undone if reading fails */
		ZbxhistFlushDayChanges(day->relid);
		error = ZbxhistAttempt(LookUp, &lookup);
	}
	*is_gone = lookup.is_gone;
	if (error == NULL)
		return lookup.found;
	LogUnreadable(day->relid, error);
	FreeErrorData(error);
	return InvalidOid;
}

/*
 * ZbxhistKeyInDay returns the parent's index whose key of the slot is in a
 * packed day, or in the partition that it is being unpacked to, or InvalidOid;
 * *is_gone is set if there is no such day any more.
 */
Oid
ZbxhistKeyInDay(Relation parent, const PackedDay *day,
				TupleTableSlot *slot, bool is_attempt, bool *is_gone)
{
	Oid			partition = day->partition;
	Oid			usual = ZbxhistFindKeyIndex(parent);
	Oid			result;

	*is_gone = false;
	if (CountIndexes(parent) == 0)
		return InvalidOid;
	result = FindKey(parent, day, usual, slot, is_attempt, is_gone);
	if (!OidIsValid(result) && OidIsValid(partition) &&
		partition != RelationGetRelid(parent) &&
		ZbxhistKeyInPartition(parent, partition, slot))
		result = usual;
	return result;
}

/*
 * ZbxhistCheckDayKey raises the unique violation that the parent's own index
 * would if the slot's key is in a packed day.  Returns false if there is no
 * such day any more.
 */
bool
ZbxhistCheckDayKey(Relation parent, const PackedDay *day,
				   TupleTableSlot *slot, bool is_attempt)
{
	bool		is_gone;
	Oid			found = ZbxhistKeyInDay(parent, day, slot, is_attempt,
										&is_gone);

	if (OidIsValid(found))
		ZbxhistRaiseKeyTaken(parent, found, slot);
	return !is_gone;
}
