/*-------------------------------------------------------------------------
 *
 * key_match.c
 *	  Which unique indexes two tables of a parent have in common.
 *
 * PostgreSQL inherits columns and constraints, but neither keys nor indexes.  A partition
 * is made with those of its parent, but somebody may drop or add one on either side.  A
 * key that the partition lacks is not checked there, and a key that only the partition
 * has would refuse rows that the parent accepts.  So rows are sent only to partitions
 * that have the same keys, and a partition's index is searched only for keys that the
 * parent has, too.
 *
 * Locks: the caller's, on both tables.  Allocates in the current context.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "catalog/index.h"
#include "nodes/execnodes.h"
#include "utils/rel.h"

#include "ingest/key_match.h"
#include "tables/row_type.h"

/*
 * DescribeKey describes a unique index, or returns NULL.  Exclusion constraints
 * cannot be compared.
 */
static TableKey *
DescribeKey(Relation index, bool valid_only)
{
	Form_pg_index form = index->rd_index;
	TableKey   *key;
	Size		size;

	if (!form->indisunique || form->indisexclusion || !form->indisready ||
		(valid_only && !form->indisvalid))
		return NULL;
	key = palloc(sizeof(TableKey));
	size = sizeof(Oid) * form->indnkeyatts;
	key->index = RelationGetRelid(index);
	key->is_immediate = form->indimmediate;
	key->info = BuildIndexInfo(index);
	key->collations = palloc(size);
	memcpy(key->collations, index->rd_indcollation, size);
	key->opfamilies = palloc(size);
	memcpy(key->opfamilies, index->rd_opfamily, size);
	BuildSpeculativeIndexInfo(index, key->info);
	key->equal = palloc(sizeof(FmgrInfo) * form->indnkeyatts);
	for (int i = 0; i < form->indnkeyatts; i++)
		fmgr_info(key->info->ii_UniqueProcs[i], &key->equal[i]);
	return key;
}

/*
 * ZbxhistReadKeys returns the unique indexes of a table, as a list of TableKey: only
 * valid ones, or also those that are being built and that new rows must not violate.
 */
List *
ZbxhistReadKeys(Relation rel, bool valid_only)
{
	List	   *indexes = RelationGetIndexList(rel);
	List	   *result = NIL;
	ListCell   *lc;

	foreach(lc, indexes)
	{
		Relation	index = index_open(lfirst_oid(lc), AccessShareLock);
		TableKey   *key = DescribeKey(index, valid_only);

		if (key != NULL)
			result = lappend(result, key);
		index_close(index, AccessShareLock);
	}
	list_free(indexes);
	return result;
}

/*
 * ZbxhistMapForKeys returns a map from the parent's columns to those of a
 * child.
 */
AttrMap *
ZbxhistMapForKeys(Relation child, Relation parent)
{
	AttrMap    *map = ZbxhistMapColumns(RelationGetDescr(child),
										RelationGetDescr(parent));

	if (map != NULL)
		return map;
	map = make_attrmap(RelationGetNumberOfAttributes(parent));
	for (int i = 0; i < map->maplen; i++)
		map->attnums[i] = i + 1;
	return map;
}

/*
 * ZbxhistIsSameKey says whether a key of a child is a key of the parent.
 */
bool
ZbxhistIsSameKey(const TableKey *child, const TableKey *parent,
				 const AttrMap *map)
{
	return child->is_immediate == parent->is_immediate &&
		CompareIndexInfo(child->info, parent->info, child->collations,
						 parent->collations, child->opfamilies,
						 parent->opfamilies, (AttrMap *) map);
}

/*
 * ZbxhistIsPlainKey says whether a key is on nothing but columns, of all rows.
 */
bool
ZbxhistIsPlainKey(const TableKey *key)
{
	return key->info->ii_Expressions == NIL && key->info->ii_Predicate == NIL;
}

/*
 * HasEachKey says whether each key of one list is also in the other.
 */
static bool
HasEachKey(const List *children, const List *parents, const AttrMap *map,
		   bool of_parent)
{
	ListCell   *lc;
	ListCell   *other;

	foreach(lc, of_parent ? parents : children)
	{
		bool		found = false;

		foreach(other, of_parent ? children : parents)
			found = found ||
			(of_parent ? ZbxhistIsSameKey(lfirst(other), lfirst(lc), map) :
			 ZbxhistIsSameKey(lfirst(lc), lfirst(other), map));
		if (!found)
			return false;
	}
	return true;
}

/*
 * KeysMatch says whether a partition has the keys of its parent and no others.
 */
static bool
KeysMatch(Relation parent, Relation partition)
{
	AttrMap    *map = ZbxhistMapForKeys(partition, parent);
	List	   *parents = ZbxhistReadKeys(parent, true);
	List	   *children = ZbxhistReadKeys(partition, false);

	return HasEachKey(children, parents, map, true) &&
		HasEachKey(children, ZbxhistReadKeys(parent, false), map, false);
}

/*
 * ZbxhistTakesKeys says so of a partition of the set, and remembers the
 * result until partition or parent is altered.
 */
bool
ZbxhistTakesKeys(PartitionSet *set, Relation parent, Relation partition)
{
	for (int i = 0; i < set->npartitions; i++)
	{
		PartitionBounds *bounds = &set->partitions[i];

		if (bounds->relid != RelationGetRelid(partition))
			continue;
		if (!bounds->is_compared)
			bounds->has_same_keys = KeysMatch(parent, partition);
		bounds->is_compared = true;
		return bounds->has_same_keys;
	}
	return false;
}
