/*-------------------------------------------------------------------------
 *
 * groups.c
 *	  The groups of an aggregation.
 *
 * A hash table of the groups' keys, which counts the memory that it takes.  When that is
 * more than a hash table may take, the code that adds rows writes the groups to disk
 * (spilled_groups.c), or returns them, and empties the table.
 *
 * Memory: groups are in a context of the table, which is deleted with its parent context.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "miscadmin.h"
#include "utils/datum.h"
#include "utils/memutils.h"

#include "read/groups.h"

#define FIRST_BUCKETS 64

/*
 * ZbxhistGroupBytes returns how much memory a group takes, about.
 */
Size
ZbxhistGroupBytes(int nkeys, int ninputs)
{
	return offsetof(ValueGroup, totals) + sizeof(Total) * ninputs +
		(sizeof(Datum) + sizeof(bool)) * nkeys + 3 * sizeof(void *);
}

/*
 * ZbxhistEmptyGroups forgets all groups.
 */
void
ZbxhistEmptyGroups(GroupTable *table)
{
	MemoryContextReset(table->context);
	table->ngroups = 0;
	table->used = 0;
	table->nbuckets = FIRST_BUCKETS;
	table->buckets = MemoryContextAllocZero(table->context,
											sizeof(ValueGroup *) * FIRST_BUCKETS);
}

/*
 * ZbxhistInitGroups prepares a table whose keys and inputs are set, with a
 * context below the current one.
 */
void
ZbxhistInitGroups(GroupTable *table)
{
	table->context = AllocSetContextCreate(CurrentMemoryContext,
										   "zbxhist groups",
										   ALLOCSET_DEFAULT_SIZES);
	table->limit = get_hash_memory_limit();
	initStringInfo(&table->state);
	ZbxhistEmptyGroups(table);
}

/* ---- finding ---- */

/*
 * HashKeys returns the hash of keys.
 */
static uint32
HashKeys(GroupTable *table, const Datum *keys, const bool *nulls)
{
	uint32		hash = 0;

	for (int i = 0; i < table->nkeys; i++)
	{
		GroupKey   *key = &table->keys[i];

		uint32		of_key = 0;

		if (!nulls[i])
			of_key = DatumGetUInt32(FunctionCall1Coll(&key->hash,
													  key->collation,
													  keys[i]));
		hash = hash_combine(hash, of_key);
	}
	return murmurhash32(hash);
}

/*
 * HasKeys says whether a group has these keys.
 */
static bool
HasKeys(GroupTable *table, const ValueGroup *group, const Datum *keys,
		const bool *nulls)
{
	for (int i = 0; i < table->nkeys; i++)
	{
		GroupKey   *key = &table->keys[i];

		if (group->nulls[i] != nulls[i])
			return false;
		if (!nulls[i] &&
			!DatumGetBool(FunctionCall2Coll(&key->equal, key->collation,
											group->keys[i], keys[i])))
			return false;
	}
	return true;
}

/*
 * KeyBytes returns what a key takes besides its Datum.
 */
static Size
KeyBytes(const GroupKey *key, Datum value, bool isnull)
{
	return key->typbyval || isnull ? 0 :
		datumGetSize(value, false, key->typlen);
}

/*
 * MakeEmptyGroup makes a group of no rows.
 */
static ValueGroup *
MakeEmptyGroup(GroupTable *table, const Datum *keys, const bool *nulls,
			   uint32 hash)
{
	MemoryContext old = MemoryContextSwitchTo(table->context);
	ValueGroup *group = palloc0(offsetof(ValueGroup, totals) +
								sizeof(Total) * table->ninputs);

	group->hash = hash;
	group->keys = palloc(sizeof(Datum) * Max(table->nkeys, 1));
	group->nulls = palloc(sizeof(bool) * Max(table->nkeys, 1));
	for (int i = 0; i < table->nkeys; i++)
	{
		const GroupKey *key = &table->keys[i];

		group->nulls[i] = nulls[i];
		group->keys[i] = nulls[i] ? (Datum) 0 :
			datumCopy(keys[i], key->typbyval, key->typlen);
		table->used += KeyBytes(key, keys[i], nulls[i]);
	}
	MemoryContextSwitchTo(old);
	table->used += ZbxhistGroupBytes(table->nkeys, table->ninputs);
	table->ngroups++;
	return group;
}

/*
 * Grow doubles the number of buckets.
 */
static void
Grow(GroupTable *table)
{
	int			nbuckets = table->nbuckets * 2;
	ValueGroup **buckets =
		MemoryContextAllocExtended(table->context, sizeof(ValueGroup *) * nbuckets,
								   MCXT_ALLOC_ZERO | MCXT_ALLOC_HUGE);

	for (int i = 0; i < table->nbuckets; i++)
	{
		ValueGroup *group = table->buckets[i];

		while (group != NULL)
		{
			ValueGroup *next = group->next;
			ValueGroup **place = &buckets[group->hash % nbuckets];

			group->next = *place;
			*place = group;
			group = next;
		}
	}
	pfree(table->buckets);
	table->buckets = buckets;
	table->nbuckets = nbuckets;
}

/*
 * ZbxhistFindGroup returns the group of these keys, a new one if need be.
 */
ValueGroup *
ZbxhistFindGroup(GroupTable *table, const Datum *keys, const bool *nulls)
{
	uint32		hash = HashKeys(table, keys, nulls);
	ValueGroup *group;

	for (group = table->buckets[hash % table->nbuckets]; group != NULL;
		 group = group->next)
	{
		if (group->hash == hash && HasKeys(table, group, keys, nulls))
			return group;
	}
	if (table->ngroups >= table->nbuckets)
		Grow(table);
	group = MakeEmptyGroup(table, keys, nulls, hash);
	group->next = table->buckets[hash % table->nbuckets];
	table->buckets[hash % table->nbuckets] = group;
	return group;
}
