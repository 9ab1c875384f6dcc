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

#define FIRST_GROUPS 64

/* ---- keys ---- */

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
 * HasKeys says whether a group has the keys that are wanted.
 */
static bool
HasKeys(const GroupTable *table, const ValueGroup *group, const ValueGroup *wanted)
{
	for (int i = 0; i < table->nkeys; i++)
	{
		GroupKey   *key = &table->keys[i];

		if (group->nulls[i] != wanted->nulls[i])
			return false;
		if (!wanted->nulls[i] &&
			!DatumGetBool(FunctionCall2Coll(&key->equal, key->collation,
											group->keys[i], wanted->keys[i])))
			return false;
	}
	return true;
}

#define SH_PREFIX value_groups
#define SH_ELEMENT_TYPE GroupEntry
#define SH_KEY_TYPE ValueGroup *
#define SH_KEY group
#define SH_HASH_KEY(tb, key) ((key)->hash)
#define SH_EQUAL(tb, a, b) HasKeys((tb)->private_data, a, b)
#define SH_STORE_HASH
#define SH_GET_HASH(tb, a) ((a)->group->hash)
#define SH_SCOPE extern
#define SH_DEFINE
#include "lib/simplehash.h"

/* ---- groups ---- */

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
	table->used = 0;
	table->groups = value_groups_create(table->context, FIRST_GROUPS, table);
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
 * MakeEmptyGroup makes a group of no rows with the keys that are wanted.
 */
static ValueGroup *
MakeEmptyGroup(GroupTable *table, const ValueGroup *wanted)
{
	MemoryContext old = MemoryContextSwitchTo(table->context);
	ValueGroup *group = palloc0(offsetof(ValueGroup, totals) +
								sizeof(Total) * table->ninputs);

	group->hash = wanted->hash;
	group->keys = palloc(sizeof(Datum) * Max(table->nkeys, 1));
	group->nulls = palloc(sizeof(bool) * Max(table->nkeys, 1));
	for (int i = 0; i < table->nkeys; i++)
	{
		const GroupKey *key = &table->keys[i];

		group->nulls[i] = wanted->nulls[i];
		group->keys[i] = wanted->nulls[i] ? (Datum) 0 :
			datumCopy(wanted->keys[i], key->typbyval, key->typlen);
		table->used += KeyBytes(key, group->keys[i], group->nulls[i]);
	}
	MemoryContextSwitchTo(old);
	table->used += ZbxhistGroupBytes(table->nkeys, table->ninputs);
	return group;
}

/*
 * ZbxhistFindGroup returns the group of these keys, a new one if need be.
 */
ValueGroup *
ZbxhistFindGroup(GroupTable *table, const Datum *keys, const bool *nulls)
{
	ValueGroup	wanted = {
		.hash = HashKeys(table, keys, nulls),
		.keys = unconstify(Datum *, keys),
		.nulls = unconstify(bool *, nulls)
	};
	bool		found;
	GroupEntry *entry = value_groups_insert(table->groups, &wanted, &found);

	if (!found)
		entry->group = MakeEmptyGroup(table, &wanted);
	return entry->group;
}
