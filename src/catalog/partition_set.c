/*-------------------------------------------------------------------------
 *
 * partition_set.c
 *	  A per-session cache of each parent's partitions.
 *
 * A set is built from pg_inherits, each child's bounds constraint and the
 * parent's rows in zbxhist.parent_config, partition_state, stray_mark and
 * packed_day.  A relcache callback on the parent or one of its partitions or
 * packed days only marks it
 * stale; ZbxhistGetPartitionSet rebuilds a stale set before it hands it out.
 * Sets live as long as the session, so a pointer to one stays good; the
 * partitions array does not outlive a rebuild.
 *
 * No lock on a partition is held by the cache.  Who uses an entry locks the
 * partition first, which takes in pending invalidations, and then looks
 * whether the set has become stale.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/dependency.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_trigger.h"
#include "catalog/pg_type.h"
#include "commands/extension.h"
#include "commands/trigger.h"
#include "utils/fmgroids.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "catalog/packed_days.h"
#include "catalog/partition_set.h"

/* which parent's set a relation is part of */
typedef struct MemberEntry
{
	Oid			relid;			/* hash key - must be first */
	Oid			parent;
} MemberEntry;

static HTAB *partition_sets = NULL;
static HTAB *members = NULL;

static void InitPartitionSets(void);
static void BuildPartitionSet(PartitionSet *set, Relation parent);
static void ReadPolicy(PartitionSet *set, Relation parent);

/*
 * ZbxhistHasRouteTrigger says whether a table has a trigger of our trigger's
 * name, by which a parent is known without a look into any catalog.
 */
bool
ZbxhistHasRouteTrigger(Relation rel)
{
	const TriggerDesc *triggers = rel->trigdesc;

	for (int i = 0; triggers != NULL && i < triggers->numtriggers; i++)
	{
		if (strcmp(triggers->triggers[i].tgname, ZBXHIST_ROUTE_TRIGGER) == 0)
			return true;
	}
	return false;
}

/*
 * ZbxhistGetPartitions returns the up-to-date set of a parent that the caller
 * has locked, with all that tells where rows are.  Must be called in a
 * transaction.
 */
PartitionSet *
ZbxhistGetPartitions(Relation parent)
{
	Oid			relid = RelationGetRelid(parent);
	PartitionSet *set;
	bool		found;

	if (partition_sets == NULL)
		InitPartitionSets();

	set = hash_search(partition_sets, &relid, HASH_ENTER, &found);
	if (!found)
	{
		memset(set, 0, sizeof(*set));
		set->parent = relid;
	}
	if (!ZbxhistPartitionSetIsValid(set))
		BuildPartitionSet(set, parent);
	return set;
}

/*
 * ZbxhistGetPartitionSet returns the same with the policy, which those need
 * who store rows.
 */
PartitionSet *
ZbxhistGetPartitionSet(Relation parent)
{
	PartitionSet *set = ZbxhistGetPartitions(parent);

	if (!set->has_policy)
		ReadPolicy(set, parent);
	return set;
}

/*
 * ZbxhistFindPartitions returns the set that a relation is part of, NULL if
 * none is known that is up to date.
 */
PartitionSet *
ZbxhistFindPartitions(Oid member)
{
	MemberEntry *entry = members == NULL ? NULL :
		hash_search(members, &member, HASH_FIND, NULL);
	PartitionSet *set = entry == NULL ? NULL :
		hash_search(partition_sets, &entry->parent, HASH_FIND, NULL);

	return set != NULL && ZbxhistPartitionSetIsValid(set) ? set : NULL;
}

/*
 * FindBounds returns the element of a sorted array that holds clock, or NULL.
 */
static const PartitionBounds *
FindBounds(const PartitionBounds *bounds, int nbounds, int32 clock)
{
	int			low = 0;
	int			high = nbounds;

	/* find the first one that begins after clock */
	while (low < high)
	{
		int			middle = low + (high - low) / 2;

		if (bounds[middle].from_clock > clock)
			high = middle;
		else
			low = middle + 1;
	}
	if (low == 0 || bounds[low - 1].to_clock <= clock)
		return NULL;
	return &bounds[low - 1];
}

/*
 * ZbxhistFindPartition returns the partition that holds clock, or NULL.
 */
const PartitionBounds *
ZbxhistFindPartition(const PartitionSet *set, int32 clock)
{
	return FindBounds(set->partitions, set->npartitions, clock);
}

/*
 * ZbxhistFindPackedDay returns the packed day that holds clock, or NULL.
 */
const PartitionBounds *
ZbxhistFindPackedDay(const PartitionSet *set, int32 clock)
{
	return FindBounds(set->packed_days, set->npacked_days, clock);
}

/*
 * MarkStale is the relcache callback: it may come at any time, so it only
 * flags.  InvalidOid means every relation.
 */
static void
MarkStale(Datum arg, Oid relid)
{
	MemberEntry *member;
	PartitionSet *set;

	if (relid != InvalidOid)
	{
		member = hash_search(members, &relid, HASH_FIND, NULL);
		if (member == NULL)
			return;
		set = hash_search(partition_sets, &member->parent, HASH_FIND, NULL);
		if (set != NULL)
			set->is_stale = true;
	}
	else
	{
		HASH_SEQ_STATUS status;

		hash_seq_init(&status, partition_sets);
		while ((set = hash_seq_search(&status)) != NULL)
			set->is_stale = true;
	}
}

/*
 * InitPartitionSets makes the empty cache and registers the callback, once
 * in a session.
 */
static void
InitPartitionSets(void)
{
	HASHCTL		ctl = {0};

	ctl.keysize = sizeof(Oid);
	ctl.hcxt = CacheMemoryContext;

	ctl.entrysize = sizeof(MemberEntry);
	members = hash_create("zbxhist relation to parent", 64, &ctl,
						  HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	ctl.entrysize = sizeof(PartitionSet);
	partition_sets = hash_create("zbxhist partition sets", 16, &ctl,
								 HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	CacheRegisterRelcacheCallback(MarkStale, (Datum) 0);
}

/*
 * AddMember makes invalidations of relid reach the parent's set.
 */
static void
AddMember(Oid relid, Oid parent)
{
	MemberEntry *member = hash_search(members, &relid, HASH_ENTER, NULL);

	member->parent = parent;
}

/*
 * compare_bounds orders partitions by the beginning of their range.
 */
static int
compare_bounds(const void *a, const void *b)
{
	const PartitionBounds *left = a;
	const PartitionBounds *right = b;

	if (left->from_clock != right->from_clock)
		return left->from_clock < right->from_clock ? -1 : 1;
	return left->relid < right->relid ? -1 : left->relid > right->relid;
}

/*
 * IsPlainTable says whether a child is there and a table like others: a
 * temporary one is some session's own business.
 */
static bool
IsPlainTable(Oid relid)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	bool		result;

	if (!HeapTupleIsValid(tuple))
		return false;
	result =
		((Form_pg_class) GETSTRUCT(tuple))->relkind == RELKIND_RELATION &&
		((Form_pg_class) GETSTRUCT(tuple))->relpersistence != RELPERSISTENCE_TEMP;
	ReleaseSysCache(tuple);
	return result;
}

/*
 * ZbxhistReadPartitions returns the partitions of parent as the catalogs say
 * now, sorted by clock, in an array palloc'd in the current context.
 */
PartitionBounds *
ZbxhistReadPartitions(Oid parent, int *npartitions)
{
	List	   *children = find_inheritance_children(parent, NoLock);
	PartitionBounds *partitions =
		palloc(sizeof(PartitionBounds) * Max(list_length(children), 1));
	ListCell   *lc;
	int			n = 0;

	foreach(lc, children)
	{
		Oid			relid = lfirst_oid(lc);

		if (IsPlainTable(relid) && ZbxhistReadBounds(relid, &partitions[n]))
			n++;
	}
	qsort(partitions, n, sizeof(PartitionBounds), compare_bounds);
	*npartitions = n;
	return partitions;
}

/*
 * ZbxhistOpenOwnTable opens one of the extension's tables, or returns NULL if
 * it is not there (the extension is being created, dropped or restored, or was
 * dropped while we waited for the lock).  A table of that name that somebody
 * else has made is not ours.
 */
Relation
ZbxhistOpenOwnTable(const char *name, LOCKMODE mode)
{
	Oid			namespace = get_namespace_oid("zbxhist", true);
	Oid			relid = OidIsValid(namespace) ?
		get_relname_relid(name, namespace) : InvalidOid;
	Oid			extension = OidIsValid(relid) ?
		getExtensionOfObject(RelationRelationId, relid) : InvalidOid;

	if (!OidIsValid(extension) ||
		extension != get_extension_oid("zbxhist", true))
		return NULL;
	return try_table_open(relid, mode);
}

/*
 * BeginOwnScan begins a scan of one of the extension's tables for the rows of
 * parent, with a fresh snapshot.
 */
static SysScanDesc
BeginOwnScan(Relation rel, Oid parent)
{
	ScanKeyData key;

	ScanKeyInit(&key, get_attnum(RelationGetRelid(rel), "parent"),
				BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(parent));
	return systable_beginscan(rel, InvalidOid, false, NULL, 1, &key);
}

/*
 * GetOwnColumn returns a column of a row of one of the extension's tables.
 */
static Datum
GetOwnColumn(Relation rel, HeapTuple tuple, const char *name, bool *isnull)
{
	return heap_getattr(tuple, get_attnum(RelationGetRelid(rel), name),
						RelationGetDescr(rel), isnull);
}

/*
 * ReadRoutingFlag says whether the policy lets rows leave the parent: false
 * only while undo brings them back.  A parent without a policy row routes, so
 * that the order in which a dump is restored does not matter.
 */
static bool
ReadRoutingFlag(Oid parent)
{
	Relation	config = ZbxhistOpenOwnTable("parent_config", AccessShareLock);
	SysScanDesc scan;
	HeapTuple	tuple;
	bool		result = true;

	if (config == NULL)
		return true;
	scan = BeginOwnScan(config, parent);
	tuple = systable_getnext(scan);
	if (HeapTupleIsValid(tuple))
	{
		bool		isnull;
		Datum		value = GetOwnColumn(config, tuple, "routing", &isnull);

		result = isnull || DatumGetBool(value);
	}
	systable_endscan(scan);
	table_close(config, AccessShareLock);
	return result;
}

/*
 * HasStrayMarks says whether strays have been stored since verification.
 */
static bool
HasStrayMarks(Oid parent)
{
	Relation	marks = ZbxhistOpenOwnTable("stray_mark", AccessShareLock);
	SysScanDesc scan;
	bool		result;

	if (marks == NULL)
		return true;
	scan = BeginOwnScan(marks, parent);
	result = HeapTupleIsValid(systable_getnext(scan));
	systable_endscan(scan);
	table_close(marks, AccessShareLock);
	return result;
}

/*
 * GetTriggerVersion returns the transaction that last changed the routing
 * trigger, or an invalid one if that of logical replication is not in place.
 */
static TransactionId
GetTriggerVersion(Relation parent)
{
	Relation	catalog;
	ScanKeyData keys[2];
	SysScanDesc scan;
	HeapTuple	tuple;
	TransactionId result = InvalidTransactionId;
	bool		has_replica = false;

	for (int i = 0; parent->trigdesc && i < parent->trigdesc->numtriggers; i++)
	{
		const Trigger *trigger = &parent->trigdesc->triggers[i];

		has_replica |= strcmp(trigger->tgname, ZBXHIST_REPLICA_TRIGGER) == 0 &&
			trigger->tgenabled == TRIGGER_FIRES_ON_REPLICA;
	}
	if (!has_replica)
		return InvalidTransactionId;

	catalog = table_open(TriggerRelationId, AccessShareLock);
	ScanKeyInit(&keys[0], Anum_pg_trigger_tgrelid, BTEqualStrategyNumber,
				F_OIDEQ, ObjectIdGetDatum(RelationGetRelid(parent)));
	ScanKeyInit(&keys[1], Anum_pg_trigger_tgname, BTEqualStrategyNumber,
				F_NAMEEQ, CStringGetDatum(ZBXHIST_ROUTE_TRIGGER));
	scan = systable_beginscan(catalog, TriggerRelidNameIndexId, true, NULL, 2,
							  keys);
	if (HeapTupleIsValid(tuple = systable_getnext(scan)))
		result = HeapTupleHeaderGetRawXmin(tuple->t_data);
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
	return result;
}

/*
 * MarkVerified marks the partition relid of a set as verified.
 */
static void
MarkVerified(PartitionSet *set, Oid relid)
{
	for (int i = 0; i < set->npartitions; i++)
	{
		if (set->partitions[i].relid != relid)
			continue;
		set->partitions[i].is_verified = true;
		set->is_verified = true;
	}
}

/*
 * ReadVerified marks the partitions that maintenance has found to have no rows
 * in the parent, as long as that is sure to be so still, see stray.c.
 */
static void
ReadVerified(PartitionSet *set, Relation parent)
{
	TransactionId version = GetTriggerVersion(parent);
	Relation	state;
	SysScanDesc scan;
	HeapTuple	tuple;

	set->is_verified = false;
	set->has_marks = HasStrayMarks(set->parent);
	if (!TransactionIdIsValid(version) || set->has_marks ||
		(state = ZbxhistOpenOwnTable("partition_state", AccessShareLock)) == NULL)
		return;
	scan = BeginOwnScan(state, set->parent);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		bool		isnull;
		Datum		seen = GetOwnColumn(state, tuple, "verified", &isnull);

		if (!isnull &&
			TransactionIdEquals(DatumGetTransactionId(seen), version))
			MarkVerified(set, DatumGetObjectId(GetOwnColumn(state, tuple,
															"partition",
															&isnull)));
	}
	systable_endscan(scan);
	table_close(state, AccessShareLock);
}

/*
 * ZbxhistPartitionIsSettled says whether maintenance has found that all
 * transactions have ended that ran when a partition of parent was new.
 */
bool
ZbxhistPartitionIsSettled(Oid parent, Oid partition)
{
	Relation	state = ZbxhistOpenOwnTable("partition_state", AccessShareLock);
	SysScanDesc scan;
	HeapTuple	tuple;
	bool		result = false;

	if (state == NULL)
		return false;
	scan = BeginOwnScan(state, parent);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		bool		isnull;
		Datum		relid = GetOwnColumn(state, tuple, "partition", &isnull);

		if (DatumGetObjectId(relid) != partition)
			continue;
		(void) GetOwnColumn(state, tuple, "settling", &isnull);
		result = isnull;
		break;
	}
	systable_endscan(scan);
	table_close(state, AccessShareLock);
	return result;
}

/*
 * find_column returns the number of a live column of that name and type, or
 * 0, in which case routing leaves the table alone.
 */
static AttrNumber
find_column(Relation rel, const char *name, Oid type)
{
	AttrNumber	attnum = get_attnum(RelationGetRelid(rel), name);

	if (attnum <= 0 ||
		TupleDescAttr(RelationGetDescr(rel), attnum - 1)->atttypid != type)
		return InvalidAttrNumber;
	return attnum;
}

/*
 * FreePartitions lets go of what an earlier build left.  Its members stay
 * known: one that is missing now comes back when its DROP is rolled back.
 */
static void
FreePartitions(PartitionSet *set)
{
	set->is_built = false;
	set->npartitions = 0;
	set->nothers = 0;
	set->npacked_days = 0;
	set->packed = InvalidOid;
	set->new_columns = NIL;
	set->renamed = NIL;
	if (set->context != NULL)
		MemoryContextReset(set->context);
	else
		set->context = AllocSetContextCreate(CacheMemoryContext,
											 "zbxhist partition set",
											 ALLOCSET_SMALL_SIZES);
}

/*
 * IsPartition says whether relid is among the set's partitions.
 */
static bool
IsPartition(const PartitionSet *set, Oid relid)
{
	for (int i = 0; i < set->npartitions; i++)
	{
		if (set->partitions[i].relid == relid)
			return true;
	}
	return false;
}

/*
 * CopyBounds copies an array into the set's context and makes its tables
 * members.
 */
static PartitionBounds *
CopyBounds(PartitionSet *set, const PartitionBounds *bounds, int nbounds)
{
	Size		size = sizeof(PartitionBounds) * nbounds;
	PartitionBounds *copy = MemoryContextAlloc(set->context, Max(size, 1));

	memcpy(copy, bounds, size);
	for (int i = 0; i < nbounds; i++)
		AddMember(bounds[i].relid, set->parent);
	return copy;
}

/*
 * MayTakeRows says whether rows may be sent to a partition as far as a packed
 * day is concerned: not before those of the day have arrived there, if it is
 * being unpacked to the partition, and not at all if it has the same clocks
 * otherwise, for nobody would look for their keys in the day.
 */
static bool
MayTakeRows(const PartitionBounds *partition, const PartitionBounds *day)
{
	if (day->partition == partition->relid)
		return day->is_unpacked;
	return day->from_clock >= partition->to_clock ||
		day->to_clock <= partition->from_clock;
}

/*
 * RemoveUnready takes the partitions out that are no place for new rows.
 */
static int
RemoveUnready(const PartitionSet *set, PartitionBounds *partitions,
			  int npartitions)
{
	int			n = 0;

	for (int i = 0; i < npartitions; i++)
	{
		bool		is_ready = true;

		for (int j = 0; j < set->npacked_days && is_ready; j++)
			is_ready = MayTakeRows(&partitions[i], &set->packed_days[j]);
		if (is_ready)
			partitions[n++] = partitions[i];
	}
	return n;
}

/*
 * RemoveOverlapping takes those of the sorted partitions out that overlap one
 * before them: what belongs to both is sent to the first.
 */
static int
RemoveOverlapping(PartitionBounds *partitions, int npartitions)
{
	int			n = 0;

	for (int i = 0; i < npartitions; i++)
	{
		if (n == 0 || partitions[i].from_clock >= partitions[n - 1].to_clock)
			partitions[n++] = partitions[i];
	}
	return n;
}

/*
 * AddChildren sorts the children of the parent that are not partitions: the
 * foreign table of packed days, and others, which are never routed to, but may
 * have rows.
 */
static void
AddChildren(PartitionSet *set)
{
	List	   *children = find_inheritance_children(set->parent, NoLock);
	ListCell   *lc;

	if (list_length(children) == set->npartitions)
		return;
	set->others = MemoryContextAlloc(set->context,
									 sizeof(Oid) * list_length(children));
	foreach(lc, children)
	{
		Oid			relid = lfirst_oid(lc);

		if (IsPartition(set, relid))
			continue;
		AddMember(relid, set->parent);
		if (!OidIsValid(set->packed) && ZbxhistIsPackedTable(relid))
			set->packed = relid;
		else
			set->others[set->nothers++] = relid;
	}
}

/*
 * HasChildren says whether a table has children.  Unlike has_subclass(), it
 * does not mind that the table may have been dropped since it was listed.
 */
static bool
HasChildren(Oid relid)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	bool		result;

	if (!HeapTupleIsValid(tuple))
		return false;
	result = ((Form_pg_class) GETSTRUCT(tuple))->relhassubclass;
	ReleaseSysCache(tuple);
	return result;
}

/*
 * IsExhaustive says whether the parent has no other children, and its
 * partitions and packed days have no children themselves and do not overlap.
 */
static bool
IsExhaustive(const PartitionSet *set)
{
	if (set->nothers > 0)
		return false;
	for (int i = 0; i < set->npartitions; i++)
	{
		const PartitionBounds *partition = &set->partitions[i];

		if (HasChildren(partition->relid) ||
			(i > 0 && partition->from_clock < partition[-1].to_clock))
			return false;
	}
	for (int i = 0; i < set->npacked_days; i++)
	{
		/* older snapshots see the rows of an unpacked day where they were */
		if (OidIsValid(set->packed_days[i].partition))
			return false;
	}
	return true;
}

/*
 * ReadPackedColumns notes which columns packed days do not have, whatever the
 * names of theirs, and which they have under another name.
 */
static void
ReadPackedColumns(PartitionSet *set)
{
	MemoryContext old;

	if (!OidIsValid(set->packed) || set->npacked_days == 0)
		return;
	old = MemoryContextSwitchTo(set->context);
	ZbxhistReadPackedColumns(set->packed, &set->new_columns, &set->renamed);
	MemoryContextSwitchTo(old);
}

/*
 * ReadChildren fills in partitions, packed days and others.
 */
static void
ReadChildren(PartitionSet *set)
{
	PartitionBounds *bounds;
	int			nbounds;

	bounds = ZbxhistReadPackedDays(set->parent, &nbounds);
	set->packed_days = CopyBounds(set, bounds, nbounds);
	set->npacked_days = nbounds;
	pfree(bounds);

	bounds = ZbxhistReadPartitions(set->parent, &nbounds);
	nbounds = RemoveUnready(set, bounds, nbounds);
	nbounds = RemoveOverlapping(bounds, nbounds);
	set->partitions = CopyBounds(set, bounds, nbounds);
	set->npartitions = nbounds;
	pfree(bounds);

	AddChildren(set);
	ReadPackedColumns(set);
	set->is_exhaustive = IsExhaustive(set);
}

/*
 * BuildPartitionSet fills a set from the catalogs.  is_stale is cleared
 * before anything is read, so that a change that comes in meanwhile makes
 * the next user build again.
 */
static void
BuildPartitionSet(PartitionSet *set, Relation parent)
{
	FreePartitions(set);
	set->is_stale = false;
	AddMember(set->parent, set->parent);

	set->itemid_attnum = find_column(parent, "itemid", INT8OID);
	set->clock_attnum = find_column(parent, "clock", INT4OID);
	set->ns_attnum = find_column(parent, "ns", INT4OID);
	ReadChildren(set);
	if (set->has_policy)
		ReadPolicy(set, parent);
	set->generation++;
	set->is_built = true;
}

/*
 * ReadPolicy fills in what only counts when rows are stored.  It is in tables
 * of the extension, which a session that only reads does not have to open.
 */
static void
ReadPolicy(PartitionSet *set, Relation parent)
{
	set->is_routing = ReadRoutingFlag(set->parent);
	ReadVerified(set, parent);
	set->has_policy = true;
}
