/*-------------------------------------------------------------------------
 *
 * owned_table.h
 *	  Opens tables for their owner; names, privileges.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_OWNED_TABLE_H
#define ZBXHIST_OWNED_TABLE_H

#include "nodes/parsenodes.h"
#include "storage/lockdefs.h"
#include "utils/relcache.h"

extern void ZbxhistRequireOwner(Oid relid);
extern Relation ZbxhistOpenPlainTable(Oid relid, LOCKMODE lockmode);
extern Relation ZbxhistOpenOwnedTable(Oid relid, LOCKMODE lockmode);
extern void ZbxhistRequireSameOwner(Relation parent, Relation child);
extern char *ZbxhistQualifiedName(Oid relid);
extern void ZbxhistCheckPrivileges(Relation rel, AclMode privileges);

#endif							/* ZBXHIST_OWNED_TABLE_H */
