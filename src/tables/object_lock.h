/*-------------------------------------------------------------------------
 *
 * object_lock.h
 *	  Locks on a relation as an object, which conflict with no other locks.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_OBJECT_LOCK_H
#define ZBXHIST_OBJECT_LOCK_H

#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "storage/lock.h"

/* sub-object numbers, which tell them apart: sessions with an older library must
 * have the same */
typedef enum ObjectLock
{
	STRAYS_LOCK = 1,			/* on a parent, see stray.c */
	MOVE_LOCK = 2,				/* on a parent, see move_lock.c */
	WORK_LOCK = 3				/* on a table, see work_lock.c */
} ObjectLock;

/*
 * set_object_tag makes the tag of a relation's lock.
 */
static inline void
set_object_tag(LOCKTAG *tag, Oid relid, ObjectLock lock)
{
	SET_LOCKTAG_OBJECT(*tag, MyDatabaseId, RelationRelationId, relid, lock);
}

/*
 * lock_object waits for a relation's lock and takes it, until the transaction
 * ends; returns whether it did not have it before.
 */
static inline bool
lock_object(Oid relid, ObjectLock lock, LOCKMODE mode)
{
	LOCKTAG		tag;

	set_object_tag(&tag, relid, lock);
	return LockAcquire(&tag, mode, false, false) == LOCKACQUIRE_OK;
}

/*
 * try_object takes it unless somebody is in the way.
 */
static inline bool
try_object(Oid relid, ObjectLock lock, LOCKMODE mode)
{
	LOCKTAG		tag;

	set_object_tag(&tag, relid, lock);
	return LockAcquire(&tag, mode, false, true) != LOCKACQUIRE_NOT_AVAIL;
}

/*
 * unlock_object gives it back.
 */
static inline void
unlock_object(Oid relid, ObjectLock lock, LOCKMODE mode)
{
	LOCKTAG		tag;

	set_object_tag(&tag, relid, lock);
	LockRelease(&tag, mode, false);
}

#endif							/* ZBXHIST_OBJECT_LOCK_H */
