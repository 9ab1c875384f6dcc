/*-------------------------------------------------------------------------
 *
 * day_search.c
 *	  Looks for keys of other columns in packed days.
 *
 * Only tables with keys on itemid, clock and ns are packed, for which there is
 * a quick answer (lookup_day.c).  Somebody may give a parent another key when
 * days are packed already.  If itemid and clock are among its columns, rows of
 * that item and second are read from the day and compared, and those of the usual
 * keys, too, where it matters what a snapshot sees.  Other keys are not looked for.
 *
 * Locks: ACCESS SHARE on the day, until the transaction ends.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/table.h"
#include "catalog/index.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "ingest/day_search.h"
#include "ingest/key_match.h"
#include "ingest/key_number.h"
#include "ingest/lookup.h"
#include "packed/day/open_days.h"

/*
 * HasColumn says whether a key is on the parent's column that days have as
 * name.
 */
static bool
HasColumn(Relation parent, const PartitionSet *set, const IndexInfo *info,
		  const char *name)
{
	for (int i = 0; i < info->ii_NumIndexKeyAttrs; i++)
	{
		AttrNumber	attnum = info->ii_IndexAttrNumbers[i];

		if (attnum > 0 &&
			strcmp(ZbxhistNameInDays(set,
									 NameStr(TupleDescAttr(RelationGetDescr(parent),
														   attnum - 1)->attname)),
				   name) == 0)
			return true;
	}
	return false;
}

/*
 * IsSearchable says whether a key can be looked for here and, unless the usual
 * ones are wanted as well, cannot in the usual way.
 */
static bool
IsSearchable(Relation parent, const PartitionSet *set, const TableKey *key,
			 bool with_usual)
{
	const IndexInfo *info = key->info;
	int			nusual = HasColumn(parent, set, info, "itemid") +
		HasColumn(parent, set, info, "clock") +
		HasColumn(parent, set, info, "ns");

	return key->is_immediate && info->ii_Expressions == NIL &&
		info->ii_Predicate == NIL &&
		(with_usual || info->ii_NumIndexKeyAttrs > nusual) &&
		HasColumn(parent, set, info, "itemid") &&
		HasColumn(parent, set, info, "clock");
}

/*
 * IsSame says whether two rows of the parent have the same key.
 */
static bool
IsSame(const TableKey *key, TupleTableSlot *left, TupleTableSlot *right)
{
	for (int i = 0; i < key->info->ii_NumIndexKeyAttrs; i++)
	{
		AttrNumber	attnum = key->info->ii_IndexAttrNumbers[i];
		bool		left_isnull;
		bool		right_isnull;
		Datum		left_value = slot_getattr(left, attnum, &left_isnull);
		Datum		right_value = slot_getattr(right, attnum, &right_isnull);

		if (left_isnull || right_isnull)
		{
			if (left_isnull != right_isnull ||
				!key->info->ii_NullsNotDistinct)
				return false;
		}
		else if (!DatumGetBool(OidFunctionCall2Coll(key->info->ii_UniqueProcs[i],
													key->collations[i],
													left_value, right_value)))
			return false;
	}
	return true;
}

/*
 * HasRow says whether the rows of a range of the day include one with the
 * slot's key that the snapshot sees, or one of now if that is NULL.
 */
static bool
HasRow(Relation parent, Relation day, const TableKey *key,
	   const ItemRange *range, TupleTableSlot *slot, Snapshot seen_by)
{
	Snapshot	snapshot = RegisterSnapshot(seen_by != NULL ? seen_by :
											GetLatestSnapshot());
	ItemSource *source = ZbxhistOpenPackedSource(parent, snapshot, NoLock,
												 NoLock);
	bool		result = false;

	ZbxhistEnterOpenDay(ZbxhistSourceDays(source), day);
	source->methods->start(source, range);
	while (!result && source->methods->next(source))
		result = IsSame(key, slot, source->slot);
	source->methods->close(source);
	UnregisterSnapshot(snapshot);
	return result;
}

/*
 * MakeRange makes the range of a row's item and second; returns false if it
 * has none that a day could have.
 */
static bool
MakeRange(const PartitionSet *set, TupleTableSlot *slot, ItemRange *range)
{
	int64		itemid;
	int32		clock;

	if (!ZbxhistGetKeyNumber(set, set->itemid_attnum, "itemid", slot,
							 &itemid) ||
		!ZbxhistGetKeyClock(set, slot, &clock))
		return false;
	ZbxhistWholeItem(range, itemid);
	ZbxhistStartAt(range, make_position(clock, PG_INT32_MIN));
	ZbxhistEndAt(range, make_position(clock, PG_INT32_MAX));
	return true;
}

/*
 * ZbxhistSearchDay returns the parent's index whose key of the slot is in a
 * packed day, or InvalidOid.  With a snapshot, which must be registered or active,
 * what that sees is looked for, by the usual keys as well.
 */
Oid
ZbxhistSearchDay(Relation parent, Oid day, TupleTableSlot *slot,
				 Snapshot snapshot)
{
	const PartitionSet *set = ZbxhistGetPartitions(parent);
	ItemRange	range;
	ListCell   *lc;

	foreach(lc, ZbxhistReadKeys(parent, true))
	{
		TableKey   *key = lfirst(lc);
		Relation	index;
		Relation	rel;

		if (!IsSearchable(parent, set, key, snapshot != NULL) ||
			!MakeRange(set, slot, &range))
			continue;
		ZbxhistLockForLookup(day);
		rel = try_table_open(day, NoLock);
		if (rel == NULL)
			continue;
		index = index_open(key->index, AccessShareLock);
		BuildSpeculativeIndexInfo(index, key->info);
		index_close(index, AccessShareLock);
		/* takes over the reference */
		if (HasRow(parent, rel, key, &range, slot, snapshot))
			return key->index;
	}
	return InvalidOid;
}
