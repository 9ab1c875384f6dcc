/*-------------------------------------------------------------------------
 *
 * drop_guard.h
 *	  Prevents that packed days are dropped by accident.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_DROP_GUARD_H
#define ZBXHIST_DROP_GUARD_H

#include "catalog/objectaccess.h"
#include "nodes/nodes.h"

extern int	ZbxhistBeginDrop(const Node *statement);
extern void ZbxhistEndDrop(int outer_days);
extern void ZbxhistGuardObject(ObjectAccessType access, Oid classId,
							   Oid objectId, int subId);

#endif							/* ZBXHIST_DROP_GUARD_H */
