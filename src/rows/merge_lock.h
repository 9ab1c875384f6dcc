/*-------------------------------------------------------------------------
 *
 * merge_lock.h
 *	  Keeps looks for keys in a table of runs and merges of these apart.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZBXHIST_MERGE_LOCK_H
#define ZBXHIST_MERGE_LOCK_H

/* a look, which waits for nobody */
extern bool ZbxhistTryLook(Oid runs);
extern void ZbxhistEndLook(Oid runs);

/* a merge, or a change of rows */
extern bool ZbxhistTryMerge(Oid runs);
extern void ZbxhistLockMerge(Oid runs);
extern void ZbxhistLockChange(Oid runs);

/* workers that merge */
extern bool ZbxhistTryMerger(Oid owner);
extern bool ZbxhistWantsMerger(Oid owner);
extern bool ZbxhistDatabaseIsWanted(void);

#endif							/* ZBXHIST_MERGE_LOCK_H */
