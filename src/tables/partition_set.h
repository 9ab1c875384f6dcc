/*-------------------------------------------------------------------------
 *
 * partition_set.h
 *	  A parent's partitions, cached for routing.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_PARTITION_SET_H
#define ZBXHIST_PARTITION_SET_H

#include "access/attnum.h"
#include "nodes/pg_list.h"
#include "storage/lockdefs.h"
#include "utils/relcache.h"

#include "tables/bounds.h"
#include "tables/packed_days.h"
#include "tables/policy.h"

typedef struct PartitionSet
{
	Oid			parent;			/* hash key - must be first */
	bool		is_built;		/* fields below are filled */
	bool		is_stale;		/* something has changed since */
	bool		has_policy;		/* this session stores rows: policy is filled */
	ParentPolicy policy;
	bool		knows_strays;	/* has_marks and is_verified of partitions are
								 * filled */
	bool		has_marks;		/* strays have been stored since verification */
	uint32		generation;		/* counts rebuilds */
	int			nmembers;		/* relations that are members of it, or were */
	int			natts;			/* columns of the parent */
	AttrNumber	itemid_attnum;	/* int8 column, or 0 */
	AttrNumber	clock_attnum;	/* int4 column, or 0: rows cannot be routed */
	AttrNumber	ns_attnum;		/* int4 column, or 0 */
	bool		is_exhaustive;	/* a clock's rows are in its partition, or
								 * packed if it has none, or in the parent
								 * itself, nowhere else */
	int			npartitions;
	PartitionBounds *partitions;	/* sorted by from_clock */
	int			nothers;
	Oid		   *others;			/* children that are not partitions */
	Oid			packed;			/* the foreign table that stands for packed
								 * days, or InvalidOid */
	List	   *new_columns;	/* names of those of its columns that no day
								 * has been packed with */
	List	   *renamed;		/* of RenamedColumn: those that days have
								 * under another name */
	int			npacked_days;
	PackedDay  *packed_days;	/* sorted by from_clock */
	MemoryContext context;		/* owns the arrays */
} PartitionSet;

/*
 * partition_of returns the set's partition that is relid, or NULL.
 */
static inline const PartitionBounds *
partition_of(const PartitionSet *set, Oid relid)
{
	for (int i = set->npartitions - 1; i >= 0; i--)
	{
		if (set->partitions[i].relid == relid)
			return &set->partitions[i];
	}
	return NULL;
}

/*
 * packed_day_of returns the set's packed day of which relid is the table, or NULL.
 */
static inline const PackedDay *
packed_day_of(const PartitionSet *set, Oid relid)
{
	for (int i = set->npacked_days - 1; i >= 0; i--)
	{
		if (set->packed_days[i].relid == relid)
			return &set->packed_days[i];
	}
	return NULL;
}

extern PartitionSet *ZbxhistGetPartitions(Relation parent);
extern PartitionSet *ZbxhistCatchUp(Relation parent, const ClockRange *clocks);
extern PartitionSet *ZbxhistGetPartitionSet(Relation parent);
extern const PartitionSet *ZbxhistGetStrayState(Relation parent);
extern PartitionSet *ZbxhistFindPartitions(Oid member);
extern bool ZbxhistLockIfEmpty(Oid member, LOCKMODE lockmode);
extern const char *ZbxhistPresentName(const PartitionSet *set, const char *name);
extern const PartitionBounds *ZbxhistFindPartition(const PartitionSet *set,
												   int32 clock);
extern const PackedDay *ZbxhistFindPackedDay(const PartitionSet *set,
											 int32 clock);
extern PackedDay *ZbxhistCopyPackedDays(const PartitionSet *set, int *ndays);

/* true if a set got earlier may still be used as it is */
#define ZbxhistPartitionSetIsValid(set) ((set)->is_built && !(set)->is_stale)

#endif							/* ZBXHIST_PARTITION_SET_H */
