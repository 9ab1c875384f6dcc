/*-------------------------------------------------------------------------
 *
 * move_lock.h
 *	  Keeps statements that change rows and moves of rows apart.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_MOVE_LOCK_H
#define ZBXHIST_MOVE_LOCK_H

extern void ZbxhistBeginMoving(Oid parent);
extern bool ZbxhistBeginChanging(Oid parent);

#endif							/* ZBXHIST_MOVE_LOCK_H */
