/*-------------------------------------------------------------------------
 *
 * day_open.h
 *	  Opens the tables that functions about packed days are called for.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_DAY_OPEN_H
#define ZBXHIST_DAY_OPEN_H

#include "storage/lockdefs.h"
#include "utils/relcache.h"

extern Relation ZbxhistOpenOwnedTable(Oid relid, LOCKMODE lockmode);

#endif							/* ZBXHIST_DAY_OPEN_H */
