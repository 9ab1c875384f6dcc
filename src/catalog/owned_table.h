/*-------------------------------------------------------------------------
 *
 * owned_table.h
 *	  Opens tables for their owner.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_OWNED_TABLE_H
#define ZBXHIST_OWNED_TABLE_H

#include "storage/lockdefs.h"
#include "utils/relcache.h"

extern void ZbxhistRequireOwner(Oid relid);
extern Relation ZbxhistOpenPlainTable(Oid relid, LOCKMODE lockmode);
extern Relation ZbxhistOpenOwnedTable(Oid relid, LOCKMODE lockmode);
extern void ZbxhistRequireSameOwner(Relation parent, Relation child);

#endif							/* ZBXHIST_OWNED_TABLE_H */
