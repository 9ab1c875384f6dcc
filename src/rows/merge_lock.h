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

/* a merge */
extern void ZbxhistLockMerge(Oid runs);

/* the worker that merges a table's runs */
extern bool ZbxhistTryMerger(Oid runs);
extern bool ZbxhistHasMerger(Oid runs);

#endif							/* ZBXHIST_MERGE_LOCK_H */
