/*-------------------------------------------------------------------------
 *
 * partition_set.c
 *	  A per-session cache of each parent's partitions.
 *
 * A set is built from pg_inherits, each child's bounds constraint and the parent's rows
 * in zbxhist.parent_config, partition_state, stray_mark and packed_day.  A relcache
 * callback on the parent or one of its partitions or packed days only marks it stale;
 * ZbxhistGetPartitionSet then rebuilds it.  Sets live as long as the session, so a
 * pointer to one stays valid; the array of partitions does not survive a rebuild.  The
 * map from relations to sets forgets a relation some time after it was dropped: there may
 * be hundreds a day.
 *
 * The cache holds no locks on partitions.  A session that uses an entry locks the
 * partition first, which processes pending invalidations, and then checks whether the set
 * has become stale.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "storage/lmgr.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "binary_search.h"
#include "compat.h"
#include "tables/columns.h"
#include "tables/packed_days.h"
#include "tables/partition_set.h"
#include "tables/policy.h"

/* which parent's set a relation is part of */
typedef struct MemberEntry
{
	Oid			relid;			/* hash key - must be first */
	Oid			parent;
	uint32		generation;		/* the set's generation when it was last a
								 * member */
	SMgrRelation file;			/* its file, kept open since then */
} MemberEntry;

static HTAB *partition_sets = NULL;
static HTAB *members = NULL;

/* this transaction has built a set with members to be forgotten */
static bool forget_at_commit = false;
static bool forgot_statistics = false;	/* of these members, since then */

static void InitPartitionSets(void);
static void ForgetAtCommit(XactEvent event, void *arg);
static void BuildPartitionSet(PartitionSet *set, Relation parent);

/*
 * ZbxhistGetPartitions returns the up-to-date set of a parent that the caller has locked:
 * partitions, packed days and other children.  Must be called in a transaction.
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
 * ZbxhistCatchUp returns the set with the days of all partitions that had been packed
 * before the planner listed the children of the parent.  The planner sees committed
 * changes, while invalidations arrive a moment later.  So each partition of the clocks
 * that this session has not locked is locked for a moment: then it exists, or the set
 * changes.  Each is locked once, whatever invalidates the set meanwhile.
 */
PartitionSet *
ZbxhistCatchUp(Relation parent, const ClockRange *clocks)
{
	List	   *known = NIL;
	PartitionSet *set;
	bool		is_new;

	AcceptInvalidationMessages();
	do
	{
		set = ZbxhistGetPartitions(parent);
		is_new = false;
		for (int i = 0; i < set->npartitions; i++)
		{
			Oid			relid = set->partitions[i].relid;

			if (!clocks_overlap(&set->partitions[i], clocks) ||
				list_member_oid(known, relid) || is_locked_by_me(relid))
				continue;
			LockRelationOid(relid, AccessShareLock);
			UnlockRelationOid(relid, AccessShareLock);
			known = lappend_oid(known, relid);
			is_new = true;
			if (!ZbxhistPartitionSetIsValid(set))
				break;
		}
	} while (is_new && !ZbxhistPartitionSetIsValid(set));
	list_free(known);
	return set;
}

/*
 * ZbxhistGetPartitionSet returns the set with the policy, which sessions that
 * store rows need.
 */
PartitionSet *
ZbxhistGetPartitionSet(Relation parent)
{
	PartitionSet *set = ZbxhistGetPartitions(parent);

	if (!set->has_policy)
		ZbxhistReadPolicy(set->parent, &set->policy);
	set->has_policy = true;
	return set;
}

/*
 * ZbxhistGetStrayState returns the set with what is known about strays, which only
 * sessions that store rows need.
 */
const PartitionSet *
ZbxhistGetStrayState(Relation parent)
{
	PartitionSet *set = ZbxhistGetPartitions(parent);
	List	   *verified;

	if (set->knows_strays)
		return set;
	set->has_marks = ZbxhistHasStrayMarks(set->parent);
	verified = set->has_marks ? NIL : ZbxhistReadVerified(parent);
	for (int i = 0; i < set->npartitions; i++)
		set->partitions[i].is_verified =
			list_member_oid(verified, set->partitions[i].relid);
	list_free(verified);
	set->knows_strays = true;
	return set;
}

/*
 * FindSetMember returns what is known of a relation, or NULL.
 */
static MemberEntry *
FindSetMember(Oid relid)
{
	return members == NULL ? NULL :
		hash_search(members, &relid, HASH_FIND, NULL);
}

/*
 * ZbxhistFindPartitions returns the set that a relation is part of; NULL if it is not
 * known, or the set is stale.
 */
PartitionSet *
ZbxhistFindPartitions(Oid member)
{
	MemberEntry *entry = FindSetMember(member);
	PartitionSet *set = entry == NULL ? NULL :
		hash_search(partition_sets, &entry->parent, HASH_FIND, NULL);

	return set != NULL && ZbxhistPartitionSetIsValid(set) ? set : NULL;
}

/*
 * ZbxhistLockIfEmpty locks a member of a set and says whether it has no rows for any
 * snapshot, see lock_if_empty.  It saves opening the files of future hours in each query,
 * which would take longer than the query.
 */
bool
ZbxhistLockIfEmpty(Oid member, LOCKMODE lockmode)
{
	MemberEntry *entry = FindSetMember(member);

	return lock_if_empty(member, lockmode, entry == NULL ? NULL : &entry->file);
}

/*
 * ZbxhistFindPartition returns the partition that holds clock, or NULL.
 */
const PartitionBounds *
ZbxhistFindPartition(const PartitionSet *set, int32 clock)
{
	int			i;

	/* the first one that begins after clock */
	find_first(i, set->npartitions, set->partitions[i].from_clock > clock);
	return i > 0 && clock < set->partitions[i - 1].to_clock ?
		&set->partitions[i - 1] : NULL;
}

/*
 * ZbxhistFindPackedDay returns the packed day that holds clock, or NULL.
 */
const PackedDay *
ZbxhistFindPackedDay(const PartitionSet *set, int32 clock)
{
	int			i;

	/* the first one that begins after clock */
	find_first(i, set->npacked_days, set->packed_days[i].from_clock > clock);
	return i > 0 && clock < set->packed_days[i - 1].to_clock ?
		&set->packed_days[i - 1] : NULL;
}

/*
 * ZbxhistCopyPackedDays returns a copy of the set's packed days in the current context.
 * (The set may change when a day is locked.)
 */
PackedDay *
ZbxhistCopyPackedDays(const PartitionSet *set, int *ndays)
{
	PackedDay  *days = palloc(sizeof(PackedDay) * Max(set->npacked_days, 1));

	*ndays = set->npacked_days;
	memcpy(days, set->packed_days, sizeof(PackedDay) * set->npacked_days);
	return days;
}

/*
 * MarkStale is the relcache callback.  It may be called at any time, so it
 * only sets flags.  InvalidOid means every relation.
 */
static void
MarkStale(Datum arg, Oid relid)
{
	MemberEntry *member;
	PartitionSet *set;

	if (relid != InvalidOid)
	{
		member = FindSetMember(relid);
		set = member == NULL ? NULL :
			hash_search(partition_sets, &member->parent, HASH_FIND, NULL);
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
	RegisterXactCallback(ForgetAtCommit, NULL);
}

/*
 * AddSetMember makes invalidations of relid reach a set.
 */
static void
AddSetMember(PartitionSet *set, Oid relid)
{
	bool		found;
	MemberEntry *member = hash_search(members, &relid, HASH_ENTER, &found);

	if (!found)
		member->file = NULL;
	if (!found || member->parent != set->parent)
		set->nmembers++;
	member->parent = set->parent;
	member->generation = set->generation;
}

/*
 * HasDropped says whether most members of a set are stale: no longer part of it.
 */
static bool
HasDropped(const PartitionSet *set)
{
	int			nlive = set->npartitions + set->npacked_days + set->nothers;

	return set->nmembers >= 2 * nlive + 64;
}

/*
 * IsDropped says whether a member belongs to a set and is stale: it was not found when
 * the set was last built.
 */
static bool
IsDropped(const PartitionSet *set, const MemberEntry *member)
{
	return member->parent == set->parent &&
		member->generation != set->generation;
}

/*
 * ForgetStatisticsOf removes from the catalog cache the negative entries for column
 * statistics of the members to be forgotten.  PostgreSQL keeps these for each table that
 * it has planned a query for, and DROP TABLE does not invalidate them, because there is
 * no row.  If one was removed too early, it is made again.
 */
static void
ForgetStatisticsOf(PartitionSet *set)
{
	HASH_SEQ_STATUS status;
	MemberEntry *member;

	hash_seq_init(&status, members);
	while ((member = hash_seq_search(&status)) != NULL)
	{
		if (!IsDropped(set, member))
			continue;
		for (int attnum = 1; attnum <= set->natts; attnum++)
			SysCacheInvalidate(STATRELATTINH,
							   GetSysCacheHashValue3(STATRELATTINH,
													 ObjectIdGetDatum(member->relid),
													 Int16GetDatum(attnum),
													 BoolGetDatum(false)));
	}
}

/*
 * ForgetDropped removes the stale members of a set.  A member comes back if its DROP is
 * rolled back, so it must not be called for a set that this transaction may have changed.
 */
static void
ForgetDropped(PartitionSet *set)
{
	HASH_SEQ_STATUS status;
	MemberEntry *member;

	set->nmembers = 0;
	hash_seq_init(&status, members);
	while ((member = hash_seq_search(&status)) != NULL)
	{
		if (IsDropped(set, member))
		{
			keep_file_open(&member->file, NULL);
			(void) hash_search(members, &member->relid, HASH_REMOVE, NULL);
		}
		else if (member->parent == set->parent)
			set->nmembers++;
	}
}

/*
 * ForgetOfAll calls a function for the sets that have members to be forgotten.
 */
static void
ForgetOfAll(void (*forget) (PartitionSet *set))
{
	HASH_SEQ_STATUS status;
	PartitionSet *set;

	hash_seq_init(&status, partition_sets);
	while ((set = hash_seq_search(&status)) != NULL)
	{
		if (HasDropped(set))
			forget(set);
	}
}

/*
 * ForgetAtCommit forgets members at the end of a transaction that has changed something,
 * as all of maintenance's do.  What needs a transaction comes first; the members are
 * forgotten when no error may be raised any more.
 */
static void
ForgetAtCommit(XactEvent event, void *arg)
{
	if (event == XACT_EVENT_PRE_COMMIT && forget_at_commit)
	{
		ForgetOfAll(ForgetStatisticsOf);
		forgot_statistics = true;
	}
	if (event == XACT_EVENT_COMMIT && forgot_statistics)
		ForgetOfAll(ForgetDropped);
	if (event == XACT_EVENT_COMMIT || event == XACT_EVENT_ABORT ||
		event == XACT_EVENT_PREPARE)
		forget_at_commit = forgot_statistics = false;
}

/*
 * CopyToSet copies an array of so many bytes into the set's context.
 */
static void *
CopyToSet(PartitionSet *set, const void *array, Size size)
{
	return memcpy(MemoryContextAlloc(set->context, Max(size, 1)), array, size);
}

/*
 * IsExhaustive says whether the parent has no other children, and its partitions do not
 * overlap packed days.
 */
static bool
IsExhaustive(const PartitionSet *set)
{
	if (set->nothers > 0)
		return false;
	for (int i = 0; i < set->npacked_days; i++)
	{
		/* older snapshots see the rows of an unpacked day in the day */
		if (OidIsValid(set->packed_days[i].partition))
			return false;
	}
	return true;
}

/*
 * TakePartitions adds to the set those of the given partitions that take rows.  One that
 * overlaps a partition before it takes none: rows of both go to the first.  Nor does a
 * partition that overlaps a packed day: its rows' keys would not be looked for in the day.
 * A partition to which a day is being unpacked takes rows when those of the day have
 * arrived.
 */
static void
TakePartitions(PartitionSet *set, PartitionBounds *partitions, int npartitions)
{
	int			n = 0;

	for (int i = 0; i < npartitions; i++)
	{
		bool		is_ready = n == 0 ||
			partitions[i].from_clock >= partitions[n - 1].to_clock;

		for (int j = 0; j < set->npacked_days && is_ready; j++)
		{
			const PackedDay *day = &set->packed_days[j];

			is_ready = day->partition == partitions[i].relid ?
				day->is_unpacked : !clocks_overlap(day, &partitions[i]);
		}
		if (!is_ready)
			continue;
		partitions[n++] = partitions[i];
		AddSetMember(set, partitions[i].relid);
	}
	set->partitions = CopyToSet(set, partitions, sizeof(PartitionBounds) * n);
	set->npartitions = n;
}

/*
 * ReadChildren fills in the packed days, the partitions, the foreign table of packed days
 * with its new and renamed columns, and the other children, which get no rows but may
 * have some: also those that somebody has made of partitions or of packed days.
 *
 * Partitions are listed first: if one is packed meanwhile, either it or its day is found.
 */
static void
ReadChildren(PartitionSet *set)
{
	List	   *children;
	List	   *others = NIL;
	ListCell   *lc;
	int			npartitions;
	int			n;
	PartitionBounds *partitions = ZbxhistReadPartitions(set->parent,
														&npartitions);
	PackedDay  *days = ZbxhistReadPackedDays(set->parent, &n);
	MemoryContext old;

	set->packed_days = CopyToSet(set, days, sizeof(PackedDay) * n);
	set->npacked_days = n;
	for (int i = 0; i < n; i++)
		AddSetMember(set, days[i].relid);
	pfree(days);
	TakePartitions(set, partitions, npartitions);
	pfree(partitions);

	children = find_inheritance_children(set->parent, NoLock);
	foreach(lc, children)
	{
		Oid			relid = lfirst_oid(lc);

		/* has_subclass() needs a table that has not been dropped meanwhile */
		if (get_rel_relkind(relid) != '\0' && has_subclass(relid))
			children = list_concat_unique_oid(children,
											  find_inheritance_children(relid, NoLock));
		if (partition_of(set, relid) != NULL)
			continue;
		AddSetMember(set, relid);
		if (!OidIsValid(set->packed) && ZbxhistIsPackedTable(relid))
			set->packed = relid;
		else
			others = lappend_oid(others, relid);
	}
	set->others = MemoryContextAlloc(set->context,
									 sizeof(Oid) * Max(list_length(others), 1));
	foreach(lc, others)
		set->others[set->nothers++] = lfirst_oid(lc);
	if (OidIsValid(set->packed) && set->npacked_days > 0)
	{
		old = MemoryContextSwitchTo(set->context);
		ZbxhistReadPackedColumns(set->packed, &set->new_columns, &set->renamed);
		MemoryContextSwitchTo(old);
	}
	set->is_exhaustive = IsExhaustive(set);
}

/*
 * ZbxhistPresentName returns the present name of the column that was packed as name; NULL
 * if a column of that name is another one.
 */
const char *
ZbxhistPresentName(const PartitionSet *set, const char *name)
{
	bool		is_other = is_new_column(set->new_columns, name);
	ListCell   *lc;

	foreach(lc, set->renamed)
	{
		const RenamedColumn *column = lfirst(lc);

		if (strcmp(NameStr(column->packed), name) == 0)
			return NameStr(column->name);
		is_other |= strcmp(NameStr(column->name), name) == 0;
	}
	return is_other ? NULL : name;
}

/*
 * FindKey returns the parent's column of that name and type, or 0.  An event trigger
 * refuses that another one than the packed one gets the name, but it does not fire in
 * every session.
 */
static AttrNumber
FindKey(const PartitionSet *set, TupleDesc desc, const char *name, Oid type)
{
	const char *present = ZbxhistPresentName(set, name);

	return present != NULL && strcmp(present, name) == 0 ?
		ZbxhistFindColumn(desc, name, type) : InvalidAttrNumber;
}

/*
 * BuildPartitionSet fills a set from the catalogs. is_stale is cleared before anything is
 * read, so after a change in the meantime the next user builds the set again.
 */
static void
BuildPartitionSet(PartitionSet *set, Relation parent)
{
	TupleDesc	desc = RelationGetDescr(parent);

	/* keep the members of earlier builds for now, see ForgetDropped */
	set->is_built = false;
	set->npartitions = set->nothers = set->npacked_days = 0;
	set->packed = InvalidOid;
	set->new_columns = set->renamed = NIL;
	if (set->context != NULL)
		MemoryContextReset(set->context);
	else
		set->context = AllocSetContextCreate(CacheMemoryContext,
											 "zbxhist partition set",
											 ALLOCSET_SMALL_SIZES);
	set->is_stale = false;
	set->generation++;
	AddSetMember(set, set->parent);

	set->natts = desc->natts;
	ReadChildren(set);
	set->itemid_attnum = FindKey(set, desc, "itemid", INT8OID);
	set->clock_attnum = FindKey(set, desc, "clock", INT4OID);
	set->ns_attnum = FindKey(set, desc, "ns", INT4OID);
	set->knows_strays = false;
	if (set->has_policy)
		ZbxhistReadPolicy(set->parent, &set->policy);
	if (HasDropped(set))
	{
		if (TransactionIdIsValid(GetTopTransactionIdIfAny()))
		{
			forget_at_commit = true;
			forgot_statistics = false;
		}
		else
		{
			ForgetStatisticsOf(set);
			ForgetDropped(set);
		}
	}
	set->is_built = true;
}
