/*-------------------------------------------------------------------------
 *
 * key_match.h
 *	  Which unique indexes two tables of a parent have in common.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_KEY_MATCH_H
#define ZBXHIST_KEY_MATCH_H

#include "access/attmap.h"
#include "executor/tuptable.h"
#include "fmgr.h"
#include "nodes/execnodes.h"
#include "nodes/pg_list.h"
#include "utils/relcache.h"

#include "tables/partition_set.h"

/* a unique index */
typedef struct TableKey
{
	Oid			index;
	bool		is_immediate;	/* not deferrable */
	IndexInfo  *info;
	Oid		   *collations;
	Oid		   *opfamilies;
	FmgrInfo   *equal;			/* for each column */
} TableKey;

extern List *ZbxhistReadKeys(Relation rel, bool valid_only);
extern AttrMap *ZbxhistMapForKeys(Relation child, Relation parent);
extern bool ZbxhistIsSameKey(const TableKey *child, const TableKey *parent,
							 const AttrMap *map);
extern bool ZbxhistIsPlainKey(const TableKey *key);
extern bool ZbxhistTakesKeys(PartitionSet *set, Relation parent,
							 Relation partition);

#endif							/* ZBXHIST_KEY_MATCH_H */
