/*-------------------------------------------------------------------------
 *
 * work_lock.h
 *	  Tells that it may be maintenance that has a table locked.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_WORK_LOCK_H
#define ZBXHIST_WORK_LOCK_H

extern bool ZbxhistIsWorkedOn(Oid relid);

#endif							/* ZBXHIST_WORK_LOCK_H */
