/*-------------------------------------------------------------------------
 *
 * work_lock.h
 *	  Tells who may have a table locked: maintenance.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_WORK_LOCK_H
#define ZBXHIST_WORK_LOCK_H

extern bool ZbxhistIsWorkedOn(Oid relid);

#endif							/* ZBXHIST_WORK_LOCK_H */
