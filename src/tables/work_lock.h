/*-------------------------------------------------------------------------
 *
 * work_lock.h
 *	  Lets INSERTs know that maintenance has locked a table.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_WORK_LOCK_H
#define ZBXHIST_WORK_LOCK_H

extern bool ZbxhistIsWorkedOn(Oid relid);

#endif							/* ZBXHIST_WORK_LOCK_H */
