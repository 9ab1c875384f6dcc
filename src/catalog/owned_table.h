/*-------------------------------------------------------------------------
 *
 * owned_table.h
 *	  Opens a table for its owner.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_OWNED_TABLE_H
#define ZBXHIST_OWNED_TABLE_H

#include "storage/lockdefs.h"
#include "utils/relcache.h"

extern Relation ZbxhistOpenOwnedTable(Oid relid, LOCKMODE lockmode);

#endif							/* ZBXHIST_OWNED_TABLE_H */
