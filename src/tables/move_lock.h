/*-------------------------------------------------------------------------
 *
 * move_lock.h
 *	  Makes statements that change rows wait for moves of rows, and moves for them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_MOVE_LOCK_H
#define ZBXHIST_MOVE_LOCK_H

extern void ZbxhistBeginMoving(Oid parent);
extern bool ZbxhistBeginChanging(Oid parent);

#endif							/* ZBXHIST_MOVE_LOCK_H */
