/*-------------------------------------------------------------------------
 *
 * drop_guard.h
 *	  Keeps packed days from being dropped with the extension unawares.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_DROP_GUARD_H
#define ZBXHIST_DROP_GUARD_H

#include "nodes/nodes.h"

extern void ZbxhistBeginDrop(const Node *statement);
extern void ZbxhistDropGuardInit(void);

#endif							/* ZBXHIST_DROP_GUARD_H */
