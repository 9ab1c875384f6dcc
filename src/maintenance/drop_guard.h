/*-------------------------------------------------------------------------
 *
 * drop_guard.h
 *	  Keeps packed days from being dropped with the extension unawares.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_DROP_GUARD_H
#define ZBXHIST_DROP_GUARD_H

#include "catalog/objectaccess.h"
#include "nodes/nodes.h"

extern void ZbxhistBeginDrop(const Node *statement);
extern void ZbxhistGuardObject(ObjectAccessType access, Oid classId,
							   Oid objectId, int subId);

#endif							/* ZBXHIST_DROP_GUARD_H */
