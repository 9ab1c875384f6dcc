/*-------------------------------------------------------------------------
 *
 * move_lock.h
 *	  Keeps statements that change rows and moves of rows apart.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_MOVE_LOCK_H
#define ZBXHIST_MOVE_LOCK_H

#include "utils/relcache.h"

extern void ZbxhistBeginMoving(Oid parent);
extern void ZbxhistBeginChanging(Relation parent);

#endif							/* ZBXHIST_MOVE_LOCK_H */
