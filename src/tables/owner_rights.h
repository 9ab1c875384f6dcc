/*-------------------------------------------------------------------------
 *
 * owner_rights.h
 *	  Runs what may be a table owner's code with the rights of that owner.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_OWNER_RIGHTS_H
#define ZBXHIST_OWNER_RIGHTS_H

#include "nodes/nodes.h"

/* whose rights counted before */
typedef struct OwnerRights
{
	Oid			user;
	int			sec_context;
	int			nest_level;		/* of settings */
} OwnerRights;

extern void ZbxhistTakeOwnerRights(OwnerRights *before, Oid owner);
extern void ZbxhistGiveBackRights(const OwnerRights *before);
extern bool ZbxhistIsBuiltInType(Oid type);
extern bool ZbxhistIsBuiltInExpr(Node *expr);

#endif							/* ZBXHIST_OWNER_RIGHTS_H */
