/*-------------------------------------------------------------------------
 *
 * privileges.h
 *	  What the current user may do to the rows of a table.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_PRIVILEGES_H
#define ZBXHIST_PRIVILEGES_H

#include "nodes/parsenodes.h"
#include "utils/relcache.h"

extern void ZbxhistCheckPrivileges(Relation rel, AclMode privileges);

#endif							/* ZBXHIST_PRIVILEGES_H */
